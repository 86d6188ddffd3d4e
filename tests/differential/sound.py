"""Valid jobs: realistic runtimes and TrainJobs that the cluster accepts; faults are inserted later.

Reads    a source of random choices.
Returns  the documents of a case. They avoid the differences in docs/differences.md, as described in test_jobs.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

Tree = dict[str, Any]

API: Final = "trainer.kubeflow.org/v1alpha1"
ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
STEPS: Final = ("dataset-initializer", "model-initializer")
POLICIES: Final = ("torch", "torch", "mpi", "jax", "xgboost", "flux", "tune", "plain", "none")
VOLUMES: Final[tuple[Tree, ...]] = (
    {"emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
    {"emptyDir": {}},
    {"persistentVolumeClaim": {"claimName": "data"}},
    {"configMap": {"name": "settings", "items": [{"key": "a.yaml", "path": "conf/a.yaml"}]}},
    {"secret": {"secretName": "token", "defaultMode": 0o400}},
    {"hostPath": {"path": "/mnt", "type": "Directory"}},
    {"nfs": {"server": "files.example.com", "path": "/export"}},
    {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
    {"projected": {"sources": [{"configMap": {"name": "a"}}, {"serviceAccountToken": {"path": "token"}}]}},
    {"csi": {"driver": "csi.example.com", "readOnly": True}},
)
VARIABLES: Final[tuple[Tree, ...]] = (
    {"name": "NCCL_DEBUG", "value": "INFO"},
    {"name": "EMPTY"},
    {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token", "optional": True}}},
    {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}},
    {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1"}}},
)
PROBES: Final[tuple[Tree, ...]] = (
    {"exec": {"command": ["true"]}, "periodSeconds": 5},
    {"httpGet": {"path": "/healthz", "port": 8080}, "initialDelaySeconds": 3},
    {"tcpSocket": {"port": 8080}, "timeoutSeconds": 2},
)
OF_PODS: Final[Tree] = {
    "nodeSelector": {"pool": "gpu", "topology.kubernetes.io/zone": "a"},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "serviceAccountName": "trainer",
    "imagePullSecrets": [{"name": "registry"}],
    "priorityClassName": "batch",
    "securityContext": {"runAsUser": 1000, "fsGroup": 1000, "supplementalGroups": [10, 20]},
    "terminationGracePeriodSeconds": 30,
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a100"]}]}]
            }
        }
    },
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
    ],
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["store"]}],
    "dnsConfig": {"options": [{"name": "ndots", "value": "2"}]},
    "restartPolicy": "Never",
    "schedulerName": "default-scheduler",
    "runtimeClassName": "nvidia",
    "activeDeadlineSeconds": 600,
    "enableServiceLinks": False,
}
OF_JOBS: Final[Tree] = {
    "backoffLimit": 0,
    "completionMode": "Indexed",
    "ttlSecondsAfterFinished": 600,
    "podReplacementPolicy": "Failed",
    "suspend": False,
}
OF_JOBSETS: Final[Tree] = {
    "failurePolicy": {
        "maxRestarts": 3,
        "rules": [{"name": "lost", "action": "FailJobSet", "targetReplicatedJobs": ["node"]}],
    },
    "successPolicy": {"operator": "All", "targetReplicatedJobs": ["node"]},
    "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    "coordinator": {"replicatedJob": "node", "jobIndex": 0, "podIndex": 0},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
    "ttlSecondsAfterFinished": 60,
    "volumeClaimPolicies": [
        {
            "templates": [
                {
                    "metadata": {"name": "scratch"},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
            ]
        }
    ],
}
LABELS: Final[Tree] = {"app": "train", "team.example.com/name": "vision-2"}


def random_job(random: Random) -> list[Tree]:
    """Return a runtime and a TrainJob that uses it."""
    policy = random.choice(POLICIES)
    main, helper = ("launcher", "node") if policy == "mpi" else ("node", "metrics")
    replicated = [_replicated(random, main, trainer=policy != "mpi" or random.random() < 0.5)]
    if policy == "mpi" or random.random() < 0.3:
        replicated.append(_replicated(random, helper))
    steps = [step for step in STEPS if random.random() < 0.2]
    replicated[:0] = [_step(random, step) for step in steps]
    if steps and random.random() < 0.5:
        replicated[-1]["dependsOn"] = [{"name": steps[0], "status": "Complete"}]
    spec = {"replicatedJobs": replicated, **(_some(random, OF_JOBSETS, 2) if random.random() < 0.5 else {})}
    metadata = {"labels": dict(LABELS)} if random.random() < 0.2 else {}
    template = {"spec": spec, **({"metadata": metadata} if metadata else {})}
    kind = random.choice(["ClusterTrainingRuntime", "TrainingRuntime"])
    identity = {"name": "torchtune-llama3.2-1b" if policy == "tune" else "r"}
    if kind == "TrainingRuntime":
        identity["namespace"] = "ns"
    runtime = {"template": template, **_policy(policy), **_gang(random)}
    return [
        {"apiVersion": API, "kind": kind, "metadata": identity, "spec": runtime},
        {
            "apiVersion": API,
            "kind": "TrainJob",
            "metadata": {"name": random.choice(["j", "tune-llama", "a" * 30]), "namespace": "ns"},
            "spec": {
                "runtimeRef": {"name": identity["name"], "kind": kind},
                "trainer": _trainer(random, policy),
                **({"runtimePatches": _patches(random, replicated)} if random.random() < 0.4 else {}),
                **({"initializer": _initializer(random, steps)} if steps else {}),
                **({"suspend": True} if random.random() < 0.1 else {}),
            },
        },
    ]


def _policy(policy: str) -> Tree:
    if policy == "none":
        return {}
    parameters: Tree = {"torch": {}, "tune": {}, "jax": {}, "xgboost": {}, "flux": {"numProcPerNode": 2}}
    parameters["mpi"] = {"numProcPerNode": 2, "mpiImplementation": "OpenMPI", "sshAuthMountPath": "/root/.ssh"}
    key = "torch" if policy == "tune" else policy
    return {"mlPolicy": {"numNodes": 1, **({key: parameters[key]} if key in parameters else {})}}


def _gang(random: Random) -> Tree:
    chosen = random.random()
    if chosen < 0.1:
        return {"podGroupPolicy": {"coscheduling": {"scheduleTimeoutSeconds": 100}}}
    return {"podGroupPolicy": {"volcano": {}}} if chosen < 0.2 else {}


def _trainer(random: Random, policy: str) -> Tree:
    trainer: Tree = {"numNodes": random.choice([1, 2, 3])}
    possible = {
        "image": "registry.example.com/team/train:1",
        "env": _few(random, VARIABLES, 3),
        "resourcesPerNode": _resources(random),
        "command": ["python", "train.py"],
        "args": ["--epochs=3"],
        "numProcPerNode": random.choice([1, 2, 8]),
    }
    trainer |= _some(random, possible, 4)
    if policy == "tune":
        trainer |= {"command": ["tune", "run"], "args": ["epochs=1"], "numNodes": 1}
        trainer.pop("resourcesPerNode", None)
    return trainer


def _initializer(random: Random, steps: list[str]) -> Tree:
    source = {"storageUri": "hf://team/data", "env": _few(random, VARIABLES[:3], 1), "secretRef": {"name": "token"}}
    return {step.removesuffix("-initializer"): _some(random, source, 3) for step in steps}


def _step(random: Random, step: str) -> Tree:
    made = _replicated(random, step)
    made["template"]["metadata"] = {"labels": {ANCESTOR: step}}
    pod = made["template"]["spec"]["template"]["spec"]
    pod.setdefault("volumes", []).append({"name": "initializer", "emptyDir": {}})
    pod["containers"][0].setdefault("volumeMounts", []).append({"name": "initializer", "mountPath": "/workspace"})
    return made


def _replicated(random: Random, name: str, *, trainer: bool = False) -> Tree:
    template: Tree = {
        "spec": {**_some(random, OF_JOBS, 2), "template": _pod_template(random, "node" if trainer else name)}
    }
    if trainer:
        template["metadata"] = {"labels": {ANCESTOR: "trainer", **(LABELS if random.random() < 0.2 else {})}}
    return {"name": name, "template": template}


def _pod_template(random: Random, name: str) -> Tree:
    volumes = [{"name": f"v{i}", **source} for i, source in enumerate(_few(random, VOLUMES, 3))]
    pod: Tree = {"containers": [_container(random, name, volumes)], **_some(random, OF_PODS, 2)}
    if volumes:
        pod["volumes"] = volumes
    if random.random() < 0.2:
        pod["containers"].append(_container(random, "sidecar", volumes, port=9090))
    if random.random() < 0.2:
        pod["initContainers"] = [_container(random, "setup", volumes, lasting=False)]
    if random.random() < 0.2:
        return {"metadata": {"labels": dict(LABELS), "annotations": {"note.example.com/by": "the team"}}, "spec": pod}
    return {"spec": pod}


def _container(random: Random, name: str, volumes: list[Tree], *, port: int = 8080, lasting: bool = True) -> Tree:
    mounted = random.sample(volumes, random.randint(0, len(volumes)))
    possible: Tree = {
        "env": _few(random, VARIABLES, 2),
        "envFrom": [{"configMapRef": {"name": "settings"}, "prefix": "CONF_"}],
        "ports": [{"name": "metrics" if port == 8080 else "side", "containerPort": port}],
        "resources": _resources(random),
        "command": ["run.sh"],
        "args": ["--all"],
        "workingDir": "/work",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"runAsNonRoot": True, "capabilities": {"add": ["IPC_LOCK"]}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    if lasting:
        possible |= {
            "livenessProbe": random.choice(PROBES),
            "readinessProbe": random.choice(PROBES),
            "lifecycle": {"preStop": {"exec": {"command": ["sync"]}}},
        }
    made = {"name": name, "image": "registry.example.com/base:1", **_some(random, possible, 4)}
    if mounted:
        made["volumeMounts"] = [{"name": volume["name"], "mountPath": f"/mnt/{volume['name']}"} for volume in mounted]
    return made


def _resources(random: Random) -> Tree:
    amounts: Tree = {"cpu": random.choice(["2", "500m", 4]), "memory": random.choice(["1Gi", "512Mi"])}
    made: Tree = _some(random, {"requests": amounts, "limits": dict(amounts)}, 2)
    if random.random() < 0.3:
        made.setdefault("limits", {})["nvidia.com/gpu"] = random.choice([1, "2", 8])
    return made


def _patches(random: Random, replicated: list[Tree]) -> list[Tree]:
    target = random.choice(replicated)
    container = target["template"]["spec"]["template"]["spec"]["containers"][0]["name"]
    pod: Tree = _some(random, {key: OF_PODS[key] for key in ("nodeSelector", "tolerations", "serviceAccountName")}, 2)
    if random.random() < 0.5:
        mount = {"name": "extra", "mountPath": "/extra"}
        pod |= {"volumes": [{"name": "extra", **_copy(random.choice(VOLUMES))}]}
        pod["containers"] = [{"name": container, "volumeMounts": [mount]}]
    patched = {"name": target["name"], "template": {"spec": {"template": {"spec": pod}}}}
    made: Tree = {"template": {"spec": {"replicatedJobs": [patched]}}}
    if random.random() < 0.3:
        made["template"]["metadata"] = {"labels": dict(LABELS)}
    return [{"manager": "team.example.com/pool", "trainingRuntimeSpec": made}]


def _some(random: Random, possible: Tree, most: int) -> Tree:
    """Return copies of some of the fields; faults are inserted into them."""
    keys = random.sample(sorted(possible), random.randint(0, min(most, len(possible))))
    return {key: _copy(possible[key]) for key in keys}


def _few(random: Random, possible: tuple[Tree, ...], most: int) -> list[Tree]:
    return [_copy(item) for item in random.sample(possible, random.randint(0, min(most, len(possible))))]


def _copy(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _copy(value) for key, value in tree.items()}
    return [_copy(item) for item in tree] if isinstance(tree, list) else tree
