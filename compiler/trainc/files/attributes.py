"""Attributes of git that change a file at the checkout.

Reads    the .gitattributes in the folders of the files that a run has read, as git reads them in a checkout. Those
         outside the working tree (`info/attributes`) have no effect.
Returns  a warning for each attribute that changes such a file: a review would read another text in git's objects.
Source   git 2.39: gitattributes(5), attr.c, convert.c, quote.c.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Location
from trainc.files.confine import resolved
from trainc.files.exclude import PatternError, path_below, path_pattern
from trainc.files.globs import GlobList
from trainc.files.inputs import ATTRIBUTES, CHANGING, regular_file_content
from trainc.files.walk import fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from trainc.files.globs import Glob
    from trainc.files.inputs import AttributeFiles

CHECKOUT_ATTRIBUTE: Final = Declaration("checkout-attribute", ("read",), trainc_only=True)
TEXT: Final = "text"
"""The attribute that decides whether `eol` is in force."""
READ: Final = (TEXT, *CHANGING)
LARGEST: Final = 2**20
"""Bytes. A larger .gitattributes is not read."""
UNSPECIFIED: Final = "unspecified"
NONE: Final = frozenset({UNSPECIFIED, "unset"})
PLAIN: Final = frozenset({UNSPECIFIED, "", "utf-8", "utf8"})
"""The encodings of a working tree that change no file. Without one (`-working-tree-encoding`), a checkout fails."""

Assignment = tuple[str, str]
"""An attribute and its value, as `git check-attr` shows it."""

_LONGEST_LINE: Final = 2047
_MACRO: Final = b"[attr]"
_BLANK: Final = b" \t\r\n"
_NAME: Final = re.compile(rb"(?!-)[-A-Za-z0-9_.]+")
_QUOTED: Final = re.compile(rb'"((?:[^"\\]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*)"')
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED: Final = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))
_BINARY: Final = {"binary": [("diff", "unset"), ("merge", "unset"), (TEXT, "unset")]}
"""The built-in macros."""


class AttributedFile(NamedTuple):
    """A file and its attributes."""

    path: str
    """The path below the root of its repository."""
    shown: str
    """The path that messages show."""
    values: Mapping[str, str]
    """The values of `READ`."""
    content: Callable[[], bytes]


def warnings(files: Iterable[str], read: AttributeFiles) -> Iterator[Diagnostic]:
    """Yield a warning for each attribute that changes some of the files on disk."""
    for folder, data in read.contents.items():
        if len(data) > LARGEST:
            path = os.path.relpath(os.path.join(folder, ATTRIBUTES))
            message = f"is {len(data) >> 20} MiB, more than the limit of {LARGEST >> 20} MiB, and is not read"
            yield fault(path, message, "remove lines")._replace(severity="warning")
    lists = {
        folder: AttributeList(data, is_root=read.roots[folder] == folder)
        for folder, data in read.contents.items()
        if len(data) <= LARGEST
    }
    for each in faults(_attributed(files, read, lists)):
        yield each._replace(severity="warning")


def _attributed(
    files: Iterable[str], read: AttributeFiles, lists: Mapping[str, AttributeList]
) -> Iterator[AttributedFile]:
    """Yield the files of repositories with their attributes."""
    for file in files:
        real = resolved(file)
        root = read.roots.get(os.path.dirname(real))
        if root and os.path.isfile(real):
            at, above = real, list[str]()
            while at != root:
                at = os.path.dirname(at)
                above.append(at)
            values = attributes_of(real, [(folder, lists[folder]) for folder in above if folder in lists])
            yield AttributedFile(path_below(real, root), file, values, partial(_content, real))


def _content(path: str) -> bytes:
    return regular_file_content(path) or b""


def attributes_of(path: str, lists: Iterable[tuple[str, AttributeList]]) -> dict[str, str]:
    """Return the values of `READ` for an absolute path; `lists` are those above it by folder, the nearest first."""
    lists = [*lists]
    macros = _BINARY | {name: values for _, each in lists for name, values in each.macros.items()}
    known: dict[str, str] = {}
    for folder, each in lists:
        for assignments in each.matching(path_below(path, folder)):
            _fill(known, assignments, macros)
            if all(name in known for name in READ):
                break
    return {name: known.get(name, UNSPECIFIED) for name in READ}


def _fill(known: dict[str, str], assignments: list[Assignment], macros: Mapping[str, list[Assignment]]) -> None:
    """Add the assignments of a line, and those of the macros that it sets, to those of the lines after it."""
    waiting = [*assignments]
    while waiting:
        name, value = waiting.pop()
        if name not in known:
            known[name] = value
            if value == "set" and name in macros:
                waiting += macros[name]


class AttributeList:
    """The lines of a .gitattributes."""

    def __init__(self, data: bytes, *, is_root: bool) -> None:
        """Parse the lines. As in git, those that are not valid have no effect, and only a root defines macros."""
        self.macros: dict[str, list[Assignment]] = {}
        self._assignments: list[list[Assignment]] = []
        patterns: list[list[Glob]] = []
        for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            parsed = _parsed(line)
            if parsed is None:
                continue
            name, assignments = parsed
            if name.startswith(_MACRO) and name != _MACRO:
                macro = name.removeprefix(_MACRO).lstrip(_BLANK)
                if is_root and _NAME.fullmatch(macro):
                    self.macros[macro.decode()] = assignments
            elif (globs := _globs(name)) is not None:
                patterns.append(globs)
                self._assignments.append(assignments)
        self._globs = GlobList(patterns)

    def matching(self, path: str) -> Iterator[list[Assignment]]:
        """Yield the assignments of the lines that match a path, the last one first."""
        *above, name = os.fsencode(path).split(b"/")
        positions = self._globs.start(range(len(self._assignments)))
        for folder in above:
            positions = self._globs.positions_below(positions, folder)
        for index in sorted({*self._globs.matching(positions, name)}, reverse=True):
            yield self._assignments[index]


def _parsed(line: bytes) -> tuple[bytes, list[Assignment]] | None:
    """Return the pattern of a line and its assignments; None for a line without effect."""
    line = line.partition(b"\0")[0]
    text = line.lstrip(_BLANK)
    if not text or text.startswith(b"#") or len(line) > _LONGEST_LINE:
        return None
    quoted = _QUOTED.match(text)
    if quoted is not None:
        name, rest = _ESCAPE.sub(_unescaped, quoted[1]), text[quoted.end() :]
    else:
        name = re.split(rb"[ \t\r\n]", text, maxsplit=1)[0]
        rest = text[len(name) :]
    assignments = []
    for word in re.findall(rb"[^ \t\r\n]+", rest):
        attribute, equals, value = word.partition(b"=")
        sign = attribute[:1] if attribute[:1] in {b"-", b"!"} else b""
        attribute = attribute.removeprefix(sign)
        if not _NAME.fullmatch(attribute):
            return None
        if sign:
            given = "unset" if sign == b"-" else UNSPECIFIED
        else:
            given = os.fsdecode(value) if equals else "set"
        assignments.append((attribute.decode(), given))
    return name, assignments


def _unescaped(match: re.Match[bytes]) -> bytes:
    text = match[1]
    return bytes((int(text, 8) if len(text) == 3 else _ESCAPED.get(text[0], text[0]),))


def _globs(name: bytes) -> list[Glob] | None:
    """Return the globs of a pattern; None if it matches no file."""
    if name.startswith(b"!"):
        return None
    try:
        pattern = path_pattern(os.fsdecode(name))
    except PatternError:
        return None
    return None if pattern.is_folder else pattern.globs


def faults(files: Iterable[AttributedFile]) -> Iterator[Diagnostic]:
    """Yield an error for each attribute that changes some of the files, at the first of them."""
    first: dict[str, AttributedFile] = {}
    count = Counter[str]()
    for file in files:
        for name in CHANGING:
            if _changes(name, file.values, file.content):
                value = file.values[name]
                attribute = name if value == "set" else f"{name}={value}"
                first.setdefault(attribute, file)
                count[attribute] += 1
    for attribute, file in first.items():
        number = count[attribute] - 1
        more = f" and {number} more file{'s' * (number > 1)}" if number else ""
        written = f'"{file.path}"' if " " in file.path else file.path
        yield Diagnostic.declared(
            CHECKOUT_ATTRIBUTE,
            f"the attribute {attribute} changes this file{more} at the checkout",
            f"remove the attribute in {ATTRIBUTES}, such as with `{written} !{attribute.partition('=')[0]}`",
            place=Location(file.shown),
        )


def _changes(name: str, values: Mapping[str, str], content: Callable[[], bytes]) -> bool:
    """Return whether one of a file's attributes changes its content.

    The line ends of UTF-8 mean the same to YAML; in UTF-16, git inserts a byte and moves all that follow.
    """
    value = values[name]
    match name:
        case "working-tree-encoding":
            return value.lower() not in PLAIN
        case "ident":
            return value == "set" and b"$Id" in content()
        case "filter":
            return value not in {*NONE, "set"}
        case _:
            return value == "crlf" and values[TEXT] not in {"auto", "unset"} and b"\0" in content()
