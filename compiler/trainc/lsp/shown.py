"""Documents that the server writes: compiled objects, pods, reviews, and built-in runtimes.

Reads    the last results of the project.
Returns  a URI for each document. If the client registers the scheme (LSP 3.18), it is one of the scheme
         `trainc`, and follows the edits; if not, it is a read-only file in a temporary folder, which is written again.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Final

from pygls.uris import from_fs_path

import trainc
from trainc.lsp.references import built_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.lsp.project import OpenProject

SCHEME: Final = "trainc"
BUILT_IN: Final = "<built-in>/"
NO_JOB: Final = "# {} has no job without errors\n"


class ShownDocuments:
    """The documents that were shown, each with its last text."""

    def __init__(self, *, virtual: bool) -> None:
        self.virtual = virtual
        """Whether the client asks the server for the texts."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._known: dict[str, tuple[str, str, str]] = {}
        """The view, the environment and the path of each URI."""
        self._texts: dict[str, str] = {}

    def show(self, project: OpenProject, view: str, environment: str, path: str) -> str:
        """Write a document, and return its URI."""
        name = os.path.join(view, environment, path)
        uri = f"{SCHEME}:/{name}" if self.virtual else from_fs_path(os.path.join(self._temporary(), name)) or ""
        self._known[uri] = (view, environment, path)
        self._write(project, uri)
        return uri

    def text(self, uri: str) -> str:
        """Return the text of a document; empty for an unknown one."""
        return self._texts.get(uri, "")

    def refresh(self, project: OpenProject) -> list[str]:
        """Write all documents again, and return the URIs of those that differ. A review is not written again."""
        return [uri for uri, (view, _, _) in self._known.items() if view != "review" and self._write(project, uri)]

    def close(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            self._folder.cleanup()

    def _temporary(self) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="trainc-")
        return self._folder.name

    def _write(self, project: OpenProject, uri: str) -> bool:
        view, environment, path = self._known[uri]
        text = VIEWS[view](project, environment, path)
        if self._texts.get(uri) == text:
            return False
        self._texts[uri] = text
        if not self.virtual:
            file = os.path.join(self._temporary(), view, environment, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            if os.path.lexists(file):
                os.chmod(file, 0o644)
            with open(file, "w", encoding="utf-8") as opened:
                opened.write(text)
            os.chmod(file, 0o444)
        return True


def _part(project: OpenProject, environment: str, path: str) -> trainc.Result | None:
    """Return the result of a file in an environment, by default in the first one."""
    parts = project.parts(path)
    return next((part for part in parts if part.environment == environment), parts[0] if parts else None)


def jobset(project: OpenProject, environment: str, path: str) -> str:
    """Return the compiled objects of a file as YAML."""
    part = _part(project, environment, path)
    jobs = [] if part is None else [job for job in (*part.jobs, *part.jobsets) if job.document.file == path]
    return trainc.render([each for job in jobs for each in job.objects]) if jobs else NO_JOB.format(path)


def pods(project: OpenProject, environment: str, path: str) -> str:
    """Return the pods of the jobs of a file as YAML."""
    part = _part(project, environment, path)
    return (trainc.render(trainc.pods_of(part)) if part is not None else "") or NO_JOB.format(path)


def runtime(project: OpenProject, environment: str, path: str) -> str:
    """Return the text of a built-in runtime."""
    found = built_in(project, path.removesuffix(".yaml"))
    return "" if found is None else found.text


def review(project: OpenProject, environment: str, path: str) -> str:
    """Return the review of the project against the last commit, as Markdown."""
    return trainc.diff(contents=project.readable).render("markdown")


VIEWS: Final[dict[str, Callable[[OpenProject, str, str], str]]] = {
    "jobset": jobset,
    "pods": pods,
    "runtime": runtime,
    "review": review,
}
"""The documents that the server writes."""
