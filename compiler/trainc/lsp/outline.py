"""The fields of a YAML text with their positions, also of a text that is not valid YAML yet.

Reads    a text line by line: mappings and lists of both styles, by indentation and brackets. The content of block
         scalars, and continuation lines of plain scalars, have no fields.
Returns  an `Outline` for each document. Lines and columns count from 0, in code points.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

Path = tuple[str | int, ...]

MARK: Final = "\ue000"
"""The character at the cursor; Unicode reserves it for private use."""
_COLON: Final = re.compile(r":(?=[ ]|$)")
_QUOTED: Final = re.compile(r""""[^"\\]*+(?:\\.[^"\\]*+)*"|'[^']*+(?:''[^']*+)*'""")
_BEFORE_COLON: Final = re.compile(r"[ ]*+:")
_INDICATORS: Final = frozenset("#&*!|>%@{}[],\"'")
"""The characters that do not begin a plain key."""
_DEEPEST: Final = 100
"""The deepest nesting whose fields are read."""
_FLOW_WORD: Final = re.compile(r"""(?:[^,\[\]{}:#\s]|:(?![\s,\[\]{}]|$)|(?<=\S)#|[ ](?=[^,\[\]{}:#\s]))+""")
_PROPERTIES: Final = re.compile(r"(?:[&!]\S*[ ]+)*")
_SEPARATOR: Final = re.compile(r"---(?:\s|$)|\.\.\.\s*$")


class OutlineField(NamedTuple):
    """A field of a mapping, or an item of a list."""

    path: Path
    line: int
    begin: int
    end: int
    """The columns of its key; of an item without a key, those of its dash or bracket."""
    value: str = ""
    """A scalar value without quotes; empty for any other value."""
    value_line: int = -1
    value_begin: int = 0
    value_end: int = 0
    flow: bool = False
    is_word: bool = False
    """Whether it is a word without a colon: the start of a key."""


class Outline(NamedTuple):
    """The fields of one document."""

    first: int
    """The first line of the document in the text."""
    last: int
    """The line after it."""
    fields: tuple[OutlineField, ...]

    def value(self, *path: str | int) -> str:
        """Return the scalar at a path; empty without one."""
        return next((each.value for each in self.fields if each.path == path and not each.is_word), "")

    @property
    def kind(self) -> str:
        """The kind."""
        return self.value("kind")

    @property
    def name(self) -> str:
        """The name in the metadata."""
        return self.value("metadata", "name")

    def at(self, line: int, column: int) -> OutlineField | None:
        """Return the field whose key or value is at a position."""
        for each in self.fields:
            if each.line == line and each.begin <= column <= each.end and not isinstance(each.path[-1], int):
                return each
            if each.value_line == line and each.value_begin <= column <= each.value_end:
                return each
        return None

    def keys(self, path: Path) -> set[str]:
        """Return the keys of the mapping at a path."""
        size = len(path)
        return {
            str(each.path[size])
            for each in self.fields
            if len(each.path) > size and each.path[:size] == path and not each.is_word
        }


def outlines(text: str) -> list[Outline]:
    """Return the outline of each document of a text.

    >>> [document] = outlines("spec:\\n  ports: [80, {a: b}]\\n- c: [d")
    >>> [(field.path, field.value) for field in document.fields if field.value]
    [(('spec', 'ports', 0), '80'), (('spec', 'ports', 1, 'a'), 'b'), (('spec', 0, 'c', 0), 'd')]
    """
    lines = text.split("\n")
    starts = [0, *(number + 1 for number, line in enumerate(lines) if _SEPARATOR.match(line))]
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    return [Outline(first, last, _Scan(lines, first, last).fields()) for first, last in zip(starts, ends, strict=True)]


def outline_at(text: str, line: int) -> Outline:
    """Return the outline of the document at a line."""
    found = outlines(text)
    return next((each for each in found if line < each.last), found[-1])


class _Scan:
    """A pass over the lines of one document."""

    def __init__(self, lines: list[str], first: int, last: int) -> None:
        self.lines, self.line, self.last = lines, first, last
        self.stack: list[tuple[int, str | int]] = []
        """The indentation and the key or index of each enclosing field."""
        self.found: list[OutlineField] = []
        self.scalar = -1
        """The indentation of the field whose block scalar goes on; -1 without one."""

    def fields(self) -> tuple[OutlineField, ...]:
        """Return all fields, in their order."""
        while self.line < self.last:
            text = self.lines[self.line].rstrip("\r")
            column = len(text) - len(text.lstrip(" "))
            blank = not text.strip() or text[column] == "#"
            if not blank and column <= self.scalar:
                self.scalar = -1
            if not blank and self.scalar < 0:
                self._block(text, column)
            self.line += 1
        return tuple(self.found)

    def _path(self) -> Path:
        return tuple(part for _, part in self.stack)

    def _block(self, text: str, column: int) -> None:
        """Add the fields of a line that begins in no bracket."""
        is_item = False
        while text[column : column + 2] in ("-", "- ") and len(self.stack) <= _DEEPEST:
            is_item = True
            index = 0
            while self.stack and self.stack[-1][0] >= column:
                indentation, part = self.stack[-1]
                if indentation == column and isinstance(part, str):
                    break
                self.stack.pop()
                if indentation == column:
                    index = int(part) + 1
                    break
            self.stack.append((column, index))
            self.found.append(OutlineField(self._path(), self.line, column, column + 1))
            column += 1
            while column < len(text) and text[column] == " ":
                column += 1
        key = _key(text, column)
        if len(self.stack) > _DEEPEST:
            return
        if key is not None:
            end, after = key
            self._enter(column, _unquoted(text[column:end]))
            self.found.append(OutlineField(self._path(), self.line, column, end))
            self._value(text, after)
        elif is_item:
            self._value(text, column)
        elif text[column] in "{[":
            self._flow(column, self._path())
        else:
            self._word(text, column)

    def _enter(self, column: int, part: str) -> None:
        while self.stack and self.stack[-1][0] >= column:
            self.stack.pop()
        self.stack.append((column, part))

    def _word(self, text: str, column: int) -> None:
        """Add a word without a colon, unless it continues the value of the line above."""
        word = text[column:].split(" #", maxsplit=1)[0].rstrip()
        above = self.found[-1] if self.found else None
        if above is not None and above.value_line >= 0 and above.begin < column and not above.flow and MARK not in word:
            return
        self._enter(column, word)
        self.found.append(OutlineField(self._path(), self.line, column, column + len(word), is_word=True))
        self.stack.pop()

    def _value(self, text: str, column: int) -> None:
        """Add the value that begins at a column to the last field."""
        while column < len(text) and text[column] == " ":
            column += 1
        matched = _PROPERTIES.match(text, column)
        column = matched.end() if matched is not None else column
        if column >= len(text) or text[column] == "#":
            return
        if text[column] in "|>":
            self.scalar = self.stack[-1][0]
        elif text[column] in "{[":
            self._flow(column, self._path())
        else:
            quoted = _QUOTED.match(text, column)
            self._set(column, quoted[0] if quoted is not None else text[column:].split(" #", maxsplit=1)[0].rstrip())

    def _set(self, column: int, raw: str) -> None:
        self.found[-1] = self.found[-1]._replace(
            value=_unquoted(raw), value_line=self.line, value_begin=column, value_end=column + len(raw)
        )

    def _flow(self, column: int, path: Path) -> None:
        """Add the fields between brackets, up to the end of the outermost one."""
        frames: list[tuple[str, Path]] = []
        part: str | int | None = None
        parts: list[str | int | None] = []
        while True:
            text = self.lines[self.line].rstrip("\r")
            while column < len(text):
                char = text[column]
                here = path if not frames else frames[-1][1] if part is None else (*frames[-1][1], part)
                if char in "{[":
                    if len(frames) > _DEEPEST:
                        return
                    if frames and frames[-1][0] == "[":
                        self.found.append(OutlineField(here, self.line, column, column + 1, flow=True))
                    parts.append(part)
                    frames.append((char, here))
                    part = 0 if char == "[" else None
                elif char in "}]":
                    frames.pop()
                    part = parts.pop()
                    if not frames:
                        return
                elif char == ",":
                    part = part + 1 if isinstance(part, int) else None
                elif char == "#" and text[column - 1] == " ":
                    break
                elif char not in " \t:":
                    raw = self._flow_scalar(text, column)
                    if frames[-1][0] == "{" and part is None:
                        is_key = _BEFORE_COLON.match(text, column + len(raw)) is not None
                        path_of_key = (*frames[-1][1], _unquoted(raw))
                        self.found.append(
                            OutlineField(
                                path_of_key, self.line, column, column + len(raw), flow=True, is_word=not is_key
                            )
                        )
                        part = _unquoted(raw) if is_key else None
                    else:
                        if frames[-1][0] == "[":
                            self.found.append(OutlineField(here, self.line, column, column, flow=True))
                        self._set(column, raw)
                    column += len(raw) - 1
                column += 1
            following = self.lines[self.line + 1] if self.line + 1 < self.last else ""
            if self.line + 1 >= self.last or _key(following, 0):
                return  # the bracket is never closed: a key in the first column belongs to the document
            self.line, column = self.line + 1, 0

    def _flow_scalar(self, text: str, column: int) -> str:
        quoted = _QUOTED.match(text, column)
        if quoted is not None:
            return quoted[0]
        match = _FLOW_WORD.match(text, column)
        return match[0].rstrip() if match is not None else text[column]


def _key(text: str, column: int) -> tuple[int, int] | None:
    """Return the end of the key at a column, and the column after its colon; None if there is no key."""
    quoted = _QUOTED.match(text, column)
    if quoted is not None:
        colon = _BEFORE_COLON.match(text, quoted.end())
        return None if colon is None else (quoted.end(), colon.end())
    if text[column : column + 1] in _INDICATORS or text[column : column + 1] in ("", " ", ":"):
        return None
    found = _COLON.search(text, column)
    if found is None or " #" in text[column : found.start()]:
        return None
    return column + len(text[column : found.start()].rstrip()), found.end()


def _unquoted(raw: str) -> str:
    if len(raw) >= 2 and raw[0] == raw[-1] and raw[0] in "\"'":
        return raw[1:-1].replace("''", "'") if raw[0] == "'" else re.sub(r"\\(.)", r"\1", raw[1:-1])
    return raw
