"""The fields that JobSet adds to its Jobs, and the volume claims that it creates: valid ones, and violations."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.kubernetes.trees import Tree
from trainc.pipeline.checks import created_jobs

EXCLUSIVE = {created_jobs.EXCLUSIVE: "rack"}
SELECTOR = {created_jobs.BY_NODE_SELECTOR: "true"}
BOTH = EXCLUSIVE | SELECTOR
GOOD = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def replicated(name: str = "node", *, annotations: Any = None, replicas: int = 1, **container: Any) -> Tree:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1", **container}]}
    template = {"metadata": {"annotations": annotations or {}}, "spec": {"template": {"spec": pod}}}
    return {"name": name, "groupName": "default", "replicas": replicas, "template": template}


def jobset(*jobs: Tree, annotations: Any = None, namespace: str = "ns", name: str = "js", **spec: Any) -> Tree:
    metadata = {"name": name, "annotations": annotations or {}} | ({"namespace": namespace} if namespace else {})
    return {"kind": "JobSet", "metadata": metadata, "spec": {"replicatedJobs": list(jobs), **spec}}


def claims(spec: Any, **metadata: Any) -> Tree:
    """Return a JobSet whose container mounts a claim."""
    mounting = replicated(volumeMounts=[{"name": "data", "mountPath": "/data"}])
    templates = [{"metadata": {"name": "data", **metadata}, "spec": spec}]
    return jobset(mounting, volumeClaimPolicies=[{"templates": templates}])


def found(tree: Tree) -> list[tuple[str, str, str]]:
    """Return the object's name, the field of the API server's error, and the path in the JobSet of each violation."""
    return [
        (fault.object.name, fault.violation.field, ".".join(map(str, fault.in_jobset().path)))
        for fault in created_jobs.faults(tree)
    ]


@pytest.mark.parametrize(
    ("of_jobset", "of_job", "placed"),
    [
        pytest.param(BOTH, {}, True, id="both at the JobSet"),
        pytest.param({}, BOTH, True, id="both at the job"),
        pytest.param(EXCLUSIVE, SELECTOR, True, id="the job's selector with the JobSet's topology"),
        pytest.param(SELECTOR, EXCLUSIVE, False, id="the JobSet's selector without its own topology"),
        pytest.param(EXCLUSIVE, EXCLUSIVE, False, id="no selector"),
        pytest.param(SELECTOR, SELECTOR, False, id="no topology"),
    ],
)
def test_exclusive_placement_by_node_selector(of_jobset: Any, of_job: Any, placed: bool) -> None:
    tree = jobset(replicated(annotations=of_job), annotations=of_jobset)
    spec = created_jobs.make_job(tree, tree["spec"]["replicatedJobs"][0])["spec"]["template"]["spec"]
    assert spec.get("nodeSelector") == ({created_jobs.NAMESPACED_JOB: "ns_js-node-0"} if placed else None)


@pytest.mark.parametrize(
    ("namespace", "replicas", "expected"),
    [
        pytest.param("n" * 53, 10, [], id="63 bytes"),
        pytest.param("n" * 54, 1, ["js-node-0"], id="the first Job"),
        pytest.param("n" * 53, 11, ["js-node-10"], id="the first Job with a longer name"),
        pytest.param("n" * 52, 101, ["js-node-100"], id="an even longer name"),
        pytest.param("", 11, [], id="an unknown namespace"),
    ],
)
def test_every_job_of_a_replicated_job_is_checked(namespace: str, replicas: int, expected: list[str]) -> None:
    tree = jobset(replicated(replicas=replicas), annotations=BOTH, namespace=namespace)
    at = f"metadata.annotations.{created_jobs.BY_NODE_SELECTOR}"
    assert found(tree) == [(name, "spec.template.spec.nodeSelector", at) for name in expected]


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        pytest.param([("a", -1), ("b", 1)], [("js-b-0", "0.replicas")], id="before another job"),
        pytest.param([("a", 1), ("b", -2)], [("js-a-0", "1.replicas")], id="more than the others"),
        pytest.param([("a", 1), ("b", -1)], [], id="as many as the others"),
        pytest.param([("a", -1)], [], id="no Jobs at all"),
        pytest.param([("a-", 1)], [("js-a--0", "0.name")], id="a name that ends with a dash"),
        pytest.param([("a-", -1)], [], id="such a name without Jobs"),
    ],
)
def test_labels_that_jobset_sets(jobs: list[tuple[str, int]], expected: list[tuple[str, str]]) -> None:
    tree = jobset(*(replicated(name, replicas=replicas) for name, replicas in jobs))
    assert found(tree) == [
        (name, field, f"spec.replicatedJobs.{path}")
        for name, path in expected
        for field in ("metadata.labels", "spec.template.labels")
    ]


def test_a_claim_names_a_volume() -> None:
    mounting = replicated(volumeMounts=[{"name": "a.b", "mountPath": "/a"}])
    templates = [{"metadata": {"name": name}, "spec": GOOD} for name in ("unused.too", "a.b")]
    pod, container = "spec.template.spec", "containers.0.volumeMounts.0.name"
    assert found(jobset(mounting, volumeClaimPolicies=[{"templates": templates}])) == [
        ("js-node-0", f"{pod}.volumes[0].name", "spec.volumeClaimPolicies.0.templates.1.metadata.name"),
        (
            "js-node-0",
            f"{pod}.containers[0].volumeMounts[0].name",
            f"spec.replicatedJobs.0.template.{pod}.{container}",
        ),
    ]


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        pytest.param(GOOD, [], id="valid"),
        pytest.param({}, ["spec.accessModes", "spec.resources[storage]"], id="empty"),
        pytest.param({**GOOD, "accessModes": ["RWO"]}, ["spec.accessModes"], id="an unknown mode"),
        pytest.param({**GOOD, "resources": {"requests": {"storage": "0"}}}, ["spec.resources[storage]"], id="no size"),
        pytest.param({**GOOD, "storageClassName": "A_B"}, ["spec.storageClassName"], id="a storage class"),
        pytest.param({**GOOD, "volumeMode": "Bad"}, ["spec.volumeMode"], id="a volume mode"),
        pytest.param({**GOOD, "dataSource": {"kind": "X", "name": "n"}}, [], id="a source that the server drops"),
        pytest.param(
            {**GOOD, "dataSource": {"kind": "PersistentVolumeClaim"}}, ["spec.dataSource.name"], id="a source's name"
        ),
        pytest.param({**GOOD, "dataSourceRef": {"kind": "X", "name": "n"}}, ["spec.dataSourceRef"], id="no group"),
        pytest.param(
            {**GOOD, "dataSourceRef": {"kind": "X", "name": "n", "namespace": "o"}}, [], id="a ref that it drops"
        ),
    ],
)
def test_a_claim_template(spec: Any, fields: list[str]) -> None:
    assert [(name, field) for name, field, _ in found(claims(spec))] == [("data-js", field) for field in fields]


def test_the_labels_of_a_claim_template() -> None:
    assert found(claims(GOOD, labels={"a b": "c"}, annotations={"ok": "a b"})) == [
        ("data-js", "metadata.labels", "spec.volumeClaimPolicies.0.templates.0.metadata.labels.a b")
    ]
