"""Whole jobs: trainc gives the same answers as the code of Trainer, of v2.3 and older releases, JobSet and Kubernetes.

The cases of `older` are in the release's dialect, compiled for v2.3; those of `targets` are compiled for the release.

A case is <area>/<case>.yaml with a recorded answer next to it. Accepted: the same objects (or those of one of the
recorded runs, if the controller's output varies). Rejected: a diagnostic at every recorded field, and no output.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from batches import in_batches, one_in_four
from conformance.recordings import DATA, UNVALIDATED, are_equal, marks, or_skip

import trainc
from trainc.base.releases import DEFAULT_RELEASE, RELEASES, TrainerRelease
from trainc.compilation.run import Options

EMPTY_MEANS_NOTHING = {"metadata", "resources", "limits", "requests", "labels", "annotations", "status"}
STAGES = {"decode": "read", "panic": "build"}


def cases() -> list[Any]:
    """Return the cases of v2.3 as `<area>/<case>`, and those of older releases as `<release>/<area>/<case>`."""
    found = [(path, "") for path in sorted((DATA / "trainer-2.3").glob("*/*.yaml"))]
    found += [(path, f"{path.parts[-3]}/") for path in sorted((DATA / "older").glob("v2.*/*/*.yaml"))]
    found += [(path, f"targets/{path.parts[-3]}/") for path in sorted((DATA / "targets").glob("*/*/*.yaml"))]
    ids = [f"{release}{path.parent.name}/{path.stem}" for path, release in found]
    return or_skip([pytest.param(path, id=id, marks=marks(id)) for id, (path, _) in zip(ids, found, strict=True)])


def release_of(case: Path) -> TrainerRelease:
    """Return the release that a case is compiled for."""
    tag = case.parts[-3]
    return next((release for release in RELEASES if release.tag == tag and "targets" in case.parts), DEFAULT_RELEASE)


@in_batches("case", one_in_four(cases()))
def test_case(case: Path) -> None:
    compare(case)


def compare(case: Path) -> None:
    """Compile a case, and compare the result with the recorded answer."""
    want = json.loads(case.with_suffix(".json").read_text())
    got = trainc.compile([str(case)], options=Options(settings=UNVALIDATED._replace(release=release_of(case))))
    errors = [d for d in got.diagnostics if d.severity == "error"]
    if want["verdict"] == "accepted":
        assert not errors
        mine = [meaning(obj) for obj in got.objects]
        answers = [want, *(other for other in want.get("others", []) if other["verdict"] == "accepted")]
        wanted = [[meaning(obj) for obj in answer.get("objects", [])] for answer in answers]
        if not any(are_equal(by_name(mine), by_name(theirs)) for theirs in wanted):
            assert by_name(mine) == by_name(wanted[0])
            pytest.fail("equal but for the types of numbers")
        if want.get("warnings"):
            assert any(d.severity == "warning" for d in got.diagnostics)
        return
    assert errors, f"refused in the cluster: {want['errors'][0]}"
    assert not got.objects
    fields = {spelling(d.field) for d in errors}
    recorded = [e["field"] for e in want["errors"] if e.get("field") not in (None, "", "<nil>")]
    assert {spelling(field) for field in recorded} <= fields
    if not recorded:
        assert STAGES.get(want["stage"], want["stage"]) in {d.stage for d in errors}
    for diagnostic in got.diagnostics:
        at = diagnostic.locate()
        assert at is not None
        assert at.file == str(case)
        assert 0 < at.line <= case.read_text().count("\n") + 1


def without_suspend(obj: Any) -> Any:
    """Return a JobSet without `suspend: false`, and without suspend if a queue decides about it (suspend-unset)."""
    if obj["kind"] != "JobSet":
        return obj
    queued = "kueue.x-k8s.io/queue-name" in obj["metadata"].get("labels", {})
    spec = {key: value for key, value in obj["spec"].items() if key != "suspend" or (value is True and not queued)}
    return obj | {"spec": spec}


def by_name(objects: list[Any]) -> dict[str, Any]:
    """Return the objects by identity: their order is tested elsewhere, and the scripts' text is trainc's own."""
    return {
        f"{o['apiVersion']}/{o['kind']}/{o['metadata']['name']}": without_scripts(without_suspend(o)) for o in objects
    }


def without_scripts(obj: Any) -> Any:
    scripts = obj["kind"] == "ConfigMap" and "hostfile" not in obj.get("data", {})
    return {**obj, "data": "<scripts>"} if scripts else obj


def meaning(node: Any, path: tuple[str, ...] = ()) -> Any:
    """Return a manifest's meaning: without nulls, empty metadata, the defaults of references and Volcano's queue.

    PodGroups are recorded as the controller applies them, before the API server adds the default queue.
    """
    last = path[-1] if path else ""
    if isinstance(node, list):
        items = [meaning(item, path) for item in node]
        return [i for i in items if not i.get("name", "").startswith("PRTE_")] if last == "env" else items
    if not isinstance(node, dict):
        return node
    implied = {
        "fieldRef": {"apiVersion": "v1"},
        "resourceFieldRef": {"containerName": "", "divisor": "0"},
        "spec": {} if path[:-1] else {"queue": "default"},
    }.get(last, {})
    said = {
        k: meaning(v, (*path, k)) for k, v in node.items() if v is not None and (k not in implied or implied[k] != v)
    }
    return {k: v for k, v in said.items() if v != {} or k not in EMPTY_MEANS_NOTHING}


def spelling(field: str) -> str:
    """Normalize a field: spec.a[key] becomes spec.a.key, and the Job name in front is removed."""
    field = re.sub(r"^[^ ]+: ", "", field)
    return re.sub(r"\[([^\]0-9][^\]]*)\]", r".\1", field).replace('"', "").replace("'", "").strip(".").lower()
