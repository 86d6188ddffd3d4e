"""The clients that wrote a field of an object in a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.review.field_managers import Manager, latest, managers

TREE = {
    "metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}},
    "spec": {"jobs": [{"name": "node", "env": [{"name": "A", "value": "1"}], "command": ["a", "b"]}], "set": ["x"]},
}


def fields_of_job(fields: Any) -> Any:
    return {"f:spec": {"f:jobs": {'k:{"name":"node"}': fields}}}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"f:metadata": {"f:labels": {"f:team": {}}}}, ("metadata", "labels", "team")),
        ({"f:metadata": {"f:annotations": {"f:note": {}}}}, ("metadata", "annotations")),
        (fields_of_job({"f:command": {}}), ("spec", "jobs", 0, "command", 1)),
        (fields_of_job({"f:env": {'k:{"name":"A"}': {"f:value": {}}}}), ("spec", "jobs", 0, "env", 0, "value")),
        (fields_of_job({".": {}, "f:name": {}}), ("spec", "jobs", 0)),
        ({"f:spec": {"f:set": {'v:"x"': {}}}}, ("spec", "set", 0)),
    ],
)
def test_a_manager(fields: Any, path: tuple[str | int, ...]) -> None:
    assert [*found(fields, path)] == [Manager("kubectl-edit", "2026-11-29T12:00:00Z")]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"f:metadata": {"f:labels": {"f:env": {}}}}, ("metadata", "labels", "team")),
        ({"f:metadata": {"f:annotations": {"f:other": {}}}}, ("metadata", "annotations")),
        ({"f:spec": {"f:jobs": {'k:{"name":"other"}': {"f:command": {}}}}}, ("spec", "jobs", 0, "command")),
        ({"f:spec": {"f:jobs": {"k:{": {}, "v:[": {}, "i:0": {}, 'k:["name"]': {}}}}, ("spec", "jobs", 0)),
        (
            {"f:spec": {"f:jobs": {'k:{"name":"node"}': {"f:env": {'k:{"name":"B"}': {}}}}}},
            ("spec", "jobs", 0, "env", 0),
        ),
        ({"f:spec": "a"}, ("spec", "set")),
        ([], ("spec", "set")),
        (None, ("spec", "set")),
    ],
)
def test_no_manager(fields: Any, path: tuple[str | int, ...]) -> None:
    assert [*found(fields, path)] == []


def found(fields: Any, path: tuple[str | int, ...]) -> list[Manager]:
    row = {"manager": "kubectl-edit", "time": "2026-11-29T12:00:00Z", "fieldsV1": fields}
    return [*managers({"metadata": {"managedFields": [row]}}, TREE, path)]


OWNED: dict[str, Any] = {"fieldsV1": {"f:spec": {"f:set": {}}}}


@pytest.mark.parametrize(
    "rows", [None, "a", {}, [7], [OWNED], [{"manager": 7} | OWNED], [{"manager": "a", "time": 7} | OWNED]]
)
def test_an_answer_of_other_types(rows: Any) -> None:
    assert [*managers({"metadata": {"managedFields": rows}}, TREE, ("spec", "set"))] == []


def test_a_manager_that_has_only_the_mapping() -> None:
    """Its part has another one; of an atomic list, the set has no parts."""
    rows = [
        {"manager": "kubectl-client-side-apply", "fieldsV1": {"f:metadata": {"f:labels": {}}}},
        {"manager": "kubectl-label", "fieldsV1": {"f:metadata": {"f:labels": {"f:team": {}}}}},
    ]
    for path in (("metadata", "labels", "team"), ("metadata", "labels")):
        assert [*managers({"metadata": {"managedFields": rows}}, TREE, path)] == [Manager("kubectl-label", "")]


def test_each_manager_once() -> None:
    given = [Manager("a", "1"), Manager("b", "2"), Manager("a", "3"), Manager("c", "")]
    assert latest(given) == [Manager("a", "3"), Manager("b", "2"), Manager("c", "")]
