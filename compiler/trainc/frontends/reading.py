"""Read the documents of files and sort them by role.

Reads    files from the disk, or from another source through a `Reader`.
Returns  TrainJobs, runtimes and documents of other kinds, with a diagnostic for each one that cannot be read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Literal

from trainc.base.declarations import Declaration
from trainc.base.kinds import CLUSTER_SCOPED, OLD_GROUP
from trainc.budget import Meter
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place
from trainc.files import inputs
from trainc.frontends import sort
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from trainc.base.kinds import Kind, Role
    from trainc.files.exclude import Patterns
    from trainc.frontends.kustomizations import Kustomizations

    Reader = Callable[..., Iterable[inputs.File | Diagnostic]]
    """A function that yields the files of some paths: `inputs.read` from the disk, or one that reads a git commit."""

Others = Literal["skip", "read", "require"]
"""How to treat a file in a folder that contains no TrainJob and no runtime (`files.foreign`): skip it without parsing
it; parse it, and skip it if it cannot be read; or require that it can be read."""

_GROUP: Final = OLD_GROUP.encode()
"""Most of our files mention it, so that `trainc.files.foreign` need not be imported."""

YAML: Final = Declaration("yaml", ("read",), "Invalid YAML for Kubernetes")
USED: Final[tuple[Role, ...]] = ("job", "runtime")
"""The roles of the documents that a run uses, which have notes about kustomizations."""
KUSTOMIZATION_NAMES: Final = ("ustomization.yaml", "ustomization.yml", "Kustomization")
"""Suffixes that all file names of kustomize have: a cheap test for each file."""


class Reading:
    """The documents of some paths, by role."""

    def __init__(
        self,
        files_of: Reader = inputs.read,
        *,
        kinds: Collection[Kind],
        namespace: str | None = None,
        others: Others = "read",
        meter: Meter | None = None,
    ) -> None:
        """Start without documents.

        `kinds` are the kinds that the run compiles: documents of any other kind have the role `other`. `namespace`
        becomes the namespace of TrainJobs and TrainingRuntimes that set none. `meter` counts the work of the run.
        """
        self.meter = meter or Meter()
        self.files_of = files_of
        self.kinds = kinds
        self.namespace = namespace
        self.others = others
        self.documents: dict[Role, list[Document]] = {"job": [], "runtime": [], "other": []}
        self.diagnostics: list[Diagnostic] = []
        self.files = 0
        """The number of files read, including the skipped ones."""
        self.skipped: list[inputs.File] = []
        """The files without TrainJobs and runtimes that were skipped; their bytes are kept only with `keep`."""
        self.keep = False
        self.kustomizations: Kustomizations | None = None
        """The kustomizations among the files; None if there are none."""

    def gather(
        self,
        paths: Iterable[str],
        *,
        skip: Sequence[str] = (),
        settings: str = "",
        root: str | None = None,
        follow_links: bool = False,
        exclude: Sequence[Patterns] = (),
    ) -> None:
        """Read and sort the documents of some paths; the arguments are those of `inputs.read`."""
        found = self.files_of(
            paths, skip=skip, settings=settings, root=root, follow_links=follow_links, exclude=exclude
        )
        for file in found:
            if isinstance(file, Diagnostic):
                self.report(file)
            elif file.revision or self.meter.charge("input bytes", len(file.data)):  # the reader of commits charges
                self.add(file)
            if self.meter.over is not None:
                break
        self.settle()

    def add(self, file: inputs.File) -> None:
        """Read and sort the documents of one more file."""
        self.files += 1
        documents: Iterable[Document | Diagnostic] | None = documents_of(file)
        if file.found and _GROUP not in file.data and self.others != "require":
            documents = self._unless_skipped(file)
        if documents is None:
            self.skipped.append(file if self.keep else file._replace(data=b""))
        elif file.path.endswith(KUSTOMIZATION_NAMES):
            self.read(document for document in documents if not self._take_kustomization(document, file))
        else:
            self.read(documents)

    def read(self, documents: Iterable[Document | Diagnostic]) -> None:
        """Sort the documents of a file."""
        for document in documents:
            if isinstance(document, Diagnostic):
                self.report(document)
            else:
                self.take(document)
            if self.meter.over is not None:
                break

    def report(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic of a file or a document."""
        self.diagnostics.append(diagnostic)
        self.meter.charge("errors and warnings")

    def settle(self) -> None:
        """Apply the kustomizations of the files that were added: leave out patches, and add the notes."""
        if self.kustomizations is None:
            return
        is_part = self.kustomizations.is_part
        documents, diagnostics = self.documents, self.diagnostics
        patches = [document for role in USED for document in documents[role] if is_part(document.file)]
        for role, found in documents.items():
            documents[role] = [document for document in found if not is_part(document.file)]
        self.diagnostics = [each for each in diagnostics if not (_is_content(each) and is_part(_file(each)))]
        used = [document for role in USED for document in documents[role]]
        self.diagnostics += self.kustomizations.notes(used, patches)

    def _take_kustomization(self, document: Document | Diagnostic, file: inputs.File) -> bool:
        """Add a document of a file that may be a kustomization; return False for any other document."""
        if isinstance(document, Diagnostic):
            return False
        from trainc.frontends.kustomizations import Kustomizations, is_kustomization

        if not is_kustomization(file.path):
            return False
        known = self.kustomizations or Kustomizations()
        taken = known.take(document, file.revision)
        if taken:
            self.kustomizations = known
        return taken or os.path.basename(file.path) == inputs.KUSTOMIZATION

    def _unless_skipped(self, file: inputs.File) -> Iterable[Document | Diagnostic] | None:
        """Return the documents of a file of a folder, or None if it is skipped."""
        from trainc.files.foreign import is_foreign, may_be_of_queues

        documents = documents_of(file)
        if not is_foreign(file.data):
            return documents
        if self.others == "skip" and not (file.path.endswith(KUSTOMIZATION_NAMES) or may_be_of_queues(file.data)):
            return None
        readable = list(documents)
        return readable if all(map(self._is_readable, readable)) else None

    def _is_readable(self, document: Document | Diagnostic) -> bool:
        """Whether a document, and each item of a List, is an object."""
        if isinstance(document, Diagnostic):
            return False
        return not any(isinstance(found, Diagnostic) for found in sort(document, self.kinds))

    def take(self, document: Document) -> None:
        """Add one document, sorted by role."""
        for found in sort(document, self.kinds):
            if isinstance(found, Diagnostic):
                self.report(found)
            else:
                role, of_a_kind = found
                self.documents[role].append(self._with_namespace(of_a_kind, role))
                if role == "other" and of_a_kind.value.get("kind") == "ConfigMap":
                    self._take_runtimes(of_a_kind)

    def _take_runtimes(self, configmap: Document) -> None:
        """Sort the runtimes in the data of a ConfigMap, which itself is a document of another kind."""
        from trainc.frontends import configmaps

        for found in configmaps.runtimes(configmap):
            if isinstance(found, Diagnostic):
                self.report(found)
            elif isinstance(found, configmaps.Broken):
                error = found.error
                self.report(Diagnostic.declared(YAML, error.message, error.help, place=found.place))
            else:
                self.documents["runtime"].append(self._with_namespace(found, "runtime"))

    def _with_namespace(self, document: Document, role: Role) -> Document:
        """Return the document with the default namespace, if its kind is namespaced and it sets none."""
        if self.namespace is None or role == "other":
            return document
        id = ObjectId.from_manifest(document.value)
        if id.namespace or id.kind in CLUSTER_SCOPED:
            return document
        if not isinstance(get(document.value, ("metadata",), {}), dict):
            return document
        return document._replace(value=put(document.value, ("metadata", "namespace"), self.namespace))


def _file(diagnostic: Diagnostic) -> str:
    """Return the file of a diagnostic's place; empty without one."""
    place = diagnostic.place
    return "" if place is None else place.document.file if isinstance(place, Place) else place.file


def _is_content(diagnostic: Diagnostic) -> bool:
    """Return whether a diagnostic is about a file's content, not about its path."""
    return diagnostic.place is not None and diagnostic.id not in {inputs.UNREADABLE.id, inputs.LINK_OUT.id}


def documents_of(file: inputs.File) -> Iterator[Document | Diagnostic]:
    """Yield a diagnostic for each syntax error of a file, then its documents."""
    from trainc.kubernetes.documents import read_stream

    documents, errors = read_stream(file.data)
    if errors:
        from trainc.frontends import templates
        from trainc.source.broken import BrokenFile

        broken = BrokenFile(file)
        found = [
            Diagnostic.declared(
                YAML,
                error.message,
                error.help,
                place=broken.at(error.line, error.column),
                related=broken.conflicting_line(error),
            )
            for error in errors
        ]
        yield from templates.syntax_errors(file.path, file.data, found)
    for read in documents:
        chunk = read.chunk
        yield Document(file=file.path, line=chunk.line, column=chunk.column, text=chunk.text, value=read.value)
