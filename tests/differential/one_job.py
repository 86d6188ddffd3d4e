"""One Job: a made-up template in a runtime that nothing is done to, answered by trainc and by the real code.

Reads    a pod template, and what the JobSet has beside its job.
Returns  the documents to ask about; what the real code's answer and `checks.job` have in common: the refused fields.
         What is refused before there is a Job is refused by both; where, other tests compare.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.recordings import UNVALIDATED
from conformance.test_trainer import spelling
from differential.comparing import Answer, Documents, Question

import trainc
from trainc.checks import job
from trainc.checks.jobset import RELEASE
from trainc.kubernetes.gotypes import typed
from trainc.kubernetes.structural import load
from trainc.passes.store import with_defaults

API: Final = "trainer.kubeflow.org/v1alpha1"
NO_FIELD: Final = {None, "", "<nil>"}

Template = dict[str, Any]


def documents(template: Template, **beside: Any) -> Documents:
    """The runtime that has the pod, and the smallest TrainJob on it; `beside` is the rest of the JobSet's spec."""
    spec = {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": template}}}], **beside}
    runtime = {"metadata": {"name": "r"}, "spec": {"template": {"spec": spec}}}
    trainjob = {
        "metadata": {"name": "j", "namespace": "ns"},
        "spec": {"runtimeRef": {"name": "r"}, "trainer": {}},
    }
    return [
        {"apiVersion": API, "kind": "ClusterTrainingRuntime", **runtime},
        {"apiVersion": API, "kind": "TrainJob", **trainjob},
    ]


def compare(question: Question) -> str:
    """The stage, when the answers agree; the JobSet is the runtime's as it is."""
    want, runtime = question.answer, question.documents[0]
    stage = str(want.get("stage", want["verdict"]))
    if stage not in ("accepted", "job"):
        assert trainc.compile([str(question.file)], settings=UNVALIDATED).failed, want
        return stage
    assert refused(runtime["spec"]["template"]["spec"]) == recorded(want), want
    return stage


def refused(spec: dict[str, Any]) -> set[str]:
    """The fields of the Job that trainc refuses."""
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j", "namespace": "ns"},
        "spec": spec,
    }
    admitted = load("JobSet", RELEASE).admit(jobset)
    assert not admitted.violations
    stored = jobset | {"spec": typed(with_defaults(admitted.value["spec"]))}
    return {spelling(fault.violation.field) for fault in job.faults(stored) if fault.object.kind == "Job"}


def recorded(answer: Answer) -> set[str]:
    """The fields that the cluster names."""
    return {spelling(error["field"]) for error in answer.get("errors") or () if error.get("field") not in NO_FIELD}
