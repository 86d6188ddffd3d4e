"""Round trips: YAML 1.1 and 1.2 parsers in Python and Go read the output back with equal values and types."""

from __future__ import annotations

import json as stdlib_json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml as pyyaml
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from trainc.emit import FORMATS, load, yaml
from trainc.kubernetes import documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

KUBECTL = shutil.which("kubectl")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="kubectl on the PATH")

few = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
# Each example starts a process, so shrinking a failure would take too long.
calls = settings(few, max_examples=2, phases=[Phase.generate])

WORDS = (
    *("", "yes", "No", "ON", "off", "y", "N", "true", "False", "NULL", "~", "=", "<<", "0", "-1", "017", "08", "0o17"),
    *("0x1f", "0b1", "1_000", "1,000", ".5", "1.", "1e3", "1e400", ".inf", "-.INF", ".NaN", "1:30", "1:30:00.5"),
    *(
        "2024-01-01",
        "2024-1-1 10:00:00",
        "---",
        "...",
        "--- a",
        "-",
        "?",
        ":",
        "- a",
        "? a",
        ": a",
        "a: b",
        "a:",
        "a #b",
    ),
    *("#a", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "'", '"', "[a]", "{a}", ",", "a'b", " a", "a ", "\\", "name"),
)
# The parts of random lines: everything that some parser treats specially at the start, inside or at the end of a line.
PIECES = (
    *(
        "a",
        "é",
        "😀",
        " ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\n  ",
        "\n\t",
        "\n---\n",
        "\n...\n",
        "#",
        " #",
        ": ",
        "- ",
    ),
    *("? ", "|", ">", "%", "'", '"', "\\", "{", "]", "\r", "\r\n", "\x00", "\x1b", "\x7f", "\x85", "\xa0", "\u2028"),
    *("\u2029", "\u200b", "\u202e", "\u3000", "\ufeff", "\ufffd", "\uffff", "\U0001ffff", "\U000e0001", "\U0010ffff"),
)

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
lines = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
strings = st.one_of(st.sampled_from(WORDS), lines, anything)
# kustomize reads these escaped, but then writes them unescaped and cannot read its own output.
for_kustomize = strings.map(lambda text: text.translate(dict.fromkeys([*range(0x7F, 0xA0), 0xFFFE, 0xFFFF])))
scalars = st.one_of(
    strings,
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4), max_leaves=20
)
trees = st.dictionaries(strings, values, max_size=5)


READERS: dict[str, Callable[[str], Iterable[Any]]] = {"yaml": pyyaml.safe_load_all, "json": stdlib_json.loads}
"""A parser of each format, which is not trainc's own."""


def are_equal(left: Any, right: Any, *, numbers_are_one_type: bool = False) -> bool:
    """Return whether two trees have equal values and types; int and float may count as one type, as in Go and JSON."""
    if numbers_are_one_type and {type(left), type(right)} == {int, float}:
        return float(left) == float(right)  # Go writes 6.899422582878671e+16 as 68994225828786710
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            are_equal(left[k], right[k], numbers_are_one_type=numbers_are_one_type) for k in left
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(
            are_equal(a, b, numbers_are_one_type=numbers_are_one_type) for a, b in zip(left, right, strict=True)
        )
    return bool(left == right)


@pytest.mark.parametrize("form", FORMATS)
@few
@given(objects=st.lists(trees, max_size=3), copies=st.lists(trees, max_size=2))
def test_the_objects_and_the_copies_are_read_back(form: str, objects: list[Any], copies: list[Any]) -> None:
    text = "".join(load(form)(objects, [(copy, yaml.render([copy])) for copy in copies]))
    assert are_equal(list(READERS[form](text)), [*objects, *copies])


@few
@given(st.lists(trees, max_size=3))
@example([{"k" * 1025: {"a": 1}, "é" * 1025: [1], "y" * 1025: "a\nb", "z" * 1025: {}}, {"😀" * 1024: 1}])
def test_pyyaml_reads_what_was_written(objects: list[Any]) -> None:
    assert are_equal(list(pyyaml.safe_load_all(yaml.render(objects))), objects)


@few
@given(trees)
@example({"k" * 1025: {"a": 1}, "é" * 1025: [1], "y" * 1025: "a\nb", "z" * 1025: {}, "😀" * 1024: 1})
def test_libyaml_reads_what_was_written(tree: Any) -> None:
    assert are_equal(pyyaml.load(yaml.render([tree]), pyyaml.CSafeLoader), tree)


@few
@given(trees)
@example({"k" * 1025: {"a": 1}, "é" * 1025: [1], "y" * 1025: "a\nb", "z" * 1025: {}, "😀" * 1024: 1})
def test_ruamel_reads_what_was_written_as_yaml_1_2(tree: Any) -> None:
    assert are_equal(YAML(typ="safe", pure=True).load(yaml.render([tree])), tree)


@few
@given(trees)
@example({"k" * 1025: {"a": 1}, "é" * 1025: [1], "y" * 1025: "a\nb", "z" * 1025: {}, "😀" * 1024: 1})
def test_trainc_reads_what_was_written_as_kubernetes_does(tree: Any) -> None:
    assert are_equal(documents.parse(yaml.render([tree])), tree, numbers_are_one_type=True)


@few
@given(st.lists(trees, min_size=2, max_size=3))
def test_a_stream_is_cut_where_it_was_joined(objects: list[Any]) -> None:
    read, errors = documents.read_stream(yaml.render(objects))
    assert not errors
    assert are_equal([document.value for document in read], objects, numbers_are_one_type=True)


@few
@given(st.lists(trees, max_size=3))
def test_json_is_read_as_json_and_as_yaml(objects: list[Any]) -> None:
    text = "".join(load("json")(objects, []))
    assert are_equal(stdlib_json.loads(text), objects)
    assert are_equal(documents.parse(text), objects, numbers_are_one_type=True)


@few
@given(st.text(st.characters(categories=["Cs", "Cc", "L"]), max_size=8))
def test_bytes_exist_for_all_that_python_holds(text: str) -> None:
    for form in FORMATS:
        assert "".join(load(form)([{text: text}], [])).encode()


@needs_kubectl
@calls
@given(st.lists(trees, min_size=40, max_size=40))
def test_kubectl_reads_what_was_written(specs: list[Any]) -> None:
    """Let kubectl split and parse the stream. `annotate --local` needs no cluster and prints JSON."""
    manifest = yaml.render(_objects("trainc.test/v1", "Spec", [{"spec": spec} for spec in specs]))
    printed = _kubectl("annotate", "--local", "-f", "-", "-o", "json", "a=b", manifest=manifest)
    read = [tree.get("spec", {}) for tree in _objects_of(printed)]
    assert are_equal(read, specs, numbers_are_one_type=True)


@needs_kubectl
@calls
@given(rows=st.lists(st.lists(for_kustomize, min_size=5, max_size=5), min_size=20, max_size=20))
def test_kustomize_reads_what_was_written(rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Test only values: kustomize drops a key `<<` and fails on keys of more than 1024 characters."""
    folder = tmp_path_factory.mktemp("kustomize")
    data = [{"data": {f"k{i}": text for i, text in enumerate(row)}} for row in rows]
    (folder / "objects.yaml").write_bytes(yaml.render(_objects("v1", "ConfigMap", data)).encode())
    (folder / "kustomization.yaml").write_text("resources: [objects.yaml]\n")
    read = [document.value["data"] for document in documents.read_stream(_kubectl("kustomize", folder))[0]]
    assert are_equal(read, [tree["data"] for tree in data])


def _objects(api_version: str, kind: str, trees: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"apiVersion": api_version, "kind": kind, "metadata": {"name": f"n{i:03}"}, **tree}
        for i, tree in enumerate(trees)
    ]


def _kubectl(*arguments: str | Path, manifest: str = "") -> str:
    assert KUBECTL is not None
    done = subprocess.run([KUBECTL, *arguments], input=manifest.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def _objects_of(printed: str) -> list[Any]:
    """Return the concatenated JSON objects in a text."""
    decoder, found, at = stdlib_json.JSONDecoder(), [], 0
    while at < len(printed.rstrip()):
        value, at = decoder.raw_decode(printed, at + len(printed[at:]) - len(printed[at:].lstrip()))
        found.append(value)
    return found
