"""References in variables, commands and arguments that Kubernetes does not replace.

Source: Kubernetes 1.36, how the kubelet builds a container's variables: it replaces `$(NAME)` by a variable of
envFrom, of a Service, or of an earlier item of the list, and knows no other form; in commands and arguments, by any
variable. The Job controller adds JOB_COMPLETION_INDEX at the end of the list. The variables of the image are unknown to
the kubelet, and known to a shell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import SHELLS, program
from trainc.kubernetes.violations import shortened
from trainc.pipeline.lint import containers, lint_rule, variables
from trainc.pipeline.lint.shell_words import CODE, LONGEST, READERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

NAME: Final = "([A-Z_][A-Z0-9_]*+)"
REFERENCE: Final = re.compile(rf"\$\$|(?<!\\)\$(?:\({NAME}\)|\{{{NAME}\}}|{NAME}(?=[/:]|\Z))")
"""An escaped dollar sign, or a reference to a variable with an uppercase name, in one of three forms."""
OF_SERVICE: Final = ("_SERVICE_HOST", "_SERVICE_PORT", "_PORT")
"""The ends of the names of variables that the kubelet adds for a Service."""
ADDED: Final = ("AWS_", "AZURE_", "GOOGLE_", "MEGASCALE_", "OTEL_", "TPU_")
"""The beginnings of the names of variables that webhooks of clouds add to pods."""
IN_COMMAND: Final = re.compile(r"\$\$|\$\(([A-Za-z_]\w*)\)")
INSTEAD: Final = {
    "MASTER_ADDR": ("PET_MASTER_ADDR", "PET_RDZV_ENDPOINT"),
    "MASTER_PORT": ("PET_MASTER_PORT",),
    "NODE_RANK": ("PET_NODE_RANK", "RANK"),
    "RANK": ("PET_NODE_RANK",),
    "WORLD_SIZE": ("PET_NNODES",),
    "NNODES": ("PET_NNODES",),
    "NPROC_PER_NODE": ("PET_NPROC_PER_NODE",),
}
"""The variables that have what other launchers and operators have under another name."""
MEANS: Final = {
    ("MASTER_ADDR", "PET_RDZV_ENDPOINT"): ", which has the port, too",
    ("WORLD_SIZE", "PET_NNODES"): ", the number of nodes",
}
"""What a variable has that is not the same as the other one."""
PROGRAMS: Final = frozenset({"basename", "cat", "date", "hostname", "id", "nproc", "pwd", "uname", "whoami"})
"""Commands that people run with `$(...)` in a shell."""
IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")


class Unexpanded(NamedTuple):
    """A reference that stays as it is written."""

    at: int
    """The variable's index in the container's list."""
    variable: str
    name: str
    """The variable that it refers to."""
    part: tuple[int, int]
    """Its begin and end in the value."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the first such reference of each container, with the number of other variables that have one."""
    for path, container in containers(plan):
        found = list(unexpanded(container))
        for first in found[:1]:
            env = container["env"]
            text = env[first.at]["value"][slice(*first.part)]
            later = "later" if any(item["name"] == first.name for item in env[first.at + 1 :]) else ""
            known = "earlier" if any(item["name"] == first.name for item in env[: first.at]) else later
            what = (first.variable, text, first.name, known, str(len(found) - 1))
            yield LintFinding("env-not-expanded", (*path, "env", first.at, "value"), what, part=first.part)
        yield from in_command(plan, path, container)


def in_command(plan: Plan, path: Path, container: Tree) -> Iterator[LintFinding]:
    """Yield the first reference to each variable that nothing sets, in a command and its arguments.

    In a script or a program text, only uppercase names are taken for variables.
    """
    words = [(key, index, text) for key in ("command", "args") for index, text in enumerate(container.get(key) or ())]
    if not any("$(" in text for _, _, text in words):
        return
    known, found, before = variables(plan, path, container), set[str](), ""
    runs_text = any(program(text) in SHELLS | READERS for _, _, text in words)
    for key, index, text in words:
        is_text = runs_text or before in CODE or "\n" in text or len(text) > LONGEST
        before = text
        for match in IN_COMMAND.finditer(text):
            name = match[1]
            if not name or name in found or is_of_service(name) or name.startswith(ADDED):
                continue
            if is_text and (not name.isupper() or is_no_reference(text, match)):
                continue
            if known.lookup(name) == match[0]:
                found.add(name)
                what = ("", match[0], name, nearest_variable(name, known.variables), "shell" if runs_text else "")
                yield LintFinding("env-not-expanded", (*path, key, index), what, part=match.span())


def nearest_variable(name: str, names: Iterable[str]) -> str:
    """Return the variable that is meant, or an empty string."""
    from trainc.base.suggestions import nearest_name

    known = list(names)
    return (
        next((each for each in INSTEAD.get(name, ()) if each in known), None)
        or nearest_name(name, known, likeness=0.75)
        or ""
    )


def is_no_reference(text: str, match: re.Match[str]) -> bool:
    """Return whether a script runs a function of that name, or has the reference in a comment."""
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return "#" in line or re.search(rf"(?<!\w){match[1]}[ \t]*\(\)|function[ \t]+{match[1]}\b", text) is not None


def is_of_service(name: str) -> bool:
    """Return whether the kubelet can add a variable for a Service.

    >>> [is_of_service(name) for name in ("DB_SERVICE_PORT_HTTP", "DB_PORT_5432_TCP_ADDR", "DB_PORT_5432", "DB_PORTS")]
    [True, True, False, False]
    """
    if name.endswith(OF_SERVICE) or name.partition("_SERVICE_PORT_")[2]:
        return True
    words = name.split("_")
    # NAME_PORT_5432_TCP, also with _PROTO, _PORT or _ADDR.
    return any(
        words[-length:][:1] == ["PORT"] and words[1 - length].isdecimal() and len(words) > length for length in (3, 4)
    )


def unexpanded(container: Tree) -> Iterator[Unexpanded]:
    """Yield the first such reference of each variable."""
    env = container.get("env") or []
    names, earlier = {variable["name"] for variable in env}, set[str]()
    in_shell = shell_names(container)
    for index, variable in enumerate(env):
        text = variable.get("value") or ""
        if "$" in text and "\n" not in text and variable["name"] not in in_shell:
            for match in REFERENCE.finditer(text):
                name = match[1]
                from_elsewhere = "envFrom" in container or (name not in names and is_of_service(name or ""))
                if match[0] != "$$" and not (name and (name in earlier or from_elsewhere)):
                    yield Unexpanded(index, variable["name"], name or match[2] or match[3], match.span())
                    break
        earlier.add(variable["name"])


def shell_names(container: Tree) -> frozenset[str]:
    """Return the names in the words of a shell's command, which may expand the references itself."""
    words = [word for key in ("command", "args") for word in container.get(key) or ()]
    if not any(program(word) in SHELLS for word in words):
        return frozenset()
    return frozenset(name for word in words for name in IDENTIFIER.findall(word))


@lint_rule("env-not-expanded")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The program gets the reference as it is written, and a shell runs the name as a command."""
    variable, text, name, known, others = finding.what
    if not variable:
        return message_of_command(name, known, in_shell=others == "shell")
    written = {item.get("name") for item in plan.job.trainer.get("env") or ()}
    is_own = {name, variable} <= written
    text, name, variable = shortened(text), shortened(name), shortened(variable)
    more = f" (and in {others} other variable{'s' if others != '1' else ''})" if others != "0" else ""
    if not text.startswith("$("):
        reason = "it replaces only the form $(NAME)"
        help = f"use $({name})" if known == "earlier" else "write the value, or set the variable in a shell script"
    elif known == "later":
        reason = f"{name} comes after {variable} in the container's list"
        help = f"use $({name}) in command or args, or read {name} in the program"
        if is_own:
            help = f"define {name} before {variable}"
    else:
        reason = f"no variable {name} of the container's list comes before {variable}"
        help = f"define {name} before it, or write the value; the variables of the image are not known to Kubernetes"
    return Finding(message=f"Kubernetes does not replace {text}: {reason}{more}", help=help)


def message_of_command(name: str, near: str, *, in_shell: bool) -> Finding:
    """Return the message for a reference in a command or an argument."""
    shown = shortened(name)
    more = ", and the shell runs it as a command" if in_shell else ""
    help = f"define {shown} in env, or write the value; the variables of the image are not known to Kubernetes"
    if near:
        help = f"use $({near}){MEANS.get((name, near), '')}"
    elif in_shell:
        help = f"use ${shown} if the image sets it, or define {shown} in env"
    elif name in PROGRAMS:
        help = "run the command with a shell: `command: [sh, -c, ...]`"
    return Finding(
        message=f"Kubernetes does not replace $({shown}): the container has no variable {shown}{more}", help=help
    )
