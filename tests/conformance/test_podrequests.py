"""Pod requests as the scheduler adds them up: of the pod spec as given, and after the API server's defaults."""

from typing import Any

from batches import in_batches
from conformance.recordings import are_equal, lines

from trainc.kubernetes import pod_resources
from trainc.kubernetes.quantity import Quantity


@in_batches("case", lines("podrequests"))
def test_podrequests(case: dict[str, Any]) -> None:
    pod = case["input"]["podSpec"]
    stored = pod_resources.defaulted(pod)
    answer = {
        "asGiven": sums(pod),
        "defaulted": sums(stored),
        "defaultedSpec": {
            **{
                key: [{"name": c["name"], "resources": printed(c["resources"])} for c in stored.get(key) or []]
                for key in pod_resources.CONTAINERS
            },
            "overhead": printed(stored.get("overhead")),
            "resources": printed(stored.get("resources")),
        },
    }
    assert are_equal(answer, case["output"]), answer


def sums(pod: dict[str, Any]) -> Any:
    return printed({"requests": pod_resources.requests(pod), "limits": pod_resources.limits(pod)})


def printed(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: printed(value) for key, value in node.items()}
    return str(node) if isinstance(node, Quantity) else node
