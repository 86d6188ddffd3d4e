"""Accelerate: what accelerators need in the containers that ask for them, as the project's trainc.yaml says.

Reads    accelerators[<resource>] of trainc.yaml: volumes of the host, variables; limits and requests of each container.
Changes  the containers and init containers that ask for the resource, if not for zero of it; their pods' volumes.
Source   trainc's own. The operators of TensorFlow and MXNet had it in their own configuration, for GPUs whose drivers
         no device plugin mounts.

What is there stays: a variable of that name, a mount at that path, a volume of that name, which is then the one that
is mounted. So the stage does the same twice as once, and of two accelerators the first in the file wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import Tree, get
from trainc.plan import Slot, pod_spec

if TYPE_CHECKING:
    from trainc.plan import Plan

CONTAINERS: Final = ("initContainers", "containers")


def accelerate(plan: Plan) -> Plan:
    """Give each container what belongs to the resources that it asks for."""
    accelerators = plan.project.accelerators
    if not accelerators:
        return plan
    for job in range(len(plan.jobs)):
        for key in CONTAINERS:
            for index, container in enumerate(get(plan.spec, (*pod_spec(job), key), [])):
                for resource, accelerator in accelerators.items():
                    if asks(container, resource):
                        plan = equipped(plan, Slot(job, key, index), accelerator or {})
    return plan


def asks(container: Tree, resource: str) -> bool:
    """Whether a container has a limit or a request of a resource that is not zero."""
    from trainc.kubernetes.quantity import Quantity

    amounts = (get(container, ("resources", kind, resource)) for kind in ("limits", "requests"))
    return any(amount is not None and not Quantity.from_json(amount).is_zero for amount in amounts)


def equipped(plan: Plan, slot: Slot, accelerator: Tree) -> Plan:
    """The plan with what belongs to one accelerator in one container, where nothing else is."""
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
    """Its variables: `env`, as containers spell it, or `envVars`, as the older operators did."""
    return [*(accelerator.get("env") or ()), *(accelerator.get("envVars") or ())]
