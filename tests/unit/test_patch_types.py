"""Strategic merges by a schema: maps of structs, such as the pod templates of a job by role."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any, Final

import pytest
from batches import examples
from differential.test_merges import Maker
from hypothesis import given
from hypothesis import strategies as st

from trainc.diagnostics import Document, Place
from trainc.edits.patching import merges
from trainc.edits.patching.types import struct_of_schema
from trainc.kubernetes.gotypes import Struct
from trainc.kubernetes.merge import MergeError, strategic_merge
from trainc.kubernetes.trees import Path, get

TEMPLATE: Final = "core/v1.PodTemplateSpec"
ROLE: Final = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "template": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
        "ports": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
    },
}
SCHEMA: Final[dict[str, Any]] = {
    "$defs": {"role": ROLE},
    "properties": {
        "roles": {"type": "object", "additionalProperties": {"$ref": "#/$defs/role"}},
        "templates": {"type": "object", "additionalProperties": {"type": "object"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "lists": {"type": "object", "additionalProperties": {"type": "array", "items": ROLE}},
        "maps": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": ROLE}},
        "anything": {"type": "object", "additionalProperties": True},
    },
}
KIND: Final = struct_of_schema("RoleJob", SCHEMA, {"roles.*.template": TEMPLATE, "templates.*": TEMPLATE})
HOLDER: Final = struct_of_schema("Holder", {"properties": {"template": {"type": "object"}}}, {"template": TEMPLATE})


def pod(*containers: Any) -> dict[str, Any]:
    return {"spec": {"containers": list(containers)}}


MAIN, SIDE = {"name": "main", "image": "a"}, {"name": "side", "image": "b"}


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        pytest.param(
            {"Worker": {"template": pod(MAIN, SIDE)}},
            {"Worker": {"template": pod({"name": "side", "image": "c"})}},
            {"Worker": {"template": pod(MAIN, {"name": "side", "image": "c"})}},
            id="containers by name",
        ),
        pytest.param(
            {"Worker": {"replicas": 2}, "Master": {"replicas": 1}},
            {"Worker": {"limits": {"cpu": 1}}},
            {"Worker": {"replicas": 2, "limits": {"cpu": 1}}, "Master": {"replicas": 1}},
            id="other keys and fields stay",
        ),
        pytest.param(
            {"Worker": {"ports": [{"name": "a", "port": 1}]}},
            {"Worker": {"ports": [{"name": "a", "port": 2}]}},
            {"Worker": {"ports": [{"name": "a", "port": 2}]}},
            id="lists of the schema by their key",
        ),
        pytest.param({}, {"Worker": {"replicas": 2}}, {"Worker": {"replicas": 2}}, id="a new key"),
        pytest.param({"Worker": {"replicas": 2}}, {"Worker": None}, {}, id="null deletes a key"),
        pytest.param(
            {"Worker": {"replicas": 2}, "worker": {"replicas": 3}},
            {"worker": {"replicas": 4}},
            {"Worker": {"replicas": 2}, "worker": {"replicas": 4}},
            id="keys differ by case",
        ),
        pytest.param(
            {"Worker": {"replicas": 2, "limits": {"cpu": 1}}},
            {"Worker": {"$patch": "replace", "replicas": 3}},
            {"Worker": {"replicas": 3}},
            id="replace a value",
        ),
        pytest.param(
            {"Worker": {"replicas": 2}, "Master": {"replicas": 1}},
            {"$patch": "replace", "PS": {"replicas": 1}},
            {"PS": {"replicas": 1}},
            id="replace the map",
        ),
        pytest.param(
            {"Worker": {"replicas": 2}, "Master": {"replicas": 1}},
            {"$retainKeys": ["Worker"], "Worker": {"limits": {"cpu": 1}}},
            {"Worker": {"replicas": 2, "limits": {"cpu": 1}}},
            id="retain a key",
        ),
    ],
)
def test_a_map_of_structs_is_merged_key_by_key(before: Any, patch: Any, after: Any) -> None:
    unchanged = deepcopy((before, patch))
    assert strategic_merge({"roles": before}, {"roles": patch}, KIND) == {"roles": after}
    assert (before, patch) == unchanged


def test_the_values_of_a_map_can_have_a_go_type() -> None:
    before, patch = ({"templates": {"ps": pod(one)}} for one in (MAIN, {"name": "main", "tty": True}))
    assert strategic_merge(before, patch, KIND) == {"templates": {"ps": pod(MAIN | {"tty": True})}}


@pytest.mark.parametrize(
    ("field", "before", "patch", "reason"),
    [
        ("labels", {"a": 1}, {"b": 2}, "with arbitrary keys"),
        ("anything", {"a": {"x": 1}}, {"a": {"y": 1}}, "with arbitrary keys"),
        ("maps", {"a": {"x": 1}}, {"a": {"y": 1}}, "with arbitrary keys"),
        ("lists", [1], [2], "with arbitrary keys"),
        ("roles", {"x": {"y": 1}}, {"x": {"z": 1}}, r"roles\.\* has no field x"),
    ],
)
def test_other_maps_are_not_merged(field: str, before: Any, patch: Any, reason: str) -> None:
    with pytest.raises(MergeError, match=reason) as raised:
        strategic_merge({field: {"key": before}}, {field: {"key": patch}}, KIND)
    assert raised.value.path[:2] == (field, "key")


@examples(300, database=None)
@given(seed=st.integers(min_value=0, max_value=2**63))
def test_a_template_in_a_map_is_merged_as_by_itself(seed: int) -> None:
    maker = Maker(Random(seed))
    before, patch = (maker.value(TEMPLATE, 4, patch=side) for side in (False, True))
    alone = outcome({"template": before}, {"template": patch}, HOLDER, ())
    in_map = [{"roles": {"Worker": {"template": template}}} for template in (before, patch)]
    assert outcome(in_map[0], in_map[1], KIND, ("roles", "Worker")) == alone


def outcome(before: Any, patch: Any, kind: Struct, at: Path) -> Any:
    """Return the merged value at a path, or the error and its path below that path."""
    try:
        return get(strategic_merge(before, patch, kind), at)
    except MergeError as error:
        return str(error), error.path[len(at) :]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (("Worker", "replicas"), "patch replicas"),
        (("Worker", "limits", "cpu"), "before limits cpu"),
        (("Worker", "template", "spec", "containers", 1, "image"), "patch template spec containers 0 image"),
        (("Worker", "template", "spec", "containers", 1, "name"), "patch template spec containers 0 name"),
        (("Worker", "template", "spec", "containers", 0, "image"), "before template spec containers 0 image"),
    ],
)
def test_the_sources_of_fields_in_a_map(path: tuple[str | int, ...], source: str) -> None:
    before = {"roles": {"Worker": {"limits": {"cpu": 1}, "replicas": 1, "template": pod(MAIN, SIDE)}}}
    patch = {"roles": {"Worker": {"replicas": 2, "template": pod({"name": "side", "image": "c"})}}}
    after = strategic_merge(before, patch, KIND)
    found = merges.source(before, after, Document("trainc.yaml", 1, "", patch), KIND, ("roles", *path))
    where, steps = ("patch", found.path) if isinstance(found, Place) else ("before", found)
    assert f"{where} {' '.join(map(str, steps[2:]))}" == source
