"""Jobs that JobSet creates from a replicated job's template: the API server's errors in them and in their first pod.

Each template belongs to the replicated job `node`, with one replica, of a JobSet `js` in the namespace `default`.
"""

from typing import Any

import pytest
from batches import in_batches
from conformance.recordings import IS_OTHER, lines
from conformance.test_trainer import spelling
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.base.releases import DEFAULT_RELEASE
from trainc.kubernetes.gotypes import as_go_type
from trainc.kubernetes.structural import load
from trainc.kubernetes.violations import Admitted
from trainc.pipeline.checks import created_jobs
from trainc.pipeline.passes.store import with_defaults

CASES = lines("job", "job_more")


@in_batches("case", CASES)
def test_jobs(case: dict[str, Any]) -> None:
    admitted = admission(case)
    refused = case.get("jobset")
    if refused and refused["stage"] == "schema":
        missing = recorded_errors(refused["errors"]) - {spelling(violation.field) for violation in admitted.violations}
        assert not missing
        return
    assert not admitted.violations
    faults = faults_of(admitted)
    for kind, key in (("Job", "errors"), ("Pod", "podErrors")):
        recorded = case.get(key) or []
        found = {spelling(fault.violation.field): fault for fault in faults if fault.object.kind == kind}
        assert not recorded_errors(recorded) - found.keys(), found
        if not recorded and (kind == "Job" or not case["errors"]):
            assert not found


@pytest.mark.skipif(IS_OTHER, reason="trainc's own recordings")
def test_texts(snapshot: SnapshotAssertion) -> None:
    admitted = [admission(param.values[0]) for param in CASES]
    found = [fault.violation for each in admitted if not each.violations for fault in faults_of(each)]
    assert texts(found) == snapshot


def admission(case: dict[str, Any]) -> Admitted:
    """Return the JobSet that would be stored, without defaults."""
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js", "namespace": "default"},
        "spec": {
            "replicatedJobs": [{"name": "node", "replicas": 1, "template": case["input"]}],
            **case.get("jobsetSpec", {}),
        },
    }
    return load("JobSet", DEFAULT_RELEASE.jobset).admit(jobset)


def faults_of(admitted: Admitted) -> list[created_jobs.JobFault]:
    """Return the errors in the Jobs and the pods of a JobSet."""
    jobset = admitted.value
    return list(created_jobs.faults(jobset | {"spec": as_go_type(with_defaults(jobset["spec"]))}))


def recorded_errors(errors: list[dict[str, str]]) -> set[str]:
    return {spelling(error["field"]) for error in errors if error.get("field") not in (None, "", "<nil>")}
