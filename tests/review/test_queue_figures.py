"""What the JobSets of a repository request from Kueue's queues after a change, beside the quotas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from committing import commit, git
from running import run
from syrupy.assertion import SnapshotAssertion

from trainc.cli.common.options import REVIEWS

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: {queue}}}}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    numNodes: {nodes}
    resourcesPerNode: {{limits: {{nvidia.com/gpu: 4}}}}
"""
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  namespaceSelector: {{}}
{cohort}  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors:
        - name: h100
          resources: [{{name: nvidia.com/gpu, nominalQuota: {quota}}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {name}, namespace: ml}}
spec: {{clusterQueue: {name}}}
---
"""
FLAVOR = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
"""
ONE_CLUSTER = "environments: {dev: {labels: {env: dev}}, staging: {labels: {env: staging}}}\n"
TWO_CLUSTERS = "environments: {dev: {cluster: lab}, prod: {cluster: production}}\n"


def job(name: str, nodes: int, queue: str = "research") -> None:
    Path(f"jobs/{name}.yaml").write_text(JOB.format(name=name, nodes=nodes, queue=queue))


def queue(name: str = "research", quota: int = 64, cohort: str = "") -> str:
    return QUEUE.format(name=name, quota=quota, cohort=f"  cohortName: {cohort}\n" if cohort else "")


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with 48 GPUs of 64 in a commit, and 52 more in the working tree."""
    monkeypatch.chdir(tmp_path)
    git("init")
    Path("jobs").mkdir()
    Path("trainc.yaml").write_text("sources: [jobs]\n")
    Path("jobs/queues.yaml").write_text(queue() + FLAVOR)
    job("first", 12)
    commit()
    job("second", 13)


def review(form: str = "text", *more: str) -> str:
    done = run("diff", "--format", form, *more)
    assert done.code == 0, done.err
    return done.out


def figures(*more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(review("json", *more)).get("queues", [])
    return found


def settings(text: str) -> None:
    Path("trainc.yaml").write_text(f"sources: [jobs]\n{text}")
    commit()
    job("third", 1)


@pytest.mark.parametrize("form", [each for each in REVIEWS if each != "json"])
def test_requests_beyond_the_quota_are_marked(form: str) -> None:
    shown = review(form).replace("`", "")
    assert "100 of 64 nvidia.com/gpu exceeds the quota" in shown
    assert "ClusterQueue research" in shown


def test_the_quota_in_json() -> None:
    before = {"requested": "48", "quota": "64"}
    resource = {"resource": "nvidia.com/gpu", "requested": "100", "quota": "64", "exceeded": True, "before": before}
    assert figures() == [{"kind": "ClusterQueue", "name": "research", "resources": [resource]}]


@pytest.mark.parametrize("form", REVIEWS)
def test_requests_within_the_quota_are_not_marked(form: str) -> None:
    job("second", 4)
    shown = review(form).replace("`", "")
    assert "exceeds" not in shown
    assert '"exceeded": true' not in shown
    assert "64 of 64 nvidia.com/gpu" in shown or form == "json"


@pytest.mark.parametrize(
    ("before", "after", "note", "marked"),
    [
        pytest.param((13, 64), (25, 64), "before: 52 of 64", True, id="new"),
        pytest.param((20, 64), (25, 64), "before: 80 of 64", True, id="more"),
        pytest.param((25, 64), (25, 64), "as before", False, id="as before"),
        pytest.param((28, 64), (25, 64), "before: 112 of 64", False, id="less"),
        pytest.param((25, 128), (25, 64), "before: 100 of 128", True, id="less quota"),
    ],
)
def test_whether_the_change_exceeds_the_quota(
    before: tuple[int, int], after: tuple[int, int], note: str, marked: bool
) -> None:
    for nodes, quota in (before, after):
        job("first", 12)
        job("second", nodes - 12)
        Path("jobs/queues.yaml").write_text(queue(quota=quota) + FLAVOR)
        if (nodes, quota) == before:
            commit()
    Path("jobs/other.yaml").write_text(JOB.format(name="other", nodes=1, queue="none"))
    assert f"100 of 64 nvidia.com/gpu exceeds the quota ({note})" in review()
    assert ("**100 of 64" in review("markdown")) == marked


def test_environments_of_one_cluster_share_a_quota() -> None:
    settings(ONE_CLUSTER)
    assert "ClusterQueue research [dev, staging]: requests 208 of 64 nvidia.com/gpu exceeds the quota" in review()
    assert "[dev]: requests 104 of 64 nvidia.com/gpu exceeds the quota" in review("text", "--env", "dev")


def test_clusters_have_their_own_quotas() -> None:
    settings(TWO_CLUSTERS)
    shown = review()
    for where in ("in cluster lab [dev]", "in cluster production [prod]"):
        assert f"ClusterQueue research {where}: requests 104 of 64 nvidia.com/gpu exceeds the quota" in shown


@pytest.mark.parametrize("form", REVIEWS)
def test_a_queue_whose_quota_is_unknown_says_nothing(form: str) -> None:
    Path("jobs/queues.yaml").write_text(queue("other") + FLAVOR)
    assert "64 of" not in review(form)
    assert figures() == []


def test_two_quotas_of_one_name_are_unknown() -> None:
    Path("jobs/more.yaml").write_text(queue(quota=32).partition("---")[0])
    assert figures() == []


def test_a_queue_borrows_from_its_cohort() -> None:
    Path("jobs/queues.yaml").write_text(queue(cohort="all") + queue("other", 36, cohort="all") + FLAVOR)
    assert "100 of 100 nvidia.com/gpu" in review()
    assert "exceeds" not in review()


def test_a_cohort_whose_members_are_elsewhere_is_unknown() -> None:
    Path("jobs/queues.yaml").write_text(queue(cohort="all") + FLAVOR)
    assert figures() == []


def test_queues_of_one_cohort_cannot_borrow_the_same_quota() -> None:
    Path("jobs/queues.yaml").write_text(queue(cohort="all") + queue("other", cohort="all") + FLAVOR)
    job("second", 16, "other")
    job("third", 8, "other")
    shown = review()
    assert "ClusterQueue other: requests 96 of 128 nvidia.com/gpu\n" in shown
    assert "Cohort all: requests 144 of 128 nvidia.com/gpu exceeds the quota\n" in shown


def test_rendered_manifests_have_their_queues() -> None:
    Path("trainc.yaml").write_text("sources: [jobs]\noutput: rendered\npassthrough: true\n")
    assert run("build").code == 0
    commit()
    job("third", 1)
    assert run("build").code == 0
    assert "104 of 64 nvidia.com/gpu exceeds the quota" in review("text", "HEAD", "rendered")


def test_queues_shows_the_quota(snapshot: SnapshotAssertion) -> None:
    Path("jobs/queues.yaml").write_text(queue(cohort="all") + queue("other", cohort="all") + queue("own", 8) + FLAVOR)
    job("second", 16, "other")
    job("third", 8, "other")
    job("fourth", 2, "own")
    job("fifth", 1, "own")
    assert run("queues").out == snapshot(name="table")
    assert json.loads(run("queues", "--format", "json").out) == snapshot(name="json")
