"""The built site in Chromium: no request to another host, readable on a phone, drawn graphs, and a search that finds.

Reads build/site/site, which `make site` writes. Skipped with a reason without the site, Chromium
(`tests/review/packages.txt`) or playwright (`make browser`); if CI is set, that is a failure. If TRAINC_PICTURES names
a folder, screenshots are saved there.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import cmarkgfm
import pytest
from browsing import Visit, chromium, served, skip_or_fail
from cmarkgfm.cmark import Options
from make_gallery import PAIRS
from make_site import ROOT, converted, navigation, pages, shown

SITE: Final = ROOT / "build" / "site" / "site"
WIDTHS: Final = (390, 1280)
SCHEMES: Final = ("light", "dark")
PAGES: Final = {
    "home": "",
    "command": "docs/commands/diff/",
    "diagnostic": "diagnostics/no-gang/",
    "diagnostics": "docs/diagnostics/",
    "example": "files/golden/llm-finetune-4x8/",
    "gallery": "docs/gallery/llm-finetune-4x8/",
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

QUESTIONS: Final = [
    question.replace("`", "")
    for question in re.findall(r"^\| (.*?) \| .*\[", (ROOT / "docs" / "questions.md").read_text(), re.MULTILINE)
]
FIRST: Final = 5
"""The answer is among so many results."""
UNSAFE: Final = Options.CMARK_OPT_UNSAFE
"""As GitHub, which keeps elements of HTML."""
ELEMENTS: Final = re.compile(r"<(li|tr|td|pre|h[1-6]|blockquote)\b")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not SITE.is_dir():
        skip_or_fail("the site: make site")
    with served(SITE) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def opened(browser: Any, address: str, path: str, **options: Any) -> Visit:
    return Visit(browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | options)), address, path)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_sends_no_request_to_another_host(
    browser: Any, address: str, name: str, width: int, scheme: str
) -> None:
    visit = opened(browser, address, PAGES[name], viewport={"width": width, "height": 900}, color_scheme=scheme)
    if folder := os.environ.get("TRAINC_PICTURES"):
        visit.page.screenshot(path=Path(folder) / f"site-{name}-{scheme}-{width}.png")
    assert (visit.outside, visit.faults) == ([], [])
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    visit.page.close()


def test_the_policy_stops_a_request_to_another_host(browser: Any, address: str) -> None:
    visit = opened(browser, address, "")
    visit.page.evaluate("fetch('https://example.com/').catch(() => 0)")
    assert [fault for fault in visit.faults if "Content Security Policy" in fault]
    visit.page.close()


def test_a_graph_is_drawn(browser: Any, address: str) -> None:
    visit = opened(browser, address, "docs/review/")
    visit.page.wait_for_selector("div.mermaid")
    assert visit.page.locator("div.mermaid").bounding_box()["height"] > 100
    assert (visit.outside, visit.faults) == ([], [])
    visit.page.close()


def test_the_home_page_leads_to_the_review(browser: Any, address: str) -> None:
    visit = opened(browser, address, "")
    visit.page.click("main a:has(img)")
    visit.page.wait_for_selector("h1")
    assert visit.page.url == f"{address}example-review.html"
    assert "JobSet" in visit.page.inner_text("body")
    visit.page.close()


@pytest.mark.parametrize("case", [pair.case for pair in PAIRS])
def test_a_page_of_the_gallery_opens_the_playground(case: str) -> None:
    page = (SITE / "docs" / "gallery" / case / "index.html").read_text(encoding="utf-8")
    assert f'href="../../../playground/index.html#example={case}"' in page


def test_the_home_page_leads_to_the_playground_and_the_review(browser: Any, address: str) -> None:
    for button, path in (("Try it in your browser", "playground/"), ("See a review", "example-review.html")):
        visit = opened(browser, address, "")
        visit.page.click(f"main a:text-is('{button}')")
        visit.page.wait_for_url(lambda url, path=path: url.removesuffix("index.html") == f"{address}{path}")
        visit.page.close()


@pytest.mark.parametrize("words", ANSWERS)
def test_a_search_finds_the_answer(browser: Any, address: str, words: str) -> None:
    assert ANSWERS[words] in results(browser, address, words, ANSWERS[words])


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_search_finds_a_question(browser: Any, address: str, question: str) -> None:
    assert "docs/questions/" in results(browser, address, question, "docs/questions/")


def results(browser: Any, address: str, words: str, expected: str) -> list[str]:
    """Return the first pages that a search finds, waiting for the expected one."""
    visit = opened(browser, address, "")
    visit.page.keyboard.press("/")
    visit.page.keyboard.type(words)
    for _ in range(40):
        found = visit.page.evaluate(RESULTS)
        shown = [*dict.fromkeys(each.partition("#")[0].removeprefix(address) for each in found)][:FIRST]
        if expected in shown:
            break
        visit.page.wait_for_timeout(250)
    visit.page.close()
    return shown


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
    assert titles == ["Home", "Playground", "Documentation", *re.findall("^## (.*)$", index, re.MULTILINE)]
