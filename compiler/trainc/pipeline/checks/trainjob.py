"""The errors of the TrainJob webhook, which validates the patched runtime.

Source: kubeflow/trainer v2.3.0, the JobSet plugin's validation. Each framework module has its own checks.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import CLUSTER_SCOPED, JOBS_OF_PATCH, POD
from trainc.diagnostics import Finding
from trainc.kubernetes.names import domain_prefixed_path_errors
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.checks import Check, check
from trainc.pipeline.objects import STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.library import Level
    from trainc.pipeline.plan import Plan

MANAGED: Final = ("node", "dataset-initializer", "model-initializer")
"""The containers whose variables only the TrainJob itself can set."""
CONTAINERS_OF_JOB: Final = (*POD, "containers")
VOLUME: Final = "initializer"
"""The volume into which the initializers fetch the dataset and the model."""
MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


@check("patch-manager", phase="trainjob")
def manager(plan: Plan) -> Iterator[Finding]:
    """A patch names its manager by a domain and a path."""
    for index, patch in enumerate(plan.job.patches):
        name = patch.get("manager")
        if name is None:
            continue  # the schema reports it
        if domain_prefixed_path_errors(name):
            yield Finding(
                message=f'manager "{name}" of the patch is not a domain-prefixed path',
                help="use a lowercase domain, a slash and a path, such as platform.example.com/node-pools",
                field="spec.runtimePatches.manager",
                place=plan.job.at("spec", "runtimePatches", index, "manager"),
            )


@check("patch-sets-env", phase="trainjob")
def env(plan: Plan) -> Iterator[Finding]:
    """Only the TrainJob sets variables of `node` and of the initializers; a patch may set those of init containers."""
    for p, patch in enumerate(plan.job.patches):
        for j, job in enumerate(get(patch, JOBS_OF_PATCH, [])):
            for c, container in enumerate(get(job, CONTAINERS_OF_JOB, [])):
                name = container.get("name")
                if name in MANAGED and container.get("env"):
                    where = "spec.trainer.env" if name == "node" else f"spec.initializer.{name.partition('-')[0]}.env"
                    path = ("spec", "runtimePatches", p, *JOBS_OF_PATCH, j, *CONTAINERS_OF_JOB, c, "env")
                    yield Finding(
                        message=f'{plan.job.a_patch} cannot set variables of container "{name}"',
                        help=f"set them in {where}",
                        field=plan.job.patches_field,
                        place=plan.job.at(*path, key=True),
                    )


@check("initializer-missing", phase="trainjob")
def initializers(plan: Plan) -> Iterator[Finding]:
    """The dataset and model initializers are a job, a container and a mount of the runtime, with fixed names."""
    for part, step in STEPS.items():
        if get(plan.job.spec, ("initializer", part)) is None:
            continue
        lacks = _missing_part(plan.jobs, step, mounted=plan.release.initializer_mount == "required")
        if not lacks:
            continue
        yield Finding(
            message=f'the TrainJob has a {part} initializer, but runtime "{plan.runtime.id.name}" has no {lacks}',
            help=f"use a runtime that has it{_such_as(plan, step)}, or remove the initializer",
            field="spec.runtimeRef",
            place=plan.job.at("spec", "initializer", part, key=True),
        )


def _missing_part(jobs: list[Tree], step: str, *, mounted: bool) -> str:
    """Return the part that the replicated jobs lack for an initializer, or an empty string.

    mounted   whether the container must mount the volume
    """
    job = next((job for job in jobs if job.get("name") == step), None)
    if job is None:
        return f'replicated job "{step}"'
    pod = get(job, POD, {})
    containers = [container for container in pod.get("containers") or [] if container.get("name") == step]
    if not containers and all(container.get("name") != step for container in pod.get("initContainers") or []):
        return f'container "{step}" in the job of that name'
    if not mounted:
        return ""
    mounts = (containers[0].get("volumeMounts") or []) if containers else []
    if all(mount.get("name") != VOLUME for mount in mounts):
        return f'mount of volume "{VOLUME}" in container "{step}"'
    return ""


def _such_as(plan: Plan, step: str) -> str:
    """Return the name of a runtime with this initializer and the same framework, as the end of a help."""
    found = _runtimes_with_initializers(plan.library.levels).get((step, plan.runtime.framework))
    return f", such as {found}" if found else ""


@lru_cache(maxsize=4)
def _runtimes_with_initializers(levels: tuple[Level, ...]) -> dict[tuple[str, str], str]:
    """Return the first runtime with each initializer and framework: one search for all TrainJobs.

    The given paths and the built-in runtimes are searched, not the --runtimes paths.
    """
    found: dict[tuple[str, str], str] = {}
    for level in (levels[0], levels[-1]):
        for key in level.known():
            entry = level.find(key) if key[0] in CLUSTER_SCOPED else None
            runtime = entry.conform_quietly()[0] if entry else None
            if runtime is None:
                continue
            for step in STEPS.values():
                if not _missing_part(runtime.spec.get("replicatedJobs") or [], step, mounted=True):
                    found.setdefault((step, runtime.framework), key[2])
    return found


@check("managed-by-other", phase="trainjob", severity="warning", trainc_only=True)
def managed_by(plan: Plan) -> Iterator[Finding]:
    """MultiKueue runs such a TrainJob in another cluster, without a JobSet in this one. trainc still compiles it."""
    if plan.job.spec.get("managedBy") == MULTIKUEUE and plan.release.managed_by == "obeyed":
        yield Finding(
            message="MultiKueue manages this TrainJob: trainc creates a JobSet for it, but the cluster would not",
            help="remove managedBy if the JobSet must run in this cluster",
            place=plan.job.at("spec", "managedBy"),
        )


OF_ITSELF: Final[tuple[Check[[Plan]], ...]] = (manager, env, managed_by)
"""The checks that do not need the runtime."""
CHECKS: Final[tuple[Check[[Plan]], ...]] = (initializers,)
"""The checks of the TrainJob together with its runtime."""
