"""Read the documents of files and sort them by role.

Reads    files from the disk, or from another source through a `Reader`.
Returns  TrainJobs, runtimes and documents of other kinds, with a diagnostic for each one that cannot be read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Literal

from trainc.base.declarations import Declaration
from trainc.base.kinds import CLUSTER_SCOPED, COMPILED, DOMAINS, JOBSET, OLD_GROUP
from trainc.budget import Meter
from trainc.diagnostics import Diagnostic, Document, Location, ObjectId, Place
from trainc.files import inputs
from trainc.files.output_marks import is_marked
from trainc.files.selection import KUSTOMIZATION, is_manifest
from trainc.files.walk import UNREADABLE, fault
from trainc.frontends import NOT_AN_OBJECT, sort
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from trainc.base.kinds import Kind, Role
    from trainc.budget import Unit
    from trainc.files.selection import Selection
    from trainc.frontends.configmaps import Parsed
    from trainc.frontends.kustomizations import Kustomizations
    from trainc.frontends.unreadable import BrokenFile
    from trainc.kubernetes.documents import ParsedDocument, YamlError

    Reader = Callable[..., Iterable[inputs.File | Diagnostic]]
    """A function that yields the files of some paths: `inputs.read` from the disk, or one that reads a git commit."""

Others = Literal["skip", "referenced", "read"]
"""How to treat a file in a folder that contains no TrainJob and no runtime (`files.foreign`).

skip        do not parse it
referenced  parse it if it may contain an object that a pod can refer to, and keep only such objects
read        parse it, and skip each document that cannot be read
"""

_GROUP: Final = OLD_GROUP.encode()
LOOKED_UP: Final = (b"Secret", b"PersistentVolumeClaim")
"""A word of the files with a Secret, an ExternalSecret or a SealedSecret."""
"""Most of our files mention it, so that `trainc.files.foreign` need not be imported."""

_TRAINING_GROUPS: Final = (*DOMAINS, "kueue.x-k8s.io")
_TEMPLATE: Final = "template-not-rendered"
YAML: Final = Declaration("yaml", ("read",))
MARKED_SOURCE: Final = Declaration("marked-source", ("read",), trainc_only=True)
SOURCE_IN_OUTPUT: Final = Declaration("source-in-output", ("read",), trainc_only=True)
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
        copied_files: Callable[[str], bool] | None = None,
        meter: Meter | None = None,
        parsed: ParsedFiles | None = None,
    ) -> None:
        """Start without documents.

        `kinds` are the kinds that the run compiles: documents of any other kind have the role `other`. `namespace`
        becomes the namespace of TrainJobs and TrainingRuntimes that set none. All documents of `copied_files` must be
        readable. `meter` counts the work of the run. `parsed` has the files that another run has parsed.
        """
        self.parsed = parsed
        self.meter = meter or Meter()
        self.files_of = files_of
        self.kinds = kinds
        self.kinds_of_named_files = kinds
        """The kinds to compile in a file that is one of the paths, not in a folder."""
        self._kinds_of_file = kinds
        self.namespace = namespace
        self.others = others
        self.copied_files = copied_files
        self.copied: set[str] = set()
        """The files whose documents of other kinds are copied to the output."""
        self.documents: dict[Role, list[Document]] = {"job": [], "runtime": [], "other": []}
        self.diagnostics: list[Diagnostic] = []
        self.files: list[str] = []
        """The paths of the files read, including the skipped ones."""
        self.skipped: list[inputs.File] = []
        """The outputs and the files without TrainJobs and runtimes that were skipped.

        Their bytes are kept if they mention a Secret.
        """
        self.of_queues: list[inputs.File] = []
        """The files without TrainJobs and runtimes that may have objects of Kueue, until all files are known."""
        self.settings_name_queue: Callable[[], bool] = bool
        """Returns whether the settings may give a job a queue or a priority that its document does not name."""
        self.kept: list[inputs.File | Diagnostic] | None = None
        """All files with their bytes, and the faults of the others; None if they are not kept."""
        self._may_drop = False
        """Whether unreadable documents of other kinds are skipped in the current file: it is a file of a folder."""
        self._revision = ""
        """The prefix of the current file's path if it is one of a commit."""
        self.given: set[str] = set()
        """The paths of the files that are themselves a PATH."""
        self.charts: set[str] = set()
        """The charts with a note, because their templates are not rendered."""
        self.dropped: list[Diagnostic] = []
        """The faults of the documents of other kinds that were skipped, because they cannot be read."""
        self._parsed: Parsed = {}
        """The texts of ConfigMaps that have been parsed."""
        self.kustomizations: Kustomizations | None = None
        """The kustomizations among the files; None if there are none."""

    def names(self, paths: Iterable[str], selection: Selection) -> list[str]:
        """Return the names of the files and folders in some paths, without those below what is left out."""
        found: list[str] = []
        walked = selection._replace(names_only=True, leave_out=lambda name, role, object: found.append(name))
        for _ in self.files_of(paths, walked):
            pass  # the faults of the paths have been reported
        return found

    def gather(
        self,
        paths: Iterable[str],
        selection: Selection = inputs.ALL,
        *,
        root: str | None = None,
        follow_links: bool = False,
    ) -> None:
        """Read and sort the documents of some paths; the arguments are those of `inputs.read`."""
        for file in self.files_of(paths, selection, root=root, follow_links=follow_links):
            if self.kept is not None:
                self.kept.append(file)
            if isinstance(file, Diagnostic):
                self.report(file)
            else:
                self.add(file)
            if self.meter.over is not None:
                break
        self.settle()

    def add(self, file: inputs.File) -> None:
        """Charge one more file, read its documents and sort them."""
        if file.above:
            self._add_above(file)
            return
        self.files.append(file.path)
        self._kinds_of_file = self.kinds if file.found else self.kinds_of_named_files
        self._revision = file.revision
        if not file.found:
            self.given.add(file.path)
        elif file.output or is_marked(file.data):
            self._skip_output(file)
            return
        is_copied = self._is_copied(file)
        self._may_drop = file.found and not is_copied
        if self._may_drop and _GROUP not in file.data and self._is_skipped(file):
            from trainc.files.foreign import may_be_of_queues

            if may_be_of_queues(file.data):
                self.of_queues.append(file)
            else:
                self._skip(file)
        elif self._charge("input bytes", file):
            drop = self._drop if self._may_drop else None
            documents: Iterable[Document | Diagnostic] = documents_of(file, drop, self.parsed)
            if not file.found and inputs.is_stream(file.path):
                documents = list(documents) or [_no_document(file)]
            if file.path.endswith(KUSTOMIZATION_NAMES):
                self.read(document for document in documents if not self._take_kustomization(document, file))
            else:
                self.read(documents)

    def _add_above(self, file: inputs.File) -> None:
        """Charge a kustomization in a folder above the paths, and read it. One that cannot be read claims no file."""
        if self._charge("skipped bytes", file):
            for document in documents_of(file, lambda error, diagnostic: True):
                self._take_kustomization(document, file)

    def _is_copied(self, file: inputs.File) -> bool:
        """Whether the documents of other kinds of a file are copied to the output: all of them must be readable."""
        if self.copied_files is None or not self.copied_files(file.path):
            return False
        self.copied.add(file.path)
        return True

    def _skip(self, file: inputs.File) -> None:
        if self._charge("skipped bytes", file):
            self.skipped.append(file if may_be_looked_up(file.data) else file._replace(data=b""))

    def _skip_output(self, file: inputs.File) -> None:
        """Skip an output in a folder; report a TrainJob or a runtime in it, because no build writes one."""
        from trainc.files.foreign import may_mention
        from trainc.frontends.unreadable import is_of_kinds

        before, kinds = len(self.diagnostics), {*COMPILED, *self.kinds} - {JOBSET}
        own = file.data.partition(b"\n")[2] if is_marked(file.data) else file.data
        if may_mention(own, [row.kind.encode() for row in kinds]):
            if not self._charge("input bytes", file):
                return
            for document in documents_of(file, lambda error, diagnostic: not is_of_kinds(error.document, kinds)):
                if isinstance(document, Diagnostic):
                    self.report(document)
                    continue
                for found in sort(document, kinds):
                    if not isinstance(found, Diagnostic) and found[0] != "other":
                        self.report(_marked_source(found[1]) if is_marked(file.data) else source_in_output(found[1]))
        if len(self.diagnostics) == before:
            self._skip(file)

    def _charge(self, unit: Unit, file: inputs.File) -> bool:
        """Charge the bytes of a file, unless the reader of commits has charged them."""
        return bool(file.revision) or self.meter.charge(unit, len(file.data))

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
        """Add a diagnostic of a file or a document; one for each chart."""
        noted = self.with_note(diagnostic) if diagnostic.id == _TEMPLATE else diagnostic
        if noted is None:
            return
        diagnostic = noted
        self.diagnostics.append(diagnostic)
        self.meter.charge("errors and warnings")

    def settle(self) -> None:
        """Read the queues, and apply the kustomizations of the files that were added: leave out patches, add notes."""
        if self.of_queues:
            self._read_queues()
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
        taken = known.take(document, file.revision, is_above=file.above)
        if taken:
            self.kustomizations = known
        return taken or os.path.basename(file.path) == KUSTOMIZATION

    def _is_skipped(self, file: inputs.File) -> bool:
        """Return whether a file of a folder is skipped without parsing it."""
        from trainc.files.foreign import REFERENCED_WORDS, is_foreign, may_mention

        if self.others == "read" or file.path.endswith(KUSTOMIZATION_NAMES):
            return False
        return is_foreign(file.data) and not (self.others == "referenced" and may_mention(file.data, REFERENCED_WORDS))

    def _read_queues(self) -> None:
        """Read the objects of Kueue; those of Kubernetes beside them only if a job may have a queue or a priority.

        A file of any size can mention one: the other documents of a file are not parsed.
        """
        from trainc.files import foreign

        files, self.of_queues = self.of_queues, []
        used = {id(each.text): each.text for role in USED for each in self.documents[role]}
        all_kinds = (
            self.settings_name_queue()
            or any(foreign.names_queue(text.encode("utf-8", "surrogatepass")) for text in used.values())
            or any(foreign.has_default_queue(file.data) for file in files)
        )
        self._may_drop = True
        for file in files:
            data = foreign.documents_of_queues(file.data, all_kinds=all_kinds)
            if not data.strip():
                self._skip(file)
            elif self._charge("skipped bytes", file) and self._charge("input bytes", file._replace(data=data)):
                self._revision = file.revision
                self.read(documents_of(file._replace(data=data), self._drop, self.parsed))
            if self.meter.over is not None:
                return
        positions = {path: index for index, path in enumerate(self.files)}
        self.documents["other"].sort(key=lambda document: positions.get(document.file, len(positions)))

    def _drop(self, error: YamlError, diagnostic: Diagnostic) -> bool:
        """Skip the unreadable document of an error, and return True; return False if it is of a kind to compile."""
        from trainc.frontends.unreadable import has_content, is_of_kinds

        if is_of_kinds(error.document, self._kinds_of_file):
            return False
        if has_content(error.document):
            self.dropped.append(diagnostic)
        return True

    def skipped_names(self) -> list[str]:
        """Return the paths of the skipped files, and `PATH:LINE` for a skipped document of any other file."""
        if not self.dropped:
            return [file.path for file in self.skipped]
        read = {document.file for documents in self.documents.values() for document in documents}
        places = [place for found in self.dropped if (place := found.locate()) is not None]
        documents = (f"{place.file}:{place.line}" if place.file in read else place.file for place in places)
        return list(dict.fromkeys((*(file.path for file in self.skipped), *documents)))

    def take(self, document: Document) -> None:
        """Add one document, sorted by role. A text counts as often as aliases repeat it."""
        if "&" in document.text and "*" in document.text:
            from trainc.kubernetes.trees import repeated

            if not self.meter.charge("input bytes", repeated(document.text, document.value)):
                return
        # The items of a list share its text, which is searched once.
        has_braces = "{{" in document.text
        for found in sort(document, self._kinds_of_file):
            if isinstance(found, Diagnostic):
                if self._may_drop and found.id == NOT_AN_OBJECT.id:
                    self.dropped.append(found)
                else:
                    self.report(found)
            else:
                role, of_a_kind = found
                if has_braces and role != "other" and self._is_of_chart(of_a_kind):
                    continue
                if role == "other" and self.others == "referenced" and not _is_needed(of_a_kind):
                    continue
                self.documents[role].append(self.with_namespace(of_a_kind, role))
                if role == "other" and of_a_kind.value.get("kind") == "ConfigMap":
                    self._take_runtimes(of_a_kind)

    def with_note(self, diagnostic: Diagnostic) -> Diagnostic | None:
        """Return a note in place of an error for the first template of a chart in a folder, None for the others."""
        from trainc.frontends import templates

        file = _file(diagnostic)
        chart = self._chart(file)
        if not chart:
            return diagnostic
        if chart in self.charts:
            return None
        self.charts.add(chart)
        return templates.chart_note(diagnostic, chart)

    def _chart(self, file: str) -> str:
        """Return the chart of a template that may be skipped, or an empty string."""
        from trainc.frontends.templates import chart_of

        return "" if file in self.copied or file in self.given else chart_of(file, self._revision)

    def _is_of_chart(self, document: Document) -> bool:
        """Return whether a document is a template of a chart, which a note reports."""
        from trainc.frontends import templates

        if not self._chart(document.file):
            return False
        found = templates.placeholder(document)
        if found is not None:
            self.report(found)
        return found is not None

    def _take_runtimes(self, configmap: Document) -> None:
        """Sort the runtimes in the data of a ConfigMap, which itself is a document of another kind."""
        from trainc.frontends import configmaps

        for found in configmaps.runtimes(configmap, self._parsed):
            if isinstance(found, Diagnostic):
                self.report(found)
            elif isinstance(found, configmaps.Broken):
                error = found.error
                self.report(Diagnostic.declared(YAML, error.message, error.help, place=found.place))
            else:
                self.documents["runtime"].append(self.with_namespace(found, "runtime"))

    def with_namespace(self, document: Document, role: Role) -> Document:
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


def _is_needed(document: Document) -> bool:
    """Return whether a pod can refer to an object or to its Secret, or its kind is one of Kueue's or a training job."""
    from trainc.files.foreign import QUEUE_KINDS, REFERENCED

    kind, version = document.value.get("kind"), document.value.get("apiVersion")
    group = version.partition("/")[0] if isinstance(version, str) else ""
    return str(kind).endswith(REFERENCED) or kind in QUEUE_KINDS or group.endswith(_TRAINING_GROUPS)


def _no_document(file: inputs.File) -> Diagnostic:
    return fault(file.path, "has no document", "check the output of the command before the pipe")


def _marked_source(document: Document) -> Diagnostic:
    id = ObjectId.from_manifest(document.value)
    return Diagnostic.declared(
        MARKED_SOURCE,
        f"{id.kind} in a file with trainc's marker, which no build writes",
        "remove the first line of a source, or the file",
        object=id,
        place=Place(document, ("kind",)),
    )


def source_in_output(document: Document) -> Diagnostic:
    """Return the error for a TrainJob or a runtime in the output folder."""
    id = ObjectId.from_source(document.value)
    return Diagnostic.declared(
        SOURCE_IN_OUTPUT,
        f'{id.kind} "{id.name}" is in the output folder, which has only outputs',
        "move it to a source folder, or use another output folder",
        object=id,
        place=Place(document, ("kind",)),
    )


def _is_content(diagnostic: Diagnostic) -> bool:
    """Return whether a diagnostic is about a file's content, not about its path."""
    return diagnostic.place is not None and diagnostic.id not in {UNREADABLE.id, inputs.LINK_OUT.id}


class ParsedFiles:
    """The files that several runs have in common: a document is parsed once, and again if its text changes."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, tuple[list[ParsedDocument], list[YamlError]]]] = {}

    @property
    def size(self) -> int:
        """The number of bytes of all files."""
        return sum(len(data) for data, _ in self._known.values())

    def read(self, file: inputs.File) -> tuple[list[ParsedDocument], list[YamlError]]:
        """Return the documents of a file and its errors, as `read_stream` does."""
        known = self._known.get(file.path)
        if known is None or known[0] != file.data:
            from trainc.kubernetes.documents import read_stream

            values = {} if known is None else {each.chunk.text: each.value for each in known[1][0]}
            known = self._known[file.path] = file.data, read_stream(file.data, values)
        return known[1]


def may_be_looked_up(data: bytes) -> bool:
    """Return whether a file may have an object that a rule looks up by its name."""
    return any(kind in data for kind in LOOKED_UP)


def documents_of(
    file: inputs.File,
    drop: Callable[[YamlError, Diagnostic], bool] | None = None,
    parsed: ParsedFiles | None = None,
) -> Iterator[Document | Diagnostic]:
    """Yield a diagnostic for each syntax error of a file, then its documents.

    `drop` returns whether an error is not reported. `parsed` has the files that another run has parsed.
    """
    from trainc.kubernetes.documents import read_stream

    documents, errors = read_stream(file.data) if parsed is None else parsed.read(file)
    if errors:
        from trainc.frontends import templates
        from trainc.frontends.unreadable import BrokenFile

        if not any(isinstance(read.value, dict) for read in documents) and _has_another_format(file):
            yield Diagnostic.declared(YAML, "not YAML or JSON", "give files with manifests", place=Location(file.path))
            return
        broken = BrokenFile(file)
        found = [(error, _syntax_error(error, broken)) for error in errors]
        reported = [pair for pair in found if drop is None or not drop(*pair)]
        yield from templates.syntax_errors(file.path, reported)
    for read in documents:
        chunk = read.chunk
        yield Document(file=file.path, line=chunk.line, column=chunk.column, text=chunk.text, value=read.value)


def _has_another_format(file: inputs.File) -> bool:
    """Return whether the name and the first line of an unreadable file are not those of a manifest."""
    if is_manifest(file.path) or inputs.is_stream(file.path):
        return False
    from trainc.frontends.unreadable import starts_as_object
    from trainc.kubernetes.documents.streams import LARGEST

    return not starts_as_object(str(file.data[:LARGEST], "utf-8", "replace"))


def _syntax_error(error: YamlError, broken: BrokenFile) -> Diagnostic:
    place, related = broken.at(error.line, error.column), broken.conflicting_line(error)
    return Diagnostic.declared(YAML, error.message, error.help, place=place, related=related)
