"""Tests of the jobs in a repository that `trainc init` has created: docs/unit-tests.md shows this file."""

import pytest

import trainc


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_jobs_compile(environment: str) -> None:
    result = trainc.compile("jobs", environment=environment)
    assert not result.failed, "\n".join(map(str, result.diagnostics))


def test_first_job_runs_on_one_node() -> None:
    jobset = trainc.compile("jobs/first-job.yaml", environment="prod").objects[0]
    assert jobset["metadata"]["namespace"] == "training"
    assert jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] == 1
