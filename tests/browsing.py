"""Pages in Chromium: a browser, a server of a folder, and a visit that records requests and faults."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest

CHROMIUM: Final = shutil.which("chromium")


def skip_or_fail(missing: str) -> None:
    """Skip the test because something is missing; if CI is set, that is a failure."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield Chromium, or skip the test without Chromium or playwright."""
    missing = "" if CHROMIUM else "chromium: apt-get install chromium; make browser"
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing = "playwright: make browser"
    if missing:
        skip_or_fail(missing)
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield found
        found.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Yield the address at which a folder is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Visit:
    """An open page, with the requests to other hosts, and the errors and failed requests."""

    def __init__(self, page: Any, address: str, path: str, until: str = "networkidle") -> None:
        self.page = page
        self.outside: list[str] = []
        self.faults: list[str] = []
        page.on("request", lambda sent: self._note(sent.url, address))
        page.on("response", lambda got: self.faults.append(got.url) if got.status >= 400 else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        page.goto(address + path, wait_until=until)

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:", "about:")):
            self.outside.append(url)
