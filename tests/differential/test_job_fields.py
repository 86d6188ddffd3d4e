"""The fields of a Job that are not its pod's: completions, policies, selectors, labels; against the real code.

A runtime's job is given made-up fields; the oracle says whether the Job that JobSet makes of it is refused, and where.
Needs ORACLE, the program; CRDS is the folder with the structures of the CRDs, where the program does not find it.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from conformance.test_trainer import spelling
from differential.oracle import CRDS, EXAMPLES, PROGRAM, needs_oracle
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

import trainc
from trainc.checks import job as jobs

BATCH = 25
numbers = st.sampled_from([-1, 0, 1, 2, 3, 7, 10_001, 100_000, 100_001])
qualified = st.sampled_from(["DisruptionTarget", "example.com/Gone", "bad key", "", "/x", "a/b/c"])
indexes = st.one_of(
    st.sampled_from(
        ["", "0", "0-4,7", "1,0", "3-1", "0-50", "a", "0,,1", "+1", "01", "0-1-2", "-1", "1 ", "0,0", "2-2"]
    ),
    st.lists(st.integers(0, 12), max_size=4).map(lambda found: ",".join(map(str, found))),
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
@given(st.lists(runtimes(), min_size=1, max_size=BATCH))
@settings(
    max_examples=max(1, EXAMPLES // BATCH * 2),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)
def test_job_fields(batch: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in" / "made").mkdir(parents=True)
        files = [folder / "in" / "made" / f"{index:03}.yaml" for index in range(len(batch))]
        for file, runtime in zip(files, batch, strict=True):
            file.write_text(json.dumps(runtime) + "\n---\n" + json.dumps(JOB))
        options = ["-runs", "1", *(["-crds", CRDS] if CRDS else [])]
        subprocess.run([PROGRAM, *options, str(folder / "out"), *map(str, files)], check=True, capture_output=True)
        for file, runtime in zip(files, batch, strict=True):
            note(json.dumps(runtime["spec"]["template"]["spec"]["replicatedJobs"][0]))
            answer = json.loads((folder / "out" / "made" / file.with_suffix(".json").name).read_text())
            compare(answer, trainc.compile([str(file)]))


def compare(want: dict[str, Any], got: trainc.Compilation) -> None:
    if want["verdict"] != "accepted" and want["stage"] != "job":
        return
    found = {spelling(fault.violation.field) for fault in jobs.faults(got.jobs[0].objects[0])}
    recorded = {spelling(e["field"]) for e in want.get("errors") or () if e.get("field") not in (None, "", "<nil>")}
    assert recorded <= found, (recorded - found, want)
    assert bool(found) == (want["verdict"] != "accepted"), (found, want)
