"""Apply the fixes of diagnostics to the texts of their files (`trainc validate --fix`).

Reads    the result of a check, and a function that checks again with other contents of some files.
Returns  the new contents of files, each verified: the fixed diagnostics are gone, and the parsed values differ only
         where the fixes have changed them; the result of the check with these contents. Nothing is written. The
         bytes outside of the edits stay: the encoding, byte order mark and line ends of a file.
"""

from __future__ import annotations

import codecs
import json
from bisect import bisect_left, insort
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Relocation
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Place
from trainc.kubernetes.documents import read_stream
from trainc.kubernetes.documents.streams import decode
from trainc.kubernetes.documents.yamlerror import YamlError
from trainc.source.fix_edits import TextChange, changed, text_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set

    from trainc.compilation import Compilation
    from trainc.source.fix_edits import TextChange, TextEdit


Range = tuple[tuple[int, int], tuple[int, int]]
"""The line and column of the first character, and of the one after the last."""
ROUNDS: Final = 10
"""The most rounds: fixes that overlap wait for the next one."""


class FixableProblem(NamedTuple):
    """A diagnostic with a fix that can be applied."""

    diagnostic: Diagnostic
    changes: tuple[TextChange, ...]

    @property
    def files(self) -> frozenset[str]:
        """The files that the fix changes."""
        return frozenset(change.file for change in self.changes)


class Fixed(NamedTuple):
    """The result of fixing."""

    result: Compilation
    """The check after the fixes."""
    contents: Mapping[str, bytes]
    """The new contents of the changed files, by path."""
    problems: int = 0
    """The number of fixed problems."""
    refused: tuple[str, ...] = ()
    """The files with a fix that could not be verified."""


def fixable_problems(diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> Iterator[FixableProblem]:
    """Yield the diagnostics with a fix of that applicability, with its edits."""
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or not isinstance(diagnostic.place, Place) or not _is_allowed(diagnostic, unsafe=unsafe):
            continue
        if changes := text_changes(fix, diagnostic.fixed_in or diagnostic.place.document):
            yield FixableProblem(diagnostic, changes)


def _is_allowed(diagnostic: Diagnostic, *, unsafe: bool) -> bool:
    assert diagnostic.fix is not None
    if diagnostic.fix.applicability == "none":
        return False
    return unsafe or (diagnostic.fix.applicability == "safe" and diagnostic.severity == "error")


def apply_fixes(
    result: Compilation,
    check: Callable[[Mapping[str, bytes]], Compilation],
    content: Callable[[str], bytes],
    *,
    unsafe: bool,
) -> Fixed:
    """Return the contents of files with the fixes of a result applied.

    Args:
        result: the result of a check.
        check: checks again, with the contents of some files by path.
        content: returns the bytes of a file on the disk; raises OSError.
        unsafe: whether to apply also the unsafe fixes.
    """
    contents: dict[str, bytes] = {}
    refused: dict[Hashable, str] = {}
    alone: set[str] = set()
    count = 0
    for _ in range(ROUNDS):
        problems = (
            each
            for each in fixable_problems(result.diagnostics, unsafe=unsafe)
            if _identity(each.diagnostic) not in refused
        )
        chosen = _without_overlaps(problems, alone)
        if not chosen:
            break
        current = {
            file: contents[file] if file in contents else content(file) for each in chosen for file in each.files
        }
        new, wrong = _applied(chosen, current)
        after = check(contents | new) if new else result
        wrong |= _remaining(chosen, result, after)
        if wrong:
            failed = [each for each in chosen if _identity(each.diagnostic) in wrong]
            shared = {file for file in new.keys() ^ current.keys() if sum(file in each.files for each in chosen) > 1}
            alone |= shared
            for each in failed:
                if each.files.isdisjoint(shared):
                    refused[_identity(each.diagnostic)] = min(each.files)
            continue  # without them, or one after the other
        contents |= new
        count += len(chosen)
        result = after
    return Fixed(result, contents, count, tuple(dict.fromkeys(refused.values())))


def _identity(diagnostic: Diagnostic) -> Hashable:
    """Return what a diagnostic keeps if the lines of its file change."""
    place = diagnostic.place
    file = place.in_text().document.file if isinstance(place, Place) else ""
    path = place.path if isinstance(place, Place) else ()
    return diagnostic.id, diagnostic.message, diagnostic.field, diagnostic.object, file, path


def _without_overlaps(problems: Iterable[FixableProblem], alone: Set[str]) -> list[FixableProblem]:
    """Return the first fixes of those whose edits overlap, or that write the same field; and those with its changes.

    alone   the files in which only the first fix is returned
    """
    chosen: list[FixableProblem] = []
    taken: dict[str, list[Range]] = {}
    written: set[Hashable] = set()
    same: set[Hashable] = set()
    for each in problems:
        moves = _moves_of(each)
        if moves in same:
            chosen.append(each)
            continue
        if any(file in alone and file in taken for file in each.files):
            continue
        ranges = [(change.file, edit_range(edit)) for change in each.changes for edit in change.edits]
        fields = {(change.file, change.document, change.target[: len(change.path)]) for change in each.changes}
        if written.isdisjoint(fields) and all(_is_free(taken.get(file, []), span) for file, span in ranges):
            chosen.append(each)
            same |= {moves} if moves else set()
            written |= fields
            for file, span in ranges:
                insort(taken.setdefault(file, []), span)
    return chosen


def _moves_of(problem: FixableProblem) -> Hashable:
    """Return the moves of a fix for comparison, which diagnostics of fields that move together share."""
    if not all(isinstance(change.change, Relocation) for change in problem.changes):
        return ()
    return tuple((change.file, change.document, change.path, change.target) for change in problem.changes)


def edit_range(edit: TextEdit) -> Range:
    """Return the characters that an edit replaces."""
    return (edit.at.line, edit.at.column), (edit.at.end_line, edit.at.end_column)


def _is_free(taken: list[Range], span: Range) -> bool:
    """Return whether a range overlaps none of the taken ones, which are sorted and do not overlap."""
    index = bisect_left(taken, span)
    before, after = taken[max(index - 1, 0) : index], taken[index : index + 1]
    return all(other[1] <= span[0] for other in before) and all(
        span != other and span[1] <= other[0] for other in after
    )


def _applied(chosen: list[FixableProblem], current: Mapping[str, bytes]) -> tuple[dict[str, bytes], set[Hashable]]:
    """Return the new bytes of the files, and the identities of the diagnostics whose fixes cannot be applied."""
    new: dict[str, bytes] = {}
    wrong: set[Hashable] = set()
    by_file: dict[str, list[TextChange]] = {}
    for each in {_moves_of(each) or id(each): each for each in chosen}.values():
        for change in each.changes:
            by_file.setdefault(change.file, []).append(change)
    for file, changes in by_file.items():
        try:
            new[file] = changed_bytes(FileChanges(current[file], tuple(changes)))
        except NotVerifiedError:
            wrong |= {_identity(each.diagnostic) for each in chosen if file in each.files}
    return new, wrong


def _remaining(chosen: list[FixableProblem], before: Compilation, after: Compilation) -> set[Hashable]:
    """Return the identities of the diagnostics that fixes have not removed."""
    expected = Counter(_identity(each.diagnostic) for each in chosen)
    old, new = (Counter(map(_identity, result.diagnostics)) for result in (before, after))
    return {identity for identity, number in expected.items() if new[identity] > old[identity] - number}


_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class NotVerifiedError(Exception):
    """The new text has other values than those of the old one with the changes."""


class FileChanges(NamedTuple):
    """The bytes of a file, and the changes that are applied to it."""

    data: bytes
    changes: tuple[TextChange, ...]


def changed_bytes(file: FileChanges) -> bytes:
    """Return the bytes of a file with changes. Raises NotVerifiedError."""
    mark, codec = next(((mark, codec) for mark, codec in _MARKS.items() if file.data.startswith(mark)), (b"", "utf-8"))
    try:
        old = decode(file.data).removeprefix("\ufeff")
    except YamlError as error:
        raise NotVerifiedError from error
    edits = [edit for change in file.changes for edit in change.edits]
    text = edited(old, edits)
    if _encoded(old, mark, codec) != file.data:
        raise NotVerifiedError
    _verify(old, text, file.changes)
    return _encoded(text, mark, codec)


def _encoded(text: str, mark: bytes, codec: str) -> bytes:
    try:
        return mark + text.encode(codec, "surrogatepass")
    except UnicodeEncodeError as error:
        raise NotVerifiedError from error


def edited(text: str, edits: list[TextEdit]) -> str:
    """Return a file's text with edits, which do not overlap."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    parts: list[str] = []
    end = 0
    for at, new in sorted(edits, key=lambda edit: edit.at[:5]):
        begin = starts[at.line - 1] + at.column - 1
        parts += (text[end:begin], new)
        end = starts[at.end_line - 1] + at.end_column - 1
    return "".join((*parts, text[end:]))


def _verify(old: str, new: str, changes: tuple[TextChange, ...]) -> None:
    """Raise NotVerifiedError unless the new documents are the old ones with the changes."""
    (before, _), (after, errors) = read_stream(old), read_stream(new)
    values = {(document.chunk.line, document.chunk.column): document.value for document in before}
    for change in changes:
        if change.document not in values:
            raise NotVerifiedError
        try:
            values[change.document] = changed(values[change.document], change.in_text())
        except ValueError as error:
            raise NotVerifiedError from error
    if errors or [_text(document.value) for document in after] != [*map(_text, values.values())]:
        raise NotVerifiedError


def _text(value: Any) -> str:
    """Return a value as text, which differs for 1 and true."""
    return json.dumps(value, sort_keys=True)
