"""The source of each field of a merged object: the field of the patch, or of the object before, that has its value."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from batches import examples
from differential.test_merges import Maker
from hypothesis import given
from hypothesis import strategies as st

from trainc.diagnostics import Document, Place
from trainc.edits.environment import Setting
from trainc.edits.patching import merges
from trainc.edits.patching.applying import applied
from trainc.edits.patching.parsed_patches import Patch
from trainc.edits.patching.patch_faults import PatchError
from trainc.edits.patching.targets import Target
from trainc.provenance.tracing.correspondence import GONE, leaves, value_at

JOBSET = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}


def merged(before: Any, patch: Any) -> tuple[Any, Any]:
    document = Document("trainc.yaml", 1, "", {"spec": patch})
    return applied(Patch(Setting({}, Place(document)), Target("JobSet"), document), JOBSET | {"spec": before})


def source_of(before: Any, patch: Any, *path: str | int) -> str:
    """Return where a field comes from, as `patch a/b` or `before a/b`."""
    _, edit = merged(before, patch)
    found = edit.source(("spec", *path))
    where, steps = ("patch", found.path) if isinstance(found, Place) else ("before", found)
    return f"{where} {'/'.join(map(str, steps[1:]))}"


NODE = {"name": "node", "replicas": 2}
SIDE = {"name": "side", "replicas": 1}


@pytest.mark.parametrize(
    ("before", "patch", "path", "source"),
    [
        ({"suspend": True}, {"suspend": False}, "suspend", "patch suspend"),
        ({"suspend": True}, {"suspend": None}, "suspend", "patch suspend"),
        ({"suspend": True}, {"managedBy": "x"}, "suspend", "before suspend"),
        ({}, {"network": {"subdomain": "a"}}, "network", "patch network"),
        ({}, {"network": {"subdomain": "a"}}, "network subdomain", "patch network/subdomain"),
        ({"network": {"subdomain": "b"}}, {"network": {"subdomain": "a"}}, "network", "before network"),
        ({"network": {"subdomain": "b"}}, {"network": {"$patch": "replace", "x": 1}}, "network", "before network"),
        (
            {"replicatedJobs": [NODE, SIDE]},
            {"replicatedJobs": [SIDE]},
            "replicatedJobs 1 name",
            "patch replicatedJobs/0/name",
        ),
        (
            {"replicatedJobs": [NODE, SIDE]},
            {"replicatedJobs": [SIDE | {"groupName": "g"}]},
            "replicatedJobs 1",
            "before replicatedJobs/1",
        ),
        (
            {"replicatedJobs": [NODE, SIDE]},
            {"replicatedJobs": [{"name": "node", "$patch": "delete"}]},
            "replicatedJobs 0 replicas",
            "before replicatedJobs/1/replicas",
        ),
        (
            {"replicatedJobs": [NODE]},
            {"replicatedJobs": [SIDE, {"$patch": "replace"}]},
            "replicatedJobs 0 replicas",
            "patch replicatedJobs/0/replicas",
        ),
        ({}, {"network": {"subdomain": "a"}}, "network missing deep", "patch network/missing/deep"),
        ({"network": {}}, {"suspend": True}, "network missing deep", "before network/missing/deep"),
    ],
)
def test_sources(before: Any, patch: Any, path: str, source: str) -> None:
    assert source_of(before, patch, *(int(step) if step.isdecimal() else step for step in path.split())) == source


@examples(600, database=None)
@given(seed=st.integers(min_value=0, max_value=2**63))
def test_each_source_has_the_value(seed: int) -> None:
    maker = Maker(Random(seed))
    maker.oddity = 0
    before, patch = (maker.value("jobset/v1alpha2.JobSetSpec", 3, patch=side) for side in (False, True))
    try:
        merges.check({"spec": patch})
        after, edit = merged(before, patch)
    except PatchError:
        return
    for path in leaves(after):
        value = value_at(after, path)
        found = edit.source(path)
        if isinstance(found, Place):
            there = value_at({"spec": patch}, found.path)
            # A mapping or list of the patch can be empty without its nulls and directives.
            assert there == value or (value in ({}, []) and there is not GONE), path
        else:
            assert value_at(JOBSET | {"spec": before}, found) == value or value in ({}, []), path
