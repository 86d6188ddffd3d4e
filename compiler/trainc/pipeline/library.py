"""The runtimes that a TrainJob can refer to, by level: the given paths, each --runtimes path, the built-in runtimes.

A level has its runtimes by kind, namespace and name. A runtime is conformed (schema, defaults, Go types) when a job
first requests it, once for all jobs that use it; the conforming function is passed in.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.data import data_path
from trainc.base.declarations import Declaration
from trainc.base.kinds import CLUSTER_RUNTIME, CLUSTER_SCOPED
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.base.suggestions import KnownNames
    from trainc.pipeline.objects import Runtime

    Conformed = tuple[Runtime | None, tuple[Diagnostic, ...]]
    Conform = Callable[[Document, str], Conformed]
    OverlayConflict = Callable[[Document, Document], Diagnostic | None]


DUPLICATE_RUNTIME: Final = Declaration("duplicate-runtime", ("read",), trainc_only=True)

BUILT_IN: Final = "the built-in runtimes"
"""The name of the last level."""
SUFFIX: Final = ".yaml"
Key = tuple[str, str, str]
"""Kind, namespace (empty for a ClusterTrainingRuntime), name."""


class LibraryEntry:
    """A runtime as it was read, which is conformed on the first request."""

    def __init__(self, document: Document, level: str, conform: Conform) -> None:
        self.document = document
        self.level = level
        self.namesakes: list[LibraryEntry] = []
        """The later runtimes of its level with the same kind, namespace and name."""
        self.conflict: OverlayConflict | None = None
        """With namesakes, the function that returns the diagnostic for those of two kustomizations, or None."""
        self.requested = False
        """Whether a TrainJob has requested it."""
        self.conform_document = conform
        self._conformed: Conformed | None = None

    @property
    def id(self) -> ObjectId:
        """The runtime's identity, as it was written."""
        return ObjectId.from_manifest(self.document.value)

    def conform(self) -> Conformed:
        """Return the runtime as the controller sees it, or None if it has errors, and its diagnostics."""
        self.requested = True
        return self.conform_quietly()

    def conform_quietly(self) -> Conformed:
        """Return the same for a hint: no TrainJob requests the runtime, and nothing reports its diagnostics."""
        if self._conformed is None:
            self._conformed = self.conform_document(self.document, self.level)
        return self._conformed


class Level:
    """One place to look for runtimes; its name is for messages."""

    def __init__(self, name: str, conform: Conform) -> None:
        self.name = name
        self.conform = conform
        self.entries: dict[Key, LibraryEntry] = {}
        self.unnamed: list[LibraryEntry] = []
        """The runtimes with only generateName, which no TrainJob can refer to."""

    def find(self, key: Key) -> LibraryEntry | None:
        """Return the runtime of that kind, namespace and name."""
        return self.entries.get(key)

    def known(self) -> Iterable[Key]:
        """Return the keys of all runtimes of this level."""
        return self.entries

    def all_entries(self) -> Iterator[LibraryEntry]:
        """Yield the runtimes of this level, also those of one name."""
        for entry in self.entries.values():
            yield entry
            yield from entry.namesakes

    @classmethod
    def build(
        cls,
        name: str,
        documents: Iterable[Document],
        conform: Conform,
        apart: OverlayConflict | None = None,
        *,
        unique: bool = True,
    ) -> tuple[Level, list[Diagnostic]]:
        """Return a level of these runtimes, and if names must be unique, a diagnostic for each duplicate one.

        `apart` returns the diagnostic for a name that two kustomizations use, or None.
        """
        level, found = cls(name, conform), []
        for document in documents:
            entry, key = LibraryEntry(document, name, conform), key_of(document)
            if not key[2] and ObjectId.from_source(document.value).name:
                level.unnamed.append(entry)
                continue
            first = level.entries.setdefault(key, entry)
            if first is entry:
                continue
            if unique:
                found.append((apart and apart(document, first.document)) or _duplicate(document, first.document))
            else:
                first.namesakes.append(entry)
                first.conflict = apart
        return level, found


class BuiltIn(Level):
    """The runtimes that ship with trainc: one file each, named after the runtime, and read on request.

    Those of a release are in a folder of its own.
    """

    def __init__(
        self,
        conform: Conform,
        release: TrainerRelease,
        edit: Callable[[Document], Document] | None = None,
        *,
        only_installed: bool = False,
    ) -> None:
        super().__init__(BUILT_IN, conform)
        self.release = release
        self.only_installed = only_installed
        """Whether the level has only the runtimes that the release installs, without trainc's own."""
        self._files: dict[str, str] = {}
        """The path of each runtime by its name."""
        self.edit = edit
        """The transformation of the runtimes by the settings; None without one."""

    def find(self, key: Key) -> LibraryEntry | None:
        """Return the built-in runtime of that name; all are ClusterTrainingRuntimes."""
        if key not in self.entries and key in self.known():
            document = self._read(key[2])
            self.entries[key] = LibraryEntry(self.edit(document) if self.edit else document, self.name, self.conform)
        return self.entries.get(key)

    def known(self) -> Iterable[Key]:
        """Return the keys of all built-in runtimes."""
        return sorted((CLUSTER_RUNTIME.kind, "", name) for name in self._paths())

    def _paths(self) -> dict[str, str]:
        """Return the path of each runtime by its name: those of the release, and trainc's own."""
        if not self._files:
            import os

            folders = (data_path("runtimes"), data_path("runtimes", self.release.runtimes))[self.only_installed :]
            files = ((folder, name) for folder in folders for name in os.listdir(folder) if name.endswith(SUFFIX))
            found = {name[: -len(SUFFIX)]: os.path.join(folder, name) for folder, name in files}
            self._files = {name: path for name, path in found.items() if name not in self.release.unusable_runtimes}
        return self._files

    def _read(self, name: str) -> Document:
        from trainc.kubernetes.documents import parse

        path = self._paths()[name]
        with open(path, encoding="utf-8") as opened:
            text = opened.read()
        return Document(file=f"<built-in>/{name}.yaml", line=1, text=text, value=parse(text))


class OptionNames(NamedTuple):
    """The option names that hints use; they differ if trainc does not run on the command line."""

    runtimes: str = "--runtimes {}"
    """The option for a path to search for runtimes; `{}` is the path."""
    name_suffix_hash: str = "--name-suffix-hash"
    legacy: str = "--legacy"
    gang: str = "--gang"
    trainer_version: str = "--trainer-version"
    suspend: str = "--suspend"
    field_validation: str = "--field-validation=warn"
    strict: str = "--strict"
    environment: str = ""
    """The option of a command line that selects the run's environment; empty without one."""
    revision: tuple[str, str] = ("", "")
    """The prefix of file names in a commit, and that of the same files on disk."""
    exclude: str = "leave one out with --exclude"
    """How to leave out a file."""


FLAGS: Final = OptionNames()


class Library(NamedTuple):
    """All levels, in the order in which they are searched."""

    levels: tuple[Level, ...]
    option_names: OptionNames = FLAGS
    skipped: tuple[str, ...] = ()
    """The files in the searched paths that were skipped."""
    forbidden: Place | None = None
    """The setting that forbids built-in runtimes; None if they are allowed."""
    has_secret: Callable[[str, str], bool] | None = None
    """Whether the given paths have a Secret, by namespace and name; None if that is unknown."""
    claim_modes: Callable[[str, str], tuple[str, ...]] | None = None
    """The access modes of a claim in the given paths, by namespace and name; None if no claim is for one node."""

    def configured(self) -> Iterator[LibraryEntry]:
        """Yield the runtimes of runtimes.paths and `--runtimes`: neither of the given paths nor built in."""
        for level in self.levels[1:-1]:
            yield from level.all_entries()

    def find(self, kind: str, namespace: str, name: str) -> LibraryEntry | None:
        """Return the first runtime of that kind and name.

        A runtime with a namespace is only for TrainJobs of that namespace.
        """
        namespaces = ("",) if kind in CLUSTER_SCOPED else tuple(dict.fromkeys((namespace, "")))
        for level in self.levels:
            for candidate in namespaces:
                if entry := level.find((kind, candidate, name)):
                    return entry
        return None

    def is_built_in(self, document: Document) -> bool:
        """Return whether a runtime is one of the built-in ones, not one of the same name from a file."""
        entry = self.levels[-1].entries.get(key_of(document))
        return entry is not None and entry.level == BUILT_IN and entry.document is document

    @property
    def usable_levels(self) -> tuple[Level, ...]:
        """The levels whose runtimes a TrainJob may use."""
        return self.levels if self.forbidden is None else self.levels[:-1]

    def known(self) -> Iterator[Key]:
        """Yield the keys of all runtimes."""
        for level in self.levels:
            yield from level.known()


def key_of(document: Document) -> Key:
    """Return the key of a runtime."""
    id = ObjectId.from_manifest(document.value)
    return id.kind, "" if id.kind in CLUSTER_SCOPED else id.namespace, id.name


def _duplicate(document: Document, first: Document) -> Diagnostic:
    id = ObjectId.from_manifest(document.value)
    found = Diagnostic.declared(
        DUPLICATE_RUNTIME,
        f'two {id.kind}s are named "{id.name}"' + (f' in namespace "{key[1]}"' if (key := key_of(document))[1] else ""),
        "remove or rename one of them",
        object=id,
        field="metadata.name",
        place=Place(document=document, path=("metadata", "name")),
        related=(Related(message="the first one", place=Place(document=first, path=("metadata", "name"))),),
    )
    if not document.edits:
        return found
    from trainc.edits.transforming.setting_faults import duplicate_sources

    return duplicate_sources(found, document, first)


class KnownRuntimes(NamedTuple):
    """The runtimes of some levels."""

    searched: str
    """The names of the levels, each with the number of its runtimes."""
    by_name: dict[str, Key]
    """The first runtime of each name."""
    of_framework: dict[tuple[str, str], KnownNames]
    """The sorted names by kind and first word, and all of a kind by an empty word."""


@lru_cache(maxsize=4)
def known_runtimes(levels: tuple[Level, ...]) -> KnownRuntimes:
    """Return the runtimes of the levels; a TrainJob that requests a missing one is not compared with all of them."""
    from trainc.base.suggestions import KnownNames

    keys = [[*level.known()] for level in levels]
    by_name: dict[str, Key] = {}
    names: dict[str, set[str]] = {}
    for key in (key for each in keys for key in each):
        by_name.setdefault(key[2], key)
        names.setdefault(key[0], set()).add(key[2])
    of_framework: dict[tuple[str, str], list[str]] = {}
    for kind, found in names.items():
        for name in sorted(found):
            of_framework.setdefault((kind, name.partition("-")[0]), []).append(name)
            of_framework.setdefault((kind, ""), []).append(name)
    return KnownRuntimes(
        ", ".join(f"{level.name} ({len(each)})" for level, each in zip(levels, keys, strict=True)),
        by_name,
        {key: KnownNames(found) for key, found in of_framework.items()},
    )
