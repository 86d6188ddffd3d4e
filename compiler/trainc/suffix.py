"""The suffix of names that say what cannot change in place: another content is another JobSet.

Reads    a plan before its first stage.
Returns  it after the last one, with the suffix in every name. The stages run twice: what they make under the TrainJob's
         own name is hashed, and with the suffix they make it again, so that whatever refers to a name has the new one
         without a search for the old one in texts.

What is hashed is what would be refused in a changed JobSet (`checks.jobset.update`), and the data of ConfigMaps, which
pods read when they start. What may change in place is not: labels and annotations of the objects, spec.suspend,
ttlSecondsAfterFinished, the coordinator. Neither are PodGroups, which no pod reads and whose scheduler takes changes;
how many pods they wait for follows from the JobSet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc import pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan

LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Those of Kubernetes' own random names: no vowels, which make words, and no digits that look like letters."""
LENGTH: Final = 8
"""How many of them tell the contents of one name apart: some 38 bits."""


def run(plan: Plan) -> Plan:
    """Take a plan through all stages, and again under the name that its content asks for."""
    neutral = pipeline.run(plan)
    if neutral.failed or not neutral.objects:
        return neutral
    return pipeline.run(plan._replace(suffix=f"-{digest(neutral.objects)}"))


def digest(objects: Iterable[Tree]) -> str:
    """The hash of what cannot change in place."""
    import hashlib
    import json

    from trainc.checks.jobset import update

    content = [update.fixed(tree) if tree["kind"] == "JobSet" else data(tree) for tree in objects]
    text = json.dumps([part for part in content if part], sort_keys=True, separators=(",", ":"))
    number = int.from_bytes(hashlib.sha256(text.encode()).digest())
    letters = ""
    for _ in range(LENGTH):
        number, letter = divmod(number, len(LETTERS))
        letters += LETTERS[letter]
    return letters


def data(tree: Tree) -> Tree:
    """What pods read of an object."""
    return {key: tree[key] for key in ("data", "binaryData") if key in tree}
