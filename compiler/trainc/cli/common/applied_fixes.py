"""`trainc validate --fix`: apply the fixes of diagnostics to the files, or show them as a diff.

Reads    the result of a check, and the function that checks with the contents of some files.
Writes   each changed file atomically, with the permissions that it has. A file that has changed since the check, or
         that cannot be written, stays whole and is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.records import NamedTuple
from trainc.base.texts import plural
from trainc.cli.common import printing
from trainc.files.outputs import write_fault
from trainc.rewriting.fixing import apply_fixes, fixable_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from trainc.compilation import Compilation, Run
    from trainc.diagnostics import Diagnostic

    Contents = Mapping[str, bytes]


class FixOptions(NamedTuple):
    """The options of a command that applies fixes."""

    unsafe: bool = False
    diff: bool = False
    check: bool = False

    @property
    def shows_diff(self) -> bool:
        """Whether the changes are shown and no file is written."""
        return self.diff or self.check


class Applied(NamedTuple):
    """The result of applying fixes."""

    result: Compilation
    """The check after them."""
    options: FixOptions
    diff: str = ""


def apply(result: Compilation, check: Callable[[Contents], Compilation], options: FixOptions, run: Run) -> Applied:
    """Apply the fixes of a result, and return the check after them."""
    old: dict[str, bytes] = {}

    def content(path: str) -> bytes:
        if path not in old:
            with open(path, "rb") as file:
                old[path] = file.read()
        return old[path]

    try:
        found = apply_fixes(result, check, content, unsafe=options.unsafe)
    except OSError as error:
        return Applied(result.with_diagnostics([write_fault(str(error.filename), "", error)]), options)
    if not run.quiet:
        for file in found.refused:
            printing.report(f"{_shown(file)}: a fix is left out, because it would change more than its field\n")
    changed = {path: new for path, new in found.contents.items() if new != old[path]}
    if options.shows_diff:
        return Applied(found.result, options, "".join(_diffs(old, changed)))
    failures = [failure for path, new in changed.items() if (failure := _write(path, old[path], new)) is not None]
    if changed and not failures and not run.quiet:
        printing.report(f"fixed {plural(found.problems, 'problem')} in {plural(len(changed), 'file')}\n")
    return Applied(check({}).with_diagnostics(failures) if failures else found.result, options)


def count(result: Compilation) -> int:
    """Return the number of problems that `--fix` can fix."""
    if all(diagnostic.fix is None for diagnostic in result.diagnostics):
        return 0
    return sum(1 for _ in fixable_problems(result.diagnostics, unsafe=False))


def _shown(path: str) -> str:
    from trainc.base.texts import escape

    return escape(path)


def _write(path: str, old: bytes, new: bytes) -> Diagnostic | None:
    """Replace a file; return the diagnostic if it has changed or cannot be written."""
    from trainc.files.atomic import replace_file

    try:
        with open(path, "rb") as file:
            if file.read() != old:
                return write_fault(path, "", OSError(0, "it has changed since it was read"))
        replace_file(path, new)
    except OSError as error:
        return write_fault(path, "", error)
    return None


def _diffs(old: Contents, new: Contents) -> Iterator[str]:
    from trainc.kubernetes.documents.streams import decode
    from trainc.source.file_diffs import unified_diff

    for path in sorted(new):
        yield from unified_diff(decode(old[path]), decode(new[path]), path, path)
