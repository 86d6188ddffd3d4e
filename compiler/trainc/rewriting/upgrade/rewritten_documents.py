"""The new texts of documents: each is rewritten, parsed, and compared with its expected value.

Reads    the documents to upgrade, with their moves and expected values.
Returns  the new texts, and the reason for each document that cannot be rewritten. The items of a List are rewritten one
         by one as separate texts, so that the time is proportional to the length of the List; items that share anchors
         are rewritten in the text of the List.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trainc.kubernetes.documents import YamlError, parse
from trainc.kubernetes.documents.events import YAMLError
from trainc.kubernetes.trees import get
from trainc.rewriting.upgrade.jobs import NewText, Texts, text_place
from trainc.rewriting.upgrade.list_items import ListItem, cut, pasted
from trainc.rewriting.upgrade.rewrite import rewrite, rewrite_json
from trainc.rewriting.upgrade.text_edits import NotRewritableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.diagnostics import Document
    from trainc.rewriting.upgrade.jobs import UpgradedJob

Refused = list[tuple["Document", str]]
"""Documents that cannot be rewritten, with the reasons."""
Result = tuple[NewText | None, Refused]
"""The new text of a document, if one of its items can be upgraded, and the items that cannot."""


def rewritten(todo: Iterable[UpgradedJob]) -> tuple[Texts, Refused]:
    """Return the new texts."""
    by_text: dict[tuple[str, int, int], list[UpgradedJob]] = {}
    for job in todo:
        by_text.setdefault(text_place(job.document), []).append(job)
    texts: Texts = {}
    refused: Refused = []
    for place, jobs in by_text.items():
        text = jobs[0].document.text
        if text.lstrip().startswith("{") and _is_json(text):
            new, failed = _json(text, jobs)
        else:
            new, failed = _items(text, jobs) or _one_by_one(text, jobs)
        refused += failed
        if new is not None:
            texts[place] = new
    return texts, refused


def _json(text: str, jobs: Sequence[UpgradedJob]) -> Result:
    new = rewrite_json(text, {job.document.within: job.value for job in jobs})
    tree = parse(new)
    assert all(get(tree, job.document.within) == job.value for job in jobs), "JSON keeps values"
    return NewText(new, tree), []


def _items(text: str, jobs: Sequence[UpgradedJob]) -> Result | None:
    """Return the text of a List whose items have texts of their own; None if they do not."""
    if len(jobs) == 1:
        return None
    plain = text.replace("\r\n", "\n")
    items: list[tuple[UpgradedJob, ListItem, str]] = []
    refused: Refused = []
    for job in sorted(jobs, key=lambda job: job.document.within):
        document = job.document
        try:
            item = cut(plain, document.within)
            if item is None:
                return None
            new = rewrite(item.text, (), document.value, job.moves, job.gone, job.renames)
            if parse(new) != job.value:
                return None
        except (NotRewritableError, YAMLError, YamlError) as error:
            refused.append((document, str(error)))
        else:
            items.append((job, item, new))
    if not items:
        return None, refused
    whole = pasted(plain, ((item, new) for _, item, new in items))
    tree = parse(whole)
    if any(get(tree, job.document.within) != job.value for job, _, _ in items):
        return None
    return NewText(whole.replace("\n", "\r\n") if plain != text else whole, tree), refused


def _one_by_one(text: str, jobs: Sequence[UpgradedJob]) -> Result:
    new: NewText | None = None
    refused: Refused = []
    for job in jobs:
        document = job.document
        try:
            changed = rewrite(text, document.within, document.value, job.moves, job.gone, job.renames)
            tree = parse(changed)
            if get(tree, document.within) != job.value:
                raise NotRewritableError("its YAML style cannot be preserved")
        except (NotRewritableError, YamlError) as error:
            refused.append((document, str(error)))
        else:
            text, new = changed, NewText(changed, tree)
    return new, refused


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
