"""Repeated diagnostics: the first hundred are shown, and one counts the rest."""

from __future__ import annotations

from trainc.diagnostics import Diagnostic, Document, Place
from trainc.reports.repeated import SHOWN, collapsed

DOCUMENT = Document(file="a.yaml", line=1, text="", value={})


def diagnostic(id: str, *path: str | int) -> Diagnostic:
    return Diagnostic(
        id=id, severity="error", stage="schema", message=f"{id} at {path[-1]}", place=Place(DOCUMENT, path)
    )


def test_a_large_group_is_counted() -> None:
    group = [diagnostic("wrong-type", "labels", f"k{i}") for i in range(5_000)]
    found = collapsed([diagnostic("required", "spec"), *group, diagnostic("enum", "kind")])
    assert [d.message for d in found[:2]] == ["required at spec", "wrong-type at k0"]
    assert len(found) == SHOWN + 3
    assert found[-3].message == f"wrong-type at k{SHOWN - 1}"
    assert found[-2].message == f"wrong-type at k{SHOWN} (and {5_000 - SHOWN - 1} more like this)"
    assert found[-1].message == "enum at kind"


def test_items_of_a_list_are_one_group() -> None:
    assert len(collapsed([diagnostic("required", "env", i, "name") for i in range(1_000)])) == SHOWN + 1


def test_a_single_further_diagnostic_is_shown() -> None:
    found = collapsed([diagnostic("required", "env", i, "name") for i in range(SHOWN + 1)])
    assert found[-1].message == "required at name"


def test_two_further_diagnostics_are_counted() -> None:
    found = collapsed([diagnostic("required", "env", i, "name") for i in range(SHOWN + 2)])
    assert [d.message for d in found[SHOWN:]] == ["required at name (and 1 more like this)"]


def test_different_faults_are_not_a_group() -> None:
    found = [diagnostic(f"id-{i}", "spec", "a") for i in range(300)]
    assert collapsed(found) == found


def test_different_places_are_not_a_group() -> None:
    found = [diagnostic("required", f"field-{i}", "name") for i in range(300)]
    assert collapsed(found) == found
