"""Manifests as one JSON list, with fields in the order of the YAML; for programs, and for `kubectl` after `jq '.[]'`.

Reads    JSON trees.
Returns  text in which non-ASCII characters are literal, except those that the YAML writer escapes too: some programs
         (such as kubectl, for a list) read JSON as YAML, and lone surrogates have no bytes. Characters beyond U+FFFF
         are never escaped: an escape takes two surrogates, which YAML parsers reject.
"""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Final

from trainc.emit import in_order
from trainc.emit.yaml import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.emit import Copy
    from trainc.kubernetes.trees import Tree

_HIDDEN: Final = re.compile(rf"[{HIDDEN}]|#(?=#\w{{0,32}}\[)")
"""Hidden characters, and the start of a workflow command such as `##[error]`, which a runner obeys in a log."""


def items(texts: Iterable[str]) -> Iterator[str]:
    """Yield the text of a JSON list, indented by 2, in parts; `texts` are its items."""
    before = "["
    for text in texts:
        yield f"{before}\n  " + text.replace("\n", "\n  ")
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def parts(objects: Iterable[Tree], copies: Iterable[Copy] = ()) -> Iterator[str]:
    """Yield the parts of a JSON list of the objects in the given order and the copies' values, indented by 2.

    Raise TypeError or ValueError for values that JSON cannot represent: NaN, infinities, other types.
    """
    return items(map(_object, chain(objects, (value for value, _ in copies))))


def _object(tree: Tree) -> str:
    text = json.dumps(in_order(tree), ensure_ascii=False, indent=2, allow_nan=False)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
