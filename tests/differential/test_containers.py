"""Containers: made-up fields inside an otherwise good Job, judged by trainc and by the real API server's code.

Each pod is the whole template of a ClusterTrainingRuntime without a policy, run by the smallest TrainJob. The refused
fields must be the same. What is refused before there is a Job is not compared. Needs ORACLE, the program; CRDS is the
folder with the structures of the CRDs, where the program does not find it by itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conformance.test_trainer import spelling
from differential.oracle import EXAMPLES, PROGRAM, needs_oracle
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from trainc.checks import job
from trainc.kubernetes.gotypes import typed
from trainc.kubernetes.structural import load
from trainc.passes.store import RELEASE, with_defaults

CRDS = os.environ.get("CRDS")
BATCH = 50
PREFIX = "j-node-0: "

Fields = st.SearchStrategy[dict[str, Any]]


def some(**optional: st.SearchStrategy[Any]) -> Fields:
    return st.fixed_dictionaries({}, optional=optional)


def items(of: st.SearchStrategy[Any], most: int = 2, key: str = "") -> st.SearchStrategy[list[Any]]:
    return st.lists(of, max_size=most, unique_by=(lambda item: item.get(key)) if key else None)


one = st.sampled_from
names = one(["main", "main-2", "Main", "a.b", "a_b", "-a", "a-", "a" * 63, "a" * 64, "1", "é", ""])
objects = one(["cfg", "cfg.v1", "Cfg", "cfg-", "a_-", "-", "--", "a" * 253, "a" * 253 + "-", "a..b", ""])
keys = one(["key", "a/b", "..", "..a", ".", "a b", "k" * 254, ""])
variable_names = one(["A", "a.b", "1", "a b", "A=B", "=", "é", "A-", " ", "..", ""])
volumes = one(["data", "claim", "files", "bare", "image", "scratch", "gone", "Data_", "b.c", ""])
field_paths = one(
    [
        *("metadata.name", "metadata.uid", "metadata.labels", "metadata.annotations", "spec.nodeName", "spec.host"),
        *("status.podIP", "status.podIPs", "status.hostIPs", "status.phase", "spec.restartPolicy", "Metadata.Name"),
        *("metadata.labels['a']", "metadata.labels['a/B']", "metadata.annotations['A/b']", "metadata.labels['']"),
        *("metadata.labels['a']['b']", "metadata.name['a']", "['a']", 'metadata.labels["a"]', "metadata.labels['a b']"),
        *("metadata.annotations['batch.kubernetes.io/job-completion-index']", "metadata.annotations['a/b/c']", ""),
    ]
)
resources = one(
    [
        *("limits.cpu", "requests.memory", "limits.ephemeral-storage", "requests.hugepages-2Mi", "limits.hugepages-"),
        *("limits.nvidia.com/gpu", "cpu", "Limits.cpu", "limits.cpu.", ""),
    ]
)
divisors = one(
    ["0", "1", 1, "1m", "1000m", "1k", "1000", "1e3", "1Ki", "1024", "1024Ki", "1Mi", "-1", "1n", "2", "1.0"]
)
paths = one(["/data", "/logs/", "data", "a/../b", "..", "..a", "/dev/xvda", ""])

key_refs = some(name=objects, key=keys, optional=st.booleans()).map(lambda ref: {"key": "", **ref})
sources = some(
    fieldRef=some(fieldPath=field_paths, apiVersion=one(["v1", "v1", "v2", ""])).map(
        lambda ref: {"fieldPath": "", **ref}
    ),
    resourceFieldRef=some(resource=resources, divisor=divisors, containerName=names).map(
        lambda ref: {"resource": "", **ref}
    ),
    configMapKeyRef=key_refs,
    secretKeyRef=key_refs,
    fileKeyRef=st.fixed_dictionaries({"volumeName": volumes, "path": paths, "key": variable_names}),
)
variables = items(
    st.fixed_dictionaries({"name": variable_names}, optional={"value": one(["", "x"]), "valueFrom": sources}), 3, "name"
)
references = some(name=objects, optional=st.booleans())
variables_from = items(some(prefix=variable_names, configMapRef=references, secretRef=references))
numbers = one([80, 8080, 8080, 0, -1, 65535, 65536])
protocols = one(["TCP", "TCP", "UDP", "SCTP", "tcp", "HTTP"])
port_names = ["http", "http", "c10d", "a--b", "8080", "-a", "A", "a-very-long-port", "1-2"]
ports = st.lists(
    st.fixed_dictionaries(
        {"containerPort": numbers, "name": one(port_names)},
        optional={"hostPort": numbers, "protocol": protocols, "hostIP": one(["", "10.0.0.1", "x"])},
    ),
    max_size=2,
    unique_by=lambda port: (port["containerPort"], port.get("protocol", "TCP")),
)
mounts = items(
    st.fixed_dictionaries(
        {"name": volumes, "mountPath": paths},
        optional={
            "readOnly": st.booleans(),
            "subPath": paths,
            "subPathExpr": paths,
            "mountPropagation": one(["None", "HostToContainer", "Bidirectional", "none", ""]),
            "recursiveReadOnly": one(["Disabled", "IfPossible", "Enabled", "enabled", ""]),
        },
    ),
    2,
    "mountPath",
)
devices = items(st.fixed_dictionaries({"name": volumes, "devicePath": paths}), 2, "devicePath")
probe_ports = one([80, 0, -1, 65536, "http", "80", "", "Http", "a--b"])
counts = one([0, 1, 2, 29, 31, -1])
actions: dict[str, st.SearchStrategy[Any]] = {
    "exec": some(command=one([[], ["true"]])),
    "httpGet": st.fixed_dictionaries(
        {"port": probe_ports},
        optional={
            "scheme": one(["HTTP", "HTTPS", "http", ""]),
            "path": one(["", "/x"]),
            "httpHeaders": items(
                st.fixed_dictionaries({"name": one(["X-A", "X_A", "a b", "é", ""]), "value": st.just("")})
            ),
        },
    ),
    "tcpSocket": st.fixed_dictionaries({"port": probe_ports}),
}
probes = some(
    **actions,
    grpc=st.fixed_dictionaries({"port": numbers}),
    **dict.fromkeys(
        ("failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds"), counts
    ),
    terminationGracePeriodSeconds=counts,
)
hooks = some(**actions, sleep=st.fixed_dictionaries({"seconds": counts}))
running: dict[str, st.SearchStrategy[Any]] = {
    "livenessProbe": probes,
    "readinessProbe": probes,
    "startupProbe": probes,
    "lifecycle": some(preStop=hooks, postStart=hooks, stopSignal=one(["SIGTERM", "X"])),
}
restarts: dict[str, st.SearchStrategy[Any]] = {
    "restartPolicy": one(["Always", "Always", "Never", "OnFailure", "always", ""]),
    "restartPolicyRules": items(
        st.fixed_dictionaries(
            {"action": one(["Restart", "RestartAllContainers", "restart"])},
            optional={
                "exitCodes": st.fixed_dictionaries(
                    {"operator": one(["In", "NotIn", "Equals"])},
                    optional={"values": one([[], [1], [0, 300], list(range(256))])},
                )
            },
        ),
        21,
    ),
    "resizePolicy": items(
        st.fixed_dictionaries(
            {
                "resourceName": one(["cpu", "cpu", "memory", "nvidia.com/gpu", ""]),
                "restartPolicy": one(["NotRequired", "RestartContainer", "Restart", ""]),
            }
        )
    ),
}
common: dict[str, st.SearchStrategy[Any]] = {
    "env": variables,
    "envFrom": variables_from,
    "ports": ports,
    "volumeMounts": mounts,
    "volumeDevices": devices,
    "imagePullPolicy": one(["Always", "always", ""]),
    "terminationMessagePolicy": one(["File", "FallbackToLogsOnError", "Logs", ""]),
    "workingDir": paths,
    "securityContext": one([{"privileged": True}, {"privileged": False}, {}]),
}


@st.composite
def containers(draw: st.DrawFn, possible: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    """A container with a few fields: with all of them, everything would be refused."""
    chosen = draw(st.lists(one(sorted(possible)), max_size=3, unique=True))
    container: dict[str, Any] = {"name": draw(names if draw(one([False] * 9 + [True])) else one(["x", "y", "z"]))}
    if draw(one([True] * 9 + [False])):
        container["image"] = draw(one(["i:1", "i:1", "i:1", " i"]))
    return container | {key: draw(possible[key]) for key in chosen}


@st.composite
def pods(draw: st.DrawFn) -> dict[str, Any]:
    usual = common | running | restarts
    pod: dict[str, Any] = {"containers": draw(st.lists(containers(usual), min_size=1, max_size=2, unique_by=by_name))}
    if draw(one([False, False, True])):
        pod["initContainers"] = draw(st.lists(containers(usual), max_size=2, unique_by=by_name))
    if draw(one([False] * 9 + [True])):
        debugging = usual | {"targetContainerName": names, "resources": st.just({}), "stdin": st.booleans()}
        pod["ephemeralContainers"] = draw(st.lists(containers(debugging), max_size=2, unique_by=by_name))
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    pod["volumes"] = [
        {"name": "data", "configMap": {"name": "c"}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "files", "emptyDir": {}},
        {"name": "bare"},
        {"name": "image", "image": {"reference": "i"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}},
    ]
    return pod | draw(
        some(
            restartPolicy=one(["Never", "OnFailure"]),
            hostNetwork=one([True, False]),
            terminationGracePeriodSeconds=one([0, 1, 30, 60, -1]),
        )
    )


def by_name(container: dict[str, Any]) -> Any:
    return container["name"]


tally: Counter[str] = Counter()


@pytest.fixture(scope="module", autouse=True)
def say_how_many(pytestconfig: pytest.Config) -> Iterator[None]:
    """How many pods agreed, by verdict: `pytest -s` shows it."""
    yield
    if tally:
        print(f"\n{tally.total()} pods compared: {dict(tally)}")


@needs_oracle
@given(st.lists(pods(), min_size=1, max_size=BATCH))
@settings(
    max_examples=max(1, EXAMPLES // BATCH * 2),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)
def test_containers(batch: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in" / "made").mkdir(parents=True)
        files = [folder / "in" / "made" / f"{index:03}.yaml" for index in range(len(batch))]
        for file, pod in zip(files, batch, strict=True):
            file.write_text("\n---\n".join(map(json.dumps, manifests(pod))))
        options = ["-runs", "1", *(["-crds", CRDS] if CRDS else [])]
        command = [PROGRAM, *options, str(folder / "out"), *map(str, files)]
        subprocess.run(command, check=True, capture_output=True)
        answers = [json.loads((folder / "out" / "made" / file.with_suffix(".json").name).read_text()) for file in files]
    for pod, answer in zip(batch, answers, strict=True):
        stage = answer.get("stage", answer["verdict"])
        tally[stage] += 1
        if stage in ("accepted", "job"):
            note(json.dumps(pod))
            recorded = {spelling(error["field"].removeprefix(PREFIX)) for error in answer.get("errors") or ()}
            assert refused_in(pod) == recorded, answer


def refused_in(pod: dict[str, Any]) -> set[str]:
    """The fields of the Job that trainc refuses."""
    replicated = [{"name": "node", "replicas": 1, "template": {"spec": {"template": {"spec": pod}}}}]
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j", "namespace": "ns"},
        "spec": {"replicatedJobs": replicated},
    }
    admitted = load("JobSet", RELEASE).admit(jobset)
    assert not admitted.violations
    stored = jobset | {"spec": typed(with_defaults(admitted.value["spec"]))}
    return {spelling(fault.violation.field) for fault in job.faults(stored) if fault.object.kind == "Job"}


def manifests(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """The runtime that has the pod, and a TrainJob on it."""
    spec: dict[str, Any] = {
        "replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}],
    }
    made = "trainer.kubeflow.org/v1alpha1"
    kind = "ClusterTrainingRuntime"
    return [
        {"apiVersion": made, "kind": kind, "metadata": {"name": "r"}, "spec": {"template": {"spec": spec}}},
        {
            "apiVersion": made,
            "kind": "TrainJob",
            "metadata": {"name": "j", "namespace": "ns"},
            "spec": {"runtimeRef": {"name": "r", "kind": kind}, "trainer": {}},
        },
    ]
