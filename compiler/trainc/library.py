"""The runtimes that a TrainJob can refer to, by level: the given paths, each --runtimes path, the stock ones.

A level knows its runtimes by kind, namespace and name. What a runtime needs done (schema, defaults, Go types) is done
once, when it is first asked for, for all jobs that use it; the function that does it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.data import data_path
from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related
from trainc.frontends import CLUSTER, NAMESPACED
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.objects import Runtime

    Conformed = tuple[Runtime | None, tuple[Diagnostic, ...]]
    Conform = Callable[[Document, str], Conformed]

DUPLICATE_RUNTIME: Final = Declaration("duplicate-runtime", ("read",), "Two runtimes have the same name", own=True)

BUILT_IN: Final = "the stock runtimes"
"""The name of the last level."""
Key = tuple[str, str, str]
"""Kind, namespace (empty for a cluster's), name."""


class Entry:
    """A runtime as it was read; conformed when it is first asked for. None where it has errors."""

    def __init__(self, document: Document, level: str, conform: Conform) -> None:
        self.document = document
        self.level = level
        self._conform = conform
        self._conformed: Conformed | None = None

    @property
    def id(self) -> ObjectId:
        """Which runtime it says it is."""
        return ObjectId.of(self.document.value)

    @property
    def asked(self) -> bool:
        """Whether some TrainJob has asked for it."""
        return self._conformed is not None

    def conform(self) -> Conformed:
        """The runtime as the controller sees it, and what the cluster would say of it."""
        if self._conformed is None:
            self._conformed = self._conform(self.document, self.level)
        return self._conformed


class Level:
    """One place to look for runtimes; its name is for messages."""

    def __init__(self, name: str, conform: Conform) -> None:
        self.name = name
        self.conform = conform
        self.entries: dict[Key, Entry] = {}

    def find(self, key: Key) -> Entry | None:
        """The runtime of that kind, namespace and name."""
        return self.entries.get(key)

    def known(self) -> Iterable[Key]:
        """All runtimes of this level."""
        return self.entries

    @classmethod
    def of(cls, name: str, documents: Iterable[Document], conform: Conform) -> tuple[Level, list[Diagnostic]]:
        """A level of these runtimes. Two of one name are an error at the second, which is left out."""
        level, found = cls(name, conform), []
        for document in documents:
            key = key_of(document)
            if key in level.entries:
                found.append(_twice(document, level.entries[key].document))
            else:
                level.entries[key] = Entry(document, name, conform)
        return level, found


class BuiltIn(Level):
    """The runtimes that ship with trainc: one file each, its name is the runtime's; read when they are asked for."""

    def __init__(self, conform: Conform) -> None:
        super().__init__(BUILT_IN, conform)

    def find(self, key: Key) -> Entry | None:
        """The stock runtime of that name; all of them are cluster-wide."""
        if key not in self.entries and key in self.known():
            self.entries[key] = Entry(self._read(key[2]), self.name, self.conform)
        return self.entries.get(key)

    def known(self) -> Iterable[Key]:
        """All stock runtimes."""
        import os

        return sorted((CLUSTER, "", name[: -len(".yaml")]) for name in os.listdir(data_path("runtimes")))

    def _read(self, name: str) -> Document:
        from trainc.kubernetes.documents import parse

        path = data_path("runtimes", f"{name}.yaml")
        with open(path, encoding="utf-8") as opened:
            text = opened.read()
        return Document(file=f"<built-in>/{name}.yaml", line=1, text=text, value=parse(text))


class OptionNames(NamedTuple):
    """How the one who runs trainc says what a way out asks for: not everybody has a command line."""

    runtimes: str = "--runtimes {}"
    """With a path, a place to look for runtimes in."""
    name_suffix_hash: str = "--name-suffix-hash"
    field_validation: str = "--field-validation=warn"


FLAGS: Final = OptionNames()


class Library(NamedTuple):
    """All levels, in the order in which they are searched."""

    levels: tuple[Level, ...]
    option_names: OptionNames = FLAGS

    def find(self, kind: str, namespace: str, name: str) -> Entry | None:
        """The first runtime of that kind and name; one with a namespace only for a TrainJob of that namespace."""
        namespaces = ("",) if kind == CLUSTER else tuple(dict.fromkeys((namespace, "")))
        for level in self.levels:
            for among in namespaces:
                if entry := level.find((kind, among, name)):
                    return entry
        return None

    def known(self) -> Iterator[Key]:
        """Every runtime there is."""
        for level in self.levels:
            yield from level.known()


def key_of(document: Document) -> Key:
    """The kind, namespace and name by which a runtime is found."""
    id = ObjectId.of(document.value)
    return id.kind, id.namespace if id.kind == NAMESPACED else "", id.name


def _twice(document: Document, first: Document) -> Diagnostic:
    id = ObjectId.of(document.value)
    return Diagnostic.of(
        DUPLICATE_RUNTIME,
        f'a second {id.kind} "{id.name}"' + (f' in namespace "{id.namespace}"' if id.namespace else ""),
        "keep one of them, or give it another name",
        object=id,
        field="metadata.name",
        place=Place(document=document, path=("metadata", "name")),
        related=(Related(message="the first one", place=Place(document=first, path=("metadata", "name"))),),
    )
