"""Kubernetes' answers to strategic merges into a JobSetSpec, for patches of runtimes and JobSets in trainc.yaml."""

from typing import Any

import pytest
from batches import in_batches
from conformance.recordings import are_equal, lines
from conformance.test_smp import go_spelled, side

from trainc.diagnostics import Document, Path, Place
from trainc.edits.environment import Setting
from trainc.edits.patching.applying import applied
from trainc.edits.patching.parsed_patches import Patch
from trainc.edits.patching.patch_faults import PatchError
from trainc.edits.patching.targets import Target
from trainc.kubernetes.trees import get

SPECS: dict[str, tuple[str, ...]] = {"ClusterTrainingRuntime": ("spec", "template", "spec"), "JobSet": ("spec",)}


def object_with_spec(kind: str, spec: Any) -> Any:
    """Return an object, or a patch of it, with a JobSetSpec."""
    for step in reversed(SPECS[kind]):
        spec = {step: spec}
    return {"kind": kind} | spec


def is_nested(case: Any) -> bool:
    """Whether both sides are mappings: in an object, a spec that is null or a list has another meaning."""
    try:
        return all(type(side(case["input"], name)) is dict for name in ("original", "patch"))
    except ValueError:
        return True


@pytest.mark.parametrize("kind", SPECS)
@in_batches("case", [case for case in lines("smp") if is_nested(case.values[0])])
def test_a_merge_patch(kind: str, case: dict[str, Any]) -> None:
    given, outcomes = case["input"], case.get("outcomes", [case])
    values = [go_spelled(outcome["output"]) for outcome in outcomes if "output" in outcome]
    try:
        original, patch = side(given, "original"), side(given, "patch")
        document = Document("trainc.yaml", 1, "", object_with_spec(kind, patch))
        found, edit = applied(
            Patch(Setting({}, Place(document)), Target(kind), document), object_with_spec(kind, original)
        )
    except (PatchError, ValueError):
        assert len(values) < len(outcomes)
        return
    merged = get(found, SPECS[kind], {})
    assert any(are_equal(go_spelled(merged), value) for value in values)
    paths: tuple[Path, ...] = (SPECS[kind], (*SPECS[kind], "replicatedJobs", 0, "name"))
    for path in paths:
        source = edit.source(path)  # a place in the patch, or a path in the object
        assert isinstance(source, Place | tuple)
