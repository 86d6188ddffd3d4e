"""The HTML page in Chromium: content security policy, filter, keyboard, and layout.

Skipped with a reason if Chromium (`packages.txt`) or playwright (`make browser`) is missing; if CI is set, that is a
failure. If TRAINC_PICTURES names a folder, screenshots are saved there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options as Cmark
from committing import copy_repository
from review.pull_requests import PULL_REQUESTS, copy_example
from review.situations import SITUATIONS, hostile, review

import trainc
from trainc.review.formats import html

CHROMIUM = shutil.which("chromium")
WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 4.5

EXPAND = """() => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of document.querySelectorAll(".body")) each.style.contentVisibility = "visible";
}"""
"""Expand the whole page, content off screen included."""
CONTRASTS = """() => {
  const channels = (color) => color.match(/[0-9.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script")) continue;
    const [a, b] = [luminance(channels(getComputedStyle(element).color)), luminance(ground(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < LEAST) poor.add(`${element.tagName} ${element.className} ${contrast.toFixed(2)}`);
  }
  return [...poor];
}""".replace("LEAST", str(LEAST_CONTRAST))
"""Return the texts with too little contrast to their background."""

HEADLINE = """() => {
  const title = document.querySelector("h1");
  return Math.round(title.getBoundingClientRect().height / parseFloat(getComputedStyle(title).lineHeight));
}"""
"""Return the number of lines of the headline."""


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


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the address of each page."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = {"all-kinds": html.render(review(folder, *SITUATIONS["all-kinds"])), "attacks": html.render(hostile())}
        (folder / "teams").mkdir()
        patch.chdir("teams")
        copy_repository(copy_example, Path())
        PULL_REQUESTS["five-edits"]()
        found["five-edits"] = trainc.diff().render("html")
    for name, text in found.items():
        (folder / f"{name}.html").write_text(text)
    return {name: (folder / f"{name}.html").as_uri() for name in found}


class Tab:
    """An open page, with its console messages, errors and requests."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.messages: list[str] = []
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("request", lambda request: self.messages.append(request.url) if request.url != address else None)
        page.goto(address)

    def shown(self, kind: str = "object") -> list[str]:
        """Return the names of the visible causes or objects."""
        names = {"object": ".name", "cause": ".where"}[kind]
        found: list[str] = self.page.locator(f".{kind}:not([hidden]) > summary {names}").all_inner_texts()
        return found

    def focused(self) -> str:
        """Return the id of the focused element or its item."""
        script = "() => { const a = document.activeElement; return a.id || a.closest('.item')?.id || a.tagName }"
        found: str = self.page.evaluate(script)
        return found


def opened(browser: Any, address: str, **options: Any) -> Tab:
    return Tab(browser.new_page(**({"viewport": {"width": 1400, "height": 1000}} | options)), address)


@pytest.fixture
def tab(browser: Any, pages: dict[str, str]) -> Iterator[Tab]:
    found = opened(browser, pages["all-kinds"])
    yield found
    assert found.messages == []
    found.page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["all-kinds", "attacks", "five-edits"])
def test_a_page_fits_and_can_be_read(browser: Any, pages: dict[str, str], name: str, width: int, scheme: str) -> None:
    tab = opened(browser, pages[name], viewport={"width": width, "height": 1000}, color_scheme=scheme)
    tab.page.evaluate(EXPAND)
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width
    assert tab.page.evaluate(CONTRASTS) == []
    assert tab.page.evaluate(HEADLINE) <= 3
    if folder := os.environ.get("TRAINC_PICTURES"):
        tab.page.screenshot(path=Path(folder) / f"{name}-{scheme}-{width}.png", full_page=True)
    assert tab.messages == []
    tab.page.close()


def test_without_a_script_the_page_is_complete(browser: Any, pages: dict[str, str]) -> None:
    tab = opened(browser, pages["all-kinds"], java_script_enabled=False)
    assert len(tab.shown()) == 6
    assert not tab.page.is_visible(".tools")
    tab.page.locator("#o5 > summary").press("Enter")
    assert tab.page.is_visible("#o5 .side")
    tab.page.close()


def test_what_the_policy_forbids_does_not_run(browser: Any, pages: dict[str, str]) -> None:
    tab = opened(browser, pages["all-kinds"])
    tab.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          const image = document.createElement("img");
          image.src = "https://example.com/x.png";
          document.body.append(script, image);
          document.body.setAttribute("onclick", "window.ran = true");
          document.body.click();
        }"""
    )
    assert tab.page.evaluate("window.ran") is None
    assert sum("Content Security Policy" in message for message in tab.messages) >= 3
    tab.page.close()


@pytest.mark.parametrize(
    ("words", "objects", "causes"),
    [
        pytest.param("ml/one", ["ml/one"], 5, id="an object"),
        pytest.param("spec.completions", ["ml/one"], 1, id="a field"),
        pytest.param("jobs/four.yaml", ["ml/four"], 1, id="a file"),
        pytest.param("--lr=3e-4", ["ml/one"], 1, id="a value"),
        pytest.param("TORCH:2.9 ml/Two", ["ml/two"], 1, id="two words, in any case"),
        pytest.param("gone", ["ml/gone"], 0, id="one that is removed"),
        pytest.param("restartPolicy", ["ml/gone", "ml/new"], 0, id="not unchanged lines"),
        pytest.param("no such word", [], 0, id="nothing"),
    ],
)
def test_the_filter(tab: Tab, words: str, objects: list[str], causes: int) -> None:
    tab.page.fill("#query", words)
    tab.page.wait_for_function("document.getElementById('found').textContent !== ''")
    assert (tab.shown(), len(tab.shown("cause"))) == (objects, causes)
    assert tab.page.inner_text("#found") == f"{len(objects)} of 6 objects"
    assert tab.page.is_visible("#none") == (not objects and not causes)


def test_the_filter_by_effect(tab: Tab) -> None:
    tab.page.click("[data-mark=added]")
    assert tab.shown() == ["ml/new"]
    tab.page.click("[data-mark=removed]")
    assert tab.shown() == ["ml/gone", "ml/new"]
    tab.page.keyboard.press("Escape")
    assert len(tab.shown()) == 6


def test_by_keyboard_only(tab: Tab) -> None:
    press = tab.page.keyboard.press
    press("Tab")
    assert tab.page.evaluate("document.activeElement.className") == "skip"
    press("Enter")
    assert tab.focused() == "main"
    press("/")
    assert tab.focused() == "query"
    tab.page.keyboard.type("ml/one")
    tab.page.wait_for_function("document.getElementById('found').textContent === '1 of 6 objects'")
    for _ in range(6):  # past the causes
        press("n" if tab.focused() != "query" else "Enter")
    assert tab.focused() == "o4"
    press("Enter")
    assert tab.page.is_visible("#o4 .side")
    press("p")
    assert tab.focused().startswith("c")
    press("Escape")
    assert (len(tab.shown()), tab.page.input_value("#query")) == (6, "")


def test_tab_reaches_each_control_with_a_visible_focus(tab: Tab) -> None:
    wanted = tab.page.evaluate(
        "() => [...document.querySelectorAll('a, button, input, summary')].filter((e) => e.checkVisibility()).length"
    )
    reached = 0
    for _ in range(wanted):
        tab.page.keyboard.press("Tab")
        reached += tab.page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle === 'solid'")
    assert reached == wanted


def test_a_link_expands_its_target(tab: Tab) -> None:
    tab.page.locator("#c1 > summary").press("Enter")
    tab.page.click("#c1 .names a >> nth=0")
    tab.page.wait_for_function("document.activeElement.closest('.item')?.open")
    found = tab.focused()
    assert tab.page.is_visible(f"#{found} .side")
    tab.page.click(f"#{found} .facts a >> nth=0")
    tab.page.wait_for_function("document.activeElement.closest('.item')?.id.startsWith('c')")


def test_expand_all_and_collapse_all(tab: Tab) -> None:
    for label, all_open in (("Expand all", True), ("Collapse all", False)):
        assert tab.page.inner_text("#fold") == label
        tab.page.click("#fold")
        script = "() => [...document.querySelectorAll('.item')].map((each) => each.open)"
        assert set(tab.page.evaluate(script)) == {all_open}


def test_the_accessibility_tree(tab: Tab) -> None:
    tree = tab.page.locator("body").aria_snapshot()
    for part in ("banner", "search", "main", "contentinfo", 'searchbox "Filter"', 'heading "Causes"', "group"):
        assert part in tree


def test_a_hostile_page_causes_no_messages(browser: Any, pages: dict[str, str]) -> None:
    tab = opened(browser, pages["attacks"])
    tab.page.click("#fold")
    tab.page.fill("#query", "<script>")
    tab.page.wait_for_function("document.getElementById('found').textContent !== ''")
    assert len(tab.shown()) == 4
    assert tab.messages == []
    tab.page.close()


COMMENT = 730
"""The width of a comment on GitHub, in pixels."""
STYLE = """
body {font: 16px/1.5 sans-serif; margin: 0; width: 730px; overflow-wrap: break-word}
code {font: 85% monospace; padding: .2em .4em; white-space: break-spaces}
pre {overflow: auto; white-space: pre}
table {border-spacing: 0; width: max-content; max-width: 100%; display: block; overflow: auto}
td, th {padding: 6px 13px; border: 1px solid}
"""
"""The rules of GitHub's style that decide how wide a comment is: a table that is too wide scrolls."""
WIDE = """() => [...document.querySelectorAll("body, table, li, p, summary")]
  .filter((each) => each.scrollWidth > 730).map((each) => each.outerHTML.slice(0, 200))"""
COMMENTS = sorted(Path(__file__).parent.rglob("*.md"))


@pytest.mark.parametrize("path", COMMENTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_part_of_a_comment_is_wider_than_a_comment(browser: Any, path: Path) -> None:
    page = browser.new_page(viewport={"width": COMMENT, "height": 1000})
    options = Cmark.CMARK_OPT_UNSAFE  # as GitHub, which has its own list of allowed elements
    shown = cmarkgfm.github_flavored_markdown_to_html(path.read_text(), options=options)
    page.set_content(f"<!DOCTYPE html><style>{STYLE}</style><body>{shown}")
    page.evaluate(EXPAND)
    assert page.evaluate(WIDE) == []
    if folder := os.environ.get("TRAINC_PICTURES"):
        page.screenshot(path=Path(folder) / f"comment-{path.parent.name}-{path.stem}.png", full_page=True)
    page.close()
