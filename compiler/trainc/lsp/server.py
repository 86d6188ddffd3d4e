"""The messages of the protocol, and when files are checked.

A change is checked after a pause of the typing: first its file, if no other file depends on it, and then all files.
trainc runs in one thread of its own, so that a check never delays a message; a newer change replaces a check that
waits. A request that fails has the answer null, and a message; the server goes on.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

import trainc
from trainc.lsp.project import Project

T = TypeVar("T")
Check = Callable[[Project], set[str]]

PAUSE: Final = 0.05
"""The seconds without a change before a file is checked."""
IDLE: Final = 0.4
"""The seconds before all files are checked."""
WATCHED: Final = ("**/*.yaml", "**/*.yml", "**/*.json")
SETTLED: Final = "trainc/settled"
"""A request that is answered when all files are checked: a program may then read the diagnostics."""
log: Final = logging.getLogger(__name__)


class TraincServer(LanguageServer):
    """A server for one project: the first folder of the editor's workspace."""

    def __init__(self) -> None:
        super().__init__("trainc", trainc.__version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.opened: Project | None = None
        self.worker = ThreadPoolExecutor(1, "trainc")
        self.waiting: asyncio.Task[None] | None = None

    @property
    def project(self) -> Project:
        """The project; the protocol starts with `initialize`, which sets it."""
        assert self.opened is not None
        return self.opened

    async def run(self, function: Callable[..., T], *arguments: object) -> T | None:
        """Return the result of a function in the thread of trainc; after an exception, show a message, return None."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self.worker, functools.partial(function, *arguments))
        except Exception as error:
            log.exception("%s failed", function.__qualname__)
            text = f"trainc: {function.__name__} failed: {type(error).__name__}: {error}; this is a bug in trainc"
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, text))
            return None

    def check_soon(self, path: str | None = None) -> None:
        """Check a file after a pause, and all files when nothing else changes; at once without a file."""
        if self.waiting is not None:
            self.waiting.cancel()
        self.waiting = asyncio.ensure_future(self._check(path))

    async def _check(self, path: str | None) -> None:
        if path is not None:
            await asyncio.sleep(PAUSE)
            if self.project.is_job(path):
                await self._publish(lambda project: project.check_file(path))
                await asyncio.sleep(IDLE)
        await self._publish(Project.check)

    async def _publish(self, check: Check) -> None:
        for params in await self.run(_diagnostics, self.project, check) or ():
            self.text_document_publish_diagnostics(params)


def _diagnostics(project: Project, check: Check) -> list[lsp.PublishDiagnosticsParams]:
    """Return the diagnostics of each file that a check concerns."""
    return [
        lsp.PublishDiagnosticsParams(
            project.uri(path), [project.diagnostic(each, path) for each in project.found.get(path, ())]
        )
        for path in sorted(check(project))
    ]


def server() -> TraincServer:
    """Return a server with all its features."""
    new = TraincServer()
    new.feature(lsp.INITIALIZE)(_initialize)
    new.feature(lsp.INITIALIZED)(_initialized)
    new.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(_changed)
    new.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(_changed)
    new.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(_closed)
    new.feature(lsp.TEXT_DOCUMENT_DID_SAVE)(_saved)
    new.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_files_changed)
    new.feature(SETTLED)(_settled)
    return new


async def _settled(ls: TraincServer, _: object) -> None:
    """Answer when all files are checked with their newest texts."""
    while (waiting := ls.waiting) is not None and not waiting.done():
        await asyncio.wait([waiting])


def _initialize(ls: TraincServer, params: lsp.InitializeParams) -> None:
    folders = params.workspace_folders or []
    uri = folders[0].uri if folders else params.root_uri
    root = (to_fs_path(uri) if uri else params.root_path) or os.getcwd()
    os.chdir(root)
    ls.opened = Project(root, ls.workspace.position_codec)
    log.info("the project is %s", root)


def _initialized(ls: TraincServer, _: lsp.InitializedParams) -> None:
    folders = [*ls.workspace.folders]
    if len(folders) > 1:
        text = f"trainc checks the first of {len(folders)} folders, {ls.project.root}; open the others in other windows"
        ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))
    workspace = ls.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace is not None else None
    if watched is not None and watched.dynamic_registration:
        options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(each) for each in WATCHED])
        method = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
        ls.client_register_capability(lsp.RegistrationParams([lsp.Registration("files", method, options)]))
    ls.check_soon()


def _changed(ls: TraincServer, params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    path = ls.project.path(uri)
    if path is None:
        log.info("%s is outside of %s", uri, ls.project.root)
        return
    ls.project.texts[path] = ls.workspace.get_text_document(uri).source
    ls.check_soon(path)


def _closed(ls: TraincServer, params: lsp.DidCloseTextDocumentParams) -> None:
    path = ls.project.path(params.text_document.uri)
    if path is not None:
        ls.project.close(path)
        ls.check_soon()


def _saved(ls: TraincServer, params: lsp.DidSaveTextDocumentParams) -> None:
    if ls.project.path(params.text_document.uri) is not None:
        ls.check_soon()


def _files_changed(ls: TraincServer, params: lsp.DidChangeWatchedFilesParams) -> None:
    if any(os.path.basename(each.uri) == "trainc.yaml" for each in params.changes):
        ls.worker.submit(ls.project.session.reload)
    ls.check_soon()


def serve(*, verbose: bool) -> None:
    """Serve on standard input and output until the client exits; log on standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO if verbose else logging.ERROR)
    server().start_io()
