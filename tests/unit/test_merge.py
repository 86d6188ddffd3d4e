"""Strategic merge: the changes of a patch, the fields that it must not change, and patches that cannot be merged.

tests/differential/test_merges.py compares every line of these tables with the upstream code.
"""

# ruff: noqa: E501 (a case is a line)

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

import pytest

from trainc.kubernetes.gotypes import ROOT
from trainc.kubernetes.merge import MergeError, strategic_merge

POD, META, CONTAINER = "core/v1.PodSpec", "meta/v1.ObjectMeta", "core/v1.Container"


def named(*names: Any) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


# (id, type, original, patch, result)
MERGED: Final[list[tuple[str, str, Any, Any, Any]]] = [
    # mappings
    ("a field is set", POD, {"nodeName": "a"}, {"nodeName": "b"}, {"nodeName": "b"}),
    ("other fields stay", POD, {"nodeName": "a"}, {"hostname": "b"}, {"nodeName": "a", "hostname": "b"}),
    ("mappings are merged", META, {"labels": {"a": "1"}}, {"labels": {"b": "2"}}, {"labels": {"a": "1", "b": "2"}}),
    ("null deletes", POD, {"nodeName": "a", "hostname": "h"}, {"nodeName": None}, {"hostname": "h"}),
    ("null for what is not there", POD, {"hostname": "h"}, {"nodeName": None}, {"hostname": "h"}),
    ("null in the original stays", POD, {"nodeName": None}, {"hostname": "h"}, {"nodeName": None, "hostname": "h"}),
    ("an empty patch", POD, {"nodeName": "a"}, {}, {"nodeName": "a"}),
    ("another type of value replaces", POD, {"nodeName": {"a": 1}}, {"nodeName": ["b"]}, {"nodeName": ["b"]}),
    ("values differ by case", POD, {"nodeName": "a"}, {"nodename": "b"}, {"nodeName": "a", "nodename": "b"}),
    ("a field that only one side has needs no type", POD, {"x": {"a": 1}}, {"y": [{"b": 2}]}, {"x": {"a": 1}, "y": [{"b": 2}]}),
    ("nor does a scalar", POD, {"x": 1}, {"x": 2}, {"x": 2}),
    # fields that the object lacks
    ("nulls in it are dropped", POD, {}, {"affinity": {"a": None, "b": [{"c": None, "d": 1}, None]}}, {"affinity": {"b": [{"d": 1}, None]}}),
    ("mappings with $patch vanish", POD, {}, {"affinity": {"a": {"$patch": "delete"}}, "dnsConfig": {"$patch": "replace", "x": 1}}, {"affinity": {}}),
    ("items with $patch too", POD, {}, {"containers": [{"name": "a"}, {"name": "b", "$patch": "delete"}]}, {"containers": named("a")}),
    ("a null $patch is a null", POD, {}, {"affinity": {"$patch": None, "a": 1}}, {"affinity": {"a": 1}}),
    ("other directives are data", POD, {}, {"affinity": {"$retainKeys": ["a"]}}, {"affinity": {"$retainKeys": ["a"]}}),
    ("what is of another type counts as lacking", POD, {"affinity": "x"}, {"affinity": {"$patch": "delete"}}, {}),
    # $patch in a mapping
    ("$patch delete leaves an empty mapping", POD, {"affinity": {"a": 1}}, {"affinity": {"$patch": "delete", "b": 2}}, {"affinity": {}}),
    ("$patch replace", POD, {"affinity": {"a": 1}}, {"affinity": {"$patch": "replace", "b": None}}, {"affinity": {"b": None}}),
    # lists that replace
    ("a list without a strategy is replaced", CONTAINER, {"args": ["a", "b"]}, {"args": ["c"]}, {"args": ["c"]}),
    ("with whatever it holds", POD, {"tolerations": [{"key": "a"}]}, {"tolerations": [{"$patch": "delete", "x": None}]}, {"tolerations": [{"$patch": "delete", "x": None}]}),
    ("even an empty one", POD, {"tolerations": [{"key": "a"}]}, {"tolerations": []}, {"tolerations": []}),
    # lists merged by key
    ("items are merged", POD, {"containers": [{"name": "a", "image": "x"}]}, {"containers": [{"name": "a", "tty": True}]}, {"containers": [{"name": "a", "image": "x", "tty": True}]}),
    ("an empty list changes nothing", POD, {"containers": named("a")}, {"containers": []}, {"containers": named("a")}),
    ("two empty lists", POD, {"containers": []}, {"containers": []}, {"containers": []}),
    ("a new item goes first", POD, {"containers": named("a", "b")}, {"containers": named("n")}, {"containers": named("n", "a", "b")}),
    ("and before a patched one it comes before", POD, {"containers": named("a", "b")}, {"containers": named("n", "b")}, {"containers": named("n", "a", "b")}),
    ("or after it", POD, {"containers": named("a", "b", "c")}, {"containers": named("b", "n")}, {"containers": named("a", "b", "n", "c")}),
    ("the patch's order holds", POD, {"containers": named("a", "b", "c")}, {"containers": named("c", "a")}, {"containers": named("b", "c", "a")}),
    ("ports match by number alone", CONTAINER, {"ports": [{"containerPort": 80, "protocol": "TCP"}]}, {"ports": [{"containerPort": 80, "protocol": "UDP"}]}, {"ports": [{"containerPort": 80, "protocol": "UDP"}]}),
    ("keys differ by type", CONTAINER, {"ports": [{"containerPort": 80}, {"containerPort": "80"}]}, {"ports": [{"containerPort": 80.0, "name": "f"}, {"containerPort": True, "name": "t"}, {"containerPort": "80", "name": "s"}]}, {"ports": [{"containerPort": 80.0, "name": "f"}, {"containerPort": True, "name": "t"}, {"containerPort": 80}, {"containerPort": "80", "name": "s"}]}),
    ("the first of two equal keys is merged", POD, {"containers": named("a", "a")}, {"containers": [{"name": "a", "image": "x"}]}, {"containers": [{"name": "a", "image": "x"}, {"name": "a"}]}),
    ("equal keys in the patch are merged too", POD, {"containers": named("b")}, {"containers": [{"name": "a", "image": "x"}, {"name": "a", "tty": True}]}, {"containers": [{"name": "a", "image": "x", "tty": True}, {"name": "b"}]}),
    ("a new item keeps its nulls", POD, {"containers": named("a")}, {"containers": [{"name": "b", "image": None}]}, {"containers": [{"name": "b", "image": None}, {"name": "a"}]}),
    ("a field found without case merges alike", POD, {"CONTAINERS": [{"name": "a", "image": "x"}]}, {"CONTAINERS": named("a")}, {"CONTAINERS": [{"name": "a", "image": "x"}]}),
    ("a map as the key of an item that nobody compares", POD, {"containers": named({"a": 1})}, {"containers": []}, {"containers": named({"a": 1})}),
    # $patch in an item
    ("an item is deleted", POD, {"containers": named("a", "b")}, {"containers": [{"name": "a", "$patch": "delete"}]}, {"containers": named("b")}),
    ("all of its key", POD, {"containers": named("a", "b", "a")}, {"containers": [{"name": "a", "$patch": "delete"}]}, {"containers": named("b")}),
    ("one that is not there", POD, {"containers": named("a")}, {"containers": [{"name": "x", "$patch": "delete"}]}, {"containers": named("a")}),
    ("the list is replaced, nulls and all", POD, {"containers": named("a")}, {"containers": [{"name": "b", "image": None}, {"$patch": "replace"}]}, {"containers": [{"name": "b", "image": None}]}),
    ("a $patch delete that the server has goes last", POD, {"containers": [{"name": "a", "$patch": "delete"}, {"name": "b"}]}, {"containers": []}, {"containers": [{"name": "b"}, {"name": "a", "$patch": "delete"}]}),
    # lists of scalars that merge
    ("scalars are united", META, {"finalizers": ["a", "b"]}, {"finalizers": ["c", "a"]}, {"finalizers": ["c", "a", "b"]}),
    ("scalars are deleted", META, {"finalizers": ["a", "b", "c"]}, {"$deleteFromPrimitiveList/finalizers": ["b", "x"]}, {"finalizers": ["a", "c"]}),
    ("from a list that is replaced as well", CONTAINER, {"args": ["a", "b"]}, {"$deleteFromPrimitiveList/args": ["a"]}, {"args": ["b"]}),
    ("but not from one that is not there", META, {}, {"$deleteFromPrimitiveList/finalizers": ["a"]}, {}),
    ("nor from anything but a list", POD, {"nodeName": "a"}, {"$deleteFromPrimitiveList/nodeName": ["a"]}, {"nodeName": "a"}),
    ("a scalar there is set", POD, {"nodeName": "a"}, {"$deleteFromPrimitiveList/nodeName": "b"}, {"nodeName": "b"}),
    ("null there deletes the list", META, {"finalizers": ["a"]}, {"$deleteFromPrimitiveList/finalizers": None}, {}),
    # $retainKeys
    ("what is not named goes", POD, {"volumes": [{"name": "v", "emptyDir": {}}]}, {"volumes": [{"$retainKeys": ["name", "hostPath"], "name": "v", "hostPath": {}}]}, {"volumes": [{"name": "v", "hostPath": {}}]}),
    ("in any mapping", POD, {"affinity": {"a": 1, "b": 2}, "hostname": "h"}, {"$retainKeys": ["affinity"]}, {"affinity": {"a": 1, "b": 2}}),
    ("nulls need not be named", POD, {"hostname": "h"}, {"$retainKeys": [], "nodeName": None}, {}),
    ("it stays in a new item", POD, {"volumes": named("a")}, {"volumes": [{"$retainKeys": ["name"], "name": "v"}]}, {"volumes": [{"$retainKeys": ["name"], "name": "v"}, {"name": "a"}]}),
    # $setElementOrder
    ("an order alone sorts", POD, {"containers": named("a", "b", "c")}, {"$setElementOrder/containers": named("c", "a")}, {"containers": named("b", "c", "a")}),
    ("a new item stands where it says", POD, {"containers": named("a", "b")}, {"$setElementOrder/containers": named("a", "n", "b"), "containers": named("n")}, {"containers": named("a", "n", "b")}),
    ("what it names need not be there", POD, {"containers": named("a")}, {"$setElementOrder/containers": named("x", "a")}, {"containers": named("a")}),
    ("an order without a list", POD, {}, {"$setElementOrder/containers": named("x")}, {}),
    ("a list that the object lacks keeps its nulls", POD, {}, {"$setElementOrder/containers": named("b", "a"), "containers": [{"name": "b", "image": None}, {"name": "a"}]}, {"containers": [{"name": "b", "image": None}, {"name": "a"}]}),
    ("scalars are sorted", META, {"finalizers": ["a", "b"]}, {"$setElementOrder/finalizers": ["b", "c", "a"], "finalizers": ["c"]}, {"finalizers": ["b", "c", "a"]}),
    ("so are lists that replace", CONTAINER, {"args": ["a", "b"]}, {"$setElementOrder/args": ["b", "a"]}, {"args": ["b", "a"]}),
    ("an empty order turns new items round", POD, {}, {"$setElementOrder/containers": [], "containers": named("a", "b", "c")}, {"containers": named("c", "b", "a")}),
    ("and puts them behind the others", POD, {"containers": named("a", "b")}, {"$setElementOrder/containers": [], "containers": named("x", "y")}, {"containers": named("a", "b", "y", "x")}),
    # the whole object
    ("$patch delete of everything", ROOT, {"suspend": True}, {"$patch": "delete"}, {}),
    ("no object", ROOT, None, {"suspend": True}, {"suspend": True}),
    ("no patch", ROOT, {"suspend": True}, None, {"suspend": True}),
]  # fmt: skip

# (id, type, original, patch, the path of the error)
REFUSED: Final[list[tuple[str, str, Any, Any, tuple[str | int, ...]]]] = [
    ("no mapping", ROOT, [], {}, ()),
    ("a patch that is none", ROOT, {}, "x", ()),
    ("two mappings in an unknown field", POD, {"x": {}}, {"x": {}}, ("x",)),
    ("two lists in an unknown field", POD, {"x": []}, {"x": []}, ("x",)),
    ("below free keys", META, {"labels": {"a": {}}}, {"labels": {"a": {}}}, ("labels", "a")),
    ("lists where the type has none", POD, {"nodeName": []}, {"nodeName": []}, ("nodeName",)),
    ("an unknown directive", POD, {"affinity": {}}, {"affinity": {"$patch": "Delete"}}, ("affinity",)),
    ("merge is none for a mapping", POD, {"affinity": {}}, {"affinity": {"$patch": "merge"}}, ("affinity",)),
    ("nor for an item", POD, {"containers": named("a")}, {"containers": [{"name": "a", "$patch": "merge"}]}, ("containers",)),
    ("a directive that is null", POD, {"affinity": {}}, {"affinity": {"$patch": None}}, ("affinity",)),
    ("a deleted item without its key", POD, {"containers": named("a")}, {"containers": [{"$patch": "delete"}]}, ("containers",)),
    ("an item of the patch without its key", POD, {"containers": named("a")}, {"containers": [{"image": "x"}]}, ("containers",)),
    ("an item of the original without its key", POD, {"containers": [{"image": "x"}]}, {"containers": named("a")}, ("containers",)),
    ("a key that is null deletes itself", POD, {"containers": named(None)}, {"containers": named(None)}, ("containers",)),
    ("mixed items", POD, {"containers": named("a")}, {"containers": ["a"]}, ("containers",)),
    ("a null item first", POD, {"containers": [None]}, {"containers": named("a")}, ("containers",)),
    ("a null item later", POD, {"containers": [{"name": "a"}, None]}, {"containers": named("a")}, ("containers",)),
    ("a list of lists", POD, {"containers": [[]]}, {"containers": [[]]}, ("containers",)),
    ("scalars in a list merged by key", POD, {"containers": ["a"]}, {"containers": ["b"]}, ("containers",)),
    ("mappings as keys", POD, {"containers": named({})}, {"containers": named({})}, ("containers",)),
    ("a mapping as key, compared with itself", POD, {"containers": named("a")}, {"containers": named({})}, ("containers",)),
    ("mappings in a list of scalars", META, {"finalizers": [{}]}, {"finalizers": [{}]}, ("finalizers",)),
    ("$retainKeys without a field of the patch", POD, {}, {"$retainKeys": ["x"], "nodeName": "a"}, ()),
    ("$retainKeys of no list", POD, {}, {"$retainKeys": "nodeName"}, ()),
    ("$retainKeys with a mapping", POD, {}, {"$retainKeys": [{}]}, ()),
    ("a deletion list without a name", POD, {}, {"$deleteFromPrimitiveList": ["a"]}, ("$deleteFromPrimitiveList",)),
    ("an order without a name", POD, {}, {"$setElementOrder": []}, ("$setElementOrder",)),
    ("an order by another name", POD, {}, {"$setElementOrders/containers": []}, ("$setElementOrders/containers",)),
    ("an order of an unknown list", POD, {}, {"$setElementOrder/x": []}, ("$setElementOrder/x",)),
    ("an order of no list", POD, {}, {"$setElementOrder/nodeSelector": []}, ("$setElementOrder/nodeSelector",)),
    ("an order that is not a list", POD, {}, {"$setElementOrder/containers": None}, ("$setElementOrder/containers",)),
    ("an order of nothing", POD, {"containers": []}, {"$setElementOrder/containers": []}, ("$setElementOrder/containers",)),
    ("an order beside null", POD, {"containers": named("a")}, {"$setElementOrder/containers": named("a"), "containers": None}, ("$setElementOrder/containers",)),
    ("an order that the patch does not keep", POD, {}, {"$setElementOrder/containers": named("a", "b"), "containers": named("b", "a")}, ("$setElementOrder/containers",)),
    ("an order that lacks an item", POD, {}, {"$setElementOrder/containers": named("a"), "containers": named("b")}, ("$setElementOrder/containers",)),
    ("an order of mappings without a key", POD, {"tolerations": [{"key": "a"}]}, {"$setElementOrder/tolerations": [{"key": "a"}]}, ("$setElementOrder/tolerations",)),
    ("deep in a list", ROOT, {"replicatedJobs": [{"name": "w", "x": {}}]}, {"replicatedJobs": [{"name": "v"}, {"name": "w", "x": {}}]}, ("replicatedJobs", 1, "x")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("type_name", "original", "patch", "result"), [pytest.param(*row, id=name) for name, *row in MERGED]
)
def test_merged(type_name: str, original: Any, patch: Any, result: Any) -> None:
    given = deepcopy((original, patch))
    merged = strategic_merge(original, patch, type_name)
    assert merged == result
    assert repr(merged).count("80.0") == repr(result).count("80.0"), "numbers keep their type"
    assert (original, patch) == given, "neither side changes"


@pytest.mark.parametrize(
    ("type_name", "original", "patch", "path"), [pytest.param(*row, id=name) for name, *row in REFUSED]
)
def test_refused(type_name: str, original: Any, patch: Any, path: tuple[str | int, ...]) -> None:
    with pytest.raises(MergeError) as raised:
        strategic_merge(original, patch, type_name)
    assert raised.value.path == path


def test_unpatched_subtrees_are_shared() -> None:
    untouched: dict[str, Any] = {"name": "b"}
    volumes = named("v")
    original = {"volumes": volumes, "containers": [{"name": "a", "env": named("X")}, untouched]}
    merged = strategic_merge(original, {"containers": [{"name": "a", "image": "x"}]}, POD)
    assert merged["volumes"] is volumes
    assert merged["containers"][0]["env"] is original["containers"][0]["env"]
    assert merged["containers"][1] is untouched


def test_deletions_come_before_additions() -> None:
    """Kubernetes' result varies from run to run."""
    patch = {"finalizers": ["a", "c"], "$deleteFromPrimitiveList/finalizers": ["a"]}
    assert strategic_merge({"finalizers": ["a", "b"]}, patch, META) == {"finalizers": ["a", "c", "b"]}
    assert strategic_merge({"finalizers": ["a", "b"]}, dict(reversed(patch.items())), META) == {
        "finalizers": ["a", "c", "b"]
    }
