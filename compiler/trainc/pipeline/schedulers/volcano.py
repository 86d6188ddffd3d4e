"""Volcano: a separate batch scheduler with queues.

Reads    podGroupPolicy.volcano.networkTopology, and in the runtime of a legacy job the other fields of the PodGroup's
         spec, which replace the computed ones; the JobSet's annotation scheduling.volcano.sh/queue-name, from the
         runtime's template or a patch; the pods' priorityClassName (the last job's is used).
Adds     an annotation to every pod, and a PodGroup of scheduling.volcano.sh.
Source   kubeflow/trainer v2.3.0, runtime plugin volcano. Its webhook also requires that the priority class exists,
         which trainc cannot check offline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, Place
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.checks import Check, check
from trainc.pipeline.plan import pod_spec
from trainc.pipeline.schedulers import Gang, GangMark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

VERSION: Final = "scheduling.volcano.sh/v1beta1"
RELEASE: Final = "volcano"
MARK: Final = GangMark("annotations", "scheduling.k8s.io/group-name")
QUEUE: Final = "scheduling.volcano.sh/queue-name"


def group(plan: Plan, gang: Gang) -> Tree:
    """Return the PodGroup, with its queue, its priority class and its network topology."""
    spec: Tree = {"minMember": gang.members, "minResources": gang.resources}
    if QUEUE in plan.annotations:
        spec["queue"] = plan.annotations[QUEUE]
    classes = (get(plan.spec, (*pod_spec(job), "priorityClassName")) for job in range(len(plan.jobs)))
    if named := [name for name in classes if name]:
        spec["priorityClassName"] = named[-1]
    policy = (plan.runtime.gang or {})["volcano"]
    spec |= {key: field for key, field in policy.items() if field not in ("", None, {})}
    return {"apiVersion": VERSION, "kind": "PodGroup", "metadata": plan.object_metadata(), "spec": spec}


@check("volcano-queue", phase="trainjob")
def queue(plan: Plan) -> Iterator[Finding]:
    """An annotation names the queue; without it, Volcano uses its default queue."""
    if plan.annotations.get(QUEUE) == "":
        yield Finding(
            message=f"{QUEUE} must not be empty",
            help="set a queue of the cluster (kubectl get queues.scheduling.volcano.sh), or remove the annotation",
            field=f"spec.annotations[{QUEUE}]",
            place=_annotated(plan),
        )


def _annotated(plan: Plan) -> Place:
    """Return the place of the annotation: in the last patch that sets it, else in the runtime."""
    for index in reversed(range(len(plan.job.patches))):
        path = ("spec", "runtimePatches", index, "trainingRuntimeSpec", "template", "metadata", "annotations", QUEUE)
        if get(plan.job.value, path) is not None:
            return plan.job.at(*path)
    return plan.runtime.at("spec", "template", "metadata", "annotations", QUEUE)


CHECKS: Final[tuple[Check[[Plan]], ...]] = (queue,)
