"""Unnamed secrets: values that an edit leaves without the name that made them secrets.

A patch can replace the option before an argument, remove the name of a variable, or copy a value to another field. The
value stays masked, in all objects that result from the document.

Reads    the values of a document before and after each edit; for a JSON patch, after each operation.
Returns  the texts of such values with their masked forms, and trees in which these texts are masked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import Memory, get
from trainc.source.command_lines import first_word
from trainc.source.masking import masked, masked_at, masked_item, masked_text
from trainc.source.secrecy import secrecy_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.diagnostics import Document, Edit, Path
    from trainc.source.secrecy import Secrecy

NOTHING: Final[Mapping[str, str]] = {}
_KNOWN: Final = Memory()
_REDACTED: Final = Memory()


def document_forms(document: Document) -> Mapping[str, str]:
    """Return the texts of the secrets to which the edits of a document leave no name, with their masked forms."""
    if not document.edits:
        return NOTHING
    known: tuple[Document, Mapping[str, str]] | None = _KNOWN.get(id(document.value))
    if known is None or known[0].edits != document.edits:
        values = [*(edit.before for edit in document.edits[1:]), document.value]
        found: dict[str, str] = {}
        for edit, after in zip(document.edits, values, strict=True):
            found |= edit_forms(edit, after)
        known = _KNOWN.keep(id(document.value), (document, found))
    return known[1]


def edit_forms(edit: Edit, after: Any) -> dict[str, str]:
    """Return the texts of the secrets to which an edit leaves no name, with their masked forms."""
    found: dict[str, str] = {}
    before = edit.before
    for value, copied in edit.steps() if edit.steps is not None else ():
        found |= _lost(before, value, copied)
        before = value
    return found | _lost(before, after)


def redacted(tree: Any, forms: Mapping[str, str]) -> Any:
    """Return a tree in which some texts have their masked forms.

    >>> redacted({"args": ["abc;evil"], "note": "abc;evil"}, {"abc;evil": "***"})
    {'args': ['***;evil'], 'note': '***'}
    """
    if not forms:
        return tree
    known: tuple[Any, Any, Any] | None = _REDACTED.get((id(tree), id(forms)))
    if known is None:
        known = _REDACTED.keep((id(tree), id(forms)), (tree, forms, _redacted(tree, forms)))
    return known[2]


def _redacted(tree: Any, forms: Mapping[str, str]) -> Any:
    if isinstance(tree, dict):
        return {key: _redacted(value, forms) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_redacted_item(item, forms) for item in tree]
    return forms.get(tree, tree) if isinstance(tree, str) else tree


def _redacted_item(item: Any, forms: Mapping[str, str]) -> Any:
    """Return an item of a list, which may be one of a command line."""
    if isinstance(item, str) and item in forms:
        return masked_text(item, first_word(item, 0, len(item)))
    return _redacted(item, forms)


class _Texts:
    """The texts of the parts of a value that an edit has changed."""

    def __init__(self) -> None:
        self.secret: dict[str, str] = {}
        """Those that are masked, with their masked forms."""
        self.plain: set[str] = set()

    def add(self, value: Any, shown: Any) -> None:
        """Add the texts of a value."""
        waiting = [(value, shown)]
        while waiting:
            value, shown = waiting.pop()
            if isinstance(value, str):
                if value == shown:
                    self.plain.add(value)
                else:
                    self.secret[value] = shown
            elif isinstance(value, dict):
                waiting += [(part, shown[key]) for key, part in value.items()]
            elif isinstance(value, list):
                waiting += zip(value, shown, strict=True)


def _lost(before: Any, after: Any, copied: Path | None = None) -> dict[str, str]:
    """Return the texts that are secrets before an edit, and are not after it, with their masked forms.

    copied   the path before the edit of a value that it copies
    """
    old, new = _Texts(), _Texts()
    if copied is not None:
        old.add(get(before, copied), masked_at(before, copied))
    _compare(before, after, ("", ""), (old, new))
    return {text: old.secret[text] for text in old.secret.keys() & new.plain - old.plain}


def _compare(before: Any, after: Any, secret: tuple[Secrecy, Secrecy], texts: tuple[_Texts, _Texts]) -> None:
    """Add the texts of the parts that differ; values share the parts that an edit has not changed."""
    sides = (before, after)
    if before is after and secret[0] == secret[1]:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() & after.keys():
            own = (secrecy_of(before, key, secret[0]), secrecy_of(after, key, secret[1]))
            _compare(before[key], after[key], own, texts)
        for side, other, each, context in zip(sides, (after, before), texts, secret, strict=True):
            for key in side.keys() - other.keys():
                each.add(side[key], masked(side[key], secret=secrecy_of(side, key, context)))
    elif isinstance(before, list) and isinstance(after, list):
        _compare_lists(before, after, secret, texts)
    else:
        for side, each, context in zip(sides, texts, secret, strict=True):
            each.add(side, masked(side, secret=context))


def _compare_lists(
    before: list[Any], after: list[Any], secret: tuple[Secrecy, Secrecy], texts: tuple[_Texts, _Texts]
) -> None:
    containers = all(isinstance(item, dict | list) for item in (*before, *after))
    if containers and len(before) == len(after):
        for index in range(len(before)):
            own = (secrecy_of(before, index, secret[0]), secrecy_of(after, index, secret[1]))
            _compare(before[index], after[index], own, texts)
        return
    for items, others, each, context in ((before, after, texts[0], secret[0]), (after, before, texts[1], secret[1])):
        shared = {id(item) for item in others} if containers and secret[0] == secret[1] else set()
        for index, item in enumerate(items):
            if id(item) not in shared:
                each.add(item, masked_item(items, index, context))
