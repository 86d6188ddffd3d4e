"""trainer.image with MPI, which changes only the launcher.

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

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the container of the node job if it keeps another image than the trainer's."""
    slot, trainers = main_container(plan, plan.named(traits(plan.runtime).node)), list(plan.trainers())
    if slot is None or slot.job in trainers or not plan.counts[slot.job]:
        return
    kept = pod_at(plan, slot.job)["containers"][slot.at].get("image", "")
    if trainers and kept and kept != plan.job.trainer["image"]:
        yield LintFinding("mpi-image", (*slot.path, "image"), (kept,), related=(("its image", (*slot.path, "image")),))


@lint_rule("mpi-image", "MPI nodes with another image than the launcher")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun starts the ranks in the nodes, whose image may lack the program or have another release of it."""
    (kept,) = finding.what
    known = traits(plan.runtime)
    jobs = " and ".join(f'"{plan.jobs[job]["name"]}"' for job in plan.trainers())
    return Finding(
        message=f'trainer.image changes only job {jobs}: container "{known.container}" of job "{known.node}", where '
        f'mpirun starts the ranks, keeps the image "{kept}"',
        help="set the image in the runtime, for both jobs",
        place=plan.job.at("spec", "trainer", "image"),
    )
