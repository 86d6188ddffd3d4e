"""Lint triggers: cheap tests, rarely true for a good job, that decide which lint rules to run.

Reads    the whole plan, when its JobSet is complete; the annotation `trainc.dev/lint-ignore` of the TrainJob and of its
         runtime; the rules that the settings disable.
Returns  the ids of the rules to run, and those that are disabled. The rule itself (`lint/<rule>.py`) is imported only
         if its trigger applies, and decides whether there is a finding.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.data import data_table
from trainc.diagnostics import LintFinding
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.frameworks import traits
from trainc.pipeline.objects import QUEUE
from trainc.pipeline.plan import PROCESSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.objects import Traits
    from trainc.pipeline.plan import Plan

IGNORE: Final = "trainc.dev/lint-ignore"
"""The annotation that disables rules: their ids, separated by commas."""
UNKNOWN: Final = "unknown-rule"
"""The rule that finds other ids in the annotation."""
VALIDATE_ONLY: Final = frozenset({"no-gang", "ttl-repeats-training"})
"""The rules that only `validate` reports: whether their finding is a problem depends on the cluster, or on what is
applied to it.
"""

LONGEST_DEADLINE: Final = (2**63 - 1) // 10**9
"""Seconds. The Job controller counts a deadline in nanoseconds, in 64 bits."""
CONTAINERS: Final = ("containers", "initContainers")
HINTS: Final = ("auth", "bearer", "cred", "jwt", "key", "pass", "pat", "pwd", "secret", "token")
"""A variable whose name contains none of these holds no secret."""
OF_NCCL: Final = frozenset({"GLOO_SOCKET_IFNAME", "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "TP_SOCKET_IFNAME"})
"""Without one of these, NCCL settings cannot contradict one another."""
INTERFACES: Final = "NCCL_SOCKET_IFNAME"
"""This setting can also contradict the job, if it selects the interface `lo`."""
FROM_THE_CLUSTER: Final = "ClusterFirst"
"""The default of a pod's dnsPolicy, which resolves cluster names."""
KNOWN_MEDIA: Final = ("Memory", "HugePages")
"""The beginnings of the media of an emptyDir that the kubelet knows."""
NODES: Final = "PET_NNODES"
"""The variable with the number of nodes of torchrun, or with the minimum and the maximum."""
OVERCOMMITTED: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources of which a pod can use more than it requests."""

OPERATORS: Final = frozenset({"&", "&&", "|", "||", ">", ">>", "<", "<<", "2>", "2>&1", "&>", ">&2", "2>/dev/null"})
"""Words that only a shell interprets."""
FLAGS: Final = ("--nnodes", "--nproc", "--node", "--master", "--rdzv", "--standalone")
"""The beginnings of torchrun's flags that can contradict the plan."""
SIGNS: Final = (
    *("hf_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "_pat_", "glpat-", "npm_", "nvapi-", "xox", "AIza", "sk-"),
    *(".eyJ", "PRIVATE KEY-----"),
)
"""Parts of tokens and private keys."""
OF_FABRIC: Final = frozenset({"FI_PROVIDER", "NCCL_IB_DISABLE", "NCCL_IB_HCA", "NCCL_NET"})
"""Without one of these, the network settings cannot contradict the devices."""
OF_NODES: Final = frozenset(
    {"MX_CONFIG", "NNODES", "NUM_PROCESSES", "PADDLE_NNODES", "PET_NNODES", "TF_CONFIG", "WORLD_SIZE"}
)
"""The variables with the number of nodes, or with their hosts."""
COUNTING: Final = ("--num_machines", "--num-machines", "--num_nodes", "--num-nodes")
"""Flags of launchers with the number of nodes."""
OF_SCHEDULING: Final = (
    *("kueue", "volcano", "scheduling", "jobset", "kai."),
    *("istio", "linkerd", "vault", "telemetry.io", "gcsfuse", "cni.cncf", "karpenter", "autoscaler"),
)
"""Parts of the keys of queues, schedulers and injectors."""
STORAGE: Final = "STORAGE_URI"
"""The variable with the address of a model or a dataset, for an initializer."""
READABLE: Final = ("hf://", "s3://")
"""The addresses that all initializers of Trainer read."""
RANKS: Final = ("-n", "-c")
"""Parts of the words that set the number of ranks."""
SSHD: Final = ("sshd",)
LONGEST_COUNT: Final = 6
"""The most digits of a number of devices that a node can have."""
OF_CORES: Final = "0123456789m"
"""The last characters of usual amounts of cpu."""
LONGEST_CORES: Final = 3
"""The most digits of the cores that a node can have, apart from the largest nodes."""
DEFAULT_SCHEDULERS: Final = (None, "", "default-scheduler")
"""The values of schedulerName with which the default scheduler places a pod."""
OF_SCRIPT: Final = 3
"""The words of a shell that runs a script: `sh -c SCRIPT`."""
SHORTEST: Final = 12
"""Characters. A shorter text holds no token, and no address with a password."""


def turned_off(plan: Plan) -> tuple[frozenset[str], tuple[LintFinding, ...]]:
    """Return the disabled rules, and findings for unknown ids in the annotations that disable them."""
    of_job = plan.job.metadata("annotations").get(IGNORE)
    of_runtime = get(plan.runtime.value, ("metadata", "annotations", IGNORE))
    off = plan.quiet
    if plan.quiet_in is not None:
        off |= plan.quiet_in(plan.job.document.file) | plan.quiet_in(plan.runtime.document.file)
    if of_job is None and of_runtime is None:
        return off, ()
    from trainc.base.data import lint_rules

    ignored = [(rule, shared) for text, shared in ((of_job, False), (of_runtime, True)) for rule in listed(text)]
    off |= {rule for rule, _ in ignored}
    if UNKNOWN in off:
        return off, ()
    unknown = (LintFinding(UNKNOWN, (), (rule,), shared) for rule, shared in ignored if rule not in lint_rules())
    return off, tuple(unknown)


def listed(text: str | None) -> list[str]:
    """Return the ids in an annotation.

    >>> listed("no-gang, image-version,")
    ['no-gang', 'image-version']
    """
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def triggers(plan: Plan) -> Iterator[str]:
    """Yield the rules that the plan may break, some of them more than once."""
    spec, runtime = plan.objects[0]["spec"], plan.runtime
    framework = traits(runtime)
    if framework.independent_nodes and not plan.job.is_legacy:
        from trainc.pipeline.training import training_traits

        framework = training_traits(plan)
    if runtime.gang:
        yield from ("gang-asks-for-nothing", "gang-waits-for-itself")
        if "volcano" in runtime.gang and has_default_scheduler(spec):
            yield "gang-scheduler"
    elif not framework.independent_nodes and sum(plan.counts) > 1:
        yield "no-gang"
    if plan.job.is_legacy:
        yield from ("legacy-losses", "legacy-host", *(("gang-too-large",) if runtime.gang else ()))
    yield from lifetime_rules(plan, spec)
    yield from queued_rules(plan)
    network = spec["network"]
    if not (network.get("enableDNSHostnames", True) and network.get("publishNotReadyAddresses", True)):
        yield "rendezvous-host"
    per_node = plan.job.trainer.get("resourcesPerNode") or {}
    limits, requests = per_node.get("limits") or {}, per_node.get("requests") or {}
    if any(name in limits and name not in requests for name in OVERCOMMITTED):
        yield "runtime-request-stays"
    if framework.launcher:
        yield from mpi_rules(plan)
    if framework.starter and not any("gpu" in name.lower() for name in (*limits, *requests)):
        yield "gpu-processes"
    if may_have_unread_keys(plan):
        yield "key-not-read"
    count = str(plan.nodes)
    for job in spec.get("replicatedJobs") or ():
        if "dependsOn" in job:
            yield "depends-on-itself"
        yield from job_rules(plan, job["template"], framework, count)


def writes_cluster(plan: Plan) -> bool:
    """Return whether the framework sets TF_CONFIG."""
    return "tensorflow" in (plan.runtime.framework, traits(plan.runtime).family)


def lifetime_rules(plan: Plan, spec: Tree) -> Iterator[str]:
    """Yield the rules that the restarts and the end of a JobSet, and the variables of a TrainJob, may break."""
    for job in spec.get("replicatedJobs") or () if "failurePolicy" in spec else ():
        of_job = job["template"]["spec"]
        limit, pod = of_job.get("backoffLimit"), of_job["template"].get("spec") or {}
        if limit or (limit is None and pod.get("restartPolicy") == "OnFailure"):
            yield "restarts-multiply"
    if "ttlSecondsAfterFinished" in spec:
        yield "ttl-repeats-training"
    if "initializer" in plan.job.spec:
        yield "value-beside-source"
    for variable in plan.job.trainer.get("env") or ():
        if "valueFrom" in variable and variable.get("value"):
            yield "value-beside-source"


def job_rules(plan: Plan, template: Tree, framework: Traits, count: str) -> Iterator[str]:
    """Yield the rules that a replicated job's template, and the pods of it, may break."""
    spec = template["spec"]
    pod = spec["template"].get("spec") or {}
    if spec.get("activeDeadlineSeconds", 0) > LONGEST_DEADLINE:
        yield "deadline-overflow"
    if has_own_overhead(pod):
        yield "overhead-without-runtime-class"
    if "hostNetwork" in pod or pod.get("dnsPolicy", FROM_THE_CLUSTER) != FROM_THE_CLUSTER:
        yield from ("host-network-port", "rendezvous-host")
    for volume in pod.get("volumes") or ():
        if "persistentVolumeClaim" in volume and plan.library.claim_modes is not None:
            yield "claim-on-several-nodes"
        if (medium := get(volume, ("emptyDir", "medium"))) and not medium.startswith(KNOWN_MEDIA):
            yield "volume-medium"
    own = "TF_CONFIG" if writes_cluster(plan) else ""
    names_hosts = framework.independent_nodes or plan.job.is_jobset
    is_legacy = plan.job.is_legacy
    for key in CONTAINERS:
        for container in pod.get(key) or ():
            yield from container_rules(container, count, own)
            if names_hosts and may_name_host(container, plan.name):
                yield "rendezvous-host"
            is_only = is_legacy and len(pod[key]) == 1
            is_main = container.get("name") == framework.container or not framework.container or is_only
            if is_main and key == "containers":
                yield from node_rules(container, framework.family)


def has_default_scheduler(spec: Tree) -> bool:
    """Return whether the default scheduler places some pods."""
    pods = (job["template"]["spec"]["template"].get("spec") or {} for job in spec.get("replicatedJobs") or ())
    return any(pod.get("schedulerName") in DEFAULT_SCHEDULERS for pod in pods)


def mpi_rules(plan: Plan) -> Iterator[str]:
    """Yield the rules that a job with a launcher may break."""
    trainer, policy, known = plan.job.trainer, plan.runtime.policy or {}, traits(plan.runtime)
    for job, replicated in zip(plan.jobs, plan.objects[0]["spec"].get("replicatedJobs") or (), strict=False):
        of_pods = replicated["template"]["spec"]
        if job.get("name") == known.launcher:
            if may_refuse_key(of_pods):
                yield "ssh-key-mode"
            if has_word(of_pods, RANKS):
                yield "mpi-slots"
            if trainer.get("env"):
                yield "mpi-ranks-env"
        elif job.get("name") == known.node:
            if not has_word(of_pods, SSHD):
                yield "mpi-sshd"
        elif plan.job.own_runtime is None:
            yield "mpi-unlisted-job"
    if "image" in trainer or plan.job.own_runtime is not None:
        yield "mpi-image"
    if plan.job.own_runtime is None:
        nodes = (policy | trainer).get("numNodes", 1)
        if sum(map(plan.pods, range(len(plan.jobs)))) != nodes + (not plan.runtime.settings.get("runLauncherAsNode")):
            yield "mpi-nodes"


def has_word(job: Tree, parts: tuple[str, ...]) -> bool:
    """Return whether a word of a command of a Job's pods has one of these parts."""
    containers = (job["template"].get("spec") or {}).get("containers") or ()
    texts = (text for each in containers for key in ("command", "args") for text in each.get(key) or ())
    return any(part in text for text in texts for part in parts)


def may_refuse_key(job: Tree) -> bool:
    """Return whether ssh may refuse a key in the pods of a Job: unless each user is not root, and fsGroup is set."""
    pod = job["template"].get("spec") or {}
    of_pod = security_context(pod)
    users = (security_context(each).get("runAsUser", of_pod.get("runAsUser")) for each in pod.get("containers") or ())
    return "fsGroup" not in of_pod or not all(users)


def security_context(tree: Tree) -> Tree:
    """Return the security context of a pod or a container, or an empty mapping."""
    return tree.get("securityContext") or {}


def may_have_unread_keys(plan: Plan) -> bool:
    """Return whether the metadata of the JobSet and of its templates may have keys that no program reads."""
    if unread_among("JobSet", (*plan.labels,), (*plan.annotations,)):
        return True
    if QUEUE in get(plan.runtime.value, ("metadata", "labels"), {}):
        return True
    for job in plan.objects[0]["spec"].get("replicatedJobs") or ():
        template = job["template"]
        for holder, tree in (("Job", template), ("pod", template["spec"]["template"])):
            metadata = tree.get("metadata")
            if metadata and unread_among(
                holder, (*(metadata.get("labels") or ()),), (*(metadata.get("annotations") or ()),)
            ):
                return True
    return False


@lru_cache(maxsize=4096)
def unread_among(holder: str, labels: tuple[str, ...], annotations: tuple[str, ...]) -> bool:
    """Return whether no program may read one of the keys. Many jobs have the same keys."""
    fields = (("labels", labels), ("annotations", annotations))
    return any(may_be_unread(key, field, holder) for field, keys in fields for key in keys)


def may_be_unread(key: str, field: str, holder: str) -> bool:
    """Return whether a key belongs to a program that may not read it in this field of this object."""
    if not any(part in key for part in OF_SCHEDULING):
        return False
    from trainc.kubernetes.scheduling_keys import KEYS, VOLCANO, meant_key, pod_reader

    known = KEYS.get(key)
    if known is None:
        return (holder != "pod" and pod_reader(key) != "") or meant_key(key) is not None
    return field != known.field or holder not in known.holders or (key.startswith(VOLCANO) and holder == "JobSet")


def may_name_host(container: Tree, name: str) -> bool:
    """Return whether a variable may be a host name that begins with the name of the job, or with a reference to it."""
    for variable in container.get("env") or ():
        text = variable.get("value")
        if text and (f"{name}-" in text or ")-" in text):
            return True
    return False


def has_own_overhead(pod: Tree) -> bool:
    """Return whether a pod sets overhead that no RuntimeClass defines."""
    return bool(pod.get("overhead")) and not pod.get("runtimeClassName")


def queued_rules(plan: Plan) -> Iterator[str]:
    """Yield the rules that a JobSet with a Kueue queue may break."""
    if QUEUE not in plan.labels:
        return
    if plan.job.spec.get("suspend") or plan.delivery.suspend or (plan.patches and plan.patches.suspends):
        yield "suspended-with-queue"
    for job in plan.objects[0]["spec"].get("replicatedJobs") or ():
        pod = job["template"]["spec"]["template"].get("spec") or {}
        if "nodeSelector" in pod or "tolerations" in pod:
            yield "queue-placement"
        if not any(container.get("resources") for container in pod.get("containers") or ()):
            yield "queue-no-requests"


def container_rules(container: Tree, count: str, own: str) -> Iterator[str]:
    """Yield the rules that any container may break.

    count   the number of nodes, as a framework writes it
    own     the variable with the hosts, if the framework writes it
    """
    if not has_version(container.get("image", "")):
        yield "image-version"
    for variable in container.get("env") or ():
        if text := variable.get("value"):
            for rule in variable_rules(variable["name"], text):
                if rule == "literal-node-count":
                    if text != count and variable["name"] != own:
                        yield rule
                elif rule != "gpu-processes" or has_other_amount(container, text):
                    yield rule
    if "resources" in container:
        yield from resource_rules(container["resources"])
    if command := container.get("command"):
        has_space = " " in command[0] or "\n" in command[0] or "\t" in command[0]
        if has_space or (command[0].endswith("sh") and len(command) + len(container.get("args") or ()) > OF_SCRIPT):
            yield "command-words"
    for key in ("command", "args"):
        for word in container.get(key) or ():
            if rules := word_rules(word):
                yield from rules


def resource_rules(resources: Tree) -> Iterator[str]:
    """Yield the rules that the resources of any container may break."""
    for key in ("limits", "requests"):
        for name, amount in (resources.get(key) or {}).items():
            if "/" in name:
                if name not in data_table("devices"):
                    yield "resource-typo"
                if name.startswith("rdma/"):
                    yield "rdma-memory-lock"
                text = str(amount)
                if len(text) > LONGEST_COUNT or not text.isdecimal():
                    yield "device-count"
            elif name == "cpu":
                text = str(amount)
                if text[-1:] not in OF_CORES or (len(text) > LONGEST_CORES and text.isdecimal()):
                    yield "cpu-unit"
            elif name == "memory":
                text = str(amount)
                if text.endswith(("m", "u", "n", "k", "Ki")) or (text.isdecimal() and len(text) < 8):
                    yield "memory-unit"


def has_other_amount(container: Tree, text: str) -> bool:
    """Return whether a container has another amount than `text` of a device."""
    resources = container.get("resources") or {}
    amounts = (item for key in ("limits", "requests") for item in (resources.get(key) or {}).items())
    return any("/" in name and str(amount) != text for name, amount in amounts)


def may_hold_secret(text: str) -> bool:
    """Return whether a text may hold a token, a private key, or an address with a password."""
    if len(text) < SHORTEST:
        return False
    for sign in SIGNS:  # takes half the time of any(): this runs for each text of each job
        if sign in text:
            return True
    return "://" in text and "@" in text


def named_secret(word: str) -> bool:
    """Return whether a word of a command may name a secret: a flag, or an assignment in a script."""
    if word[:1] != "-" and "=" not in word and " -" not in word:
        return False
    lower = word.lower()
    return any(hint in lower for hint in HINTS)


@lru_cache(maxsize=4096)
def word_rules(word: str) -> tuple[str, ...]:
    """Return the rules that a word of a command may break."""
    found = ("secret-in-command",) if may_hold_secret(word) or named_secret(word) else ()
    if any(flag in word for flag in COUNTING):
        found = (*found, "literal-node-count")
    if "$(" in word:
        found = (*found, "env-not-expanded")
    return (*found, "command-words") if may_hold_option(word) else found


def may_hold_option(word: str) -> bool:
    """Return whether a word of a command begins with an option and may contain another one."""
    return word[:1] == "-" and (" -" in word or "\n-" in word or "\t-" in word)


def node_rules(container: Tree, family: str) -> Iterator[str]:
    """Yield the rules that a training container may break."""
    if "resources" not in container:
        yield "no-resources"
    elif family == "torch" and not any(shared_memory(mount) for mount in container.get("volumeMounts") or ()):
        yield "no-shared-memory"
    if command := container.get("command"):
        yield from command_rules(command, container.get("args") or (), family)


def command_rules(command: list[str], args: list[str] | tuple[()], family: str) -> Iterator[str]:
    """Yield the rules that the command of a training container may break."""
    python = command[0].rpartition("/")[2].startswith("python")
    for word in (*command, *args):
        if "$" in word or word in OPERATORS:
            yield "shell-words"
        if family == "torch" and is_of_torchrun(word):
            yield "torchrun-flags"
        if family == "torch" and python and (word == "-c" or word.endswith(".py")):
            yield "one-process"


@lru_cache(maxsize=4096)
def is_of_torchrun(word: str) -> bool:
    """Return whether a word may be a flag of torchrun, or a script that contains one."""
    return any(flag in word for flag in FLAGS)


def shared_memory(mount: Tree) -> bool:
    """Return whether a mount replaces the container's default shared memory."""
    return mount["mountPath"].rstrip("/") in ("/dev/shm", "/dev")


def has_version(image: str) -> bool:
    """Return whether an image has a fixed version: a digest, or a tag other than `latest`.

    >>> [has_version(image) for image in ("python", "localhost:5000/python", "python:latest", "python:3.13")]
    [False, False, False, True]
    """
    name = image.rpartition("/")[2]
    return "@" in name or (":" in name and not name.endswith(":latest"))


@lru_cache(maxsize=4096)
def variable_rules(name: str, text: str) -> tuple[str, ...]:
    """Return the rules that a variable with a literal value may break."""
    rules = []
    if name in OF_NCCL or (name == INTERFACES and "lo" in text):
        rules.append("nccl-settings")
    if names_secret(name) or may_hold_secret(text):
        rules.append("secret-in-env")
    if name in OF_NODES:
        rules.append("literal-node-count")
    if name == NODES and ":" in text:
        rules.append("elastic-range")
    if name == PROCESSES and text.isdecimal():
        rules.append("gpu-processes")
    if name in OF_FABRIC:
        rules.append("fabric-device")
    if "$" in text:
        rules.append("env-not-expanded")
    if name == STORAGE and not text.startswith(READABLE):
        rules.append("initializer-scheme")
    return tuple(rules)


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Return whether a variable of that name holds a secret."""
    if not any(hint in name.lower() for hint in HINTS):
        return False
    from trainc.masking.secret_names import is_secret

    return is_secret(name)
