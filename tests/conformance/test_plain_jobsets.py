"""JobSets that are given as they are: the same verdicts as the API server, the webhooks of JobSet and Kueue, and Jobs.

The documents are the stored JobSets of whole jobs (accepted, and unchanged when they are stored again), the JobSets
that Kueue's webhook and its queues were asked about, and those whose Jobs the API server was asked about.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from batches import in_batches, one_in_four
from conformance.recordings import UNVALIDATED, lines, marks, or_skip, recorded
from conformance.test_jobs import recorded_errors
from conformance.test_trainer import cases, meaning, release_of, spelling

import trainc
from trainc.api.public_results import Result
from trainc.base.releases import DEFAULT_RELEASE, TrainerRelease
from trainc.compilation.run import Options
from trainc.diagnostics import Diagnostic, Place
from trainc.pipeline.checks.created_jobs import IMAGE_REFERENCE

STORED = [case for case in cases() if not case.marks]
OF_KUEUE = or_skip([*recorded("kueue/webhook.jsonl"), *recorded("kueue/quota.jsonl")])
OF_JOBS = lines("job", "job_more")


def checked(folder: Path, jobset: Any, release: TrainerRelease = DEFAULT_RELEASE) -> tuple[Result, list[Diagnostic]]:
    """Return the result for a document, and its errors, each at a place in the document."""
    path = folder / "jobset.json"
    path.write_text(json.dumps(jobset), encoding="utf-8")
    result = trainc.compile([str(path)], options=Options(settings=UNVALIDATED._replace(release=release)))
    errors = [found for found in result.diagnostics if found.severity == "error"]
    assert all(isinstance(found.place, Place) and found.place.document.file == str(path) for found in errors)
    return result, errors


@in_batches("case", one_in_four(STORED))
def test_stored(tmp_path: Path, case: Path) -> None:
    want = json.loads(case.with_suffix(".json").read_text())
    for stored in (each for each in want.get("objects") or () if each["kind"] == "JobSet"):
        result, errors = checked(tmp_path, stored, release_of(case))
        assert not errors
        [job] = result.jobsets
        assert meaning(job.objects[0]["spec"]) == meaning(stored["spec"])


@in_batches("case", one_in_four(pytest.param(case, id=case["name"], marks=marks(case["name"])) for case in OF_KUEUE))
def test_kueue(tmp_path: Path, case: dict[str, Any]) -> None:
    _, errors = checked(tmp_path, case["jobset"])
    wanted = case.get("errors") or []
    of_jobs = {"job"} & {each.stage for each in errors}  # Kueue asks for quota for pods that the API server rejects
    assert {each.stage for each in errors} == of_jobs | ({"kueue"} if wanted else set())
    assert {error["field"] for error in wanted if error["field"]} <= {each.field for each in errors}


@in_batches("case", one_in_four(OF_JOBS))
def test_jobs(tmp_path: Path, case: dict[str, Any]) -> None:
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js", "namespace": "default"},
        "spec": {
            "replicatedJobs": [{"name": "node", "replicas": 1, "template": case["input"]}],
            **case.get("jobsetSpec", {}),
        },
    }
    _, found = checked(tmp_path, jobset)
    errors = [each for each in found if each.id != IMAGE_REFERENCE.id]  # of the kubelet
    refused = (case.get("jobset") or {}).get("errors") or []
    recordings = [*refused, *case["errors"], *(case.get("podErrors") or [])]
    assert bool(errors) == bool(recordings)
    first = recorded_errors(refused) or recorded_errors(case["errors"]) or recorded_errors(recordings)
    fields = {spelling(each.field) for each in errors}
    assert all(any(field.endswith(each.removeprefix("spec.")) for field in fields) for each in first)
