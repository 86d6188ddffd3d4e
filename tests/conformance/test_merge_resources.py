"""The Trainer's merge of resourcesPerNode into a container's resources."""

from typing import Any

from batches import in_batches
from conformance.recordings import are_equal, lines

from trainc.kubernetes.quantity import merge_resources


@in_batches("case", lines("merge_resources"))
def test_merge_resources(case: dict[str, Any]) -> None:
    assert are_equal(merge_resources(**case["input"]), case["output"])
