"""JobSet's webhook, rule by rule: the field, place and message of each rejection; and values just within the rules."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from trainc.base.releases import DEFAULT_RELEASE
from trainc.kubernetes.trees import edit, put
from trainc.pipeline.checks import created_jobs as jobs
from trainc.pipeline.checks.jobset import violations
from trainc.pipeline.passes.store import with_defaults

NODE = ("spec", "replicatedJobs", 1)
POD = (*NODE, "template", "spec", "template", "spec")
CLAIM = ("spec", "volumeClaimPolicies", 0, "templates", 0, "metadata", "name")
MOUNTED = [{"name": "node", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]


def stored_job(name: str, **more: Any) -> dict[str, Any]:
    spec = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": {"spec": {"containers": []}}}
    return {"name": name, "groupName": "default", "replicas": 1, "template": {"spec": spec}, **more}


def jobset(*changes: tuple[tuple[str | int, ...], Any], name: str = "js") -> dict[str, Any]:
    """Return a JobSet with the jobs `prepare` and `node`, of two pods each, with the given changes."""
    tree: dict[str, Any] = {
        "metadata": {"name": name},
        "spec": {"replicatedJobs": [stored_job("prepare"), stored_job("node")]},
    }
    for path, value in changes:
        tree = put(tree, path, value)
    stored: dict[str, Any] = edit(tree, ("spec",), with_defaults)
    return stored


def claims(*names: str) -> list[dict[str, Any]]:
    return [{"templates": [{"metadata": {"name": name}} for name in names]}]


def rules(*found: dict[str, Any]) -> tuple[tuple[str | int, ...], Any]:
    return ("spec", "failurePolicy", "rules"), [{"action": "FailJobSet", **rule} for rule in found]


REFUSED = [
    pytest.param(
        [((*NODE, "name"), "Eval")],
        ("replicated-job-name", "spec.replicatedJobs[1].name", (*NODE, "name")),
        '"Eval" is not a valid replicated job name: it contains uppercase letters; its Jobs and pods are '
        "named after it",
        id="a job's name",
    ),
    pytest.param(
        [((*NODE, "groupName"), "1st")],
        ("group-name", "spec.replicatedJobs[1].groupName", (*NODE, "groupName")),
        '"1st" is not a valid groupName for job "node": it starts with a digit',
        id="a group's name",
    ),
    pytest.param(
        [((*NODE, "groupName"), "g" * 64)],
        ("group-name", "spec.replicatedJobs[1].groupName", (*NODE, "groupName")),
        f'"{"g" * 60}..." is not a valid groupName for job "node": it has 64 characters, but must have at most 63',
        id="a group's long name",
    ),
    pytest.param(
        [((*NODE, "replicas"), 2**16), ((*NODE, "template", "spec", "parallelism"), 2**15)],
        (
            "too-many-pods",
            "spec.replicatedJobs[1].template.spec.parallelism",
            (*NODE, "template", "spec", "parallelism"),
        ),
        'job "node" runs 65536 x 32768 pods at once; the limit is 2147483647',
        id="too many pods",
    ),
    pytest.param(
        [(("spec", "network", "subdomain"), "a.b")],
        ("subdomain", "spec.network.subdomain", ("spec", "network", "subdomain")),
        '"a.b" is not a valid subdomain: it contains "."',
        id="a domain as subdomain",
    ),
    pytest.param(
        [(("spec", "managedBy"), "")],
        ("jobset-managed-by", "spec.managedBy", ("spec", "managedBy")),
        '"" is not a valid managedBy of a JobSet: it must be a domain-prefixed path',
        id="an empty manager",
    ),
    pytest.param(
        [(("spec", "managedBy"), "a.io/" + "b" * 59)],
        ("jobset-managed-by", "spec.managedBy", ("spec", "managedBy")),
        f'"a.io/{"b" * 55}..." is not a valid managedBy of a JobSet: it has 64 characters; the limit is 63',
        id="a long manager",
    ),
    pytest.param(
        [(("spec", "replicatedJobs", 0, "dependsOn"), [{"name": "node"}])],
        ("depends-on-first", "spec.replicatedJobs[0].dependsOn", ("spec", "replicatedJobs", 0, "dependsOn")),
        'job "prepare" is the first one and cannot depend on another',
        id="the first depends",
    ),
    pytest.param(
        [((*NODE, "dependsOn"), [{"name": "prepare"}, {"name": "prepar"}])],
        ("depends-on-unknown", "spec.replicatedJobs[1].dependsOn[1].name", (*NODE, "dependsOn", 1, "name")),
        'job "node" depends on "prepar", which is not a job of the JobSet',
        id="depends on an unknown job",
    ),
    pytest.param(
        [
            (
                ("spec", "replicatedJobs"),
                [stored_job("a"), stored_job("b", dependsOn=[{"name": "c"}]), stored_job("c")],
            ),
        ],
        ("depends-on-unknown", "spec.replicatedJobs[1].dependsOn[0].name", (*NODE, "dependsOn", 0, "name")),
        'job "b" depends on "c", which is listed after it',
        id="depends on a later one",
    ),
    pytest.param(
        [(("spec", "successPolicy"), {"operator": "All", "targetReplicatedJobs": ["ghost"]})],
        (
            "policy-target-unknown",
            "spec.successPolicy.targetReplicatedJobs[0]",
            ("spec", "successPolicy", "targetReplicatedJobs", 0),
        ),
        'successPolicy targets job "ghost", which the JobSet does not have',
        id="success of an unknown job",
    ),
    pytest.param(
        [rules({"name": "r", "targetReplicatedJobs": ["node", "ghost"]})],
        (
            "policy-target-unknown",
            "spec.failurePolicy.rules[0].targetReplicatedJobs[1]",
            ("spec", "failurePolicy", "rules", 0, "targetReplicatedJobs", 1),
        ),
        'rule "r" of failurePolicy targets job "ghost", which the JobSet does not have',
        id="failure of an unknown job",
    ),
    pytest.param(
        [rules({"name": "r", "onJobFailureReasons": ["Bored"]})],
        (
            "failure-reason",
            "spec.failurePolicy.rules[0].onJobFailureReasons[0]",
            ("spec", "failurePolicy", "rules", 0, "onJobFailureReasons", 0),
        ),
        '"Bored" in rule "r" of failurePolicy is not a Job failure reason',
        id="no reason",
    ),
    *(
        pytest.param(
            [rules({"name": name})],
            ("failure-rule-name", "spec.failurePolicy.rules[0].name", ("spec", "failurePolicy", "rules", 0, "name")),
            f"{shown} is not a valid name of a failurePolicy rule: it {fault}",
            id=f"a rule's name that {fault[:20]}",
        )
        for name, shown, fault in (
            ("9lives", '"9lives"', 'starts with "9"'),
            ("a-b", '"a-b"', 'contains "-"'),
            ("a,", '"a,"', 'ends with ","'),
            ("n" * 129, f'"{"n" * 60}..."', "has 129 characters; the limit is 128"),
        )
    ),
    pytest.param(
        [rules({"name": "failurePolicyRule1"}, {})],
        ("failure-rule-name", "spec.failurePolicy.rules[1].name", ("spec", "failurePolicy", "rules", 1, "name")),
        'two rules of failurePolicy are named "failurePolicyRule1"',
        id="a rule named like the default of another",
    ),
    pytest.param(
        [(("spec", "failurePolicy", "restartStrategy"), "InPlaceRestart")],
        ("feature-gate", "spec.failurePolicy.restartStrategy", ("spec", "failurePolicy", "restartStrategy")),
        "restartStrategy InPlaceRestart requires the JobSet feature gate InPlaceRestart, which is off by default",
        id="restart in place",
    ),
    pytest.param(
        [rules({"action": "RestartJobAndIgnoreMaxRestarts"})],
        ("feature-gate", "spec.failurePolicy.rules[0].action", ("spec", "failurePolicy", "rules", 0, "action")),
        "action RestartJobAndIgnoreMaxRestarts requires the JobSet feature gate RestartJob, which is off by default",
        id="restart of one job",
    ),
    *(
        pytest.param(
            [*changes, (("spec", "coordinator"), {"replicatedJob": "node", **coordinator})],
            ("coordinator", f"spec.coordinator.{key}", ("spec", "coordinator", key)),
            f"the coordinator is {message}",
            id=f"the coordinator is {message[:40]}",
        )
        for changes, coordinator, key, message in (
            ([], {"replicatedJob": "nod"}, "replicatedJob", 'a pod of job "nod", which the JobSet does not have'),
            ([], {"jobIndex": 1}, "jobIndex", 'in replica 1 of job "node", which has 1 replica'),
            ([], {"jobIndex": -1}, "jobIndex", 'in replica -1 of job "node", which has 1 replica'),
            ([], {"podIndex": 2}, "podIndex", 'pod 2 of job "node", which has 2 pods'),
            (
                [((*NODE, "template", "spec", "completionMode"), "NonIndexed")],
                {},
                "replicatedJob",
                'a pod of job "node", whose pods have no index',
            ),
        )
    ),
    pytest.param(
        [(("spec", "volumeClaimPolicies"), claims("Data"))],
        ("claim-name", "spec.volumeClaimPolicies[0].template[0].name", CLAIM),
        '"Data" is not a valid name of a volume claim template: it contains uppercase letters',
        id="a claim's name",
    ),
    pytest.param(
        [(("spec", "volumeClaimPolicies"), [*claims("data"), *claims("data")]), ((*POD, "containers"), MOUNTED)],
        (
            "claim-name",
            "spec.volumeClaimPolicies[1].template[0].name",
            ("spec", "volumeClaimPolicies", 1, "templates", 0, "metadata", "name"),
        ),
        'two volume claim templates are named "data"',
        id="one claim in two policies",
    ),
    pytest.param(
        [(("spec", "volumeClaimPolicies"), claims("data"))],
        ("claim-not-mounted", "spec.replicatedJobs", CLAIM),
        'no container mounts volume claim template "data"',
        id="a claim without a mount",
    ),
    pytest.param(
        [
            (("spec", "volumeClaimPolicies"), claims("data")),
            ((*POD, "initContainers"), MOUNTED),
            ((*POD, "volumes"), [{"name": "other"}, {"name": "data"}]),
        ],
        (
            "claim-volume-conflict",
            "spec.replicatedJobs[1].template.spec.template.spec.volumes[1].name",
            (*POD, "volumes", 1, "name"),
        ),
        'volume "data" of job "node" has the name of a volume claim template',
        id="a volume of a claim's name",
    ),
]


@pytest.mark.parametrize(("changes", "where", "message"), REFUSED)
def test_refused(
    changes: list[Any], where: tuple[str, str, tuple[str | int, ...]], message: str, snapshot: SnapshotAssertion
) -> None:
    found = {violation[:4]: violation.help for violation in violations(jobset(*changes), DEFAULT_RELEASE)}
    rule, field, path = where
    assert (path, field, rule, message) in found
    assert found[path, field, rule, message] == snapshot


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([], id="nothing special"),
        pytest.param([((*NODE, "dependsOn"), [{"name": "prepare"}, {"name": "node"}])], id="on itself, too"),
        pytest.param([(("spec", "coordinator"), {"replicatedJob": "node", "podIndex": 1})], id="a coordinator"),
        pytest.param([(("spec", "network", "subdomain"), "a" * 63)], id="a subdomain of 63"),
        pytest.param([(("spec", "managedBy"), "a.io/" + "b" * 58)], id="a manager of 63"),
        pytest.param([rules({"name": "a:b,c_"}, {"name": "n" * 128}, {})], id="names of rules"),
        pytest.param([rules({"onJobFailureReasons": ["PodFailurePolicy"]})], id="a reason"),
        pytest.param([((*NODE, "replicas"), 2**15), ((*NODE, "template", "spec", "parallelism"), 2**15)], id="pods"),
        pytest.param(
            [(("spec", "volumeClaimPolicies"), claims("data")), ((*POD, "initContainers"), MOUNTED)],
            id="a claim that an init container mounts",
        ),
        pytest.param([(("spec", "replicatedJobs"), [])], id="no jobs"),
    ],
)
def test_accepted(changes: list[Any]) -> None:
    assert violations(jobset(*changes), DEFAULT_RELEASE) == []


def test_a_claim_template_without_metadata_is_no_volume() -> None:
    made = jobset((CLAIM[:2], [{"templates": [{"spec": {}}]}]), (("spec", "replicatedJobs"), [stored_job("node")]))
    assert [violation.rule for violation in violations(made, DEFAULT_RELEASE)] == ["claim-name", "claim-not-mounted"]
    assert jobs.claims(made, {"containers": [{"name": "node", "volumeMounts": [{"name": "data"}]}]}) == []
