"""MPI nodes that run no sshd: a program of another kind replaces the image's own command, or the runtime's sshd.

Silent   without a command, which the image then has; for a program or a script that may start sshd.
Source   kubeflow/mpi-operator v0.8.0: a worker without command and arguments runs sshd. kubeflow/trainer v2.3.0:
         trainer.command is set in all jobs with the trainer's label (kubeflow/trainer#4030).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import SHELLS, program, script, words
from trainc.pipeline.frameworks import main_container, traits
from trainc.pipeline.lint import lint_rule, pod_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

WITHOUT_SSHD: Final = frozenset(
    {
        *("accelerate", "cat", "deepspeed", "echo", "horovodrun", "jupyter", "mpiexec", "mpirun", "nvidia-smi"),
        *("python", "python3", "sleep", "tail", "torchrun", "true"),
    }
)
"""Programs that start no sshd."""
BUILT_IN: Final = frozenset(
    {"cd", "do", "done", "exit", "export", "set", "trap", "ulimit", "umask", "wait", "while", ":"}
)
"""Words of a shell that start no program."""
SSH: Final = "ssh"
_COMMANDS: Final = re.compile(r"[;&|\n]+")
_ASSIGNMENTS: Final = re.compile(r"^(?:[A-Za-z_]\w*=\S*\s+)*(?:exec\s+)?")


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the command of the nodes if it certainly is no sshd."""
    from trainc.pipeline.frameworks.mpi.mpirun import replaces_ssh

    known = traits(plan.runtime)
    slot, launcher = main_container(plan, plan.named(known.node)), main_container(plan, plan.named(known.launcher))
    if slot is None or launcher is None or not plan.counts[slot.job] or not plan.counts[launcher.job]:
        return
    pod = pod_at(plan, slot.job)
    if any(may_run_sshd(container) for container in pod["containers"]):
        return
    if replaces_ssh(pod_at(plan, launcher.job)[launcher.containers][launcher.at]):
        return
    if name := other_program(pod[slot.containers][slot.at]):
        yield LintFinding("mpi-sshd", (*slot.path, "command"), (name, str(plan.jobs[slot.job]["name"])))


def may_run_sshd(container: Tree) -> bool:
    """Return whether a container has no command of its own, or one that mentions ssh."""
    command = words(container)
    return not command or any(SSH in word.text for word in command)


def other_program(container: Tree) -> str:
    """Return the program of a container if it starts no sshd, also in a script; else an empty string."""
    command = words(container)
    name = program(command[0].text) if command else ""
    if name in WITHOUT_SSHD:
        return name
    inline = script(command) if name in SHELLS else None
    if inline is None or "$(" in inline.text or "`" in inline.text:
        return ""
    commands = (_ASSIGNMENTS.sub("", line.strip()) for line in _COMMANDS.split(inline.text))
    names = [program(found.split(maxsplit=1)[0]) for found in commands if found and not found.startswith("#")]
    programs = [found for found in names if found not in BUILT_IN]
    return programs[-1] if programs and all(found in WITHOUT_SSHD for found in programs) else ""


@lint_rule("mpi-sshd")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun connects to the sshd of each node to start its ranks there."""
    name, job = finding.what
    is_trainjob = plan.job.own_runtime is None
    if is_trainjob and "command" in plan.job.trainer and plan.named(job) in {*plan.trainers()}:
        return Finding(
            message=f'trainer.command also replaces the command of job "{job}", which has the trainer\'s label: the '
            f"pods run {name}, and mpirun finds no sshd there",
            help=f'remove the label from job "{job}" of the runtime, so that only the launcher gets the command',
            place=plan.job.at("spec", "trainer", "command"),
        )
    help = "run sshd, as in `command: [/usr/sbin/sshd, -De]`"
    if not is_trainjob:
        help = "remove the command: the pods then run /usr/sbin/sshd -De"
    return Finding(message=f'the pods of job "{job}" run {name}, and mpirun finds no sshd there', help=help)
