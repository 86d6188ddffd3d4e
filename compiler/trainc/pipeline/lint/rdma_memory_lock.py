"""Devices of RDMA in a container that may not lock memory.

Source: the InfiniBand verbs, which lock the memory that they register (ibv_reg_mr, rdma-core 58); Linux, which limits
it to RLIMIT_MEMLOCK without CAP_IPC_LOCK. The examples of k8snetworkplumbingwg/k8s-rdma-shared-dev-plugin 1.5 have the
capability. The resource of EFA has another name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.pod_resources import RDMA, device_amounts
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import containers, lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

LOCKING: Final = frozenset({"ALL", "IPC_LOCK", "CAP_IPC_LOCK"})


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the devices of containers without the capability."""
    for path, container in containers(plan):
        context = container.get("securityContext") or {}
        if context.get("privileged") or not LOCKING.isdisjoint(get(context, ("capabilities", "add"), ())):
            continue
        resources = container.get("resources") or {}
        for name in device_amounts(resources):
            if name.startswith(RDMA):
                kind = "limits" if name in (resources.get("limits") or {}) else "requests"
                yield LintFinding("rdma-memory-lock", (*path, "resources", kind, name), (name,), key=True)


@lint_rule("rdma-memory-lock")
def warning(_: Plan, finding: LintFinding) -> Finding:
    """RDMA locks the memory that it sends from; without the capability, a limit of often 64 KiB or 8 MiB applies."""
    (name,) = finding.what
    return Finding(
        message=f"the container requests {name}, but may not lock memory: NCCL can fail to register its buffers",
        help="add IPC_LOCK to securityContext.capabilities.add of the container",
    )
