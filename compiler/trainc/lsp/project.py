"""The project that an editor has open: its texts, the last answers, and positions in the units of the client.

A text that is not valid YAML has its own diagnostic; everything else is answered with the last text that was. Files
outside of the root are not read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec, ServerTextPosition, ServerTextRange

import trainc
from trainc.lsp.outline import Outline, outline_at

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONS: Final = trainc.Options(budget="ci")
SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
UNREADABLE: Final = ("yaml", "unreadable")
"""The diagnostics of a text that has no documents."""


class OpenProject:
    """The files below a folder, with the texts of the open ones. The current folder is the root."""

    def __init__(self, root: str, codec: PositionCodec | None = None) -> None:
        self.root = os.path.realpath(root)
        self.folder = root
        """The root as the client names it: with links."""
        self.opened_as: dict[str, str] = {}
        """The URIs of the open files, as the client writes them."""
        self.published: dict[str, str] = {}
        """The files with diagnostics in the editor, each with the URI that has them."""
        self.codec = codec or PositionCodec()
        self.texts: dict[str, str] = {}
        """The texts of the open files, by their path below the root."""
        self.readable: dict[str, str] = {}
        """The last text of each open file that was valid YAML."""
        self.found: dict[str, list[trainc.Diagnostic]] = {}
        """The diagnostics of each file."""
        self.session = trainc.Session(for_editor=True, options=OPTIONS)
        self.whole: trainc.Result | None = None
        """The last result of all files."""
        self._queues: dict[str, list[dict[str, Any]]] = {}
        """The queues of each environment in it."""
        self._results: dict[str, trainc.Result] = {}
        """The last result of some files, with the jobs in them."""

    def path(self, uri: str) -> str | None:
        """Return the path of a file below the root; None for any other document."""
        path = to_fs_path(uri)
        if path is None or not os.path.isabs(path):  # a path of Windows has a drive
            return None
        below = os.path.relpath(os.path.realpath(path), self.root)
        return None if below == os.curdir or below.split(os.sep)[0] == os.pardir else below

    def uri(self, path: str) -> str:
        """Return the URI of a file."""
        return self.opened_as.get(path) or from_fs_path(os.path.join(self.folder, path)) or ""

    def text(self, path: str) -> str:
        """Return the text of a file, as the editor or else the disk has it; empty if it cannot be read."""
        if path in self.texts:
            return self.texts[path]
        if self.path(self.uri(path)) is None:
            return ""
        try:
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                return file.read()
        except (OSError, UnicodeDecodeError):
            return ""

    def outline(self, path: str, line: int) -> Outline:
        """Return the outline of the document at a line of a file."""
        return outline_at(self.text(path), line)

    def is_job(self, path: str) -> bool:
        """Whether a file has only TrainJobs, so that no other file depends on it."""
        if self.whole is None or os.path.basename(path) == "trainc.yaml":
            return False
        known = self.whole.documents
        others = (*known.runtimes, *known.others)
        return any(each.file == path for each in known.jobs) and not any(each.file == path for each in others)

    def check_file(self, path: str) -> set[str]:
        """Check an open file among the others, and return the files whose diagnostics may differ."""
        result = self.session.check_file(path, {**self.readable, path: self.texts[path]})
        found = [each for each in result.diagnostics if self.file_of(each) == path]
        if unreadable := [each for each in found if each.id in UNREADABLE]:
            self.found[path] = unreadable
            return {path}
        self.readable[path] = self.texts[path]
        self._keep(path, result)
        self.found[path] = found
        return {path}

    def check(self) -> set[str]:
        """Check all files, and return those whose diagnostics may differ."""
        broken = {}
        for path, text in self.texts.items():
            if self.readable.get(path) == text:
                continue
            self.check_file(path)
            if self.readable.get(path) != text:
                broken[path] = self.found[path]
        self.whole = self.session.check(self.readable)
        self._results = {path: each for path, each in self._results.items() if path in broken or not self._has(path)}
        self._queues = {}
        self.found = {}
        for each in self.whole.diagnostics:
            if (file := self.file_of(each)) not in broken:
                self.found.setdefault(file, []).append(each)
        self.found.update(broken)
        return {*self.published, *self.found, *self.texts}

    def _has(self, path: str) -> bool:
        """Whether the last result of all files has a job of a file."""
        return self.whole is not None and any(each.document.file == path for each in self.whole.jobs)

    def open(self, path: str, uri: str, text: str) -> None:
        """Keep the text of a file, and its URI as the client writes it."""
        self.texts[path], self.opened_as[path] = text, uri

    def close(self, path: str) -> None:
        """Forget the text of a file: the disk has it."""
        for known in (self.texts, self.readable, self.opened_as, self._results):
            known.pop(path, None)

    def file_of(self, diagnostic: trainc.Diagnostic) -> str:
        """Return the file that shows a diagnostic: without a file below the root, trainc.yaml."""
        at = diagnostic.locate()
        return (None if at is None else self.shown_at(at.file)) or "trainc.yaml"

    def shown_at(self, file: str) -> str | None:
        """Return the path that shows the diagnostics of a file: that of the file, or of a link out of the root."""
        whole = os.path.join(self.root, file)
        is_link = os.path.islink(whole) and not os.path.isdir(whole)
        return self.path(self.uri(file)) or (os.path.normpath(file) if is_link and not os.path.isabs(file) else None)

    def parts(self, path: str) -> tuple[trainc.Result, ...]:
        """Return the result of a file in each environment; the last one with a job, while the job has errors."""
        if path not in self._results:
            self._keep(path, self.session.check_file(path, self.readable))
        return self._results[path].parts

    def _keep(self, path: str, result: trainc.Result) -> None:
        if path not in self._results or result.jobs or result.jobsets:
            self._results[path] = result

    def jobs(self, path: str, document: Outline) -> Iterator[tuple[str, trainc.CompiledJob]]:
        """Yield the environment and the job of a document, in each environment that compiles it."""
        for part in self.parts(path):
            for job in (*part.jobs, *part.jobsets):
                metadata = job.document.value.get("metadata") if isinstance(job.document.value, dict) else None
                name = metadata.get("name") if isinstance(metadata, dict) else None
                written = trainc.ObjectId.from_source(job.document.unedited).name
                if job.document.file == path and document.name in (name, written):
                    yield part.environment, job
                    break

    def documents(self) -> Iterator[trainc.Document]:
        """Yield the documents of all files, as they are written."""
        if self.whole is not None:
            found = self.whole.documents
            documents = (*found.jobs, *found.runtimes, *found.others)
            # Every environment reads them again.
            yield from {(each.file, each.line, each.column, each.within): each for each in documents}.values()

    def range(self, at: trainc.Location) -> lsp.Range:
        """Return a location in the units of the client. One without an end is one character."""
        if not at.line:
            return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        end = (at.end_line, at.end_column) if at.end_line else (at.line, at.column + 1)
        return self.units(at.file, at.line - 1, at.column - 1, end[0] - 1, end[1] - 1)

    def units(self, path: str, line: int, column: int, end_line: int, end_column: int) -> lsp.Range:
        """Return a range in the units of the client; the arguments count from 0, in code points."""
        found = ServerTextRange(ServerTextPosition(line, column), ServerTextPosition(end_line, end_column))
        return self.codec.range_to_client_units(self.text(path).split("\n"), found)

    def code_points(self, path: str, position: lsp.Position) -> ServerTextPosition:
        """Return a position of the client in code points."""
        # The codec changes the position that it is given, and takes the end of a line for the character before it.
        lines = [f"{line}\n" for line in self.text(path).split("\n")]
        return self.codec.position_from_client_units(lines, lsp.Position(position.line, position.character))

    def location(self, at: trainc.Location) -> lsp.Location | None:
        """Return a location in a file; None outside of the root."""
        path = self.path(self.uri(at.file))
        return None if path is None else lsp.Location(self.uri(path), self.range(at))

    def diagnostics(self, path: str) -> list[tuple[trainc.Diagnostic, lsp.Diagnostic]]:
        """Return the diagnostics of a file, each also as the protocol has it.

        A value that makes several fields of the output invalid has one of them.
        """
        found = ((each, self._diagnostic(each, path)) for each in self.found.get(path, ()))
        return [*{(shown.code, shown.message, str(shown.range)): (each, shown) for each, shown in found}.values()]

    def _diagnostic(self, each: trainc.Diagnostic, path: str) -> lsp.Diagnostic:
        """Return a diagnostic as the protocol has it."""
        at = each.locate()
        is_here = at is not None and self.shown_at(at.file) == path
        message = each.message if at is None or is_here else f"{at.file}: {each.message}"
        if each.help:
            message += f"\nhelp: {each.help}"
        if each.environments and set(each.environments) < self.environments:
            message += f"\nin {', '.join(each.environments)}"
        places = (
            (related.message, related.place.locate() if isinstance(related.place, trainc.Place) else related.place)
            for related in each.related
        )
        return lsp.Diagnostic(
            range=self.range(at) if at is not None and is_here else lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)),
            message=message,
            severity=SEVERITIES[each.severity],
            code=each.id,
            code_description=lsp.CodeDescription(trainc.address_of(each.id)),
            source="trainc",
            related_information=[
                lsp.DiagnosticRelatedInformation(found, message)
                for message, place in places
                if (found := self.location(place)) is not None
            ],
        )

    def queues(self, environment: str) -> list[dict[str, Any]]:
        """Return the ClusterQueues of an environment, with what all its jobs request from them."""
        for part in self.whole.parts if self.whole is not None else ():
            if part.environment == environment:
                if environment not in self._queues:
                    self._queues[environment] = trainc.queues_of(part)
                return self._queues[environment]
        return []

    @property
    def environments(self) -> set[str]:
        """The environments of the project."""
        return set() if self.whole is None else {part.environment for part in self.whole.parts}
