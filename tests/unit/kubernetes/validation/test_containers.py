"""Containers and their parts, as the API server accepts or rejects them: a fault, and a valid form."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.kubernetes import validation
from trainc.kubernetes.trees import Tree
from trainc.kubernetes.violations import Violation

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
VOLUMES = [
    {"name": "data", "configMap": {"name": "c"}},
    {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
    {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}},
    {"name": "files", "emptyDir": {}},
    {"name": "bare"},
]
TRUE = {"exec": {"command": ["true"]}}


def violations(pod: Tree) -> list[Violation]:
    return validation.job_violations({"spec": {"template": {"spec": {"volumes": VOLUMES, **pod}}}})


def reported(pod: Tree) -> list[tuple[str, str]]:
    """Return the rules that a pod violates, and their fields in the API server's errors, relative to the pod."""
    return [(each.rule, each.field.removeprefix("spec.template.spec.")) for each in violations(pod)]


def main(**fields: Any) -> Tree:
    return {"containers": [{"name": "main", "image": "i", **fields}]}


def init(**fields: Any) -> Tree:
    return main() | {"initContainers": [{"name": "init", "image": "i", **fields}]}


def debug(**fields: Any) -> Tree:
    return main() | {"ephemeralContainers": [{"name": "debug", "image": "i", **fields}]}


def variable(**fields: Any) -> Tree:
    return main(env=[{"name": "A", **fields}])


def reading(kind: str, **reference: Any) -> Tree:
    return variable(valueFrom={kind: reference})


def ports(*ports: Tree) -> Tree:
    return main(ports=[{"containerPort": 80 + index, **port} for index, port in enumerate(ports)])


def mounts(*mounts: Tree, **fields: Any) -> Tree:
    paths = [{"name": "data", "mountPath": f"/{index}", **mount} for index, mount in enumerate(mounts)]
    return main(volumeMounts=paths, **fields)


def restarted(*rules: Tree, **fields: Any) -> Tree:
    return main(**{"restartPolicy": "Never", "restartPolicyRules": list(rules), **fields})


HERE = "containers[0]"
FROM = f"{HERE}.env[0].valueFrom"
FIELD = f"{FROM}.fieldRef.fieldPath"
DIVISOR = f"{FROM}.resourceFieldRef.divisor"
RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}


REJECTED: list[Any] = [
    pytest.param(main(name="", image=""), [("required", f"{HERE}.name"), ("required", f"{HERE}.image")], id="nothing"),
    pytest.param({"containers": []}, [("required", "containers")], id="no container"),
    pytest.param(init(name="main"), [("duplicate-item", "initContainers[0].name")], id="a name of another kind"),
    pytest.param(main(restartPolicy="always"), [("enum", f"{HERE}.restartPolicy")], id="restart policy"),
    pytest.param(
        init(restartPolicy="Never", startupProbe=TRUE),
        [("init-container-field", "initContainers[0].startupProbe")],
        id="an init container's probe",
    ),
    pytest.param(
        init(lifecycle={"preStop": TRUE, "stopSignal": "SIGINT"}),
        [("init-container-field", "initContainers[0].lifecycle")],
        id="an init container's hook",
    ),
    pytest.param(
        init(restartPolicy="Always", livenessProbe={}),
        [("one-handler", "initContainers[0].livenessProbe")],
        id="a sidecar's probe",
    ),
    pytest.param(restarted(RULE | {"action": "Stop"}), [("enum", f"{HERE}.restartPolicyRules[0].action")], id="action"),
    pytest.param(
        restarted({"action": "Restart"}), [("required", f"{HERE}.restartPolicyRules[0].exitCodes")], id="no codes"
    ),
    pytest.param(
        restarted({"exitCodes": {"values": list(range(256))}}),
        [
            ("required", f"{HERE}.restartPolicyRules[0].action"),
            ("required", f"{HERE}.restartPolicyRules[0].exitCodes.operator"),
            ("too-many-items", f"{HERE}.restartPolicyRules[0].exitCodes.values"),
        ],
        id="a rule of too many codes, and nothing else",
    ),
    pytest.param(restarted(*[RULE] * 21), [("too-many-items", f"{HERE}.restartPolicyRules")], id="too many rules"),
    pytest.param(
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2),
        [("duplicate-item", f"{HERE}.resizePolicy[1]")],
        id="a resource is resized twice",
    ),
    pytest.param(
        init(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
        [("resize-restart", "initContainers[0].resizePolicy[0].restartPolicy")],
        id="an init container is restarted",
    ),
    pytest.param(main(resizePolicy=[{}]), [("required", f"{HERE}.resizePolicy")] * 2, id="an empty resize policy"),
    pytest.param(
        debug(name="main", targetContainerName="other"),
        [
            ("ephemeral-container", "ephemeralContainers"),
            ("duplicate-item", "ephemeralContainers[0].name"),
            ("ephemeral-container", "ephemeralContainers[0].targetContainerName"),
        ],
        id="an ephemeral container's names",
    ),
    pytest.param(
        debug(livenessProbe={}, image=" i", volumeMounts=[{"name": "data", "mountPath": "/a", "subPath": "b"}]),
        [
            ("ephemeral-container", "ephemeralContainers"),
            ("ephemeral-container", "ephemeralContainers[0].image"),
            ("ephemeral-container", "ephemeralContainers[0].livenessProbe"),
            ("ephemeral-container", "ephemeralContainers[0].volumeMounts[0].subPath"),
        ],
        id="fields forbidden in an ephemeral container",
    ),
    pytest.param(
        debug(lifecycle={"stopSignal": "SIGINT"}, resources={}, targetContainerName="main"),
        [("ephemeral-container", "ephemeralContainers")],
        id="empty fields that an ephemeral container may set",
    ),
    pytest.param(main(env=[{"value": "x"}]), [("required", f"{HERE}.env[0].name")], id="no variable's name"),
    pytest.param(main(env=[{"name": "é"}]), [("invalid-name", f"{HERE}.env[0].name")], id="not ASCII"),
    pytest.param(main(env=[{"name": "=B"}]), [("invalid-name", f"{HERE}.env[0].name")], id="only a value"),
    pytest.param(variable(valueFrom={}, value="x"), [("env-source", FROM)], id="a source of nothing"),
    pytest.param(reading("fieldRef"), [("required", FIELD)], id="no path"),
    pytest.param(reading("fieldRef", fieldPath="status.phase"), [("env-field", FIELD)], id="the phase"),
    pytest.param(reading("fieldRef", fieldPath="metadata.name['a']"), [("env-field", FIELD)], id="a key of no map"),
    pytest.param(reading("fieldRef", fieldPath="['a']"), [("env-field", FIELD)], id="a key of nothing"),
    pytest.param(
        reading("fieldRef", fieldPath="metadata.labels['']"), [("env-field", f"{FROM}.fieldRef")], id="no key"
    ),
    pytest.param(
        reading("resourceFieldRef", resource="requests.hugepages-2Mi", divisor="3"),
        [("env-resource", DIVISOR)],
        id="thirds of huge pages",
    ),
    pytest.param(
        reading("resourceFieldRef", resource="limits.cpu", divisor="1Ki"),
        [("env-resource", DIVISOR)],
        id="Ki of cpu",
    ),
    pytest.param(
        reading("resourceFieldRef", resource="limits.memory", divisor="1e3"),
        [("env-resource", DIVISOR)],
        id="a divisor in another notation",
    ),
    pytest.param(
        reading("resourceFieldRef", resource="nvidia.com/gpu", divisor="3"),
        [("env-resource", f"{FROM}.resourceFieldRef.resource")],
        id="GPUs",
    ),
    pytest.param(
        reading("configMapKeyRef", name="a-", key=".."),
        [("invalid-name", f"{FROM}.configMapKeyRef.name"), ("invalid-name", f"{FROM}.configMapKeyRef.key")],
        id="a key reference",
    ),
    pytest.param(
        reading("secretKeyRef"),
        [("required", f"{FROM}.secretKeyRef.name"), ("required", f"{FROM}.secretKeyRef.key")],
        id="an empty key reference",
    ),
    pytest.param(
        reading("fileKeyRef"),
        [("required", f"{FROM}.fileKeyRef.{key}") for key in ("volumeName", "path", "key")],
        id="an empty file reference",
    ),
    pytest.param(
        reading("fileKeyRef", volumeName="a.b", path="a/../b", key="="),
        [
            ("invalid-name", f"{FROM}.fileKeyRef.volumeName"),
            ("sub-path", f"{FROM}.fileKeyRef.path"),
            ("invalid-name", f"{FROM}.fileKeyRef.key"),
        ],
        id="a bad file reference",
    ),
    pytest.param(
        reading("fileKeyRef", volumeName="gone", path="a", key="A"),
        [("volume-missing", f"{FROM}.fileKeyRef.volumeName")],
        id="a file of no volume",
    ),
    pytest.param(
        main(envFrom=[{"prefix": "A="}, {"secretRef": {"name": "_-"}}, {"configMapRef": {"name": "-"}}]),
        [
            ("invalid-name", f"{HERE}.envFrom[0].prefix"),
            ("env-source", f"{HERE}.envFrom"),
            ("invalid-name", f"{HERE}.envFrom[2].configMapRef.name"),
        ],
        id="a prefix of nothing; one dash is a whole name",
    ),
    pytest.param(
        ports({"name": "a"}, {"name": "a"}, {"name": "A"}, {"name": "A"}),
        [
            ("duplicate-item", f"{HERE}.ports[1].name"),
            ("invalid-name", f"{HERE}.ports[2].name"),
            ("invalid-name", f"{HERE}.ports[3].name"),
        ],
        id="names of ports",
    ),
    pytest.param(
        ports({"hostPort": -1}, {"hostPort": -1}),
        [
            ("out-of-range", f"{HERE}.ports[0].hostPort"),
            ("out-of-range", f"{HERE}.ports[1].hostPort"),
            ("host-port-taken", f"{HERE}.ports[1].hostPort"),
        ],
        id="an invalid host port",
    ),
    pytest.param(
        main()
        | {
            "initContainers": [
                {"name": "a", "image": "i"},
                {"name": "b", "image": "i", "ports": [{"containerPort": n, "hostPort": 1} for n in (1, 2)]},
            ]
        },
        [("host-port-taken", "initContainers[0].ports[1].hostPort")],
        id="a port taken twice by an init container",
    ),
    pytest.param(
        ports({"hostPort": 81}) | {"hostNetwork": True},
        [("host-port-differs", f"{HERE}.ports[0].hostPort")],
        id="another number on the host's network",
    ),
    pytest.param(
        mounts({"mountPath": "/a"}, {"mountPath": "/a"}),
        [("mount-path-taken", f"{HERE}.volumeMounts[1].mountPath")],
        id="a duplicate path",
    ),
    pytest.param(
        mounts({"subPath": "/a", "subPathExpr": ".."}),
        [
            ("sub-path", f"{HERE}.volumeMounts.subPath"),
            ("sub-path", f"{HERE}.volumeMounts[0].subPathExpr"),
            ("sub-path", f"{HERE}.volumeMounts.subPathExpr"),
        ],
        id="paths outside a volume",
    ),
    pytest.param(
        mounts({"mountPropagation": "Bidirectional", "recursiveReadOnly": "Enabled"}),
        [
            ("mount-mode", f"{HERE}.volumeMounts.mountPropagation"),
            ("mount-mode", f"{HERE}.volumeMounts.recursiveReadOnly"),
            ("mount-mode", f"{HERE}.volumeMounts.recursiveReadOnly"),
        ],
        id="a mount that is shared and recursively read-only",
    ),
    pytest.param(
        mounts({"mountPropagation": "", "recursiveReadOnly": ""}),
        [("enum", f"{HERE}.volumeMounts.mountPropagation"), ("enum", f"{HERE}.volumeMounts.recursiveReadOnly")],
        id="a mode that is empty",
    ),
    pytest.param(
        main(
            volumeDevices=[
                {"name": name, "devicePath": path}
                for path, name in zip("abc", ("claim", "claim", "files"), strict=True)
            ]
        ),
        [("block-device", f"{HERE}.volumeDevices[1].name"), ("block-device", f"{HERE}.volumeDevices[2].name")],
        id="devices",
    ),
    pytest.param(
        mounts(
            {"name": "claim", "mountPath": "/a"},
            {"name": "claim", "mountPath": "/b"},
            volumeDevices=[{"name": "scratch", "devicePath": "/a"}],
        ),
        [("mount-path-taken", f"{HERE}.volumeMounts[0].mountPath")],
        id="a device at a path of a volume that is mounted again",
    ),
    pytest.param(
        main(livenessProbe=TRUE | {"successThreshold": -1, "terminationGracePeriodSeconds": 0}),
        [
            ("out-of-range", f"{HERE}.livenessProbe.successThreshold"),
            ("out-of-range", f"{HERE}.livenessProbe.terminationGracePeriodSeconds"),
        ],
        id="numbers of a probe",
    ),
    pytest.param(
        main(readinessProbe={"exec": {}, "httpGet": {"port": 0}}),
        [("required", f"{HERE}.readinessProbe.exec.command"), ("one-handler", f"{HERE}.readinessProbe.httpGet")],
        id="only the first handler is checked",
    ),
    pytest.param(
        main(readinessProbe={"httpGet": {"port": "", "httpHeaders": [{"name": "A"}, {"name": "A:"}]}}),
        [
            ("invalid-name", f"{HERE}.readinessProbe.httpGet.port"),
            ("invalid-name", f"{HERE}.readinessProbe.httpGet.httpHeaders"),
        ],
        id="no port, and a colon in a header's name",
    ),
    pytest.param(
        main(lifecycle={"preStop": {"sleep": {"seconds": -1}}}) | {"terminationGracePeriodSeconds": -1},
        [("hook-sleep", f"{HERE}.lifecycle.preStop.sleep")],
        id="no time to sleep",
    ),
]


@pytest.mark.parametrize(("pod", "wanted"), REJECTED)
def test_rejected(pod: Tree, wanted: list[tuple[str, str]]) -> None:
    assert reported(pod) == wanted


def test_texts(snapshot: SnapshotAssertion) -> None:
    assert texts(each for row in REJECTED for each in violations(row.values[0])) == snapshot


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(main(image=" "), id="an image of a space, which only a Pod may not have"),
        pytest.param(main(restartPolicy="OnFailure"), id="a restart policy of its own"),
        pytest.param(restarted(RULE, restartPolicy="Always"), id="restart rules"),
        pytest.param(restarted(RULE | {"exitCodes": {"operator": "NotIn", "values": [-1, 300]}}), id="odd codes"),
        pytest.param(init(lifecycle={"stopSignal": "SIGINT"}), id="a stop signal, which is dropped"),
        pytest.param(init(restartPolicy="Always", startupProbe=TRUE, lifecycle={"preStop": TRUE}), id="a sidecar"),
        pytest.param(
            main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}], restartPolicy="Never")
            | {"restartPolicy": "OnFailure"},
            id="the pod's restart policy decides",
        ),
        pytest.param(main(env=[{"name": name} for name in ("1", "a b", "..", "A-", "a.b/c")]), id="names of variables"),
        pytest.param(reading("fieldRef", fieldPath="spec.host"), id="an old name of a field"),
        pytest.param(reading("fieldRef", fieldPath="metadata.annotations['A.io/B']"), id="an annotation's capitals"),
        pytest.param(reading("resourceFieldRef", resource="limits.memory", divisor="1024Ki"), id="1024Ki is 1Mi"),
        pytest.param(reading("resourceFieldRef", resource="limits.cpu", divisor="0"), id="no divisor"),
        pytest.param(reading("resourceFieldRef", resource="limits.cpu", containerName="Gone"), id="of no container"),
        pytest.param(reading("fileKeyRef", volumeName="bare", path="/..a", key="a b"), id="a file of a bare volume"),
        pytest.param(main(envFrom=[{"secretRef": {"name": "a_-"}, "prefix": "1 "}]), id="the beginning of a name"),
        pytest.param(ports({"hostPort": 1}, {"hostPort": 1, "protocol": "UDP"}), id="a port by TCP and by UDP"),
        pytest.param(
            ports({"hostPort": 1, "hostIP": "a"}, {"hostPort": 1, "hostIP": "b"}), id="a port of two addresses"
        ),
        pytest.param(
            init(ports=[{"containerPort": 1, "hostPort": 2}]) | {"hostNetwork": True}, id="in an init container"
        ),
        pytest.param(mounts({"mountPath": "/a"}, {"mountPath": "/a/"}), id="paths that differ by a slash"),
        pytest.param(mounts({"subPath": "..a/b..", "name": "bare"}), id="dots in names"),
        pytest.param(
            mounts({"mountPropagation": "Bidirectional"}, securityContext={"privileged": True}), id="a privileged mount"
        ),
        pytest.param(mounts({"readOnly": True, "recursiveReadOnly": "IfPossible"}), id="recursively read-only"),
        pytest.param(mounts({"recursiveReadOnly": "Disabled", "mountPropagation": "HostToContainer"}), id="disabled"),
        pytest.param(main(readinessProbe={"grpc": {"port": 1}, "successThreshold": 3}), id="three successes"),
        pytest.param(main(readinessProbe={"tcpSocket": {"port": "undeclared"}}), id="a port that no container has"),
        pytest.param(main(lifecycle={"preStop": {"sleep": {}}}) | {"terminationGracePeriodSeconds": 0}, id="no sleep"),
    ],
)
def test_accepted(pod: Tree) -> None:
    assert reported(pod) == []


@pytest.mark.parametrize(
    ("pod", "message", "help", "related"),
    [
        pytest.param(
            mounts({"name": "clam"}),
            'the pod has no volume named "clam"',
            "did you mean claim?",
            [],
            id="a near miss",
        ),
        pytest.param(
            mounts({"name": "shm"}),
            'the pod has no volume named "shm"',
            "add it to the pod's volumes: `- {name: shm, persistentVolumeClaim: {claimName: ...}}`, or use another "
            "source, such as emptyDir for scratch space",
            [],
            id="no volume",
        ),
        pytest.param(
            init(name="main"),
            'two containers of the pod are named "main"',
            "rename one of them: names must be unique across containers and init containers",
            [("the first container", "containers[0].name")],
            id="two containers",
        ),
        pytest.param(
            main(readinessProbe={"tcpSocket": {"port": "80"}}),
            'port is not a valid port name: "80" is a number',
            "remove the quotes: 80",
            [],
            id="a number in quotes",
        ),
        pytest.param(
            main(env=[{"name": "LR=1e-4"}]),
            'env[0].name is not a valid variable name: "LR=1e-4" contains "="',
            "use only the name, LR, and move the rest to value",
            [],
            id="a value in a name",
        ),
        pytest.param(
            variable(value="x", valueFrom={"fieldRef": {"fieldPath": "metadata.name"}}),
            "env[0] sets both value and valueFrom",
            "remove value or valueFrom",
            [("the value", "containers[0].env[0].value")],
            id="two values",
        ),
        pytest.param(
            reading("resourceFieldRef", resource="limits.nvidia.com/gpu"),
            'resource "limits.nvidia.com/gpu" cannot be read by a variable',
            "set the number of GPUs as the variable's value",
            [],
            id="GPUs",
        ),
        pytest.param(
            ports({"hostPort": 1}) | {"hostNetwork": True},
            "hostPort 1 must equal containerPort 80 on the host network",
            "remove hostPort, or make it equal to containerPort",
            [("containerPort", "containers[0].ports[0].containerPort"), ("hostNetwork", "hostNetwork")],
            id="two numbers",
        ),
    ],
)
def test_messages(pod: Tree, message: str, help: str, related: list[tuple[str, str]]) -> None:
    from trainc.kubernetes.violations import field_of

    [violation] = validation.job_violations({"spec": {"template": {"spec": {"volumes": VOLUMES, **pod}}}})
    assert (violation.message, violation.help) == (message, help)
    assert [(label, field_of(path).removeprefix("spec.template.spec.")) for label, path in violation.related] == related


def test_a_valid_pod_imports_no_messages() -> None:
    pod = ports({"name": "c10d"})["containers"][0] | mounts({"name": "files"})["containers"][0]
    job = {"spec": {"template": {"spec": {"containers": [pod], "volumes": [{"name": "files", "emptyDir": {}}]}}}}
    program = (
        f"import sys; from trainc.kubernetes import validation; print(validation.job_violations({job}), *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found, *modules = done.stdout.split()
    assert found == "[]"
    assert "trainc.kubernetes.validation.mounts" in modules
    lazy = {"probes", "volumedrivers"}
    assert {f"trainc.kubernetes.validation.{module}" for module in lazy} & set(modules) == set()
    assert "trainc.kubernetes.structural.hints" not in modules
