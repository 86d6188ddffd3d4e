"""Targets: the objects that a patch changes.

Reads    `target` of a patch: group, version and kind exactly; name and namespace as globs; labelSelector and
         annotationSelector as in kubectl. Without a target, the patch is for all TrainJobs.
Returns  whether a document matches. Names, labels and annotations are those of the source file: for a JobSet, those of
         the TrainJob that it is compiled from. Raises SelectorError with the characters of a selector at fault.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBSET, TRAINJOB, role_of
from trainc.base.records import NamedTuple
from trainc.diagnostics import ObjectId
from trainc.files.globs import matches
from trainc.kubernetes.names import label_value_errors, qualified_name_errors
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from trainc.kubernetes.trees import Tree

SELECTORS: Final = {"labelSelector": "labels", "annotationSelector": "annotations"}
_OF_GLOB: Final = 20
"""The number of terms that take the time of a glob."""
_SPECIAL: Final = frozenset("*?[\\")
_TOKEN: Final = re.compile(r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_OPERATOR_CHARACTERS: Final = frozenset("=!(),<>") | {"==", "!="}
_SETS: Final = ("in", "notin")
_EQUAL: Final = ("=", "==", "!=")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_MOST_DIGITS: Final = 19
"""Of an integer of 64 bits."""
_SHOWN: Final = 40


class Target(NamedTuple):
    """A parsed target; an empty part matches everything."""

    kind: str = TRAINJOB.kind
    group: str = ""
    version: str = ""
    name: str = ""
    namespace: str = ""
    labels: tuple[Requirement, ...] = ()
    annotations: tuple[Requirement, ...] = ()

    @property
    def terms(self) -> int:
        """The number of comparisons with an object, in units of one term of a selector."""
        globs = sum(not _SPECIAL.isdisjoint(glob) for glob in (self.name, self.namespace))
        return 1 + globs * _OF_GLOB + len(self.labels) + len(self.annotations)

    def matches(self, source: Tree) -> bool:
        """Return whether the target matches an object: for a JobSet, the TrainJob that it is compiled from."""
        id = ObjectId.from_source(source)
        version = id.apiVersion
        if self.kind == JOBSET.kind and role_of(version, id.kind) == "job":
            version = JOBSET.versions[0]
        elif self.kind not in ("", id.kind):
            return False
        if (self.group or self.version) and not self._is_version(version):
            return False
        if not (is_match(self.name, id.name) and is_match(self.namespace, id.namespace)):
            return False
        return not (self.labels or self.annotations) or self._is_selected(source)

    def is_namespace(self, namespace: str) -> bool:
        """Return whether the target selects a namespace as a whole: it has no other selector."""
        return not (self.kind or self.group or self.name) and is_match(self.namespace, namespace)

    def _is_version(self, version: str) -> bool:
        group, slash, name = version.rpartition("/")
        return self.group in ("", group) and self.version in ("", name if slash else version)

    def _is_selected(self, source: Tree) -> bool:
        pairs = ((self.labels, "labels"), (self.annotations, "annotations"))
        for requirements, key in pairs:
            found = get(source, ("metadata", key), {})
            found = found if isinstance(found, dict) else {}
            if not all(requirement.matches(found) for requirement in requirements):
                return False
        return True


def is_match(glob: str, text: str) -> bool:
    """Return whether a glob matches a whole text; an empty glob matches every text.

    >>> [is_match("llama-*", text) for text in ("llama-7b", "llama", "my-llama-7b")]
    [True, False, False]
    """
    if glob in ("", "*", text):
        return True
    return not _SPECIAL.isdisjoint(glob) and matches(glob, text)


def read(given: dict[str, Any]) -> Target:
    """Return the target of a patch. Raises SelectorError with the field that has the selector."""
    parts: dict[str, Any] = {key: value for key, value in given.items() if key not in SELECTORS and value}
    for key, field in SELECTORS.items():
        try:
            parts[field] = parse(given.get(key) or "")
        except SelectorError as error:
            error.key = key
            raise
    return Target(**parts)


class SelectorError(ValueError):
    """An invalid selector. `part` is the range of the characters at fault."""

    def __init__(self, message: str, help: str, part: tuple[int, int]) -> None:
        super().__init__(message)
        self.help = help
        self.part = part
        self.key = ""
        """The field that has the selector."""


class Requirement(NamedTuple):
    """One term of a selector: `team in (a,b)`."""

    key: str
    operator: str
    """`exists`, `!`, `in`, `notin`, `<` or `>`. `=` is `in` with one value, and `!=` is `notin`."""
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, object]) -> bool:
        """Return whether labels match. As in Kubernetes, `notin` also matches labels without the key."""
        value = labels.get(self.key)
        if self.operator in ("!", "exists"):
            return (self.key in labels) == (self.operator == "exists")
        if not isinstance(value, str):
            return self.operator == "notin" and self.key not in labels
        if self.operator in _SETS:
            return (value in self.values) == (self.operator == "in")
        (limit,) = self.values
        number, bound = _integer(value), _integer(limit)
        if number is None or bound is None:
            return False
        return number > bound if self.operator == ">" else number < bound


class _Token(NamedTuple):
    text: str
    part: tuple[int, int]


@lru_cache(maxsize=1024)
def parse(text: str) -> tuple[Requirement, ...]:
    """Return the requirements of a selector, all of which an object must match. Raises SelectorError.

    >>> parse("team=nlp,!legacy")[1]
    Requirement(key='legacy', operator='!', values=frozenset())
    """
    return tuple(_Parser(text).requirements())


class _Parser:
    """A parser for one selector; the tokens are those of Kubernetes' lexer."""

    def __init__(self, text: str) -> None:
        self.tokens = [_Token(found[0], found.span()) for found in _TOKEN.finditer(text)]
        self.at = 0
        self.end = _Token("", (len(text), len(text)))

    @property
    def token(self) -> _Token:
        """The next token; an empty one at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else self.end

    def take(self) -> _Token:
        """Return the next token and pass it."""
        token = self.token
        self.at += 1
        return token

    def requirements(self) -> Iterator[Requirement]:
        """Yield the requirements of the whole text."""
        while self.token.text:
            yield self.requirement()
            separator = self.take()
            if not separator.text:
                return
            if separator.text != ",":
                raise _unexpected_token(separator, "a comma or the end", "separate the terms by commas")
            if not self.token.text:
                raise _unexpected_token(self.token, "a key", "remove the comma at the end")

    def requirement(self) -> Requirement:
        """Return the next requirement."""
        absent = self.token.text == "!"
        if absent:
            self.take()
        key = self.word("a key", qualified_name_errors)
        if absent or self.token.text in ("", ","):
            return Requirement(key, "!" if absent else "exists")
        operator = self.take()
        if operator.text in _SETS:
            return Requirement(key, operator.text, frozenset(self.values()))
        if operator.text in _EQUAL:
            return Requirement(key, "notin" if operator.text == "!=" else "in", frozenset({self.value()}))
        if operator.text in ("<", ">"):
            limit = self.token
            if _integer(limit.text) is None:
                raise _unexpected_token(
                    limit, f"an integer after {operator.text}", "use a number of 64 bits, such as 3"
                )
            return Requirement(key, operator.text, frozenset({self.take().text}))
        raise _unexpected_token(operator, "an operator", "use one of =, ==, !=, in, notin, <, >")

    def values(self) -> Iterator[str]:
        """Yield the values in parentheses."""
        opening = self.take()
        if opening.text != "(":
            raise _unexpected_token(opening, "an opening parenthesis", "put the values in parentheses: in (a,b)")
        if self.token.text == ")":
            raise SelectorError("the list of values is empty", "add a value", self.token.part)
        while True:
            yield self.value()
            separator = self.take()
            if separator.text == ")":
                return
            if separator.text != ",":
                raise _unexpected_token(separator, "a comma or a closing parenthesis", "close the list: in (a,b)")

    def value(self) -> str:
        """Return a value, which may be empty."""
        if self.token.text in ("", ",", ")"):
            return ""
        return self.word("a value", label_value_errors)

    def word(self, expected: str, faults: Callable[[str], list[str]]) -> str:
        """Return the next token, which must be a valid key or value."""
        token = self.take()
        if not token.text or token.text in _OPERATOR_CHARACTERS:
            raise _unexpected_token(token, expected, f"add {expected}")
        for reason in faults(token.text):
            what = expected.removeprefix("a ")
            raise SelectorError(
                f'the {what} "{_shown(token.text)}" is not valid: {reason}', f"fix the {what}", token.part
            )
        return token.text


def _integer(text: str) -> int | None:
    """Return an integer of 64 bits; None for any other text."""
    digits = text.lstrip("+-").lstrip("0")
    if not _INTEGER.fullmatch(text) or len(digits) > _MOST_DIGITS:
        return None
    number = int(f"{'-' * text.startswith('-')}{digits or 0}")
    return number if -(2**63) <= number < 2**63 else None


def _unexpected_token(token: _Token, expected: str, help: str) -> SelectorError:
    found = f'"{_shown(token.text)}"' if token.text else "the end"
    return SelectorError(f"the selector must have {expected}, not {found}", help, token.part)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
