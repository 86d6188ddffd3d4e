"""Kueue: admission by the repository's queues, invalid queues, `trainc queues`, and the flavors in `trainc pods`.

tests/conformance/test_kueue.py has the recorded answers of the real Kueue.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from manifests import cluster_runtime, replicated_job, train_job
from running import run
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.diagnostics import Diagnostic, Document
from trainc.kueue.admission import Admission
from trainc.kueue.capacity import MOST_LEVELS
from trainc.kueue.kueue_objects import UNLIMITED, read

Tree = dict[str, Any]
GOLDEN = Path(__file__).parents[2] / "golden"
QUEUE = "kueue.x-k8s.io/queue-name"
VERSION = "kueue.x-k8s.io/v1beta2"


def kueue(kind: str, name: str, *, version: str = VERSION, namespace: str = "", **spec: Any) -> Tree:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **where}, "spec": spec}


def group(nominal: Any = 8, *, flavor: str = "a", resource: str = "nvidia.com/gpu", **limits: Any) -> list[Tree]:
    quota = {"name": resource, "nominalQuota": nominal, **limits}
    return [{"coveredResources": [resource], "flavors": [{"name": flavor, "resources": [quota]}]}]


def cluster_queue(name: str = "cq", nominal: Any = 8, *, flavor: str = "a", **fields: Any) -> Tree:
    limits = {key: fields.pop(key) for key in ("borrowingLimit", "lendingLimit") if key in fields}
    spec = {"namespaceSelector": {}, "resourceGroups": group(nominal, flavor=flavor, **limits), **fields}
    return kueue("ClusterQueue", name, **spec)


def local_queue(name: str = "q", target: Any = "cq", namespace: str = "team", **spec: Any) -> Tree:
    return kueue("LocalQueue", name, namespace=namespace, clusterQueue=target, **spec)


FLAVOR = kueue("ResourceFlavor", "a")
SET = (FLAVOR, cluster_queue(), local_queue())


def queued_job(gpus: int = 4, nodes: int = 2, *, name: str = "j", queue: str | None = "q", priority: str = "") -> Tree:
    marks = ({QUEUE: queue} if queue else {}) | ({"kueue.x-k8s.io/priority-class": priority} if priority else {})
    trainer = {"numNodes": nodes, "resourcesPerNode": {"limits": {"nvidia.com/gpu": gpus}}}
    return train_job(trainer, name=name, metadata={"namespace": "team", "labels": marks})


def shm_runtime(**pod: Any) -> Tree:
    container = {"volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}
    pod = {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}], **pod}
    return cluster_runtime(replicated_job("node", container, pod=pod), mlPolicy={"torch": {}})


def write_lines(folder: Path, *documents: Tree) -> Path:
    path = folder / "x.yaml"
    path.write_text("".join(f"---\n{json.dumps(document)}\n" for document in documents))
    return path


def found(folder: Path, *documents: Tree) -> list[Diagnostic]:
    return list(trainc.compile([str(write_lines(folder, shm_runtime(), *documents))]).diagnostics)


def ids(folder: Path, *documents: Tree) -> list[str]:
    return [diagnostic.id for diagnostic in found(folder, *documents)]


# Admission


def test_enough_quota(empty_folder: Path) -> None:
    assert ids(empty_folder, queued_job(), *SET) == []


def test_the_sum_and_the_places(empty_folder: Path) -> None:
    (error,) = found(empty_folder, queued_job(gpus=8), *SET)
    assert (error.id, error.severity, error.stage) == ("never-admitted", "error", "queue")
    assert error.message == (
        "with Kueue's defaults, queue q never admits the JobSet: "
        'job "node" requests 16 nvidia.com/gpu (2 pods of 8); the queue\'s flavor a gives at most 8'
    )
    at = error.locate()
    assert at is not None
    assert at.line == 4
    assert [related.message for related in error.related] == ["the quota of flavor a"]


def test_build_writes_nothing(empty_folder: Path) -> None:
    done = run("build", str(write_lines(empty_folder, shm_runtime(), queued_job(gpus=8), *SET)))
    assert (done.code, done.out) == (1, "")
    assert "error[never-admitted]" in done.err


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        pytest.param((FLAVOR, cluster_queue(), local_queue(stopPolicy="Hold")), "LocalQueue q is stopped", id="held"),
        pytest.param(
            (FLAVOR, cluster_queue(stopPolicy="HoldAndDrain"), local_queue()),
            "ClusterQueue cq is stopped",
            id="drained",
        ),
        pytest.param(
            (FLAVOR, cluster_queue(namespaceSelector=None), local_queue()), "does not select namespace team", id="null"
        ),
        pytest.param(
            (FLAVOR, cluster_queue(resourceGroups=group(resource="cpu")), local_queue()),
            "ClusterQueue cq does not cover nvidia.com/gpu",
            id="uncovered",
        ),
        pytest.param(
            (
                kueue("ResourceFlavor", "a", nodeTaints=[{"key": "gpu", "value": "y", "effect": "NoSchedule"}]),
                cluster_queue(),
                local_queue(),
            ),
            "flavor a has the taint gpu=y:NoSchedule",
            id="taint",
        ),
        pytest.param(
            (FLAVOR, cluster_queue(cohortName="x"), local_queue(), kueue("Cohort", "x", parentName="x")),
            "its cohort x is in a cycle of cohorts",
            id="cycle",
        ),
    ],
)
def test_never_admitted(
    empty_folder: Path, documents: tuple[Tree, ...], message: str, snapshot: SnapshotAssertion
) -> None:
    errors = [
        diagnostic for diagnostic in found(empty_folder, queued_job(), *documents) if diagnostic.id == "never-admitted"
    ]
    assert [message in error.message for error in errors] == [True]
    assert texts(errors) == snapshot


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        pytest.param((FLAVOR, cluster_queue()), "its LocalQueue q", id="LocalQueue"),
        pytest.param((FLAVOR, local_queue()), "its ClusterQueue cq", id="ClusterQueue"),
        pytest.param((cluster_queue(), local_queue()), "ResourceFlavor a of ClusterQueue cq", id="flavor"),
        pytest.param((FLAVOR, cluster_queue(nominal=1, cohortName="x"), local_queue()), "of its cohort x", id="cohort"),
        pytest.param(
            (FLAVOR, cluster_queue(namespaceSelector={"matchLabels": {"tier": "gold"}}), local_queue()),
            "the Namespace with the labels",
            id="Namespace",
        ),
        pytest.param(
            (FLAVOR, cluster_queue(nominal=1), local_queue(namespace="other")), "its LocalQueue q", id="namespace"
        ),
    ],
)
def test_an_incomplete_set_gives_only_a_note(
    empty_folder: Path, documents: tuple[Tree, ...], reason: str, snapshot: SnapshotAssertion
) -> None:
    path = str(write_lines(empty_folder, shm_runtime(), queued_job(gpus=4), *documents))
    assert run("validate", path).code == 0
    assert "never-admitted" not in run("validate", path).out
    assert "admission-unknown" not in run("validate", path).out
    note = run("validate", path, "-v").out
    assert note.count("note[admission-unknown]") == 1
    assert reason in note
    assert note[note.index("note[") :].partition("\n\n")[0] == snapshot
    assert "note[admission-unknown]" in run("build", path, "--verbose").err


def test_a_job_without_a_queue_is_not_checked(empty_folder: Path) -> None:
    path = write_lines(empty_folder, shm_runtime(), queued_job(gpus=80, queue=None), *SET)
    assert "error" not in run("validate", str(path), "-v").out


def test_the_default_local_queue(empty_folder: Path) -> None:
    assert ids(empty_folder, queued_job(gpus=80, queue=None), FLAVOR, cluster_queue(), local_queue("default")) == [
        "never-admitted"
    ]


def test_v1beta1(empty_folder: Path) -> None:
    old = "kueue.x-k8s.io/v1beta1"
    lender = kueue("ClusterQueue", "b", version=old, cohort="x", resourceGroups=group(8))
    borrower = kueue("ClusterQueue", "cq", version=old, cohort="x", namespaceSelector={}, resourceGroups=group(0))
    queues = (FLAVOR, lender, borrower, local_queue())
    assert ids(empty_folder, queued_job(gpus=4), *queues) == ["kueue-version"]
    assert ids(empty_folder, queued_job(gpus=5), *queues) == ["kueue-version", "never-admitted"]


def test_requests_of_zero_nodes_fit_everywhere() -> None:
    job = {"name": "w", "replicas": 0, "template": {"spec": {"template": {"spec": {"containers": []}}}}}
    labels = {"labels": {QUEUE: "q"}, "namespace": "team", "name": "j"}
    documents = [Document("x", 1, json.dumps(tree), tree) for tree in SET]
    verdict = Admission(read(documents)[0]).verdict({"metadata": labels, "spec": {"replicatedJobs": [job]}})
    assert (verdict.never, verdict.undecided, verdict.flavors) == (None, "", {"w": {}})


# Invalid queues


@pytest.mark.parametrize(
    ("documents", "wanted"),
    [
        pytest.param((*SET, cluster_queue(nominal=9)), ["duplicate-queue"], id="two ClusterQueues"),
        pytest.param((*SET, local_queue(target="cx")), ["duplicate-queue"], id="two LocalQueues"),
        pytest.param((*SET, local_queue(namespace="other")), [], id="LocalQueues of two namespaces"),
        pytest.param(
            (FLAVOR, cluster_queue(cohortName="x"), local_queue(), kueue("Cohort", "x", parentName="x")),
            ["cohort-cycle", "never-admitted"],
            id="a cohort in itself",
        ),
        pytest.param(
            (
                *(FLAVOR, cluster_queue(cohortName="x"), local_queue()),
                *(kueue("Cohort", one, parentName=other) for one, other in ("xy", "yz", "zx")),
            ),
            ["cohort-cycle", "never-admitted"],
            id="three cohorts",
        ),
        pytest.param((FLAVOR, cluster_queue(nominal=-1), local_queue()), ["queue-quota"], id="negative"),
        pytest.param((FLAVOR, cluster_queue(borrowingLimit=1), local_queue()), ["queue-quota"], id="no cohort"),
        pytest.param(
            (FLAVOR, cluster_queue(lendingLimit=9, cohortName="x"), local_queue()), ["queue-quota"], id="lends too much"
        ),
        pytest.param((FLAVOR, cluster_queue(nominal="8x"), local_queue()), ["quantity"], id="no quantity"),
        pytest.param((FLAVOR, cluster_queue(nominal="1e3.5"), local_queue()), ["quantity"], id="no quantity for Go"),
        pytest.param((FLAVOR, cluster_queue(nominal=[8]), local_queue()), ["wrong-type"], id="wrong type"),
        pytest.param((FLAVOR, cluster_queue(stopPolicy="Stop"), local_queue()), ["enum"], id="stopPolicy"),
        pytest.param(
            (FLAVOR, cluster_queue(resourceGroups=group(8) + group(8)), local_queue()),
            ["queue-quota", "queue-quota"],
            id="a resource and a flavor twice",
        ),
        pytest.param(
            (FLAVOR, cluster_queue(resourceGroups=[group(8)[0] | {"coveredResources": ["cpu"]}]), local_queue()),
            ["queue-quota"],
            id="other resources than covered",
        ),
        pytest.param((FLAVOR, cluster_queue(nominal="20E"), local_queue()), ["quota-overflow"], id="overflow"),
        pytest.param((FLAVOR, cluster_queue(flavor="b"), local_queue()), ["unknown-queue-object"], id="unknown flavor"),
        pytest.param((FLAVOR, cluster_queue("cx"), local_queue()), ["unknown-queue-object"], id="unknown ClusterQueue"),
        pytest.param(
            (kueue("ResourceFlavor", "a", tolerations=[{"value": "x"}]), cluster_queue(), local_queue()),
            ["flavor-toleration"],
            id="toleration",
        ),
        pytest.param(
            (FLAVOR | {"metadata": {"name": "a", "namespace": "team"}}, cluster_queue(), local_queue()),
            ["invalid-namespace"],
            id="a namespace of a cluster-scoped kind",
        ),
    ],
)
def test_an_invalid_queue_is_a_warning(
    empty_folder: Path, documents: tuple[Tree, ...], wanted: list[str], snapshot: SnapshotAssertion
) -> None:
    listed = found(empty_folder, queued_job(), *documents)
    assert [each.id for each in listed] == wanted
    assert {each.severity for each in listed if each.id != "never-admitted"} <= {"warning"}
    assert texts(listed) == snapshot


# The objects that a TrainJob's queue leads to

BROKEN = kueue("ResourceFlavor", "b", tolerations=[{"value": "x"}])
COHORT_QUEUE = (FLAVOR, cluster_queue(cohortName="x"), local_queue(), kueue("Cohort", "x", parentName="y"))


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param((*SET, local_queue("p"), local_queue("p", "cx")), id="another LocalQueue"),
        pytest.param((*SET, local_queue("q", namespace="o"), local_queue("q", "cx", "o")), id="another namespace"),
        pytest.param((*SET, cluster_queue("cx", -1)), id="another ClusterQueue"),
        pytest.param((*SET, cluster_queue("cx", cohortName="x", nominal="{{ .gpus }}")), id="another cohort"),
        pytest.param((*SET, BROKEN, cluster_queue("cx", flavor="b")), id="the flavor of another ClusterQueue"),
        pytest.param((*SET, kueue("Cohort", "x", parentName="x")), id="a Cohort"),
        pytest.param((*SET, local_queue("p", "cx")), id="a missing ClusterQueue of another LocalQueue"),
        pytest.param(
            (*SET, kueue("ResourceFlavor", "b"), kueue("ResourceFlavor", "b", nodeLabels={"a": "b"})), id="two"
        ),
    ],
)
def test_faults_of_objects_that_no_trainjob_needs_are_not_reported(
    empty_folder: Path, documents: tuple[Tree, ...]
) -> None:
    assert ids(empty_folder, queued_job(), *documents) == []
    done = run("queues", str(empty_folder / "x.yaml"))
    assert (done.code, "warning[" in done.err) == (0, True), "`queues` reports them"


@pytest.mark.parametrize(
    ("documents", "wanted"),
    [
        pytest.param((*COHORT_QUEUE, kueue("Cohort", "y", resourceGroups=[{}])), "required", id="a Cohort above"),
        pytest.param((*COHORT_QUEUE, cluster_queue("o", -1, cohortName="y")), "queue-quota", id="another member"),
        pytest.param((*COHORT_QUEUE, kueue("Cohort", "z", parentName=["x"])), "", id="a parent of the wrong type"),
        pytest.param((BROKEN, cluster_queue(flavor="b"), local_queue()), "flavor-toleration", id="a flavor"),
        pytest.param(
            (FLAVOR, cluster_queue(), local_queue(target=[1])),
            "wrong-type",
            id="the LocalQueue",
        ),
    ],
)
def test_faults_of_objects_that_a_trainjob_needs(empty_folder: Path, documents: tuple[Tree, ...], wanted: str) -> None:
    assert {*ids(empty_folder, queued_job(gpus=80), *documents)} == ({wanted} if wanted else set())


def test_without_a_trainjob_no_fault_is_reported(empty_folder: Path) -> None:
    assert ids(empty_folder, FLAVOR, cluster_queue(nominal=-1), local_queue()) == []


def test_a_default_local_queue_leads_to_faults(empty_folder: Path) -> None:
    queues = (FLAVOR, cluster_queue(nominal=-1), local_queue("default"))
    assert ids(empty_folder, queued_job(queue=None), *queues) == ["queue-quota"]


# Several objects of one name


@pytest.mark.parametrize("second", [FLAVOR | {"metadata": {"name": "a", "labels": {"x": "y"}}}, FLAVOR])
def test_equal_specs_are_no_fault(empty_folder: Path, second: Tree) -> None:
    assert ids(empty_folder, queued_job(), *SET, second, cluster_queue(), local_queue()) == []
    assert ids(empty_folder, queued_job(gpus=8), *SET, second, cluster_queue(), local_queue()) == ["never-admitted"]


def taints(**taint: str) -> Tree:
    return kueue("ResourceFlavor", "a", nodeTaints=[{"effect": "NoSchedule", **taint}])


@pytest.mark.parametrize(
    ("documents", "refused"),
    [
        pytest.param((*SET, cluster_queue(nominal=9)), True, id="too little in each ClusterQueue"),
        pytest.param((*SET, cluster_queue(nominal=16)), False, id="enough in the second ClusterQueue"),
        pytest.param((FLAVOR, cluster_queue(nominal=16), cluster_queue(), local_queue()), False, id="in the first"),
        pytest.param((*SET, cluster_queue(nominal=-1)), False, id="one with an error"),
        pytest.param((*SET, cluster_queue(nominal="{{ .gpus }}")), False, id="one with a placeholder"),
        pytest.param((*SET, local_queue(target="c2"), cluster_queue("c2", 9)), True, id="each LocalQueue"),
        pytest.param((*SET, local_queue(target="c2"), cluster_queue("c2", 16)), False, id="the second LocalQueue"),
        pytest.param((*SET, local_queue(target="c2")), False, id="a missing ClusterQueue"),
        pytest.param((taints(key="a"), taints(key="b"), cluster_queue(nominal=16), local_queue()), True, id="flavors"),
        pytest.param((FLAVOR, taints(key="b"), cluster_queue(nominal=16), local_queue()), False, id="a second flavor"),
        pytest.param(
            (taints(key="a"), FLAVOR, cluster_queue(), cluster_queue(nominal=16), local_queue()),
            False,
            id="one of four combinations",
        ),
        pytest.param(
            (
                *(FLAVOR, cluster_queue(cohortName="x"), local_queue()),
                *(cluster_queue("c2", 1, cohortName="x"), cluster_queue("c2", 8, cohortName="x")),
            ),
            False,
            id="a member of the cohort",
        ),
        pytest.param(
            (FLAVOR, cluster_queue(cohortName="x"), local_queue(), cluster_queue("c2", -1, cohortName="x")),
            False,
            id="a member of the cohort with an error",
        ),
        pytest.param(
            (
                *(FLAVOR, cluster_queue(nominal=16, namespaceSelector={"matchLabels": {"a": "b"}}), local_queue()),
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"a": "b"}}},
            ),
            False,
            id="the labels of a second Namespace",
        ),
        pytest.param(
            (*SET, *(local_queue("other", target=f"c{number}") for number in range(9))), True, id="of another queue"
        ),
        pytest.param((*SET, *(cluster_queue(nominal=number % 8) for number in range(70))), True, id="eight of many"),
    ],
)
def test_never_admitted_requires_that_each_object_of_a_name_refuses(
    empty_folder: Path, documents: tuple[Tree, ...], refused: bool
) -> None:
    listed = [each for each in found(empty_folder, queued_job(gpus=8), *documents) if each.severity == "error"]
    assert [each.id for each in listed] == ["never-admitted"] * refused


def test_too_many_combinations_are_undecided(empty_folder: Path) -> None:
    queues = [cluster_queue(nominal=number) for number in range(65)]
    path = write_lines(empty_folder, shm_runtime(), queued_job(gpus=80), FLAVOR, local_queue(), *queues)
    done = run("validate", str(path), "-v")
    assert done.code == 0
    assert "the given paths have several ClusterQueues cq with different specs (j)" in done.out


@pytest.mark.parametrize(
    ("second", "expected"),
    [(cluster_queue(flavor="b"), None), (cluster_queue(nominal=9), {"nvidia.com/gpu": "a"})],
)
def test_pods_show_a_flavor_that_each_object_of_a_name_gives(
    empty_folder: Path, second: Tree, expected: dict[str, str] | None
) -> None:
    flavors = (FLAVOR, kueue("ResourceFlavor", "b"))
    path = write_lines(empty_folder, shm_runtime(), queued_job(), *flavors, cluster_queue(), second, local_queue())
    assert json.loads(run("pods", str(path), "--format", "json").out)[0].get("flavors") == expected


def test_a_misspelt_local_queue(empty_folder: Path) -> None:
    (warning,) = found(empty_folder, queued_job(queue="p"), *SET)
    assert (warning.id, warning.severity) == ("unknown-queue-object", "warning")


def test_the_known_objects_are_listed_in_order(empty_folder: Path) -> None:
    flavors = [kueue("ResourceFlavor", name) for name in ("spot", "a100", "on-demand")]
    (error,) = found(empty_folder, queued_job(), *flavors, cluster_queue(flavor="zzzzzzzz"), local_queue())
    assert error.help == "use one of a100, on-demand, spot"
    queues = [cluster_queue(name) for name in ("training", "batch", "research")]
    (warning,) = found(empty_folder, queued_job(), FLAVOR, *queues, local_queue(target="zzzzzzzz"))
    assert warning.help == "use one of batch, research, training"


def test_a_template_of_a_queue_is_not_read(empty_folder: Path) -> None:
    text = json.dumps(cluster_queue(nominal="{{ .Values.gpus }}"))
    path = write_lines(empty_folder, shm_runtime(), queued_job(gpus=80), FLAVOR, local_queue())
    path.write_text(f"{path.read_text()}---\n{text}\n")
    done = run("validate", str(path))
    assert (done.code, 'warning[template-not-rendered]: ClusterQueue "cq" has placeholders' in done.out) == (0, True)
    [place] = [line for line in done.out.splitlines() if "warning[template-not-rendered]" in line]
    line, column = len(path.read_text().splitlines()), text.index('"cq"') + 1
    assert place.startswith(f"{path}:{line}:{column}: ")


def test_a_comment_is_no_template(empty_folder: Path) -> None:
    path = write_lines(empty_folder, shm_runtime(), queued_job(gpus=80), FLAVOR, local_queue())
    path.write_text(f"{path.read_text()}---\n# {{{{ not a placeholder }}}}\n{json.dumps(cluster_queue())}\n")
    assert "error[never-admitted]" in run("validate", str(path)).out


def test_other_groups_are_not_read(empty_folder: Path) -> None:
    other = kueue("ClusterQueue", "cq", version="queues.acme.io/v1", resourceGroups="all")
    assert ids(empty_folder, queued_job(), other) == []


def test_unlimited_quota_stays_unlimited(empty_folder: Path) -> None:
    queues = (FLAVOR, cluster_queue("b", "20E", cohortName="x"), cluster_queue(cohortName="x"), local_queue())
    documents = [Document("x", 1, json.dumps(tree), tree) for tree in queues]
    admission = Admission(read(documents)[0])
    node = admission.cluster.queues["cq"].node
    assert admission.capacity.maximum(node, ("a", "nvidia.com/gpu")) == UNLIMITED


def chain(levels: int) -> list[Tree]:
    """Return queues with a quota of 1, one in each cohort of a chain."""
    queues = [cluster_queue(f"b{i}", 1, cohortName=f"c{i}") for i in range(levels)]
    return [*queues, *[kueue("Cohort", f"c{i}", parentName=f"c{i + 1}") for i in range(levels - 1)]]


@pytest.mark.slow
def test_ten_thousand_queues_and_cohorts(empty_folder: Path) -> None:
    documents = [Document("x", 1, "", tree) for tree in (FLAVOR, local_queue(target="b0"), *chain(10_000))]
    start = time.process_time()
    cluster, diagnostics = read(documents)
    admission = Admission(cluster)
    assert diagnostics == []
    assert all(admission.capacity.is_too_deep(queue.node.parent) for queue in cluster.queues.values())
    assert time.process_time() - start < 60


def test_the_most_levels_of_cohorts(empty_folder: Path) -> None:
    of_queue = (FLAVOR, local_queue(target="b0"))
    assert ids(empty_folder, queued_job(gpus=32, nodes=2), *of_queue, *chain(MOST_LEVELS)) == []
    assert ids(empty_folder, queued_job(gpus=33, nodes=2), *of_queue, *chain(MOST_LEVELS)) == ["never-admitted"]


def test_too_many_levels_of_cohorts_are_undecided(empty_folder: Path) -> None:
    deep = (FLAVOR, local_queue(target="b0"), *chain(MOST_LEVELS + 1))
    path = str(write_lines(empty_folder, shm_runtime(), queued_job(gpus=100), *deep))
    assert "the cohorts of ClusterQueue b0 have more than 64 levels" in run("validate", path, "-v").out
    assert "a=?" in run("queues", path).out


# Priority classes


@pytest.mark.parametrize(
    ("classes", "name", "wanted"),
    [
        (("high",), "hihg", ["unknown-priority-class"]),
        (("high",), "high", []),
        ((), "high", []),
    ],
)
def test_workload_priority_class(empty_folder: Path, classes: tuple[str, ...], name: str, wanted: list[str]) -> None:
    given = [{**kueue("WorkloadPriorityClass", one), "value": 1} for one in classes]
    assert ids(empty_folder, queued_job(priority=name), *given) == wanted


@pytest.mark.parametrize(("name", "wanted"), [("hihg", ["unknown-priority-class"]), ("system-node-critical", [])])
def test_priority_class(empty_folder: Path, name: str, wanted: list[str]) -> None:
    known = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1}
    path = write_lines(empty_folder, shm_runtime(priorityClassName=name), queued_job(), known)
    assert [diagnostic.id for diagnostic in trainc.compile([str(path)]).diagnostics] == wanted


# Commands


def test_queues() -> None:
    done = run("queues", str(GOLDEN / "kueue-admitted"))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "QUEUE  COHORT    RESOURCE        CAPACITY            REQUESTED  JOBS",
        "ads    research  cpu             h100=400, a100=400  16         1",
        "                 memory          h100=4Ti, a100=4Ti  64Gi",
        "                 nvidia.com/gpu  h100=32, a100=16    32",
    ]


def test_a_cluster_queue_without_a_spec(empty_folder: Path) -> None:
    empty = {key: value for key, value in cluster_queue().items() if key != "spec"}
    assert "never-admitted" in [d.id for d in found(empty_folder, FLAVOR, empty, local_queue(), queued_job())]


def test_queues_as_json() -> None:
    (queue,) = json.loads(run("queues", str(GOLDEN / "kueue-admitted"), "--format", "json").out)
    assert (queue["queue"], queue["localQueues"], queue["jobs"]) == ("ads", ["ads/gpu"], ["ads/pretrain"])


def test_queues_with_a_job_that_is_never_admitted() -> None:
    done = run("queues", str(GOLDEN / "wrong-kueue-quota"))
    assert done.code == 1
    assert "never-admitted" in done.err
    assert done.out.splitlines()[-1].split() == ["nvidia.com/gpu", "h100=32,", "a100=16", "64", "of", "48,", "exceeded"]


def test_a_queue_name_with_control_characters_is_escaped(empty_folder: Path) -> None:
    path = write_lines(empty_folder, cluster_queue("a\x1b[31m"), shm_runtime(), queued_job())
    done = run("queues", str(path))
    assert "\x1b" not in done.out + done.err


def test_pods_show_the_flavor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    table = run("pods", str(GOLDEN / "kueue-admitted")).out.splitlines()
    assert table[2].split() == ["POD", "INDEX", "ADDRESS", "FLAVOR", "RESOURCES"]
    assert table[3].split()[3] == "h100"
    pods = json.loads(run("pods", str(GOLDEN / "kueue-admitted"), "--format", "json").out)
    assert pods[0]["flavors"] == dict.fromkeys(("cpu", "memory", "nvidia.com/gpu"), "h100")
    assert "flavors" not in json.loads(run("pods", str(GOLDEN / "kueue-queue"), "--format", "json").out)[0]


# Lint rules

QUIET = {"resources": {"requests": {"cpu": 1}}}


def job_of(name: str, *containers: Tree) -> Tree:
    return {"name": name, "template": {"spec": {"template": {"spec": {"containers": list(containers)}}}}}


def with_job(job: Tree) -> Tree:
    """Return the runtime with one more replicated job."""
    changed = shm_runtime()
    changed["spec"]["template"]["spec"]["replicatedJobs"].append(job)
    return changed


PREPARE = {"name": "prepare", "image": "i:1"}
SELECTED = {"nodeSelector": {"pool": "a"}}
TOLERANT = {"tolerations": [{"key": "gpu", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("given", "queue", "wanted"),
    [
        pytest.param(shm_runtime(**SELECTED), "q", ["queue-placement"], id="a node selector"),
        pytest.param(shm_runtime(**TOLERANT), "q", ["queue-placement"], id="tolerations"),
        pytest.param(shm_runtime(**SELECTED, **TOLERANT), "q", ["queue-placement"], id="both"),
        pytest.param(shm_runtime(**SELECTED), None, [], id="a node selector without a queue"),
        pytest.param(shm_runtime(affinity={"nodeAffinity": {}}), "q", [], id="affinity"),
        pytest.param(with_job(job_of("p", PREPARE)), "q", ["queue-no-requests"], id="no requests"),
        pytest.param(with_job(job_of("p", PREPARE | QUIET)), "q", [], id="requests"),
        pytest.param(with_job(job_of("p", PREPARE, PREPARE | QUIET | {"name": "b"})), "q", [], id="requests of one"),
        pytest.param(with_job(job_of("p", PREPARE)), None, [], id="no requests without a queue"),
    ],
)
def test_lint(empty_folder: Path, given: Tree, queue: str | None, wanted: list[str]) -> None:
    path = write_lines(empty_folder, given, queued_job(queue=queue))
    assert [diagnostic.id for diagnostic in trainc.compile([str(path)]).diagnostics] == wanted


@pytest.mark.parametrize(("value", "wanted"), [("true", ["elastic-jobset"]), ("false", [])])
def test_elastic_jobset(empty_folder: Path, value: str, wanted: list[str]) -> None:
    job = queued_job()
    job["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": value}
    assert ids(empty_folder, job) == wanted


@pytest.mark.parametrize(("queue", "wanted"), [("q", ["suspended-with-queue"]), (None, [])])
@pytest.mark.parametrize("suspend", [True, False])
def test_suspended_with_queue(empty_folder: Path, queue: str | None, wanted: list[str], suspend: bool) -> None:
    job = queued_job(queue=queue)
    job["spec"]["suspend"] = suspend
    assert ids(empty_folder, job) == (wanted if suspend else [])


def test_suspended_by_an_option_is_reported_once(empty_folder: Path) -> None:
    path = write_lines(empty_folder, shm_runtime(), queued_job(), queued_job(name="k"))
    done = run("build", str(path), "--suspend")
    assert done.err.count("warning[suspended-with-queue]") == 1
    assert "(and 1 more TrainJob)" in done.err
    assert "remove --suspend" in done.err


@pytest.mark.parametrize(
    "patch",
    [
        "{spec: {suspend: true}}",
        "[{op: add, path: /spec/suspend, value: true}]",
        "[{op: add, path: /metadata/annotations, value: {}}, {op: add, path: /spec/suspend, value: true}]",
    ],
)
def test_suspended_by_a_patch_is_reported_once_at_its_line(empty_folder: Path, patch: str) -> None:
    queue = "{metadata: {labels: {kueue.x-k8s.io/queue-name: q}}}"
    settings = empty_folder / "trainc.yaml"
    settings.write_text(f"patches:\n- target: {{kind: JobSet}}\n  patch: {patch}\n")
    path = write_lines(empty_folder, shm_runtime(), queued_job(), queued_job(name="k"))
    done = run("build", str(path), "--config", str(settings))
    assert done.err.count("warning[suspended-with-queue]") == 1
    assert "(and 1 more TrainJob)" in done.err
    assert f"{settings}:3:" in done.err
    assert "remove suspend from the patch" in done.err
    assert "suspend:" not in done.out
    path = write_lines(empty_folder, shm_runtime(), queued_job(queue=None), queued_job(name="k", queue=None))
    done = run("build", str(path), "--config", str(settings))
    assert done.out.count("suspend: true") == 2
    assert "suspended-with-queue" not in done.err
    settings.write_text(settings.read_text() + f"- target: {{kind: JobSet}}\n  patch: {queue}\n")
    done = run("build", str(path), "--config", str(settings))
    assert done.err.count("warning[suspended-with-queue]") == 1
    assert f"{settings}:3:" in done.err


def test_suspended_by_a_trainjob_and_a_patch(empty_folder: Path) -> None:
    settings = empty_folder / "trainc.yaml"
    settings.write_text("patches:\n- target: {kind: JobSet}\n  patch: {spec: {suspend: true}}\n")
    job = queued_job()
    job["spec"]["suspend"] = True
    path = write_lines(empty_folder, shm_runtime(), job)
    done = run("build", str(path), "--config", str(settings))
    assert done.err.count("warning[suspended-with-queue]") == 2
    assert f"{settings}:3:" in done.err
    assert "help: remove suspend;" in done.err


LARGE = "".join(f"  - description: the kind PriorityClass, as in priorityClassName {i}\n" for i in range(250_000))
"""Part of a CRD, 18 MB: --budget ci allows 16 MiB of parsed text."""


@pytest.mark.parametrize(
    ("labels", "files"),
    [
        pytest.param({}, [], id="no job has a queue"),
        pytest.param({QUEUE: "other"}, ["job.yaml"], id="a job has a queue"),
    ],
)
def test_only_the_queues_of_a_large_file_are_parsed(
    labels: dict[str, str], files: list[str], empty_folder: Path
) -> None:
    crd = f"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  versions:\n{LARGE}"
    queue = json.dumps(local_queue()) + "\n"
    (empty_folder / "crds.yaml").write_text("---\n".join(["kind: Namespace\nbroken: [\n", crd, queue]))
    job = train_job(runtime="torch-distributed", metadata={"namespace": "team", "labels": labels})
    (empty_folder / "job.yaml").write_text(json.dumps(job))
    done = run("validate", "--budget", "ci", "--format", "json")
    assert done.code == 0
    reported = [each["file"] for each in json.loads(done.out) if each["id"] == "unknown-queue-object"]
    assert reported == files


@pytest.mark.parametrize(
    ("job", "settings", "is_read"),
    [
        pytest.param({}, "", False, id="no queue"),
        pytest.param({"kueue.x-k8s.io/priority-class": "hihg"}, "", True, id="a label"),
        pytest.param({}, "labels: {kueue.x-k8s.io/priority-class: hihg}\n", True, id="a label of the settings"),
    ],
)
def test_priorities_are_read_for_jobs_that_name_one(
    job: dict[str, str], settings: str, is_read: bool, empty_folder: Path
) -> None:
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1}
    (empty_folder / "priorities.yaml").write_text(
        f"{json.dumps(priority)}\n---\n{json.dumps(kueue('WorkloadPriorityClass', 'high'))}\n"
    )
    (empty_folder / "trainc.yaml").write_text(settings or "{}\n")
    (empty_folder / "job.yaml").write_text(json.dumps(train_job(runtime="torch-distributed", metadata={"labels": job})))
    done = run("validate")
    assert ('"hihg"' in done.out) is is_read
    assert ("was skipped" in done.err) is False
