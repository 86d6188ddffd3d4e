"""Whole jobs: generated runtimes and TrainJobs, and valid ones with faults, answered by trainc and the upstream code.

If the cluster accepts a case, trainc must return the same objects. If it rejects or fails a case, trainc must report an
error at each field in the cluster's errors, or an error of the same stage if there is no field. The inputs avoid the
deliberate differences (docs/differences.md): there is a trainer, ports have names, the trainer job is called `node`
(with MPI, which has no rendezvous, also `launcher`), no job requests two kinds of GPU, and the TrainJob has a namespace
and no labels. If faults lead to a difference anyway, the tally shows it. Open MPI 5's variables and the texts of Flux'
scripts are ignored; XGBoost's variables may have any order, because the controller's order is random. Needs ORACLE and
CRDS (see oracle.py).
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from conformance.recordings import UNVALIDATED, are_equal
from conformance.test_trainer import STAGES, meaning, spelling, without_scripts
from differential import faults, sound
from differential.comparing import PARTS, Comparison, Documents, Question, Tallied
from differential.one_job import recorded
from differential.oracle import EXAMPLES, needs_oracle
from hypothesis import strategies as st
from purposes import internal

import trainc
from trainc.compilation import Compilation
from trainc.compilation.run import Options
from trainc.emit import objects_of_a_job

PRIORITY_CLASS = "spec.templatespec.priorityclassname"
"""The cluster's objects are not known offline: difference others-exist."""
BEYOND = {"Pod", "PersistentVolumeClaim", "PodGroup"}
"""The kinds that the oracle does not validate."""
PORT = re.compile(r"ports\[\d+\]$")
"""Two ports with the same name: the cluster treats them as one port (difference unnamed-ports)."""
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"

words = st.sampled_from(["a", "b", "data", "x-1", "gpu", "c2", "true", "zz"])
texts = st.sampled_from(["", "a", "1", "true", "a b", "Zz", "$(A)"])
names = st.sampled_from(["node", "metrics", "setup", "worker", "launcher", "flux-installer"])
RESERVED = ("PET_NNODES", "DMLC_TASK_ID", "OMPI_MCA_orte_set_default_slots")
STEPS = ("dataset-initializer", "model-initializer")
counts = st.sampled_from([0, 1, 2, 3, 8, 16])
amounts = st.sampled_from(["1", "0", "500m", "2500m", "1.5", "64Gi", "1e3", "+2", "0.5Gi", 4, 0, "1024Ki"])
resource_names = st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "amd.com/GPU", "ephemeral-storage"])
asked = st.dictionaries(resource_names, amounts, max_size=2).filter(
    lambda resources: sum("gpu" in name.lower() for name in resources) < 2
)
strings = st.dictionaries(st.sampled_from(["app", "team", "x.io/y"]), words, max_size=2)


Fields = st.SearchStrategy[dict[str, Any]]


def fields(required: dict[str, Any], optional: dict[str, Any]) -> Fields:
    return st.fixed_dictionaries(required, optional=optional)


def items(of: st.SearchStrategy[Any], most: int = 2, unique: str = "") -> st.SearchStrategy[list[Any]]:
    return st.lists(of, max_size=most, unique_by=(lambda item: item[unique]) if unique else None)


resources = fields({}, dict.fromkeys(("requests", "limits"), asked))
variables = items(
    st.one_of(
        fields({"name": st.sampled_from(["A", "B", "NCCL_DEBUG"])}, {"value": texts}),
        fields({"name": st.sampled_from(["C", *RESERVED])}, {"value": texts}),
        fields({"name": st.sampled_from(["FLUX_VIEW_IMAGE", "FLUX_QUEUE_POLICY"])}, {"value": texts}),
        st.just({"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}),
        st.just({"name": "LIMIT", "value": "x", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}),
        st.just({"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": False}}}),
    ),
    3,
    "name",
)
ports = items(fields({"name": words.filter(bool), "containerPort": st.sampled_from([80, 29500, 9100])}, {}), 2, "name")
mounts = items(
    fields({"name": names, "mountPath": st.sampled_from(["/a", "/b", "/dev/shm"])}, {"readOnly": st.booleans()}),
    2,
    "mountPath",
)
security = fields({}, {"runAsUser": counts, "privileged": st.booleans(), "capabilities": st.just({"add": []})})
pod_security = fields(
    {}, {"fsGroup": counts, "runAsNonRoot": st.booleans(), "supplementalGroups": st.lists(counts, max_size=2)}
)
tolerations = items(fields({}, {"key": words, "operator": st.just("Exists"), "tolerationSeconds": counts}))
volumes = items(
    st.one_of(
        fields({"name": st.sampled_from(["shared-memory", "flux-curve"]), "emptyDir": st.just({})}, {}),
        fields(
            {"name": names, "emptyDir": fields({}, {"medium": st.sampled_from(["", "Memory"]), "sizeLimit": amounts})},
            {},
        ),
        fields({"name": names}, {"persistentVolumeClaim": st.just({"claimName": "c", "readOnly": False})}),
        fields({"name": names, "configMap": fields({}, {"name": words, "defaultMode": counts})}, {}),
        fields({"name": names, "projected": fields({}, {"sources": st.just([]), "defaultMode": counts})}, {}),
    ),
    2,
    "name",
)
affinity = st.sampled_from(
    [{}, {"nodeAffinity": {}}, {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}]
)
containers = items(
    fields(
        {"name": names, "image": st.sampled_from(["i:1", ""])},
        {
            "env": variables,
            "ports": ports,
            "resources": resources,
            "volumeMounts": mounts,
            "securityContext": security,
            "command": st.lists(words, max_size=2),
            "args": st.lists(words, max_size=2),
            "restartPolicy": st.just("Always"),
            "stdin": st.booleans(),
            "workingDir": words,
        },
    ),
    3,
    "name",
)
patched_pod_fields = {
    "nodeSelector": strings,
    "tolerations": tolerations,
    "affinity": affinity,
    "volumes": volumes,
    "serviceAccountName": words,
    "securityContext": pod_security,
    "imagePullSecrets": items(fields({"name": words}, {}), 2, "name"),
    "schedulingGates": items(fields({"name": words}, {}), 2, "name"),
    "terminationGracePeriodSeconds": counts,
}
metadata = fields({}, {"labels": strings, "annotations": strings})
pods = fields(
    {"containers": containers},
    {
        **patched_pod_fields,
        "initContainers": containers,
        "restartPolicy": st.sampled_from(["Never", "OnFailure", ""]),
        "hostNetwork": st.booleans(),
        "shareProcessNamespace": st.booleans(),
        "priority": counts,
        "priorityClassName": st.sampled_from(["system-node-critical", "system-cluster-critical"]),
        "overhead": asked,
        "resources": resources,
        "dnsConfig": st.sampled_from([{}, {"options": [{"name": "ndots", "value": ""}]}]),
        "topologySpreadConstraints": st.just([]),
    },
)
jobs = fields(
    {
        "name": names,
        "template": fields(
            {
                "spec": fields(
                    {"template": fields({"spec": pods}, {"metadata": metadata})},
                    {
                        "parallelism": counts,
                        "backoffLimit": counts,
                        "ttlSecondsAfterFinished": counts,
                        "completionMode": st.sampled_from(["Indexed", "NonIndexed"]),
                        "suspend": st.booleans(),
                    },
                )
            },
            {"metadata": fields({}, {"annotations": strings})},
        ),
    },
    {"replicas": st.sampled_from([1, 1, 1, 2]), "groupName": words},
)
mpi = fields(
    {},
    {
        "numProcPerNode": st.sampled_from([1, 1, 4, 0]),
        "runLauncherAsNode": st.booleans(),
        "sshAuthMountPath": st.sampled_from(["/home/mpiuser/.ssh", "/a", "/etc/mpi"]),
        "mpiImplementation": st.sampled_from(["OpenMPI", "OpenMPI", ""]),
    },
)
policies = st.one_of(
    st.none(),
    fields({}, {"numNodes": counts}),
    fields({"jax": st.just({})}, {"numNodes": counts}),
    fields({"xgboost": st.just({})}, {"numNodes": counts}),
    fields({"mpi": mpi}, {"numNodes": counts}),
    fields({"flux": fields({}, {"numProcPerNode": st.sampled_from([1, 1, 4, 0])})}, {"numNodes": counts}),
    fields(
        {
            "torch": fields(
                {},
                {
                    "envInjection": fields(
                        {},
                        {
                            "targets": items(
                                fields(
                                    {
                                        "jobName": names,
                                        "containerNames": st.lists(names, min_size=1, max_size=2, unique=True),
                                    },
                                    {},
                                )
                            )
                        },
                    )
                },
            )
        },
        {"numNodes": counts},
    ),
)
gangs = fields(
    {},
    {
        "coscheduling": fields({}, {"scheduleTimeoutSeconds": counts}),
        "volcano": fields(
            {},
            {
                "networkTopology": fields(
                    {}, {"mode": st.sampled_from(["hard", "soft", "near"]), "highestTierAllowed": counts}
                )
            },
        ),
    },
)
queued = fields(
    {}, {"labels": strings, "annotations": st.sampled_from(["a", "b", ""]).map(lambda queue: {QUEUE_NAME: queue})}
)
patched_mounts = items(fields({"name": names, "mountPath": words}, {}), 2, "name")
patched_containers = items(
    fields({"name": names}, {"env": variables, "volumeMounts": patched_mounts, "securityContext": security}), 2, "name"
)
patched_pods = fields(
    {}, {**patched_pod_fields, "containers": patched_containers, "initContainers": patched_containers}
)
patched_pod_templates = fields({}, {"metadata": metadata, "spec": patched_pods})
patched_job_templates = fields({}, {"metadata": metadata, "spec": fields({}, {"template": patched_pod_templates})})
patched_jobs = items(fields({"name": names}, {"template": patched_job_templates}), 2, "name")
patched_templates = fields(
    {}, {"metadata": st.one_of(metadata, queued), "spec": fields({}, {"replicatedJobs": patched_jobs})}
)
patches = items(
    fields(
        {"manager": st.sampled_from(["a.io/b", "c.io/d", "e.io/f", "g.io/h", "bad"])},
        {"trainingRuntimeSpec": fields({}, {"template": patched_templates})},
    ),
    2,
    "manager",
)
sources = fields(
    {},
    {
        "storageUri": st.sampled_from(["hf://a/b", "", "nowhere"]),
        "env": variables,
        "secretRef": fields({}, {"name": words}),
    },
)
initializers = fields({}, {"dataset": sources, "model": sources})
trainers = fields(
    {},
    {
        "numNodes": st.sampled_from([0, 1, 2, 3, -1]),
        "numProcPerNode": st.sampled_from([0, 1, 8, -1]),
        "image": st.sampled_from(["t:2", ""]),
        "command": st.lists(words, max_size=2),
        "args": st.lists(words, max_size=2),
        "env": variables,
        "resourcesPerNode": resources,
    },
)
runtime_names = st.sampled_from(
    [
        *("torchtune-llama3.2-1b", "torchtune-llama3.2-3b", "torchtune-llama3.3-70b", "torchtune-qwen2.5-1.5b"),
        *("x-llama3.3-70b", "torchtune-gemma2-2b", "torchtune-llama3.2", "a-torchtune-llama3.2-1b"),
    ]
)
managed = ["output_dir=/o", "tokenizer.path=/t=1", "tokenizer.merges_file", "checkpointer.checkpoint_dir=/c"]
tuning = st.lists(
    st.sampled_from(
        [
            *("model.lora_attn_modules=[q_proj]", "model.lora_attn_modules", "xmodel.lora_attn_modulesx"),
            *("model.quantize_base=True", "model.quantize_base=true ", "my.model.quantize_base=TRUE"),
            *("model.quantize_base=False", "model.quantize_base", "model.use_dora=True", "model.use_dora=1"),
            *("epochs=2", "--x", "", "=", "output_dir", "tokenizer.path=/t", "a=output_dir", "my.output_dir=/o"),
        ]
    ),
    max_size=3,
)


@st.composite
def made_torchtune(draw: st.DrawFn, replicated: list[dict[str, Any]], trainer: dict[str, Any]) -> str:
    """Change every other job into a torchtune job; return the name of its runtime."""
    if not draw(st.booleans()):
        return "r"
    trainer["command"] = draw(st.sampled_from([["tune", "run"], ["tune", "run"], ["tune", "run", "x"]]))
    if draw(st.booleans()):
        trainer["args"] = draw(tuning)
    if draw(st.booleans()):
        gpus = draw(st.sampled_from([0, 1, 2, 8, "1", "1500m"]))
        trainer["resourcesPerNode"] = {draw(st.sampled_from(["limits", "requests"])): {"nvidia.com/gpu": gpus}}
    for job in replicated:
        for container in job["template"]["spec"]["template"]["spec"]["containers"]:
            container["command"] = draw(st.permutations([*managed, "tune", "a=output_dir"]))[:3]
    return draw(runtime_names)


@st.composite
def cases(draw: st.DrawFn) -> list[dict[str, Any]]:
    policy = draw(policies)
    replicated = draw(st.lists(jobs, max_size=3, unique_by=lambda job: job["name"]))
    for job in replicated:
        # The trainer is the job called `node`, if any; another one would be the difference rendezvous-host.
        usual = {"node", "launcher"} if "mpi" in (policy or {}) else {"node"}
        if job["name"] in usual and draw(st.booleans()):
            job["template"].setdefault("metadata", {})["labels"] = {ANCESTOR: "trainer"}
    for step in STEPS:
        if draw(st.booleans()):
            mounted = {"volumeMounts": draw(st.sampled_from([[], [{"name": "initializer", "mountPath": "/w"}]]))}
            container = {"name": step, "image": "i:1", "env": draw(variables), **mounted}
            step_job: dict[str, Any] = {"spec": {"template": {"spec": {"containers": [container]}}}}
            if draw(st.booleans()):
                step_job["metadata"] = {"labels": {ANCESTOR: step}}
            replicated.insert(0, {"name": step, "template": step_job})
    template = {"spec": {"replicatedJobs": replicated}, **draw(fields({}, {"metadata": st.one_of(metadata, queued)}))}
    spec: dict[str, Any] = {"template": template, **draw(fields({}, {"podGroupPolicy": gangs}))}
    if policy is not None:
        spec["mlPolicy"] = policy
    kind = draw(st.sampled_from(["ClusterTrainingRuntime", "TrainingRuntime"]))
    trainer = draw(trainers)
    identity = {"name": draw(made_torchtune(replicated, trainer)) if "torch" in (policy or {}) else "r"}
    if kind == "TrainingRuntime":
        identity["namespace"] = draw(st.sampled_from(["ns", "ns", "other"]))
    runtime = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": kind, "metadata": identity, "spec": spec}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": draw(st.sampled_from(["j", "job-2", "a" * 40])), "namespace": "ns"},
        "spec": {
            "runtimeRef": {"name": identity["name"], "kind": kind},
            "trainer": trainer,
            **draw(
                fields(
                    {},
                    {
                        "suspend": st.booleans(),
                        "runtimePatches": patches,
                        "color": words,
                        "initializer": initializers,
                    },
                )
            ),
        },
    }
    return [runtime, job]


@st.composite
def faulty(draw: st.DrawFn) -> Documents:
    """Draw a valid job, usually with faults."""
    random = Random(repr(draw(st.tuples(*[st.integers(0, 255)] * 4))))  # a single large integer would mostly be small
    documents: Documents = sound.random_job(random)
    chosen = random.random()
    if chosen < 0.8:
        faults.spoil(random, documents)
    elif chosen < 0.9:
        at = random.randrange(len(documents))
        documents[at] = faults.damaged(random, documents[at])
    return documents


@needs_oracle
@pytest.mark.parametrize("part", PARTS)
def test_jobs(part: int, tallied: Tallied) -> None:
    tallied(COMPARISON.run(part, EXAMPLES))


def compare(question: Question) -> str:
    """Return the verdict and stage if trainc agrees."""
    want, got = question.answer, internal(trainc.compile([str(question.file)], options=Options(settings=UNVALIDATED)))
    errors = [d for d in got.diagnostics if d.severity == "error"]
    if want["verdict"] == "accepted":
        return accepted(question, got, errors)
    result = f"{want['verdict']}, {want['stage']}"
    assert errors, want
    named = recorded(want) - {PRIORITY_CLASS}
    mine = {spelling(d.field) for d in errors}
    if namesakes(question.documents):
        named = {field for field in named if not PORT.search(field)}  # difference unnamed-ports
    if "DMLC_TRACKER_URI" in json.dumps(want.get("objects")):
        named, mine = unordered(named), unordered(mine)
    assert named <= mine, want
    if not recorded(want):
        assert STAGES.get(want["stage"], want["stage"]) in {d.stage for d in errors}, want
    return result


def namesakes(node: Any) -> bool:
    """Whether two ports of a container have the same name: the controller overwrites the first with the second."""
    if isinstance(node, dict):
        ports = node.get("ports")
        found = [port.get("name") for port in ports if isinstance(port, dict)] if isinstance(ports, list) else []
        return any(name and found.count(name) > 1 for name in found) or any(map(namesakes, node.values()))
    return isinstance(node, list) and any(map(namesakes, node))


def unnamed(node: Any) -> bool:
    """Whether a container has a port without a name: the controller overwrites it with the framework's."""
    if isinstance(node, dict):
        ports = node.get("ports")
        mine = isinstance(ports, list) and any(isinstance(port, dict) and not port.get("name") for port in ports)
        return mine or any(map(unnamed, node.values()))
    return isinstance(node, list) and any(map(unnamed, node))


def accepted(question: Question, got: Compilation, errors: list[trainc.Diagnostic]) -> str:
    """Check that the objects are the same, or that there are none for a Job whose pods could not be created."""
    if errors and all(d.object.kind in BEYOND for d in errors):
        return "accepted, but for pod-errors and PodGroups"
    if got.jobs and got.jobs[0].plan.job.document.value["spec"].get("trainer") is None:
        return "accepted, but for trainer-optional"
    want = question.answer
    assert [(d.id, d.field, d.message) for d in errors] == []
    if unnamed(question.documents):
        return "accepted, but for unnamed-ports"
    if any(job.plan.jobs[i].get("name") not in {"node", "launcher"} for job in got.jobs for i in job.plan.trainers()):
        return "accepted, but for rendezvous-host"
    others = objects_of_a_job(made for made in want["objects"] if made["kind"] in {"ConfigMap", "PodGroup"})
    mine = [by_variable(without_scripts(meaning(made))) for made in got.objects]
    theirs = [by_variable(without_scripts(meaning(made))) for made in (want["admittedJobSet"], *others)]
    if not are_equal(mine, theirs):
        assert mine == theirs
        raise AssertionError("equal but for the types of numbers")
    return "accepted"


def unordered(named: set[str]) -> set[str]:
    """Return fields without the indices of variables: the order of XGBoost's variables is random."""
    return {re.sub(r"env\[\d+\]", "env[]", field) for field in named}


def by_variable(node: Any) -> Any:
    """Return a manifest with XGBoost's variables, and those next to them, sorted by name."""
    if isinstance(node, list):
        items = [by_variable(item) for item in node]
        xgboost = any(isinstance(item, dict) and item.get("name") == "DMLC_TRACKER_URI" for item in items)
        return sorted(items, key=lambda item: item["name"]) if xgboost else items
    return {key: by_variable(value) for key, value in node.items()} if isinstance(node, dict) else node


COMPARISON = Comparison(st.one_of(cases(), faulty(), faulty()), compare)
