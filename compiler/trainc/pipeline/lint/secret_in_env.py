"""Secrets in the manifest: values of environment variables whose names, or forms, suggest a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import containers, lint_rule
from trainc.pipeline.lint.secret_in_command import secrets
from trainc.pipeline.lint.triggers import may_hold_secret, names_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

SHORTEST: Final = 6
"""Characters. A shorter value is a switch, or a number."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the variables of all containers that hold a literal secret, by their names or their values."""
    for path, container in containers(plan):
        for index, variable in enumerate(container.get("env") or ()):
            name, text = variable["name"], variable.get("value", "")
            by_name = names_secret(name) and is_literal(text)
            if by_name or (may_hold_secret(text) and next(secrets(text), None)):
                yield LintFinding("secret-in-env", (*path, "env", index), (variable["name"],))


def is_literal(text: str) -> bool:
    """Return whether a text can be a literal secret: not a word, number, path, or reference to another value.

    >>> [is_literal(text) for text in ("hf_Zq8vLm2Rk1", "true", "$(TOKEN)", "/var/run/token", "disabled", "")]
    [True, False, False, False, False, False]
    """
    from trainc.masking.text_secrets import secret_value

    plain = len(text) < SHORTEST or text.startswith(("/", "~/", "./", "file:")) or text in WORDS
    return not plain and any(secret_value(text, 0, len(text)))


WORDS: Final = frozenset({"anonymous", "default", "disabled", "enabled", "offline", "dryrun", "required", "optional"})
"""Values that programs accept in place of a secret."""


@lint_rule("secret-in-env")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Everyone with access to the repository, TrainJob, JobSet or pods can read it, and the history keeps it."""
    (name,) = finding.what
    return Finding(
        message=f"variable {name} exposes its value to everyone who can read the manifest or the JobSet",
        help="change the value, store it in a Secret, and reference it: "
        "`valueFrom: {secretKeyRef: {name: ..., key: ...}}`",
    )
