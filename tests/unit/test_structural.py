"""Structural schemas: tables of values that admission changes, and of values that it must not change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trainc.kubernetes import string_formats
from trainc.kubernetes.structural import StructuralSchema, load
from trainc.kubernetes.violations import field_of

QUANTITY: dict[str, Any] = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": string_formats.QUANTITY,
}
SCHEMA: dict[str, Any] = {
    "title": "Job",
    "type": "object",
    "properties": {
        "metadata": {"type": "object"},
        "status": {"type": "object"},
        "spec": {
            "type": "object",
            "properties": {
                "args": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
                "count": {"type": "integer", "format": "int32", "minimum": 0},
                "deadline": {"type": "integer", "format": "int64"},
                "env": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
                    },
                },
                "image": {"type": "string", "minLength": 1, "maxLength": 5},
                "limits": {"type": "object", "additionalProperties": QUANTITY},
                "names": {
                    "type": "array",
                    "minItems": 1,
                    "x-kubernetes-list-type": "set",
                    "items": {"type": "string"},
                },
                "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["number", "protocol"],
                    "items": {
                        "type": "object",
                        "properties": {
                            "number": {"type": "integer"},
                            "protocol": {"type": "string", "default": "TCP"},
                        },
                    },
                },
                "ref": {"$ref": "#/$defs/ref"},
                "secret": {"$ref": "#/$defs/ref"},
                "selector": {"type": "object", "additionalProperties": {"type": "string"}},
                "some": {"type": "object", "minProperties": 1, "properties": {"a": {"type": "string"}}},
                "suspend": {"type": "boolean"},
                "time": {"type": "string", "format": "date-time"},
                "word": {"type": "string", "pattern": "^[a-z]+$"},
                "mode": {"type": "string", "enum": ["Hard", "Soft"]},
            },
        },
    },
    "$defs": {
        "ref": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "kind": {"type": "string", "default": "Cluster"}},
        }
    },
}
JOB = StructuralSchema(SCHEMA)


def in_spec(spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "j"}, "spec": spec}


def reported(spec: Any) -> list[tuple[str, str]]:
    return [(v.field, v.rule) for v in JOB.admit(in_spec(spec)).violations]


@pytest.mark.parametrize(
    ("spec", "stored"),
    [
        pytest.param({"bogus": 1, "count": 1}, {"count": 1}, id="unknown field: pruned"),
        pytest.param({"count": None}, {}, id="null: dropped"),
        pytest.param(
            {"ref": {"name": "a", "kind": None}}, {"ref": {"name": "a", "kind": "Cluster"}}, id="null: default"
        ),
        pytest.param({"ref": {"name": "a"}}, {"ref": {"name": "a", "kind": "Cluster"}}, id="default"),
        pytest.param({"selector": {"a": None, "b": "c"}}, {"selector": {"b": "c"}}, id="null in a map: dropped"),
        pytest.param({"count": 2.0}, {"count": 2}, id="whole float"),
        pytest.param(
            {"ports": [{"number": 1}, {"number": 2, "x": 1}]},
            {"ports": [{"number": 1, "protocol": "TCP"}, {"number": 2, "protocol": "TCP"}]},
            id="inside lists",
        ),
    ],
)
def test_stored(spec: Any, stored: Any) -> None:
    before = json.dumps(spec)
    admitted = JOB.admit(in_spec(spec))
    assert admitted.value["spec"] == stored
    assert admitted.violations == ()
    assert json.dumps(spec) == before, "inputs are never changed"


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="empty"),
        pytest.param({"ref": {"name": "a", "kind": ""}}, id="an empty string is not missing"),
        pytest.param({"args": []}, id="empty list"),
        pytest.param({"count": 0, "suspend": False}, id="zeros"),
        pytest.param({"count": 2147483647, "deadline": 9223372036854775807}, id="greatest integers"),
        pytest.param({"env": [{"name": "a", "value": "1"}, {"name": "b"}]}, id="distinct keys"),
        pytest.param({"ports": [{"number": 1, "protocol": "TCP"}, {"number": 1, "protocol": "UDP"}]}, id="two keys"),
        pytest.param({"image": "\u00e9" * 5}, id="characters are counted, not bytes"),
        pytest.param({"limits": {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": "1E"}}, id="quantities"),
        pytest.param({"port": "http"}, id="named port"),
        pytest.param({"time": "2026-01-31T23:59:00.5+01:00"}, id="time"),
    ],
)
def test_stored_as_it_is(spec: Any) -> None:
    job = in_spec(spec)
    admitted = JOB.admit(job)
    assert admitted.value is job
    assert admitted.violations == admitted.unknown == ()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param("x", [("spec", "wrong-type")], id="spec is a string"),
        pytest.param({"args": "x"}, [("spec.args", "wrong-type")], id="list is a string"),
        pytest.param({"args": ["a", None]}, [("spec.args[1]", "wrong-type")], id="null item"),
        pytest.param({"args": ["a"] * 3}, [("spec.args", "too-many-items")], id="too many items"),
        pytest.param({"names": []}, [("spec.names", "too-few-items")], id="too few items"),
        pytest.param({"names": ["a", "b", "a", "a"]}, [("spec.names[2]", "duplicate-item")], id="set: one per value"),
        pytest.param({"count": True}, [("spec.count", "wrong-type")], id="a boolean is not an integer"),
        pytest.param({"count": "1"}, [("spec.count", "wrong-type")], id="nor a string"),
        pytest.param({"count": 1.5}, [("spec.count", "wrong-type")], id="nor a fraction"),
        pytest.param({"count": -1}, [("spec.count", "out-of-range")], id="below the minimum"),
        pytest.param({"count": 2**31}, [("spec.count", "out-of-range")], id="beyond int32"),
        pytest.param({"deadline": 2**63}, [("spec.deadline", "out-of-range")], id="beyond int64"),
        pytest.param({"suspend": "true"}, [("spec.suspend", "wrong-type")], id="a string is not a boolean"),
        pytest.param({"env": {"A": "b"}}, [("spec.env", "wrong-type")], id="wrong type: nothing reported below"),
        pytest.param({"env": [{"value": "b"}]}, [("spec.env[0].name", "required")], id="required"),
        pytest.param({"env": [{"name": None}]}, [("spec.env[0].name", "required")], id="required, null"),
        pytest.param({"env": [{"name": "a"}, {"name": "a"}]}, [("spec.env[1]", "duplicate-item")], id="same key"),
        pytest.param(
            {"env": [{"name": 1}, {"name": True}]},
            [("spec.env[0].name", "wrong-type"), ("spec.env[1].name", "wrong-type")],
            id="1 and true are not the same key",
        ),
        pytest.param(
            {"ports": [{"number": 1}, {"number": 1, "protocol": "TCP"}]},
            [("spec.ports[1]", "duplicate-item")],
            id="same keys by default",
        ),
        pytest.param({"image": ""}, [("spec.image", "too-short")], id="too short"),
        pytest.param({"image": "abcdef"}, [("spec.image", "too-long")], id="too long"),
        pytest.param({"word": "ab\n"}, [("spec.word", "pattern")], id="$ is the very end"),
        pytest.param({"mode": "hard"}, [("spec.mode", "enum")], id="enum"),
        pytest.param({"time": "2026-02-30T00:00:00Z"}, [("spec.time", "date-time")], id="no such day"),
        pytest.param({"some": {"b": 1}}, [("spec.some", "too-few-properties")], id="empty after pruning"),
        pytest.param({"limits": {"cpu": 1.5}}, [("spec.limits.cpu", "wrong-type")], id="a fraction is not a quantity"),
        pytest.param({"limits": {"cpu": "4GB"}}, [("spec.limits.cpu", "quantity")], id="not a quantity"),
        pytest.param({"limits": {"a/b": "1e9999"}}, [("spec.limits.a/b", "quantity")], id="exponent too large"),
        pytest.param({"ref": {}}, [("spec.ref.name", "required")], id="inside a definition"),
        pytest.param(
            {"ref": {}, "secret": 1, "count": "x"},
            [("spec.ref.name", "required"), ("spec.secret", "wrong-type"), ("spec.count", "wrong-type")],
            id="all of them",
        ),
    ],
)
def test_refused(spec: Any, expected: list[tuple[str, str]]) -> None:
    assert reported(spec) == expected


@pytest.mark.parametrize(
    ("spec", "stage"),
    [
        pytest.param(
            {"limits": {"cpu": "1e1.5"}}, "read", id="quantity: accepted by the pattern, rejected by the decoder"
        ),
        pytest.param({"limits": {"cpu": "x"}}, "schema", id="quantity: rejected by the pattern"),
        pytest.param({"time": "2026-01-01t00:00:00z"}, "read", id="time: lowercase letters"),
        pytest.param({"time": ["2026-01-01T00:00:00Z"]}, "read", id="time: a list"),
        pytest.param({"time": "yesterday"}, "schema", id="time: not a time"),
        pytest.param({"port": 2**31}, "read", id="port: beyond the Go type"),
    ],
)
def test_stage_at_which_the_server_rejects(spec: Any, stage: str) -> None:
    assert [v.stage for v in JOB.admit(in_spec(spec)).violations] == [stage]


@pytest.mark.parametrize(
    ("spec", "message", "help"),
    [
        pytest.param(
            {"count": "2"},
            'count must be an integer, not the string "2"',
            "remove the quotes: 2",
            id="number in quotes",
        ),
        pytest.param({"image": 1.5}, "image must be a string, not the number 1.5", 'quote it: "1.5"', id="number"),
        pytest.param(
            {"image": ["a"]},
            "image must be a string, not a list",
            'use the string without a list: "a"',
            id="one in a list",
        ),
        pytest.param(
            {"env": [{"name": "TOKEN", "value": 123}]},
            "env[0].value must be a string, not a number",
            'quote it: "123"',
            id="a variable's value",
        ),
        pytest.param(
            {"env": [{"name": "A", "value": True}]},
            "env[0].value must be a string, not true",
            'quote it: "true", because without quotes it is a boolean',
            id="boolean variable",
        ),
        pytest.param(
            {"env": {"A": "b"}},
            "env must be a list, not a mapping",
            "use a list: [{name: A, value: b}]",
            id="variables as a mapping",
        ),
        pytest.param(
            {"args": "a b"},
            'args must be a list, not the string "a b"',
            "use a list with one item per word: [a, b]",
            id="a command line",
        ),
        pytest.param(
            {"args": "--name 'a b'"},
            "args must be a list, not the string \"--name 'a b'\"",
            'use a list with one item per word: ["--name", "a b"]',
            id="a command line with quotes",
        ),
        pytest.param(
            {"args": "a | b"},
            'args must be a list, not the string "a | b"',
            "use a list with one item per word; no shell expands them",
            id="a shell's command line",
        ),
        pytest.param({"args": 5}, "args must be a list, not the number 5", 'use a list: ["5"]', id="a list of strings"),
        pytest.param(
            {"secret": "token"},
            'secret must be a mapping, not the string "token"',
            "use {name: token}",
            id="a name where a reference should be",
        ),
        pytest.param(
            {"ref": [{"name": "a"}]},
            "ref must be a mapping, not a list",
            "remove the dash: this is a single mapping, not a list",
            id="a list of one",
        ),
        pytest.param(
            {"suspend": "yes"},
            'suspend must be true or false, not the string "yes"',
            "remove the quotes: true",
            id="boolean in quotes",
        ),
        pytest.param(
            {"suspend": 0},
            "suspend must be true or false, not the number 0",
            "use false",
            id="boolean as a number",
        ),
        pytest.param(
            {"args": [None]},
            "args[0] must be a string, not null",
            "set a value, or remove the line",
            id="null item",
        ),
        pytest.param({"count": -1}, "count must be at least 0, not -1", "use 0 or more", id="range"),
        pytest.param(
            {"limits": {"cpu": "4 cores"}},
            'cpu must be a quantity, not "4 cores"',
            "use 4",
            id="cores",
        ),
        pytest.param(
            {"limits": {"memory": "16GB"}},
            'memory must be a quantity, not "16GB"',
            "use 16Gi, or 16G for powers of ten",
            id="bytes",
        ),
        *(
            pytest.param({"limits": {"a": text}}, f'a must be a quantity, not "{text}"', help, id=f"quantity {text}")
            for text, help in {
                "": "set a value, or remove the line",
                "500 m": "use 500m",
                "16 Gi": "use 16Gi",
                "1,5": 'use a decimal point: "1.5"',
                "1,5Gi": "use a decimal point: 1.5Gi",
                "0.5 cores": 'use "0.5"',
                "500m cores": "use 500m",
                "half": 'use a number with or without a unit: 4, "500m", 16Gi',
            }.items()
        ),
        pytest.param(
            {"mode": "hard"},
            'mode has the unsupported value "hard"',
            'did you mean "Hard"?',
            id="enum, nearly",
        ),
        pytest.param({"mode": "x"}, 'mode has the unsupported value "x"', 'use "Hard" or "Soft"', id="enum"),
        pytest.param({"ref": {}}, "ref has no name, which is required", "add name, a string", id="required"),
        pytest.param(
            {"env": [{"name": "A"}, {"name": "A"}, {"name": "A"}]},
            'env[1] duplicates env[0] and env[2]: name "A"',
            "remove the duplicate, or change its name",
            id="duplicate",
        ),
    ],
)
def test_messages(spec: Any, message: str, help: str) -> None:
    [violation] = JOB.admit(in_spec(spec)).violations
    assert (violation.message, violation.help) == (message, help)


@pytest.mark.parametrize(
    ("kind", "job", "unknown", "help"),
    [
        pytest.param(
            "TrainJob", {"spec": {"trainer": {"imag": "x"}}}, "spec.trainer.imag", "did you mean image?", id="typo"
        ),
        pytest.param(
            "TrainJob", {"spec": {"runtimeref": {}}}, "spec.runtimeref", "did you mean runtimeRef?", id="another case"
        ),
        pytest.param(
            "TrainJob",
            {"spec": {"numNodes": 2}},
            "spec.numNodes",
            "did you mean spec.trainer.numNodes?",
            id="misplaced",
        ),
        pytest.param(
            "TrainJob",
            {"spec": {"runtimeRef": {"version": "v1"}}},
            "spec.runtimeRef.version",
            "remove it; runtimeRef has the fields apiGroup, kind, name",
            id="nothing near",
        ),
        pytest.param(
            "TrainJob", {"metadata": {"lables": {}}}, "metadata.lables", "did you mean labels?", id="metadata"
        ),
        pytest.param("JobSet", {"specs": {}}, "specs", "did you mean spec?", id="top"),
    ],
)
def test_unknown_fields(kind: str, job: Any, unknown: str, help: str) -> None:
    release = {"TrainJob": "trainer-2.3", "JobSet": "jobset-0.12"}[kind]
    [violation] = load(kind, release).admit(job).unknown
    assert (violation.field, violation.help, violation.key) == (unknown, help, True)
    assert violation.message == f"unknown field {unknown} in {kind}"


def test_status_is_dropped_silently() -> None:
    admitted = JOB.admit({"metadata": {"name": "j"}, "status": {"any": "thing"}})
    assert admitted.value == {"metadata": {"name": "j"}}
    assert admitted.unknown == admitted.violations == ()


def test_unchanged_subtrees_are_shared() -> None:
    job = in_spec({"ref": {"name": "a"}, "env": [{"name": "b"}]})
    stored = JOB.admit(job).value
    assert stored["spec"]["env"] is job["spec"]["env"]
    assert stored["metadata"] is job["metadata"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), ""),
        (("spec",), "spec"),
        (("spec", "env", 0, "name"), "spec.env[0].name"),
        (("spec", "limits", "nvidia.com/gpu"), "spec.limits.nvidia.com/gpu"),
    ],
)
def test_field(path: tuple[str | int, ...], expected: str) -> None:
    assert field_of(path) == expected


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "nullable": True}, id="keyword"),
        pytest.param({"type": "string", "format": "uuid"}, id="format of a string"),
        pytest.param({"type": "string", "pattern": r"\d"}, id="pattern that Go reads in its own way"),
    ],
)
def test_unimplemented_schemas_raise(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"implemented|translate"):
        StructuralSchema({"type": "object", "properties": {"a": schema}}).admit({"a": {}})


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("2026-01-31T23:59:59Z", None),
        ("2026-01-31T23:59:59,25Z", None),
        ("2024-02-29T00:00:00+14:00", None),
        ("2023-02-29T00:00:00Z", "schema"),
        ("2026-01-31", "schema"),
        ("2026-01-31T24:00:00Z", "schema"),
        ("2026-01-31T23:59:60Z", "schema"),
        ("2026-01-31 23:59:59Z", "schema"),
        ("2026-01-31T23:59:59", "schema"),
        ("2026-01-31T23:59:59Z\n", "schema"),
        ("2026-01-31T23:59:59x5Z", "read"),
        ("2026-01-31T23:59:59+99:99", "read"),
        ("2026-01-31T23:59:59Ztz", "read"),
        ("2026-01-31t23:59:59z", "read"),
    ],
)
def test_times(text: str, error: str | None) -> None:
    assert string_formats.date_time(text) == error


def test_a_default_mapping_has_the_defaults_of_its_fields() -> None:
    number = {"type": "integer", "default": 1}
    algorithm = {"type": "object", "properties": {"seed": number}, "default": {}}
    schema = StructuralSchema({"type": "object", "properties": {"algorithm": algorithm}})
    assert schema.admit({}).value == {"algorithm": {"seed": 1}}
    assert schema.admit({"algorithm": {"seed": 2}}).value == {"algorithm": {"seed": 2}}
