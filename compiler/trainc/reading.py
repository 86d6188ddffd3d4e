"""Read the documents of files and sort them by role.

Reads    files from the disk, or from another source through a `Reader`.
Returns  TrainJobs, runtimes and documents of other kinds, with a diagnostic for each one that cannot be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc import inputs
from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Document, ObjectId
from trainc.frontends import Role, sort
from trainc.kubernetes.trees import forget, get, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Reader = Callable[..., Iterable[inputs.File | Diagnostic]]
    """A function that yields the files of some paths: `inputs.read` from the disk, or one that reads a git commit."""

YAML: Final = Declaration("yaml", ("read",), "Invalid YAML for Kubernetes")


class Reading:
    """The documents of some paths, by role.

    Creating one starts a run: it clears the caches of earlier runs in this process.
    """

    def __init__(self, files_of: Reader = inputs.read, *, namespace: str | None = None) -> None:
        """Start a run; `namespace` becomes the namespace of TrainJobs and TrainingRuntimes that set none."""
        forget()
        self.files_of = files_of
        self.namespace = namespace
        self.documents: dict[Role, list[Document]] = {"job": [], "runtime": [], "other": []}
        self.diagnostics: list[Diagnostic] = []
        self.files = 0

    def gather(
        self,
        paths: Iterable[str],
        *,
        skip: Sequence[str] = (),
        settings: str = "",
        root: str | None = None,
        follow_links: bool = False,
    ) -> None:
        """Read and sort the documents of some paths; the arguments are those of `inputs.read`."""
        for file in self.files_of(paths, skip=skip, settings=settings, root=root, follow_links=follow_links):
            if isinstance(file, Diagnostic):
                self.diagnostics.append(file)
            else:
                self.add(file)

    def add(self, file: inputs.File) -> None:
        """Read and sort the documents of one more file."""
        self.files += 1
        for document in documents_of(file):
            if isinstance(document, Diagnostic):
                self.diagnostics.append(document)
            else:
                self.take(document)

    def take(self, document: Document) -> None:
        """Add one document, sorted by role."""
        for found in sort(document):
            if isinstance(found, Diagnostic):
                self.diagnostics.append(found)
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
                self.diagnostics.append(found)
            elif isinstance(found, configmaps.Broken):
                error = found.error
                self.diagnostics.append(Diagnostic.of(YAML, error.message, error.help, place=found.place))
            else:
                self.documents["runtime"].append(self._with_namespace(found, "runtime"))

    def _with_namespace(self, document: Document, role: Role) -> Document:
        """Return the document with the default namespace, if its kind is namespaced and it sets none."""
        if self.namespace is None or role == "other":
            return document
        id = ObjectId.of(document.value)
        if id.namespace or id.kind == "ClusterTrainingRuntime":
            return document
        if not isinstance(get(document.value, ("metadata",), {}), dict):
            return document
        return document._replace(value=put(document.value, ("metadata", "namespace"), self.namespace))


def documents_of(file: inputs.File) -> Iterator[Document | Diagnostic]:
    """Yield a diagnostic for each syntax error of a file, then its documents."""
    from trainc.kubernetes.documents import read_stream

    documents, errors = read_stream(file.data)
    if errors:
        from trainc.frontends import templates
        from trainc.source.broken import BrokenFile

        broken = BrokenFile(file)
        found = [
            Diagnostic.of(
                YAML,
                error.message,
                error.help,
                place=broken.at(error.line, error.column),
                related=broken.since(error),
            )
            for error in errors
        ]
        yield from templates.of_file(file.path, file.data, found)
    for read in documents:
        chunk = read.chunk
        yield Document(file=file.path, line=chunk.line, column=chunk.column, text=chunk.text, value=read.value)
