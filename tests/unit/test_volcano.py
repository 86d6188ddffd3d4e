"""Volcano: the PodGroup with its queue and topology, and the annotation of the pods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, job_of, only_object, trainer_job

from trainc import Result

QUEUE = "scheduling.volcano.sh/queue-name"
NEAR = {"mode": "hard", "highestTierAllowed": 2}


def in_a_gang(folder: Path, policy: dict[str, Any], annotations: dict[str, str]) -> Result:
    """Compile two nodes on a runtime with this policy, and with these annotations of the JobSet."""
    return compiled(
        folder,
        trainer_job(resources={"requests": {"cpu": 1}}),
        template={"annotations": annotations},
        mlPolicy={"numNodes": 2},
        podGroupPolicy={"volcano": policy},
    )


@pytest.mark.parametrize(
    ("policy", "annotations", "more"),
    [
        pytest.param({}, {}, {"queue": "default"}, id="the default queue"),
        pytest.param({}, {QUEUE: "research"}, {"queue": "research"}, id="a queue"),
        pytest.param(
            {"networkTopology": NEAR}, {}, {"queue": "default", "networkTopology": NEAR}, id="nodes near one another"
        ),
    ],
)
def test_the_pod_group(
    tmp_path: Path, policy: dict[str, Any], annotations: dict[str, str], more: dict[str, Any]
) -> None:
    group = only_object(in_a_gang(tmp_path, policy, annotations), "PodGroup")
    assert (group["apiVersion"], group["metadata"]) == ("scheduling.volcano.sh/v1beta1", {"name": "j"})
    assert group["spec"] == {"minMember": 2, "minResources": {"cpu": "2"}, **more}


def test_every_pod_names_its_group(tmp_path: Path) -> None:
    job = job_of(in_a_gang(tmp_path, {}, {}))
    assert job["template"]["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "j"


def test_a_queue_without_a_name_is_refused(tmp_path: Path) -> None:
    assert [d.id for d in in_a_gang(tmp_path, {}, {QUEUE: ""}).diagnostics] == ["volcano-queue"]


@pytest.mark.parametrize(
    ("policy", "annotations", "field", "message"),
    [
        pytest.param(
            {"networkTopology": {"highestTierAllowed": -1}},
            {},
            "spec.networkTopology.highestTierAllowed",
            "the PodGroup's highestTierAllowed must be at least 0, not -1",
            id="a negative tier",
        ),
        pytest.param(
            {},
            {QUEUE: "My_Queue"},
            "spec.queue",
            'the PodGroup\'s queue is "My_Queue", which contains uppercase letters and "_"',
            id="a queue that is no name",
        ),
        pytest.param(
            {},
            {QUEUE: "a" * 254},
            "spec.queue",
            "the PodGroup's queue has 254 characters, but must have at most 253",
            id="a long queue",
        ),
    ],
)
def test_its_crd_refuses_the_pod_group(
    tmp_path: Path, policy: dict[str, Any], annotations: dict[str, str], field: str, message: str
) -> None:
    (found,) = in_a_gang(tmp_path, policy, annotations).diagnostics
    assert (found.stage, found.object.kind, found.field, found.message) == ("build", "PodGroup", field, message)


@pytest.mark.parametrize("tier", [0, 7])
def test_its_crd_accepts_the_pod_group(tmp_path: Path, tier: int) -> None:
    assert not in_a_gang(tmp_path, {"networkTopology": {"highestTierAllowed": tier}}, {QUEUE: "a" * 253}).failed
