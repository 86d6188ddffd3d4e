"""Runtimes in ConfigMaps, from which a hook Job or an operator applies them.

Reads    a ConfigMap; each value of its data that holds a TrainingRuntime or ClusterTrainingRuntime.
Returns  the runtimes as documents of their own, with their places in the ConfigMap's file; and what is wrong with the
         other documents of such a value, as `kubectl apply` reads all of it. Values without a runtime are not ours,
         whatever they look like. TrainJobs stay where they are.
Source   kubeflow/trainer v2.3.0, charts/kubeflow-trainer: the runtimes of the installer Job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import OLD_GROUP, RUNTIME, RUNTIMES, role_of
from trainc.base.records import NamedTuple
from trainc.budget import size_of
from trainc.diagnostics import Diagnostic, Document, Inside, Location
from trainc.frontends import sort
from trainc.kubernetes.documents import ParsedDocument, YamlError, read_stream
from trainc.kubernetes.documents.positions import Span
from trainc.kubernetes.documents.streams import Chunk
from trainc.kubernetes.documents.strings import Scalar, in_literal, scalar, without_separator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.kubernetes.trees import Path, Tree

MARK: Final = RUNTIME.kind
"""Both kinds of runtime end in this."""
LARGEST: Final = 2**20
"""The API server takes no ConfigMap with more bytes."""


class Broken(NamedTuple):
    """A document that cannot be read, in a value that holds a runtime."""

    error: YamlError
    place: Location


Parsed = dict[str, tuple[list[ParsedDocument], list[YamlError]]]
"""The documents and errors of texts that have been parsed."""


def runtimes(
    configmap: Document, parsed: Parsed, charge: Callable[[int], bool]
) -> Iterator[Document | Diagnostic | Broken]:
    """Yield the runtimes of a ConfigMap, and the faults of the values that hold them.

    Args:
        configmap: the ConfigMap. None is found in one that is too large for an API server.
        parsed: the texts that the run has parsed. An alias repeats a text, which is parsed once.
        charge: charges the bytes of each text with a runtime, also of an alias; returns whether the run may continue.
    """
    data = configmap.value.get("data")
    texts = {key: value for key, value in data.items() if isinstance(value, str)} if isinstance(data, dict) else {}
    if sum(map(len, texts.values())) > LARGEST or sum(map(size_of, texts.values())) > LARGEST:
        return
    known: dict[tuple[Scalar | None, str], list[Document | Diagnostic | Broken]] = {}
    for key, value in texts.items():
        if MARK not in value or OLD_GROUP not in value:
            continue
        if not charge(size_of(value)):
            return
        if value not in parsed:
            parsed[value] = read_stream(value)
        at = (*configmap.within, "data", key)
        written = scalar(configmap.text, at), value
        if written in known:
            yield from (_document_at_alias(one, at) for one in known[written])
        else:
            found = known[written] = [*_documents_in_value(configmap, ("data", key), value, *parsed[value])]
            yield from found


def without_runtimes(configmap: Document) -> Tree:
    """Return a ConfigMap without the values of its data that hold only runtimes; without `data` if none is left."""
    tree: Tree = configmap.value
    data = tree.get("data")
    if not isinstance(data, dict):
        return tree
    rest = {key: value for key, value in data.items() if not _holds_only_runtimes(value)}
    if len(rest) == len(data):
        return tree
    return {key: rest if key == "data" else value for key, value in tree.items() if key != "data" or rest}


def _holds_only_runtimes(value: object) -> bool:
    """Whether each document of a value is a runtime that a run reads."""
    if not (isinstance(value, str) and len(value) <= LARGEST and MARK in value and OLD_GROUP in value):
        return False
    read, errors = read_stream(value)
    kinds = [
        role_of(str(part.value.get("apiVersion")), str(part.value.get("kind")))
        for part in read
        if isinstance(part.value, dict)
    ]
    return not errors and len(kinds) == len(read) and {*kinds} == {"runtime"}


def _document_at_alias(one: Document | Diagnostic | Broken, path: Path) -> Document | Diagnostic | Broken:
    """Return a document of a text that an alias repeats at a path; its place is that of the text."""
    if not isinstance(one, Document) or one.inside is None:
        return one
    return one._replace(inside=one.inside._replace(path=path))


def _documents_in_value(
    configmap: Document, path: Path, value: str, read: Sequence[ParsedDocument], errors: Sequence[YamlError]
) -> Iterator[Document | Diagnostic | Broken]:
    sorted_documents = [
        found for part in read for found in sort(document(configmap, path, value, part.chunk, part.value), RUNTIMES)
    ]
    found = [found for found in sorted_documents if isinstance(found, Diagnostic) or found[0] == "runtime"]
    if any(not isinstance(one, Diagnostic) for one in found):
        yield from (one if isinstance(one, Diagnostic) else one[1] for one in found)
        yield from (broken_value(configmap, path, value, error) for error in errors)


def document(configmap: Document, path: Path, value: str, chunk: Chunk, tree: object) -> Document:
    """Return a document of a value: as it is in the file, where its lines are lines of the file."""
    chunk = without_separator(chunk)
    at = (*configmap.within, *path)
    found = scalar(configmap.text, at)
    raw = in_literal(configmap.text, found, chunk) if found is not None else None
    if raw is not None and _reads_as(raw.text, tree):
        line, column = configmap.line + raw.line - 1, raw.column + (configmap.column - 1 if raw.line == 1 else 0)
        inside = Inside(configmap, at, value, chunk, exact=True)
        return Document(configmap.file, line, raw.text, tree, column, inside=inside)
    inside = Inside(configmap, at, value, chunk, exact=False)
    start = inside.locate(Span(1, 1, 1, 1))
    return Document(configmap.file, start.line, chunk.text, tree, start.column, inside=inside)


def _reads_as(text: str, tree: object) -> bool:
    """Whether a text is one document with that value."""
    read, errors = read_stream(text)
    return not errors and [document.value for document in read] == [tree]


def broken_value(configmap: Document, path: Path, value: str, error: YamlError) -> Broken:
    """Return a fault of a value with its place, and with the lines of the file that the message names."""
    place = _place(configmap, path, value, error.line or 1, error.column or 1)
    since = _place(configmap, path, value, error.since, 1).line if error.since else 0
    return Broken(YamlError(error.what, line=place.line, column=place.column, help=error.help, since=since), place)


def _place(configmap: Document, path: Path, value: str, line: int, column: int) -> Location:
    """Return a place in a value; with its line, where that is a line of the file."""
    whole, at = Chunk(value), (*configmap.within, *path)
    found = scalar(configmap.text, at)
    raw = in_literal(configmap.text, found, whole) if found is not None else None
    if raw is None:
        inside = Inside(configmap, at, value, whole, exact=False)
        return inside.locate(Span(line, column, line, column + 1))._replace(end_line=0, end_column=0)
    source = Document(configmap.file, configmap.line + raw.line - 1, raw.text, None)
    lines = raw.text.split("\n"), value.split("\n")
    indentation = max(len(lines[0][line - 1].rstrip("\r")) - len(lines[1][line - 1]), 0)
    return Location(configmap.file, source.line + line - 1, indentation + column, source=source)
