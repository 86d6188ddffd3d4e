"""The reports: diagnostics as text or data. A format's key is its module name.

Each format has `render(diagnostics, *, summary, color, checked) -> str`, and escapes input text for its own medium.

**A report format**. Copy from `reports/gitlab.py`.
1. Write `reports/<name>.py` with `render`. The docstring names the consumer whose rules the report follows.
2. Add `<name>` to `REPORTS` in `cli/common/options.py`, which imports no report.
3. Add a reader to `tests/reports/consumers.py`: the official schema, or the parser's rules in our own words. If the
   format has one entry per diagnostic, add it to `READERS` in `tests/reports/test_formats.py`. Add texts that could
   break out of the format to `BREAKOUTS`.
4. Run `make snapshots`, which writes `tests/reports/formats/<name>-faults.txt` and two other reports. Read each
   report from the point of view of the tool's user.
5. Write an entry with a snippet in `docs/reports.md`, and add the name to `docs/commands/validate.md`.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from trainc.base.declarations import PHASES
from trainc.base.texts import first_of
from trainc.diagnostics import Location, Place
from trainc.files.confine import is_within, resolved
from trainc.files.inputs import STDIN, repository_of
from trainc.reports.repeated import without_repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.diagnostics import Checked, Diagnostic, Related


COMPILED_PHASES: Final = ("jobset-schema", "jobset", "kueue", "job")
"""The phases of JobSets and their Jobs. Their diagnostics are about these objects and point to the TrainJob."""

MOST_ENVIRONMENTS: Final = 20
"""The most environments that a message names."""
MOST_USERS: Final = 2
"""The most TrainJobs of a runtime that a message names."""


def is_about_compiled_object(diagnostic: Diagnostic) -> bool:
    """Return whether a diagnostic is about a compiled object; the Trainer controller itself creates PodGroups."""
    return diagnostic.stage in COMPILED_PHASES or (diagnostic.stage, diagnostic.object.kind) == ("build", "PodGroup")


class Report(Protocol):
    """The interface of a module in this package."""

    def render(
        self, diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()
    ) -> str:
        """Return the whole report.

        Args:
            diagnostics: in any order.
            summary: a line for people.
            color: whether to use color.
            checked: the checked TrainJobs and runtimes, for a format that also lists those without diagnostics.
        """
        ...


def load(format: str) -> Report:
    """Import a format."""
    return cast("Report", import_module(f"{__name__}.{format}"))


def message(diagnostic: Diagnostic) -> str:
    """Return the message, with the users of a runtime and the environments that have the fault.

    For example `unknown field "a" (used by ml/a, ml/b and 7 more) [dev, prod]`. If it is an error in only some
    environments: `unmatched image [dev, prod; an error in prod]`.
    """
    text = diagnostic.message
    if diagnostic.users is not None:
        names, all = diagnostic.users
        named = first_of(names, MOST_USERS) if len(names) > MOST_USERS else " and ".join(names)
        text += f" ({'used by' if all else 'only with'} {named})"
    if not diagnostic.environments:
        return text
    errors = f"; an error in {first_of(diagnostic.error_in, MOST_ENVIRONMENTS)}" if diagnostic.error_in else ""
    return f"{text} [{first_of(diagnostic.environments, MOST_ENVIRONMENTS)}{errors}]"


def in_order(diagnostics: Iterable[Diagnostic], *, by_field: bool = False) -> list[Diagnostic]:
    """Return diagnostics sorted by file, line and column, with their places located and secret values masked.

    by_field   whether to keep diagnostics that differ only in the field
    """
    found = list(diagnostics if by_field else without_repeats(diagnostics))
    if not found:
        return []
    from trainc.masking.masked_messages import without_secrets
    from trainc.source import stream_origin

    located = [
        d._replace(
            place=d.locate(),
            related=tuple(_located(r) for r in _with_origins(d, stream_origin.related_origin)),
            fixed_in=d.fixed_in or (d.place.document if isinstance(d.place, Place) else None),
        )
        for d in map(without_secrets, found)
    ]
    return sorted(located, key=sort_key)


def _with_origins(
    diagnostic: Diagnostic, origin: Callable[[Place | Location | None], tuple[Related, ...]]
) -> Iterator[Related]:
    """Yield the related places, and the origin of each document whose annotations name it."""
    yield from origin(diagnostic.place)
    for related in diagnostic.related:
        yield related
        yield from origin(related.place)


def _located(related: Related) -> Related:
    place = related.place
    return related._replace(place=place.locate()) if isinstance(place, Place) else related


def sort_key(diagnostic: Diagnostic) -> tuple[Any, ...]:
    """Return the sort key of a located diagnostic."""
    at = diagnostic.place
    location = at if isinstance(at, Location) else Location(file="")
    return (
        location.file,
        location.line,
        location.column,
        PHASES.index(diagnostic.stage),
        diagnostic.id,
        diagnostic.field,
        diagnostic.message,
    )


_NO_FILES: Final = {STDIN: "stdin"}
"""Names for inputs that are not files."""
_BUILT_IN: Final = "<built-in>/"
_LINE_NUMBER: Final = re.compile(r"\b(lines? )\d+")
"""Line numbers in messages are not part of a fingerprint: they change with the lines above."""


class Repository:
    """The repository of the current folder."""

    def __init__(self) -> None:
        self.root = repository_of(".")

    def path(self, file: str) -> str:
        """Return a file's path from the root, with links resolved; outside the root, its absolute path."""
        if file in _NO_FILES or file.startswith(_BUILT_IN):
            return _NO_FILES.get(file, file)
        full = resolved(file)
        return os.path.relpath(full, self.root) if is_within(full, self.root) else full

    def fingerprints(self, diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
        """Yield a unique name for each diagnostic, from its file, id, object and field. It survives moved lines."""
        from hashlib import sha256

        seen: dict[str, int] = {}
        for diagnostic in diagnostics:
            at, subject = diagnostic.place, diagnostic.object
            file = self.path(at.file) if isinstance(at, Location) else ""
            detail = diagnostic.field or _LINE_NUMBER.sub(r"\1", diagnostic.message)
            key = "\0".join((file, diagnostic.id, subject.kind, subject.namespace, subject.name, detail))
            digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            seen[digest] = seen.get(digest, 0) + 1
            yield f"{digest}:{seen[digest]}"
