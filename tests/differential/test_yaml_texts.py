"""Generated YAML texts, read by trainc and by sigs.k8s.io/yaml."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conformance.recordings import are_equal
from differential.oracle import EXAMPLES, Oracle, needs_oracle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainc.kubernetes.documents import YamlError, parse

pytestmark = needs_oracle

DELIBERATELY_REJECTED = (
    "is already set on line",  # 1 and "1" are two keys in Go, but one in JSON: the value is random
    "an anchor or tag must end with a space",  # libyaml does not include commas or brackets in a tag
    "a tag must end with a space",
    "a `!` starts a tag here",
    "a `:` must be followed by a space here",  # {a:} is the key "a:" to Go
    "two merged mappings set the key",  # so do 1 and 1.0 here
    "`<<` would override the key",
)

# Pieces of texts, without `---` and `...`: the scanners look ahead differently into the text after a document.
PIECES = r"""
a b k: - : ? : ? - [ ] { } , , # ' " '' "" \n \u0041 \x41 \' \/ \ % @ ` | > |- >+ |2 *x *x &x &y *y ...x ---x
! !!str !!int !!float !t !!binary ~ null true y no 0x1F 1e3 .5 1_0 + .inf 0 1. 08 0o7 = <<: << http://a?b=c a:1 é 😀
"""
SPACES = ("\n", "\n", "\n", " ", " ", "  ", "\t", "\r\n", "\r", " #c\n", ": ", "- ", ", ")
ODD_SPACES = ("\x85", "\u2028", "\xa0", "\x7f")
# No byte order marks: where Go's buffer begins with one, it drops the first character of each line.
ANY = st.characters(codec="utf-8", exclude_characters="\ufeff")
NUMBERS = "0123456789_+-.eExXoObBinfaNF~yn"


def number() -> st.SearchStrategy[str]:
    scalar = st.text(NUMBERS, min_size=1, max_size=7)
    form = st.sampled_from(["{}", "v: {}", "[{}]", "{}: v", "!!int {}", "!!float {}", "!!bool {}", "- {}: {}"])
    return st.builds(lambda form, scalar: form.replace("{}", scalar), form, scalar)


def soup() -> st.SearchStrategy[str]:
    start = st.sampled_from(["v: ", "v:\n  ", "v: [", "v: {", 'v: "', "v: '", "v: |\n  ", "? "])
    pieces = st.lists(
        st.sampled_from(PIECES.split())
        | st.sampled_from(SPACES)
        | st.sampled_from(ODD_SPACES)
        | st.characters(codec="utf-8"),
        max_size=16,
    )
    return st.builds(lambda start, pieces: start + "".join(pieces), start, pieces)


LEAVES = [
    "",
    "a",
    "1",
    '"x"',
    "'y'",
    "~",
    "true",
    "a b c",
    "!!str 1",
    "&x a",
    "*x",
    "[a, b]",
    "&x {a: 1}",
    "{a: 1, b: [c]}",
]
BLOCKS = ["|\n{0}  t\n{0}  u", ">-\n{0}  t\n\n{0}  u", "a\n{0} b", "'a\n{0} b'", "x: y"]
FIELDS = ["a", "b", '"d"', "1", "<<", "y", "1.0", "? e\n{0}"]


@st.composite
def block(draw: st.DrawFn, depth: int = 3, indent: int = 0) -> str:
    """Draw a collection in block style, mostly with valid indentation."""
    spaces = "  " * indent
    kind = draw(st.sampled_from(["leaf", "list", "mapping", "mapping"]) if depth else st.just("leaf"))
    if kind == "leaf":
        ending = draw(st.sampled_from(["", "", " # c", " "]))
        return draw(st.sampled_from(LEAVES + BLOCKS)).replace("{0}", spaces) + ending
    children = st.lists(block(depth - 1, indent + draw(st.sampled_from([1, 1, 1, 0]))), min_size=1, max_size=3)
    if kind == "list":
        dash = draw(st.sampled_from(["- ", "-   ", "-"]))
        return "\n" + "\n".join(spaces + dash + item for item in draw(children))
    opening = draw(st.sampled_from(["\n", "\n", "&x\n", "!!map\n"]))
    keys = [draw(st.sampled_from(FIELDS)).replace("{0}", spaces) for _ in range(3)]
    colon = draw(st.sampled_from([": ", ":", " : "]))
    fields = zip(keys, draw(children), strict=False)
    return opening + "\n".join(f"{spaces}{key}{colon}{value}" for key, value in fields)


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    oracle = Oracle()
    yield oracle
    oracle.close()


@given(text=number() | soup() | block().map(str.lstrip))
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_texts_have_equal_values(oracle: Oracle, text: str) -> None:
    (answer,) = oracle.ask("yaml", [{"text": text}])
    value = _read(text)
    if isinstance(value, YamlError):
        assert "error" in answer or any(reason in value.message for reason in DELIBERATELY_REJECTED), (value, answer)
    elif "<<" in text and "already set in map" in answer.get("error", ""):
        pass  # a key that overrides an earlier merged one
    else:
        assert are_equal(value, answer.get("output", answer)), answer


def _read(text: str) -> Any:
    try:
        return parse(text)
    except YamlError as error:
        return error
