"""Manifests as YAML that all YAML 1.1 and YAML 1.2 parsers, including kubectl's, read alike.

Reads    JSON trees: string keys; None, bool, int, finite float, str, list, dict.
Returns  block style: lists at the indentation of their key, literal blocks for multi-line strings, no folding of long
         lines, and quotes around each string that any parser would read differently without them. The kind of quotes is
         that of sigs.k8s.io/yaml v1.6.0: "" around a string that looks like another type, '' around syntax.

This is the hot path of a build. The jobs of one runtime share most subtrees and repeat keys and strings, so a Writer
caches the text that it has written.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from trainc.emit import fields, top_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.emit import Copy
    from trainc.kubernetes.trees import Tree

# A longer key, including its quotes, needs a leading "? " (YAML 1.2, section 7.4.2; libyaml and Go agree).
IMPLICIT_KEY: Final = 1024
# The caches of a Writer: the maximum number of entries in each (a full cache is cleared), the maximum length of a
# cached string, the minimum number of entries in a cached subtree.
ENTRIES: Final = 16384
KEPT: Final = 256
WORTH_KEEPING: Final = 2

# The characters from U+007F on that are escaped: control characters, the line breaks of YAML 1.1 only (U+0085, U+2028,
# U+2029), the byte order mark, surrogates, non-characters, and invisible and bidirectional marks, which a review does
# not show. The list is fixed because str.isprintable, and thus the output, would change with Python's version.
HIDDEN: Final = (
    r"\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff"
)
_CONTROLS_AND_TAGS: Final = r"\x00-\x1f\U000e0000-\U000e0fff"
_SHORT_ESCAPES: Final = {'"': r"\"", "\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\0": r"\0"}

# Strings that some parser reads as another type, in any case: the union of the types of YAML 1.1, YAML 1.2 and the
# parsers of Go, Python and Ruby (which accept 0o17, 1_000 and 1,000). Unnecessary quotes are harmless.
_OTHER_WORDS: Final = frozenset(
    {"", "~", "null", "true", "false", "y", "n", "yes", "no", "on", "off", "=", "<<", ".inf", "+.inf", "-.inf", ".nan"}
)
_WORD: Final = re.compile("(?:--)?[A-Za-z/](?:[A-Za-z0-9_./=@+:-]*[A-Za-z0-9_./=@+-])?")
"""Names, paths, images and options: written plain unless they are one of those words."""
_IN_NUMBERS: Final = frozenset("+-._,:0123456789abcdefABCDEFoOxX")
_NUMBERS: Final = "|".join(
    (
        "[-+]?D+(?:[.]D*)?(?:[eE][-+]?D+)?",  # 12  +1_000  08  1.  1.5e3
        "[-+]?[.]D+(?:[eE][-+]?D+)?",  # .5
        "[-+]?0[bBoOxX][0-9a-fA-F_,]*",  # 0b11  0o17  0x1f
        "[-+]?D+(?::D+)+(?:[.]D*)?",  # 1:30, to base 60
        "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[tT ].*)?",  # 2024-01-01  2024-01-01 10:00:00
    )
).replace("D", "[0-9_,]")


def render(objects: Iterable[Tree]) -> str:
    """Return the objects as one YAML stream, in the given order, separated by `---`.

    Raise TypeError or ValueError for values that JSON cannot represent: non-string keys, NaN, infinities, other types.
    """
    objects = tuple(objects)
    for obj in objects:
        if not isinstance(obj, dict):
            raise TypeError(f"objects must be a list of dictionaries, such as those of a Compilation; it has {obj!r}")
    return "".join(parts(objects))


def parts(objects: Iterable[Tree], copies: Iterable[Copy] = ()) -> Iterator[str]:
    """Yield the parts of the same stream, and then the texts of the copies."""
    before = ""
    for text in chain(map(Writer().document, objects), (text for _, text in copies)):
        yield before + text
        before = "---\n"


class Writer:
    """Write any number of objects, with a cache of scalars, keys and shared subtrees.

    The cache identifies subtrees by `id()`. They must not change while the Writer lives. It keeps references to them,
    so that no id is reused.
    """

    __slots__ = ("_as_given", "_levels")

    def __init__(self, *, as_given: bool = False) -> None:
        """Create a Writer. `as_given` keeps the order of keys, for documents that trainc does not own."""
        self._as_given = as_given
        self._levels = [_Level(0, as_given=as_given)]

    def document(self, tree: Tree) -> str:
        """Return one object with its final line break, without `---`.

        >>> print(Writer().document({"kind": "A", "spec": {"args": ["no", "a: b"], "name": "x"}}), end="")
        kind: A
        spec:
          name: x
          args:
          - "no"
          - 'a: b'
        """
        return f"{self._mapping(tree, 0) or {}}\n"

    def part(self, node: Any) -> str:
        """Return a non-empty mapping or list without its final line break."""
        return self._node(node, 1).replace("\n  ", "\n")

    def _node(self, node: Any, depth: int) -> str:
        """Return a non-empty mapping or list, its first line without indentation.

        The text is cached when the subtree occurs a second time, because most subtrees occur once. The smallest
        subtrees are not cached: writing them is faster than a lookup.
        """
        levels = self._levels
        if depth == len(levels):
            levels.append(_Level(depth, as_given=self._as_given))
        write = self._mapping if isinstance(node, dict) else self._list
        if len(node) < WORTH_KEEPING:
            return write(node, depth)
        seen = levels[depth].seen
        known = seen.get(id(node))
        if known is not None and known[1] is not None:
            return known[1]
        text = write(node, depth)
        if len(seen) >= ENTRIES:
            seen.clear()
        seen[id(node)] = (node, None if known is None else text)
        return text

    def _mapping(self, node: dict[str, Any], depth: int) -> str:
        level = self._levels[depth]
        scalars = level.scalars
        entries: list[str] = []
        for key, label in level.labels[tuple(node)]:
            value = node[key]
            if isinstance(value, str):
                entries.append(label + scalars[value])
            elif isinstance(value, dict) and value:
                entries.append(f"{label}{level.line}  {self._node(value, depth + 1)}")
            elif isinstance(value, list) and value:
                entries.append(f"{label}{level.line}{self._node(value, depth)}")
            else:
                entries.append(f"{label} {_literal(value)}")
        return level.line.join(entries)

    def _list(self, node: list[Any], depth: int) -> str:
        level = self._levels[depth]
        scalars = level.scalars
        items: list[str] = []
        for value in node:
            if isinstance(value, str):
                items.append("-" + scalars[value])
            elif isinstance(value, (dict, list)) and value:
                items.append("- " + self._node(value, depth + 1))
            else:
                items.append(f"- {_literal(value)}")
        return level.line.join(items)


class _Level:
    """The caches of a Writer for one indentation. A node's text depends only on the node and the indentation."""

    __slots__ = ("labels", "line", "scalars", "seen")

    def __init__(self, depth: int, *, as_given: bool) -> None:
        self.line = "\n" + "  " * depth
        self.scalars = _Scalars(self.line + "  ")
        self.labels = _Labels(self.line, list if as_given else fields if depth else top_fields)
        self.seen: dict[int, tuple[Any, str | None]] = {}


class _Scalars(dict[str, str]):
    """Each string as written after `key:` or `-`, including the space; computed on first use."""

    def __init__(self, block_line: str) -> None:
        self._block_line = block_line

    def __missing__(self, text: str) -> str:
        written = f" {_block(text, self._block_line) if _is_block(text) else inline(text)}"
        if len(text) <= KEPT:
            if len(self) >= ENTRIES:
                self.clear()
            self[text] = written
        return written


class _Labels(dict[tuple[str, ...], list[tuple[str, str]]]):
    """For the keys of a mapping: each key in output order, and its text including the colon."""

    def __init__(self, line: str, in_order: Callable[[tuple[str, ...]], list[str]]) -> None:
        self._line = line
        self._order = in_order

    def __missing__(self, keys: tuple[str, ...]) -> list[tuple[str, str]]:
        labels = [(key, self._label(key)) for key in self._order(keys)]
        if len(self) >= ENTRIES:
            self.clear()
        self[keys] = labels
        return labels

    def _label(self, key: str) -> str:
        written = inline(key)
        return f"{written}:" if len(written) <= IMPLICIT_KEY else f"? {written}{self._line}:"


def _is_block(text: str) -> bool:
    """Return whether a literal block preserves the text in every parser. kustomize loses one that starts with a tab."""
    if "\n" not in text:
        return False
    rows = text.lstrip("\n")
    return (
        rows.strip(" \t\n") != ""
        and not rows.startswith("\t")
        and _is_printable(rows.replace("\n", "").replace("\t", ""))
    )


def _block(text: str, line: str) -> str:
    """Return a literal block, with an indentation indicator if the text starts with a space or an empty line."""
    hint = "2" if text[0] in " \n" else ""
    body = text.removesuffix("\n")
    chomping = "-" if body == text else "+" if body.endswith("\n") else ""
    return f"|{hint}{chomping}" + "".join([line + row if row else "\n" for row in body.split("\n")])


def inline(text: str) -> str:
    """Return a string on one line: plain if every parser reads the same string from it, otherwise quoted."""
    if _WORD.fullmatch(text) and text.lower() not in _OTHER_WORDS:
        return text  # the most frequent case
    if not _is_printable(text) or _is_other_type(text):
        if text.isascii() and text.isprintable():  # the most frequent case; the expression is slow to compile
            return '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'
        return '"' + re.sub(rf'["\\{_CONTROLS_AND_TAGS}{HIDDEN}]', _escape, text) + '"'
    if _is_syntax(text):
        return "'" + text.replace("'", "''") + "'"
    return text


def _is_printable(text: str) -> bool:
    # The expression is slow to compile, and most manifests are ASCII.
    return text.isprintable() if text.isascii() else not re.search(f"[{_CONTROLS_AND_TAGS}{HIDDEN}]", text)


def _is_other_type(text: str) -> bool:
    if text.lower() in _OTHER_WORDS:
        return True
    if text[0] not in "+-.,_0123456789":
        return False
    if not _IN_NUMBERS.issuperset(text) and text[4:5] != "-":  # neither a number nor a date
        return False
    return text.isdecimal() or re.fullmatch(_NUMBERS, text) is not None  # the expression is slow to compile


def _is_syntax(text: str) -> bool:
    """Return whether the text contains YAML syntax, or leading or trailing spaces, which a plain scalar loses."""
    return (
        text[0] in "[]{},#&*!|>'\"%@` "
        or text[-1] in ": "
        or text.startswith(("- ", "? ", "---", "..."))
        or text in {"-", "?"}
        or ": " in text
        or " #" in text
    )


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _literal(value: object) -> str:
    """Return a null, boolean, number or empty container, none of which has quotes.

    YAML 1.1 requires the decimal point of a float: 1e+21 is written 1.0e+21.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if value in ({}, []):
        return str(value)
    if not isinstance(value, float):
        raise TypeError(f"a manifest cannot contain a value of type {type(value).__name__}")
    mantissa, exponent, power = repr(value).partition("e")
    if mantissa in {"nan", "inf", "-inf"}:
        raise ValueError(f"a manifest cannot contain the number {value}")
    return mantissa + (".0" if exponent and "." not in mantissa else "") + exponent + power
