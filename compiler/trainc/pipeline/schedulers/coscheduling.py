"""Coscheduling: the scheduler plugin of that name, in the cluster's default scheduler or in a second one.

Reads    podGroupPolicy.coscheduling.scheduleTimeoutSeconds. In the runtime of a legacy job, the policy can also have
         the other fields of the PodGroup's spec, which replace the computed ones.
Adds     a label to every pod, and a PodGroup of scheduling.x-k8s.io.
Source   kubeflow/trainer v2.3.0, runtime plugin coscheduling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.pipeline.schedulers import Gang, GangMark

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.checks import Check
    from trainc.pipeline.plan import Plan

VERSION: Final = "scheduling.x-k8s.io/v1alpha1"
RELEASE: Final = "scheduler-plugins-0.35"
MARK: Final = GangMark("labels", "scheduling.x-k8s.io/pod-group")
CHECKS: Final[tuple[Check[[Plan]], ...]] = ()


def group(plan: Plan, gang: Gang) -> Tree:
    """Return the PodGroup, with the time that its pods wait for one another."""
    spec = {"minMember": gang.members, "minResources": gang.resources, **(plan.runtime.gang or {})["coscheduling"]}
    return {"apiVersion": VERSION, "kind": "PodGroup", "metadata": plan.object_metadata(), "spec": spec}
