"""Variables of trainer.env that do not reach the ranks on other hosts than the launcher.

Source: Open MPI 4.1, mpirun: it starts the ranks by ssh, whose sshd does not pass on the variables of its container,
and sends only variables of Open MPI and those of `-x`. kubeflow/trainer v2.3.0: trainer.env is set in the launcher's
container, and with runLauncherAsNode in that of the nodes, which runs sshd (kubeflow/trainer#3427). Hydra of Intel MPI
and MPICH sends all variables.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.violations import listed
from trainc.pipeline.frameworks import main_container, traits
from trainc.pipeline.lint import lint_rule, pod_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

OF_OPEN_MPI: Final = ("OMPI_", "PMIX_", "PRTE_")
"""The beginnings of the variables that mpirun reads or sends."""
OTHER_LISTS: Final = frozenset({"tune", "am", "app"})
"""The options with files that can name variables."""
ENV_LIST: Final = "mca_base_env_list"


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the variables of a TrainJob that mpirun does not send to the nodes."""
    from trainc.pipeline.frameworks.mpi.mpirun import MPIRUN, launch, passed

    known = traits(plan.runtime)
    slot, node = main_container(plan, plan.named(known.launcher)), plan.named(known.node)
    if slot is None or node is None or not plan.counts[node] or plan.job.own_runtime is not None:
        return
    if plan.runtime.settings.get("mpiImplementation") != "OpenMPI":
        return
    container: Tree = pod_at(plan, slot.job)[slot.containers][slot.at]
    run = launch(container)
    if run is None or run.program not in MPIRUN or not run.is_complete or slot.job not in plan.trainers():
        return
    texts = [word.text for word in run.words]
    if any(option.name in OTHER_LISTS for option in run.options) or any(ENV_LIST in text for text in texts):
        return
    patterns = [*passed(run)]
    variables = plan.job.trainer.get("env") or ()
    names = [name for each in variables if not is_sent(name := each["name"], patterns, texts)]
    if names:
        yield LintFinding("mpi-ranks-env", (*slot.path, "env"), (*dict.fromkeys(names),))


def is_sent(name: str, patterns: list[str], texts: list[str]) -> bool:
    """Return whether mpirun reads or sends a variable, or a word of its command mentions it."""
    if name.startswith(OF_OPEN_MPI) or any(fnmatchcase(name, pattern) for pattern in patterns):
        return True
    return any(name in text for text in texts)


@lint_rule("mpi-ranks-env")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun starts the ranks on other hosts by ssh, without the variables of the launcher's container."""
    names = finding.what
    variables = [each["name"] for each in plan.job.trainer["env"]]
    hosts = "the ranks on other hosts" if plan.runtime.settings.get("runLauncherAsNode") else "the ranks"
    noun, verb, pronoun = ("variable", "does", "it") if len(names) == 1 else ("variables", "do", "them")
    return Finding(
        message=f"{noun} {listed(names)} {verb} not reach {hosts}: mpirun starts them by ssh, without {pronoun}",
        help=f"add to the options of mpirun: {' '.join(f'-x {name}' for name in names)}",
        place=plan.job.at("spec", "trainer", "env", variables.index(names[0])),
    )
