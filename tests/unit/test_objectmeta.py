"""Object metadata as the API server reads and validates it."""

from __future__ import annotations

from typing import Any

import pytest
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.kubernetes.objectmeta import check
from trainc.kubernetes.structural.nodes import stored_metadata

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}


def named(**fields: Any) -> dict[str, Any]:
    return {"name": "j", "namespace": "team-a", **fields}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param({"labels": {"a": None, "b": "c"}}, {"labels": {"a": "", "b": "c"}}, id="a null label is empty"),
        pytest.param({"annotations": {"a": None}}, {"annotations": {"a": ""}}, id="so is an annotation"),
        pytest.param({"labels": None, "creationTimestamp": None}, {}, id="null fields are dropped"),
        pytest.param({"name": "j", "bogus": 1}, {"name": "j"}, id="unknown fields are dropped"),
    ],
)
def test_stored(metadata: Any, expected: Any) -> None:
    assert stored_metadata(metadata) == expected


@pytest.mark.parametrize("metadata", [None, "text", {}, {"name": "j", "labels": {"a": ""}}])
def test_stored_as_it_is(metadata: Any) -> None:
    assert stored_metadata(metadata) is metadata


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"name": "j"}, id="no namespace"),
        pytest.param(named(name="a.b-1"), id="subdomain"),
        pytest.param(named(labels={"example.com/a_b": "", "team": "A-b_c.1"}), id="labels"),
        pytest.param(named(annotations={"Example.com/A": "any text at all\n", "b": None}), id="annotations"),
        pytest.param(named(annotations={"a": "x" * (256 * 1024 - 1)}), id="256 KiB of annotations"),
        pytest.param(named(finalizers=["example.com/a", "b", "b", None]), id="finalizers"),
        pytest.param(named(ownerReferences=[OWNER, {**OWNER, "controller": True}, None]), id="owners"),
        pytest.param(
            named(
                uid="u",
                resourceVersion="1",
                generation=3,
                creationTimestamp="2026-01-01T00:00:00Z",
                managedFields=[{"manager": "kubectl", "operation": "Update"}],
            ),
            id="copied from a cluster",
        ),
        pytest.param(named(labels=None, annotations=None, ownerReferences=None), id="nulls"),
        pytest.param({"generateName": "a-"}, id="only generateName"),
        pytest.param({"generateName": "a--"}, id="two dashes at the end of generateName"),
        pytest.param({"generateName": "a" * 253}, id="longest generateName"),
        pytest.param(named(generateName="A-"), id="unused prefix: the server replaces its last two characters"),
    ],
)
def test_accepted(metadata: Any) -> None:
    assert list(check(metadata, namespaced=True)) == []


@pytest.mark.parametrize(
    ("metadata", "field", "rule", "stage"),
    [
        pytest.param(None, "metadata.name", "required", "schema", id="no metadata"),
        pytest.param({"generateName": ""}, "metadata.name", "required", "schema", id="empty generateName"),
        pytest.param({"generateName": "a."}, "metadata.generateName", "invalid-name", "schema", id="prefix with a dot"),
        pytest.param({"generateName": "A-"}, "metadata.generateName", "invalid-name", "schema", id="generated name"),
        pytest.param({"name": ""}, "metadata.name", "required", "schema", id="empty name"),
        pytest.param({"name": 5}, "metadata.name", "wrong-type", "schema", id="name is a number"),
        pytest.param({"name": "ResNet"}, "metadata.name", "invalid-name", "schema", id="upper case"),
        pytest.param({"name": "a\n"}, "metadata.name", "invalid-name", "schema", id="final newline"),
        pytest.param({"name": "a" * 254}, "metadata.name", "invalid-name", "schema", id="254 characters"),
        pytest.param(named(generateName="A_"), "metadata.generateName", "invalid-name", "schema", id="generateName"),
        pytest.param(named(namespace="a.b"), "metadata.namespace", "invalid-namespace", "schema", id="namespace"),
        pytest.param(named(namespace=5), "metadata.namespace", "wrong-type", "schema", id="namespace is a number"),
        pytest.param(named(labels={"a b": "c"}), "metadata.labels", "invalid-label", "schema", id="label key"),
        pytest.param(named(labels={"a": "b c"}), "metadata.labels", "invalid-label", "schema", id="label value"),
        pytest.param(named(labels={"a": "b" * 64}), "metadata.labels", "invalid-label", "schema", id="long label"),
        pytest.param(named(labels={"a": 5}), "metadata.labels.a", "wrong-type", "read", id="label is a number"),
        pytest.param(named(labels=[]), "metadata.labels", "wrong-type", "read", id="labels are a list"),
        pytest.param(
            named(annotations={"a b": ""}), "metadata.annotations", "invalid-annotation", "schema", id="annotation key"
        ),
        pytest.param(
            named(annotations={"a": True}), "metadata.annotations.a", "wrong-type", "read", id="annotation is a boolean"
        ),
        pytest.param(
            named(annotations={"a": "\u00e9" * 131072}),
            "metadata.annotations",
            "annotations-too-big",
            "schema",
            id="annotations are counted in bytes",
        ),
        pytest.param(
            named(managedFields=[{"operation": "Update", "manager": "m" * 129}]),
            "metadata.managedFields[0].manager",
            "invalid-managed-fields",
            "schema",
            id="a long manager",
        ),
        pytest.param(
            named(managedFields=[{"operation": "Update", "manager": "\u00e9" * 65}]),
            "metadata.managedFields[0].manager",
            "invalid-managed-fields",
            "schema",
            id="a manager is counted in bytes",
        ),
        pytest.param(
            named(managedFields=[{"operation": "Update", "manager": "a\u00a0b"}]),
            "metadata.managedFields[0].manager",
            "invalid-managed-fields",
            "schema",
            id="an unprintable manager",
        ),
        pytest.param(
            named(managedFields=[{"operation": "Update", "subresource": "s" * 257}]),
            "metadata.managedFields[0].subresource",
            "invalid-managed-fields",
            "schema",
            id="a long subresource",
        ),
        pytest.param(
            named(managedFields=[{"operation": "Update", "fieldsType": "V2"}]),
            "metadata.managedFields[0].fieldsType",
            "invalid-managed-fields",
            "schema",
            id="another fieldsType",
        ),
        pytest.param(
            named(managedFields=[{"operation": "Update", "manager": 3}]),
            "metadata.managedFields[0].manager",
            "wrong-type",
            "read",
            id="manager is a number",
        ),
        pytest.param(named(finalizers=["a b"]), "metadata.finalizers", "invalid-finalizer", "schema", id="finalizer"),
        pytest.param(named(finalizers=[1]), "metadata.finalizers[0]", "wrong-type", "read", id="finalizer is a number"),
        pytest.param(
            named(finalizers=["orphan", "foregroundDeletion"]),
            "metadata.finalizers",
            "invalid-finalizer",
            "schema",
            id="mutually exclusive finalizers",
        ),
        pytest.param(
            named(ownerReferences=[{**OWNER, "uid": ""}]),
            "metadata.ownerReferences.uid",
            "invalid-owner",
            "schema",
            id="owner without uid",
        ),
        pytest.param(
            named(ownerReferences=[{**OWNER, "apiVersion": "a/b/c"}]),
            "metadata.ownerReferences.apiVersion",
            "invalid-owner",
            "schema",
            id="owner's apiVersion",
        ),
        pytest.param(
            named(ownerReferences=[{**OWNER, "kind": "Event"}]),
            "metadata.ownerReferences",
            "invalid-owner",
            "schema",
            id="event as owner",
        ),
        pytest.param(
            named(ownerReferences=[{**OWNER, "controller": True}] * 2),
            "metadata.ownerReferences",
            "invalid-owner",
            "schema",
            id="two controllers",
        ),
        pytest.param(
            named(ownerReferences=[{**OWNER, "controller": "yes"}]),
            "metadata.ownerReferences[0].controller",
            "wrong-type",
            "read",
            id="controller is a string",
        ),
        pytest.param(
            named(ownerReferences=["p"]), "metadata.ownerReferences[0]", "wrong-type", "read", id="owner is a string"
        ),
        pytest.param(named(generation=-1), "metadata.generation", "out-of-range", "schema", id="generation"),
        pytest.param(named(generation=1.5), "metadata.generation", "wrong-type", "read", id="generation is a fraction"),
        pytest.param(
            named(creationTimestamp="today"), "metadata.creationTimestamp", "date-time", "read", id="creation time"
        ),
        pytest.param(
            named(creationTimestamp=5), "metadata.creationTimestamp", "wrong-type", "read", id="time is a number"
        ),
        pytest.param(
            named(managedFields=[None]),
            "metadata.managedFields[0].operation",
            "invalid-managed-fields",
            "schema",
            id="managed fields",
        ),
        pytest.param(
            named(managedFields=["x"]), "metadata.managedFields[0]", "wrong-type", "read", id="managed fields, a string"
        ),
    ],
)
def test_refused(metadata: Any, field: str, rule: str, stage: str, snapshot: SnapshotAssertion) -> None:
    found = check(metadata, namespaced=True)
    assert [(v.field, v.rule, v.stage) for v in found] == [(field, rule, stage)]
    assert texts(found) == snapshot


def test_metadata_that_is_not_a_mapping_has_no_name_either() -> None:
    found = [(v.field, v.rule) for v in check("x", namespaced=True)]
    assert found == [("metadata", "wrong-type"), ("metadata.name", "required")]


@pytest.mark.parametrize(
    ("namespace", "rules"), [(None, []), ("", []), ("team-a", ["invalid-namespace"]), ("N_", ["invalid-namespace"])]
)
def test_namespace_of_a_cluster_scoped_kind(namespace: Any, rules: list[str]) -> None:
    assert [v.rule for v in check({"name": "r", "namespace": namespace}, namespaced=False)] == rules


def test_the_path_is_more_precise_than_the_clusters_field() -> None:
    [key, value] = check(named(labels={"a b": "x", "c": "d e"}), namespaced=True)
    assert (key.path, key.key, key.field) == (("metadata", "labels", "a b"), True, "metadata.labels")
    assert (value.path, value.key, value.field) == (("metadata", "labels", "c"), False, "metadata.labels")


@pytest.mark.parametrize(
    ("metadata", "message", "help"),
    [
        pytest.param(
            {"name": "My ResNet!"},
            'name "My ResNet!" contains uppercase letters, spaces and "!"',
            "use lowercase letters, digits, `-` and `.`; for example my-resnet",
            id="name",
        ),
        pytest.param(
            {"generateName": "My ResNet-"},
            'generateName "My ResNet-" contains uppercase letters and spaces',
            "use lowercase letters, digits, `-` and `.`; for example my-resnet",
            id="generateName",
        ),
        pytest.param(
            named(labels={"team": "vision team"}),
            'label "team" has the value "vision team", which contains spaces',
            "use letters, digits, `-`, `_` and `.`, and start and end with a letter or digit; or use an annotation",
            id="label",
        ),
        pytest.param(
            named(labels={"gpu": True}),
            "gpu must be a string, not true",
            'quote it: "true", because without quotes it is a boolean',
            id="label is a boolean",
        ),
    ],
)
def test_messages(metadata: Any, message: str, help: str) -> None:
    [violation] = check(metadata, namespaced=True)
    assert (violation.message, violation.help) == (message, help)


@pytest.mark.parametrize(
    ("label", "why"),
    [
        pytest.param({"team": "a/b"}, 'the value "a/b", which contains "/"', id="a character"),
        pytest.param({"team": "v1."}, 'the value "v1.", which ends with "."', id="the end"),
        pytest.param({"team": "_a"}, 'the value "_a", which starts with "_"', id="the start"),
        pytest.param({"team": "a" * 64}, "which has 64 characters, but must have at most 63", id="the length"),
        pytest.param({"a/b/c": ""}, 'label key "a/b/c" contains more than one "/"', id="key: two slashes"),
        pytest.param({"/a": ""}, 'label key "/a" has no prefix before its "/"', id="key: no domain"),
        pytest.param({"a/": ""}, 'label key "a/" has no name after its "/"', id="key: no name"),
        pytest.param({"A/b": ""}, 'label key "A/b" has the prefix "A", which is not a valid domain', id="key: domain"),
        pytest.param({"": ""}, 'label key "" is empty', id="key: empty"),
    ],
)
def test_why_a_label_is_invalid(label: dict[str, str], why: str) -> None:
    [violation] = check(named(labels=label), namespaced=True)
    assert violation.message.endswith(why)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a..b", "has a dot next to another dot or a dash"),
        ("a-.b", "has a dot next to another dot or a dash"),
        ("a.", 'ends with "."'),
        ("a" * 254, "has 254 characters, but must have at most 253"),
    ],
)
def test_why_a_name_is_invalid(name: str, why: str) -> None:
    [violation] = check({"name": name}, namespaced=True)
    assert violation.message.endswith(f" {why}")


@pytest.mark.parametrize("namespace", ["team.a", "Team", "-team"])
def test_the_example_of_a_namespace_is_valid(namespace: str) -> None:
    [violation] = check({"name": "j", "namespace": namespace}, namespaced=True)
    example = violation.help.rpartition("; for example ")[2]
    assert list(check({"name": "j", "namespace": example}, namespaced=True)) == []
