"""The review as a Markdown comment: complete comments, and how GitHub's parser renders them.

`comments/` has the comments of `situations.py`. cmarkgfm is GitHub's parser; its HTML is parsed as a browser does.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import cmarkgfm
import pytest
import tinyhtml5
from cmarkgfm.cmark import Options as Cmark
from review.situations import BREAKOUTS, HOSTILE, RUNTIME, SITUATIONS, hostile, job_text, queued, review
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

from trainc.review.formats import markdown
from trainc.review.formats.markdown import SENTENCE, code, cut, fenced, prose
from trainc.review.reviewed import Review

pytestmark = pytest.mark.usefixtures("empty_folder")

HERE = Path(__file__).parent
SCREEN = 45
LIMIT = 65_536
USED = {"html", "head", "body", "h3", "p", "br", "strong", "em", "code", "pre", "ul", "li", "details", "summary"} | {
    "table", "thead", "tbody", "tr", "th", "td"
}  # fmt: skip
"""The elements of comments; both services allow them."""


class Comment(TextFile):
    folder = HERE / "comments"
    file_extension = "md"


def shown(text: str) -> Element:
    """Parse a text with GitHub's parser, and the HTML as a browser does, before any sanitizing."""
    html = cmarkgfm.github_flavored_markdown_to_html(text, options=Cmark.CMARK_OPT_UNSAFE)
    root: Element = tinyhtml5.parse(html, namespace_html_elements=False)
    return root


def words(element: Element) -> str:
    return "".join(element.itertext())


def tags(element: Element) -> set[Any]:
    return {each.tag for each in element.iter()}


def outside_of_code(element: Element) -> str:
    """Return the text in which a service looks for mentions, references and links."""
    if element.tag in {"code", "pre"}:
        return element.tail or ""
    return (element.text or "") + "".join(map(outside_of_code, element)) + (element.tail or "")


@pytest.mark.parametrize("case", SITUATIONS)
def test_a_comment(case: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    text = markdown.render(review(tmp_path, *SITUATIONS[case]))
    assert text == snapshot(extension_class=Comment)
    assert tags(shown(text)) <= USED


def test_one_edit_of_a_runtime_in_a_repository_of_200_jobs_fits_one_screen(tmp_path: Path) -> None:
    names = [f"runtimes/torch-{number}.yaml" for number in range(5)]
    before = {name: RUNTIME.replace("name: torch\n", f"name: {Path(name).stem}\n") for name in names}
    for number in range(200):
        text = job_text(f"job-{number:03}", metadata=queued(f"queue-{number % 6}"))
        before[f"jobs/{number}.yaml"] = text.replace("name: torch\n", f"name: torch-{number % 5}\n")
    after = before | {names[3]: before[names[3]].replace("numNodes: 2", "numNodes: 3")}
    text = markdown.render(review(tmp_path, before, after))
    summary = re.sub(r"(?s)(</summary>).*?(?=</details>)", r"\1", text)
    assert summary.startswith("### 40 to change\n")
    assert "job-103" not in summary  # the first jobs of a cause are named
    assert (text.count("`ml/job-003`"), text.count("`ml/job-198`")) == (2, 1)
    assert len(summary.splitlines()) <= SCREEN
    assert max(map(len, summary.splitlines())) < 400


def test_nothing_breaks_out_of_a_comment() -> None:
    text = markdown.render(hostile())
    seen, usual = shown(text), shown(markdown.render(hostile("x")))
    for tag in (
        "details",
        "summary",
        "table",
        "tr",
        "th",
        "td",
        "pre",
        "li",
        "h1",
        "hr",
        "script",
        "img",
        "a",
        "style",
    ):
        assert len([*seen.iter(tag)]) == len([*usual.iter(tag)]), tag
    assert [each.attrib for each in seen.iter() if each.attrib and each.tag not in {"pre", "td", "th"}] == []
    outside = outside_of_code(seen)
    for sign in "@#!~$:/<>`[]":
        assert sign not in outside.replace(": ", " ").replace(":\n", "\n"), sign


@pytest.mark.parametrize("given", BREAKOUTS)
@pytest.mark.parametrize("place", ["{}", "| a | {} |\n|---|---|\n| b | {} |", "- {}", "**{}**"])
def test_code_is_preserved_in_any_context(given: str, place: str) -> None:
    element = shown(place.format(code(given), code(given)))
    found = [*element.iter("code")]
    assert [words(each) for each in found] == [cut(given)] * place.count("{}")
    assert outside_of_code(element).strip() in {"", "ab"} or place != "{}"
    assert "a" not in {each.tag for each in element.iter()}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        pytest.param("the API server refuses it", "the API server refuses it", id="words"),
        pytest.param('runtime "torch"', "runtime `torch`", id="a quotation"),
        pytest.param("it is a/b: no, (c.d=e).", "it is `a/b`: no, (`c.d=e`).", id="signs"),
        pytest.param("by @team in #12, GH-12", "by `@team` in `#12`, `GH-12`", id="references"),
        pytest.param("see www.example.com", "see `www.example.com`", id="a link"),
        pytest.param("*so* _it_ <b>", "`*so*` `_it_` `<b>`", id="marks"),
        pytest.param('a " b', "a &quot; b", id="half a quotation"),
        pytest.param("two\nlines", "<code>two&#92;nlines</code>", id="lines"),
        pytest.param("well-known, don't 1.5", "well-known, don't 1.5", id="plain marks"),
    ],
)
def test_a_sentence(given: str, text: str) -> None:
    assert prose(given) == text


@pytest.mark.parametrize("given", BREAKOUTS)
def test_a_sentence_is_preserved(given: str) -> None:
    rendered = words(shown(f"so: {prose(given)}")).strip().removeprefix("so: ")
    assert rendered.replace('"', "").split() == cut(given)[:SENTENCE].replace('"', "").split()


@pytest.mark.parametrize("given", [*BREAKOUTS, "```\n````", "`" * 50])
def test_nothing_ends_a_fence(given: str) -> None:
    element = shown(f"{fenced([f'+ {given}', given], 9)}\n\nend")
    assert words(next(element.iter("pre"))) == f"{cut(f'+ {given}')}\n{cut(given)}\n"
    assert [words(each) for each in element.iter("p")] == ["end"]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        pytest.param(hostile(), "", id="attacks"),
        pytest.param(hostile(HOSTILE * 20), "", id="long values"),
        pytest.param(hostile("`|" * 2_000), "Omitted", id="values that get longer as code"),
        pytest.param(hostile("ж" * 9_999), "", id="other scripts"),
    ],
)
def test_a_comment_is_never_too_long(given: Review, left: str) -> None:
    changed = given.objects[0]
    many = [
        changed._replace(
            id=changed.id._replace(name=f"{changed.id.name}{number}"),
            lines=tuple(
                line._replace(cause=line.cause._replace(field=f"{number}")) for line in changed.lines if line.cause
            ),
        )
        for number in range(60)
    ]
    text = markdown.render(given._replace(objects=tuple(many)))
    assert len(text.encode()) <= LIMIT
    assert left in text
    folds = [*shown(text).iter("details")]
    assert len(folds) == len(re.findall("(?m)^<details>", text)) == len(re.findall("(?m)^</details>$", text))
    assert "_Omitted: details of " in text or "the comment would be too long: " in text


def test_the_same_review_is_the_same_text(tmp_path: Path) -> None:
    first, second = (markdown.render(review(tmp_path, *SITUATIONS["all-kinds"])) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("given", ["a|b@example.com", "a\\b@example.com", "`@acme/team`", "mailto:a|b@example.com"])
@pytest.mark.parametrize("place", ["{}", "| a |\n|-|\n| {} |"])
def test_an_address_in_code_is_no_link(given: str, place: str) -> None:
    html = cmarkgfm.github_flavored_markdown_to_html(place.format(code(given)), options=Cmark.CMARK_OPT_UNSAFE)
    assert "<a " not in html
    assert "<code>" in html
