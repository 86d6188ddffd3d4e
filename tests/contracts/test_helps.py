"""The hints of common mistakes: each shows the value, and applied literally, it gives an input without problems."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import trainc
from trainc.base.data import lint_rules

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: ml, labels: {team: nlp}}
spec:
"""
REFERENCE = "  runtimeRef: {name: torch-distributed}\n"


class Row(NamedTuple):
    """A mistake in the spec of a TrainJob, its only diagnostic, and the spec after the hint."""

    wrong: str
    help: str
    right: str
    settings: str = ""
    """The trainc.yaml after the hint."""
    id: str = "unknown-field"


def trainer(text: str) -> str:
    return f"{REFERENCE}  trainer: {{{text}}}\n"


def patched(tree: str) -> str:
    return f"runtimePatches: [{{manager: example.com/me, trainingRuntimeSpec: {tree}}}]"


def pod(tree: str) -> str:
    return template(replicated_job(f"{{template: {{spec: {tree}}}}}"))


def template(tree: str) -> str:
    return f"{{template: {{spec: {tree}}}}}"


def jobset(tree: str) -> str:
    return f"patches: [{{target: {{kind: JobSet, name: a}}, patch: {{spec: {tree}}}}}]"


def replicated_job(tree: str) -> str:
    return f"{{replicatedJobs: [{{name: node, template: {{spec: {tree}}}}}]}}"


def container_patch(tree: str) -> str:
    return replicated_job(f"{{template: {{spec: {{containers: [{{name: node, {tree}}}]}}}}}}")


def only_elsewhere(field: str, patch: str) -> str:
    path = f"a TrainJob cannot set it: set spec.template.spec.{field} in the runtime"
    return f"{path}, or patch the JobSet in trainc.yaml: `{jobset(patch)}`"


CONTAINER = "replicatedJobs[node].template.spec.template.spec.containers[node]"
ENV = 'env: [{name: LR, value: "0.1"}]'
SECRET = "env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]"
GPUS = "resourcesPerNode: {limits: {nvidia.com/gpu: 8}}"
SELECTOR = patched(pod("{nodeSelector: {a: b}}"))
ROWS = {
    "variable as a string": Row(
        trainer("env: [LR=0.1]"), 'use {name: LR, value: "0.1"}', trainer(ENV), id="wrong-type"
    ),
    "variable as a field": Row(trainer('env: [{LR: "0.1"}]'), 'use {name: LR, value: "0.1"}', trainer(ENV)),
    "variable with a number": Row(
        trainer("env: [{LR: 0.10}]"), 'use {name: LR, value: "0.10"}', trainer('env: [{name: LR, value: "0.10"}]')
    ),
    "variables as fields": Row(
        trainer('env: {LR: "0.1"}'), 'use a list: [{name: LR, value: "0.1"}]', trainer(ENV), id="wrong-type"
    ),
    "source of a variable": Row(
        trainer("env: [{name: A, secretKeyRef: {name: s, key: k}}]"),
        "set it in valueFrom: `valueFrom: {secretKeyRef: {name: s, key: k}}`",
        trainer(SECRET),
    ),
    "secret of a variable": Row(
        trainer("env: [{name: A, valueFrom: {secretKeyRef: {secret: s, key: k}}}]"),
        "did you mean name?",
        trainer(SECRET),
    ),
    "GPUs beside limits": Row(
        trainer("resourcesPerNode: {nvidia.com/gpu: 8}"),
        "set it in limits: `limits: {nvidia.com/gpu: 8}`",
        trainer(GPUS),
    ),
    "GPUs by a word": Row(
        trainer("resourcesPerNode: {gpu: 8}"), "set it in limits: `limits: {nvidia.com/gpu: 8}`", trainer(GPUS)
    ),
    "GPUs of the trainer": Row(
        trainer("gpus: 8"),
        "set it in resourcesPerNode.limits: `resourcesPerNode: {limits: {nvidia.com/gpu: 8}}`",
        trainer(GPUS),
    ),
    "resources": Row(
        trainer("resources: {limits: {nvidia.com/gpu: 8}}"), "did you mean resourcesPerNode?", trainer(GPUS)
    ),
    "replicas": Row(trainer("replicas: 2"), "did you mean numNodes?", trainer("numNodes: 2")),
    "envFrom": Row(
        trainer("envFrom: [{secretRef: {name: s}}]"),
        only_elsewhere(f"{CONTAINER}.envFrom", container_patch("envFrom: [{secretRef: {name: s}}]")),
        REFERENCE,
        jobset(container_patch("envFrom: [{secretRef: {name: s}}]")),
    ),
    "imagePullPolicy": Row(
        trainer("imagePullPolicy: Always"),
        only_elsewhere(f"{CONTAINER}.imagePullPolicy", container_patch("imagePullPolicy: Always")),
        REFERENCE,
        jobset(container_patch("imagePullPolicy: Always")),
    ),
    "workdir": Row(
        trainer("workdir: /x"),
        only_elsewhere(f"{CONTAINER}.workingDir", container_patch("workingDir: /x")),
        REFERENCE,
        jobset(container_patch("workingDir: /x")),
    ),
    "schedulerName": Row(
        f"{REFERENCE}  schedulerName: s\n",
        only_elsewhere(
            "replicatedJobs[node].template.spec.template.spec.schedulerName",
            replicated_job("{template: {spec: {schedulerName: s}}}"),
        ),
        REFERENCE,
        jobset(replicated_job("{template: {spec: {schedulerName: s}}}")),
    ),
    "template": Row(
        f"{REFERENCE}  template: {{spec: {{nodeSelector: {{a: b}}}}}}\n",
        f"set it in spec.runtimePatches: `{SELECTOR}`",
        f"{REFERENCE}  {SELECTOR}\n",
    ),
    "template of a field that no patch has": Row(
        f"{REFERENCE}  template: {{spec: {{hostNetwork: true}}}}\n",
        only_elsewhere(
            "replicatedJobs[node].template.spec.template", replicated_job("{template: {spec: {hostNetwork: true}}}")
        ),
        REFERENCE,
        jobset(replicated_job("{template: {spec: {hostNetwork: true}}}")),
    ),
    "ttlSecondsAfterFinished": Row(
        f"{REFERENCE}  ttlSecondsAfterFinished: 100\n",
        only_elsewhere("ttlSecondsAfterFinished", "{ttlSecondsAfterFinished: 100}"),
        REFERENCE,
        jobset("{ttlSecondsAfterFinished: 100}"),
    ),
    "backoffLimit": Row(
        f"{REFERENCE}  backoffLimit: 3\n",
        only_elsewhere("replicatedJobs[node].template.spec.backoffLimit", replicated_job("{backoffLimit: 3}")),
        REFERENCE,
        jobset(replicated_job("{backoffLimit: 3}")),
    ),
    "runPolicy": Row(
        f"{REFERENCE}  runPolicy: {{cleanPodPolicy: None, backoffLimit: 3}}\n",
        "remove cleanPodPolicy, set spec.template.spec.replicatedJobs[node].template.spec.backoffLimit in the runtime, "
        f"or patch the JobSet in trainc.yaml: `{jobset(replicated_job('{backoffLimit: 3}'))}`",
        REFERENCE,
        jobset(replicated_job("{backoffLimit: 3}")),
    ),
    "runPolicy without a home": Row(
        f"{REFERENCE}  runPolicy: {{cleanPodPolicy: None}}\n",
        "remove runPolicy: a JobSet deletes its running pods when it ends",
        REFERENCE,
    ),
    "nodeSelector one level too high": Row(
        f"{REFERENCE}  {patched(template(replicated_job('{nodeSelector: {a: b}}')))}\n",
        "set it in template.spec: `template: {spec: {nodeSelector: {a: b}}}`",
        f"{REFERENCE}  {SELECTOR}\n",
    ),
    "apiVersion of a runtime": Row(
        "  runtimeRef: {name: torch-distributed, apiVersion: trainer.kubeflow.org/v1alpha1}\n",
        "use `apiGroup: trainer.kubeflow.org`",
        "  runtimeRef: {name: torch-distributed, apiGroup: trainer.kubeflow.org}\n",
    ),
    "runtimeref": Row("  runtimeref: {name: torch-distributed}\n", "did you mean runtimeRef?", REFERENCE),
    "modelConfig with a number": Row(
        "  runtimeRef: {name: torch-with-initializers}\n"
        "  modelConfig: {input: {storageUri: hf://a/b}}\n"
        "  trainer: {numProcPerNode: 8}\n",
        'write `initializer: {model: {storageUri: "hf://a/b"}}` instead of modelConfig, which makes it a TrainJob of '
        "Training Operator v1.9; a Trainer v2.3 TrainJob has a number",
        "  runtimeRef: {name: torch-with-initializers}\n"
        "  initializer: {model: {storageUri: hf://a/b}}\n"
        "  trainer: {numProcPerNode: 8}\n",
        id="wrong-type",
    ),
    "both overrides": Row(
        f"{REFERENCE}  podSpecOverrides: [{{targetJobs: [{{name: node}}], nodeSelector: {{a: b}}}}]\n"
        "  podTemplateOverrides: [{targetJobs: [{name: node}], spec: {nodeSelector: {a: b}}}]\n",
        "use the Trainer v2.3 field: runtimePatches",
        f"{REFERENCE}  {SELECTOR}\n",
        id="mixed-dialects",
    ),
}


class Fault(NamedTuple):
    """A mistake in trainc.yaml or between the TrainJob and its runtime, its only diagnostic, and the files after it."""

    wrong: str
    settings: str
    id: str
    at: str
    message: str
    help: str
    right: str
    right_settings: str


def operation(op: str, path: str) -> str:
    return f"patches: [{{target: {{kind: JobSet}}, patch: [{{op: {op}, path: {path}, value: 100}}]}}]\n"


def target(selector: str) -> str:
    return f"patches: [{{target: {{labelSelector: {selector}}}, patch: {{spec: {{suspend: true}}}}}}]\n"


FAULTS = {
    "operation that adds a misspelt field": Fault(
        REFERENCE,
        operation("add", "/spec/ttlSecondAfterFinished"),
        "unknown-field",
        "trainc.yaml:1:66",
        "unknown field spec.ttlSecondAfterFinished in JobSet",
        "did you mean ttlSecondsAfterFinished?",
        REFERENCE,
        operation("add", "/spec/ttlSecondsAfterFinished"),
    ),
    "operation that replaces a misspelt field": Fault(
        REFERENCE,
        operation("replace", "/spec/ttlSecondAfterFinished"),
        "patch-failed",
        "trainc.yaml:1:70",
        'patch 1 of trainc.yaml cannot be applied: /spec has no field "ttlSecondAfterFinished"',
        "did you mean ttlSecondsAfterFinished? Use op: add to create it",
        REFERENCE,
        operation("add", "/spec/ttlSecondsAfterFinished"),
    ),
    "selector as a mapping": Fault(
        REFERENCE,
        target("{team: nlp}"),
        "wrong-type",
        "trainc.yaml:1:36",
        "labelSelector must be a string, not a mapping",
        'use "team=nlp"',
        REFERENCE,
        target('"team=nlp"'),
    ),
    "limit below the requests of two jobs": Fault(
        "  runtimeRef: {name: openmpi-distributed}\n  trainer: {resourcesPerNode: {limits: {memory: 8Gi}}}\n",
        "{}\n",
        "request-above-limit",
        "job.yaml:6:49",
        "request of 16Gi memory exceeds the limit of 8Gi, in the jobs launcher and node",
        "set the request, too: `requests: {memory: 8Gi}` beside limits; or raise the limit",
        "  runtimeRef: {name: openmpi-distributed}\n"
        "  trainer: {resourcesPerNode: {limits: {memory: 8Gi}, requests: {memory: 8Gi}}}\n",
        "{}\n",
    ),
}


def problems(folder: Path) -> list[trainc.Diagnostic]:
    found = trainc.compile(
        [folder / "job.yaml"], options=trainc.Options(config=str(folder / "trainc.yaml"))
    ).diagnostics
    return [each for each in found if each.severity in ("error", "warning") and each.id not in lint_rules()]


@pytest.mark.parametrize("name", ROWS)
def test_the_hint_of_a_mistake_is_right(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    job, settings = tmp_path / "job.yaml", tmp_path / "trainc.yaml"
    settings.write_text("{}\n")
    job.write_text(JOB + row.wrong)
    (found,) = problems(tmp_path)
    assert (found.id, found.help) == (row.id, row.help)
    job.write_text(JOB + row.right)
    settings.write_text(row.settings + "\n" if row.settings else "{}\n")
    assert not problems(tmp_path)


@pytest.mark.parametrize("name", FAULTS)
def test_the_hint_of_a_fault_in_several_files_is_right(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    job, settings = tmp_path / "job.yaml", tmp_path / "trainc.yaml"
    settings.write_text(fault.settings)
    job.write_text(JOB + fault.wrong)
    (found,) = problems(tmp_path)
    at = str(found.locate()).removeprefix(f"{tmp_path}/")
    assert (found.id, at, found.message, found.help) == (fault.id, fault.at, fault.message, fault.help)
    job.write_text(JOB + fault.right)
    settings.write_text(fault.right_settings)
    assert not problems(tmp_path)


def test_other_faults_of_an_unknown_field_are_reported_if_it_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "trainc.yaml").write_text("fieldValidation: warn\n")
    (tmp_path / "job.yaml").write_text(JOB + "  runtimeref: {name: torch-distributed}\n")
    assert [found.id for found in problems(tmp_path)] == ["required", "unknown-field"]
