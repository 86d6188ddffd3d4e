"""An image of the MPI launcher that the nodes do not have: trainer.image, or that of an MPIJob's role.

Silent if the command names the installation of Open MPI, which both images then have at this path.
Source: kubeflow/trainer v2.3.0: spec.trainer's image is written to the jobs with the trainer's label, which in MPI
runtimes is usually the launcher (kubeflow/trainer#2825).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.frameworks import main_container, traits
from trainc.pipeline.lint import lint_rule, pod_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan, Slot


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the container of the node job if it has another image than the trainer, or than an MPIJob's launcher."""
    if names_binary(plan):
        return
    slot, trainers = main_container(plan, plan.named(traits(plan.runtime).node)), list(plan.trainers())
    if slot is not None and plan.job.own_runtime is not None:
        yield from different_image(plan, slot)
        return
    if slot is None or slot.job in trainers or not plan.counts[slot.job]:
        return
    kept = pod_at(plan, slot.job)["containers"][slot.at].get("image", "")
    if trainers and kept and kept != plan.job.trainer["image"]:
        yield LintFinding("mpi-image", (*slot.path, "image"), (kept,), related=(("its image", (*slot.path, "image")),))


def names_binary(plan: Plan) -> bool:
    """Return whether the launcher names the installation of Open MPI on the nodes, by `--prefix` or mpirun's path."""
    from trainc.pipeline.frameworks.mpi.mpirun import launch

    slot = main_container(plan, plan.named(traits(plan.runtime).launcher))
    run = None if slot is None else launch(pod_at(plan, slot.job)[slot.containers][slot.at])
    return run is not None and ("/" in run.words[0].text or any(option.name == "prefix" for option in run.options))


def different_image(plan: Plan, node: Slot) -> Iterator[LintFinding]:
    """Yield the image of the nodes if the launcher has another one."""
    launcher = main_container(plan, plan.named(traits(plan.runtime).launcher))
    if launcher is None:
        return
    own, other = (pod_at(plan, slot.job)["containers"][slot.at].get("image", "") for slot in (node, launcher))
    if own and other and own != other:
        related = (("the launcher's image", (*launcher.path, "image")),)
        yield LintFinding("mpi-image", (*node.path, "image"), (own, other), related=related)


@lint_rule("mpi-image")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun starts the ranks in the nodes, whose image may lack the program or have another release of it."""
    kept, *others = finding.what
    if others:
        return Finding(
            message=f'mpirun runs in image "{others[0]}", but starts the ranks in pods with image "{kept}"',
            help="use one image for both roles",
        )
    known = traits(plan.runtime)
    jobs = " and ".join(f'"{plan.jobs[job]["name"]}"' for job in plan.trainers())
    return Finding(
        message=f'trainer.image changes only job {jobs}: container "{known.container}" of job "{known.node}", where '
        f'mpirun starts the ranks, keeps the image "{kept}"',
        help="set the image in the runtime, for both jobs",
        place=plan.job.at("spec", "trainer", "image"),
    )
