"""Faults: typical mistakes in TrainJobs and runtimes, inserted into documents.

Reads    the documents of a case, and a source of random choices.
Returns  nothing: the documents are modified in place. The faults of the first table apply to any field; those of the
         second one apply to a specific target (a container, a volume, a name).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import yaml

Tree = dict[str, Any]
Spot = tuple[Any, Any]
"""A mapping or list, and a key in it."""

KEPT: Final = {"apiVersion", "kind", "metadata", "namespace", "manager", "trainer"}
"""Keys that are kept at any depth: without them, the case would be a different one, or a deliberate difference."""
BAD_LABELS: Final = ({"a b": "x"}, {"app": "meta-llama/Llama"}, {"app": "x" * 64}, {"/x": "y"}, {"app": ""}, {"app": 1})
BAD_NAMES: Final = ("Node_1", "a" * 64, "-x", "", "gone", "a.b", "nod", "é")
ODD: Final[tuple[Any, ...]] = (
    None,
    "",
    "x",
    -1,
    0,
    2**31,
    10**20,
    1.5,
    True,
    [],
    {},
    "-1",
    "1e400",
    ["x"],
    {"x": "y"},
    [None],
)


def spoil(random: Random, documents: list[Tree]) -> None:
    """Insert one fault, sometimes two or three."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if random.random() < 0.4:
            random.choice(ANYWHERE)(random, *random.choice(list(_spots(documents))))
        else:
            random.choice(LIKELY)(random, documents)


def damaged(random: Random, tree: Tree) -> str:
    """Return a document's text with a typing error in its spec; errors in its kind or metadata would be differences."""
    lines = yaml.safe_dump(tree, sort_keys=False).splitlines()
    at = random.randrange(lines.index("spec:"), len(lines))
    line = lines[at]
    indentation = len(line) - len(line.lstrip(" -"))
    key = line.partition(":")[0]
    slips = [
        line[1:],
        " " + line,
        "\t" + line.lstrip(" "),
        line.replace(":", "", 1),
        line.replace(": ", ":", 1),
        f"{line}\n{line}",
        f"{line}: x",
        f"{key}: {{{{ .Values.x }}}}",
        f"{key}: *gone",
        f'{key}: "x',
        f"{key}: [a, b",
        f"{key}: 'it's'",
        f"{key}: @x",
        f"{key}: a: b",
        f"{key}: 007",
        f"{key}: yes",
        f"{key}: ~",
        f"{key}: |",
        f"{line} # why",
        f"{line[:indentation]}- {line[indentation:]}",
        f"# {line}",
        "",
    ]
    lines[at] = random.choice(slips)
    return "\n".join(lines)


def _spots(tree: Any) -> Iterator[Spot]:
    """Yield every field and list item in the specs of documents."""
    pairs = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    for key, value in pairs:
        if key not in KEPT and not (isinstance(value, dict) and "apiVersion" in value and "spec" in value):
            yield tree, key
        yield from _spots(value)


def _drop(random: Random, parent: Any, key: Any) -> None:
    del parent[key]


def _replace(random: Random, parent: Any, key: Any) -> None:
    parent[key] = random.choice(ODD)


def _retype(random: Random, parent: Any, key: Any) -> None:
    """Change the type of a value, as a template engine or a wrong indentation does."""
    value = parent[key]
    if isinstance(value, dict):
        parent[key] = [value]
    elif isinstance(value, list):
        parent[key] = value[0] if value else {}
    elif isinstance(value, str):
        parent[key] = random.choice([[value], {value: None}, 7, True])
    else:
        parent[key] = str(value).lower()


def _rename(random: Random, parent: Any, key: Any) -> None:
    """Misspell a field: change its case or drop a letter."""
    if isinstance(key, str):
        at = random.randrange(len(key) + 1)
        parent[random.choice([key[:at] + key[at + 1 :], key.lower(), key + "s", key[:at] + "x" + key[at:]])] = (
            parent.pop(key)
        )
    elif isinstance(parent[key], str):
        parent[key] = parent[key].upper()


def _repeat(random: Random, parent: Any, key: Any) -> None:
    """Repeat an item of a list; make a text very long."""
    if isinstance(parent, list):
        parent.insert(key, parent[key])
    elif isinstance(parent[key], str):
        parent[key] = (parent[key] or "x") * random.choice([2, 64, 300])
    elif isinstance(parent[key], list) and parent[key]:
        parent[key].append(parent[key][0])


def _misspell(random: Random, parent: Any, key: Any) -> None:
    """Change a value's case, drop a letter or add a space; negate a number."""
    value = parent[key]
    if isinstance(value, str):
        parent[key] = random.choice(
            [value.lower(), value.upper(), value[:-1], f"{value} ", f"{value}s", value.replace("-", "_")]
        )
    elif isinstance(value, int) and not isinstance(value, bool):
        parent[key] = -value if value else -1


ANYWHERE: Final = (_drop, _replace, _retype, _rename, _repeat, _misspell, _misspell)

Fault = Callable[[Random, list[Tree]], None]


def _pods(documents: list[Tree]) -> list[Tree]:
    """Return the pods of the runtime and of the patches, if they are still pods."""
    return [found for found in _mappings(documents) if isinstance(found.get("containers"), list)]


def _containers(documents: list[Tree]) -> list[Tree]:
    return [
        container
        for pod in _pods(documents)
        for key in ("containers", "initContainers")
        for container in pod.get(key) or ()
        if isinstance(container, dict)
    ]


def _mappings(tree: Any) -> Iterator[Tree]:
    if isinstance(tree, dict):
        yield tree
    for value in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _mappings(value)


def _jobs(documents: list[Tree]) -> list[Tree]:
    """Return the specs of Jobs: the mappings with a pod template."""
    return [
        found
        for found in _mappings(documents)
        if isinstance(found.get("template"), dict)
        and isinstance(found["template"].get("spec"), dict)
        and "containers" in found["template"]["spec"]
    ]


def container_fault(field: str, *values: Any) -> Fault:
    """Set a field of some container."""
    return _given(_containers, field, values)


def pod_fault(field: str, *values: Any) -> Fault:
    """Set a field of some pod."""
    return _given(_pods, field, values)


def job_fault(field: str, *values: Any) -> Fault:
    """Set a field in the spec of some Job."""
    return _given(_jobs, field, values)


def jobset_fault(field: str, *values: Any) -> Fault:
    """Set a field of the runtime's JobSet."""
    return _given(
        lambda documents: [found for found in _mappings(documents[0]) if "replicatedJobs" in found], field, values
    )


def trainer_fault(field: str, *values: Any) -> Fault:
    """Set a field of the TrainJob's trainer."""
    return _given(
        lambda documents: [
            found["trainer"] for found in _mappings(documents[1]) if isinstance(found.get("trainer"), dict)
        ],
        field,
        values,
    )


def named(field: str, *values: Any) -> Fault:
    """Change an existing field, at any path."""
    return _given(lambda documents: [found for found in _mappings(documents) if field in found], field, values)


def added(field: str, *values: Any) -> Fault:
    """Add an item to an existing list of some container or pod."""

    def fault(random: Random, documents: list[Tree]) -> None:
        lists = [found[field] for found in _mappings(documents) if isinstance(found.get(field), list)]
        if lists:
            random.choice(lists).append(_copy_of(random.choice(values)))

    return fault


def _given(where: Callable[[list[Tree]], list[Tree]], field: str, values: tuple[Any, ...]) -> Fault:
    def fault(random: Random, documents: list[Tree]) -> None:
        if found := where(documents):
            random.choice(found)[field] = _copy_of(random.choice(values))

    return fault


def _copy_of(value: Any) -> Any:
    """Return a copy, which the next fault may modify."""
    if isinstance(value, dict):
        return {key: _copy_of(item) for key, item in value.items()}
    return [_copy_of(item) for item in value] if isinstance(value, list) else value


def _wrong_label(random: Random, documents: list[Tree]) -> None:
    """Set an invalid label in a template's metadata; the TrainJob's own labels are the difference metadata-carried."""
    templates = [found for found in _mappings(documents) if "spec" in found and "apiVersion" not in found]
    if templates:
        metadata = random.choice(templates).setdefault("metadata", {})
        if isinstance(metadata, dict):
            metadata[random.choice(["labels", "annotations"])] = _copy_of(random.choice(BAD_LABELS))


def _wrong_name(random: Random, documents: list[Tree]) -> None:
    """Set an invalid TrainJob name, which is part of many other names."""
    documents[1]["metadata"]["name"] = random.choice([*BAD_NAMES, "j" * 45, "j" * 52, "j" * 60, "1a", "a_b"])


def _other_runtime(random: Random, documents: list[Tree]) -> None:
    documents[1]["spec"]["runtimeRef"] = random.choice(
        [{"name": "gone"}, {}, {"name": "r", "kind": "Runtime"}, {"name": "R"}]
    )


def _no_image(random: Random, documents: list[Tree]) -> None:
    if found := _containers(documents):
        random.choice(found).pop("image", None)


def _two_sources(random: Random, documents: list[Tree]) -> None:
    volumes = [volume for pod in _pods(documents) for volume in pod.get("volumes") or () if isinstance(volume, dict)]
    if volumes:
        random.choice(volumes)[random.choice(["emptyDir", "configMap", "hostPath"])] = {}


def _same_name(random: Random, documents: list[Tree]) -> None:
    """Give an object the name of another object of its kind."""
    for found in random.sample(many := list(_mappings(documents)), len(many)):
        lists = [value for value in found.values() if isinstance(value, list) and len(value) > 1]
        for items in lists:
            if all(isinstance(item, dict) and "name" in item for item in items):
                items[1]["name"] = items[0]["name"]
                return


def _above_limit(random: Random, documents: list[Tree]) -> None:
    name = random.choice(["cpu", "memory", "nvidia.com/gpu", "ephemeral-storage", "hugepages-2Mi"])
    resources = {"requests": {name: "4Gi"}, "limits": {name: random.choice(["2Gi", "1", 1])}}
    field, where = random.choice(
        [("resources", _containers(documents)), ("resourcesPerNode", [documents[1]["spec"]["trainer"]])]
    )
    if where:
        random.choice(where)[field] = resources


def _wrong_kind(random: Random, documents: list[Tree]) -> None:
    random.choice(documents)["kind"] = random.choice(["Trainjob", "TrainingRuntimes", "", None, 1])


QUANTITIES: Final = ("-1", "1.5", "2GB", "abc", "0", "500m", "1Mi", -2, "1e3", " 1", "5e-1")
LIKELY: Final[tuple[Fault, ...]] = (
    _wrong_label,
    _wrong_name,
    _wrong_kind,
    _other_runtime,
    _no_image,
    _two_sources,
    _same_name,
    _above_limit,
    *(named(key, *QUANTITIES) for key in ("cpu", "memory", "nvidia.com/gpu", "sizeLimit")),
    named("mountPath", "", "/mnt/v0", "../x", "a:b", "/extra"),
    named("key", "", "a b", "..", "a/b"),
    named("optional", "true", 1),
    named("operator", "in", "exists", "Equal", "Any", "all", ""),
    named("fieldPath", "metadata.labels['a']", "status.phase", "spec.host", ""),
    named("effect", "NoExecute", "noschedule", ""),
    named("containerPort", 0, 65536, -1, "80"),
    named("numNodes", 0, -1, "2", None, 1.5, 10_001),
    named("numProcPerNode", 0, -1, "auto", "gpu", "4"),
    named("storageUri", "", "no-scheme", "s3://"),
    named("manager", "", "Bad", "a.io/b", "kubeflow.org"),
    named("dependsOn", [{"name": "gone", "status": "Ready"}], [{"name": "node", "status": "ready"}]),
    named("targetReplicatedJobs", ["gone"], ["node", "node"], []),
    named("claimName", "", "A_b", "x" * 254),
    named("secretName", "", "A_b"),
    added(
        "volumeMounts", {"name": "gone", "mountPath": "/gone"}, {"name": "v0", "mountPath": "/mnt/v0"}, {"name": "v0"}
    ),
    added(
        "env",
        {"name": ""},
        {"name": "A=B"},
        {"value": "x"},
        {"name": "NCCL_DEBUG"},
        {"name": "PET_NNODES", "value": "1"},
    ),
    added("env", {"name": "X", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
    added("env", {"name": "X", "valueFrom": {}}, {"name": "X", "valueFrom": {"secretKeyRef": {"name": "s"}}}),
    added("env", {"name": "X", "value": 1}, {"name": "X", "value": True}),
    added(
        "ports",
        {"name": "metrics", "containerPort": 81},
        {"name": "b", "containerPort": 8080},
        {"name": "c", "containerPort": 70000},
    ),
    added("ports", {"name": "a_b", "containerPort": 90}, {"name": "d", "containerPort": 91, "protocol": "tcp"}),
    added("volumes", {"name": "v0", "emptyDir": {}}, {"name": "v9"}, {"name": "A_b", "emptyDir": {}}, {"emptyDir": {}}),
    added("replicatedJobs", {"name": "extra"}, {"name": "node"}, {"name": "extra", "template": {"spec": {}}}),
    added("containers", {"name": "other"}, {"image": "i"}, {"name": "node", "image": "i"}, {"name": "A", "image": "i"}),
    added("tolerations", {"operator": "Equal"}, {"key": "a", "operator": "Exists", "value": "b"}, {"key": "a b"}),
    container_fault("name", *BAD_NAMES),
    container_fault("image", "", " a:1", None),
    container_fault("imagePullPolicy", "ifnotpresent", "Sometimes", ""),
    container_fault("volumeMounts", [{"name": "gone", "mountPath": "/a"}], [{"mountPath": "/a"}]),
    container_fault(
        "resources", {"limits": {"gpu": 1}}, {"requests": {"nvidia.com/gpu": 1}}, {"limits": {"cpu": "-1"}}
    ),
    container_fault(
        "livenessProbe", {}, {"httpGet": {"port": 0}}, {"exec": {}, "tcpSocket": {"port": 1}}, {"periodSeconds": -1}
    ),
    container_fault("lifecycle", {"postStart": {}}, {"preStop": {"sleep": {"seconds": 0}}}),
    container_fault("securityContext", {"runAsUser": -1}, {"privileged": True, "allowPrivilegeEscalation": False}),
    container_fault("restartPolicy", "Always", "Never", "always"),
    container_fault("ports", [{"name": "a", "containerPort": 80, "hostPort": 81}]),
    container_fault(
        "envFrom",
        [{}],
        [{"configMapRef": {"name": "A_b"}, "secretRef": {"name": "x"}}],
        [{"prefix": "=", "secretRef": {"name": "x"}}],
    ),
    container_fault("command", "python train.py", [1], []),
    pod_fault("restartPolicy", "Always", "never", "OnFailure", ""),
    pod_fault("hostNetwork", True, "true"),
    pod_fault("nodeSelector", *BAD_LABELS),
    pod_fault("serviceAccountName", "A_b", "x" * 254),
    pod_fault(
        "securityContext",
        {"runAsUser": -1},
        {"fsGroup": 2**31},
        {"supplementalGroups": [-1]},
        {"sysctls": [{"name": "x y", "value": "1"}]},
    ),
    pod_fault("dnsPolicy", "None", "clusterfirst"),
    pod_fault("terminationGracePeriodSeconds", -1, "30", 0),
    pod_fault("priorityClassName", "A b", "system-node-critical"),
    pod_fault("imagePullSecrets", [{"name": ""}], [{}], [{"name": "a"}, {"name": "a"}], ["registry"]),
    pod_fault("hostAliases", [{"ip": "x"}], [{"ip": "10.0.0.1", "hostnames": ["A_b"]}]),
    pod_fault("schedulingGates", [{"name": "a b"}], [{"name": "kueue.x-k8s.io/admission"}]),
    pod_fault("runtimeClassName", "A_b"),
    pod_fault("overhead", {"cpu": "1"}, {"gpu": "1"}),
    pod_fault("resources", {"limits": {"cpu": "1"}}, {"limits": {"nvidia.com/gpu": 1}}),
    pod_fault("volumes", [{"name": "v0"}], [{"name": "v0", "emptyDir": {}, "secret": {"secretName": "s"}}], []),
    job_fault("backoffLimit", -1, "3"),
    job_fault("completions", 0, -1, 3),
    job_fault("parallelism", 0, -1, 3, 100_001),
    job_fault("completionMode", "indexed", "NonIndexed"),
    job_fault("activeDeadlineSeconds", -1, 0, 60),
    job_fault("ttlSecondsAfterFinished", -1),
    job_fault("podReplacementPolicy", "failed", "TerminatingOrFailed"),
    job_fault("backoffLimitPerIndex", 1, -1),
    job_fault("maxFailedIndexes", 1),
    job_fault(
        "podFailurePolicy", {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 0]}}]}
    ),
    job_fault("successPolicy", {"rules": []}, {"rules": [{"succeededIndexes": "0-9"}]}),
    job_fault("manualSelector", True),
    job_fault("selector", {"matchLabels": {"a": "b"}}),
    job_fault("managedBy", "x", "kueue.x-k8s.io/multikueue"),
    jobset_fault(
        "failurePolicy",
        {"maxRestarts": -1},
        {"rules": [{"action": "Stop"}]},
        {"rules": [{"name": "9", "action": "FailJobSet"}]},
    ),
    jobset_fault("successPolicy", {"operator": "any"}, {"operator": "All", "targetReplicatedJobs": ["gone"]}, {}),
    jobset_fault("coordinator", {"replicatedJob": "gone"}, {"replicatedJob": "node", "podIndex": 9}, {}),
    jobset_fault("startupPolicy", {"startupPolicyOrder": "InOrder"}, {"startupPolicyOrder": "inorder"}),
    jobset_fault("network", {"enableDNSHostnames": "yes"}, {"enableDNSHostnames": False}),
    jobset_fault("managedBy", "x", "a.io/b"),
    jobset_fault("ttlSecondsAfterFinished", -1),
    jobset_fault("suspend", True, "false"),
    trainer_fault("command", "python train.py", [1], [None]),
    trainer_fault(
        "resourcesPerNode",
        {"limits": {"gpu": 1}},
        {"requests": {"nvidia.com/gpu": 1}},
        {"limits": {"cpu": "-1"}},
        {"gpu": 1},
    ),
    trainer_fault(
        "env", [{"name": "A", "value": 1}], [{"name": "A"}, {"name": "A"}], {"A": "1"}, [{"name": "A B=", "value": "x"}]
    ),
    trainer_fault("image", "", " a", None, 5),
)
