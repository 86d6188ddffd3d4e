"""Footprints: how much of a cluster JobSets take, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from batches import one_in_four
from manifests import GOLDEN_CASES
from purposes import internal
from running import NO_LINT

import trainc
from trainc.compilation.run import Options
from trainc.pods.footprint import Footprint, by_queue, jobs, jobset_footprint

GOLDEN = Path(__file__).parents[2] / "golden"
ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
VOLCANO = "scheduling.volcano.sh/v1beta1"


def requesting_container(limits: Any = None, **fields: Any) -> Any:
    """A container; its keywords are requests, `restartPolicy` apart."""
    policy = fields.pop("restartPolicy", None)
    resources = {"limits": limits, "requests": {name.replace("_", "/"): amount for name, amount in fields.items()}}
    return {"name": "c", "resources": resources} | ({"restartPolicy": policy} if policy else {})


def counted_job(*containers: Any, name: str = "node", step: str = "", pod: Any = None, **fields: Any) -> Any:
    """A replicated job; `fields` are its own (replicas), or the Job's (parallelism, completions)."""
    own = {key: fields.pop(key) for key in ("replicas",) if key in fields}
    spec = {**fields, "template": {"spec": {"containers": list(containers), **(pod or {})}}}
    labels = {"metadata": {"labels": {ANCESTOR: step}}} if step else {}
    return {"name": name, **own, "template": {**labels, "spec": spec}}


def jobset(*jobs: Any, namespace: str = "", labels: Any = None, annotations: Any = None) -> Any:
    metadata = {"name": "j", "namespace": namespace, "labels": labels or {}, "annotations": annotations or {}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": {"replicatedJobs": list(jobs)},
    }


def totals(footprint: Footprint) -> tuple[int, int, int, dict[str, str]]:
    return (*footprint[:3], {name: str(quantity) for name, quantity in footprint.resources.items()})


SIDECAR = requesting_container(cpu="500m", restartPolicy="Always")


@pytest.mark.parametrize(
    ("replicated", "pods"),
    [
        pytest.param({}, 1, id="the API server's defaults"),
        pytest.param({"parallelism": 4}, 4, id="parallelism"),
        pytest.param({"replicas": 3, "parallelism": 4}, 12, id="times replicas"),
        pytest.param({"replicas": 0, "parallelism": 4}, 0, id="no replica"),
        pytest.param({"parallelism": 0}, 0, id="stopped"),
        pytest.param({"parallelism": 8, "completions": 3}, 3, id="no more than are to be done"),
        pytest.param({"parallelism": 2, "completions": 8}, 2, id="two at a time"),
        pytest.param({"completions": 8}, 1, id="one at a time"),
        pytest.param({"replicas": None, "parallelism": None, "completions": None}, 1, id="null"),
        pytest.param({"replicas": "two", "parallelism": -1}, 0, id="what the server refuses"),
        pytest.param({"replicas": 1_000_000, "parallelism": 1_000_000}, 10**12, id="very many"),
    ],
)
def test_how_many_pods(replicated: Any, pods: int) -> None:
    assert jobset_footprint(jobset(counted_job(requesting_container(cpu=1), **replicated))).pods == pods


@pytest.mark.parametrize(
    ("pod", "asked"),
    [
        pytest.param(counted_job(), {}, id="nothing"),
        pytest.param(
            counted_job(requesting_container(cpu=1), requesting_container(cpu="500m")),
            {"cpu": "1500m"},
            id="containers together",
        ),
        pytest.param(
            counted_job(requesting_container({"cpu": "2"})), {"cpu": "2"}, id="limits where there are no requests"
        ),
        pytest.param(counted_job(requesting_container({"cpu": 2}, cpu=1)), {"cpu": "1"}, id="requests before limits"),
        pytest.param(counted_job(requesting_container(cpu="0")), {}, id="zero"),
        pytest.param(
            counted_job(requesting_container(memory="0.5Gi"), requesting_container(memory="512Mi")),
            {"memory": "1Gi"},
            id="fractions",
        ),
        pytest.param(
            counted_job(
                requesting_container(cpu=1),
                pod={"initContainers": [requesting_container(cpu=4), requesting_container(cpu=3)]},
            ),
            {"cpu": "4"},
            id="the largest init container",
        ),
        pytest.param(
            counted_job(requesting_container(cpu=1), pod={"initContainers": [SIDECAR, requesting_container(cpu=1)]}),
            {"cpu": "1500m"},
            id="a sidecar is there all the time",
        ),
        pytest.param(
            counted_job(requesting_container(cpu=1), pod={"initContainers": [SIDECAR], "overhead": {"cpu": "250m"}}),
            {"cpu": "1750m"},
            id="overhead",
        ),
        pytest.param(
            counted_job(requesting_container(cpu=1, memory="1Gi"), pod={"resources": {"requests": {"cpu": 3}}}),
            {"cpu": "3", "memory": "1Gi"},
            id="the pod's own",
        ),
        pytest.param(
            counted_job(requesting_container(cpu="1e5000", memory="1e1.5", a_b="1")), {"a/b": "1"}, id="no quantities"
        ),
        pytest.param(counted_job(requesting_container(cpu=[], memory={}, a_b=True)), {}, id="other types"),
        pytest.param(counted_job(None, "c", {"resources": []}, {"resources": {"requests": 1}}), {}, id="no containers"),
        pytest.param(counted_job(pod={"containers": None, "initContainers": 1, "overhead": []}), {}, id="no lists"),
    ],
)
def test_what_a_pod_asks_for(pod: Any, asked: dict[str, str]) -> None:
    assert totals(jobset_footprint(jobset(pod))) == (1, 1, 0, asked)


@pytest.mark.parametrize(
    ("asked", "gpus"),
    [
        pytest.param({"nvidia.com_gpu": 8}, 8, id="of NVIDIA"),
        pytest.param({"amd.com_gpu": "4", "cpu": 1}, 4, id="of AMD"),
        pytest.param({"gpu.intel.com_i915": 2}, 2, id="in the domain"),
        pytest.param({"cpu": 8, "google.com_tpu": 4}, 0, id="of another kind"),
        pytest.param({"nvidia.com_gpu": 1, "nvidia.com_gpumem": 3000}, 1, id="with its memory beside it"),
    ],
)
def test_gpus(asked: Any, gpus: int) -> None:
    assert jobset_footprint(jobset(counted_job(requesting_container(**asked), parallelism=2))).gpus == 2 * gpus


@pytest.mark.parametrize(
    ("replicated", "nodes"),
    [
        pytest.param({"name": "node"}, 2, id="by its name"),
        pytest.param({"name": "workers", "step": "trainer"}, 2, id="by its step"),
        pytest.param({"name": "dataset", "step": "dataset-initializer"}, 0, id="of another step"),
        pytest.param({"name": "workers"}, 0, id="of none"),
    ],
)
def test_nodes_are_the_pods_that_train(replicated: Any, nodes: int) -> None:
    assert jobset_footprint(jobset(counted_job(parallelism=2, **replicated)))[:2] == (2, nodes)


def test_a_jobset_is_the_sum_of_its_jobs() -> None:
    trainers = counted_job(
        requesting_container(memory="64Gi", **{"nvidia.com_gpu": 8}), name="node", replicas=2, parallelism=2
    )
    initializer = counted_job(requesting_container(cpu="500m", memory="1Gi"), name="fetch")
    both = jobset(initializer, trainers)
    assert [(one.name, one.pods, one.trains) for one in jobs(both)] == [("fetch", 1, False), ("node", 4, True)]
    assert [totals(one.footprint) for one in jobs(both)] == [
        (1, 0, 0, {"cpu": "500m", "memory": "1Gi"}),
        (4, 4, 32, {"memory": "256Gi", "nvidia.com/gpu": "32"}),
    ]
    assert totals(jobset_footprint(both)) == (5, 4, 32, {"cpu": "500m", "memory": "257Gi", "nvidia.com/gpu": "32"})
    assert jobset_footprint(both) + Footprint() == jobset_footprint(both)
    assert jobset_footprint(jobset(counted_job(requesting_container(cpu="1")))) == jobset_footprint(
        jobset(counted_job(requesting_container(cpu="1000m")))
    )


@pytest.mark.parametrize(
    ("of_jobset", "others", "queue"),
    [
        pytest.param({}, (), "", id="none"),
        pytest.param({"labels": {"kueue.x-k8s.io/queue-name": "team"}}, (), "team", id="Kueue's"),
        pytest.param(
            {"labels": {"kueue.x-k8s.io/queue-name": "team"}, "namespace": "ml"}, (), "ml/team", id="of a namespace"
        ),
        pytest.param({"annotations": {"scheduling.volcano.sh/queue-name": "fast"}}, (), "fast", id="Volcano's"),
        pytest.param(
            {"annotations": {"scheduling.volcano.sh/queue-name": "fast"}},
            ({"apiVersion": VOLCANO, "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"queue": "slow"}},),
            "slow",
            id="the PodGroup's before the annotation's",
        ),
        pytest.param(
            {"namespace": "ml"},
            ({"apiVersion": VOLCANO, "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"queue": "slow"}},),
            "",
            id="a PodGroup elsewhere",
        ),
        pytest.param({"labels": {"kueue.x-k8s.io/queue-name": 7}}, (), "", id="no text"),
    ],
)
def test_by_queue(of_jobset: Any, others: Any, queue: str) -> None:
    one = counted_job(requesting_container(cpu=1))
    one["template"]["spec"]["template"]["metadata"] = {"annotations": {"scheduling.k8s.io/group-name": "g"}}
    found = by_queue([jobset(one, **of_jobset), *others])
    assert {name: totals(footprint) for name, footprint in found.items()} == {queue: (1, 1, 0, {"cpu": "1"})}


def test_queues_add_up_in_the_order_of_their_names() -> None:
    named = [jobset(counted_job(), labels={"kueue.x-k8s.io/queue-name": name}) for name in ("b", "a", "b")]
    assert {queue: footprint.pods for queue, footprint in by_queue([*named, jobset(counted_job())]).items()} == {
        "": 1,
        "a": 1,
        "b": 2,
    }


@pytest.mark.parametrize("tree", [None, 1, [], {}, {"spec": None}, {"spec": {"replicatedJobs": {}}}, jobset(None, 1)])
def test_what_has_no_pods(tree: Any) -> None:
    assert (jobset_footprint(tree), by_queue([tree])) in [(Footprint(), {}), (Footprint(), {"": Footprint()})]


def test_what_is_no_jobset_is_in_no_queue() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    other = jobset(counted_job()) | {"apiVersion": "example.com/v1"}
    assert by_queue([pod, other, None, "JobSet"]) == {}


@pytest.mark.parametrize("case", one_in_four(GOLDEN_CASES))
def test_a_gang_that_is_not_elastic_has_as_many_pods(case: str) -> None:
    made = internal(trainc.compile([str(GOLDEN / case / "input.yaml")], options=Options(settings=NO_LINT)))
    counted = [
        (group["spec"]["minMember"], jobset_footprint(compiled.objects[0]).pods)
        for compiled in made.jobs
        for group in compiled.objects
        if group["kind"] == "PodGroup" and compiled.plan.needed is None
    ]
    assert [members for members, _ in counted] == [pods for _, pods in counted]
