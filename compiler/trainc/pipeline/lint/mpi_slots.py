"""More ranks than the slots of the hostfile.

Source: Open MPI 4.1, mpirun: it starts nothing if the hosts have fewer slots than it shall start ranks, unless it may
oversubscribe them; and Horovod 0.28, horovodrun with a hostfile. Hydra of Intel MPI and MPICH wraps around instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.texts import plural
from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.frameworks import main_container, traits
from trainc.pipeline.lint import lint_rule, pod_at, variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.frameworks.mpi.mpirun import Launch
    from trainc.pipeline.plan import Plan

OVERSUBSCRIBES: Final = ("oversubscribe", "rmaps")
"""Parts of words and of names of variables with which a host may run more ranks than it has slots."""
OTHER_HOSTS: Final = frozenset({"H", "host", "hosts", "app", "rf", "rankfile", "tune", "am", "host-discovery-script"})


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the number of ranks of a launcher if the hostfile has fewer slots."""
    from trainc.pipeline.frameworks import mpi
    from trainc.pipeline.frameworks.mpi.mpirun import launch

    slot = main_container(plan, plan.named(traits(plan.runtime).launcher))
    if slot is None or not plan.counts[slot.job] or plan.runtime.settings.get("mpiImplementation") != "OpenMPI":
        return
    container: Tree = pod_at(plan, slot.job)[slot.containers][slot.at]
    run = launch(container, variables(plan, slot.path, container).known)
    ranks = None if run is None else run.ranks()
    if run is None or ranks is None or not uses_hostfile(run) or may_oversubscribe(run, container):
        return
    hosts, of_host = mpi.host_count(plan), mpi.slots(plan)
    if hosts and of_host > 0 and int(ranks.values[0]) > hosts * of_host:
        what = (run.program, ranks.values[0], str(hosts), str(of_host))
        yield LintFinding("mpi-slots", (*slot.path, *ranks.word.path), what, part=ranks.word.part)


def uses_hostfile(run: Launch) -> bool:
    """Return whether the hosts are those of the policy's hostfile, which horovodrun reads only with an option."""
    from trainc.pipeline.frameworks.mpi.implementations import HOSTFILE
    from trainc.pipeline.frameworks.mpi.mpirun import HOROVODRUN, HOSTFILES

    names = {option.name for option in run.options}
    files = [option.values[0] for option in run.options if option.name in HOSTFILES]
    if not run.is_complete or names & OTHER_HOSTS or any(file != HOSTFILE for file in files):
        return False
    return bool(files) or run.program != HOROVODRUN


def may_oversubscribe(run: Launch, container: Tree) -> bool:
    """Return whether a word or a variable may allow more ranks than slots."""
    texts = [word.text.lower() for word in run.words]
    texts += [variable["name"].lower() for variable in container.get("env") or ()]
    return any(part in text for part in OVERSUBSCRIBES for text in texts)


@lint_rule("mpi-slots")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun starts no rank if the hostfile has fewer slots than ranks."""
    program, ranks, hosts, of_host = finding.what
    known, slots = traits(plan.runtime), int(hosts) * int(of_host)
    fewer = "remove the option: then each slot has a rank" if program != "horovodrun" else f"use at most {slots}"
    counted = f"{plural(int(hosts), 'host')} with {plural(int(of_host), 'slot')} each"
    return Finding(
        message=f"{program} must start {plural(int(ranks), 'rank')}, but the hostfile has {counted}",
        help=f"{fewer}; or change {known.nodes_field} or {known.processes_field}",
    )
