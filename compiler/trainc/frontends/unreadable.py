"""Unreadable documents: whether the text of a document that cannot be parsed is a TrainJob or a runtime.

Reads    the text of one document, in block, flow or JSON style.
Returns  whether its outermost `kind` and `apiVersion` name a kind to compile. In block style, the outermost key has the
         least indentation, below no other key; in flow style, it is in the outermost braces. Comments and actions of
         templates do not count. A value with an escape, a tag, an alias or a placeholder is unknown.
         Locations in its file by line and column instead of a field path, each with the text of its document only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import OLD_GROUP, find
from trainc.base.records import NamedTuple
from trainc.diagnostics import Document, Location, Related
from trainc.files.foreign import may_mention
from trainc.frontends import is_meant
from trainc.kubernetes.documents.streams import LARGEST, decode
from trainc.kubernetes.documents.yamlerror import YamlError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trainc.base.kinds import Kind
    from trainc.files.inputs import File


BLOCK: Final = r"\{\{[^{}\n]{0,500}\}\}|\{%[^{}\n]{0,500}%\}"
"""A placeholder or a statement of Go templates and Jinja; the bound keeps the search linear."""
COMMENT: Final = r"\{\{-?\s*/\*(?:[^*{]|\{(?!\{)|\*(?!/))*\*/\s*-?\}\}"
"""A comment of Go templates, which can have several lines; without `{{` in it, the search is linear."""
UNKNOWN: Final = "\x1a"
"""A value that the text does not show. The character also replaces the actions of templates; YAML does not allow it."""
_FIELDS: Final = ("kind", "apiVersion")
_TOP: Final = (*_FIELDS, "metadata", "spec", "items", "data")
_BREAK: Final = re.compile("\r\n?|[\x85\u2028\u2029]")
_DOCUMENT: Final = re.compile("\n---")
_ACTION: Final = re.compile(f"{COMMENT}|{BLOCK}")
_MARKER: Final = re.compile(r"\A\s*-{2,}(?=\s)")
_START: Final = re.compile(r"(?:\s++|(?:%[A-Z]|#)[^\n]*(?:\n|\Z)|[&!]\S*(?=\s|\Z)|\x1a)*")
_EXPLICIT: Final = re.compile(r"^([ \t]*)\?[ \t]+([^\s:]+)[ \t]*\n[ \t]*:", re.MULTILINE)
_WORD: Final = r"(?:[^\s#\"'{}\[\],&*!|>%@`:]|[^\s#\"'{}\[\],&*!|>%@`:](?:(?! #)[^\n]){0,1024}?\S)(?=[ \t]*:(?:\s|\Z))"
"""A plain key of at most 1,024 characters. No group is possessive: Python before 3.11.5 matches such groups wrongly."""
_KEY: Final = rf"(?:[&!]\S*+[ \t]++)*(?P<key>\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*\"|'[^'\n]*+'|{_WORD})"
_LINE: Final = re.compile(
    rf"^(?P<space>[ \t\x1a]*+)(?:(?P<item>-)(?=\s)|{_KEY}[ \t]*:(?=\s|\Z)(?P<value>[^\n]*)|(?P<action>\Z|$))",
    re.MULTILINE,
)
_BELOW: Final = re.compile(r"\s*([^\n]*)")
_TOKEN: Final = re.compile(
    r"\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*\"?|'[^'\n]*+'?|(?<!\S)#[^\n]*|(?<=[\"']):|:(?=[\s,\[\]{}]|\Z)|[{}\[\],]|(?:[^\s{}\[\],:]|:(?![\s,\[\]{}]|\Z))+"
)
_UNCLOSED: Final = re.compile(r"([\"'])(?:(?!\1).)*,\s*")
"""The rest of a line behind a quote too many, with the comma at its end."""
_QUOTED: Final = re.compile(r"\"([^\"\\]*+(?:\\.[^\"\\]*+)*)|'([^']*+)", re.DOTALL)
_PLACEHOLDER: Final = frozenset("\x1a$<%@\\")
_HANDLE: Final = re.compile(r"(?:^|[\s\[{,:])![\w-]+!\S", re.MULTILINE)
"""A tag whose prefix `%TAG` defines, which can be that of base64."""


class OutermostFields(NamedTuple):
    """The outermost `kind` and `apiVersion` of a text: None if there is none, `UNKNOWN` if its value is."""

    kinds: tuple[str, ...] = ()
    """Several, if the branches of a template write one each."""
    version: str | None = None


def has_content(text: str) -> bool:
    """Return whether a text has more than comments, directives and actions of templates.

    >>> has_content("# a\\n%TAG !x! tag:a.b\\n"), has_content("- a")
    (False, True)
    """
    return _START.fullmatch(_ACTION.sub(UNKNOWN, text)) is None


def starts_as_object(text: str) -> bool:
    """Return whether the first line with content is a brace or a top-level field of an object.

    >>> starts_as_object("# a\\nkind: Job\\n- ["), starts_as_object("# Jobs\\n\\nRun `kubectl`: it")
    (True, False)
    """
    text = _MARKER.sub("", _ACTION.sub(UNKNOWN, text.removeprefix("\ufeff")))
    start = _START.match(text)
    rest = text[start.end() :] if start else text
    line = _LINE.match(rest)
    return rest.startswith("{") or (line is not None and line["key"] is not None and _unquoted(line["key"]) in _TOP)


def is_of_kinds(text: str, kinds: Collection[Kind]) -> bool:
    """Return whether an unreadable text has one of some kinds.

    >>> from trainc.base.kinds import COMPILED
    >>> is_of_kinds("kind: TrainJob\\nspec: [", COMPILED), is_of_kinds("kind: Role\\nrules: [TrainJob", COMPILED)
    (True, False)
    """
    text = _BREAK.sub("\n", text.replace("\0", "").replace("\ufeff", ""))
    return any(_is_document_of_kinds(document, kinds) for document in _DOCUMENT.split(text))


def _is_document_of_kinds(text: str, kinds: Collection[Kind]) -> bool:
    fields = outermost_fields(text)
    return any(_is_one_of(kind, fields.version, text, kinds) for kind in fields.kinds)


def _is_one_of(kind: str, version: str | None, text: str, kinds: Collection[Kind]) -> bool:
    if kind == UNKNOWN:
        data = text.encode("utf-8", "surrogatepass")
        return may_mention(data, (OLD_GROUP.encode(),)) or _HANDLE.search(text) is not None
    if kind.endswith("List"):
        return _has_item(text, kinds)
    rows = [row for row in kinds if row.kind == kind]
    if not rows or (row := find(version, kind)) is not None:
        return bool(rows) and row in rows
    # A kind with a plugin has the name of other projects' kinds.
    return not rows[0].plugin and (not version or version == UNKNOWN or is_meant(version))


def _has_item(text: str, kinds: Collection[Kind]) -> bool:
    """Return whether a key `kind` of a List names one of the kinds; comments do not count."""
    names = "|".join(row.kind for row in kinds if not row.plugin)
    item = rf"""^(?![ \t]*#)(?:[^\n]*[\s{{,"'])?kind["']?\s*:\s*(?:&\S+\s+)?["']?(?:{names})(?![\w.-])"""
    return re.search(item, text, re.MULTILINE) is not None


def outermost_fields(text: str) -> OutermostFields:
    """Return the outermost `kind` and `apiVersion` of a document.

    >>> outermost_fields('{"spec": {"kind": "a"}, "kind": "b", ')
    OutermostFields(kinds=('b',), version=None)
    """
    text = _ACTION.sub(UNKNOWN, _MARKER.sub("", text))
    start = _START.match(text)
    first = text[start.end() : start.end() + 1] if start else ""
    if first == "[":
        return OutermostFields()
    pairs = list(_flow_pairs(text[start.end() :]) if start and first == "{" else _block_pairs(text))
    kinds = [pair for pair in pairs if pair[1] == "kind"]
    versions = [pair for pair in pairs if pair[1] == "apiVersion"]
    return OutermostFields(_first_and_alternatives(kinds), min(versions, default=(0, "", None, False))[2])


def _first_and_alternatives(kinds: list[tuple[int, str, str, bool]]) -> tuple[str, ...]:
    """Return the first of the outermost kinds, and those after an action of a template, such as `{{ else }}`."""
    least = min((indentation for indentation, *_ in kinds), default=0)
    outermost = [(value, follows_action) for indentation, _, value, follows_action in kinds if indentation == least]
    return tuple(value for index, (value, follows_action) in enumerate(outermost) if not index or follows_action)


def _block_pairs(text: str) -> Iterator[tuple[int, str, str, bool]]:
    """Yield the indentation, key and value of each field below no other key, and whether an action precedes it."""
    text = _EXPLICIT.sub(r"\1\2:", text) if "?" in text else text
    least, follows_action = len(text), False
    for line in _LINE.finditer(text):
        if line["action"] is not None:
            follows_action = follows_action or UNKNOWN in line["space"]
            continue
        indentation = len(line["space"].partition(UNKNOWN)[0])
        if indentation > least:
            continue
        least = indentation
        if line["item"]:
            continue
        key = _unquoted(line["key"])
        if key in _FIELDS:
            value = _value(line["value"]) or _value(_next_line(text, line.end()))
            yield indentation, key, value, follows_action
            follows_action = False


def _next_line(text: str, index: int) -> str:
    match = _BELOW.match(text, index)
    return match[1] if match else ""


def _flow_pairs(text: str) -> Iterator[tuple[int, str, str, bool]]:
    """Yield the fields of the outermost braces, as `_block_pairs` does."""
    depth, key, parts = 0, "", list[str]()
    for token in _TOKEN.finditer(text):
        word = token[0]
        if depth == 1 and (word in ",}" or _UNCLOSED.fullmatch(word)):
            if _unquoted(key) in _FIELDS:
                yield 0, _unquoted(key), _value(" ".join(parts)), False
            key, parts = "", []
        if word in "{[":
            depth += 1
        elif word in "}]":
            depth -= 1
            if not depth:
                return
        elif depth == 1 and word == ":" and not key:
            key, parts = parts[-1] if parts else " ", []
        elif depth == 1 and not (word == "," or (word.startswith("#") and not key)):
            parts.append(word)
    if _unquoted(key) in _FIELDS:
        yield 0, _unquoted(key), _value(" ".join(parts)), False


def _unquoted(key: str) -> str:
    """Return a key without its quotes and escapes."""
    if key.startswith('"') and "\\" in key:
        import json

        try:
            return str(json.loads(key))
        except ValueError:
            return UNKNOWN
    return key.strip("\"'") if key[:1] in ('"', "'") else key


def _value(written: str) -> str:
    """Return the value of a field from the text behind its colon; empty if it is on the next line."""
    written = re.sub(r"^(?:&\S+\s*)+", "", written.strip())
    quoted = _QUOTED.match(written)
    if quoted:
        written = quoted[1] or quoted[2] or ""
        return UNKNOWN if "\\" in written or UNKNOWN in written else written
    if written[:1] in ("|", ">", "#"):
        return ""
    if written[:1] in ("!", "*") or not _PLACEHOLDER.isdisjoint(written.partition(" #")[0]):
        return UNKNOWN
    return written.partition(" #")[0].strip()


_SEPARATOR: Final = b"\n---"
_AROUND: Final = 2**16
"""The number of bytes kept before and after the start of a line: a report needs the line, and `frontends.templates` the
placeholders near it."""
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_LABELS: Final = {"set": "set here", "starts": "starts here"}
"""The label of the line with which a message ends, by the word before it."""


class BrokenFile:
    """A file with an error."""

    def __init__(self, file: File) -> None:
        self.path = file.path
        self.data = file.data
        if self.data[:2] in _UTF_16:
            self.data = _in_utf_8(self.data)
        self.line = 1
        """The most recent line and its start index: lines are requested mostly in order."""
        self.index = 0

    def at(self, line: int, column: int = 0) -> Location:
        """Return a location; without a column, the whole line without its surrounding space."""
        index = self._start_of(line)
        if index is None:
            return Location(file=self.path, line=line, column=column)
        document = self._document(line, index)
        if column:
            return Location(file=self.path, line=line, column=column, source=document)
        written = decode(self.data[index : index + _AROUND].partition(b"\n")[0]).rstrip()
        first = len(written) - len(written.lstrip(" \t\ufeff")) + 1
        return Location(self.path, line, first, line, len(written) + 1, document)

    def conflicting_line(self, error: YamlError) -> tuple[Related, ...]:
        """Return the line with which the error conflicts, if that is another line."""
        if error.since in (0, error.line):
            return ()
        label = _LABELS.get(error.what.rpartition(" ")[2], "opened here")
        return (Related(message=label, place=self.at(error.since)),)

    def _start_of(self, line: int) -> int | None:
        """Return the index at which a line starts; None if there is no such line."""
        if line < self.line:
            self.line, self.index = 1, 0
        while self.line < line:
            found = self.data.find(b"\n", self.index)
            if found < 0:
                return None
            self.line, self.index = self.line + 1, found + 1
        return self.index

    def _document(self, line: int, index: int) -> Document:
        """Return the text around a line, up to the separators before and after it, as a document without a value."""
        begin = self.data.rfind(_SEPARATOR, max(index - _AROUND, 0), index + len(_SEPARATOR) - 1) + 1
        if not begin and index > _AROUND:
            begin = self.data.find(b"\n", index - _AROUND) + 1
        end = self.data.find(_SEPARATOR, index, index + _AROUND)
        before = self.data.count(b"\n", begin, index)
        text = decode(self.data[begin : end + 1 if end >= 0 else index + _AROUND])
        return Document(self.path, line - before, text, None)


def _in_utf_8(data: bytes) -> bytes:
    """Convert a file from UTF-16 to UTF-8; return nothing if it is too large to show, or not UTF-16."""
    if len(data) > LARGEST:
        return b""
    try:
        return decode(data).encode("utf-8", "surrogatepass")
    except YamlError:
        return b""
