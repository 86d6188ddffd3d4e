"""JobSets that are in the cluster, and what the API server and JobSet's webhook let change in them."""

from typing import Any

import pytest
from conformance.recordings import lines

from trainc.checks.jobset import update

CASES = lines("jobset_update")


@pytest.mark.parametrize("case", CASES)
def test_update(case: dict[str, Any]) -> None:
    found = update.refused(case["old"], case["new"])
    assert (not found) == case["allowed"], found
    recorded = {error["field"] for error in case["errors"]} - {"<nil>"}
    of_us = {violation.field for violation in found}
    # What the schema minds, the server says without asking the webhook.
    assert recorded <= of_us if case.get("stage") == "schema" else recorded == of_us


@pytest.mark.parametrize("case", [case for case in CASES if case.values[0].get("stage") == "webhook"])
def test_what_the_webhook_refuses_is_another_content(case: dict[str, Any]) -> None:
    assert update.fixed(case["old"]) != update.fixed(case["new"])
