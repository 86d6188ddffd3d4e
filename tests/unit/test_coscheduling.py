"""Coscheduling: the PodGroup, its timeout and the label of the pods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, job_of, only_object, trainer_job

from trainc.diagnostics import Place

NODE = trainer_job(resources={"requests": {"cpu": 1}})
TWO = {"numNodes": 2}


@pytest.mark.parametrize(
    ("policy", "seconds"),
    [
        pytest.param({}, 60, id="the default of the CRD"),
        pytest.param({"scheduleTimeoutSeconds": 120}, 120, id="the runtime's"),
    ],
)
def test_the_pod_group(tmp_path: Path, policy: dict[str, Any], seconds: int) -> None:
    compilation = compiled(tmp_path, NODE, mlPolicy=TWO, podGroupPolicy={"coscheduling": policy})
    group = only_object(compilation, "PodGroup")
    assert (group["apiVersion"], group["metadata"]) == ("scheduling.x-k8s.io/v1alpha1", {"name": "j"})
    assert group["spec"] == {"minMember": 2, "minResources": {"cpu": "2"}, "scheduleTimeoutSeconds": seconds}


def test_every_pod_names_its_group(tmp_path: Path) -> None:
    job = job_of(compiled(tmp_path, NODE, mlPolicy=TWO, podGroupPolicy={"coscheduling": {}}))
    assert job["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == "j"


def test_no_policy_no_group(tmp_path: Path) -> None:
    compilation = compiled(tmp_path, NODE, mlPolicy=TWO, podGroupPolicy={})
    assert [object["kind"] for object in compilation.objects] == ["JobSet"]


def test_its_crd_refuses_a_gang_without_pods(tmp_path: Path) -> None:
    found = compiled(tmp_path, NODE, {"numNodes": 0}, mlPolicy=TWO, podGroupPolicy={"coscheduling": {}})
    (refused,) = found.diagnostics
    assert (refused.id, refused.stage, refused.field) == ("out-of-range", "build", "spec.minMember")
    assert refused.message == "the PodGroup's minMember must be at least 1, not 0"
    assert isinstance(refused.place, Place)
    assert refused.place.path == ("spec", "trainer", "numNodes")
    assert not found.objects
