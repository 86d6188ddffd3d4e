"""The comments of new documents: those of the legacy job, and those at values whose reason a reader does not see.

Reads    the comments, the new documents with the sources of their fields, and the variables that hold counts.
Writes   the comments of the fields of these documents.

A comment goes where its field goes, if that has the same value there; a block may have another one. One at the end of
a block goes to the end of the block. A commented-out field or item goes beside its neighbours in the same block: first
to the field of its name. All other comments, such as those of fields that are gone, are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.base.kinds import JOBS_OF_RUNTIME, POD
from trainc.base.trainjob_dialects import PROCESSES_FIELD
from trainc.kubernetes.trees import get
from trainc.legacy.mpijob import KEYS, ROOT_KEYS
from trainc.legacy.own_runtime import NO_LIMIT
from trainc.pipeline.plan import JOBSET_NAME
from trainc.rewriting.migration.accepted_differences import UNUSED_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trainc.kubernetes.trees import Path, Tree
    from trainc.rewriting.migration.new_documents import NewField, NewValue
    from trainc.rewriting.migration.source_comments import SourceComment, SourceComments, SourceField, Spot

    Note = tuple[Path, str]


def place_comments(
    source: SourceComments,
    documents: Iterable[NewValue],
    homes: Mapping[Spot, NewValue],
) -> Iterator[SourceComment]:
    """Add comments to documents, and yield those that are dropped.

    homes   the new blocks of fields that are in another block than their neighbours
    """
    places = _Places(source.fields, documents, homes)
    for comment in source.comments:
        if not places.add(comment):
            places.keep_blank_lines(comment)
            if comment.texts:
                yield comment


class _Places:
    """The fields and the blocks of the new documents, by those of the source."""

    def __init__(
        self, fields: Iterable[SourceField], documents: Iterable[NewValue], homes: Mapping[Spot, NewValue]
    ) -> None:
        self.lines: dict[Spot, int] = {}
        self.last: dict[int, Spot] = {}
        """The last field of each block."""
        self.before: dict[Spot, Spot] = {}
        for field in fields:
            block = id(field.parent)
            self.lines[field.spot] = field.line
            if block in self.last:
                self.before[field.spot] = self.last[block]
            self.last[block] = field.spot
        self.homes = homes
        self.fields: dict[Spot, list[NewField]] = {}
        self.blocks: dict[int, list[NewValue]] = {}
        for document in documents:
            self._register(document)

    def _register(self, value: NewValue) -> None:
        for block in value.blocks if value.fields else ():
            self.blocks.setdefault(block, []).append(value)
        for field in value.fields:
            for source in field.sources:
                self.fields.setdefault(source.spot, []).append(field)
            self._register(field.value)

    def add(self, comment: SourceComment) -> bool:
        """Add a comment to its place, and return whether there is one."""
        spot = None if comment.field is None else comment.field.spot
        if not comment.texts:
            return False
        if comment.place == "inside":
            return any(field.value.is_copied for field in self._new_fields(spot))
        if comment.place == "behind":
            return self._add_behind(comment, spot)
        if comment.commented_out:
            return self._add_commented_out(comment, spot)
        if comment.place == "last":
            return self._add_last(comment, self.blocks.get(id(comment.block), []))
        kept = next((field for field in self._new_fields(spot) if _has_value(field, spot)), None)
        return kept is not None and _add(kept.above, comment)

    def keep_blank_lines(self, comment: SourceComment) -> None:
        """Add the blank lines above a field without a comment, or with one that is dropped."""
        spot = None if comment.field is None else comment.field.spot
        field = next(iter(self._new_fields(spot)), None)
        if field is not None and field.sources[0].spot == spot and field.above[-1:] != [""]:
            field.above += [""] * comment.blanks

    def _new_fields(self, spot: Spot | None) -> list[NewField]:
        return [] if spot is None else self.fields.get(spot, [])

    def _add_last(self, comment: SourceComment, blocks: Sequence[NewValue]) -> bool:
        """Add a comment at the end of a block: below the last field that it has in the source, if that is kept."""
        last = self._in(blocks, self.last.get(id(comment.block)))
        return bool(blocks) and _add(blocks[0].last if last is None else last.below, comment)

    def _add_behind(self, comment: SourceComment, spot: Spot | None) -> bool:
        for field in self._new_fields(spot):
            is_block = bool(field.value.fields)
            if _has_value(field, spot, is_whole=not is_block) and field.behind in ("", *comment.texts):
                field.behind = comment.texts[0]
                return True
        return False

    def _add_commented_out(self, comment: SourceComment, spot: Spot | None) -> bool:
        block, name = comment.block, comment.commented_out
        own = (id(block), name)
        if own in self.lines:
            same = next((field for field in self._new_fields(own) if _has_value(field, own)), None)
            return same is not None and _add(same.above if comment.line < self.lines[own] else same.below, comment)
        if own in self.homes:
            blocks = [self.homes[own]]
        else:
            blocks = [each for each in self.blocks.get(id(block), ()) if name == "-" or each.is_of_pod]
        spots = (spot, None if spot is None else self.before.get(spot)) if comment.place == "above" else (None, None)
        after, before = (self._in(blocks, each) for each in spots)
        if after is not None:
            return _add(after.above, comment)
        return _add(before.below, comment) if before is not None else self._add_last(comment, blocks)

    def _in(self, blocks: Sequence[NewValue], spot: Spot | None) -> NewField | None:
        """Return the new field of an old one in some blocks."""
        return next((field for field in self._new_fields(spot) if any(field.parent is block for block in blocks)), None)


def _has_value(field: NewField, spot: Spot | None, *, is_whole: bool = False) -> bool:
    """Return whether a field has the value of its source, or more fields; without `is_whole`, a block may differ."""
    source = next(each for each in field.sources if each.spot == spot)
    value = field.value.value
    if isinstance(value, dict | list) and not is_whole:
        return isinstance(source.value, type(value))
    return _has_all(value, source.value)


def _has_all(value: Any, old: Any) -> bool:
    if isinstance(value, dict) and isinstance(old, dict):
        return all(key in value and _has_all(value[key], old[key]) for key in old)
    return type(value) is type(old) and bool(value == old)


def _add(lines: list[str], comment: SourceComment) -> bool:
    """Add the lines of a comment that are not there from an equal source."""
    if not set(comment.texts) <= set(lines):
        lines += comment.lines
    return True


def job_notes(job: Tree, counts: frozenset[str]) -> Iterator[Note]:
    """Yield the comments of a TrainJob."""
    trainer: Tree = get(job, ("spec", "trainer"), {})
    nodes, processes = trainer.get("numNodes"), trainer.get(PROCESSES_FIELD, 1)
    meanings = {str(nodes): "repeats numNodes"}
    if isinstance(nodes, int) and isinstance(processes, int) and processes > 1:
        meanings[str(nodes * processes)] = f"numNodes times {PROCESSES_FIELD}"
    for index, variable in enumerate(trainer.get("env") or ()):
        if variable["name"] in counts and (meaning := meanings.get(str(variable.get("value")))):
            yield ("spec", "trainer", "env", index, "value"), meaning


def runtime_notes(runtime: Tree) -> Iterator[Note]:
    """Yield the comments of a runtime."""
    keys: Path = ("spec", "mlPolicy", "mpi", "sshAuthMountPath")
    if get(runtime, keys) == UNUSED_KEYS:
        yield keys, f"unused: the pods have their keys in {ROOT_KEYS}"
    for number, job in enumerate(get(runtime, JOBS_OF_RUNTIME, [])):
        at: Path = (*JOBS_OF_RUNTIME, number)
        if get(job, ("template", "spec", "backoffLimit")) == NO_LIMIT:
            yield (*at, "template", "spec", "backoffLimit"), "no limit, as before"
        for index, volume in enumerate(get(job, (*POD, "volumes"), [])):
            if volume["name"] == KEYS and get(runtime, keys) == UNUSED_KEYS:
                secret: Path = (*at, *POD, "volumes", index, "secret")
                yield (*secret, "secretName"), "the Secret of the TrainJob"
                yield (*secret, "defaultMode"), "0600, which ssh of root needs"
        for index, container in enumerate(get(job, (*POD, "containers"), [])):
            for place, variable in enumerate(container.get("env") or ()):
                if get(variable, ("valueFrom", "fieldRef", "fieldPath")) == JOBSET_NAME:
                    path: Path = (*at, *POD, "containers", index, "env", place, "name")
                    yield path, "begins the host names of the pods"


def annotate(document: NewValue, notes: Iterable[Note]) -> None:
    """Write comments behind the fields of a new document that have none."""
    for path, text in notes:
        field, value = None, document
        for step in path:
            field = next((each for each in value.fields if each.key == step), None)
            if field is None:
                break
            value = field.value
        if field is not None and not field.behind:
            field.behind = f"  # {text}"
