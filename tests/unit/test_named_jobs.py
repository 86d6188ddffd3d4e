"""The label with a Job's name, which the API server sets: valid for only one Job of a replicated job."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.pipeline.checks import created_jobs


@pytest.mark.parametrize(
    ("replicas", "refused"),
    [
        pytest.param(1, [], id="the only Job"),
        pytest.param(2, [("js-node-1", "spec.template.metadata.labels[job-name]")], id="one of two"),
    ],
)
def test_a_job_named_in_its_labels(replicas: int, refused: list[tuple[str, str]]) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i:1"}]}
    template: dict[str, Any] = {
        "spec": {"completions": 1, "template": {"metadata": {"labels": {"job-name": "js-node-0"}}, "spec": pod}}
    }
    replicated = [{"name": "node", "replicas": replicas, "template": template}]
    jobset = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": replicated}}
    assert [(fault.object.name, fault.violation.field) for fault in created_jobs.faults(jobset)] == refused
