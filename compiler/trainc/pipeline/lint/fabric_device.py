"""NCCL over a network whose devices the pods do not request, or requested devices that NCCL does not use.

Source: NCCL 2.28, its environment variables; aws-ofi-nccl 1.17, the plugin that uses EFA through libfabric, and
without a device leaves NCCL its sockets (NVIDIA/nccl#229); libfabric 2.1, FI_PROVIDER: a list of providers, or with
`^` of those that are not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.pod_resources import EFA, RDMA, device_amounts, is_accelerator
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import shortened
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule, pod_at, stored
from trainc.pipeline.plan import pod_spec
from trainc.pipeline.training import mains_of, training

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

MOFED: Final = "NVIDIA_MOFED"
"""The variable with which NVIDIA's container runtime mounts the devices."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the settings that do not fit the devices, in the containers that train on several nodes."""
    jobs = training(plan)
    if sum(map(plan.pods, jobs)) < 2:
        return
    for slot in mains_of(plan, jobs):
        if has_other_devices(plan, slot.job):
            continue
        container: Tree = get(stored(plan), slot.path, {})
        amounts = device_amounts(container.get("resources") or {})
        if plan.jobs[slot.job].get("name") == traits(plan.runtime).launcher and not any(map(is_accelerator, amounts)):
            continue  # mpirun passes its variables to the nodes
        last = {variable["name"]: index for index, variable in enumerate(container.get("env") or ())}
        settings = {name: (container["env"][index].get("value") or "").strip() for name, index in last.items()}
        if MOFED not in settings:
            for name, kind in misfits(settings, amounts):
                yield LintFinding("fabric-device", (*slot.path, "env", last[name]), (name, settings[name], kind))


def has_other_devices(plan: Plan, job: int) -> bool:
    """Return whether the pods of a job may have devices without a request.

    They are privileged, mount a folder of devices, have claims, or networks of their own.
    """
    pod = pod_at(plan, job)
    holders = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
    paths = (get(volume, ("hostPath", "path"), "") for volume in pod.get("volumes") or ())
    annotations = get(stored(plan), (*pod_spec(job)[:-1], "metadata", "annotations"), {})
    return bool(
        any(get(holder, ("securityContext", "privileged")) for holder in holders)
        or any(f"{path}/".startswith("/dev/") for path in paths)
        or pod.get("resourceClaims")
        or any(get(holder, ("resources", "claims")) for holder in holders)
        or any("network" in key for key in annotations)
    )


def misfits(settings: Mapping[str, str], amounts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the variables that do not fit the requested devices, each with the kind of the fault.

    >>> list(misfits({"FI_PROVIDER": "efa"}, {"nvidia.com/gpu": 8}))
    [('FI_PROVIDER', 'no-efa')]
    >>> list(misfits({"NCCL_IB_DISABLE": "1"}, {"rdma/hca": 1})), list(misfits({"NCCL_IB_DISABLE": "1"}, {EFA: 1}))
    ([('NCCL_IB_DISABLE', 'unused-rdma')], [])
    """
    provider, has_efa = settings.get("FI_PROVIDER", ""), EFA in amounts
    if provider == "efa" and not has_efa:
        yield "FI_PROVIDER", "no-efa"
    if has_efa and provider and not admits_efa(provider):
        yield "FI_PROVIDER", "unused-efa"
    if has_efa and settings.get("NCCL_NET", "").lower() == "socket":
        yield "NCCL_NET", "unused-efa"
    if settings.get("NCCL_IB_DISABLE") == "1":
        if not has_efa and any(name.startswith(RDMA) for name in amounts):
            yield "NCCL_IB_DISABLE", "unused-rdma"
    elif settings.get("NCCL_IB_HCA") and amounts and all(map(is_accelerator, amounts)):
        yield "NCCL_IB_HCA", "no-rdma"


def admits_efa(provider: str) -> bool:
    """Return whether libfabric uses EFA with a value of FI_PROVIDER.

    >>> [admits_efa(text) for text in ("efa", "efa;ofi_rxm,tcp", "^tcp", "tcp", "^efa")]
    [True, True, True, False, False]
    """
    named = any(name.partition(";")[0].strip() == "efa" for name in provider.removeprefix("^").split(","))
    return named is not provider.startswith("^")


MESSAGES: Final = {
    "no-efa": (
        f"the container requests no {EFA}: libfabric finds no device, and NCCL uses sockets",
        f"request {EFA} in the container, or remove the variable",
    ),
    "no-rdma": (
        "the container requests only accelerators: without a device of the network, NCCL uses sockets",
        "request the network's device, such as `rdma/hca: 1`, or remove the variable",
    ),
    "unused-efa": (
        f"the container requests {EFA}: NCCL then uses sockets, and the devices are idle",
        "remove the variable",
    ),
    "unused-rdma": (
        "the container requests a device of InfiniBand or RoCE: NCCL then uses sockets, and the device is idle",
        "remove the variable",
    ),
}
"""The reason and the help for each kind of finding."""


@lint_rule("fabric-device")
def warning(_: Plan, finding: LintFinding) -> Finding:
    """NCCL sends all data over TCP, which is many times slower."""
    name, value, kind = finding.what
    reason, help = MESSAGES[kind]
    return Finding(message=f"{name}={shortened(value)}, but {reason}", help=help)
