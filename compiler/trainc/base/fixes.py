"""Fixes: the changes of a document that a hint suggests, as values from which the hint is written.

Reads    paths and values of the document that a diagnostic is about.
Returns  fixes and their titles. Imported only when there is a fault to report.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.records import NamedTuple
from trainc.base.suggestions import KnownNames, is_certain, nearest_name, shared_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Path = tuple[str | int, ...]

_PLAIN: Final = re.compile(r"[A-Za-z_/][\w./-]*|[0-9]+(?:\.[0-9]+)?(?:[KMGT]i|[kMGT]|m)")
"""A string that needs no quotes unless it is one of the words below; YAML allows more."""
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][\w./-]*")
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan"})
_LONGEST: Final = 400
"""The longest value, in characters, that a title shows."""


class Written(NamedTuple):
    """The text of the scalar at a path as a string: `1.10` is the number 1.1 in the parsed value."""

    path: Path
    parsed: Any
    """The parsed value, for a text that is not known."""


class Renaming(NamedTuple):
    """A key that gets another name."""

    path: Path
    name: str


class Replacement(NamedTuple):
    """A value that is replaced."""

    path: Path
    value: Any
    """The new value. It can contain `Written` texts."""


class Relocation(NamedTuple):
    """A field that moves to another path of the document, with its value or a new one."""

    path: Path
    target: Path
    value: Any


class Removal(NamedTuple):
    """A field or an item of a list that is removed."""

    path: Path


class Addition(NamedTuple):
    """A field that is added to a mapping, or an item that is appended to a list."""

    path: Path
    """The path of the new field."""
    value: Any


Change = Renaming | Replacement | Relocation | Removal | Addition
Applicability = Literal["safe", "unsafe", "none"]
"""`safe`: the document is refused as it is, this is the only repair, and nothing that was written is lost.
`unsafe`: the document runs as it is, or a value is changed or removed. `none`: several repairs are possible."""


class Fix(NamedTuple):
    """A repair of a document: its changes, and the words of its title around the value that the title shows."""

    changes: tuple[Change, ...]
    lead: str
    """The words before the value."""
    shown: Any = None
    """The value that the title shows; None for a title without one."""
    form: Literal["value", "string", "name", "fields"] = "value"
    """How the title shows it: in flow style, in quotes, without quotes, or as fields in backquotes."""
    note: str = ""
    """The words after the value."""
    applicability: Applicability = "safe"

    @property
    def title(self) -> str:
        """The hint."""
        if self.shown is None:
            text = ""
        elif self.form == "name":
            text = str(self.shown)
        elif self.form == "string":
            text = _shortened(_quoted(self.shown))
        elif self.form == "fields":
            text = f"`{_shortened(flow(self.shown)[1:-1])}`"
        else:
            text = _shortened(flow(self.shown))
        return f"{self.lead}{text}{self.note}"

    @property
    def bare(self) -> str:
        """The hint without the value."""
        return self.lead.rstrip(": ") if self.lead.endswith(": ") else "replace the value"

    def mapped(self, convert: Callable[[Path, Any], Any]) -> Fix:
        """Return the fix with other values, which a function returns for the path of a change and its value."""
        changes = tuple(
            change
            if isinstance(change, Renaming | Removal)
            else change._replace(value=convert(change.path, change.value))
            for change in self.changes
        )
        shown = self.shown if self.form == "name" or not changes else convert(changes[0].path, self.shown)
        return self._replace(changes=changes, shown=shown)


def safe_if(condition: bool) -> Applicability:
    """Return the applicability of a fix that is safe on a condition, and unsafe otherwise."""
    return "safe" if condition else "unsafe"


def rename(path: Path, name: str, *, applicability: Applicability) -> Fix:
    """Return the fix that gives a key another name.

    >>> rename(("spec", "numNode"), "numNodes", applicability="safe").title
    'did you mean numNodes?'
    """
    return Fix((Renaming(path, name),), "did you mean ", name, "name", "?", applicability)


def replace(path: Path, value: Any, lead: str = "use ", note: str = "", applicability: Applicability = "safe") -> Fix:
    """Return the fix that writes another value.

    >>> replace(("spec", "numNodes"), 2, "remove the quotes: ").title
    'remove the quotes: 2'
    """
    return Fix((Replacement(path, value),), lead, value, note=note, applicability=applicability)


def removal(path: Path, title: str = "remove it") -> Fix:
    """Return the fix that removes a field, which is never safe."""
    return Fix((Removal(path),), title, applicability="unsafe")


def setting(path: Path, value: Any, title: str, *, applicability: Applicability = "unsafe") -> Fix:
    """Return the fix that replaces a value, with its own title."""
    return Fix((Replacement(path, value),), title, applicability=applicability)


def addition(path: Path, value: Any, title: str) -> Fix:
    """Return the unsafe fix that adds a field, with its own title."""
    return Fix((Addition(path, value),), title, applicability="unsafe")


def at_source(fix: Fix | None, path: Path, value: object, place: Path, source: object) -> Fix | None:
    """Return the fix of a field at the place that it comes from; None if that has another value or several changes.

    Args:
        fix: the fix, with one change.
        path: the field's path in the compiled object.
        value: its value there.
        place: the path of its source.
        source: the value there.
    """
    if fix is None or len(fix.changes) != 1 or isinstance(change := fix.changes[0], Relocation):
        return None
    if isinstance(change, Addition):
        common = shared_length(path, change.path[:-1])
        own = len(place) - len(path) + common
        # A quantity's source may be a number.
        if str(source) != str(value) or place[own + 1 :] != path[common + 1 :]:
            return None
        return fix._replace(changes=(change._replace(path=(*place[:own], *change.path[common:])),))
    if isinstance(change, Removal) and change.path == path[:-1] and source == value and place[-1:] == path[-1:]:
        return fix._replace(changes=(Removal(place[:-1]),))
    # A renamed key's value may have another form, such as that of a quantity.
    same = place[-1:] == path[-1:] if isinstance(change, Renaming) else source == value
    return fix._replace(changes=(change._replace(path=place),)) if same and change.path == path else None


def at_path(change: Change, path: Path, target: Path) -> Change:
    """Return a change at another path; `target` is where a field moves."""
    found = change._replace(path=path)
    return found._replace(target=target) if isinstance(found, Relocation) else found


def prefixed(fix: Fix | None, base: Path) -> Fix | None:
    """Return the fix of a part of an object as that of the whole object."""
    if fix is None or not base:
        return fix
    targets = (change.target if isinstance(change, Relocation) else () for change in fix.changes)
    moved = zip(fix.changes, targets, strict=True)
    changes = tuple(at_path(change, (*base, *change.path), (*base, *target)) for change, target in moved)
    return fix._replace(changes=changes)


def misspelled_key(fields: Iterable[object], name: str) -> Fix | None:
    """Return the fix that gives the field of an object that is similar to a missing one its name.

    >>> (misspelled_key(["apiVerson", "kind"], "apiVersion") or rename((), "", applicability="none")).title
    'did you mean apiVersion?'
    """
    near = [key for key in fields if isinstance(key, str) and is_certain(key, name, [name])]
    return rename((near[0],), name, applicability="safe") if len(near) == 1 else None


def replaced_name(path: Path, name: str, names: Iterable[str] | KnownNames, *, likeness: float = 0.6) -> Fix | None:
    """Return the fix that writes the one of `names` that a value is similar to, or None if it is similar to none.

    >>> (replaced_name(("op",), "ad", ["add", "copy"]) or rename((), "", applicability="none")).title
    'did you mean add?'
    """
    known = names if isinstance(names, KnownNames) else KnownNames(names)
    near = nearest_name(name, known, likeness=likeness)
    if near is None or near == name:
        return None
    certain = safe_if(is_certain(name, near, known))
    return Fix((Replacement(path, near),), "did you mean ", near, "name", "?", certain)


def renamed_key(path: Path, names: Iterable[str]) -> Fix | None:
    """Return the fix that gives a key the one of `names` that it is similar to, or None if it is similar to none."""
    known, name = list(names), str(path[-1])
    near = nearest_name(name, known)
    if near is None or near == name:
        return None
    return rename(path, near, applicability=safe_if(is_certain(name, near, known)))


def filled(value: Any, text: Callable[[Written], str | None]) -> Any:
    """Return a value with its `Written` texts; raise LookupError if one of them is not known."""
    if isinstance(value, Written):
        found = text(value)
        if found is None:
            raise LookupError
        return found
    if isinstance(value, dict):
        return {key: filled(each, text) for key, each in value.items()}
    return [filled(each, text) for each in value] if isinstance(value, list) else value


def as_parsed(value: Any) -> Any:
    """Return a value with its `Written` texts as they were parsed."""
    return filled(value, lambda written: str(written.parsed))


def flow(value: Any) -> str:
    """Return a value on one line, as YAML and almost as JSON.

    In a list, either all strings have quotes or none.

    >>> flow({"name": "LR", "value": "0.1"}), flow(["--lr", "x"]), flow(["jobs", "platform"])
    ('{name: LR, value: "0.1"}', '["--lr", "x"]', '[jobs, platform]')
    """
    if isinstance(value, Written):
        return flow(_number(value.parsed))
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)}: {flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        plain = all(_is_plain(each) for each in value if isinstance(each, str))
        return f"[{', '.join(flow(each) if plain or not isinstance(each, str) else _quoted(each) for each in value)}]"
    if isinstance(value, str) and _is_plain(value):
        return value
    return _quoted(value) if isinstance(value, str) else json.dumps(value, default=str)


def _is_plain(text: str) -> bool:
    """Return whether a string needs no quotes."""
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _WORDS


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _key(key: Any) -> str:
    return key if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS else json.dumps(key)


def _number(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
