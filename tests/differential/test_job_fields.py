"""Job fields outside the pod template (completions, policies, selectors, labels), compared with the upstream code.

A runtime's job gets generated fields; the oracle reports the errors of the Job that JobSet creates from it. Needs
ORACLE and CRDS (see oracle.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from conformance.recordings import UNVALIDATED
from conformance.test_trainer import spelling
from differential.comparing import PARTS, Comparison, Documents, Question, Tallied
from differential.one_job import recorded
from differential.oracle import EXAMPLES, needs_oracle
from hypothesis import strategies as st

import trainc
from trainc.compilation.run import Options

numbers = st.sampled_from([-1, 0, 1, 2, 3, 7, 10_001, 100_000, 100_001])
qualified = st.sampled_from(["DisruptionTarget", "example.com/Gone", "bad key", "", "/x", "a/b/c"])
indexes = st.one_of(
    st.sampled_from(
        ["", "0", "0-4,7", "1,0", "3-1", "0-50", "a", "0,,1", "+1", "01", "0-1-2", "-1", "1 ", "0,0", "2-2"]
    ),
    st.lists(st.integers(0, 12), max_size=4).map(lambda indexes: ",".join(map(str, indexes))),
)
words = st.sampled_from(["js", "x", "other", "", "bad value!", "a" * 64])
keys = st.sampled_from(
    [
        "app",
        "job-name",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "batch.kubernetes.io/controller-uid",
        "a b",
        "x/y/z",
    ]
)
strings = st.dictionaries(keys, words, max_size=2)
Fields = st.SearchStrategy[dict[str, Any]]


def fields(required: dict[str, Any], optional: dict[str, Any]) -> Fields:
    return st.fixed_dictionaries(required, optional=optional)


codes = fields(
    {
        "operator": st.sampled_from(["In", "NotIn", "In", "Equals", ""]),
        "values": st.lists(st.sampled_from([0, 1, 2, 42]), max_size=3, unique=True),
    },
    {"containerName": st.sampled_from(["main", "setup", "gone", ""])},
)
conditions = st.lists(
    fields({"type": qualified}, {"status": st.sampled_from(["True", "true", "False", ""])}), max_size=2
)
failure_rules = fields(
    {"action": st.sampled_from(["Count", "FailIndex", "FailJob", "Ignore", "Retry", ""])},
    {"onExitCodes": codes, "onPodConditions": conditions},
)
success_rules = fields({}, {"succeededCount": st.sampled_from([-1, 0, 1, 2, 3, 9]), "succeededIndexes": indexes})
expressions = st.lists(
    fields(
        {"key": keys, "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt"])},
        {"values": st.lists(words, max_size=2)},
    ),
    max_size=1,
)
job_specs = fields(
    {},
    {
        "parallelism": numbers,
        "completions": numbers,
        "completionMode": st.sampled_from(["Indexed", "NonIndexed", "indexed"]),
        "backoffLimit": numbers,
        "backoffLimitPerIndex": numbers,
        "maxFailedIndexes": numbers,
        "activeDeadlineSeconds": numbers,
        "ttlSecondsAfterFinished": numbers,
        "podReplacementPolicy": st.sampled_from(["Failed", "TerminatingOrFailed", "Never"]),
        "managedBy": st.sampled_from(["kueue.x-k8s.io/multikueue", "kueue", "", "a" * 60 + ".io/x", "bad_/x"]),
        "podFailurePolicy": fields({"rules": st.lists(failure_rules, max_size=2)}, {}),
        "successPolicy": fields({"rules": st.lists(success_rules, max_size=2)}, {}),
        "manualSelector": st.booleans(),
        "selector": fields({}, {"matchLabels": strings, "matchExpressions": expressions}),
    },
)
templates = fields(
    {"spec": job_specs},
    {"metadata": fields({}, {"labels": strings, "annotations": strings})},
)


@st.composite
def runtimes(draw: st.DrawFn) -> dict[str, Any]:
    template = draw(templates)
    pod: dict[str, Any] = {
        "restartPolicy": draw(st.sampled_from(["Never", "Never", "OnFailure"])),
        "containers": [{"name": "main", "image": "i:1"}],
        "initContainers": [{"name": "setup", "image": "i:1"}],
    }
    template["spec"]["template"] = {"spec": pod, **draw(fields({}, {"metadata": fields({}, {"labels": strings})}))}
    replicated = [{"name": "node", "template": template, **draw(fields({}, {"replicas": st.sampled_from([0, 1, 2])}))}]
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "r"},
        "spec": {"template": {"spec": {"replicatedJobs": replicated}}},
    }


JOB = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "js", "namespace": "ns"},
    "spec": {"runtimeRef": {"name": "r"}, "trainer": {}},
}


@needs_oracle
@pytest.mark.parametrize("part", PARTS)
def test_job_fields(part: int, tallied: Tallied) -> None:
    tallied(COMPARISON.run(part, EXAMPLES // 4))


def documents(runtime: dict[str, Any]) -> Documents:
    return [runtime, JOB]


def compare(question: Question) -> str:
    want, got = question.answer, trainc.compile([str(question.file)], options=Options(settings=UNVALIDATED))
    stage = str(want.get("stage", want["verdict"]))
    if stage in ("accepted", "job"):
        found = {spelling(d.field) for d in got.diagnostics if d.stage == "job" and d.object.kind == "Job"}
        assert recorded(want) <= found, (recorded(want) - found, want)
        assert bool(found) == (stage == "job"), (found, want)
    return stage


COMPARISON = Comparison(runtimes(), compare, documents)
