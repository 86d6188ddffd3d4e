"""The texts of an upgrade: nodes with positions, items of a List, and differences of long texts."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from trainc.kubernetes.documents.events import YAMLError
from trainc.rewriting.upgrade import upgrade
from trainc.rewriting.upgrade.rewritten_documents import cut, pasted
from trainc.source import file_diffs
from trainc.source.file_diffs import unified_diff
from trainc.source.source_text import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    TextNode,
    anchors_in,
    compose,
    parsed,
)

GOLDEN = Path(__file__).parents[2] / "golden"
TEXTS = sorted(GOLDEN.glob("dialect-*/input.yaml"))


def positions(node: TextNode) -> list[tuple[int, int, int, int]]:
    """Return the positions of a node and all nodes below it; of an empty scalar, libyaml has another one."""
    first, last = node.start_mark, node.end_mark
    own = [(first.index, last.index, first.line, last.column)] if first.index < last.index else []
    if isinstance(node, MappingNode):
        return own + [found for pair in node.value for child in pair for found in positions(child)]
    if isinstance(node, SequenceNode):
        return own + [found for child in node.value for found in positions(child)]
    return own


def expected(node: object) -> list[tuple[int, int, int, int]]:
    """Return the same positions of ruamel.yaml's nodes."""
    first, last = node.start_mark, node.end_mark  # type: ignore[attr-defined]
    own = [(first.index, last.index, first.line, last.column)] if first.index < last.index else []
    value = node.value  # type: ignore[attr-defined]
    if isinstance(value, list):
        return own + [found for child in value for part in _parts(child) for found in expected(part)]
    return own


def _parts(child: object) -> tuple[object, ...]:
    return child if isinstance(child, tuple) else (child,)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.parent.name)
def test_the_positions_are_those_of_another_parser(file: Path) -> None:
    for text in file.read_text().split("---\n"):
        if text.strip():
            assert positions(compose(text)) == expected(YAML(typ="safe", pure=True).compose(text))


def test_only_a_newline_ends_a_line() -> None:
    """libyaml also ends lines at NEL, LS and PS, and trainc's other code does not."""
    root = compose('a: "x\u2028y\x85z"\nb: 1\n')
    assert isinstance(root, MappingNode)
    assert [(key.start_mark.line, key.start_mark.column) for key, _ in root.value] == [(0, 0), (1, 0)]


def test_an_anchor_may_be_defined_twice() -> None:
    root = compose("a: &x 1\nb: &x 2\nc: *x\n")
    assert isinstance(root, MappingNode)
    assert [value.value for _, value in root.value if isinstance(value, ScalarNode)] == ["1", "2", "2"]


@pytest.mark.parametrize("text", ["a: *x\n", "# nothing\n"])
def test_a_text_without_a_root_or_an_anchor(text: str) -> None:
    with pytest.raises(YAMLError):
        compose(text)


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        pytest.param("a: |\n  b #", [], id="the end of a block scalar"),
        pytest.param("# a\nb: c # d\n", ["# a", "# d"], id="a line, and the end of a line"),
        pytest.param("a: 'b # c'\n# d", ["# d"], id="a quoted scalar"),
    ],
)
def test_comments_are_outside_of_scalars(text: str, comments: list[str]) -> None:
    assert [each.text for each in parsed(text).comments] == comments


def test_the_places_of_anchors() -> None:
    text = 'a: &x 1\nb: !!str &long-name "&x"\nc: *x\n'
    assert [text[place.start : place.stop] for place in anchors_in(text)] == ["&x", "&long-name"]


LIST = """\
items:
- a: 1  # one
  b:
    c: 2
  # of the first item

# of the List
- a: 3
"""


def test_an_item_is_a_text() -> None:
    item = cut(LIST, ("items", 0))
    assert item is not None
    assert item.text == "a: 1  # one\nb:\n  c: 2\n# of the first item"
    assert pasted(LIST, [(item, item.text)]) == LIST
    assert pasted(LIST, [(item, "a: 9\nd: 1")]) == "items:\n- a: 9\n  d: 1\n\n# of the List\n- a: 3\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("items: [{a: 1}, {b: 2}]\n", id="flow style"),
        pytest.param("items:\n- {a: 1}\n", id="an item in flow style"),
        pytest.param("items:\n- &x\n  a: 1\n", id="an anchor before the item"),
        pytest.param("x: &x {a: 1}\nitems:\n- b: *x\n", id="an alias of an anchor outside"),
        pytest.param("x: &x {a: 1}\nitems:\n- *x\n", id="an alias"),
        pytest.param("items:\n- - a: 1\n", id="a list"),
        pytest.param("items:\n- a: 1\n# left\n  b: 2\n", id="a comment left of the item"),
        pytest.param("items: {a: 1}\n", id="no list"),
    ],
)
def test_an_item_without_a_text(text: str) -> None:
    assert cut(text, ("items", 0)) is None


OLD = """\
  apiVersion: trainer.kubeflow.org/v1alpha1
  kind: TrainJob
  metadata: {name: %s}
  spec:
    runtimeRef: {name: torch-distributed}
    podTemplateOverrides:
    - targetJobs: [{name: node}]
      spec: {nodeSelector: %s}
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("selector", ["{a: b}", "*x"])
def test_a_list_of_two_jobs(selector: str, newline: str, tmp_path: Path) -> None:
    """Items that share an anchor are upgraded in the text of the List."""
    first = "- " + (OLD % ("a", "&x {a: b}")).lstrip()
    second = "- " + (OLD % ("b", selector)).lstrip()
    text = f"apiVersion: v1\nkind: List\nitems:\n{first}{second}"
    file = tmp_path / "list.yaml"
    file.write_bytes(text.replace("\n", newline).encode())
    (new,), diagnostics = upgrade([str(file)])
    assert diagnostics == []
    assert new.new.count("runtimePatches:") == 2
    assert new.new.count(newline) == new.new.count("\n")
    assert [changed.object.name for changed in new.changed] == ["a", "b"]


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "---\n", "d\n", "e\n", "f\n"]), max_size=12)


@given(lines, lines)
def test_a_long_difference_can_be_applied(old: list[str], new: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(file_diffs, "LONG", -1)
        assert applied(old, list(unified_diff("".join(old), "".join(new), "a", "b"))) == new


def applied(old: list[str], difference: list[str]) -> list[str]:
    """Return the new lines of a unified diff; its context and removed lines must be those of the old text."""
    made: list[str] = []
    at = 0
    for line in difference[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1].removeprefix("-").partition(",")
            begin = int(start) - (count != "0")
            made += old[at:begin]
            at = begin
        elif line.startswith("+"):
            made.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            made += [line[1:]] if line.startswith(" ") else []
    return made + old[at:]


@pytest.mark.parametrize("long", [-1, 1000])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([f"{number}\n" for number in range(30)], [f"{number}\n" for number in range(30) if number != 15]),
        (["a\n"], ["a\n"]),
        ([], ["a\n"]),
    ],
    ids=["a hunk", "equal", "new"],
)
def test_the_lines_are_those_of_difflib(
    old: list[str], new: list[str], long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_diffs, "LONG", long)
    assert list(unified_diff("".join(old), "".join(new), "a", "b")) == list(difflib.unified_diff(old, new, "a", "b"))
