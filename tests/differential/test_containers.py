"""Containers: generated fields in an otherwise valid Job, validated by trainc and by the API server's code.

Each pod is the whole template of a ClusterTrainingRuntime without a policy, used by a minimal TrainJob. The rejected
fields must be the same. Cases that fail before there is a Job are not compared. Needs ORACLE and CRDS (see oracle.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from differential.comparing import PARTS, Comparison, Documents, Tallied
from differential.one_job import compare, documents
from differential.oracle import EXAMPLES, needs_oracle
from hypothesis import strategies as st

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
    """Draw a container with a few fields: with all of them, every case would be rejected."""
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


@needs_oracle
@pytest.mark.parametrize("part", PARTS)
def test_containers(part: int, tallied: Tallied) -> None:
    tallied(COMPARISON.run(part, EXAMPLES // 4))


def in_a_job(pod: dict[str, Any]) -> Documents:
    return documents({"spec": pod})


COMPARISON = Comparison(pods(), compare, in_a_job)
