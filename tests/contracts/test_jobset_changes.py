"""The table of JobSet changes in docs/update-a-jobset.md agrees with the recorded answers of the real code.

For each field, the table has the effect of a change while the JobSet runs and while it is suspended. The recorded
changes, and trainc's own classification of a change of each field, must match the table.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from batches import one_in_four
from conformance.recordings import lines
from manifests import GOLDEN_CASES

import trainc
from trainc.base.releases import DEFAULT_RELEASE
from trainc.kubernetes.gotypes import compared
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import Path as TreePath
from trainc.kubernetes.trees import get, put
from trainc.pipeline.checks.jobset import update
from trainc.pipeline.passes.store import with_defaults

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "update-a-jobset.md").read_text()
SECTION = PAGE.partition("\n## Fields that may change\n")[2].partition("\n## Name suffix hash\n")[0]
TABLE = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", SECTION, re.MULTILINE)[1:]
POD = "spec.replicatedJobs.template.spec.template"
"""The path of a pod template, without the job index."""
OTHERS = "all others"


class Fate(NamedTuple):
    """The effect of a change, as in the page."""

    running: str
    suspended: str


def fates() -> dict[str, Fate]:
    """Return the effects by field, in table order; fields of pod templates have the full path."""
    found: dict[str, Fate] = {}
    for fields, running, suspended in TABLE:
        within = f"{POD}." if fields.startswith("pod template") else ""
        names = [OTHERS] if fields.startswith(OTHERS) else re.findall(r"`(.+?)`", fields)
        found |= {f"{within}{name}" if name != OTHERS else OTHERS: Fate(running, suspended) for name in names}
    return found


FATES = fates()
WORDS = {"may change", "may be added or removed", "immutable"}


def stored(jobset: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a JobSet that the server stores and compares."""
    spec = load("JobSet", DEFAULT_RELEASE.jobset).admit(jobset).value["spec"]
    metadata = {key: jobset["metadata"].get(key) or {} for key in ("labels", "annotations")}
    return {"metadata": metadata | {"name": jobset["metadata"]["name"]}, "spec": compared(spec)}


def leaves(tree: Any, path: TreePath = ()) -> dict[TreePath, Any]:
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    found = {} if parts or tree in ({}, []) else {path: tree}
    for key, part in parts:
        found |= leaves(part, (*path, key))
    return found


def touched(old: dict[str, Any], new: dict[str, Any]) -> set[str]:
    """Return the fields that differ, by their names in the table."""
    before, after = leaves(stored(old)), leaves(stored(new))
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    spelled = {".".join(str(key) for key in path if not isinstance(key, int)) for path in changed}
    return {next((name for name in FATES if f"{path}.".startswith(f"{name}.")), OTHERS) for path in spelled}


def takes(field: str, old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether the page says that a change of a field is accepted."""
    fate = FATES[field]
    word = fate.suspended if old["spec"].get("suspend") or new["spec"].get("suspend") else fate.running
    if word == "may be added or removed":
        return any(get(tree, tuple(field.split("."))) is None for tree in (old, new))
    return word == "may change"


def test_the_table_has_only_known_effects() -> None:
    assert {word for fate in FATES.values() for word in fate} == WORDS
    assert len(FATES) == 16


def is_of_values(case: dict[str, Any]) -> bool:
    """Return whether the new value is invalid in any JobSet."""
    return any("immutable" not in error["message"] and error["field"] != "<nil>" for error in case["errors"])


RECORDED = lines("jobset_update")


@pytest.mark.parametrize("case", RECORDED)
def test_a_recorded_change_matches_the_page(case: dict[str, Any]) -> None:
    old, new = case["old"], case["new"]
    reported = not is_of_values(case) and all(takes(field, old, new) for field in touched(old, new))
    assert reported == case["allowed"]


SUSPENDED = trainc.compile([str(ROOT / "golden" / "kueue-queue" / "input.yaml")]).objects[0]
FIRST_POD: TreePath = ("spec", "replicatedJobs", 0, "template", "spec", "template")
CLAIM = {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
VALUES: dict[str, tuple[Any, ...]] = {
    "metadata.labels": ({"a": "b"}, {"a": "c"}),
    "metadata.annotations": ({"a": "b"}, {"a": "c"}),
    "spec.ttlSecondsAfterFinished": (1, 2),
    "spec.coordinator": ({"replicatedJob": "node"}, {"replicatedJob": "node", "podIndex": 1}),
    "spec.network": ({"enableDNSHostnames": True}, {"enableDNSHostnames": False}),
    "spec.successPolicy": ({"operator": "All"}, {"operator": "Any"}),
    "spec.failurePolicy": tuple({"maxRestarts": count, "restartStrategy": "Recreate"} for count in (1, 2)),
    "spec.startupPolicy": ({"startupPolicyOrder": "AnyOrder"}, {"startupPolicyOrder": "InOrder"}),
    "spec.volumeClaimPolicies": tuple(
        [{"templates": [CLAIM], "retentionPolicy": {"whenDeleted": word}}] for word in ("Delete", "Retain")
    ),
    f"{POD}.metadata.labels": ({"a": "b"}, {"a": "c"}),
    f"{POD}.metadata.annotations": ({"a": "b"}, {"a": "c"}),
    f"{POD}.spec.nodeSelector": ({"a": "b"}, {"a": "c"}),
    f"{POD}.spec.tolerations": ([{"key": "a"}], [{"key": "b"}]),
    f"{POD}.spec.schedulingGates": ([{"name": "a"}], []),
}
"""Two values of each optional field."""


def with_field(jobset: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    """Return the JobSet with a field, or a field of its first pod template, set; None removes it."""
    within: TreePath = FIRST_POD if field.startswith(POD) else ()
    *parents, last = field.removeprefix(f"{POD}.").split(".")
    path: TreePath = (*within, *parents)
    part = {key: kept for key, kept in (get(jobset, path) or {}).items() if key != last}
    made: dict[str, Any] = put(jobset, path, part if value is None else part | {last: value})
    return made


@pytest.mark.parametrize("suspend", [False, True], ids=["running", "suspended"])
@pytest.mark.parametrize("field", [name for name in FATES if name not in ("spec.suspend", OTHERS)])
def test_trainc_classifies_a_field_like_the_page(field: str, suspend: bool) -> None:
    one, other = VALUES[field]
    base = put(SUSPENDED, ("spec", "suspend"), suspend)
    states = [with_field(base, field, value) for value in (None, one, other)]
    for old in states:
        for new in states:
            reported = all(takes(name, old, new) for name in touched(old, new))
            assert (update.refused(old, new, DEFAULT_RELEASE) == []) == reported


@pytest.mark.parametrize(
    "case",
    [case for case in RECORDED if case.values[0]["name"] in ("client-apply-same-manifest", "replace-same-manifest")],
)
def test_an_unchanged_manifest_is_rejected_for_missing_defaults(case: dict[str, Any]) -> None:
    assert not case["allowed"]
    filled = case["new"] | {
        "spec": with_defaults(load("JobSet", DEFAULT_RELEASE.jobset).admit(case["new"]).value["spec"])
    }
    assert touched(case["old"], case["new"])
    assert touched(case["old"], filled) == set()


@pytest.mark.parametrize("case", one_in_four(GOLDEN_CASES))
def test_the_output_has_the_defaults(case: str) -> None:
    trees = yaml.load_all((ROOT / "golden" / case / "expected.yaml").read_text(), yaml.CSafeLoader)
    for jobset in (tree for tree in trees if tree["kind"] == "JobSet"):
        filled = jobset | {"spec": with_defaults(load("JobSet", DEFAULT_RELEASE.jobset).admit(jobset).value["spec"])}
        assert touched(filled, jobset) == set()
        assert update.refused(filled, jobset, DEFAULT_RELEASE) == []
