"""The built site in Chromium: no request to another host, readable on a phone, drawn graphs, and a search that finds.

Reads build/site/site, which `make site` writes. Skipped with a reason without the site, Chromium
(`tests/review/packages.txt`) or playwright (`make browser`); if CI is set, that is a failure. If TRAINC_PICTURES names
a folder, screenshots are saved there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from make_site import ROOT, converted, navigation, pages, shown

SITE: Final = ROOT / "build" / "site" / "site"
CHROMIUM: Final = shutil.which("chromium")
WIDTHS: Final = (390, 1280)
SCHEMES: Final = ("light", "dark")
PAGES: Final = {
    "home": "",
    "command": "docs/commands/diff/",
    "diagnostic": "diagnostics/no-gang/",
    "diagnostics": "docs/diagnostics/",
    "example": "files/golden/llm-finetune-4x8/",
    "review": "example-review.html",
}
ANSWERS: Final = {
    "argo cd": "docs/argo-cd/",
    "request-differs-from-limit": "diagnostics/request-differs-from-limit/",
    "migrate pytorchjobs": "docs/migration/",
    "trainer v2.2": "docs/upgrade-trainer/",
    "add an environment": "docs/environments/",
    "turn off a rule": "docs/turn-off-a-rule/",
    "kubectl get trainjobs": "docs/two-ways/",
    "must be recreated": "docs/update-a-jobset/",
    "helm": "docs/helm/",
    "image tag": "docs/environments/",
    "install": "docs/install/",
    "unit tests": "docs/unit-tests/",
    "pending kueue": "docs/kueue/",
    "torchrun variables": "docs/frameworks/",
    "editor completion": "docs/editors/",
}
"""What readers search for, and the page that answers it."""
RESULTS: Final = """() => {
  const found = [];
  for (const host of document.querySelectorAll("*"))
    for (const each of host.shadowRoot?.querySelectorAll("li > a[href]") ?? []) found.push(each.href.split("?")[0]);
  return found;
}"""
"""Return the addresses of the visible results."""

FIRST: Final = 5
"""The answer is among so many results."""
UNSAFE: Final = Options.CMARK_OPT_UNSAFE
"""As GitHub, which keeps elements of HTML."""
ELEMENTS: Final = re.compile(r"<(li|tr|td|pre|h[1-6]|blockquote)\b")


class Quiet(SimpleHTTPRequestHandler):
    """A server without a log."""

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not SITE.is_dir():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the site: make site")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    missing = "" if CHROMIUM else "chromium: apt-get install chromium; make browser"
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing = "playwright: make browser"
    if missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield found
        found.close()


class Visit:
    """An open page, with the requests to other hosts, the errors and the failed requests."""

    def __init__(self, browser: Any, address: str, path: str, **options: Any) -> None:
        self.page = browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | options))
        self.outside: list[str] = []
        self.faults: list[str] = []
        self.page.on("request", lambda sent: self._note(sent.url, address))
        self.page.on("response", lambda got: self.faults.append(got.url) if got.status >= 400 else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.goto(address + path, wait_until="networkidle")

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:")):
            self.outside.append(url)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_sends_no_request_to_another_host(
    browser: Any, address: str, name: str, width: int, scheme: str
) -> None:
    visit = Visit(browser, address, PAGES[name], viewport={"width": width, "height": 900}, color_scheme=scheme)
    if folder := os.environ.get("TRAINC_PICTURES"):
        visit.page.screenshot(path=Path(folder) / f"site-{name}-{scheme}-{width}.png")
    assert (visit.outside, visit.faults) == ([], [])
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    visit.page.close()


def test_the_policy_stops_a_request_to_another_host(browser: Any, address: str) -> None:
    visit = Visit(browser, address, "")
    visit.page.evaluate("fetch('https://example.com/').catch(() => 0)")
    assert [fault for fault in visit.faults if "Content Security Policy" in fault]
    visit.page.close()


def test_a_graph_is_drawn(browser: Any, address: str) -> None:
    visit = Visit(browser, address, "docs/review/")
    visit.page.wait_for_selector("div.mermaid")
    assert visit.page.locator("div.mermaid").bounding_box()["height"] > 100
    assert (visit.outside, visit.faults) == ([], [])
    visit.page.close()


def test_the_home_page_leads_to_the_review(browser: Any, address: str) -> None:
    visit = Visit(browser, address, "")
    visit.page.click("main a:has(img)")
    visit.page.wait_for_selector("h1")
    assert visit.page.url == f"{address}example-review.html"
    assert "JobSet" in visit.page.inner_text("body")
    visit.page.close()


@pytest.mark.parametrize("words", ANSWERS)
def test_a_search_finds_the_answer(browser: Any, address: str, words: str) -> None:
    visit = Visit(browser, address, "")
    visit.page.keyboard.press("/")
    visit.page.keyboard.type(words)
    visit.page.wait_for_timeout(1500)
    found = visit.page.evaluate(RESULTS)
    shown = [*dict.fromkeys(each.partition("#")[0].removeprefix(address) for each in found)][:FIRST]
    assert ANSWERS[words] in shown
    visit.page.close()


@pytest.mark.parametrize("name", pages())
def test_a_page_has_the_lists_tables_and_blocks_that_github_shows(address: str, name: str) -> None:
    folder, _, file = name.rpartition("/")
    stem = file.removesuffix(".md")
    built = (SITE / folder / ("" if stem == "README" else stem) / "index.html").read_text(encoding="utf-8")
    article = built.partition("<article")[2].partition("</article>")[0]
    expected = cmarkgfm.github_flavored_markdown_to_html((ROOT / name).read_text(encoding="utf-8"), options=UNSAFE)
    assert Counter(ELEMENTS.findall(article)) == Counter(ELEMENTS.findall(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\n- b\n", "a\n\n- b\n", id="a list after a paragraph"),
        pytest.param("- a\n- b\n", "- a\n- b\n", id="not within a list"),
        pytest.param("```yaml\na:\n- [b](c.py)\n```\n", "```yaml\na:\n- [b](c.py)\n```\n", id="not in a block"),
        pytest.param("[a](other.md#b)\n", "[a](other.md#b)\n", id="not a link to a page"),
        pytest.param("[a](../Makefile)\n", "[a](../files/Makefile.md)\n", id="a link to a file"),
        pytest.param("[a](../.ci/run)\n", "[a](../files/.ci/run.md)\n", id="a link to a program"),
        pytest.param("[a](../golden/sweep)\n", "[a](../files/golden/sweep/README.md)\n", id="a link to a folder"),
        pytest.param("[a](../golden)\n", "[a](../golden/README.md)\n", id="a link to a folder with a page"),
        pytest.param("[a](https://a.example/b)\n", "[a](https://a.example/b)\n", id="not another host"),
    ],
)
def test_a_page_for_the_site(text: str, expected: str) -> None:
    assert converted("docs/page.md", text, {"docs/other.md": "", "golden/README.md": ""})[0] == expected


def test_a_page_shows_every_file_of_a_folder() -> None:
    text = shown("golden/environment-prod")
    assert re.findall("^## `(.*)`$", text, re.MULTILINE) == [
        "expected.txt",
        "expected.yaml",
        "input.yaml",
        "trainc.yaml",
    ]
    assert (ROOT / "golden/environment-prod/input.yaml").read_text() in text


def test_every_section_of_the_index_is_in_the_navigation() -> None:
    index = (ROOT / "docs/README.md").read_text()
    titles = [title for entry in navigation(index) for title in entry]
    assert titles == ["Home", "Documentation", *re.findall("^## (.*)$", index, re.MULTILINE)]
