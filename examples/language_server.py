"""A language server for TrainJobs on the public API: diagnostics, hover, fixes, and the runtime of a job.

An editor starts `python examples/language_server.py` in the folder of a project, and speaks to it on standard input and
output. It needs only trainc; a server for daily work would use a library for the protocol.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any
from urllib.parse import unquote, urlsplit

import trainc

SEVERITIES = {"error": 1, "warning": 2, "note": 3}


def uri_of(path: str) -> str:
    return f"file://{os.path.abspath(path)}"


def path_of(uri: str) -> str:
    return os.path.relpath(unquote(urlsplit(uri).path))


class Server:
    """The open files of a project, and what was last reported about each."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.session = trainc.Session()
        self.found: dict[str, list[trainc.Diagnostic]] = {}

    def text(self, path: str) -> str:
        if path in self.texts or not os.path.isfile(path):
            return self.texts.get(path, "")
        with open(path, encoding="utf-8") as file:
            return file.read()

    def range(self, at: trainc.Location) -> dict[str, Any]:
        line, character, *end = trainc.utf16_range(at, self.text(at.file))
        return {"start": {"line": line, "character": character}, "end": {"line": end[0], "character": end[1]}}

    def location(self, at: trainc.Location) -> dict[str, Any]:
        return {"uri": uri_of(at.file), "range": self.range(at)}

    def reported(self, each: trainc.Diagnostic) -> dict[str, Any]:
        at = each.locate()
        assert at is not None
        places = [
            (related.message, related.place.locate() if isinstance(related.place, trainc.Place) else related.place)
            for related in each.related
        ]
        return {
            "range": self.range(at),
            "severity": SEVERITIES[each.severity],
            "code": each.id,
            "codeDescription": {"href": trainc.address_of(each.id)},
            "source": "trainc",
            "message": f"{each.message}\nhelp: {each.help}" if each.help else each.message,
            "relatedInformation": [
                {"message": message, "location": self.location(place)}
                for message, place in places
                if os.path.exists(place.file)
            ],
        }

    def changed(self, path: str, text: str) -> None:
        """Check a file again, and publish its diagnostics."""
        self.texts[path] = text
        result = self.session.check_file(path, self.texts)
        located = [(each, each.locate()) for each in result.diagnostics]
        self.found[path] = [each for each, at in located if at is not None and os.path.relpath(at.file) == path]
        shown = [self.reported(each) for each in self.found[path]]
        send({"method": "textDocument/publishDiagnostics", "params": {"uri": uri_of(path), "diagnostics": shown}})

    def job(self, path: str) -> trainc.CompiledJob | None:
        """Return the compiled TrainJob of a file; None if it has errors."""
        jobs = self.session.check_file(path, self.texts).jobs
        return next((job for job in jobs if os.path.relpath(job.document.file) == path), None)

    def hover(self, path: str, position: dict[str, int]) -> object:
        """Return the page of a diagnostic, or what a field sets in the compiled objects."""
        line, column = trainc.code_point(self.text(path), position["line"], position["character"])
        for each in self.found.get(path, ()):
            at = each.locate()
            if at is not None and (at.line, at.column) <= (line, column) < (at.end_line, at.end_column):
                return {"contents": {"kind": "markdown", "value": trainc.page_of(each.id)}}
        job = self.job(path)
        field = None if job is None else trainc.path_at(job.document, line, column)
        if job is None or not field:
            return None
        rows = [
            f"- `{'.'.join(map(str, each.path))}` = `{each.value}` ({each.by})" for each in job.fields_set_by(field)
        ]
        return {"contents": {"kind": "markdown", "value": "\n".join(rows[:20])}} if rows else None

    def definition(self, path: str) -> object:
        job = self.job(path)
        runtime = None if job is None else job.runtime
        return None if runtime is None or runtime.is_built_in else self.location(runtime.place.locate())

    def actions(self, path: str, lines: dict[str, Any]) -> list[dict[str, Any]]:
        found = []
        for each in self.found.get(path, ()):
            shown, fix = self.reported(each), trainc.fix_of(each)
            if fix is not None and lines["start"]["line"] <= shown["range"]["start"]["line"] <= lines["end"]["line"]:
                changes: dict[str, list[dict[str, Any]]] = {}
                for edit in fix.edits:
                    changes.setdefault(uri_of(edit.file), []).append(
                        {"range": self.range(edit.at), "newText": edit.text}
                    )
                action = {"title": fix.title, "kind": "quickfix", "diagnostics": [shown], "isPreferred": fix.is_safe}
                found.append({**action, "edit": {"changes": changes}})
        return found

    def answer(self, method: str, params: dict[str, Any]) -> object:
        if method == "initialize":
            capabilities = {"textDocumentSync": 1, "hoverProvider": True, "definitionProvider": True}
            return {"capabilities": {**capabilities, "codeActionProvider": True}}
        path = path_of(params["textDocument"]["uri"]) if "textDocument" in params else ""
        if method in ("textDocument/didOpen", "textDocument/didChange"):
            self.changed(path, (params.get("contentChanges") or [params["textDocument"]])[-1]["text"])
        elif method == "textDocument/hover":
            return self.hover(path, params["position"])
        elif method == "textDocument/definition":
            return self.definition(path)
        elif method == "textDocument/codeAction":
            return self.actions(path, params["range"])
        return None


def send(message: dict[str, Any]) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    server = Server()
    while header := sys.stdin.buffer.readline():
        sys.stdin.buffer.readline()
        message = json.loads(sys.stdin.buffer.read(int(header.partition(b":")[2])))
        if message["method"] == "exit":
            break
        found = server.answer(message["method"], message.get("params") or {})
        if "id" in message:
            send({"id": message["id"], "result": found})
