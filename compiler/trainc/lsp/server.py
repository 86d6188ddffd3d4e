"""The messages of the protocol, and when files are checked.

A change is checked after a pause of the typing: first its file, if no other file depends on it, and then all files.
trainc runs in one thread of its own, so that a check never delays a message; a newer change replaces a check that
waits. A request that fails has the answer null, and a message; the server goes on.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

import trainc
from trainc.lsp import hover_and_actions
from trainc.lsp.completion import complete
from trainc.lsp.outline import Outline, OutlineField
from trainc.lsp.project import OpenProject
from trainc.lsp.references import SETTINGS, definitions, references
from trainc.lsp.shown import BUILT_IN, SCHEME, ShownDocuments

T = TypeVar("T")
Check = Callable[[OpenProject], set[str]]
Find = Callable[[OpenProject, str, Outline, OutlineField], Iterable[trainc.Location]]

COMMANDS: Final = {"trainc.showJobSet": "jobset", "trainc.showPods": "pods", "trainc.showChanges": "review"}
"""The document that each command shows."""

PAUSE: Final = 0.05
"""The seconds without a change before a file is checked."""
IDLE: Final = 0.4
"""The least seconds without a change before all files are checked."""
WATCHED: Final = ("**/*.yaml", "**/*.yml", "**/*.json")
SETTLED: Final = "trainc/settled"
"""A request that is answered when all files are checked: a program may then read the diagnostics."""
log: Final = logging.getLogger(__name__)


class TraincServer(LanguageServer):
    """A server for one project: the first folder of the editor's workspace, or that of the first file."""

    def __init__(self) -> None:
        super().__init__("trainc", trainc.__version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.opened: OpenProject | None = None
        self.shown = ShownDocuments(virtual=False)
        self.worker = ThreadPoolExecutor(1, "trainc")
        self.waiting: asyncio.Task[None] | None = None
        self.reloading: asyncio.Future[None] | None = None
        self.took = 0.0
        """The seconds of the last check of all files."""

    @property
    def project(self) -> OpenProject:
        """The project; only a file has answers, and the first one opens it."""
        assert self.opened is not None
        return self.opened

    def open_project(self, root: str) -> None:
        """Open a folder as the project."""
        os.chdir(root)
        self.opened = OpenProject(root, self.workspace.position_codec)
        log.info("the project is %s", root)

    def path(self, uri: str) -> str | None:
        """Return the path of a file of the project; None for any other document."""
        return None if self.opened is None else self.opened.path(uri)

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

    def reload(self) -> None:
        """Read the settings again, which any file may have, and check all files."""
        self.reloading = asyncio.ensure_future(self.run(self.project.session.reload))
        self.check_soon()

    async def _check(self, path: str | None) -> None:
        if path is not None:
            await asyncio.sleep(PAUSE)
            if self.project.is_job(path):
                await self._publish(lambda project: project.check_file(path))
                # A change that arrives during the check waits for its end.
                await asyncio.sleep(max(IDLE, 2 * self.took))
        begin = time.monotonic()
        await self._publish(OpenProject.check)
        self.took = time.monotonic() - begin
        await self._refresh()
        await self.run(_collect_garbage)

    async def _refresh(self) -> None:
        """Let the client ask again for what depends on all files."""
        for uri in await self.run(self.shown.refresh, self.project) or ():
            if self.shown.virtual:
                self.workspace_text_document_content_refresh(lsp.TextDocumentContentRefreshParams(uri), _ignore)
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None, _ignore)

    async def _publish(self, check: Check) -> None:
        project = self.project
        for path, params in (await self.run(_diagnostics, project, check) or {}).items():
            if project.published.get(path, params.uri) != params.uri:  # the client wrote it in another way
                self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(project.published[path], []))
            self.text_document_publish_diagnostics(params)
            # A check whose answers a newer change discards publishes nothing.
            rest = {each: uri for each, uri in project.published.items() if each != path}
            project.published = rest | ({path: params.uri} if params.diagnostics else {})


def _collect_garbage() -> None:
    """Collect garbage between changes: a collection of all documents takes longer than the check of a change."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _diagnostics(project: OpenProject, check: Check) -> dict[str, lsp.PublishDiagnosticsParams]:
    """Return the diagnostics of each file that a check concerns."""
    return {
        path: lsp.PublishDiagnosticsParams(project.uri(path), [shown for _, shown in project.diagnostics(path)])
        for path in sorted(check(project))
    }


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
    new.feature(lsp.TEXT_DOCUMENT_HOVER)(_hover)
    new.feature(lsp.TEXT_DOCUMENT_DEFINITION)(_definition)
    new.feature(lsp.TEXT_DOCUMENT_REFERENCES)(_references)
    new.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[" ", ":"]))(_completion)
    new.feature(lsp.TEXT_DOCUMENT_CODE_LENS)(_lenses)
    kinds = [lsp.CodeActionKind.QuickFix, hover_and_actions.FIX_ALL]
    new.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(kinds))(_actions)
    new.feature(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT)(_content)
    for command, view in COMMANDS.items():
        new.command(command)(_show(view))
    return new


async def _settled(ls: TraincServer, _: object) -> None:
    """Answer when all files are checked with their newest texts."""
    while (waiting := ls.waiting) is not None and not waiting.done():
        await asyncio.wait([waiting])


def _initialize(ls: TraincServer, params: lsp.InitializeParams) -> None:
    folders = params.workspace_folders or []
    uri = folders[0].uri if folders else params.root_uri
    root = to_fs_path(uri) if uri else params.root_path
    if root and os.path.isdir(root):
        ls.open_project(root)
    workspace = params.capabilities.workspace
    content = workspace.text_document_content if workspace is not None else None
    ls.shown = ShownDocuments(virtual=content is not None and bool(content.dynamic_registration))


def _root_of(file: str) -> str:
    """Return the project of a file without a folder: the nearest folder with a trainc.yaml, or else its own."""
    own = os.path.dirname(file)
    while not os.path.isdir(own):  # the file is not saved yet
        own = os.path.dirname(own)
    folder = own
    while not os.path.lexists(os.path.join(folder, SETTINGS)):
        if folder == os.path.dirname(folder) or os.path.lexists(os.path.join(folder, ".git")):
            return own
        folder = os.path.dirname(folder)
    return folder


def _initialized(ls: TraincServer, _: lsp.InitializedParams) -> None:
    folders = [*ls.workspace.folders]
    if len(folders) > 1 and ls.opened is not None:
        text = f"trainc checks the first of {len(folders)} folders, {ls.project.root}; open the others in other windows"
        ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))
    workspace = ls.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace is not None else None
    registrations = []
    if watched is not None and watched.dynamic_registration:
        files = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(each) for each in WATCHED])
        registrations.append(lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, files))
    if ls.shown.virtual:
        # The capabilities that pygls returns do not have it.
        documents = lsp.TextDocumentContentRegistrationOptions([SCHEME])
        registrations.append(lsp.Registration("documents", lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT, documents))
    if registrations:
        ls.client_register_capability(lsp.RegistrationParams(registrations))
    if ls.opened is not None:
        ls.check_soon()


def _changed(ls: TraincServer, params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    if ls.opened is None and (file := to_fs_path(uri)) and os.path.isabs(file):
        ls.open_project(_root_of(file))
    path = ls.path(uri)
    if path is None:
        log.info("%s is not in the project", uri)
        return
    # Only the thread of trainc uses the texts, in the order of the messages.
    ls.worker.submit(ls.project.open, path, uri, ls.workspace.get_text_document(uri).source)
    ls.check_soon(path)


def _closed(ls: TraincServer, params: lsp.DidCloseTextDocumentParams) -> None:
    path = ls.path(params.text_document.uri)
    if path is not None:
        ls.worker.submit(ls.project.close, path)
        ls.check_soon()


def _saved(ls: TraincServer, params: lsp.DidSaveTextDocumentParams) -> None:
    if ls.path(params.text_document.uri) is not None:
        ls.reload()


def _files_changed(ls: TraincServer, _: lsp.DidChangeWatchedFilesParams) -> None:
    if ls.opened is not None:
        ls.reload()


async def _hover(ls: TraincServer, params: lsp.HoverParams) -> lsp.Hover | None:
    path = ls.path(params.text_document.uri)
    return None if path is None else await ls.run(hover_and_actions.hover, ls.project, path, params.position)


async def _completion(ls: TraincServer, params: lsp.CompletionParams) -> list[lsp.CompletionItem] | None:
    path = ls.path(params.text_document.uri)
    return None if path is None else await ls.run(complete, ls.project, path, params.position)


async def _lenses(ls: TraincServer, params: lsp.CodeLensParams) -> list[lsp.CodeLens] | None:
    path = ls.path(params.text_document.uri)
    return None if path is None else await ls.run(hover_and_actions.lenses, ls.project, path)


async def _actions(ls: TraincServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
    path = ls.path(params.text_document.uri)
    return None if path is None else await ls.run(hover_and_actions.actions, ls.project, path, params)


async def _definition(ls: TraincServer, params: lsp.DefinitionParams) -> list[lsp.Location] | None:
    return await ls.run(_places, ls, params, definitions)


async def _references(ls: TraincServer, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
    return await ls.run(_places, ls, params, references)


def _places(ls: TraincServer, params: lsp.TextDocumentPositionParams, find: Find) -> list[lsp.Location]:
    """Return the places that the field at a position leads to. A built-in runtime is a document of the server."""
    path = ls.path(params.text_document.uri)
    if path is None:
        return []
    at = ls.project.code_points(path, params.position)
    document = ls.project.outline(path, at.line)
    field = document.at(at.line, at.character)
    found: dict[str, lsp.Location] = {}
    for each in find(ls.project, path, document, field) if field is not None else ():
        if each.file.startswith(BUILT_IN):
            uri = ls.shown.show(ls.project, "runtime", "", each.file.removeprefix(BUILT_IN))
            place = lsp.Location(uri, lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)))
        else:
            inside = ls.project.location(each)
            if inside is None:
                continue
            place = inside
        found[str(place)] = place
    return [*found.values()]


async def _content(ls: TraincServer, params: lsp.TextDocumentContentParams) -> lsp.TextDocumentContentResult:
    return lsp.TextDocumentContentResult(ls.shown.text(params.uri))


def _show(view: str) -> Callable[..., Awaitable[dict[str, str] | None]]:
    """Return the command that shows a document: its arguments are the URI of a file and, optionally, an environment."""

    # For pygls, a parameter with a default is required, too.
    async def command(ls: TraincServer, *arguments: str) -> dict[str, str] | None:
        uri, environment = (*arguments, "", "")[:2]
        path = ls.path(uri)
        if path is None:
            return None
        shown = await ls.run(ls.shown.show, ls.project, view, environment, f"{path}.md" if view == "review" else path)
        if shown is None:
            return None
        if ls.shown.virtual:
            # An open document has the text of the last time.
            ls.workspace_text_document_content_refresh(lsp.TextDocumentContentRefreshParams(shown), _ignore)
        window = ls.client_capabilities.window
        if window is not None and window.show_document is not None and window.show_document.support:
            ls.window_show_document(lsp.ShowDocumentParams(shown, take_focus=True), _ignore)
        return {"uri": shown, "text": ls.shown.text(shown)}

    return command


def _ignore(_: object) -> None:
    """Ignore the answer of the client."""


def serve(*, verbose: bool) -> None:
    """Serve on standard input and output until the client exits; log on standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO if verbose else logging.ERROR)
    new = server()
    try:
        new.start_io()
    finally:
        new.shown.close()
