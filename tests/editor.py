"""An editor that speaks to `trainc lsp` over standard input and output, for tests: pygls' own client."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from lsprotocol import types as lsp
from lsprotocol.converters import get_converter
from pygls.lsp.client import LanguageClient

ROOT: Final = Path(__file__).parents[1]

SECONDS: Final = 60
"""How long the client waits for an answer before the test fails."""
CURSOR: Final = "¦"
"""The cursor in the texts of tests."""


class Editor:
    """A client, whose methods return when the server has answered."""

    def __init__(self, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.folder = folder
        self.loop = loop
        self.client = LanguageClient("editor", "1")
        self.published: dict[str, list[lsp.Diagnostic]] = {}
        self.messages: list[str] = []
        self.shown: list[str] = []
        self.refreshed: list[str] = []
        self.registered: list[str] = []
        self.versions: dict[str, int] = {}

        def publish(params: lsp.PublishDiagnosticsParams) -> None:
            self.published[self.path(params.uri)] = list(params.diagnostics)

        def show(params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
            self.shown.append(params.uri)
            return lsp.ShowDocumentResult(True)

        def message(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

        def refresh(params: lsp.TextDocumentContentRefreshParams) -> None:
            self.refreshed.append(params.uri)

        def register(params: lsp.RegistrationParams) -> None:
            self.registered += [each.method for each in params.registrations]

        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(publish)
        self.client.feature(lsp.WINDOW_SHOW_DOCUMENT)(show)
        self.client.feature(lsp.WINDOW_SHOW_MESSAGE)(message)
        self.client.feature(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)(refresh)
        self.client.feature(lsp.CLIENT_REGISTER_CAPABILITY)(register)

    def run(self, request: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        """Return the answer to a request."""

        async def answer() -> Any:
            return await request(*arguments)

        return self.loop.run_until_complete(asyncio.wait_for(answer(), SECONDS))

    def uri(self, path: str) -> str:
        return (self.folder / path).as_uri()

    def path(self, uri: str) -> str:
        return uri.removeprefix(self.folder.as_uri() + "/")

    def document(self, path: str) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri(path))

    def open(self, path: str, text: str | None = None) -> None:
        """Open a file, by default with its text on the disk."""
        text = (self.folder / path).read_text() if text is None else text
        self.versions[path] = 1
        self.client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(self.uri(path), "yaml", 1, text))
        )

    def change(self, path: str, text: str) -> None:
        self.versions[path] += 1
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self.versions[path], self.uri(path)),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def close(self, path: str) -> None:
        del self.versions[path]
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(self.document(path)))

    def settle(self) -> None:
        """Wait until the server has checked all files: its answer to this request is the last one of a check."""
        self.run(self.client.protocol.send_request_async, "trainc/settled", None)

    def diagnostics(self, path: str) -> list[lsp.Diagnostic]:
        """Return the diagnostics of a file when the server has checked everything."""
        self.settle()
        return self.published.get(path, [])

    def texts(self) -> dict[str, list[str]]:
        """Return the diagnostics of all files as `line:column: severity[id]: message`."""
        self.settle()
        return {path: [text_of(each) for each in found] for path, found in sorted(self.published.items()) if found}

    def at(self, path: str, text: str) -> tuple[lsp.TextDocumentIdentifier, lsp.Position]:
        """Write a text with a cursor into a file, and return the position of the cursor."""
        before, _, _ = text.partition(CURSOR)
        whole = text.replace(CURSOR, "")
        self.change(path, whole) if path in self.versions else self.open(path, whole)
        self.settle()
        line = before.rpartition("\n")[2]
        units = len(line.encode("utf-16-le")) // 2
        return self.document(path), lsp.Position(before.count("\n"), units)


def text_of(each: lsp.Diagnostic) -> str:
    severity = (each.severity or lsp.DiagnosticSeverity.Error).name.lower()
    at = f"{each.range.start.line + 1}:{each.range.start.character + 1}"
    return f"{at}: {severity}[{each.code}]: {each.message}"


def json_of(value: Any, folder: Path) -> Any:
    """Return an answer as JSON, without the folders of the test and of the repository."""
    text = json.dumps(get_converter().unstructure(value), ensure_ascii=False)
    text = text.replace(folder.as_uri(), "file:///project").replace(ROOT.as_uri(), "file:///trainc")
    return json.loads(text)


@contextmanager
def editor(folder: Path, *, is_open: bool = True, **capabilities: Any) -> Iterator[Editor]:
    """Start `trainc lsp` for a folder, and stop it at the end: it must exit with 0.

    Without `is_open`, the editor has no folder open, only files.
    """
    loop = asyncio.new_event_loop()
    found = Editor(folder, loop)
    try:
        found.run(found.client.start_io, sys.executable, "-m", "trainc", "lsp")
        params = lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(**capabilities),
            workspace_folders=[lsp.WorkspaceFolder(folder.as_uri(), folder.name)] if is_open else None,
        )
        found.run(found.client.initialize_async, params)
        found.client.initialized(lsp.InitializedParams())
        yield found
        found.settle()
        found.run(found.client.shutdown_async, None)
        found.client.exit(None)
        found.run(found.client.stop)
    finally:
        loop.close()
