"""`extends`: the settings files that a settings file extends, and those that they extend in turn.

Reads    `extends`, which is one path or a list of paths, relative to the file that has it. The files are on disk, or in
         a commit, as the project is.
Returns  the files, each after those that it extends. A file that several files extend is one layer, below all of them.
         An error is at the line of `extends`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.option_rows import RELEASE_ROWS
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Document, Place
from trainc.files.walk import fault
from trainc.frontends.reading import documents_of
from trainc.kubernetes.violations import TOO_MANY_ITEMS, WRONG_TYPE, field_of, shown
from trainc.settings.model import SettingsFile
from trainc.settings.paths import fault as path_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.diagnostics import Path
    from trainc.files import inputs

KEY: Final = "extends"
CIRCULAR_EXTENDS: Final = Declaration("circular-extends", ("read",), trainc_only=True)
MOST_FILES: Final = 100
"""The most files that one project extends."""


class FileSource(NamedTuple):
    """Where the files of a project are: on disk, or in a commit."""

    read: Callable[[str], inputs.File | Diagnostic]
    """Return the settings file at an absolute path; a diagnostic if it cannot be read."""
    resolved: Callable[[str], str]
    """Return an absolute path with all links resolved."""


def parsed(file: inputs.File) -> tuple[Document, tuple[Diagnostic, ...]]:
    """Return the document of a settings file, and its faults; an empty document if it has faults."""
    found = list(documents_of(file))
    documents = [document for document in found if isinstance(document, Document)]
    wrong = [_without_kubectl(diagnostic) for diagnostic in found if isinstance(diagnostic, Diagnostic)]
    if len(documents) > 1:
        message = f"{file.path} has {len(documents)} documents instead of one"
        wrong.append(fault(file.path, message, "keep one document")._replace(place=Place(documents[1])))
    if wrong or not documents:
        return Document(file=file.path, line=1, text="", value={}), tuple(wrong)
    document = documents[0]
    if any(key in document.text for key in RELEASE_ROWS):
        from trainc.settings.versions import with_version_texts

        document = with_version_texts(document)
    return document, ()


def _without_kubectl(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic without what kubectl does with a manifest: it does not read settings."""
    help, kubectl, _ = diagnostic.help.partition(": kubectl ")
    return diagnostic._replace(help=help) if kubectl else diagnostic


def extended_files(
    own: SettingsFile, root: str, source: FileSource
) -> tuple[tuple[SettingsFile, ...], list[Diagnostic]]:
    """Return the files that a file extends, without itself, and the faults of reading them.

    Args:
        own: the project's own file.
        root: the folder that the files must be in.
        source: where they are.
    """
    if not isinstance(own.document.value, dict) or own.document.value.get(KEY) is None:
        return (), []
    reading = _Reading(root, source)
    reading.add(own, source.resolved(own.path), ())
    return tuple(reading.files[:-1]), reading.faults


class _Reading:
    """The files that are read for one project."""

    def __init__(self, root: str, source: FileSource) -> None:
        self.root = root
        self.source = source
        self.files: list[SettingsFile] = []
        """The files, each after those that it extends."""
        self.faults: list[Diagnostic] = []
        self._seen: set[str] = set()
        """The paths of the files, with all links resolved."""

    def add(self, file: SettingsFile, real: str, above: tuple[tuple[str, str], ...]) -> None:
        """Add a file after those that it extends; `above` are the files that extend it: real path and shown path."""
        self._seen.add(real)
        chain = (*above, (real, file.document.file))
        for place, written in self._listed(file.document):
            below = self._read(file, place, written, chain)
            if isinstance(below, Diagnostic):
                self.faults.append(below)
            elif below is not None:
                self.add(*below, chain)
        self.files.append(file)

    def _listed(self, document: Document) -> Iterator[tuple[Place, str]]:
        """Yield the paths in `extends`, each with its place."""
        value = document.value.get(KEY) if isinstance(document.value, dict) else None
        items: list[tuple[Path, Any]] = [((KEY,), value)]
        if isinstance(value, list):
            items = [((KEY, index), item) for index, item in enumerate(value)]
        for path, item in items:
            place = Place(document, path)
            if isinstance(item, str):
                yield place, item
            elif item is not None:
                message, help = f"{KEY} must be a path or a list of paths", "use the path of a settings file"
                self.faults.append(
                    Diagnostic.declared(WRONG_TYPE, message, help, field=field_of(path), place=place, phase="read")
                )

    def _read(
        self, file: SettingsFile, place: Place, written: str, chain: tuple[tuple[str, str], ...]
    ) -> tuple[SettingsFile, str] | Diagnostic | None:
        """Return the file at a path, with its real path; an error, or None for a file that is already a layer."""
        field = field_of(place.path)
        folder, root = self.source.resolved(file.folder), self.source.resolved(self.root)
        if (wrong_path := path_fault(KEY, written, place, folder=folder, root=root)) is not None:
            return wrong_path
        path = os.path.normpath(os.path.join(file.folder, written))
        real = self.source.resolved(path)
        names = [name for _, name in chain]
        if circle := [index for index, (known, _) in enumerate(chain) if known == real]:
            listed = " -> ".join([*names[circle[0] :], names[circle[0]]])
            message, help = f"{names[circle[0]]} extends itself: {listed}", f"remove {written} here"
            return Diagnostic.declared(CIRCULAR_EXTENDS, message, help, field=field, place=place)
        if real in self._seen:
            return None
        if len(self._seen) > MOST_FILES:
            message, help = f"the project extends more than {MOST_FILES} files", "merge some of them"
            return Diagnostic.declared(TOO_MANY_ITEMS, message, help, field=field, place=place, phase="read")
        read = self.source.read(path)
        if isinstance(read, Diagnostic):
            self._seen.add(real)
            return read._replace(message=f"{written or shown(written)} {read.message}", field=field, place=place)
        document, wrong = parsed(read)
        self.faults += wrong
        return SettingsFile(document, path), real
