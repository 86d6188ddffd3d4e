"""The texts of TrainJobs and runtimes: each field keeps the comments, the quotes and the style of its source.

Reads    the text of a legacy job, and the values of the TrainJob and the runtime that replace it.
Returns  their texts, and the comments that neither has. A text that does not have its value is written again, without
         comments.
"""

from __future__ import annotations

import re
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.base.kinds import JOBS_OF_RUNTIME, POD, POD_TEMPLATE
from trainc.emit.yaml import Writer
from trainc.kubernetes.documents import YamlError, parse
from trainc.kubernetes.documents.events import YAMLError
from trainc.kubernetes.trees import get
from trainc.pipeline.frameworks import main_container
from trainc.rewriting.migration.migrated import DroppedComment
from trainc.rewriting.migration.new_comments import annotate, job_notes, place_comments, runtime_notes
from trainc.rewriting.migration.new_documents import (
    LONG,
    Indentation,
    NewField,
    NewValue,
    Source,
    copied,
    in_brackets,
    is_in_brackets,
    lines,
    scalar,
)
from trainc.rewriting.migration.source_comments import SourceComments, source_comments
from trainc.source.source_text import MappingNode, SequenceNode, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Path, Tree
    from trainc.rewriting.migration.migrated import Migrated
    from trainc.rewriting.migration.source_comments import Spot
    from trainc.source.source_text import Text, TextNode

    Paths = Callable[[Path], list[Path] | None]
    """Returns the paths in the legacy job of a field of a new document; None for the same field of its parent's."""

_ENTRY: Final = ("image", "command", "args", "env")
_SAME: Final = ("apiVersion", "kind", "metadata", "spec")
_TRAINER: Final = ("spec", "trainer")
_HEAD: Final = re.compile(r"(?:(?:[ \t]*(?:#.*)?|---(?:[ \t].*)?)\n)*")
_COMMENT: Final = re.compile(r"(?m)(?:^|(?<=[ \t]))#.*")


class NewTexts(NamedTuple):
    """The texts of the documents that replace a legacy job."""

    head: str
    """The lines above the legacy job: comments, blank lines, and the start of the document."""
    job: str
    runtime: str
    dropped: tuple[DroppedComment, ...]
    """The comments that no text has; an equal one may be of an equal role."""


def new_texts(migrated: Migrated, *, with_runtime: bool) -> NewTexts:
    """Return the texts of a job and its runtime; without a runtime, the comments that it would have are dropped."""
    source, candidate = SourceText(migrated.document), migrated.candidate
    paths = _Paths(migrated)
    job = _Builder(source, paths.job_sources).build(candidate.job, source.at(()), ())
    runtime = _Builder(source, paths.runtime_sources).build(candidate.runtime, [], ())
    documents = [job, runtime] if with_runtime else [job]
    homes = dict(_homes(source, paths, job))
    dropped = [*place_comments(source.known, documents, homes)]
    annotate(job, job_notes(candidate.job, candidate.counts))
    annotate(runtime, runtime_notes(candidate.runtime))
    of_job, of_runtime = ("\n".join(lines(each, source.layout)) + "\n" for each in (job, runtime))
    if is_in_brackets(source.root):
        of_job = in_brackets(job) + "\n"
    for text, value in ((of_job, candidate.job), (of_runtime, candidate.runtime)):
        if not _has_value(text, value):
            of_job, of_runtime = map(Writer(as_given=True).document, (candidate.job, candidate.runtime))
            dropped = [*source.known.comments]
    without = {id(each) for each in dropped}
    kept = {text.strip() for each in source.known.comments if id(each) not in without for text in each.texts}
    gone = [*source.unread, *((each.line + at, text) for each in dropped for at, text in enumerate(each.texts))]
    lost = (source.dropped(line, text.strip()) for line, text in sorted(gone))
    return NewTexts(source.head, of_job, of_runtime, tuple(each for each in lost if each.text not in kept))


def _homes(source: SourceText, paths: _Paths, job: NewValue) -> Iterator[tuple[Spot, NewValue]]:
    """Yield the fields of the container that spec.trainer has, with spec.trainer."""
    for spec in job.fields:
        for trainer in spec.value.fields if spec.key == "spec" else ():
            for container in source.at(*paths.containers()) if trainer.key == "trainer" else ():
                yield from (((id(container.node), key), trainer.value) for key in (*_ENTRY, "resources"))


def _has_value(text: str, value: Tree) -> bool:
    try:
        return bool(parse(text) == value)
    except YamlError:
        return False


def plain_text(text: str) -> str:
    r"""Return a text whose lines end with `\n`, if all of them end with `\r\n`."""
    return text.replace("\r\n", "\n") if text.count("\r\n") == text.count("\n") else text


class SourceText:
    """A legacy job in its text."""

    def __init__(self, document: Document) -> None:
        self.document, self.within, self.value = document, document.within, document.unedited
        whole = plain_text(document.text)
        text = whole.removeprefix("\ufeff")  # libyaml does not count it
        self.read: Text | None = None
        self.root: TextNode | None = None
        self.known = SourceComments((), ())
        self.unread: list[tuple[int, str]] = []
        """The comments of a text that libyaml rejects, such as one with the escape `\\'`; each with its line."""
        try:
            self.read = parsed(text)
            self.known = source_comments(text)
        except YAMLError:
            found = _COMMENT.finditer(text, len(self._head(text)))
            self.unread = [(text.count("\n", 0, each.start()), each[0]) for each in found]
        field = None if self.read is None else self.read.field(self.within)
        self.root = None if field is None else field.value
        self.head = self._head(text)
        self.known = SourceComments((), ()) if self.root is None else self.known.part(self.root)
        self.columns = {field.spot: field.column for field in self.known.fields}

    def _head(self, text: str) -> str:
        """Return the lines above the job; for an item of a List, the comments of the item."""
        if not self.within:
            found = _HEAD.match(text)
            return found[0] if found else ""
        own = (each for each in self.known.comments if each.field is not None and each.field.value is self.root)
        return "".join(f"{line.lstrip()}\n" for each in own if each.place != "last" for line in each.texts)

    def dropped(self, line: int, text: str) -> DroppedComment:
        """Return a comment with its position in the file."""
        written = self.document.text.split("\n")[line].rstrip()
        text = text if written.endswith(text) else written.lstrip()
        return DroppedComment(self.document.line + line, len(written) - len(text) + 1, text)

    @property
    def layout(self) -> Indentation:
        """The columns by which the text indents its fields: those of its first mapping and of its first list."""
        column = {id(field.parent): field.column for field in reversed(self.known.fields)}
        steps = {
            kind: column[id(field.value)] - field.column
            for field in reversed(self.known.fields)
            for kind in (MappingNode, SequenceNode)
            if isinstance(field.key, str) and isinstance(field.value, kind) and id(field.value) in column
        }
        step, offset = steps.get(MappingNode, Indentation().step), steps.get(SequenceNode, Indentation().offset)
        return Indentation(step if step > 0 else Indentation().step, max(offset, 0))

    def at(self, *paths: Path) -> list[Source]:
        """Return the sources at some paths that the job has."""
        return [found for path in paths if (found := self._at(path)) is not None]

    def _at(self, path: Path) -> Source | None:
        found: Source | None = Source((0, ""), self.value, self.root, -1, None)
        for key in path:
            found = None if found is None else self.child(found, key)
        return found

    def child(self, source: Source, key: str | int) -> Source | None:
        """Return a field or an item of a source."""
        value, node = source.value, source.node
        if not (key in value if isinstance(value, dict) else isinstance(value, list) and 0 <= int(key) < len(value)):
            return None
        keys: list[Any] = []
        child = None
        if isinstance(node, MappingNode):
            keys = [each.value for each, _ in node.value]
            child = node.value[keys.index(key)][1] if key in keys else None
        elif isinstance(node, SequenceNode):
            keys = [*range(len(node.value))]
            child = node.value[int(key)] if key in keys else None
        spot = id(node), key
        before = keys[keys.index(key) - 1] if key in keys[1:] else None
        above = None if before is None else (id(node), before)
        return Source(spot, value[key], child, self.columns.get(spot, -1), above)


class _Paths:
    """The paths in a legacy job of the fields of its TrainJob and its runtime."""

    def __init__(self, migrated: Migrated) -> None:
        self.plan = migrated.runs[0].before.plan
        self.candidate = migrated.candidate

    def runtime_sources(self, path: Path) -> list[Path] | None:
        """Return the paths of a field of the runtime: that of the same field in the job's own runtime."""
        if path[:2] == ("spec", "mlPolicy"):
            own = self.plan.runtime.framework
            return None if len(path) > 4 else [self._written(*path[:2], own, path[3])] if len(path) == 4 else []
        if path[: len(JOBS_OF_RUNTIME)] != JOBS_OF_RUNTIME:
            return []
        index, *below = path[len(JOBS_OF_RUNTIME) :] or (None,)
        if index is None:
            return [self._written(*path)]
        rest = tuple(below)
        if rest in (POD_TEMPLATE[:1], POD_TEMPLATE[:2]) or rest[:2] == ("template", "metadata"):
            return []
        is_job, is_pod = len(rest) < 4, rest[: len(POD)] == POD and len(rest) == len(POD) + 1
        return self._roles(index, *rest) if is_job or is_pod else None

    def job_sources(self, path: Path) -> list[Path] | None:
        """Return the paths of a field of the TrainJob."""
        if len(path) == 1:
            return [path] if path[0] in _SAME else []
        if path[0] != "spec" or len(path) > 3 or (len(path) == 3 and path[:2] != _TRAINER):
            return None
        if path in (("spec", "suspend"), ("spec", "activeDeadlineSeconds")):
            return [self.plan.job.at(*path).written_path]
        if path == (*_TRAINER, "numNodes"):
            return self._roles(len(self.plan.jobs) - 1, "template", "spec", "completions")
        key = "resources" if path[2:] == ("resourcesPerNode",) else path[-1]
        return [(*each, key) for each in self.containers()] if key in (*_ENTRY, "resources") else []

    def containers(self) -> list[Path]:
        """Return the paths of the containers that spec.trainer applies to."""
        trainer = self.candidate.trainer
        if trainer is None:
            return []
        jobs = range(len(self.plan.jobs)) if self.candidate.form == "exact" else [trainer.job]
        mains = (main_container(self.plan, job) for job in jobs if job != trainer.job)
        slots = (trainer, *(slot for slot in mains if slot is not None))
        return [path for slot in slots for path in self._roles(slot.job, *POD, slot.containers, slot.at)]

    def _roles(self, index: str | int, *below: str | int) -> list[Path]:
        """Return the paths of a field of a replicated job in the roles that it runs: those with equal templates."""
        if self.candidate.is_one_job:
            return [self._written(*JOBS_OF_RUNTIME, each, *below) for each in range(len(self.plan.jobs))]
        role = self._written(*JOBS_OF_RUNTIME, index)
        job = self._written(*JOBS_OF_RUNTIME, index, *below)
        if len(self.plan.jobs) > 1 or job[: len(role)] != role or not isinstance(role[-1], str):
            return [job]
        roles: Tree = get(self.plan.job.document.unedited, role[:-1], {})
        template = roles[role[-1]].get("template")
        others = (name for name, other in roles.items() if name != role[-1] and other.get("template") == template)
        return [job, *((*role[:-1], name, *job[len(role) :]) for name in others)]

    def _written(self, *path: str | int) -> Path:
        return self.plan.runtime.at(*path).written_path


class _Builder:
    """Builds a document from its value."""

    def __init__(self, source: SourceText, paths: Paths) -> None:
        self.source, self.paths = source, cache(paths)

    def is_of_pod(self, path: Path) -> bool:
        """Return whether a value has the fields of any object or pod, not those of a kind of job."""
        below = path[len(JOBS_OF_RUNTIME) + 1 :]
        is_of_trainer = path[:2] == _TRAINER and len(path) > 2
        return path[:1] == ("metadata",) or is_of_trainer or below[: len(POD_TEMPLATE)] == POD_TEMPLATE

    def build(self, value: Any, sources: Sequence[Source], path: Path) -> NewValue:
        """Return a value, whose fields have the sources with the same paths, items with the same content or name."""
        alike = [each for each in sources if isinstance(each.value, type(value))]
        new = NewValue(value, alike, is_of_pod=self.is_of_pod(path))
        read = self.source.read
        if not isinstance(value, dict | list) or not value:
            new.text = scalar(value, alike, read)
            return new
        is_short = bool(alike) and is_in_brackets(alike[0].node) and bool(path)
        if is_short and read is not None and (text := copied(value, alike, read)):
            new.text, new.is_copied = text, True
            return new
        for key, child, own in self._children(value, alike, path):
            new.fields.append(NewField(key, self.build(child, own, (*path, key)), new, own))
        is_long = isinstance(value, list) and len(value) > LONG and all(isinstance(item, int) for item in value)
        if is_short or (is_long and not alike):
            new.text, new.fields = [in_brackets(new)], []
        return new

    def _children(
        self, value: Any, sources: Sequence[Source], path: Path
    ) -> Iterator[tuple[str | int, Any, list[Source]]]:
        """Yield the keys or indexes of a value, with their values and their sources."""
        items = [*value.items()] if isinstance(value, dict) else [*enumerate(value)]
        known: list[Sequence[str | int | None]]
        if isinstance(value, dict):
            known = [list(value) for _ in sources]
        else:
            known = [same_items(value, source.value) for source in sources]
        for index, (key, child) in enumerate(items):
            given = self.paths((*path, key))
            if given is not None:
                own = (key, "resources") if isinstance(child, dict | list) and isinstance(key, str) else ()
                yield key, child, self.source.at(*(each for each in given if not own or each[-1] in own))
                continue
            pairs = [(source, each[index]) for source, each in zip(sources, known, strict=True)]
            found = (self.source.child(source, at) for source, at in pairs if at is not None)
            yield key, child, [each for each in found if each is not None]


def same_items(items: Sequence[Any], known: Sequence[Any]) -> list[int | None]:
    """Return the index of each item in another list: of the equal one, else of the one with its name or in its place.

    >>> same_items(["a", "b"], ["b", "c"]), same_items([{"name": "x", "value": 1}], [{"name": "x"}, {"name": "y"}])
    ([None, 0], [0])
    """
    equal: dict[str, deque[int]] = {}
    for index, each in enumerate(known):
        equal.setdefault(repr(each), deque()).append(index)
    found = [equal[text].popleft() if equal.get(text := repr(item)) else None for item in items]
    left = {index: each for index, each in enumerate(known) if isinstance(each, dict) and index not in {*found}}
    names = {each["name"]: index for index, each in left.items() if isinstance(each.get("name"), str)}
    for index, item in enumerate(items):
        if found[index] is None and isinstance(item, dict) and (at := names.get(item.get("name"))) in left:
            found[index] = at
            del left[at]
    for index, item in enumerate(items):
        if found[index] is None and isinstance(item, dict) and index in left and len(items) == len(known):
            found[index] = index
    return found
