"""Pods on the network of their node, all with the same port.

Source: Kubernetes 1.36: with hostNetwork a container's port is a port of the node, and the scheduler puts no two pods
on a node that want the same one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.lint import pod_at
from trainc.plan import gpus, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan

FEW: Final = 1
"""GPUs. With more, a pod is meant to have a node for itself, or most of it."""


def find(plan: Plan) -> Iterator[Regret]:
    """The jobs of which two pods would fit on a node but for their port."""
    for job, count in enumerate(plan.counts):
        pod = pod_at(plan, job)
        if count > 1 and pod.get("hostNetwork") and not spread(pod) and devices(pod) <= FEW and (port := port_of(pod)):
            yield Regret("host-network-port", (*pod_spec(job), "hostNetwork"), (plan.jobs[job]["name"], str(port)))


def port_of(pod: Tree) -> int:
    """The first port that a container of the pod opens; 0 where there is none."""
    ports = (port for container in pod.get("containers") or () for port in container.get("ports") or ())
    return next((port["containerPort"] for port in ports), 0)


def devices(pod: Tree) -> int:
    """The GPUs of a pod."""
    return sum(gpus(container.get("resources") or {}) for container in pod.get("containers") or ())


def spread(pod: Tree) -> bool:
    """Whether the pods are meant to be on nodes of their own."""
    return bool(get(pod, ("affinity", "podAntiAffinity")) or pod.get("topologySpreadConstraints"))


@check(
    "host-network-port",
    stage="lint",
    severity="warning",
    title="Pods on the host's network want the same port",
    own=True,
)
def host_network_port(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """No two of them are placed on one node, nor one beside another job's with that port, whatever room there is."""
    name, port = regret.what
    yield Finding(
        message=f'with hostNetwork, port {port} of the pods of job "{name}" is a port of the node: a node takes one of '
        f"the {plan.counts[int(regret.path[1])]} pods, and no other job's with that port",
        help="leave hostNetwork out; or, if a pod is to have a node for itself, say so with podAntiAffinity",
        field=field_of(("spec", *regret.path)),
    )


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (host_network_port,)
