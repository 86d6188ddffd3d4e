"""Secrets that stand in the manifest: as the value of a variable whose name says that it is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.violations import field_of
from trainc.lint import containers
from trainc.lint.signs import about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

SHORTEST: Final = 6
"""Characters: what is shorter is a switch, or a number."""


def find(plan: Plan) -> Iterator[Regret]:
    """The variables of all containers that hold a secret as it is."""
    for path, container in containers(plan):
        for index, variable in enumerate(container.get("env") or ()):
            if about(variable["name"]) == "secret-in-env" and is_literal(variable.get("value", "")):
                yield Regret("secret-in-env", (*path, "env", index), (variable["name"],))


def is_literal(text: str) -> bool:
    """Whether a text can be a secret itself, and is no word, number, path, or reference to what stands elsewhere.

    >>> [is_literal(text) for text in ("hf_Zq8vLm2Rk1", "true", "$(TOKEN)", "/var/run/token", "disabled", "")]
    [True, False, False, False, False, False]
    """
    from trainc.source.patterns import hidden

    plain = len(text) < SHORTEST or text.startswith(("/", "~/", "./", "file:")) or text in WORDS
    return not plain and any(hidden(text, 0, len(text)))


WORDS: Final = frozenset({"anonymous", "default", "disabled", "enabled", "offline", "dryrun", "required", "optional"})
"""Settings of what asks for a secret, in its place."""


@check("secret-in-env", stage="lint", severity="warning", title="A secret stands in the manifest", own=True)
def secret_in_env(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """Whoever can read the repository, the TrainJob, the JobSet or its pods can read it, and the history keeps it."""
    (name,) = regret.what
    yield Finding(
        message=f"the value of variable {name} stands in the manifest, for everybody who reads it, and in the JobSet",
        help="change it, put it into a Secret, and refer to that: `valueFrom: {secretKeyRef: {name: ..., key: ...}}`",
        field=field_of(("spec", *regret.path)),
    )


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (secret_in_env,)
