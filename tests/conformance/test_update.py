"""Updates of JobSets: the changes that the API server and JobSet's webhook allow."""

import json
from pathlib import Path
from typing import Any

from batches import in_batches
from conformance.recordings import lines
from running import run

from trainc.base.releases import DEFAULT_RELEASE
from trainc.pipeline.checks.jobset import update

CASES = lines("jobset_update")


@in_batches("case", CASES)
def test_update(case: dict[str, Any]) -> None:
    found = update.refused(case["old"], case["new"], DEFAULT_RELEASE)
    assert (not found) == case["allowed"], found
    recorded = {error["field"] for error in case["errors"]} - {"<nil>"}
    of_us = {violation.field for violation in found}
    # The server reports schema errors without calling the webhook.
    assert recorded <= of_us if case.get("stage") == "schema" else recorded == of_us


@in_batches("case", [case for case in CASES if case.values[0].get("stage") == "webhook"])
def test_a_rejected_update_differs_in_immutable_fields(case: dict[str, Any]) -> None:
    assert update.immutable_fields(case["old"]) != update.immutable_fields(case["new"])


def _is_renamed(case: dict[str, Any]) -> bool:
    """Return whether the name differs: for the API server an update that it rejects, for a review a new JobSet."""
    return bool(case["old"]["metadata"]["name"] != case["new"]["metadata"]["name"])


@in_batches("case", [case for case in CASES if not _is_renamed(case.values[0])])
def test_a_review_agrees(case: dict[str, Any], tmp_path: Path) -> None:
    for side in ("old", "new"):
        (tmp_path / f"{side}.json").write_text(json.dumps(case[side]))
    done = run("diff", str(tmp_path / "old.json"), str(tmp_path / "new.json"), "--format", "json")
    assert (done.code, done.err) == (0, "")
    jobsets = [found for found in json.loads(done.out)["objects"] if found["kind"] == "JobSet"]
    assert all(found["allowed"] == case["allowed"] for found in jobsets)
    assert jobsets or case["allowed"]  # an update without a change is not reported
    recorded = {error["field"] for error in case["errors"]} - {"<nil>"}
    assert recorded <= {violation["field"] for found in jobsets for violation in found["refused"]}
