"""Training Operator v1.9: how its controller applies a TrainJob to a runtime of its own.

Reads    a plan whose runtime has the dialect v1.9: spec.trainer, spec.initializer, mlPolicy.
Changes  in the job `trainer-node` its pod count, and in the container `trainer` image, command, args, resources,
         variables and torch's port; in the job `initializer` the variables of the init containers
         `dataset-initializer` and `model-initializer`.
Source   kubeflow/training-operator v1.9.2, pkg/runtime.v2: the JobSet builder, the plugins torch and plainml.

The release differs from Trainer v2.3: torch's variables take precedence over the TrainJob's, which lose `valueFrom`;
numProcPerNode is passed on unchanged; resourcesPerNode replaces the container's resources, also without an mlPolicy.
Its webhook rejects nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import VERSION
from trainc.base.trainjob_dialects import PROCESSES_FIELD
from trainc.diagnostics import Finding
from trainc.kubernetes.quantity import merge_resources
from trainc.kubernetes.trees import Tree, edit, get, put
from trainc.kubernetes.violations import field_of
from trainc.pipeline.checks import Check, check
from trainc.pipeline.frameworks.torch.torchrun import ELASTIC, PORT
from trainc.pipeline.objects import INITIALIZER, NOTHING, STEPS, TRAINER_NODE
from trainc.pipeline.plan import COMPLETION_INDEX, Plan, Slot, from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Path

RELEASE: Final = "Training Operator v1.9"
INIT: Final = "initContainers"
TRAINER: Final = "trainer"
"""The container that spec.trainer applies to."""
IMPLEMENTED: Final = ("torch", "plain")
"""The frameworks that have a plugin."""


def apply(plan: Plan) -> Plan:
    """Apply spec.trainer and spec.initializer to the jobs of these names."""
    for index, job in enumerate(plan.jobs):
        if job.get("name") == TRAINER_NODE:
            plan = _trainer(plan, index)
        elif job.get("name") == INITIALIZER:
            plan = _initializer(plan, index)
    return plan


def _is_implemented(plan: Plan) -> bool:
    """Return whether the release has a plugin for the runtime's policy. Without one it sets no variables and counts."""
    return plan.runtime.policy is not None and plan.runtime.framework in IMPLEMENTED


def _nodes(plan: Plan) -> int:
    """Return the pod count of the trainer job."""
    if not _is_implemented(plan):
        return 1
    given: list[int | None] = [source.get("numNodes") for source in (plan.job.trainer, plan.runtime.policy or NOTHING)]
    return next((count for count in given if count is not None), 1)


def _trainer(plan: Plan, job: int) -> Plan:
    plan = plan.with_count(job, _nodes(plan))
    slot = plan.find(job, TRAINER)
    if slot is None:
        return plan
    given: Tree = {key: plan.job.trainer[key] for key in ("image", "command", "args") if key in plan.job.trainer}
    if "resourcesPerNode" in plan.job.trainer:
        given["resources"] = merge_resources(NOTHING, plan.job.trainer["resourcesPerNode"])
    plan = plan._replace(spec=edit(plan.spec, slot.path, lambda container: container | given))
    if not _is_implemented(plan):
        return plan
    variables: list[Tree] = plan.job.trainer.get("env") or []
    if plan.runtime.framework != "torch":
        return _with_variables(plan, slot, variables)
    plan = _with_variables(plan, slot, _with_torch(plan, variables))
    return plan.on(slot, ports=[{"containerPort": PORT}])


def _with_torch(plan: Plan, variables: list[Tree]) -> list[Tree]:
    """Return the TrainJob's variables, without `valueFrom` and without torch's names, and torch's own."""
    torch = _torch(plan)
    names = {variable["name"] for variable in torch}
    own: list[Tree] = [
        {key: variable[key] for key in ("name", "value") if key in variable}
        for variable in variables
        if variable.get("name") not in names
    ]
    return [*own, *torch]


def _torch(plan: Plan) -> list[Tree]:
    found = [count for count in (plan.job.processes, plan.runtime.processes) if count is not None]
    return [
        value("PET_NNODES", _nodes(plan)),
        value("PET_NPROC_PER_NODE", next(iter(found), "auto")),
        from_field("PET_NODE_RANK", COMPLETION_INDEX),
        value("PET_MASTER_ADDR", plan.host(plan.named(TRAINER_NODE) or 0, 0, 0)),
        value("PET_MASTER_PORT", PORT),
    ]


def _initializer(plan: Plan, job: int) -> Plan:
    for part, name in STEPS.items():
        given = get(plan.job.spec, ("initializer", part))
        slot = _init_container(plan, job, name)
        if given is None or slot is None:
            continue
        uri = [value("STORAGE_URI", given["storageUri"])] if "storageUri" in given else []
        plan = _with_variables(plan, slot, [*uri, *(given.get("env") or [])])
        if "secretRef" in given:
            path = (*slot.path, "envFrom")
            sources = [*get(plan.spec, path, []), {"secretRef": given["secretRef"]}]
            plan = plan._replace(spec=put(plan.spec, path, sources))
    return plan


def _init_container(plan: Plan, job: int, name: str) -> Slot | None:
    slot = plan.find(job, name, init=True)
    return slot if slot and slot.containers == INIT else None


def _with_variables(plan: Plan, slot: Slot, given: list[Tree]) -> Plan:
    """Put variables before those of the container, and drop the container's of the same names."""
    if not given:
        return plan
    names = {variable.get("name") for variable in given}
    path = (*slot.path, "env")
    others = [variable for variable in get(plan.spec, path, []) if variable.get("name") not in names]
    return plan._replace(spec=put(plan.spec, path, [*given, *others]))


@check("ignored-by-release", phase="trainjob", severity="warning", trainc_only=True)
def ignored(plan: Plan) -> Iterator[Finding]:
    """The controller of Training Operator v1.9 ignores some fields of its schemas without a message."""
    framework, policy = plan.runtime.framework, ("spec", "mlPolicy")
    if framework not in IMPLEMENTED:
        yield _runtime_finding(plan, (*policy, framework))
    elif ELASTIC in plan.runtime.settings:
        yield _runtime_finding(plan, (*policy, framework, ELASTIC))
    if plan.job.trainer and plan.find(plan.named(TRAINER_NODE), TRAINER) is None:
        yield _missing_finding(plan, ("spec", "trainer"), f'job "{TRAINER_NODE}" with a container "{TRAINER}"')
    elif not _is_implemented(plan):
        for key in ("env", "numNodes", PROCESSES_FIELD):
            if key in plan.job.trainer:
                yield _job_finding(plan, ("spec", "trainer", key), "without a torch or a plain mlPolicy", key=True)
    elif framework == "torch":
        yield from _lost_variables(plan)
    jobs = [index for index, job in enumerate(plan.jobs) if job.get("name") == INITIALIZER]
    for part, name in STEPS.items():
        path = ("initializer", part)
        if get(plan.job.spec, path) is not None and not any(_init_container(plan, job, name) for job in jobs):
            yield _missing_finding(plan, ("spec", *path), f'job "{INITIALIZER}" with an init container "{name}"')


def _lost_variables(plan: Plan) -> Iterator[Finding]:
    names = {variable["name"] for variable in _torch(plan)}
    for index, variable in enumerate(plan.job.trainer.get("env") or []):
        path: Path = ("spec", "trainer", "env", index)
        if variable.get("name") in names:
            yield _job_finding(plan, (*path, "name"), "where the torch policy sets the variable")
        elif "valueFrom" in variable:
            yield _job_finding(plan, (*path, "valueFrom"), "which drops it", key=True)


def _missing_finding(plan: Plan, path: Path, lacks: str) -> Finding:
    return _job_finding(plan, path, f'because runtime "{plan.runtime.id.name}" has no {lacks}', key=True)


def _job_finding(plan: Plan, path: Path, why: str, *, key: bool = False) -> Finding:
    place = plan.job.at(*path, key=key)
    return Finding(
        message=f"{place.field} has no effect in {RELEASE}, {why}",
        help=f"use a {VERSION} runtime, or remove the field",
        field=place.field,
        place=place,
    )


def _runtime_finding(plan: Plan, path: Path) -> Finding:
    return Finding(
        message=f"{field_of(path)} has no effect in {RELEASE}, which implements only torch without elasticPolicy",
        help=f"use a {VERSION} runtime, or remove the field",
        place=plan.runtime.at(*path, key=True),
    )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (ignored,)
