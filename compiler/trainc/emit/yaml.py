"""Manifests as YAML that YAML 1.1 and YAML 1.2 readers, kubectl's among them, read alike.

Reads JSON trees (string keys; None, bool, int, finite float, str, list, dict), returns block style: lists at the
indentation of their key, literal blocks for text of several lines, quotes wherever any reader would see anything else
than the string, no folding of long lines. Which quotes is decided as in sigs.k8s.io/yaml v1.6.0: "" around
what would be another type, '' around what would be syntax.

This is the hot path of a build. Trees share subtrees (the jobs of one runtime most of theirs), and repeat their keys
and words: a Writer remembers what it wrote.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.emit import order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainc.kubernetes.trees import Tree

# A longer key, quotes included, is one only after "? " (YAML 1.2, section 7.4.2; libyaml and Go agree).
IMPLICIT_KEY: Final = 1024
# What a Writer remembers: at most so many entries in each of its tables (a full one is emptied), strings of at most so
# many characters, subtrees with at least so many entries of their own.
ENTRIES: Final = 16384
KEPT: Final = 256
WORTH_KEEPING: Final = 2

# What is written as an escape, from U+007F on: control characters, the line breaks that only YAML 1.1 knows (U+0085,
# U+2028, U+2029), the byte order mark, surrogates, non-characters; and what would hide in a review: invisible and
# bidirectional marks. A fixed list: str.isprintable changes with Python's version, and so would our bytes.
HIDDEN: Final = (
    r"\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff"
)
_CONTROLS_AND_TAGS: Final = r"\x00-\x1f\U000e0000-\U000e0fff"
_SHORT_ESCAPES: Final = {'"': r"\"", "\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\0": r"\0"}

# What some reader takes for another type, words in any case: the union of YAML 1.1's types, 1.2's, and those of Go's,
# Python's and Ruby's readers (which know 0o17, 1_000 and 1,000), rather too much than too little.
_OTHER_WORDS: Final = frozenset(
    {"", "~", "null", "true", "false", "y", "n", "yes", "no", "on", "off", "=", "<<", ".inf", "+.inf", "-.inf", ".nan"}
)
_WORD: Final = re.compile("(?:--)?[A-Za-z/](?:[A-Za-z0-9_./=@+:-]*[A-Za-z0-9_./=@+-])?")
"""Names, paths, images, options: plain, unless they are one of those words."""
_NUMBERS: Final = "|".join(
    (
        "[-+]?D+(?:[.]D*)?(?:[eE][-+]?D+)?",  # 12  +1_000  08  1.  1.5e3
        "[-+]?[.]D+(?:[eE][-+]?D+)?",  # .5
        "[-+]?0[bBoOxX][0-9a-fA-F_,]*",  # 0b11  0o17  0x1f
        "[-+]?D+(?::D+)+(?:[.]D*)?",  # 1:30, to base 60
        "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[tT ].*)?",  # 2024-01-01  2024-01-01 10:00:00
    )
).replace("D", "[0-9_,]")


def render(objects: Sequence[Tree]) -> str:
    """The objects as one YAML stream, in the given order, separated by `---`.

    Raises TypeError or ValueError for what JSON cannot hold: keys that are no strings, NaN, infinities, other types.
    """
    writer = Writer()
    return "---\n".join([writer.document(tree) for tree in objects])


class Writer:
    """Writes any number of objects, remembering scalars, keys and shared subtrees from one to the next.

    Subtrees are known by identity. They must not change while the Writer lives; it keeps them alive, so that no
    identity is given away a second time.
    """

    __slots__ = ("_as_given", "_levels")

    def __init__(self, *, as_given: bool = False) -> None:
        """`as_given` keeps the keys in the order in which they come: for documents that are somebody else's."""
        self._as_given = as_given
        self._levels = [_Level(0, as_given=as_given)]

    def document(self, tree: Tree) -> str:
        """One object, down to its last line break; without `---`.

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
        """A mapping or list that is not empty, without its last line break."""
        return self._node(node, 1).replace("\n  ", "\n")

    def _node(self, node: Any, depth: int) -> str:
        """A mapping or list that is not empty, its first line without indentation.

        Its text is kept when it is seen a second time: most subtrees are seen once, and need no memory. The smallest
        ones are written again faster than they are looked up.
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
    """What a Writer remembers of one indentation: the text of a node depends on nothing else."""

    __slots__ = ("labels", "line", "scalars", "seen")

    def __init__(self, depth: int, *, as_given: bool) -> None:
        self.line = "\n" + "  " * depth
        self.scalars = _Scalars(self.line + "  ")
        self.labels = _Labels(self.line, list if as_given else order.fields if depth else order.top_fields)
        self.seen: dict[int, tuple[Any, str | None]] = {}


class _Scalars(dict[str, str]):
    """Each string as it stands after `key:` or `-`, with the space between; made when first asked for."""

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
    """For the keys of a mapping, as they come: each key in order, and how it is written, down to its colon."""

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
    """Whether a literal block carries the text to every reader: kustomize loses one that starts with a tab."""
    rows = text.lstrip("\n")
    return (
        "\n" in text
        and rows.strip(" \t\n") != ""
        and not rows.startswith("\t")
        and _is_printable(rows.replace("\n", "").replace("\t", ""))
    )


def _block(text: str, line: str) -> str:
    """A literal block. Its indentation is written out where the text would hide it, empty lines get none."""
    hint = "2" if text[0] in " \n" else ""
    body = text.removesuffix("\n")
    chomping = "-" if body == text else "+" if body.endswith("\n") else ""
    return f"|{hint}{chomping}" + "".join([line + row if row else "\n" for row in body.split("\n")])


def inline(text: str) -> str:
    """A string on one line: plain if every reader sees the same string in it."""
    if _WORD.fullmatch(text) and text.lower() not in _OTHER_WORDS:
        return text  # as nearly always
    if not _is_printable(text) or _is_other_type(text):
        if text.isascii() and text.isprintable():  # as most are; the expression takes long to compile
            return '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'
        return '"' + re.sub(rf'["\\{_CONTROLS_AND_TAGS}{HIDDEN}]', _escape, text) + '"'
    if _is_syntax(text):
        return "'" + text.replace("'", "''") + "'"
    return text


def _is_printable(text: str) -> bool:
    # The expression is costly to compile, and most manifests are ASCII.
    return text.isprintable() if text.isascii() else not re.search(f"[{_CONTROLS_AND_TAGS}{HIDDEN}]", text)


def _is_other_type(text: str) -> bool:
    return text.lower() in _OTHER_WORDS or (text[0] in "+-.,_0123456789" and re.fullmatch(_NUMBERS, text) is not None)


def _is_syntax(text: str) -> bool:
    """Whether something in the text starts, ends or separates something else in YAML, or is a space it would lose."""
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
    """What needs no quotes: null, booleans, numbers, empty containers.

    YAML 1.1 knows a float by its point: 1e+21 is 1.0e+21.
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
        raise TypeError(f"{type(value).__name__} is no part of a manifest")
    mantissa, exponent, power = repr(value).partition("e")
    if mantissa in {"nan", "inf", "-inf"}:
        raise ValueError(f"{value} is no number in a manifest")
    return mantissa + (".0" if exponent and "." not in mantissa else "") + exponent + power
