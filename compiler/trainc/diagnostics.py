"""Diagnostics, the objects and places that they refer to, and the lines of those places.

A check yields findings, a stage turns them into diagnostics, and a report prints them. A place is a path into a parsed
document. Its line and column require a second parse of that document, which `locate` does on demand.

Values here and on the hot path are NamedTuples, because each frozen dataclass adds a millisecond to the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.base.records import NamedTuple
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.base.declarations import Declaration, Phase, Severity
    from trainc.base.fixes import Fix
    from trainc.kubernetes.documents.positions import Span
    from trainc.kubernetes.documents.streams import Chunk
    from trainc.kubernetes.violations import Violation

Path = tuple[str | int, ...]
Identity = tuple[int, Path]
THE_RUNTIME = "the runtime"
"""The message of a related place in a runtime that no file of the tree has."""


class Error(Exception):
    """The base class of the exceptions that trainc raises for its callers. Errors in the input are diagnostics."""


class Document(NamedTuple):
    """A parsed document: its value, and its text with the text's position in the file."""

    file: str
    """The path as the user gave it; `-` is standard input."""
    line: int
    """The 1-based line of the file on which `text` begins."""
    text: str
    value: Any
    column: int = 1
    """The 1-based column of that line."""
    within: Path = ()
    """The path of `value` in `text`; not empty for an item of a List."""
    inside: Inside | None = None
    """The string of another document that this one was read from."""
    edits: tuple[Edit, ...] = ()
    """The edits that have led from the text's value to `value`, in their order."""

    @property
    def unedited(self) -> Any:
        """The text's value."""
        return self.edits[0].before if self.edits else self.value

    @property
    def identity(self) -> Identity:
        """The identity of the object in its text, which every edit keeps."""
        return id(self.text if self.inside is None else self.inside), self.within

    def __repr__(self) -> str:
        """Return the position without the text and its value, which may be long or secret."""
        return f"Document({str(Location(self.file, self.line, self.column))!r})"


class Edit(NamedTuple):
    """A change of a document's value: by a setting or a patch of trainc.yaml, or into the form that the stages read."""

    before: Any
    """The value before it."""
    source: Callable[[Path], Place | Path]
    """Return the place that wrote a field of the value after the edit, or the field's path in the value before it.

    For a missing field, return those of its nearest parent, followed by the rest of the path.
    """


class Inside(NamedTuple):
    """A document in a string: a runtime in the data of a ConfigMap."""

    document: Document
    """The document that has the string."""
    path: Path
    """The path of the string in that document's text."""
    string: str
    chunk: Chunk
    """The document in the string."""
    exact: bool
    """Whether each line of the chunk is a line of the file: line, column and text of the document are the file's."""

    def locate(self, span: Span) -> Location:
        """Return the location in the file of a span of the chunk, without a source: the file has other characters."""
        from trainc.kubernetes.documents.strings import outer_span

        at = outer_span(self.document.text, self.path, self.string, self.chunk, span)
        return _in_file(self.document, at, None)


class Location(NamedTuple):
    """A position in a file: 1-based lines and columns; all 0 for the whole file."""

    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    """The line of the end; 0 if only the start is known."""
    end_column: int = 0
    """The column of the end, exclusive."""
    source: Document | None = None
    """The document of the position, for a report that shows the line."""

    def __str__(self) -> str:
        """Return `file:line:column`, which editors and terminals turn into links."""
        file = "<stdin>" if self.file == "-" else self.file
        return f"{file}:{self.line}:{self.column}" if self.line else file

    def __repr__(self) -> str:
        """Return the position without the text, which may be long or secret."""
        return f"Location({str(self)!r}, end={self.end_line}:{self.end_column})"


class Place(NamedTuple):
    """A field of a document; with `key`, the field's name instead of its value; with `part`, a part of a string."""

    document: Document
    path: Path = ()
    key: bool = False
    part: tuple[int, int] | None = None
    """The first and the end index of the characters of a string value; None for the whole value."""

    @property
    def field(self) -> str:
        """The field in the cluster's notation, as the document's author names it."""
        from trainc.kubernetes.violations import field_of

        return field_of(self.written_path)

    @property
    def written_path(self) -> Path:
        """The field's path in the document as its author wrote it, also if an edit has set the value."""
        return self._read()[0]

    def in_text(self) -> Place:
        """Return the place in the text that set the value: the document's own, that of trainc.yaml or of a patch."""
        document = self.document
        if not document.edits:
            return self
        path, setting = self._read()
        if setting is not None:
            return setting._replace(key=self.key).in_text()
        same = self.part is None or get(document.value, self.path) == get(document.unedited, path)
        source = document._replace(value=document.unedited, edits=())
        return Place(source, path, self.key, self.part if same else None)

    def _read(self) -> tuple[Path, Place | None]:
        """Return the path before all edits, or before the one that set the value, and the place of that one."""
        path = self.path
        for edit in reversed(self.document.edits):
            found = edit.source(path)
            if isinstance(found, Place):
                return path, found
            path = found
        return path, None

    def __repr__(self) -> str:
        """Return the field and its document, without a second parse of the document."""
        from trainc.kubernetes.violations import field_of

        return f"Place({self.document!r}, {field_of(self.path)!r})"

    def locate(self) -> Location:
        """Return the field's position, from a second parse of the document; for a missing field, its parent's."""
        from trainc.kubernetes.documents.positions import span

        if self.document.edits:
            return self.in_text().locate()
        document = self.document
        path = (*document.within, *self.path)
        if self.part is not None:
            from trainc.kubernetes.documents.strings import part_span

            found = part_span(document.text, path, str(get(document.value, self.path)), self.part)
        else:
            found = span(document.text, path, key=self.key)
        if document.inside is not None and not document.inside.exact:
            return document.inside.locate(found)
        return _in_file(document, found, document)


def _in_file(document: Document, span: Span, source: Document | None) -> Location:
    """Return a span of a document's text as a location in its file."""
    return Location(
        file=document.file,
        line=document.line + span.line - 1,
        column=span.column + (document.column - 1 if span.line == 1 else 0),
        end_line=document.line + span.end_line - 1,
        end_column=span.end_column + (document.column - 1 if span.end_line == 1 else 0),
        source=source,
    )


class ObjectId(NamedTuple):
    """The identity of the object that a diagnostic refers to; a part that the object does not set is empty."""

    apiVersion: str = ""  # noqa: N815 (the API's spelling)
    kind: str = ""
    namespace: str = ""
    name: str = ""

    @classmethod
    def from_manifest(cls, value: object) -> ObjectId:
        """Return the identity of a manifest, which may be invalid."""
        tree = value if isinstance(value, dict) else {}
        metadata = tree.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        parts = (tree.get("apiVersion"), tree.get("kind"), metadata.get("namespace"), metadata.get("name"))
        return cls(*[part if isinstance(part, str) else "" for part in parts])

    @classmethod
    def from_source(cls, value: object) -> ObjectId:
        """Return the identity of a manifest for messages and selections: without a name, it has generateName."""
        id = cls.from_manifest(value)
        if id.name:
            return id
        prefix = get(value, ("metadata", "generateName"))
        return id._replace(name=prefix) if isinstance(prefix, str) else id

    @property
    def qualified_name(self) -> str:
        """The name, with the namespace if it has one: `ml/mnist`."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Related(NamedTuple):
    """A second place that explains the first."""

    message: str
    place: Place | Location


class Users(NamedTuple):
    """The TrainJobs that a line of a runtime affects."""

    names: tuple[str, ...]
    """Their namespaces and names, in the order of the output: `ml/mnist`."""
    all: bool
    """Whether all users of the runtime have the fault; if not, it depends on their own fields."""


class Diagnostic(NamedTuple):
    """A message for the user. `field` is a path in the cluster's notation, in the object of that admission phase."""

    id: str
    severity: Severity
    stage: Phase
    message: str
    help: str = ""
    object: ObjectId = ObjectId()
    field: str = ""
    place: Place | Location | None = None
    related: tuple[Related, ...] = ()
    environments: tuple[str, ...] = ()
    """The environments that have it; empty for a project without environments."""
    error_in: tuple[str, ...] = ()
    """Those in which it is an error; empty if it has one severity in all of them."""
    users: Users | None = None
    """The TrainJobs that have it, if its cause is a line of a runtime that they share."""
    fix: Fix | None = None
    """The fix from which the hint is written, if there is one."""
    fixed_in: Document | None = None
    """The document of the fix's paths; None for that of the place."""

    @classmethod
    def declared(
        cls,
        declared: Declaration,
        message: str,
        help: str | Fix = "",
        *,
        object: ObjectId = ObjectId(),  # noqa: B008 (a tuple)
        field: str = "",
        place: Place | Location | None = None,
        related: tuple[Related, ...] = (),
        phase: Phase | None = None,
    ) -> Diagnostic:
        """Return a diagnostic of a declared id; `phase` overrides the declaration's usual phase."""
        stage = phase or declared.phases[0]
        fix, hint = (None, help) if isinstance(help, str) else (help, help.title)
        return cls(declared.id, declared.severity, stage, message, hint, object, field, place, related, fix=fix)

    def locate(self) -> Location | None:
        """Return the diagnostic's position, computed on each call."""
        return self.place.locate() if isinstance(self.place, Place) else self.place

    def __str__(self) -> str:
        """Return `file:line:column: severity[id]: message`, on one line."""
        at = self.locate()
        text = f"{f'{at}: ' if at is not None else ''}{self.severity}[{self.id}]: {self.message}"
        return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)

    def __repr__(self) -> str:
        """Return the message and the document, without a second parse of the document."""
        return f"Diagnostic({self.severity}[{self.id}]: {self.message!r}, {self.place!r})"


class Finding(NamedTuple):
    """The message and place that a check yields; the check's declaration has the id, severity and phase."""

    message: str
    help: str | Fix = ""
    field: str | None = None
    """The path in the cluster's notation; None for that of the place."""
    place: Place | None = None
    related: tuple[Related, ...] = ()


class LintFinding(NamedTuple):
    """A lint rule that a plan violates."""

    rule: str
    path: Path
    """The field at fault, or the missing field, in the JobSetSpec; or one of the JobSet's metadata."""
    what: tuple[str, ...] = ()
    """The subject. Findings of one rule and one document with the same subject become one diagnostic."""
    shared: bool = False
    """Whether the runtime is the cause, independent of the TrainJob."""
    related: tuple[tuple[str, Path], ...] = ()
    """Other fields of the JobSetSpec that explain it, each with a label."""
    key: bool = False
    """Whether the fault is the field's name."""
    part: tuple[int, int] | None = None
    """The begin and end of the fault in the string at `path`, if it is only a part of it."""
    error: bool = False
    """Whether it is an error, so that the TrainJob has no objects."""


class Refused(NamedTuple):
    """The violations in one compiled object, at one admission phase, before their source lines are resolved."""

    stage: Phase
    object: ObjectId
    violations: tuple[Violation, ...]


class Checked(NamedTuple):
    """A checked TrainJob or runtime, with or without diagnostics."""

    object: ObjectId
    file: str
    """The file, as in `Document`."""
    skipped: bool = False
    """Whether the TrainJob was not compiled."""
    source: ObjectId | None = None
    """The identity in the source file, if it is known: settings may change the namespace and the name."""
    generated: str = ""
    """The name of a TrainJob that has only generateName, which is the name in its identity."""


def failed(diagnostics: Iterable[Diagnostic]) -> bool:
    """Return whether any diagnostic is an error."""
    return any(d.severity == "error" for d in diagnostics)


def warnings_as_errors(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with warnings turned into errors."""
    return tuple(_as_error(d) if d.severity == "warning" else d for d in diagnostics)


def _as_error(warning: Diagnostic) -> Diagnostic:
    """Return a warning as an error. Its fix is not safe, because a cluster accepts the document as it is."""
    fix = warning.fix
    unsafe = None if fix is None or fix.applicability == "none" else fix._replace(applicability="unsafe")
    return warning._replace(severity="error", fix=unsafe)
