"""A search for the name that is meant grows linearly: unknown names are not compared with all known ones.

A step is a line that runs, as of each iteration of a loop and of a comprehension, or a call. Half of the names are
unknown, and all are far from each other, so no search ends early.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

import multiplied
import pytest
from files import write_files
from running import run

from trainc.kubernetes.trees import forget

pytestmark = pytest.mark.slow
SMALL = 80
"""More than the number of names up to which all are compared."""
GROWTH = 2.3
"""The maximum growth for twice the names. The two lists of neighbours overlap less among more names, up to a tenth."""
Files = dict[str, str]


def name(kind: str, index: int) -> str:
    return f"{sha256(f'{kind}{index}'.encode()).hexdigest()[:12].translate(str.maketrans('0123456789', 'ghijklmnop'))}"


def names(kind: str, size: int) -> list[str]:
    return [name(kind, index) for index in range(size)]


def dumped(*trees: Any) -> str:
    return "".join(f"---\n{json.dumps(tree)}\n" for tree in trees)


def kueue(kind: str, name: str, namespace: str = "", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec}


def trainjob(name: str, *, queue: str = "", namespace: str = "team", **spec: Any) -> dict[str, Any]:
    labels = {"labels": {"kueue.x-k8s.io/queue-name": queue}} if queue else {}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": namespace} | labels,
        "spec": {"runtimeRef": {"name": "torch-distributed"}} | spec,
    }


def cluster_queue(name: str, cohort: str = "") -> dict[str, Any]:
    flavors = [{"name": "default", "resources": [{"name": "cpu", "nominalQuota": 8}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    spec: dict[str, Any] = {"namespaceSelector": {}, "resourceGroups": groups} | (
        {"cohortName": cohort} if cohort else {}
    )
    return kueue("ClusterQueue", name, **spec)


def runtimes(size: int) -> Files:
    return {
        "runtimes.yaml": "".join(multiplied.runtime_text(name=each) for each in names("known", size)),
        "jobs.yaml": "".join(multiplied.small_job(f"j{i}", each) for i, each in enumerate(names("unknown", size))),
    }


def runtimes_with_an_initializer(size: int) -> Files:
    """Each TrainJob has an initializer, and no runtime supports it."""
    part = {"dataset": {"storageUri": "hf://a/b"}}
    jobs = [trainjob(f"j{i}", initializer=part, runtimeRef={"name": "r"}) for i in range(size)]
    return {
        "runtimes.yaml": "".join(multiplied.runtime_text(name=each) for each in ["r", *names("known", size)]),
        "jobs.yaml": dumped(*jobs),
    }


def local_queues(size: int) -> Files:
    queues = [kueue("LocalQueue", each, "team", clusterQueue="cq") for each in names("known", size)]
    jobs = [trainjob(f"j{i}", queue=each) for i, each in enumerate(names("unknown", size))]
    return {"a.yaml": dumped(*queues, *jobs)}


def local_queues_of_other_namespaces(size: int) -> Files:
    """The namespaces of the TrainJobs have no LocalQueue, and others use queues of the same names."""
    known = names("known", size)
    queues = [kueue("LocalQueue", each, "team", clusterQueue="cq") for each in known]
    jobs = [trainjob(f"j{i}", queue=each) for i, each in enumerate(known)]
    moved = [trainjob(f"k{i}", queue=each, namespace="other") for i, each in enumerate(known)]
    return {"a.yaml": dumped(*queues, *jobs, *moved)}


def cluster_queues(size: int) -> Files:
    queues = [cluster_queue(each) for each in names("known", size)]
    local = [kueue("LocalQueue", f"q{i}", "team", clusterQueue=each) for i, each in enumerate(names("unknown", size))]
    return {"a.yaml": dumped(*queues, *local, *[trainjob(f"j{i}", queue=f"q{i}") for i in range(size)])}


def cohorts(size: int) -> Files:
    """A chain of cohorts, with a queue and a TrainJob in each."""
    chain = [kueue("Cohort", f"c{i}", parentName=f"c{i + 1}") for i in range(size)]
    queues = [cluster_queue(f"cq{i}", f"c{i}") for i in range(size)]
    local = [kueue("LocalQueue", f"q{i}", "team", clusterQueue=f"cq{i}") for i in range(size)]
    jobs = [trainjob(f"j{i}", queue=f"q{i}", numNodes=1) for i in range(size)]
    flavor = kueue("ResourceFlavor", "default")
    return {"a.yaml": dumped(flavor, *chain, *queues, *local, *jobs)}


def fields(size: int) -> Files:
    return {"a.yaml": dumped(trainjob("j", trainer=dict.fromkeys(names("unknown", size), 1)))}


def runtime_with(pod: dict[str, Any], parts: list[str], **jobset: Any) -> dict[str, Any]:
    jobs = [{"name": each, "template": {"spec": {"template": {"spec": pod}}}} for each in parts]
    spec = {"replicatedJobs": jobs} | jobset
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "r"},
        "spec": {"template": {"spec": spec}},
    }


def mounts(size: int) -> Files:
    container = {
        "name": "node",
        "image": "a/b:1",
        "volumeMounts": [{"name": each, "mountPath": f"/{each}"} for each in names("unknown", size)],
    }
    pod = {"containers": [container], "volumes": [{"name": each, "emptyDir": {}} for each in names("known", size)]}
    return {"a.yaml": dumped(runtime_with(pod, ["node"]), trainjob("j", runtimeRef={"name": "r"}))}


def targets_of_policies(size: int) -> Files:
    pod = {"containers": [{"name": "node", "image": "a/b:1"}]}
    policy = {"operator": "All", "targetReplicatedJobs": names("unknown", size)}
    runtime = runtime_with(pod, ["node", *names("known", size)], successPolicy=policy)
    return {"a.yaml": dumped(runtime, trainjob("j", runtimeRef={"name": "r"}))}


def images(size: int) -> Files:
    """The images of the settings, none of which a container has."""
    items = "".join(f"- {{name: {each}, newTag: '1'}}\n" for each in names("unknown", size))
    jobs = [trainjob(f"j{i}", trainer={"image": f"{each}:1"}) for i, each in enumerate(names("known", size))]
    return {"trainc.yaml": f"images:\n{items}", "jobs.yaml": dumped(*jobs)}


def operations(size: int) -> Files:
    """Operations on labels that the object does not have."""
    unknown = "".join(f"  - {{op: remove, path: /metadata/labels/{each}}}\n" for each in names("unknown", size))
    job = trainjob("j")
    job["metadata"]["labels"] = dict.fromkeys(names("known", size), "a")
    return {"trainc.yaml": f"patches:\n- target: {{kind: TrainJob}}\n  patch:\n{unknown}", "jobs.yaml": dumped(job)}


def patches(size: int) -> Files:
    """Patches of fields that the object does not have, each with one operation."""
    patch = "- target: {{kind: TrainJob}}\n  patch: [{{op: remove, path: /metadata/labels/{}}}]\n"
    job = trainjob("j")
    job["metadata"]["labels"] = dict.fromkeys(names("known", size), "a")
    return {
        "trainc.yaml": f"patches:\n{''.join(map(patch.format, names('unknown', size)))}",
        "jobs.yaml": dumped(job),
    }


SEARCHES = [
    runtimes,
    runtimes_with_an_initializer,
    local_queues,
    local_queues_of_other_namespaces,
    cluster_queues,
    cohorts,
    fields,
    mounts,
    targets_of_policies,
    images,
    operations,
    patches,
]


def steps(work: Callable[[], object]) -> int:
    """Return the number of lines and calls of some work."""
    forget()
    taken = 0

    def count(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal taken
        taken += event in ("call", "line", "c_call")
        return count

    sys.settrace(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        sys.settrace(None)
    return taken


@pytest.mark.parametrize("search", SEARCHES)
def test_twice_the_names(search: Callable[[int], Files], tmp_path: Path) -> None:
    taken = []
    for size in (1, SMALL, 2 * SMALL):
        folder = tmp_path / f"of-{size}"
        write_files(search(size), folder)
        run("validate", str(folder))  # imports, schemas
        taken.append(steps(partial(run, "validate", str(folder))))
    base, small, large = taken
    assert (large - base) <= GROWTH * (small - base), taken


def test_a_quadratic_comprehension_is_found() -> None:
    def quadratic(size: int) -> object:
        return [i for i in range(size) for j in range(size) if i == j]

    assert steps(lambda: quadratic(2 * SMALL)) > GROWTH * steps(lambda: quadratic(SMALL))
