"""The review as an HTML page: complete pages, and how a browser parses them.

`pages/` has the pages of `situations.py`, without their style and script. tinyhtml5 parses them and reports errors.
`test_browser.py` tests the layout and the keyboard.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
import tinyhtml5
from review.situations import BREAKOUTS, HOSTILE, SITUATIONS, hostile, review
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion
from tinyhtml5.parser import HTMLParser

from trainc.base.data import data_path
from trainc.review.formats import html
from trainc.review.formats.html_objects import LINE, text
from trainc.review.reviewed import Review

pytestmark = pytest.mark.usefixtures("empty_folder")

HERE = Path(__file__).parent
OWN = {"page.css", "page.js"}


class Page(TextFile):
    folder = HERE / "pages"
    file_extension = "html"

    def serialize(self, data: Any, **_: Any) -> str:
        bare = re.sub(r"(?s)<(style|script)>.*?</\1>", r"<\1></\1>", str(data))
        return re.sub(r"sha256-[A-Za-z0-9+/]{43}=", "sha256-", bare)


def read(page: str) -> Element:
    """Parse a page as a browser does; fail on a parse error."""
    parser = HTMLParser(namespace_html_elements=False)
    root: Element = parser.parse(page)
    assert parser.errors == []
    return root


def counted(root: Element) -> dict[str, int]:
    """Return the number of elements by tag."""
    found: dict[str, int] = {}
    for element in root.iter():
        found[str(element.tag)] = found.get(str(element.tag), 0) + 1
    return found


def words(element: Element) -> str:
    return "".join(element.itertext())


@pytest.mark.parametrize("case", SITUATIONS)
def test_a_page(case: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    page = html.render(review(tmp_path, *SITUATIONS[case]))
    assert page == snapshot(extension_class=Page)
    read(page)


@pytest.mark.parametrize("given", [hostile(), hostile("x"), Review("a", "b")], ids=["attacks", "plain", "empty"])
def test_a_page_runs_and_loads_nothing_but_its_own(given: Review) -> None:
    root = read(html.render(given))
    [policy] = [each.attrib["content"] for each in root.iter("meta") if "http-equiv" in each.attrib]
    digests = {
        f"{tag}-src 'sha256-{b64encode(sha256(words(next(root.iter(tag))).encode()).digest()).decode()}'"
        for tag in ("style", "script")
    }
    assert {*policy.split("; ")} == digests | {"default-src 'none'", "base-uri 'none'", "form-action 'none'"}
    assert (counted(root)["style"], counted(root)["script"]) == (1, 1)
    attributes = {(name, value) for each in root.iter() for name, value in each.attrib.items()}
    assert [
        name for name, _ in attributes if name.startswith("on") or name in {"style", "src", "srcset", "action"}
    ] == []
    assert [value for name, value in attributes if name == "href" and not re.fullmatch(r"#(main|[co]\d+)", value)] == []


def test_every_link_has_a_target(tmp_path: Path) -> None:
    root = read(html.render(review(tmp_path, *SITUATIONS["all-kinds"])))
    ids = [each.attrib["id"] for each in root.iter() if "id" in each.attrib]
    assert len(ids) == len(set(ids))
    named = [each.attrib[name] for each in root.iter() for name in ("for", "aria-labelledby") if name in each.attrib]
    assert {each.attrib["href"].removeprefix("#") for each in root.iter("a")} | {*named} <= {*ids}


def test_nothing_breaks_out_of_a_page() -> None:
    attacked, usual = read(html.render(hostile())), read(html.render(hostile("x")))
    assert set(counted(attacked)) == set(counted(usual))
    for tag in ("details", "table", "script", "style", "title", "meta", "a", "input", "section", "li"):
        assert counted(attacked)[tag] == counted(usual)[tag], tag
    names = {name for each in attacked.iter() for name in each.attrib}
    assert names == {name for each in usual.iter() for name in each.attrib}
    assert re.search("[\u202a-\u202e\u2066-\u2069\u200b\ufeff\x00-\x08\x0b-\x1f\x7f]", words(attacked)) is None


@pytest.mark.parametrize("given", BREAKOUTS)
def test_text_is_preserved(given: str) -> None:
    [paragraph] = tinyhtml5.parse(f"<p>{text(given)}", namespace_html_elements=False).iter("p")
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in given)
    assert (words(paragraph), len(paragraph)) == (printable, 0)


def test_long_values_are_cut(tmp_path: Path) -> None:
    long = HOSTILE * 400
    assert len(long) > 40 * LINE > max(map(len, words(read(html.render(hostile(long)))).splitlines()))


def test_both_sides_are_complete_on_the_page(tmp_path: Path) -> None:
    found = review(tmp_path, *SITUATIONS["all-kinds"])
    root = read(html.render(found))
    [one] = [each for each in root.iter("details") if each.get("id", "").startswith("o") and "ml/one" in words(each[0])]
    [table] = [each for each in one.iter("table") if each.attrib.get("class") == "side"]
    new = [words(row[3]) if len(row) == 4 else words(next(row.iter("pre"))) for row in table.iter("tr")][1:]
    from trainc.emit import yaml

    [tree] = [each.masked_after for each in found.objects if each.id.name == "one"]
    assert tree is not None
    assert [line for rows in new for line in rows.split("\n") if line] == yaml.render([tree]).splitlines()


def test_a_page_is_bounded_by_the_different_changes(tmp_path: Path) -> None:
    found = review(tmp_path, *SITUATIONS["all-kinds"])
    changed = found.with_status("changed")
    many = [
        each._replace(source=each.source._replace(name=f"{each.source.name}-{number}"))
        for number in range(1000)
        for each in changed
    ]
    page = html.render(found._replace(objects=tuple(many)))
    assert page.count('class="side"') == len(changed)
    assert all(f"one-{number}<" in page for number in range(1000))
    assert len(page) < 900_000


def test_the_same_review_is_the_same_page(tmp_path: Path) -> None:
    first, second = (html.render(review(tmp_path, *SITUATIONS["all-kinds"])) for _ in range(2))
    assert first == second


def test_the_style_and_the_script_are_plain_files() -> None:
    for name in OWN:
        data = Path(data_path("templates", "review", name)).read_text(
            encoding="ascii" if name == "page.js" else "utf-8"
        )
        assert "http" not in data
        assert "</" not in data
        assert not re.search(r"\beval\b|innerHTML|insertAdjacentHTML|document\.write|url\(|@import|new Function", data)
