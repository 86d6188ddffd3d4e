"""Explanations as JSON, for programs.

Reads    accounts.
Returns  a list with an entry for each field: `{"job": {"apiVersion", "kind", "namespace", "name"}, "object":
         {"apiVersion", "kind", "namespace", "name"}, "field", "pointer", "value", "stage", "by", "file", "line",
         "column", "endLine", "endColumn", "before"}`. `pointer` is the field's RFC 6901 JSON Pointer in the object;
         `before` lists the earlier writings, latest first, each with the fields from `value` to `endColumn`. Secrets
         are masked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trainc.diagnostics import ObjectId
from trainc.emit.json import items
from trainc.kubernetes.violations import field_of
from trainc.provenance.tracing.correspondence import pointer
from trainc.reports.json import position
from trainc.source.printable import escape_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.explain import Account, Writing
    from trainc.kubernetes.trees import Tree


def render(accounts: Iterable[Account]) -> Iterator[str]:
    """Yield the fields as a list, in parts."""
    entries = (entry for account in accounts for entry in _entries(account))
    return items(escape_json(json.dumps(entry, indent=2, ensure_ascii=False)) for entry in entries)


def _entries(account: Account) -> Iterator[Tree]:
    for path, (last, *earlier), release in account.fields:
        yield {
            "job": account.job.id._asdict(),
            "object": ObjectId.from_manifest(account.tree)._asdict(),
            "field": field_of(path),
            "pointer": pointer(path),
            **_writing(last),
            **({"release": release} if release else {}),
            "before": [_writing(writing) for writing in earlier],
        }


def _writing(writing: Writing) -> Tree:
    return {"value": writing.value, "stage": writing.stage, "by": writing.by, **position(writing.at)}
