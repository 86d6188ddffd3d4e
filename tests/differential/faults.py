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


def of_containers(field: str, *values: Any) -> Fault:
    """Set a field of some container."""
    return _given(_containers, field, values)


def of_pods(field: str, *values: Any) -> Fault:
    """Set a field of some pod."""
    return _given(_pods, field, values)


def of_jobs(field: str, *values: Any) -> Fault:
    """Set a field in the spec of some Job."""
    return _given(_jobs, field, values)


def of_jobsets(field: str, *values: Any) -> Fault:
    """Set a field of the runtime's JobSet."""
    return _given(
        lambda documents: [found for found in _mappings(documents[0]) if "replicatedJobs" in found], field, values
    )


def of_trainers(field: str, *values: Any) -> Fault:
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
            random.choice(lists).append(_fresh(random.choice(values)))

    return fault


def _given(where: Callable[[list[Tree]], list[Tree]], field: str, values: tuple[Any, ...]) -> Fault:
    def fault(random: Random, documents: list[Tree]) -> None:
        if found := where(documents):
            random.choice(found)[field] = _fresh(random.choice(values))

    return fault


def _fresh(value: Any) -> Any:
    """Return a copy, which the next fault may modify."""
    if isinstance(value, dict):
        return {key: _fresh(item) for key, item in value.items()}
    return [_fresh(item) for item in value] if isinstance(value, list) else value


def _wrong_label(random: Random, documents: list[Tree]) -> None:
    """Set an invalid label in a template's metadata; the TrainJob's own labels are the difference metadata-carried."""
    templates = [found for found in _mappings(documents) if "spec" in found and "apiVersion" not in found]
    if templates:
        metadata = random.choice(templates).setdefault("metadata", {})
        if isinstance(metadata, dict):
            metadata[random.choice(["labels", "annotations"])] = _fresh(random.choice(BAD_LABELS))


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
    of_containers("name", *BAD_NAMES),
    of_containers("image", "", " a:1", None),
    of_containers("imagePullPolicy", "ifnotpresent", "Sometimes", ""),
    of_containers("volumeMounts", [{"name": "gone", "mountPath": "/a"}], [{"mountPath": "/a"}]),
    of_containers("resources", {"limits": {"gpu": 1}}, {"requests": {"nvidia.com/gpu": 1}}, {"limits": {"cpu": "-1"}}),
    of_containers(
        "livenessProbe", {}, {"httpGet": {"port": 0}}, {"exec": {}, "tcpSocket": {"port": 1}}, {"periodSeconds": -1}
    ),
    of_containers("lifecycle", {"postStart": {}}, {"preStop": {"sleep": {"seconds": 0}}}),
    of_containers("securityContext", {"runAsUser": -1}, {"privileged": True, "allowPrivilegeEscalation": False}),
    of_containers("restartPolicy", "Always", "Never", "always"),
    of_containers("ports", [{"name": "a", "containerPort": 80, "hostPort": 81}]),
    of_containers(
        "envFrom",
        [{}],
        [{"configMapRef": {"name": "A_b"}, "secretRef": {"name": "x"}}],
        [{"prefix": "=", "secretRef": {"name": "x"}}],
    ),
    of_containers("command", "python train.py", [1], []),
    of_pods("restartPolicy", "Always", "never", "OnFailure", ""),
    of_pods("hostNetwork", True, "true"),
    of_pods("nodeSelector", *BAD_LABELS),
    of_pods("serviceAccountName", "A_b", "x" * 254),
    of_pods(
        "securityContext",
        {"runAsUser": -1},
        {"fsGroup": 2**31},
        {"supplementalGroups": [-1]},
        {"sysctls": [{"name": "x y", "value": "1"}]},
    ),
    of_pods("dnsPolicy", "None", "clusterfirst"),
    of_pods("terminationGracePeriodSeconds", -1, "30", 0),
    of_pods("priorityClassName", "A b", "system-node-critical"),
    of_pods("imagePullSecrets", [{"name": ""}], [{}], [{"name": "a"}, {"name": "a"}], ["registry"]),
    of_pods("hostAliases", [{"ip": "x"}], [{"ip": "10.0.0.1", "hostnames": ["A_b"]}]),
    of_pods("schedulingGates", [{"name": "a b"}], [{"name": "kueue.x-k8s.io/admission"}]),
    of_pods("runtimeClassName", "A_b"),
    of_pods("overhead", {"cpu": "1"}, {"gpu": "1"}),
    of_pods("resources", {"limits": {"cpu": "1"}}, {"limits": {"nvidia.com/gpu": 1}}),
    of_pods("volumes", [{"name": "v0"}], [{"name": "v0", "emptyDir": {}, "secret": {"secretName": "s"}}], []),
    of_jobs("backoffLimit", -1, "3"),
    of_jobs("completions", 0, -1, 3),
    of_jobs("parallelism", 0, -1, 3, 100_001),
    of_jobs("completionMode", "indexed", "NonIndexed"),
    of_jobs("activeDeadlineSeconds", -1, 0, 60),
    of_jobs("ttlSecondsAfterFinished", -1),
    of_jobs("podReplacementPolicy", "failed", "TerminatingOrFailed"),
    of_jobs("backoffLimitPerIndex", 1, -1),
    of_jobs("maxFailedIndexes", 1),
    of_jobs(
        "podFailurePolicy", {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 0]}}]}
    ),
    of_jobs("successPolicy", {"rules": []}, {"rules": [{"succeededIndexes": "0-9"}]}),
    of_jobs("manualSelector", True),
    of_jobs("selector", {"matchLabels": {"a": "b"}}),
    of_jobs("managedBy", "x", "kueue.x-k8s.io/multikueue"),
    of_jobsets(
        "failurePolicy",
        {"maxRestarts": -1},
        {"rules": [{"action": "Stop"}]},
        {"rules": [{"name": "9", "action": "FailJobSet"}]},
    ),
    of_jobsets("successPolicy", {"operator": "any"}, {"operator": "All", "targetReplicatedJobs": ["gone"]}, {}),
    of_jobsets("coordinator", {"replicatedJob": "gone"}, {"replicatedJob": "node", "podIndex": 9}, {}),
    of_jobsets("startupPolicy", {"startupPolicyOrder": "InOrder"}, {"startupPolicyOrder": "inorder"}),
    of_jobsets("network", {"enableDNSHostnames": "yes"}, {"enableDNSHostnames": False}),
    of_jobsets("managedBy", "x", "a.io/b"),
    of_jobsets("ttlSecondsAfterFinished", -1),
    of_jobsets("suspend", True, "false"),
    of_trainers("command", "python train.py", [1], [None]),
    of_trainers(
        "resourcesPerNode",
        {"limits": {"gpu": 1}},
        {"requests": {"nvidia.com/gpu": 1}},
        {"limits": {"cpu": "-1"}},
        {"gpu": 1},
    ),
    of_trainers(
        "env", [{"name": "A", "value": 1}], [{"name": "A"}, {"name": "A"}], {"A": "1"}, [{"name": "A B=", "value": "x"}]
    ),
    of_trainers("image", "", " a", None, 5),
)
