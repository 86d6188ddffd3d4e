"""The names that JobSet generates: the longest one, the excess length, and the name to shorten."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.base.releases import DEFAULT_RELEASE
from trainc.pipeline.checks.jobset import violations
from trainc.pipeline.passes.store import with_defaults

JOB_NAME = ("spec", "replicatedJobs", 0, "name")
OWNER = ("metadata", "name")


def jobset(name: str, job: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a JobSet of one job that mounts `data`; `replicas` is for the job, the rest for the JobSet's spec."""
    mounts = {"containers": [{"volumeMounts": [{"name": "data"}]}]}
    replicated = {
        "name": job,
        "groupName": "default",
        "replicas": more.pop("replicas", 1),
        "template": {"spec": {"completionMode": "Indexed", **spec, "template": {"spec": mounts}}},
    }
    return {"metadata": {"name": name}, "spec": with_defaults({"replicatedJobs": [replicated], **more})}


@pytest.mark.parametrize(
    ("name", "job", "spec", "more"),
    [
        pytest.param("j" * 48, "node", {"completions": 10}, {}, id="ten pods"),
        pytest.param("j" * 47, "node", {"completions": 11}, {}, id="eleven pods"),
        pytest.param("j" * 47, "node", {"completions": 10}, {"replicas": 11}, id="eleven replicas"),
        pytest.param("j" * 56, "node", {"completions": 10, "completionMode": "NonIndexed"}, {}, id="pods by chance"),
        pytest.param("j" * 56, "node", {}, {}, id="as many pods as it takes"),
        pytest.param("j" * 26, "node", {}, {"coordinator": {"replicatedJob": "node"}}, id="coordinator"),
        pytest.param(
            "j" * 48,
            "node",
            {"completions": 1},
            {"volumeClaimPolicies": [{"templates": [{"metadata": {"name": "data"}}]}]},
            id="claim",
        ),
    ],
)
def test_fits(name: str, job: str, spec: dict[str, Any], more: dict[str, Any]) -> None:
    assert [
        v for v in violations(jobset(name, job, spec, **more), DEFAULT_RELEASE) if v.rule == "generated-name-too-long"
    ] == []


@pytest.mark.parametrize(
    ("given", "field", "place", "other", "message", "help"),
    [
        pytest.param(
            jobset("j" * 49, "node", {"completions": 10}),
            "spec.replicatedJobs[0].name",
            OWNER,
            ('the name of job "node"', JOB_NAME),
            f'the name of the pod with the highest index in job "node" is {"j" * 49}-node-0-9-xxxxx, '
            "which has 64 characters; the limit is 63",
            "shorten metadata.name by 1 character",
            id="a pod",
        ),
        pytest.param(
            jobset("j" * 57, "node", {"completionMode": "NonIndexed"}, replicas=11),
            "spec.replicatedJobs[0].name",
            OWNER,
            ('the name of job "node"', JOB_NAME),
            f'the name of the Job with the highest index in job "node" is {"j" * 57}-node-10, '
            "which has 65 characters; the limit is 63",
            "shorten metadata.name by 2 characters",
            id="a Job",
        ),
        pytest.param(
            jobset("js", "n" * 60, {"completions": 1}),
            "spec.replicatedJobs[0].name",
            JOB_NAME,
            ("metadata.name", OWNER),
            f'the name of the pod with the highest index in job "{"n" * 60}" is js-{"n" * 60}-0-0-xxxxx, '
            "which has 73 characters; the limit is 63",
            f'shorten the name of job "{"n" * 60}" by 10 characters',
            id="a job's long name",
        ),
        pytest.param(
            jobset("j" * 63, "n", {}, volumeClaimPolicies=[{"templates": [{"metadata": {"name": "data"}}]}]),
            "spec.volumeClaimPolicies[0].template[0].name",
            OWNER,
            (
                'the name of template "data"',
                ("spec", "volumeClaimPolicies", 0, "templates", 0, "metadata", "name"),
            ),
            f"the name of a volume claim is data-{'j' * 63}, which has 68 characters; the limit is 63",
            "shorten metadata.name by 5 characters",
            id="a claim",
        ),
        pytest.param(
            jobset("j" * 28, "node", {}, coordinator={"replicatedJob": "node"}),
            "spec.coordinator",
            OWNER,
            ("the coordinator's job name", ("spec", "coordinator", "replicatedJob")),
            f"the coordinator's host name, a label of all pods, is {'j' * 28}-node-0-0.{'j' * 28}, "
            "which has 66 characters; the limit is 63",
            "shorten metadata.name by 2 characters",
            id="the coordinator, which has the name twice",
        ),
        pytest.param(
            jobset("js", "node", {}, coordinator={"replicatedJob": "node"}, network={"subdomain": "s" * 60}),
            "spec.coordinator",
            ("spec", "network", "subdomain"),
            ("metadata.name", OWNER),
            f"the coordinator's host name, a label of all pods, is js-node-0-0.{'s' * 60}, "
            "which has 72 characters; the limit is 63",
            "shorten the subdomain by 9 characters",
            id="the coordinator below a subdomain",
        ),
    ],
)
def test_does_not_fit(
    given: dict[str, Any], field: str, place: tuple[Any, ...], other: tuple[str, Any], message: str, help: str
) -> None:
    found = [v for v in violations(given, DEFAULT_RELEASE) if v.rule == "generated-name-too-long" and v.field == field]
    assert [(v.path, v.related, v.message, v.help) for v in found] == [(place, (other,), message, help)]
