"""What the webhook of TrainJobs refuses; it looks at the runtime after the patches.

Source: kubeflow/trainer v2.3.0, the JobSet plugin's validation. What one framework minds stands in the framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.frontends import CLUSTER
from trainc.kubernetes.names import is_domain_prefixed_path
from trainc.kubernetes.trees import Tree, get
from trainc.objects import STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

MANAGED: Final = ("node", "dataset-initializer", "model-initializer")
"""The containers whose variables are set in the TrainJob itself."""
VOLUME: Final = "initializer"
"""The volume through which the initializers hand over what they fetched."""
MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


@check("patch-manager", stage="trainjob", title="A patch's manager is no domain-prefixed path")
def manager(plan: Plan) -> Iterator[Finding]:
    """A patch says whose it is, by a domain and a path."""
    for index, patch in enumerate(plan.job.patches):
        name = patch.get("manager")
        if name is None:
            continue  # the schema asks for it
        if is_domain_prefixed_path(name):
            yield Finding(
                message=f'the patch\'s manager is "{name}", which is no domain with a path behind it',
                help="write a domain in lower case, a slash and a path, such as platform.example.com/node-pools",
                field="spec.runtimePatches.manager",
                place=plan.job.at("spec", "runtimePatches", index, "manager"),
            )


@check("patch-sets-env", stage="trainjob", title="A patch sets variables of a managed container")
def env(plan: Plan) -> Iterator[Finding]:
    """Variables of the node and the initializers belong to the TrainJob; init containers may be patched."""
    for p, patch in enumerate(plan.job.patches):
        to_jobs = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
        for j, job in enumerate(get(patch, to_jobs, [])):
            to_containers = ("template", "spec", "template", "spec", "containers")
            for c, container in enumerate(get(job, to_containers, [])):
                name = container.get("name")
                if name in MANAGED and container.get("env"):
                    where = "spec.trainer.env" if name == "node" else f"spec.initializer.{name.partition('-')[0]}.env"
                    path = ("spec", "runtimePatches", p, *to_jobs, j, *to_containers, c, "env")
                    yield Finding(
                        message=f'a patch may not set variables of container "{name}"',
                        help=f"set them in {where}",
                        field="spec.runtimePatches",
                        place=plan.job.at(*path, key=True),
                    )


@check("initializer-missing", stage="trainjob", title="The runtime has no place for the TrainJob's initializer")
def initializers(plan: Plan) -> Iterator[Finding]:
    """The dataset's and the model's initializer are a job, a container and a mount of the runtime, with fixed names."""
    for part, step in STEPS.items():
        if get(plan.job.spec, ("initializer", part)) is None:
            continue
        lacks = _lacks(plan.jobs, step)
        if not lacks:
            continue
        yield Finding(
            message=f'the TrainJob has a {part} initializer, and runtime "{plan.runtime.id.name}" has no {lacks}',
            help=f"use a runtime that has it{_such_as(plan, step)}, or leave the initializer out",
            field="spec.runtimeRef",
            place=plan.job.at("spec", "initializer", part, key=True),
        )


def _lacks(jobs: list[Tree], step: str) -> str:
    """What replicated jobs lack to take an initializer; empty when it is all there."""
    job = next((job for job in jobs if job.get("name") == step), None)
    if job is None:
        return f'replicated job "{step}"'
    pod = get(job, ("template", "spec", "template", "spec"), {})
    containers = [container for container in pod.get("containers") or [] if container.get("name") == step]
    if not containers and all(container.get("name") != step for container in pod.get("initContainers") or []):
        return f'container "{step}" in its job of that name'
    mounts = (containers[0].get("volumeMounts") or []) if containers else []
    if all(mount.get("name") != VOLUME for mount in mounts):
        return f'mount of the volume "{VOLUME}" in container "{step}"'
    return ""


def _such_as(plan: Plan, step: str) -> str:
    """A runtime of the same framework that can take an initializer, to name one; those of --runtimes are not judged."""
    levels = plan.library.levels
    for level in (levels[0], levels[-1]):
        for key in level.known():
            entry = level.find(key) if key[0] == CLUSTER else None
            runtime = entry.conform()[0] if entry else None
            same = runtime is not None and runtime.framework == plan.runtime.framework
            if runtime and same and not _lacks(runtime.spec.get("replicatedJobs") or [], step):
                return f", such as {key[2]}"
    return ""


@check(
    "managed-by-other", stage="trainjob", severity="warning", title="Another controller manages the TrainJob", own=True
)
def managed_by(plan: Plan) -> Iterator[Finding]:
    """In the cluster, MultiKueue runs such a TrainJob elsewhere, and no JobSet is made here. trainc compiles it."""
    if plan.job.spec.get("managedBy") == MULTIKUEUE:
        yield Finding(
            message="MultiKueue manages this TrainJob: the cluster would make no JobSet of it, trainc does",
            help="leave managedBy out where the JobSet is to run in this cluster",
            field="spec.managedBy",
            place=plan.job.at("spec", "managedBy"),
        )


OF_ITSELF: Final[tuple[Check[[Plan]], ...]] = (manager, env, managed_by)
"""What is wrong whatever the runtime is, be it there or not."""
CHECKS: Final[tuple[Check[[Plan]], ...]] = (initializers,)
"""What is wrong with the TrainJob and its runtime together."""
