"""Training Operator v1.9: the fields that its controller sets in the pods of its runtimes, and the ignored ones."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from running import run
from syrupy.assertion import SnapshotAssertion

FIRST = "kubeflow.org/v2alpha1"
DRAFT = "trainer.kubeflow.org/v2alpha1"


def runtime_text(
    policy: str = "torch: {}", container: str = "trainer", job: str = "trainer-node", more: str = ""
) -> str:
    return f"""apiVersion: {FIRST}
kind: ClusterTrainingRuntime
metadata: {{name: r}}
spec:
  mlPolicy: {{{policy}}}
  template:
    spec:
      replicatedJobs:
      - name: initializer
        template:
          spec:
            template:
              spec:
                initContainers:
                - {{name: dataset-initializer, image: d:1, env: [{{name: D, value: "0"}}]}}
                containers: [{{name: done, image: b:1}}]
      - name: {job}
        template:
          spec:
            parallelism: 2
            template:
              spec:
                containers:
                - name: {container}
                  image: i:1
                  env: [{{name: A, value: "0"}}, {{name: B, value: "0"}}]
                  resources: {{limits: {{cpu: 4}}}}
"""


def job_text(spec: str, version: str = FIRST) -> str:
    return f"apiVersion: {version}\nkind: TrainJob\nmetadata: {{name: j}}\nspec:\n  runtimeRef: {{name: r}}\n{spec}"


def built(spec: str, written: str = "", version: str = FIRST) -> tuple[dict[str, Any], str]:
    """Return the replicated jobs' templates by name, and the messages."""
    done = run("build", "-", stdin=f"{written or runtime_text()}---\n{job_text(spec, version)}".encode())
    assert done.code == 0, done.err
    jobset = yaml.safe_load(done.out)
    return {job["name"]: job["template"]["spec"] for job in jobset["spec"]["replicatedJobs"]}, done.err


def trainer(jobs: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = jobs["trainer-node"]["template"]["spec"]["containers"][0]
    return found


def variables(container: dict[str, Any]) -> dict[str, Any]:
    return {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in container["env"]}


@pytest.mark.parametrize(
    ("spec", "field", "value"),
    [
        pytest.param("image: x:2", "image", "x:2", id="image"),
        pytest.param("command: [a], args: [b]", "command", ["a"], id="command"),
        pytest.param("args: [b]", "args", ["b"], id="args"),
        pytest.param(
            "resourcesPerNode: {requests: {memory: 1Gi}}",
            "resources",
            {"requests": {"memory": "1Gi"}},
            id="the resources are replaced",
        ),
    ],
)
def test_a_field_of_the_trainer_is_written(spec: str, field: str, value: Any) -> None:
    jobs, _ = built(f"  trainer: {{{spec}}}")
    assert trainer(jobs)[field] == value


@pytest.mark.parametrize(
    ("policy", "spec", "name", "value"),
    [
        pytest.param("torch: {}", "", "PET_NPROC_PER_NODE", "auto", id="auto, although there are no GPUs"),
        pytest.param("torch: {numProcPerNode: '8'}", "", "PET_NPROC_PER_NODE", "8", id="the runtime's processes"),
        pytest.param("torch: {}", "numProcPerNode: '4'", "PET_NPROC_PER_NODE", "4", id="the TrainJob's"),
        pytest.param("torch: {}", "numProcPerNode: '04'", "PET_NPROC_PER_NODE", "04", id="as it is written"),
        pytest.param("torch: {}", "numProcPerNode: cpu", "PET_NPROC_PER_NODE", "cpu", id="a word"),
        pytest.param("torch: {}", "numProcPerNode: many", "PET_NPROC_PER_NODE", "many", id="any word"),
        pytest.param("torch: {}", "numNodes: 3", "PET_NNODES", "3", id="nodes"),
        pytest.param("numNodes: 3, torch: {}", "", "PET_NNODES", "3", id="the runtime's nodes"),
        pytest.param("torch: {}", "", "PET_MASTER_ADDR", "j-trainer-node-0-0.j", id="the rendezvous endpoint"),
        pytest.param("torch: {}", "env: [{name: A, value: '1'}]", "A", "1", id="over the runtime's"),
        pytest.param("torch: {}", "env: [{name: PET_NNODES, value: '9'}]", "PET_NNODES", "1", id="below torch's"),
        pytest.param("torch: {}", "env: [{name: C, valueFrom: {fieldRef: {fieldPath: a}}}]", "C", None, id="a source"),
        pytest.param("numNodes: 2", "env: [{name: A, value: '1'}]", "A", "1", id="without torch"),
    ],
)
def test_a_variable_is_written(policy: str, spec: str, name: str, value: str | None) -> None:
    jobs, _ = built(f"  trainer: {{{spec}}}", runtime_text(policy))
    assert variables(trainer(jobs))[name] == value


@pytest.mark.parametrize(
    ("policy", "spec", "count"),
    [
        pytest.param("torch: {}", "numNodes: 3", 3, id="the TrainJob's nodes"),
        pytest.param("numNodes: 4", "", 4, id="the runtime's"),
        pytest.param("torch: {}", "", 1, id="one"),
        pytest.param("mpi: {}", "numNodes: 3", 1, id="one with a policy that is not implemented"),
    ],
)
def test_the_nodes_are_counted(policy: str, spec: str, count: int) -> None:
    jobs, _ = built(f"  trainer: {{{spec}}}", runtime_text(policy))
    assert jobs["trainer-node"]["parallelism"] == count


def test_an_init_container_gets_the_data() -> None:
    config = "storageUri: hf://a, env: [{name: D, value: '1'}], secretRef: {name: s}"
    jobs, messages = built(f"  datasetConfig: {{{config}}}")
    (fetcher,) = jobs["initializer"]["template"]["spec"]["initContainers"]
    assert fetcher["env"] == [{"name": "STORAGE_URI", "value": "hf://a"}, {"name": "D", "value": "1"}]
    assert fetcher["envFrom"] == [{"secretRef": {"name": "s"}}]
    assert "warning" not in messages


@pytest.mark.parametrize(
    ("written", "spec", "field"),
    [
        pytest.param("", "trainer: {env: [{name: PET_NNODES, value: '9'}]}", "spec.trainer.env[0].name", id="reserved"),
        pytest.param(
            "",
            "trainer: {env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}",
            "spec.trainer.env[0].valueFrom",
            id="a source",
        ),
        pytest.param(
            "", "modelConfig: {input: {storageUri: hf://a}}", "spec.modelConfig.input", id="no init container"
        ),
        pytest.param(runtime_text("mpi: {}"), "trainer: {numNodes: 3}", "spec.trainer.numNodes", id="another policy"),
        pytest.param(runtime_text("mpi: {}"), "", "spec.mlPolicy.mpi", id="the policy itself"),
        pytest.param(
            runtime_text("torch: {elasticPolicy: {minNodes: 1}}"), "", "spec.mlPolicy.torch.elasticPolicy", id="elastic"
        ),
        pytest.param(
            runtime_text(container="node"), "trainer: {image: x:2}", "spec.trainer", id="no container trainer"
        ),
        pytest.param(
            "",
            "podSpecOverrides: [{targetJobs: [{name: x}], containers: [{name: trainer, command: [a]}]}]",
            "spec.podSpecOverrides",
            id="overrides",
        ),
    ],
)
def test_a_field_that_the_release_ignores_is_reported(
    written: str, spec: str, field: str, snapshot: SnapshotAssertion
) -> None:
    jobs, messages = built(f"  {spec}", written)
    [reported] = re.findall(rf": ({re.escape(field)} has no effect in Training Operator v1.9.*\n.*)", messages)
    assert reported == snapshot
    assert trainer(jobs)["image"] == "i:1"


@pytest.mark.parametrize(
    ("written", "version"),
    [
        pytest.param(runtime_text(job="node", container="trainer"), FIRST, id="another job"),
        pytest.param(runtime_text().replace(FIRST, "trainer.kubeflow.org/v1alpha1"), FIRST, id="another apiVersion"),
    ],
)
def test_names_have_no_effect_with_another_api_version_or_job(written: str, version: str) -> None:
    written = written.replace("- name: initializer", "- name: init")
    done = run("build", "-", stdin=f"{written}---\n{job_text('  trainer: {image: x:2}', version)}".encode())
    assert "x:2" not in done.out
    assert "warning[trainer-missing]: spec.trainer has no effect (image)" in done.err


def test_labels_take_precedence_over_names() -> None:
    labelled = runtime_text(container="node").replace(
        "      - name: trainer-node\n        template:\n",
        "      - name: trainer-node\n        template:\n"
        "          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}\n",
    )
    jobs, messages = built("  trainer: {image: x:2, resourcesPerNode: {requests: {cpu: 2}}}", labelled)
    assert trainer(jobs)["image"] == "x:2"
    assert trainer(jobs)["resources"] == {"limits": {"cpu": "4"}, "requests": {"cpu": "2"}}
    assert "warning" not in messages


def test_the_documentation_s_group_is_read_alike() -> None:
    spec = "  trainer: {numProcPerNode: '4', numNodes: 2}"
    first, _ = built(spec)
    draft, messages = built(spec, runtime_text().replace(FIRST, DRAFT), DRAFT)
    assert draft == first
    assert f"note[older-dialect]: no release serves apiVersion {DRAFT}" in messages
    assert f"note[older-runtime]: no release serves apiVersion {DRAFT}" in messages
