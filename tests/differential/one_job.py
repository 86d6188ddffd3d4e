"""A single Job: a generated template in an otherwise unchanged runtime, answered by trainc and by the upstream code.

Reads    a pod template, and the JobSet's other fields.
Returns  the documents to compare, and the common result of the upstream code and `checks.job`: the rejected fields.
         Both must reject a case that fails before there is a Job; other tests compare the fields of those errors.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.recordings import UNVALIDATED
from conformance.test_trainer import spelling
from differential.comparing import Answer, Documents, Question

import trainc
from trainc.base.releases import DEFAULT_RELEASE
from trainc.compilation.run import Options
from trainc.kubernetes.gotypes import as_go_type
from trainc.kubernetes.structural import load
from trainc.pipeline.checks import created_jobs
from trainc.pipeline.passes.store import with_defaults

API: Final = "trainer.kubeflow.org/v1alpha1"
NO_FIELD: Final = {None, "", "<nil>"}

Template = dict[str, Any]


def documents(template: Template, **others: Any) -> Documents:
    """Return a runtime with the pod and a minimal TrainJob; `others` are the other fields of the JobSet's spec."""
    spec = {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": template}}}], **others}
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
    """Return the stage if the answers agree; the JobSet is the runtime's, unchanged."""
    want, runtime = question.answer, question.documents[0]
    stage = str(want.get("stage", want["verdict"]))
    if stage not in ("accepted", "job"):
        assert trainc.compile([str(question.file)], options=Options(settings=UNVALIDATED)).failed, want
        return stage
    assert refused(runtime["spec"]["template"]["spec"]) == recorded(want), want
    return stage


def refused(spec: dict[str, Any]) -> set[str]:
    """Return the fields of the Job that trainc rejects."""
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j", "namespace": "ns"},
        "spec": spec,
    }
    admitted = load("JobSet", DEFAULT_RELEASE.jobset).admit(jobset)
    assert not admitted.violations
    stored = jobset | {"spec": as_go_type(with_defaults(admitted.value["spec"]))}
    return {spelling(fault.violation.field) for fault in created_jobs.faults(stored) if fault.object.kind == "Job"}


def recorded(answer: Answer) -> set[str]:
    """Return the fields in the cluster's errors."""
    return {spelling(error["field"]) for error in answer.get("errors") or () if error.get("field") not in NO_FIELD}
