"""What the compiler has to say: a diagnostic, the object and the place it speaks of, and where that place is.

A check yields findings; a stage turns them into diagnostics; a report prints them. A place is a path into a document
that was read; its line and column come from a second reading of that document, made only when somebody asks.

Values here and on the hot path are NamedTuples, not frozen dataclasses: each of those costs a millisecond at a start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.declarations import Declaration, Phase, Severity
    from trainc.kubernetes.documents.positions import Span
    from trainc.kubernetes.documents.streams import Chunk
    from trainc.kubernetes.violations import Violation

Path = tuple[str | int, ...]


class Document(NamedTuple):
    """One document as it was read: its value, and its text with the place where that stands in its file."""

    file: str
    """The path as the user gave it; `-` is standard input."""
    line: int
    """The 1-based line of the file on which `text` begins."""
    text: str
    value: Any
    column: int = 1
    """The 1-based column of that line."""
    within: Path = ()
    """Where `value` stands in `text`: not at its top when it is an item of a List."""
    inside: Inside | None = None
    """The string of another document that this one was read from."""


class Inside(NamedTuple):
    """A document in a string: a runtime in the data of a ConfigMap."""

    document: Document
    """The one that has the string."""
    path: Path
    """Where the string is in that one's text."""
    string: str
    chunk: Chunk
    """The document in the string."""
    exact: bool
    """Whether each line of the chunk is a line of the file: line, column and text of the document are the file's."""

    def locate(self, found: Span) -> Location:
        """Return the place in the file of a place in the chunk, without a source: the file has other characters."""
        from trainc.kubernetes.documents.strings import outer_span

        at = outer_span(self.document.text, self.path, self.string, self.chunk, found)
        return _in_file(self.document, at, None)


class Location(NamedTuple):
    """A place in a file: 1-based lines and columns; all 0 where the whole file is meant."""

    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    """Where it ends; 0 where only its beginning is known."""
    end_column: int = 0
    """The column behind its last character."""
    source: Document | None = None
    """The text that it is a place of, for a report that shows the line."""

    def __str__(self) -> str:
        """`file:line:column`, as editors and terminals make links of."""
        file = "<stdin>" if self.file == "-" else self.file
        return f"{file}:{self.line}:{self.column}" if self.line else file

    def __repr__(self) -> str:
        """Without the text, which may be long, and secret."""
        return f"Location({str(self)!r}, end={self.end_line}:{self.end_column})"


class Place(NamedTuple):
    """A field of a document; `key` points at the field's name, not at its value."""

    document: Document
    path: Path = ()
    key: bool = False

    def locate(self) -> Location:
        """Read the document a second time, and find the field; a missing one is placed at its parent."""
        from trainc.kubernetes.documents.positions import span

        document = self.document
        found = span(document.text, (*document.within, *self.path), key=self.key)
        if document.inside is not None and not document.inside.exact:
            return document.inside.locate(found)
        return _in_file(document, found, document)


def _in_file(document: Document, found: Span, source: Document | None) -> Location:
    """Return a span of a document's text as a location in its file."""
    return Location(
        file=document.file,
        line=document.line + found.line - 1,
        column=found.column + (document.column - 1 if found.line == 1 else 0),
        end_line=document.line + found.end_line - 1,
        end_column=found.end_column + (document.column - 1 if found.end_line == 1 else 0),
        source=source,
    )


class ObjectId(NamedTuple):
    """Which object a diagnostic speaks of. Empty strings where the object does not say."""

    apiVersion: str = ""  # noqa: N815 (the API's spelling)
    kind: str = ""
    namespace: str = ""
    name: str = ""

    @classmethod
    def of(cls, value: object) -> ObjectId:
        """The identity of a manifest, whatever state it is in."""
        tree = value if isinstance(value, dict) else {}
        metadata = tree.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        said = (tree.get("apiVersion"), tree.get("kind"), metadata.get("namespace"), metadata.get("name"))
        return cls(*[text if isinstance(text, str) else "" for text in said])


class Related(NamedTuple):
    """A second place that explains the first."""

    message: str
    place: Place | Location


class Diagnostic(NamedTuple):
    """One thing to tell the user. `field` is the path as the cluster spells it, in the object of that stage."""

    id: str
    severity: Severity
    stage: Phase
    message: str
    help: str = ""
    object: ObjectId = ObjectId()
    field: str = ""
    place: Place | Location | None = None
    related: tuple[Related, ...] = ()

    @classmethod
    def of(
        cls,
        declared: Declaration,
        message: str,
        help: str = "",
        *,
        object: ObjectId = ObjectId(),  # noqa: B008 (a tuple)
        field: str = "",
        place: Place | Location | None = None,
        related: tuple[Related, ...] = (),
        phase: Phase | None = None,
    ) -> Diagnostic:
        """Return a diagnostic of a declared id; `phase` is given where the fault surfaces elsewhere than usual."""
        stage = phase or declared.phases[0]
        return cls(declared.id, declared.severity, stage, message, help, object, field, place, related)

    def locate(self) -> Location | None:
        """Where it is, found now."""
        return self.place.locate() if isinstance(self.place, Place) else self.place


class Finding(NamedTuple):
    """What a check yields: it knows what is wrong and where, the check knows the rest."""

    message: str
    help: str = ""
    field: str = ""
    """The path as the cluster spells it."""
    place: Place | None = None
    related: tuple[Related, ...] = ()


class LintFinding(NamedTuple):
    """A rule that a plan does not keep."""

    rule: str
    path: Path
    """What is at fault, or missing, in the JobSetSpec."""
    what: tuple[str, ...] = ()
    """What it is about. Regrets of one rule, one document and the same words are one, wherever they are."""
    shared: bool = False
    """Whether the runtime is the cause, whatever the TrainJob says."""
    related: tuple[tuple[str, Path], ...] = ()
    """Other fields of the JobSetSpec that explain it: a label and a path each."""


class Refused(NamedTuple):
    """Violations in one compiled object, at one admission phase. Their source lines are not resolved yet."""

    stage: Phase
    object: ObjectId
    violations: tuple[Violation, ...]


class Checked(NamedTuple):
    """A TrainJob or runtime that was looked at, whatever was found."""

    object: ObjectId
    file: str
    """As a document's."""
    skipped: bool = False
    """Whether nothing was made of a TrainJob."""


def failed(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them is an error."""
    return any(d.severity == "error" for d in diagnostics)


def strictly(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The same with warnings as errors."""
    return tuple(d._replace(severity="error") if d.severity == "warning" else d for d in diagnostics)
