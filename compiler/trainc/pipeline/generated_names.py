"""Names with a hash: of a TrainJob with metadata.generateName and without metadata.name, and the name suffix.

Reads    a TrainJob's document, and the name prefix and suffix of an environment; a plan before its first stage.
Returns  the TrainJob with a name as long as the cluster's, and its plan. The stages run twice: first with a placeholder
         for the letters that the API server would choose, then with letters of the hash of that output. With a suffix,
         they first run with the TrainJob's own name. Every reference has the new name without a text search.
Source   Kubernetes 1.36, SimpleNameGenerator: the first 58 characters of the prefix and five random ones. The
         controller names a JobSet, its hosts and its PodGroup after the TrainJob, so trainc needs the whole name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBSET
from trainc.diagnostics import Edit
from trainc.kubernetes.objectmeta import LONGEST_PREFIX, PLACEHOLDER, is_invalid_prefix
from trainc.kubernetes.trees import get, put
from trainc.pipeline import stages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.diagnostics import Path
    from trainc.edits.environment import Environment, Setting
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.objects import TrainJob
    from trainc.pipeline.plan import Plan


NAME: Path = ("metadata", "name")
PREFIX: Path = ("metadata", "generateName")


def with_generated_name(job: TrainJob, environment: Environment | None) -> TrainJob:
    """Return a TrainJob without a name with a generated one; unchanged without a valid metadata.generateName."""
    prefix = get(job.value, PREFIX)
    if not (isinstance(prefix, str) and prefix) or is_invalid_prefix(prefix, unnamed=True):
        return job
    before, after = ("", "") if environment is None else map(_text, (environment.name_prefix, environment.name_suffix))
    before += prefix[:LONGEST_PREFIX]
    return with_name(job._replace(letters_at=len(before)), f"{before}{PLACEHOLDER}{after}")


def run_with_generated_name(plan: Plan) -> Plan:
    """Run all stages on a plan, and again with the final name."""
    neutral = run_with_letters(plan, PLACEHOLDER)
    if neutral.failed or not neutral.objects:
        return neutral
    return run_with_letters(plan, digest(neutral.objects)[: len(PLACEHOLDER)])


def run_with_letters(plan: Plan, letters: str) -> Plan:
    """Run all stages on a plan whose TrainJob has a name with these letters."""
    before, after = plan.job.around_letters
    return stages.run(plan._replace(job=with_name(plan.job, f"{before}{letters}{after}")))


def with_name(job: TrainJob, name: str) -> TrainJob:
    """Return a TrainJob as it was written, with a name."""
    document = job.document
    value = put(document.value, NAME, name)
    form = document._replace(value=value, edits=(*document.edits, Edit(document.value, _source)))
    return job.as_written._replace(value=value, form=form, letters_at=job.letters_at)


def _source(path: Path) -> Path:
    """Return the path in the document of a field of the TrainJob with a name."""
    return PREFIX if path == NAME else path


def _text(setting: Setting | None) -> str:
    return "" if setting is None else str(setting.value or "")


LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""The characters of Kubernetes' own random names: no vowels, which form words, and no digits that look like letters."""
LENGTH: Final = 8
"""The number of characters in the suffix: about 38 bits."""


def run_with_suffix(plan: Plan) -> Plan:
    """Run all stages on a plan, and again with the suffix for the output of the first run."""
    neutral = stages.run(plan)
    if neutral.failed or not neutral.objects or not plan.delivery.name_suffix_hash:
        return neutral
    return stages.run(plan._replace(suffix=f"-{digest(neutral.objects)}"))


def digest(objects: Iterable[Tree]) -> str:
    """Return the hash of the immutable content, so that a change of it creates a new JobSet.

    It covers the immutable fields of the JobSet (`checks.jobset.update`), and the data of ConfigMaps, which pods read
    when they start. It does not cover PodGroups: no pod reads them, their scheduler accepts changes, and their pod
    count follows from the JobSet.
    """
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
