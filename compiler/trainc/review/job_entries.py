"""Entries of jobs: the objects of a review by the job that they come from; a job of three environments is listed once.

Reads    the reviewed objects, each with its source: a job of the repository, or a document that is copied.
Returns  subjects, the sources with their environments; one-sided entries, a source with its added or removed objects;
         and the different changes: sources whose objects change alike are together, whatever their names and namespaces
         are, with the objects of the first one. What a format shows is bounded by the number of different changes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from trainc.base.kinds import JOBSET
from trainc.base.texts import plural
from trainc.kubernetes.violations import listed

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from trainc.review.reviewed import ObjectSource, Review, Reviewed
    from trainc.review.sides.side_files import Status


class Subject(NamedTuple):
    """A source in some environments: `nlp/llama [dev, prod]`."""

    source: ObjectSource
    environments: tuple[str, ...]
    renamed: str = ""
    """The old name of a renamed job."""
    running: bool = False
    """Whether it is a job of a cluster whose pods run."""
    is_important: bool = False
    """Whether it is a document of a kind that gives rights, runs code or deletes data."""

    @property
    def title(self) -> str:
        """Its name and environments."""
        name = self.source.title
        if self.renamed:
            name = f"{self.source._replace(name=self.renamed).title} -> {self.source.name}"
        name = f"{name} (running)" if self.running else name
        return f"{name} [{', '.join(self.environments)}]" if self.environments else name


class OneSided(NamedTuple):
    """A source with its added or removed objects, which it has in some environments."""

    subject: Subject
    objects: tuple[Reviewed, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the job itself is added or removed, or an object that is no part of a job."""
        return bool(self.subject.source.kind) or any(each.id.kind == JOBSET.kind for each in self.objects)

    @property
    def is_important(self) -> bool:
        """Whether one of its objects gives rights, runs code or deletes data."""
        return any(each.is_important for each in self.objects)

    @property
    def kinds(self) -> str:
        """Its objects by kind in one environment: `JobSet and 2 ConfigMaps`."""
        first = self.subject.environments[:1]
        found: dict[str, int] = {}
        for each in self.objects:
            if each.environments[:1] == first or not first or first[0] in each.environments:
                found[each.id.kind] = found.get(each.id.kind, 0) + 1
        return listed(kind if count == 1 else plural(count, kind) for kind, count in found.items())


class Variant(NamedTuple):
    """The changes of a source that are the same in some environments."""

    subject: Subject
    objects: tuple[Reviewed, ...]
    """The objects of the first of these environments."""


class Entry(NamedTuple):
    """A source with all that changes of it."""

    source: ObjectSource
    variants: tuple[Variant, ...]

    @property
    def environments(self) -> tuple[str, ...]:
        """The environments in which it changes, in the order of the review."""
        return tuple(dict.fromkeys(name for each in self.variants for name in each.subject.environments))

    @property
    def status(self) -> Status:
        """Whether the job as a whole is added or removed in all these environments; else it is changed."""
        found = {
            each.status
            for variant in self.variants
            for each in variant.objects
            if self.source.kind or each.id.kind == JOBSET.kind
        }
        return found.pop() if len(found) == 1 else "changed"


class Alike(NamedTuple):
    """A change, with all sources that have it."""

    subjects: tuple[Subject, ...]
    objects: tuple[Reviewed, ...]
    """The objects of the first source in its first environment."""

    @property
    def is_important(self) -> bool:
        """Whether one of its objects gives rights, runs code or deletes data."""
        return any(each.is_important for each in self.objects)


def subjects(objects: Iterable[Reviewed]) -> list[Subject]:
    """Return the sources of objects, each once, with the environments in which it has one of the objects."""
    found: dict[ObjectSource, dict[str, None]] = {}
    renamed: dict[ObjectSource, str] = {}
    running: set[ObjectSource] = set()
    important: set[ObjectSource] = set()
    for each in objects:
        found.setdefault(each.source, {}).update(dict.fromkeys(each.environments))
        if each.renamed_source:
            renamed.setdefault(each.source, each.renamed_source)
        if each.running:
            running.add(each.source)
        if each.is_important:
            important.add(each.source)
    return [
        Subject(source, tuple(names), renamed.get(source, ""), source in running, source in important)
        for source, names in found.items()
    ]


def number_of(given: Sequence[Subject]) -> str:
    """Return the number of sources by kind: `3 jobs and 1 ConfigMap`."""
    kinds: dict[str, int] = {}
    for subject in given:
        kinds[subject.source.kind or "job"] = kinds.get(subject.source.kind or "job", 0) + 1
    return listed(plural(count, kind) for kind, count in kinds.items())


def one_sided(objects: Iterable[Reviewed]) -> list[OneSided]:
    """Return added or removed objects by source; environments with the same kinds of objects are together."""
    found = []
    for source, by_environment in _by_source(objects).items():
        alike: dict[tuple[Hashable, ...], tuple[list[str], dict[int, Reviewed]]] = {}
        for name, members in by_environment.items():
            kinds = tuple(sorted(each.id.kind for each in members))
            names, having = alike.setdefault(kinds, ([], {}))
            names.append(name)
            having.update({id(each): each for each in members})
        for names, having in alike.values():
            found.append(OneSided(Subject(source, tuple(filter(None, names))), tuple(having.values())))
    return found


def entries(review: Review) -> list[Entry]:
    """Return one entry for each source, in the order of the review."""
    found: dict[ObjectSource, list[Variant]] = {}
    for variant, _ in _variants(review):
        found.setdefault(variant.subject.source, []).append(variant)
    return [Entry(source, tuple(variants)) for source, variants in found.items()]


def different_changes(review: Review) -> list[Alike]:
    """Return the different changes of a review, each with the sources that have it."""
    found: dict[Hashable, tuple[list[Subject], tuple[Reviewed, ...]]] = {}
    for variant, key in _variants(review):
        found.setdefault(key, ([], variant.objects))[0].append(variant.subject)
    return [Alike(tuple(having), objects) for having, objects in found.values()]


def _by_source(objects: Iterable[Reviewed]) -> dict[ObjectSource, dict[str, list[Reviewed]]]:
    """Return objects by source and environment, which is empty in a project without environments."""
    found: dict[ObjectSource, dict[str, list[Reviewed]]] = {}
    for each in objects:
        for name in each.environments or ("",):
            found.setdefault(each.source, {}).setdefault(name, []).append(each)
    return found


def _variants(review: Review) -> Iterator[tuple[Variant, Hashable]]:
    """Yield the variants of each source, each with what makes its change another one."""
    prints: dict[int, Hashable] = {}  # an object can have several environments
    for by_environment in _by_source(review.objects).values():
        alike: dict[Hashable, tuple[list[str], list[Reviewed]]] = {}
        for name, members in by_environment.items():
            for each in members:
                if id(each) not in prints:
                    prints[id(each)] = _print(each)
            alike.setdefault(tuple(prints[id(each)] for each in members), ([], members))[0].append(name)
        for key, (names, members) in alike.items():
            subject = subjects(members)[0]._replace(environments=tuple(filter(None, names)))
            yield Variant(subject, tuple(members)), key


def _print(reviewed: Reviewed) -> Hashable:
    """Return what makes a change another one, without the object's own names."""
    ids = (reviewed.id, *([reviewed.renamed] if reviewed.renamed else []))
    own = sorted({name for id in ids for name in (id.namespace, id.name) if name}, key=len, reverse=True)
    names = re.compile(rf"\b(?:{'|'.join(map(re.escape, own))})\b")
    lines = tuple(
        (
            line.cause and line.cause.key,
            line.consequence,
            line.change.kind,
            names.sub("", f"{line.change.field}\n{line.change.old!r}\n{line.change.new!r}"),
        )
        for line in reviewed.lines
    )
    cause = reviewed.cause and reviewed.cause.key
    content = "" if reviewed.status == "changed" else names.sub("", repr(reviewed.after))
    return (reviewed.status, reviewed.id.kind, reviewed.loses_data, cause, lines, content)
