"""Manifests as one JSON list, its fields in the order of the YAML; for programs, and for `kubectl` after a `jq '.[]'`.

Reads JSON trees, returns text in which every non-ASCII character stands as it is, save those that YAML escapes too:
some programs (kubectl, for a list) read JSON as YAML, and lone surrogates have no bytes. Beyond U+FFFF nothing is
escaped: it would take two surrogates, which YAML readers refuse.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from trainc.emit import order
from trainc.emit.yaml import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.kubernetes.trees import Tree

_HIDDEN: Final = re.compile(f"[{HIDDEN}]")


def render(objects: Sequence[Tree]) -> str:
    """The objects as a JSON list, in the given order, indented by 2.

    Raises TypeError or ValueError for what JSON cannot hold: NaN, infinities, other types.
    """
    text = json.dumps([order.in_order(tree) for tree in objects], ensure_ascii=False, indent=2, allow_nan=False)
    return _HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text) + "\n"
