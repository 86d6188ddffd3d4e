"""Jobs that JobSet creates from a replicated job's template: the API server's errors in them and in their first pod.

Each template belongs to the replicated job `node`, with one replica, of a JobSet `js` in the namespace `default`.
"""

from typing import Any

from batches import in_batches
from conformance.recordings import lines
from conformance.test_trainer import spelling

from trainc.base.releases import DEFAULT_RELEASE
from trainc.kubernetes.gotypes import as_go_type
from trainc.kubernetes.structural import load
from trainc.pipeline.checks import created_jobs
from trainc.pipeline.passes.store import with_defaults


@in_batches("case", lines("job", "job_more"))
def test_jobs(case: dict[str, Any]) -> None:
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js", "namespace": "default"},
        "spec": {
            "replicatedJobs": [{"name": "node", "replicas": 1, "template": case["input"]}],
            **case.get("jobsetSpec", {}),
        },
    }
    admitted = load("JobSet", DEFAULT_RELEASE.jobset).admit(jobset)
    refused = case.get("jobset")
    if refused and refused["stage"] == "schema":
        missing = recorded_errors(refused["errors"]) - {spelling(violation.field) for violation in admitted.violations}
        assert not missing
        return
    assert not admitted.violations
    stored = jobset | {"spec": as_go_type(with_defaults(admitted.value["spec"]))}
    faults = list(created_jobs.faults(stored))
    for kind, key in (("Job", "errors"), ("Pod", "podErrors")):
        recorded = case.get(key) or []
        found = {spelling(fault.violation.field): fault for fault in faults if fault.object.kind == kind}
        assert not recorded_errors(recorded) - found.keys(), found
        if not recorded and (kind == "Job" or not case["errors"]):
            assert not found


def recorded_errors(errors: list[dict[str, str]]) -> set[str]:
    return {spelling(error["field"]) for error in errors if error.get("field") not in (None, "", "<nil>")}
