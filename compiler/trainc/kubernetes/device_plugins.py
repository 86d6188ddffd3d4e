"""The resources of device plugins: accelerators, by how processes share one, and the devices of networks.

Reads    the resources of a container and of its pod.
Returns  the amounts of resources with a domain, and the accelerators of a container.
Source   the documentation of the device plugins, as of 2026: NVIDIA k8s-device-plugin 0.18 (MIG and time-slicing), AMD,
         Intel, Gaudi, AWS Neuron (a Neuron device has 2 cores on Trn1 and Inf2, and 8 on Trn2, of which a logical core
         takes one or two), Huawei Ascend, Cambricon, MetaX, Iluvatar, Moore Threads, Hygon and Enflame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.quantity import Quantity

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

WHOLE: Final = frozenset(
    {
        *("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi"),
        *("aws.amazon.com/neuroncore", "huawei.com/Ascend310", "huawei.com/Ascend310P", "huawei.com/Ascend910"),
        *("cambricon.com/mlu", "metax-tech.com/gpu", "iluvatar.ai/gpu", "mthreads.com/gpu", "hygon.com/dcu"),
        *("enflame.com/gcu",),
    }
)
"""The accelerators of which each process of a framework uses one."""
MIG: Final = "nvidia.com/mig-"
"""The prefix of the instances into which MIG divides a GPU. CUDA gives a process one of them."""
NEURON: Final = frozenset({"aws.amazon.com/neuron", "aws.amazon.com/neurondevice"})
CORES_OF_NEURON: Final = (1, 2, 4, 8)
"""The numbers of processes that use one Neuron device."""
OTHERS: Final = frozenset(
    {
        *("google.com/tpu", "nvidia.com/gpu.shared", "nvidia.com/pgpu", "nvidia.com/vgpu", "volcano.sh/vgpu-number"),
        *("nvidia.com/gpumem", "nvidia.com/gpucores", "volcano.sh/vgpu-memory", "volcano.sh/gpu-number"),
        *("volcano.sh/gpu-memory", "tencent.com/vcuda-core", "tencent.com/vcuda-memory", "aliyun.com/gpu-mem"),
        *("mthreads.com/vgpu",),
    }
)
"""Accelerators, and parts of them, of which the number of processes does not follow."""
LARGEST: Final = 10**15
"""The largest amount that is counted."""
EFA: Final = "vpc.amazonaws.com/efa"
"""The network device of AWS, Elastic Fabric Adapter."""
RDMA: Final = "rdma/"
"""The prefix of the devices of InfiniBand and RoCE."""


class Accelerators(NamedTuple):
    """The accelerators of a container, all of one kind."""

    name: str
    """The resource."""
    number: int
    processes: tuple[int, ...]
    """The numbers of processes that use all of them."""


def device_amounts(resources: Tree) -> dict[str, int]:
    """Return the amounts of the resources with a domain that are not zero: the requests, else the limits.

    An amount above `LARGEST` is that.
    """
    found: dict[str, int] = {}
    for key in ("requests", "limits"):
        for name, text in (resources.get(key) or {}).items():
            if "/" in name and name not in found and (amount := Quantity.from_json(text)).sign > 0:
                found[name] = LARGEST if amount > Quantity(LARGEST) else amount.int64()
    return found


def is_accelerator(name: str) -> bool:
    """Return whether a resource is an accelerator or a part of one.

    >>> [is_accelerator(name) for name in ("nvidia.com/mig-1g.5gb", "acme.io/gpu", "rdma/hca")]
    [True, True, False]
    """
    return name in WHOLE | NEURON | OTHERS or "gpu" in name.lower() or name.startswith(MIG)


def accelerators(resources: Tree) -> Accelerators | None:
    """Return the accelerators of a container; None without any, and if the number of processes does not follow."""
    if resources.get("claims"):
        return None
    found = [(name, number) for name, number in device_amounts(resources).items() if is_accelerator(name)]
    if len(found) != 1:
        return None
    ((name, number),) = found
    if name in WHOLE or name.startswith(MIG):
        return Accelerators(name, number, (number,))
    return Accelerators(name, number, tuple(number * cores for cores in CORES_OF_NEURON)) if name in NEURON else None
