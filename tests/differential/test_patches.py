"""Generated merge patches of TrainJobs, runtimes and JobSets, compared with apimachinery's strategic merge.

The merge starts in the JobSetSpec of each object. In a TrainJob that is the template of a runtimePatch, in whose CRD
some lists have other keys than in Go: the generated values use only the fields whose lists have the same key. They have
the types of the fields, because a CRD does not tell which fields are pointers in Go.
"""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from conformance.test_smp import go_spelled
from differential.oracle import EXAMPLES, Oracle, needs_oracle
from differential.test_merges import LISTS, Maker, agree, hangs_on_slices, mappings, wrapped
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from trainc.budget import Meter
from trainc.diagnostics import Document, Place
from trainc.edits.environment import Environment, Setting
from trainc.edits.patching import Patches, types
from trainc.edits.patching.applying import applied
from trainc.edits.patching.parsed_patches import Patch
from trainc.edits.patching.patch_faults import PatchError
from trainc.kubernetes.gotypes import ROOT, Struct, struct
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = needs_oracle

TRAINER = "trainer.kubeflow.org/v1alpha1"
PATCH = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template", "spec")
KINDS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "ClusterTrainingRuntime": (TRAINER, ("spec", "template", "spec")),
    "TrainingRuntime": (TRAINER, ("spec", "template", "spec")),
    "TrainJob": (TRAINER, PATCH),
    "JobSet": ("jobset.x-k8s.io/v1alpha2", ("spec",)),
}


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    oracle = Oracle()
    yield oracle
    oracle.close()


@cache
def shared_fields() -> dict[str, frozenset[str]]:
    """Return the fields, by Go type, that a runtimePatch has in the CRD with the same merge key as in Go."""
    found: dict[str, frozenset[str]] = {}
    crd: Struct | None = types.struct_of({"apiVersion": TRAINER, "kind": "TrainJob", "spec": {}})
    for step in PATCH:
        if isinstance(step, str):
            assert crd is not None
            crd = crd.inner_struct(crd.fields[step])
    assert crd is not None
    _compare(ROOT, crd, found)
    return found


def _compare(name: str, crd: Struct, differences: dict[str, frozenset[str]]) -> None:
    go = struct(name)
    assert go is not None
    same = {
        key
        for key, field in crd.fields.items()
        if key in go.fields and (go.fields[key].merges, go.fields[key].mergeKey) == (field.merges, field.mergeKey)
    }
    differences[name] = differences.get(name, frozenset(same)) & same
    for key in same:
        inner = crd.inner_struct(crd.fields[key])
        if inner is not None and struct(go.fields[key].of) is not None:
            _compare(go.fields[key].of, inner, differences)


class OfTrainJobs(Maker):
    """Generates values with the fields that a runtimePatch shares with Go."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.oddity = 0

    def vocabulary(self, declared: Struct) -> list[str]:
        names = shared_fields().get(declared.name, frozenset())
        kept = declared._replace(fields={name: field for name, field in declared.fields.items() if name in names})
        return super().vocabulary(kept)


POD = ("replicatedJobs", "template", "spec", "template", "spec")
PLACES = [(ROOT, ()), ("core/v1.PodSpec", POD), ("core/v1.Container", (*POD, "containers")), ("core/v1.PodSpec", POD)]


def object_with_spec(kind: str, spec: Any) -> Any:
    """Return an object, or a patch of it, with a JobSetSpec."""
    version, path = KINDS[kind]
    for step in reversed(path):
        if isinstance(step, int):
            spec = [spec | {"manager": "acme.io/m"}]
        else:
            spec = {step: spec}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}} | spec


def generated(kind: str, seed: int) -> dict[str, Any]:
    random = Random(seed)
    maker = OfTrainJobs(random) if kind == "TrainJob" else Maker(random)
    type_name, path = random.choice(PLACES)
    depth = random.randrange(1, 4)
    sides = {side: maker.value(type_name, depth, patch=side == "patch") for side in ("original", "patch")}
    return {side: wrapped(value, path) for side, value in sides.items()}


def patched(kind: str, case: dict[str, Any]) -> dict[str, Any]:
    """Return the JobSetSpec of an object after a patch, through the path of a patch in trainc.yaml."""
    value = {"patches": [{"target": {"kind": kind}, "patch": object_with_spec(kind, case["patch"])}]}
    setting = Setting(value["patches"][0], Place(Document("trainc.yaml", 1, "", value), ("patches", 0)))
    document = Document("a.yaml", 1, "", object_with_spec(kind, case["original"]))
    patches = Patches(Environment(patches=(setting,)), lambda *_, **__: (), Meter())
    if kind == "JobSet":  # it is compiled from a TrainJob, whose document is not patched
        try:
            patch = Patch(setting, patches._of_kind[kind][0].target, document._replace(value=setting.value["patch"]))
            result = applied(patch, document.value)[0]
        except (PatchError, KeyError) as error:
            return {"error": str(error)}
    else:
        result = patches.apply(document).value
    if patches.diagnostics:
        return {"error": patches.diagnostics[0].message}
    return {"output": go_spelled(get(result, KINDS[kind][1]))}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(seed=st.integers(min_value=0, max_value=2**63))
def test_merge_patches_agree(oracle: Oracle, kind: str, seed: int) -> None:
    case = generated(kind, seed)
    # trainc rejects an invalid directive anywhere in a patch, Go only where it is used.
    assume(all(value.get("$patch", "delete") in ("delete", "replace") for value in mappings(case["patch"])))
    assume(not hangs_on_slices(case["original"], case["patch"]))
    before = json.dumps(case)
    ours = patched(kind, case)
    assert json.dumps(case) == before, "the patch changed what it was given"
    if agree(ours, *oracle.ask("smp", [case])):
        return
    # Go's maps have no order: another run may return another result.
    theirs = oracle.ask("smp", [case] * 50)
    assert any(agree(ours, answer) for answer in theirs), f"{before}\nours: {ours}\ntheirs: {theirs[0]}"


def test_the_lists_of_a_runtime_patch_are_compared() -> None:
    assert {"containers", "volumes", "imagePullSecrets"} <= shared_fields()["core/v1.PodSpec"]
    assert "env" in shared_fields()["core/v1.Container"]
    assert "volumeMounts" not in shared_fields()["core/v1.Container"]  # by name in the CRD, by mountPath in Go
    assert {"replicatedJobs"} <= shared_fields()[ROOT]
    assert "replicatedJobs" in LISTS
