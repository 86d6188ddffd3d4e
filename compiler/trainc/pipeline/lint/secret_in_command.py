"""Secrets in a container's command: tokens, private keys, passwords in URIs, and values of flags with secret names.

The forms of secrets are those that reports mask (`masking.text_secrets`). Masking hides a text when in doubt; this rule
reports a value by its name only if it looks random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import containers, lint_rule
from trainc.pipeline.lint.triggers import may_hold_secret, named_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.masking.text_secrets import Stretch
    from trainc.pipeline.plan import Plan

SHORTEST: Final = 8
"""Characters. A shorter value is a word or a number."""
LONGEST: Final = 2**16
"""Characters of a word that are read."""
LONGEST_FLAG: Final = 64
PLACEHOLDERS: Final = ("your", "changeme", "replace", "example", "placeholder", "xxxx", "todo", "dummy", "fake", "...")
"""Parts of values that are to be replaced."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the words of all containers' commands that hold a literal secret, each once."""
    for path, container in containers(plan):
        for key in ("command", "args"):
            before = ""
            for index, word in enumerate(container.get(key) or ()):
                found = next(secrets(word[:LONGEST]), None) or next(values(word[:LONGEST], before), None)
                if found is not None:
                    what, part = found
                    yield LintFinding("secret-in-command", (*path, key, index), (what, f"{key}[{index}]"), part=part)
                before = word


def secrets(text: str) -> Iterator[tuple[str, Stretch]]:
    """Yield the secrets that are recognized by their form: a description, and the range."""
    from trainc.masking import text_secrets

    if may_hold_secret(text):
        kinds = (
            ("a private key", text_secrets.private_keys),
            ("a token", text_secrets.tokens),
            ("a password in a URI", text_secrets.passwords),
        )
        for what, found in kinds:
            for begin, end in found(text):
                if is_real(text[begin:end]):
                    yield what, (begin, end)


def values(word: str, before: str) -> Iterator[tuple[str, Stretch]]:
    """Yield the literal values of flags and variables with secret names: a description, and the range.

    before   the previous word, which can be the flag
    """
    from trainc.masking.secret_names import is_secret
    from trainc.masking.text_secrets import named

    if is_flag(before) and is_secret(before) and is_random(word):
        yield f"the value of {before}", (0, len(word))
    for name, (begin, end) in named(word) if named_secret(word) else ():
        value = word[begin:end].strip("\"'")
        if is_random(value) and word[end : end + 1] not in ("(", "["):
            shift = begin + (word[begin] in "\"'")
            yield f"the value of {name}", (shift, shift + len(value))


def is_flag(word: str) -> bool:
    """Return whether a word is a flag whose value is the next word."""
    return word.startswith("-") and word.isprintable() and len(word) <= LONGEST_FLAG and not {"=", " "} & {*word}


def is_random(value: str) -> bool:
    """Return whether a value looks like a generated secret: letters and digits, no reference, path or placeholder.

    >>> [is_random(value) for value in ("a8f3kk20x1", "$TOKEN", "/run/token1", "os.environ", "your-token-123")]
    [True, False, False, False, False]
    """
    plain = value.isascii() and value.isprintable() and not any(sign in value for sign in " $`/{}<>()[]*\\,")
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return len(value) >= SHORTEST and plain and mixed and is_real(value)


def is_real(value: str) -> bool:
    """Return whether a value is not a reference, a mask or a placeholder."""
    lower = value[:256].lower()
    is_reference = value[:1] in ("$", "<", "{", "%", "*") or "{" in value
    return not is_reference and not any(part in lower for part in PLACEHOLDERS) and len(set(value)) > 2


@lint_rule("secret-in-command")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Everyone with access to the repository, TrainJob, JobSet or pods can read it, and so can every process."""
    what, where = finding.what
    return Finding(
        message=f"{where} contains {what}: everyone who can read the manifest or the JobSet can read it",
        help="change the secret, store it in a Secret, set a variable from it with secretKeyRef, and use $(VARIABLE)",
    )
