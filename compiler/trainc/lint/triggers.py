"""Signs of what nobody refuses, and its user would finding: cheap to see, and rare in a good job.

Reads    the whole plan, when the JobSet is made; the annotation `trainc.dev/lint-ignore` of the TrainJob, and of its
         runtime; the rules that the settings turn off.
Returns  it with lint_findings. They become warnings when all TrainJobs are done (`checks.lint`): one for each cause.

What is here are signs, cheap to see and rare in a good job; the rule itself (`lint/<rule>.py`) is loaded when
there is one, and decides.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import LintFinding
from trainc.kubernetes.trees import Tree, get
from trainc.plan import NODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

IGNORE: Final = "trainc.dev/lint-ignore"
"""The annotation that turns rules off: their ids, with commas between them."""
RULES: Final = (
    "gang-asks-for-nothing",
    "gang-waits-for-itself",
    "host-network-port",
    "image-version",
    "nccl-settings",
    "no-gang",
    "no-resources",
    "no-shared-memory",
    "rendezvous-host",
    "runtime-request-stays",
    "secret-in-env",
    "unknown-rule",
)
"""The rules, each a file in `lint`."""
ELSEWHERE: Final = ("torchtune-config",)
"""Advice that a framework's own checks give."""
VALIDATE_ONLY: Final = "no-gang"
"""What is said to those alone who ask for everything: where nodes are many, nothing is wrong with it."""
IDS: Final = frozenset({*RULES, *ELSEWHERE})
"""What can be turned off."""

CONTAINERS: Final = ("containers", "initContainers")
HINTS: Final = ("auth", "bearer", "cred", "jwt", "key", "pass", "pat", "pwd", "secret", "token")
"""A name without any of these in it is no secret's."""
OF_NCCL: Final = frozenset(
    {"GLOO_SOCKET_IFNAME", "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "NCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME"}
)
"""Without one of these, settings of NCCL cannot contradict one another."""
FROM_THE_CLUSTER: Final = "ClusterFirst"
"""The default of a pod's dnsPolicy: the cluster's names are known."""
OVERSOLD: Final = ("cpu", "memory", "ephemeral-storage")
"""Of which a pod may be granted less than it uses."""


def turned_off(plan: Plan) -> tuple[frozenset[str], tuple[LintFinding, ...]]:
    """The rules that are not asked, and what is wrong with the annotations that say so."""
    of_job = plan.job.metadata("annotations").get(IGNORE)
    of_runtime = get(plan.runtime.value, ("metadata", "annotations", IGNORE))
    if of_job is None and of_runtime is None:
        return plan.quiet, ()
    said = [(rule, shared) for text, shared in ((of_job, False), (of_runtime, True)) for rule in listed(text)]
    unknown = (LintFinding("unknown-rule", (), (rule,), shared) for rule, shared in said if rule not in IDS)
    return plan.quiet | {rule for rule, _ in said}, tuple(unknown)


def listed(text: str | None) -> list[str]:
    """The ids of an annotation.

    >>> listed("no-gang, image-version,")
    ['no-gang', 'image-version']
    """
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def triggers(plan: Plan) -> Iterator[str]:
    """The rules that may not be kept."""
    spec = plan.objects[0]["spec"]
    runtime = plan.runtime
    if runtime.gang:
        yield from ("gang-asks-for-nothing", "gang-waits-for-itself")
    elif runtime.framework != "plain" and sum(plan.counts) > 1:
        yield "no-gang"
    network = spec["network"]
    if not (network.get("enableDNSHostnames", True) and network.get("publishNotReadyAddresses", True)):
        yield "rendezvous-host"
    said = plan.job.trainer.get("resourcesPerNode") or {}
    limits, requests = said.get("limits") or {}, said.get("requests") or {}
    if any(name in limits and name not in requests for name in OVERSOLD):
        yield "runtime-request-stays"
    for job in spec.get("replicatedJobs") or ():
        pod = job["template"]["spec"]["template"].get("spec") or {}
        if "hostNetwork" in pod or pod.get("dnsPolicy", FROM_THE_CLUSTER) != FROM_THE_CLUSTER:
            yield from ("host-network-port", "rendezvous-host")
        for key in CONTAINERS:
            for container in pod.get(key) or ():
                yield from of_container(container)
                if container.get("name") == NODE and key == "containers":
                    yield from of_node(container, runtime.framework)


def of_container(container: Tree) -> Iterator[str]:
    """The signs of any container."""
    if not versioned(container.get("image", "")):
        yield "image-version"
    for variable in container.get("env") or ():
        if variable.get("value") and (rule := about(variable["name"])):
            yield rule


def of_node(container: Tree, framework: str) -> Iterator[str]:
    """The signs of a container in which the training runs."""
    if "resources" not in container:
        yield "no-resources"
    elif framework == "torch" and not any(shared_memory(mount) for mount in container.get("volumeMounts") or ()):
        yield "no-shared-memory"


def shared_memory(mount: Tree) -> bool:
    """Whether a volume takes the place of the container's own shared memory."""
    return mount["mountPath"].rstrip("/") in ("/dev/shm", "/dev")


def versioned(image: str) -> bool:
    """Whether an image says which one it is: by a digest, or a tag that is not `latest`.

    >>> [versioned(image) for image in ("python", "localhost:5000/python", "python:latest", "python:3.13")]
    [False, False, False, True]
    """
    name = image.rpartition("/")[2]
    return "@" in name or (":" in name and not name.endswith(":latest"))


@lru_cache(maxsize=4096)
def about(name: str) -> str:
    """The rule that has something to say of a variable with a fixed value."""
    if name in OF_NCCL:
        return "nccl-settings"
    if any(hint in name.lower() for hint in HINTS):
        from trainc.source.names import is_secret

        return "secret-in-env" if is_secret(name) else ""
    return ""
