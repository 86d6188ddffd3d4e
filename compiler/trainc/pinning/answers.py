"""The runtimes of an answer: a list of kubectl as JSON or YAML, or the documents of a rendered chart.

Reads    the bytes, which are untrusted.
Returns  the runtimes with valid names, each once, and the diagnostics of the others. A JSON list may be larger than a
         manifest: a cluster may have thousands of runtimes, and each of them is a document of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import RUNTIMES
from trainc.diagnostics import Diagnostic, Document, Location, ObjectId, Place
from trainc.files.inputs import File
from trainc.frontends.reading import Reading
from trainc.kubernetes.documents.streams import LARGEST
from trainc.kubernetes.names import dns1123_label_errors, dns1123_subdomain_errors
from trainc.kubernetes.violations import INVALID_NAME, INVALID_NAMESPACE
from trainc.pipeline.library import Level, key_of

if TYPE_CHECKING:
    from trainc.pipeline.library import Conformed

NO_RUNTIMES: Final = Declaration("no-runtimes", ("read",), trainc_only=True)

_BEGINS: Final = (b"{", b"\xef\xbb\xbf{")


class PulledRuntimes:
    """The runtimes of an answer and its diagnostics."""

    def __init__(self, reading: Reading, file: str) -> None:
        documents = reading.documents["runtime"]
        level, duplicates = Level.build("", documents, _unconformed)
        self.runtimes = [entry.document for entry in level.entries.values()]
        self.diagnostics = [*reading.diagnostics, *duplicates]
        for document in self.runtimes:
            self.diagnostics += _names(document)
        if not self.runtimes and not self.diagnostics:
            self.diagnostics.append(_no_runtimes(file))


def parse_answer(data: bytes, file: str) -> PulledRuntimes | None:
    """Return the runtimes of kubectl's answer; None if it is not a JSON list."""
    reading = Reading(kinds=RUNTIMES)
    return PulledRuntimes(reading, file) if _take_list(reading, data, file) else None


def parse_file(data: bytes, file: str, *, namespace: str | None) -> PulledRuntimes:
    """Return the runtimes of a file; `namespace` becomes the namespace of TrainingRuntimes that set none."""
    reading = Reading(kinds=RUNTIMES, namespace=namespace)
    if not _take_list(reading, data, file):
        reading.add(File(file, data))
    return PulledRuntimes(reading, file)


def _take_list(reading: Reading, data: bytes, file: str) -> bool:
    """Add the items of a JSON list of any length; return False for other content."""
    document = json_object(data, file)
    if document is None or not str(document.value.get("kind")).endswith("List"):
        return False
    if not isinstance(document.value.get("items"), list):
        return False
    reading.take(document)
    return True


def json_object(data: bytes, file: str) -> Document | None:
    """Return a JSON object of any length; None for other content."""
    from trainc.kubernetes.documents import DEEPEST
    from trainc.kubernetes.documents.jsonobjects import sole_object
    from trainc.kubernetes.documents.yamlerror import YamlError

    if not data.lstrip().startswith(_BEGINS):
        return None
    try:
        text = data.decode("utf-8-sig")
        value = sole_object(text, deepest=DEEPEST)
    except (UnicodeDecodeError, YamlError):
        return None
    return None if value is None else Document(file=file, line=1, text=text, value=value)


def _names(document: Document) -> list[Diagnostic]:
    """Report a name or namespace that no object in a cluster can have, and that may lead out of the folder."""
    kind, namespace, name = key_of(document)
    found = []
    if not name or dns1123_subdomain_errors(name):
        message = f'metadata.name "{name}" is not a valid name' if name else f"the {kind} has no metadata.name"
        help = "use lowercase letters, digits, - and .; start and end with a letter or digit"
        found.append(_metadata_diagnostic(document, "name", INVALID_NAME, message, help))
    if namespace and dns1123_label_errors(namespace):
        message = f'metadata.namespace "{namespace}" is not a valid namespace'
        found.append(
            _metadata_diagnostic(
                document, "namespace", INVALID_NAMESPACE, message, "use lowercase letters, digits and -"
            )
        )
    return found


def _metadata_diagnostic(document: Document, field: str, declared: Declaration, message: str, help: str) -> Diagnostic:
    """Return a diagnostic at a field of the metadata; without a line in a text that is too large to read again."""
    whole = len(document.text) > LARGEST
    place = Location(document.file) if whole else Place(document, ("metadata", field))
    id = ObjectId.from_manifest(document.value)
    return Diagnostic.declared(declared, message, help, object=id, field=f"metadata.{field}", place=place)


def _no_runtimes(file: str) -> Diagnostic:
    return Diagnostic.declared(
        NO_RUNTIMES,
        "has no TrainingRuntime and no ClusterTrainingRuntime",
        "check the context or the file; to unpin all runtimes, remove the folder",
        place=Location(file=file),
    )


def _unconformed(document: Document, level: str) -> Conformed:
    raise AssertionError("a pinned runtime is written as the cluster returns it")
