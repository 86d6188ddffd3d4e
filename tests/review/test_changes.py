"""Changes and their effects: tables, and properties of any two JobSets."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from batches import examples
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from running import run

from trainc.base.releases import DEFAULT_RELEASE
from trainc.provenance.tracing.correspondence import KEYS as MERGE_KEYS
from trainc.review.changes import changes, undone
from trainc.review.consequences import judge

ROOT = Path(__file__).parents[2]
JOBSETS = [
    tree
    for path in sorted(ROOT.glob("golden/*/expected.yaml"))
    for tree in yaml.load_all(path.read_text(), yaml.CSafeLoader)
    if tree and tree["kind"] == "JobSet" and "successPolicy" in tree["spec"] and len(path.read_text()) < 20_000
]
BLOCKED = {"new-object", "while-suspended", "restarts", "refused"}
SCALARS = st.sampled_from(["", "a", "b-c", "1", "2Gi", "2048Mi", 0, 1, 2, 30, True, False, None, "All", "Recreate"])
NAMES = (
    *("suspend", "name", "labels", "annotations", "failurePolicy", "maxRestarts", "replicas", "dependsOn", "network"),
    *("nodeSelector", "tolerations", "env", "value", "memory", "ttlSecondsAfterFinished", "successPolicy", "x"),
)
KEYS = st.sampled_from(NAMES)
VALUES = st.recursive(
    SCALARS, lambda inner: st.dictionaries(KEYS, inner, max_size=2) | st.lists(inner, max_size=2), max_leaves=4
)


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all mappings and lists."""
    if not isinstance(tree, dict | list):
        return []
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [path, *(place for step, value in steps for place in places(value, (*path, step)))]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw a JobSet before and after a few edits."""
    old = draw(st.sampled_from(JOBSETS))
    new = copy.deepcopy(old)
    if draw(st.booleans()):
        old = old | {"spec": old["spec"] | {"suspend": True}}
    for _ in range(draw(st.integers(1, 4))):
        edit(draw, new)
    return old, new


def edit(draw: st.DrawFn, tree: Any) -> None:
    """Edit a tree in place, at a random path."""
    for step in draw(st.sampled_from(places(tree))):
        tree = tree[step]
    what = draw(st.sampled_from(["set", "set", "delete", "add", "reorder"]))
    if isinstance(tree, dict):
        if what == "add" or not tree:
            tree[draw(KEYS)] = draw(VALUES)
        elif what == "delete":
            del tree[draw(st.sampled_from(sorted(tree)))]
        else:
            tree[draw(st.sampled_from(sorted(tree)))] = draw(VALUES)
    elif what == "reorder" or not tree:
        tree[:] = draw(st.permutations(tree))
    elif what == "delete":
        del tree[draw(st.integers(0, len(tree) - 1))]
    elif what == "add":
        tree.insert(draw(st.integers(0, len(tree))), draw(VALUES))
    else:
        tree[draw(st.integers(0, len(tree) - 1))] = draw(VALUES)


ENOUGH = examples(400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@ENOUGH
@given(pairs())
def test_each_rejection_belongs_to_a_change(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    old, new = pair
    found = changes(old, new)
    judgement = judge("JobSet", old, new, found, DEFAULT_RELEASE)
    blocked = [consequence for consequence in judgement.consequences if consequence.effect in BLOCKED]
    assert bool(judgement.refused) == bool(blocked)
    assert len(judgement.consequences) == len(found)


def test_compiled_jobsets_are_judged_like_the_same_manifests() -> None:
    for old, new in pairwise(JOBSETS):
        found = changes(old, new)
        assert judge("JobSet", old, new, found, DEFAULT_RELEASE, compiled=True) == judge(
            "JobSet", old, new, found, DEFAULT_RELEASE
        )


@ENOUGH
@given(pairs())
def test_undoing_a_change_removes_only_that_change(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    old, new = pair
    found = changes(old, new)
    all_changes = [(change.kind, change.path) for change in found]
    # Undoing an added, removed or renamed item changes the names of the other items.
    assume(all(change.old_path == change.new_path and change.path[-1] not in MERGE_KEYS for change in found))
    assume(all(change.kind == "changed" or isinstance(change.path[-1], str) for change in found))
    assume(all(change.kind != "moved" for change in found))
    for number, change in enumerate(found):
        left = changes(old, undone(new, change))
        assert [(other.kind, other.path) for other in left] == [*all_changes[:number], *all_changes[number + 1 :]]


LIMITS = "spec.trainer.resourcesPerNode.limits"


def job_with(cpu: object, **annotations: str) -> dict[str, Any]:
    limits = {"limits": {"cpu": cpu}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"annotations": annotations},
        "spec": {"trainer": {"resourcesPerNode": limits}},
    }


def config_map(divisor: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {"divisor": divisor}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="nothing"),
        pytest.param({"a": 1}, {"a": True}, ["changed a"], id="a number is not a boolean"),
        pytest.param(job_with("1"), job_with(1), [], id="a quantity in another type"),
        pytest.param(job_with("1"), job_with("1000m"), [], id="in another unit"),
        pytest.param(job_with("1"), job_with("x"), [f"changed {LIMITS}.cpu"], id="not a quantity"),
        pytest.param({"value": "1"}, {"value": "1000m"}, ["changed value"], id="not a quantity field"),
        pytest.param({"limits": {"cpu": "1"}}, {"limits": {"cpu": 1}}, ["changed limits.cpu"], id="without a schema"),
        pytest.param(config_map("1k"), config_map("1000"), ["changed data.divisor"], id="data of a ConfigMap"),
        pytest.param(
            job_with("1", sizeLimit="1"),
            job_with("1", sizeLimit="1e0"),
            ["changed metadata.annotations.sizeLimit"],
            id="an annotation",
        ),
        pytest.param({}, {"a": {"b": 1}}, ["added a"], id="added as a whole"),
        pytest.param({"a.b/c": 1}, {}, ['removed ["a.b/c"]'], id="a key with dots"),
        pytest.param(
            {"env": [{"name": "A"}, {"name": "B"}]}, {"env": [{"name": "B"}]}, ["removed env[A]"], id="an item"
        ),
        pytest.param(
            {"env": [{"name": "A"}, {"name": "B"}]},
            {"env": [{"name": "B"}, {"name": "A"}]},
            ["moved env"],
            id="another order",
        ),
        pytest.param({"args": ["a", "b"]}, {"args": ["a", "c"]}, ["changed args[1]"], id="a word"),
        pytest.param({"args": ["a"]}, {"args": ["a", "c"]}, ["changed args"], id="more words"),
        pytest.param(
            {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
            {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "3"}]},
            ["changed env[1].value"],
            id="a name that is there twice",
        ),
    ],
)
def test_changes(old: Any, new: Any, expected: list[str]) -> None:
    assert [f"{change.kind} {change.field}" for change in changes(old, new)] == expected


GOOD = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a}
spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}}]}
"""
BROKEN = {
    "no spec": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\n",
    "a text as spec": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: text\n",
    "an empty spec": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {}\n",
    "no jobs": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {replicatedJobs: 3}\n",
    "jobs that are none": GOOD.replace("[{name: node", "[null, 3, {name: node"),
    "containers that are none": GOOD.replace("[{name: c, image: i}]", "{a: 1}"),
    "no metadata": GOOD.replace("metadata: {name: a}\n", ""),
    "a text as metadata": GOOD.replace("{name: a}", "text"),
    "a number as name": GOOD.replace("{name: a}", "{name: 3}"),
    "labels that are none": GOOD.replace("{name: a}", "{name: a, labels: [1], annotations: text}"),
    "another group": GOOD.replace("jobset.x-k8s.io", "acme.io"),
    "no version": GOOD.replace("/v1alpha2", ""),
    "a list": f"apiVersion: v1\nkind: List\nitems:\n- {json.dumps(yaml.safe_load(GOOD))}\n",
    "a list of nothing": "apiVersion: v1\nkind: List\nitems: [null, 3, {kind: JobSet}]\n",
    "nothing": "",
    "no object": "- 1\n---\ntext\n---\n3\n",
    "only a kind": "kind: JobSet\n",
    "a config map that is none": f"{GOOD}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: b}}\ndata: [1]\n",
    "a config map of a text": f"{GOOD}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: b}}\nimmutable: 1\n",
    "no YAML": "{",
    "a TrainJob": "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\nspec: 3\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize(
    "other",
    [
        pytest.param(GOOD, id="good"),
        pytest.param(GOOD.replace("image: i", "image: j"), id="another image", marks=pytest.mark.slow),
        pytest.param(BROKEN["no spec"], id="without a spec"),
    ],
)
@pytest.mark.parametrize("form", ["text", pytest.param("json", marks=pytest.mark.slow)])
def test_no_manifest_causes_an_internal_error(text: str, other: str, form: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(text)
    two.write_text(other)
    for sides in ((one, two), (two, one), (one, one)):
        done = run("diff", *map(str, sides), "--format", form)
        assert done.code in {0, 1}, done.err
        assert bool(done.out) == (done.code == 0)


def test_an_unreadable_old_side_does_not_prevent_the_review(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(BROKEN["no YAML"])
    (tmp_path / "new.yaml").write_text(GOOD)
    done = run("diff", str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml"))
    assert done.code == 0
    assert "1 to add" in done.out
    assert "warning[yaml]: in " in done.err
