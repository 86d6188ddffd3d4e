"""JobSet's webhook and its Jobs: generated runtimes with all fields that it checks, compared with the upstream code.

A case is a small TrainJob and a runtime whose JobSet has random dependencies, policies, a coordinator, claims,
exclusive placement and names near their limits. The verdict, the stage and the error fields are compared: trainc must
report each of the cluster's fields, and no other field if all of the cluster's errors have one. Needs ORACLE (see
oracle.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from conformance.recordings import UNVALIDATED
from conformance.test_trainer import STAGES, spelling
from differential.comparing import PARTS, Comparison, Question, Tallied
from differential.one_job import NO_FIELD, recorded
from differential.oracle import EXAMPLES, needs_oracle
from hypothesis import strategies as st

import trainc
from trainc.compilation.run import Options

CHECKED = {"schema", "runtime", "trainjob", "jobset-schema", "jobset"}
"""The stages whose errors have precise fields, besides `job`."""
BEYOND = {"Pod", "PersistentVolumeClaim"}
"""The kinds that the oracle does not validate."""

Fields = st.SearchStrategy[dict[str, Any]]


def fields(required: dict[str, Any], optional: dict[str, Any]) -> Fields:
    return st.fixed_dictionaries(required, optional=optional)


def rarely(usual: list[Any], odd: list[Any]) -> st.SearchStrategy[Any]:
    """Draw mostly usual values, so that most of a case is valid."""
    return st.sampled_from([*usual * max(1, 4 * len(odd) // len(usual)), *odd])


ODD_LABELS = ["", "A", "a_b", "a.b", "1a", "a-", "-a", "é", "a" * 63, "a" * 64, "g" * 90, "a b"]
job_names = st.sampled_from(["prepare", "evaluate", "a" * 20, "E", "b-", "1", "c.d", "x" * 50, "x" * 64, "é"])
known = rarely(["node", "prepare", "evaluate"], ["ghost", "", "Node"])
numbers = rarely([0, 1], [2, 3, -1])
mounts = st.lists(st.sampled_from(["data", "ckpt", "d" * 30, "a.b"]), max_size=2, unique=True).map(
    lambda names: [{"name": name, "mountPath": f"/{index}"} for index, name in enumerate(names)]
)
volumes = st.lists(st.sampled_from(["data", "ckpt", "other"]), max_size=1).map(
    lambda names: [{"name": name, "emptyDir": {}} for name in names]
)
job_specs = fields(
    {},
    {
        "completionMode": rarely(["Indexed"], ["NonIndexed"]),
        "completions": st.sampled_from([0, 1, 2, 10, 11, 1000]),
        "parallelism": rarely([1, 2], [0, 2**31 - 1]),
    },
)
claims = fields(
    {"metadata": fields({}, {"name": rarely(["data", "ckpt"], ["Bad_Name", "d" * 30, "d" * 64, "a.b", ""])})},
    {"spec": st.just({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})},
)
claim_policies = fields(
    {"templates": st.lists(claims, max_size=2)},
    {"retentionPolicy": fields({}, {"whenDeleted": st.sampled_from(["Retain", "Delete"])})},
)
rules = fields(
    {"action": rarely(["FailJobSet", "RestartJobSet"], ["RestartJob", "RestartJobAndIgnoreMaxRestarts", "Stop"])},
    {
        "name": rarely(["one", "two_", "failurePolicyRule1"], ["9", "a,", "", "a b", "n" * 128, "n" * 129, "one\n"]),
        "targetReplicatedJobs": st.lists(known, max_size=2),
        "onJobFailureReasons": st.lists(rarely(["PodFailurePolicy", "DeadlineExceeded"], ["Bored", ""]), max_size=2),
    },
)
spec_fields = {
    "network": fields(
        {},
        {"subdomain": rarely(["net", "n" * 20], ODD_LABELS), "enableDNSHostnames": st.booleans()},
    ),
    "managedBy": rarely(["a.io/b"], ["", "nobody", "A/b", "a.io/", "/b", "a.io/b/c", "a.io/" + "b" * 60, "a.io/%zz"]),
    "successPolicy": fields(
        {"operator": st.sampled_from(["All", "Any"])}, {"targetReplicatedJobs": st.lists(known, max_size=2)}
    ),
    "failurePolicy": fields(
        {},
        {
            "restartStrategy": rarely(["Recreate", "BlockingRecreate"], ["InPlaceRestart"]),
            "rules": st.lists(rules, max_size=3),
            "maxRestarts": numbers,
        },
    ),
    "coordinator": fields({"replicatedJob": known}, {"jobIndex": numbers, "podIndex": numbers}),
    "startupPolicy": fields({"startupPolicyOrder": st.sampled_from(["AnyOrder", "AnyOrder", "InOrder"])}, {}),
    "volumeClaimPolicies": st.lists(claim_policies, max_size=2),
}
placement = fields(
    {},
    {
        "alpha.jobset.sigs.k8s.io/exclusive-topology": st.just("rack"),
        "alpha.jobset.sigs.k8s.io/node-selector": st.sampled_from(["true", ""]),
    },
)
depends = st.lists(fields({"name": known, "status": st.sampled_from(["Ready", "Complete"])}, {}), max_size=2)


@st.composite
def replicated_jobs(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = draw(st.lists(st.one_of(st.sampled_from(["prepare", "evaluate"]), job_names), max_size=2, unique=True))
    found.insert(draw(st.integers(0, len(found))), "node")
    jobs = []
    for name in found:
        pod: dict[str, Any] = {"containers": [{"name": "node", "image": "i:1", "volumeMounts": draw(mounts)}]}
        if draw(st.booleans()):
            pod["initContainers"] = [{"name": "setup", "image": "i:1", "volumeMounts": draw(mounts)}]
        if draw(st.integers(0, 3)) == 0:
            pod["volumes"] = draw(volumes)
        job_template: dict[str, Any] = {"spec": {**draw(job_specs), "template": {"spec": pod}}}
        if draw(st.integers(0, 3)) == 0:
            job_template["metadata"] = {"annotations": draw(placement)}
        job = {"name": name, "template": job_template}
        job.update(
            draw(
                fields(
                    {},
                    {
                        "groupName": rarely(["default", "a"], ODD_LABELS),
                        "replicas": rarely([1, 2, 11], [-1, 0, 1000, 1025]),
                        "dependsOn": depends,
                    },
                )
            )
        )
        jobs.append(job)
    return jobs


@st.composite
def cases(draw: st.DrawFn) -> list[dict[str, Any]]:
    few = draw(st.lists(st.sampled_from(sorted(spec_fields)), max_size=3, unique=True))
    spec = {"replicatedJobs": draw(replicated_jobs()), **{key: draw(spec_fields[key]) for key in few}}
    template = {"metadata": {"annotations": draw(placement)}, "spec": spec}
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "r"},
        "spec": {"mlPolicy": {"numNodes": 1}, "template": template},
    }
    if draw(st.booleans()):
        for job in spec["replicatedJobs"]:
            if job["name"] == "node":
                job.pop("replicas", None)
                labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
                job["template"].setdefault("metadata", {})["labels"] = labels
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {
            "name": "j" * draw(rarely([1, 4, 20], [*range(44, 54), 58, 63])),
            "namespace": draw(rarely(["ns"], ["n" * 30, "n" * 40])),
        },
        "spec": {"runtimeRef": {"name": "r"}, "trainer": draw(fields({}, {"numNodes": rarely([1, 2], [11, 1000])}))},
    }
    return [runtime, job]


@needs_oracle
@pytest.mark.parametrize("part", PARTS)
def test_jobsets(part: int, tallied: Tallied) -> None:
    tallied(COMPARISON.run(part, EXAMPLES // 4))


def compare(question: Question) -> str:
    want, got = question.answer, trainc.compile([str(question.file)], options=Options(settings=UNVALIDATED))
    errors = [d for d in got.diagnostics if d.severity == "error" and d.object.kind not in BEYOND]
    stage = STAGES.get(want.get("stage", ""), want.get("stage", ""))
    if stage == "job":
        assert {d.stage for d in errors} == {"job"}, want
        assert {spelling(d.field) for d in errors} == recorded(want), want
        return stage
    mine = {d.field for d in errors if d.stage == stage}
    if stage not in CHECKED:
        assert [d for d in errors if d.stage in CHECKED or d.stage == "job"] == [], want
        return stage or "accepted"
    theirs = [e.get("field") for e in want["errors"]]
    assert mine, want
    assert not got.objects
    if stage == "jobset":
        assert {d.stage for d in errors} <= {"jobset", "job"}, want
        named = {field for field in theirs if field not in NO_FIELD}
        assert named <= mine, want
        assert mine - named == set() or len(named) < len(set(theirs)), want
    return stage


COMPARISON = Comparison(cases(), compare)
