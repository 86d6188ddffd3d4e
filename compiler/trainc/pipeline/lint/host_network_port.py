"""Pods with hostNetwork that all use the same port.

Source: Kubernetes 1.36: with hostNetwork a container port is a port of the node, and the scheduler does not place two
pods with the same port on one node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.plan import gpus, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

FEW: Final = 1
"""GPUs. A pod with more GPUs is meant to use a whole node, or most of it."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the jobs of which two pods could share a node if their ports differed."""
    for job, count in enumerate(plan.counts):
        pod = pod_at(plan, job)
        if count > 1 and pod.get("hostNetwork") and not spread(pod) and devices(pod) <= FEW and (port := port_of(pod)):
            yield LintFinding("host-network-port", (*pod_spec(job), "hostNetwork"), (plan.jobs[job]["name"], str(port)))


def port_of(pod: Tree) -> int:
    """Return the first port that a container of the pod opens, or 0."""
    ports = (port for container in pod.get("containers") or () for port in container.get("ports") or ())
    return next((port["containerPort"] for port in ports), 0)


def devices(pod: Tree) -> int:
    """Return the number of GPUs of a pod."""
    return sum(gpus(container.get("resources") or {}) for container in pod.get("containers") or ())


def spread(pod: Tree) -> bool:
    """Return whether the pod spec spreads the pods over nodes."""
    return bool(get(pod, ("affinity", "podAntiAffinity")) or pod.get("topologySpreadConstraints"))


@lint_rule("host-network-port", "Same host port in several pods")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """No two of these pods are placed on one node, nor is one placed beside another job's pod with the same port."""
    name, port = finding.what
    return Finding(
        message=f'with hostNetwork, port {port} of the pods of job "{name}" is a port of the node: a node can run only '
        f"one of the {plan.counts[int(finding.path[1])]} pods, and no pod of another job with that port",
        help="remove hostNetwork, or set podAntiAffinity if each pod must have its own node",
    )
