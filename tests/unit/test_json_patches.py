"""JSON patches: the test cases of RFC 6902's appendix A, errors, and trees that others share."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, cast

import pytest
from batches import examples
from hypothesis import given
from hypothesis import strategies as st
from jsonpatch import JsonPatch, JsonPatchException
from jsonpointer import JsonPointerException

from trainc.edits.patching.operations import Step, apply, parse, value_at, written
from trainc.edits.patching.patch_faults import PatchError, TooLargeError
from trainc.provenance.tracing.correspondence import GONE
from trainc.provenance.tracing.correspondence import value_at as value_in_tree

# The heading in RFC 6902, the document, the patch, and the result.
APPENDIX: list[tuple[str, Any, list[Any], Any]] = [
    (
        "A.1 adding an object member",
        {"foo": "bar"},
        [{"op": "add", "path": "/baz", "value": "qux"}],
        {"baz": "qux", "foo": "bar"},
    ),
    (
        "A.2 adding an array element",
        {"foo": ["bar", "baz"]},
        [{"op": "add", "path": "/foo/1", "value": "qux"}],
        {"foo": ["bar", "qux", "baz"]},
    ),
    (
        "A.3 removing an object member",
        {"baz": "qux", "foo": "bar"},
        [{"op": "remove", "path": "/baz"}],
        {"foo": "bar"},
    ),
    (
        "A.4 removing an array element",
        {"foo": ["bar", "qux", "baz"]},
        [{"op": "remove", "path": "/foo/1"}],
        {"foo": ["bar", "baz"]},
    ),
    (
        "A.5 replacing a value",
        {"baz": "qux", "foo": "bar"},
        [{"op": "replace", "path": "/baz", "value": "boo"}],
        {"baz": "boo", "foo": "bar"},
    ),
    (
        "A.6 moving a value",
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    (
        "A.7 moving an array element",
        {"foo": ["all", "grass", "cows", "eat"]},
        [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    (
        "A.8 testing a value, success",
        {"baz": "qux", "foo": ["a", 2, "c"]},
        [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
        {"baz": "qux", "foo": ["a", 2, "c"]},
    ),
    ("A.9 testing a value, error", {"baz": "qux"}, [{"op": "test", "path": "/baz", "value": "bar"}], GONE),
    (
        "A.10 adding a nested member object",
        {"foo": "bar"},
        [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
        {"foo": "bar", "child": {"grandchild": {}}},
    ),
    (
        "A.11 ignoring unrecognized elements",
        {"foo": "bar"},
        [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}],
        {"foo": "bar", "baz": "qux"},
    ),
    ("A.12 adding to a nonexistent target", {"foo": "bar"}, [{"op": "add", "path": "/baz/bat", "value": "qux"}], GONE),
    # A.13, a patch with a duplicate key, is not valid YAML: tests/unit/test_patches.py.
    (
        "A.14 tilde escape ordering",
        {"/": 9, "~1": 10},
        [{"op": "test", "path": "/~01", "value": 10}],
        {"/": 9, "~1": 10},
    ),
    ("A.15 comparing strings and numbers", {"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": "10"}], GONE),
    (
        "A.16 adding an array value",
        {"foo": ["bar"]},
        [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}],
        {"foo": ["bar", ["abc", "def"]]},
    ),
]
OTHERS: list[tuple[str, Any, list[Any], Any]] = [
    ("true is not 1", {"a": True}, [{"op": "test", "path": "/a", "value": 1}], GONE),
    ("nor in a list", {"a": [True]}, [{"op": "test", "path": "/a", "value": [1]}], GONE),
    ("1.0 is 1", {"a": 1.0}, [{"op": "test", "path": "/a", "value": 1}], {"a": 1.0}),
    ("null is a value", {"a": 1}, [{"op": "add", "path": "/a", "value": None}], {"a": None}),
    ("replace needs a field", {"a": 1}, [{"op": "replace", "path": "/b", "value": 1}], GONE),
    ("replace of an item after the last", {"a": [1]}, [{"op": "replace", "path": "/a/-", "value": 1}], GONE),
    ("an index with a leading zero", {"a": [1, 2]}, [{"op": "remove", "path": "/a/01"}], GONE),
    ("a negative index", {"a": [1, 2]}, [{"op": "remove", "path": "/a/-1"}], GONE),
    ("an item of a string", {"a": "xyz"}, [{"op": "test", "path": "/a/1", "value": "y"}], GONE),
    ("an insertion far after the last item", {"a": [1]}, [{"op": "add", "path": "/a/2", "value": 1}], GONE),
    ("a move to the same place", {"a": [1]}, [{"op": "move", "from": "/a/0", "path": "/a/0"}], {"a": [1]}),
    ("a move from nothing", {"a": 1}, [{"op": "move", "from": "/b", "path": "/b"}], GONE),
    ("a move through its own list", {"a": [0, {}]}, [{"op": "move", "from": "/a/0", "path": "/a/0/x"}], GONE),
    ("a move past a removal", {"a": [0, {}]}, [{"op": "move", "from": "/a/0", "path": "/b"}], {"a": [{}], "b": 0}),
    (
        "a move into the next item",
        {"a": [{"x": 1}, {"y": {}}]},
        [{"op": "move", "from": "/a/0/x", "path": "/a/1/y/x"}],
        {"a": [{}, {"y": {"x": 1}}]},
    ),
    (
        "a copy into itself",
        {"a": {"b": 1}},
        [{"op": "copy", "from": "/a", "path": "/a/c"}],
        {"a": {"b": 1, "c": {"b": 1}}},
    ),
    (
        "the root",
        {"a": 1},
        [{"op": "replace", "path": "", "value": {"b": 2}}, {"op": "add", "path": "/c", "value": 3}],
        {"b": 2, "c": 3},
    ),
    (
        "an added value that changes later",
        {"a": 1},
        [{"op": "add", "path": "/b", "value": {"c": []}}, {"op": "add", "path": "/b/c/-", "value": 1}],
        {"a": 1, "b": {"c": [1]}},
    ),
]


@pytest.mark.parametrize(
    ("tree", "patch", "result"), [pytest.param(*row, id=name) for name, *row in (*APPENDIX, *OTHERS)]
)
def test_operations(tree: Any, patch: list[Any], result: Any) -> None:
    before = json.dumps([tree, patch])
    if result is GONE:
        with pytest.raises(PatchError):
            apply(tree, parse(patch))
    else:
        for _ in range(2):  # the second time with the same operations
            assert json.dumps(apply(tree, parse(patch))[0], sort_keys=True) == json.dumps(result, sort_keys=True)
    assert json.dumps([tree, patch]) == before


def test_unchanged_parts_are_shared() -> None:
    tree: Any = {"a": {"b": [{"c": 1}]}, "d": {"e": {}}}
    result, _ = apply(tree, parse([{"op": "add", "path": "/a/b/0/x", "value": 1}]))
    assert result["d"] is tree["d"]
    assert result["a"]["b"][0] is not tree["a"]["b"][0]
    assert tree == {"a": {"b": [{"c": 1}]}, "d": {"e": {}}}


KEYS = st.sampled_from(["a", "b", "c", "~", "/"])
VALUES = st.recursive(
    st.sampled_from([None, True, 1, 2.5, "x"]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(KEYS, inside, max_size=3),
    max_leaves=8,
)
POINTERS = st.lists(st.sampled_from(["a", "b", "c", "~0", "~1", "0", "1", "2", "-"]), max_size=3).map(
    lambda parts: "".join(f"/{part}" for part in parts)
)
OPERATIONS = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "add", "remove", "replace", "move", "copy", "test"]),
        "path": POINTERS,
        "from": POINTERS,
        "value": VALUES,
    }
)


@examples(400, database=None)
@given(st.dictionaries(KEYS, VALUES, max_size=3), st.lists(OPERATIONS, max_size=4))
def test_results_equal_those_of_the_library(tree: Any, patch: list[Any]) -> None:
    before = json.dumps([tree, patch])
    try:
        ours: Any = apply(tree, parse(patch))
    except PatchError:
        ours = None
    assert json.dumps([tree, patch]) == before, "the patch changed what it was given"
    try:
        theirs: Any = JsonPatch(deepcopy(patch)).apply(deepcopy(tree))
    except (JsonPatchException, JsonPointerException, TypeError, KeyError):
        theirs = GONE
    if ours is not None:
        assert json.dumps(ours[0], sort_keys=True) == json.dumps(theirs, sort_keys=True)
        assert_sources(tree, ours[0], patch, ours[1])
    else:
        assert theirs is GONE or any(
            (operation["op"] == "remove" and not operation["path"])
            or (operation["op"] == "move" and operation["path"].startswith(operation["from"]))
            for operation in patch
        )


def assert_sources(before: Any, after: Any, patch: list[Any], steps: Any) -> None:
    """Check that each scalar of the result has the value of its source: a value of the patch, or a field before."""
    for path, value in scalars(after, ()):
        found = written(steps, path)
        if found and isinstance(found[0], Step):
            step, rest = cast("tuple[Step, Any]", found)
            source = value_at(patch, step, rest)
            if source[1:2] == ("value",):
                assert json.dumps(value_in_tree(patch, source)) == json.dumps(value)
        else:
            assert json.dumps(value_in_tree(before, found)) == json.dumps(value)


def scalars(tree: Any, path: tuple[Any, ...]) -> Any:
    if not isinstance(tree, dict | list):
        yield path, tree
        return
    for step, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from scalars(value, (*path, step))


def test_doubling_copies_stop_before_they_are_made() -> None:
    patch = [{"op": "copy", "from": "/a", "path": f"/a/x{number}"} for number in range(40)]
    with pytest.raises(TooLargeError) as raised:
        apply({"a": {"b": 1}}, parse(patch), most=10_000)
    assert int(raised.value.path[0]) < 20


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("api-token", 'the test fails: /a/api-token is "***", not "***"'),
        ("note", 'the test fails: /a/note is "one", not "two"'),
    ],
)
def test_a_test_that_fails_masks_a_secret(name: str, message: str) -> None:
    with pytest.raises(PatchError) as raised:
        apply({"a": {name: "one"}}, parse([{"op": "test", "path": f"/a/{name}", "value": "two"}]))
    assert str(raised.value) == message


def test_depth_is_limited() -> None:
    deeper = [
        {"op": "move", "from": "/a", "path": "/b"},
        {"op": "add", "path": "/a", "value": {}},
        {"op": "move", "from": "/b", "path": "/a/a"},
    ]
    with pytest.raises(PatchError, match="more than 100 nested"):
        apply({"a": {}}, parse(deeper * 200))
