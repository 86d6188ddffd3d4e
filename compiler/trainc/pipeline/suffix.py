"""The name suffix: a hash of the immutable fields, so that a change of them creates a new JobSet.

Reads    a plan before its first stage.
Returns  the plan after the last stage, with the suffix in every name. The stages run twice: the first run uses the
         TrainJob's own name, and its output is hashed. The second run uses the name with the suffix, so that every
         reference has the new name without a text search for the old one.

The hash covers the immutable fields of the JobSet (`checks.jobset.update`), and the data of ConfigMaps, which pods read
when they start. It does not cover mutable fields: labels and annotations of the objects, spec.suspend,
ttlSecondsAfterFinished, the coordinator. Nor does it cover PodGroups: no pod reads them, their scheduler accepts
changes, and their pod count follows from the JobSet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBSET
from trainc.pipeline import stages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""The characters of Kubernetes' own random names: no vowels, which form words, and no digits that look like letters."""
LENGTH: Final = 8
"""The number of characters in the suffix: about 38 bits."""


def run(plan: Plan) -> Plan:
    """Run all stages on a plan, and again with the suffix for the output of the first run."""
    neutral = stages.run(plan)
    if neutral.failed or not neutral.objects or not plan.delivery.name_suffix_hash:
        return neutral
    return stages.run(plan._replace(suffix=f"-{digest(neutral.objects)}"))


def digest(objects: Iterable[Tree]) -> str:
    """Return the hash of the immutable content."""
    import hashlib
    import json

    from trainc.pipeline.checks.jobset import update

    content = [update.immutable_fields(tree) if tree["kind"] == JOBSET.kind else data(tree) for tree in objects]
    text = json.dumps([part for part in content if part], sort_keys=True, separators=(",", ":"))
    number = int.from_bytes(hashlib.sha256(text.encode()).digest())
    letters = ""
    for _ in range(LENGTH):
        number, letter = divmod(number, len(LETTERS))
        letters += LETTERS[letter]
    return letters


def data(tree: Tree) -> Tree:
    """Return the parts of an object that pods read."""
    return {key: tree[key] for key in ("data", "binaryData") if key in tree}
