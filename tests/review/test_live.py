"""`trainc diff --live`: a fake kubectl answers with the objects of a cluster, and records what it is asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import Done, run
from syrupy.assertion import SnapshotAssertion

from trainc.kubernetes.trees import put
from trainc.pinning import kubectl as program

Tree = dict[str, Any]

SETTINGS = "sources: [jobs]\npassthrough: true\nlabels: {app.kubernetes.io/managed-by: trainc}\n"
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: {namespace}{more}}}
spec:
  runtimeRef: {{name: torch-distributed-coscheduling}}
  trainer: {{image: "ghcr.io/acme/app:v1", numNodes: 2}}
"""
TABLE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: table, namespace: nlp}
data: {a: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: nlp}
spec: {ports: [{port: 80}]}
"""
FAKE = """\
#!{python}
import json, pathlib, sys
bin = pathlib.Path({bin!r})
words = sys.argv[1:]
with (bin / "asked").open("a") as asked:
    print(" ".join(words), file=asked)
answers = json.loads((bin / "answers").read_text())
place = words[words.index("--namespace") + 1] if "--namespace" in words else ""
for part, (message, status) in answers["faults"].items():
    if part in " ".join(words):
        print(message, file=sys.stderr)
        sys.exit(status)
wanted = [word for word in words[1:] if not word.startswith("-") and word not in (place, "json")]
if wanted[0].startswith("namespaces/"):
    name = wanted[0].partition("/")[2]
    found = {{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": name}}}}
    print("" if name in answers["missing"] else json.dumps(found))
    sys.exit()
plural = {{"JobSet": "jobsets", "ConfigMap": "configmaps", "PodGroup": "podgroups", "ClusterQueue": "clusterqueues",
          "LocalQueue": "localqueues", "TrainJob": "trainjobs"}}
items = []
for each in answers["objects"]:
    metadata = each["metadata"]
    if metadata.get("namespace", "") != (place or answers["namespace"]) and each["kind"] != "ClusterQueue":
        continue
    for word in wanted:
        kind, _, name = word.partition("/")
        if kind.partition(".")[0] == plural[each["kind"]] and name in ("", metadata["name"]):
            items.append(each)
if len(wanted) == 1 and "/" in wanted[0]:
    print(json.dumps(items[0]) if items else "")
else:
    print(json.dumps({{"apiVersion": "v1", "kind": "List", "items": items}}))
"""
QUEUE = "kueue.x-k8s.io/queue-name"

Install = Callable[..., None]


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> Path:
    """Return a project with three jobs in two namespaces, a ConfigMap and a Service."""
    Path("jobs").mkdir()
    Path("trainc.yaml").write_text(SETTINGS)
    for name, namespace in (("train", "nlp"), ("tune", "nlp"), ("detect", "vision")):
        Path(f"jobs/{name}.yaml").write_text(JOB.format(name=name, namespace=namespace, more=""))
    Path("jobs/table.yaml").write_text(TABLE)
    return empty_repository


def rendered(*options: str) -> list[Tree]:
    """Return the objects of a build as an API server returns them."""
    text = run("build", "--format", "yaml", *options).out
    return [stored(tree) for tree in yaml.safe_load_all(text) if tree and tree["kind"] != "Service"]


def stored(tree: Tree, **status: Any) -> Tree:
    """Return an object with the fields of the server."""
    server = {"uid": "1", "resourceVersion": "7", "generation": 2, "creationTimestamp": "2026-11-29T10:00:00Z"}
    return {**tree, "metadata": {"namespace": "default"} | tree["metadata"] | server, "status": status}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that puts a kubectl on the PATH, which answers with objects or fails for some requests."""
    bin = tmp_path / "bin"
    bin.mkdir()
    monkeypatch.setenv("PATH", f"{bin}:/usr/bin:/bin")
    (bin / "kubectl").write_text(FAKE.format(python=sys.executable, bin=str(bin)))
    (bin / "kubectl").chmod(0o755)

    def install(
        objects: list[Tree], faults: dict[str, tuple[str, int]] | None = None, missing: tuple[str, ...] = ()
    ) -> None:
        answers = {"objects": objects, "faults": faults or {}, "namespace": "default", "missing": missing}
        (bin / "answers").write_text(json.dumps(answers))
        (bin / "asked").write_text("")

    install(rendered())
    return install


def asked(tmp_path: Path) -> list[str]:
    return (tmp_path / "bin" / "asked").read_text().splitlines()


def live(*options: str) -> Done:
    return run("diff", "--live", *options)


def edited(objects: list[Tree], kind: str, name: str, path: tuple[Any, ...], value: Any) -> list[Tree]:
    return [put(tree, path, value) if is_named(tree, kind, name) else tree for tree in objects]


def is_named(tree: Tree, kind: str, name: str) -> bool:
    return bool(tree["kind"] == kind and tree["metadata"]["name"] == name)


def removed_from(objects: list[Tree], kind: str, name: str) -> list[Tree]:
    return [tree for tree in objects if not is_named(tree, kind, name)]


NODE = ("spec", "replicatedJobs", 0, "template", "spec", "template")
LABEL = ("metadata", "labels", "app.kubernetes.io/managed-by")


def test_nothing_changes_after_an_apply(cluster: Install, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    done = live("--exit-code")
    assert (done.code, done.reported) == (0, "")
    assert done.out == snapshot
    assert asked(tmp_path) == snapshot


MANAGED = [
    {
        "manager": "kubectl-client-side-apply",
        "time": "2026-11-29T10:00:00Z",
        "fieldsV1": {"f:spec": {"f:replicatedJobs": {}}},
    },
    {
        "manager": "kubectl-label",
        "time": "2026-11-29T11:00:00Z",
        "fieldsV1": {"f:metadata": {"f:labels": {"f:app.kubernetes.io/managed-by": {}}}},
    },
]


def drift() -> list[Tree]:
    """Return objects of which one is edited, one is missing, one is not rendered, and one is refused."""
    objects = edited(rendered(), "JobSet", "train", LABEL, "hand")
    objects = edited(objects, "JobSet", "train", ("metadata", "managedFields"), MANAGED)
    objects = edited(objects, "JobSet", "detect", (*NODE, "spec", "containers", 0, "image"), "ghcr.io/acme/app:v0")
    objects = edited(objects, "JobSet", "detect", ("status",), {"replicatedJobsStatus": [{"name": "node", "ready": 1}]})
    objects = edited(objects, "ConfigMap", "table", ("data", "a"), "2")
    jobset = next(tree for tree in objects if is_named(tree, "JobSet", "tune"))
    old, other = (put(jobset, ("metadata", "name"), name) for name in ("old", "other"))
    return [*removed_from(objects, "JobSet", "tune"), old, put(other, LABEL, "helm")]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_drift(cluster: Install, form: str, snapshot: SnapshotAssertion) -> None:
    cluster(drift())
    done = live("--exit-code", "--format", form)
    assert (done.code, done.reported) == (3, "")
    assert done.out == snapshot


def test_drift_as_a_page(cluster: Install) -> None:
    cluster(drift(), {"--namespace vision": (FORBIDDEN, 1)})
    out = live("--format", "html").out
    assert "<h1>1 to add, 2 to change, 1 to remove</h1>" in out
    assert "namespace vision is not compared" in out
    assert "1 object of other kinds is not compared: Service" in out


def test_nothing_but_reads_is_requested(cluster: Install, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    cluster(drift())
    live("--context", "lab", "--timeout", "7")
    requests = asked(tmp_path)
    assert {request.partition(" ")[0] for request in requests} == {"get"}
    assert requests == snapshot


READY = {"replicatedJobsStatus": [{"name": "node", "ready": 1}]}


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(READY, id="ready"),
        pytest.param({"replicatedJobsStatus": [{"name": "node", "ready": 0, "active": 1}]}, id="pending"),
        pytest.param(READY | {"conditions": [{"type": "Completed", "status": "True"}]}, id="completed"),
        pytest.param(READY | {"conditions": [{"type": "Suspended", "status": "False"}]}, id="resumed"),
        pytest.param({"replicatedJobsStatus": [{"name": "node", "ready": 0, "active": 0}]}, id="no pods"),
        pytest.param({}, id="none"),
    ],
)
def test_a_job_that_must_be_recreated(cluster: Install, status: Tree, snapshot: SnapshotAssertion) -> None:
    """The review is about running pods only where the status shows them."""
    objects = [put(tree, ("status",), status) if tree["kind"] == "JobSet" else tree for tree in rendered()]
    for name in ("train", "tune"):
        objects = edited(objects, "JobSet", name, (*NODE, "spec", "containers", 0, "image"), "ghcr.io/acme/app:v0")
    cluster(objects)
    assert live().out.splitlines()[2:6] == snapshot


@pytest.mark.parametrize("option", [("--only", "train"), ("jobs/train.yaml",), ("--only", "train", "jobs")], ids=str)
def test_a_part_of_the_project(cluster: Install, option: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    cluster(drift())
    assert live(*option).out == snapshot


def test_without_labels(cluster: Install, snapshot: SnapshotAssertion) -> None:
    Path("trainc.yaml").write_text("sources: [jobs]\n")
    old = put(next(tree for tree in rendered() if tree["kind"] == "JobSet"), ("metadata", "name"), "old")
    cluster([*rendered(), old])
    done = live("--exit-code")
    assert done.out == snapshot


def test_objects_of_other_owners(cluster: Install) -> None:
    """The labels and annotations of Argo CD, Flux and Helm are no drift, those of a person are."""
    tools = {
        "argocd.argoproj.io/tracking-id": "a:b",
        "meta.helm.sh/release-name": "a",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    flux = {"kustomize.toolkit.fluxcd.io/name": "a"}
    objects = [put(tree, ("metadata", "annotations"), tools) for tree in rendered()]
    objects = [put(tree, ("metadata", "labels"), tree["metadata"].get("labels", {}) | flux) for tree in objects]
    cluster(objects)
    assert "nothing changes: 7 objects are unchanged\n" in live().out
    cluster(edited(objects, "JobSet", "train", ("metadata", "annotations", "note"), "by hand"))
    assert "    metadata.annotations\n      - note: by hand\n" in live().out


def test_an_object_that_is_being_deleted(cluster: Install, snapshot: SnapshotAssertion) -> None:
    cluster(edited(rendered(), "JobSet", "train", ("metadata", "deletionTimestamp"), "2026-11-29T10:00:00Z"))
    assert live().out == snapshot


OWN = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: own, namespace: nlp}
spec:
  replicatedJobs:
  - name: worker
    template:
      spec:
        completions: 2
        parallelism: 2
        template:
          spec:
            restartPolicy: Never
            containers: [{name: worker, image: "acme/own:1", ports: [{containerPort: 80}]}]
"""


def test_a_jobset_of_the_user(cluster: Install) -> None:
    """The defaults of the API server are no drift."""
    for file in Path("jobs").iterdir():
        file.unlink()
    Path("trainc.yaml").write_text("sources: [jobs]\n")
    Path("jobs/own.yaml").write_text(OWN)
    [stored_one] = [stored(tree) for tree in yaml.safe_load_all(OWN)]
    spec = yaml.safe_load("""
      network: {enableDNSHostnames: true, publishNotReadyAddresses: true}
      startupPolicy: {startupPolicyOrder: AnyOrder}
      successPolicy: {operator: All}
    """)
    job = stored_one["spec"]["replicatedJobs"][0] | {"groupName": "default", "replicas": 1}
    job = put(job, ("template", "metadata"), {})
    job = put(job, ("template", "spec", "completionMode"), "Indexed")
    job = put(job, ("template", "spec", "template", "metadata"), {})
    container = (*NODE[3:], "spec", "containers", 0)
    job = put(job, (*container, "ports", 0, "protocol"), "TCP")
    job = put(job, (*container, "resources"), {})
    spec |= {"replicatedJobs": [job], "suspend": False}
    cluster([put(stored_one, ("spec",), spec)])
    done = live("--exit-code")
    assert (done.code, done.out.splitlines()[1]) == (0, "nothing changes: 1 object is unchanged"), done.out
    edited_one = put(spec, ("replicatedJobs", 0, *container, "image"), "acme/own:2")
    cluster([put(stored_one, ("spec",), edited_one)])
    done = live("--exit-code")
    assert (done.code, done.out.splitlines()[1]) == (3, "1 to change")


def trainjobs() -> list[Tree]:
    """Set `output: none`; return the TrainJobs and the ConfigMap as they are applied."""
    Path("trainc.yaml").write_text("sources: [jobs, runtimes]\npassthrough: true\noutput: none\n")
    assert run("runtimes", "export", "torch-distributed-coscheduling", "-o", "runtimes").code == 0
    documents = [each for file in sorted(Path("jobs").iterdir()) for each in yaml.safe_load_all(file.read_text())]
    maps = [tree for tree in rendered() if tree["kind"] == "ConfigMap"]
    return [*(stored(each) for each in documents if each["kind"] == "TrainJob"), *maps]


PYTORCHJOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: old, namespace: nlp}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: "acme/old:1", command: [python]}]}}}
"""
IMAGE = ("spec", "trainer", "image")


def test_trainjobs_of_a_cluster(cluster: Install, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The TrainJobs are compared, and not what Trainer's controller makes of them."""
    objects = [put(tree, ("spec", "suspend"), False) if tree["kind"] == "TrainJob" else tree for tree in trainjobs()]
    cluster(objects)
    done = live("--exit-code")
    assert (done.code, done.reported) == (0, "")
    assert done.out == snapshot
    assert [request.split()[1] for request in asked(tmp_path)] == snapshot
    objects = edited(objects, "TrainJob", "train", IMAGE, "ghcr.io/acme/app:v0")
    objects = edited(objects, "TrainJob", "train", ("status",), {"jobsStatus": [{"name": "node", "ready": 1}]})
    objects = edited(objects, "TrainJob", "detect", ("metadata", "annotations"), {"note": "by hand"})
    cluster(removed_from(objects, "TrainJob", "tune"))
    done = live("--exit-code")
    assert (done.code, done.reported) == (3, "")
    assert done.out == snapshot


def test_a_trainjob_whose_change_the_cluster_rejects(cluster: Install) -> None:
    objects = trainjobs()
    Path("runtimes/other.yaml").write_text(
        Path("runtimes/torch-distributed-coscheduling.yaml").read_text().replace("name: torch-d", "name: other-torch-d")
    )
    cluster(
        edited(objects, "TrainJob", "train", ("spec", "runtimeRef", "name"), "other-torch-distributed-coscheduling")
    )
    assert "until it is deleted: nlp/train (spec.runtimeRef)\n" in live().out


def test_a_legacy_job_of_a_cluster_is_not_compared(cluster: Install) -> None:
    objects = trainjobs()
    with Path("trainc.yaml").open("a") as file:
        file.write("legacy: {kinds: [PyTorchJob]}\n")
    Path("jobs/old.yaml").write_text(PYTORCHJOB)
    cluster(objects)
    out = live().out
    assert "nothing changes" in out
    assert "1 object of other kinds is not compared: PyTorchJob" in out or "PyTorchJob" in out


def test_a_trainjob_that_kueue_has_admitted(cluster: Install) -> None:
    text = JOB.format(name="train", namespace="nlp", more=f", labels: {{{QUEUE}: gpu}}")
    Path("jobs/train.yaml").write_text(text)
    pods = {"spec": {"nodeSelector": {"gpu": "h100"}}}
    jobs = [{"name": "node", "template": {"spec": {"template": pods}}}]
    spec = {"template": {"spec": {"replicatedJobs": jobs}}}
    patch = {"manager": "kueue.x-k8s.io/manager", "trainingRuntimeSpec": spec}
    objects = edited(trainjobs(), "TrainJob", "train", ("spec", "suspend"), False)
    cluster(edited(objects, "TrainJob", "train", ("spec", "runtimePatches"), [patch]))
    assert "nothing changes: 7 objects are unchanged\n" in live().out
    patched = edited(objects, "TrainJob", "train", ("spec", "runtimePatches"), [patch | {"manager": "acme.io/hand"}])
    cluster(patched)
    assert "\n    spec.replicatedJobs[node].template.spec.template.spec.nodeSelector\n      - gpu: h100\n" in live().out


def test_a_trainjob_with_a_runtime_that_the_project_lacks(cluster: Install) -> None:
    cluster(edited(trainjobs(), "TrainJob", "train", ("spec", "runtimeRef", "name"), "other"))
    done = live()
    assert done.code == 0
    assert "TrainJob nlp/train is not compared: it does not compile with the runtimes of the project\n" in done.out
    assert "nothing changes: 5 objects are unchanged\n" in done.out


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec",), "a"),
        (("spec", "trainer"), 7),
        (("spec", "runtimeRef"), []),
        (("spec", "runtimePatches"), {"a": 1}),
        (("spec", "runtimePatches"), [7]),
        (("metadata", "labels"), {"kueue.x-k8s.io/queue-name": 7}),
    ],
    ids=str,
)
def test_a_trainjob_with_other_types(cluster: Install, path: tuple[str, ...], value: object) -> None:
    objects = edited(trainjobs(), "TrainJob", "train", LABEL[:2], {QUEUE: "gpu"})
    cluster(edited(objects, "TrainJob", "train", path, value))
    done = live()
    assert done.code == int(path == ("spec",)), done.err
    assert "internal" not in done.err


def test_trainjobs_that_the_user_may_not_read(cluster: Install) -> None:
    forbidden = FORBIDDEN.replace("jobsets", "trainjobs")
    cluster(trainjobs(), {"trainjobs.v1alpha1.trainer.kubeflow.org --namespace vision": (forbidden, 1)})
    done = live()
    assert (done.code, done.out.splitlines()[1]) == (1, "nothing changes: 5 objects are unchanged")
    assert "error[kubectl-failed]: namespace vision is not compared: " in done.reported


def test_another_release_of_trainer(cluster: Install) -> None:
    """The release of the cluster is not known: it rejects nothing."""
    Path("trainc.yaml").write_text(f'{SETTINGS}trainerVersion: "2.2"\n')
    cluster([])
    assert "\n+ added nlp/train (JobSet and PodGroup)  jobs/train.yaml\n" in live().out


def test_a_namespace_that_does_not_exist(cluster: Install) -> None:
    objects = [tree for tree in rendered() if tree["metadata"]["namespace"] != "vision"]
    note = "namespace vision does not exist\n"
    cluster(objects, missing=("vision",))
    assert note in live().out
    cluster(objects)
    assert note not in live().out
    cluster(objects, {"namespaces/": (FORBIDDEN.replace("jobsets", "namespaces"), 1)}, missing=("vision",))
    done = live()
    assert (done.code, note in done.out) == (0, False)


def test_many_namespaces_that_do_not_exist(cluster: Install) -> None:
    """Their list is bounded, except in the JSON."""
    names = [f"team-{number}" for number in range(25)]
    for name in names:
        Path(f"jobs/{name}.yaml").write_text(JOB.format(name="train", namespace=name, more=""))
    cluster([], missing=tuple(names))
    out = live().out
    assert out.count(" does not exist\n") == 19
    assert "\nand 6 more\n" in out
    assert "\n- and 6 more\n" in live("--format", "markdown").out
    assert len(json.loads(live("--format", "json").out)["notes"]) == 26


def test_objects_without_a_namespace(cluster: Install, tmp_path: Path) -> None:
    """They are in the namespace of the context, whose JobSets may belong to objects with that namespace."""
    for file in Path("jobs").glob("t*.yaml"):
        file.unlink()
    Path("jobs/detect.yaml").write_text(JOB.format(name="detect", namespace="default", more=""))
    Path("jobs/plain.yaml").write_text(JOB.format(name="plain", namespace="x", more="").replace(", namespace: x", ""))
    cluster(rendered())
    assert "nothing changes: 4 objects are unchanged\n" in live().out
    assert sorted({"--namespace" in request for request in asked(tmp_path)}) == [False, True]


# What Kueue does.


def admitted(tree: Tree) -> Tree:
    """Return a JobSet as Kueue changes it when it admits it."""
    tree = put(tree, ("spec", "suspend"), False)
    labels = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"].get("metadata", {}).get("labels", {})
    tree = put(tree, (*NODE, "metadata", "labels"), labels | {"kueue.x-k8s.io/podset": "node"})
    tree = put(tree, (*NODE, "metadata", "annotations"), {"kueue.x-k8s.io/workload": "jobset-train"})
    tree = put(tree, (*NODE, "spec", "nodeSelector"), {"cloud.example.com/gpu": "h100"})
    found: Tree = put(tree, (*NODE, "spec", "tolerations"), [{"key": "gpu", "operator": "Exists"}])
    return found


def queued() -> list[Tree]:
    """Return the objects of a project whose job `train` has a queue."""
    Path("jobs/train.yaml").write_text(
        JOB.format(name="train", namespace="nlp", more=f", labels: {{{QUEUE}: gpu}}").replace(
            "numNodes: 2", "numNodes: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}"
        )
    )
    return [admitted(tree) if is_named(tree, "JobSet", "train") else tree for tree in rendered()]


def queues(total: str = "24") -> list[Tree]:
    version, resources = "kueue.x-k8s.io/v1beta2", [{"name": "nvidia.com/gpu", "nominalQuota": "64"}]
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "h100", "resources": resources}]}
    usage = [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": total, "borrowed": "0"}]}]
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    queue = {"apiVersion": version, "kind": "ClusterQueue", "metadata": {"name": "research"}, "spec": spec}
    local = {"apiVersion": version, "kind": "LocalQueue", "metadata": {"name": "gpu", "namespace": "nlp"}}
    return [stored(queue, flavorsUsage=usage), stored({**local, "spec": {"clusterQueue": "research"}})]


def test_an_admitted_jobset_is_unchanged(cluster: Install, snapshot: SnapshotAssertion) -> None:
    cluster([*queued(), *queues()])
    done = live()
    assert (done.code, done.reported) == (0, "")
    assert "nothing changes: 7 objects are unchanged\n" in done.out
    assert "; in use now: 24 nvidia.com/gpu\n" in done.out
    assert json.loads(live("--format", "json").out)["queues"] == snapshot


def test_the_current_use_of_a_queue(cluster: Install, snapshot: SnapshotAssertion) -> None:
    cluster([*edited(queued(), "JobSet", "train", LABEL, "hand"), *queues()])
    assert live().out == snapshot


def test_a_queue_that_the_user_may_not_read(cluster: Install, snapshot: SnapshotAssertion) -> None:
    cluster([*queued(), *queues()], {"clusterqueues": (FORBIDDEN.replace("jobsets", "clusterqueues"), 1)})
    done = live()
    assert (done.code, done.reported) == (0, "")
    assert done.out == snapshot


# Environments.


ENVIRONMENTS = SETTINGS + (
    "environments:\n  dev: {cluster: lab, nameSuffix: -dev}\n  test: {cluster: lab, nameSuffix: -test}\n"
    "  prod: {cluster: main}\n"
)


def test_another_environment_renders_a_jobset(cluster: Install, snapshot: SnapshotAssertion) -> None:
    """Both are in the same namespaces; one environment of the cluster is selected."""
    Path("trainc.yaml").write_text(ENVIRONMENTS)
    objects = [*rendered("--env", "dev"), *rendered("--env", "test"), *rendered("--env", "prod")]
    cluster(objects)
    done = live("--env", "dev")
    assert (done.code, done.reported) == (0, "")
    assert done.out == snapshot
    Path("jobs/tune.yaml").write_text(Path("jobs/tune.yaml").read_text().replace("numNodes: 2", "numNodes: two"))
    assert live("--env", "dev").code == 1


def test_another_environment_has_errors(cluster: Install, snapshot: SnapshotAssertion) -> None:
    Path("trainc.yaml").write_text(
        ENVIRONMENTS.replace(
            "-test}", "-test, patches: [{target: {kind: TrainJob}, patch: {spec: {trainer: {x: 1}}}}]}"
        )
    )
    cluster([*rendered("--env", "dev"), *rendered("--env", "prod")])
    done = live("--env", "dev")
    assert (done.code, done.reported) == (0, "")
    assert done.out == snapshot


@pytest.mark.parametrize("options", [(), ("--env", "dev", "--env", "prod"), ("--env", "nope")], ids=str)
def test_environments_that_are_not_in_one_cluster(
    cluster: Install, options: tuple[str, ...], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    Path("trainc.yaml").write_text(ENVIRONMENTS)
    done = live(*options)
    assert (done.code, done.out) == (1, "")
    assert done.err == snapshot
    assert asked(tmp_path) == []


def test_a_cluster_without_a_name(cluster: Install, snapshot: SnapshotAssertion) -> None:
    Path("trainc.yaml").write_text(ENVIRONMENTS.replace("cluster: main", "namespace: ml"))
    assert live().err.splitlines()[0] == snapshot


def test_names_with_a_hash(cluster: Install) -> None:
    Path("trainc.yaml").write_text(SETTINGS + "delivery: {nameSuffixHash: true}\n")
    cluster(rendered())
    assert "nothing changes: 7 objects are unchanged\n" in live().out
    Path("jobs/tune.yaml").write_text(Path("jobs/tune.yaml").read_text().replace("numNodes: 2", "numNodes: 4"))
    out = live().out
    assert out.splitlines()[1].startswith("2 to add, 1 to remove"), out


# Failures.


FORBIDDEN = (
    'Error from server (Forbidden): jobsets.jobset.x-k8s.io is forbidden: User "ada" cannot list resource "jobsets" in '
    'API group "jobset.x-k8s.io" in the namespace "vision"'
)
FAILURES = {
    "a context that does not exist": ('error: context "nope" does not exist', 1),
    "a slow server": (
        'Get "https://127.0.0.1:6443/apis?timeout=20s": net/http: request canceled (Client.Timeout exceeded while '
        "awaiting headers)",
        1,
    ),
    "a slow discovery": (
        'E1129 10:11:13.968432   28437 memcache.go:287] "Unhandled Error" err="failed: Get '
        '\\"https://127.0.0.1:6443/apis/jobset.x-k8s.io/v1alpha2?timeout=20s\\": context deadline exceeded"\n'
        'error: the server doesn\'t have a resource type "jobsets"',
        1,
    ),
    "no CRD": ('error: the server doesn\'t have a resource type "jobsets"', 1),
    "an unknown failure": ("panic", 2),
}


@pytest.mark.parametrize("case", FAILURES)
def test_nothing_is_compared_after_a_failure(cluster: Install, case: str, snapshot: SnapshotAssertion) -> None:
    cluster(rendered(), {"--namespace vision": FAILURES[case]})
    done = live()
    assert (done.code, done.out) == (1, "")
    assert done.err.removeprefix(note(done)) == snapshot


def note(done: Done) -> str:
    return done.err.removesuffix(done.reported)


def test_a_namespace_that_the_user_may_not_read(cluster: Install, snapshot: SnapshotAssertion) -> None:
    cluster(drift(), {"--namespace vision": (FORBIDDEN, 1)})
    done = live()
    assert done.code == 1
    assert done.out == snapshot
    assert done.reported == snapshot


def test_objects_that_the_user_may_not_read(cluster: Install, snapshot: SnapshotAssertion) -> None:
    """The JobSets of the namespace are compared; its ConfigMap and its PodGroups are not missing."""
    cluster(drift(), {"configmaps/table": (FORBIDDEN.replace("jobsets", "configmaps"), 1)})
    done = live("--format", "markdown")
    assert done.code == 1
    assert done.out == snapshot


def test_a_cluster_without_a_gang_scheduler(cluster: Install, snapshot: SnapshotAssertion) -> None:
    cluster(rendered(), {"podgroups": ('error: the server doesn\'t have a resource type "podgroups"', 1)})
    done = live()
    assert (done.code, done.out.splitlines()[1]) == (1, "nothing changes: 3 objects are unchanged")
    assert done.reported == snapshot


def test_a_jobset_of_another_version(cluster: Install, snapshot: SnapshotAssertion) -> None:
    cluster(edited(rendered(), "JobSet", "tune", ("apiVersion",), "jobset.x-k8s.io/v1beta1"))
    done = live()
    assert done.code == 1
    assert done.out == snapshot
    assert done.reported == snapshot


@pytest.mark.parametrize(
    "text", ["", "<html>", '{"kind": "List", "items": [7]}', '{"kind": "List", "items": [{}]}'], ids=str
)
def test_an_answer_that_is_no_list(cluster: Install, text: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    (tmp_path / "bin" / "kubectl").write_text(f"#!/bin/sh\nprintf '%s' '{text}'\n")
    done = live()
    assert (done.code, done.out) == (1, "")
    assert done.reported == snapshot


def test_a_server_that_does_not_answer(
    cluster: Install, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setattr(program, "_GRACE", 0)
    (tmp_path / "bin" / "kubectl").write_text("#!/bin/sh\nsleep 30\n")
    done = live("--timeout", "1")
    assert (done.code, done.out) == (1, "")
    assert done.reported == snapshot


def test_no_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = live()
    assert (done.code, done.out) == (1, "")
    assert done.reported == snapshot


def test_a_project_with_an_error(cluster: Install, tmp_path: Path) -> None:
    Path("jobs/tune.yaml").write_text(Path("jobs/tune.yaml").read_text().replace("numNodes: 2", "numNodes: two"))
    done = live()
    assert (done.code, done.out, asked(tmp_path)) == (1, "", [])


def test_a_project_without_jobs(cluster: Install, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    for file in Path("jobs").iterdir():
        file.unlink()
    done = live()
    assert (done.code, done.out, asked(tmp_path)) == (1, "", [])
    assert done.err == snapshot


@pytest.mark.parametrize(
    "words",
    [
        ("--live", "HEAD"),
        ("--live", "main..HEAD"),
        ("--live", "HEAD", "--", "jobs"),
        ("--live", "-"),
        ("--live", "--env", "dev..prod"),
        ("--live", "--trainer-version", "2.2..2.3"),
        ("--context", "lab"),
        ("--timeout", "5"),
        ("--live", "--timeout", "0"),
    ],
    ids=" ".join,
)
def test_contradictory_options(cluster: Install, words: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    done = run("diff", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1] == snapshot


def test_a_pipe_is_not_live(cluster: Install) -> None:
    """Without the option, the review does not specify that a JobSet runs."""
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": drift()})
    done = run("diff", "-", "jobs", "--config", "trainc.yaml", stdin=text.encode())
    assert done.code == 0, done.err
    assert "running ones lose their training" in done.out or "a running one loses its training" in done.out
    assert "(running)" not in done.out


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("metadata", "labels"), "a", id="labels"),
        pytest.param(("metadata", "annotations"), ["a"], id="annotations"),
        pytest.param(("spec",), "a", id="spec"),
        pytest.param(("status",), 7, id="status"),
        pytest.param(("metadata", "name"), "", id="name"),
    ],
)
def test_an_object_that_no_server_returns(cluster: Install, path: tuple[str, ...], value: object) -> None:
    cluster(edited(rendered(), "JobSet", "train", path, value))
    done = live()
    assert (done.code, "error[kubectl-failed]: the answer is not a valid JSON list" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("status",), {"conditions": "a", "replicatedJobsStatus": [7]}, id="status"),
        pytest.param(("spec", "replicatedJobs"), "a", id="jobs"),
        pytest.param(("spec", "replicatedJobs", 0), 7, id="job"),
        pytest.param(NODE, [], id="template"),
        pytest.param((*NODE, "spec", "containers"), {"a": 1}, id="containers"),
        pytest.param(("metadata", "namespace"), "elsewhere", id="namespace"),
    ],
)
def test_a_jobset_with_other_types(cluster: Install, path: tuple[Any, ...], value: object) -> None:
    cluster(edited(rendered(), "JobSet", "train", path, value))
    done = live()
    assert done.code == 0, done.err


def test_a_queue_with_other_types(cluster: Install) -> None:
    queue, local = queues()
    for usage in ("a", [7], [{"resources": [7]}], [{"resources": [{"name": "nvidia.com/gpu", "total": "x"}]}]):
        cluster([*queued(), put(queue, ("status", "flavorsUsage"), usage), local])
        assert live().code == 0


def test_local_queues_that_the_user_may_not_read(cluster: Install, snapshot: SnapshotAssertion) -> None:
    cluster([*queued(), *queues()], {"localqueues": (FORBIDDEN.replace("jobsets", "localqueues"), 1)})
    assert live().out == snapshot


def test_a_queue_in_the_namespace_of_the_context(cluster: Install) -> None:
    queued()
    file = Path("jobs/train.yaml")
    file.write_text(file.read_text().replace("namespace: nlp, ", ""))
    queue, local = queues()
    cluster([*rendered(), queue, put(local, ("metadata", "namespace"), "default")])
    [figure] = json.loads(live("--format", "json").out)["queues"]
    assert [(each["requested"], each["used"]) for each in figure["resources"]] == [("8", "24")]


def test_a_queue_of_an_older_version(cluster: Install) -> None:
    queue, local = (put(tree, ("apiVersion",), "kueue.x-k8s.io/v1beta1") for tree in queues())
    cluster([*queued(), queue, local])
    [figure] = json.loads(live("--format", "json").out)["queues"]
    assert [(each["requested"], each["used"]) for each in figure["resources"]] == [("8", "24")]


def test_a_namespace_in_which_only_other_objects_are_rendered(cluster: Install) -> None:
    old = next(tree for tree in rendered() if is_named(tree, "JobSet", "detect"))
    for file in Path("jobs").glob("[td][rue]*.yaml"):
        file.unlink()
    Path("jobs/web.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: vision}\nspec: {}\n"
    )
    cluster([*rendered(), old])
    assert "- removed JobSet vision/detect  the cluster\n" in live().out
