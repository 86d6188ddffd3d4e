"""The bytes of a file with the edits of fixes, verified by its parsed values.

Reads    the bytes of a file, and the changes with their edits.
Returns  the new bytes. Raises NotVerifiedError if the values of the new text are not those of the old one with the
         changes.
"""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Any

from trainc.base.fixes import Addition, Relocation, Removal, Renaming
from trainc.base.records import NamedTuple
from trainc.kubernetes.documents import read_stream
from trainc.kubernetes.documents.streams import decode
from trainc.kubernetes.documents.yamlerror import YamlError
from trainc.kubernetes.trees import edit, put

if TYPE_CHECKING:
    from trainc.source.fix_edits import TextChange, TextEdit

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
        values[change.document] = _changed(values[change.document], change)
    if errors or [_text(document.value) for document in after] != [*map(_text, values.values())]:
        raise NotVerifiedError


def _text(value: Any) -> str:
    """Return a value as text, which differs for 1 and true."""
    return json.dumps(value, sort_keys=True)


def _changed(value: Any, text: TextChange) -> Any:
    """Return a document's value with a change."""
    *above, last = text.path
    match text.change:
        case Renaming(_, name):
            return edit(value, tuple(above), lambda parent: _renamed(parent, last, name))
        case Relocation(_, _, moved):
            without = edit(value, tuple(above), lambda parent: _remove_step(parent, last))
            return put(without, text.target, moved)
        case Removal():
            return edit(value, tuple(above), lambda parent: _remove_step(parent, last))
        case Addition(_, added) if isinstance(last, int):
            return edit(value, tuple(above), lambda items: [*items, added])
    return put(value, text.path, text.change.value)


def _remove_step(parent: Any, step: str | int) -> Any:
    if isinstance(parent, list):
        return [each for index, each in enumerate(parent) if index != step]
    return {key: each for key, each in parent.items() if key != step}


def _renamed(parent: dict[str, Any], name: str | int, new: str) -> dict[str, Any]:
    if new in parent:
        raise NotVerifiedError
    return {new if key == name else key: value for key, value in parent.items()}
