"""Accelerate: add the settings of trainc.yaml to the containers that request an accelerator.

Reads    accelerators[<resource>] of trainc.yaml: host volumes, variables; the limits and requests of each container.
Changes  the containers and init containers that request a nonzero amount of the resource; the volumes of their pods.
Source   trainc's own. The TensorFlow and MXNet operators had these settings in their own configuration, for GPUs whose
         drivers no device plugin mounts.

Existing entries stay: a variable with the same name, a mount at the same path, and a volume with the same name, which
is then the one that is mounted. The stage is therefore idempotent, and the first of two accelerators in the file wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.plan import Slot, pod_spec

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan

CONTAINERS: Final = ("initContainers", "containers")


def accelerate(plan: Plan) -> Plan:
    """Add the settings of each resource to the containers that request it."""
    accelerators = plan.project.accelerators
    if not accelerators:
        return plan
    for job in range(len(plan.jobs)):
        for key in CONTAINERS:
            for index, container in enumerate(get(plan.spec, (*pod_spec(job), key), [])):
                for resource, accelerator in accelerators.items():
                    if requests(container, resource):
                        plan = equipped(plan, Slot(job, key, index), accelerator or {})
    return plan


def requests(container: Tree, resource: str) -> bool:
    """Return whether a container has a nonzero limit or request of a resource."""
    from trainc.kubernetes.quantity import Quantity

    amounts = (get(container, ("resources", kind, resource)) for kind in ("limits", "requests"))
    return any(amount is not None and not Quantity.from_json(amount).is_zero for amount in amounts)


def equipped(plan: Plan, slot: Slot, accelerator: Tree) -> Plan:
    """Return the plan with the settings of one accelerator added to one container."""
    container = get(plan.spec, slot.path)
    named = {variable.get("name") for variable in container.get("env") or ()}
    taken = {mount.get("mountPath", "").rstrip("/") for mount in container.get("volumeMounts") or ()}
    there = {volume.get("name") for volume in get(plan.spec, (*pod_spec(slot.job), "volumes"), [])}
    volumes = [v for v in accelerator.get("volumes") or () if v["mountPath"].rstrip("/") not in taken]
    plan = plan.on(
        slot,
        env=[variable for variable in variables(accelerator) if variable["name"] not in named],
        mounts=[{key: v[key] for key in ("name", "mountPath", "readOnly") if key in v} for v in volumes],
    )
    new = [{"name": v["name"], "hostPath": {"path": v["hostPath"]}} for v in volumes if v["name"] not in there]
    return plan.with_volumes(slot.job, new) if new else plan


def variables(accelerator: Tree) -> list[Tree]:
    """Return an accelerator's variables: `env`, as in containers, then `envVars`, as in the older operators."""
    return [*(accelerator.get("env") or ()), *(accelerator.get("envVars") or ())]
