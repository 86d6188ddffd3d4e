"""Pods with hostNetwork that all use the same port, or run sshd on the port of the node's own sshd.

Source: Kubernetes 1.36: with hostNetwork a container port is a port of the node, and the scheduler does not place two
pods with the same port on one node. OpenSSH 9.2: the port 22 unless an option or the configuration sets another one,
such as 2222 in the images of kubeflow/mpi-operator v0.4.0 and later.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import program, words
from trainc.kubernetes.trees import get
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.plan import gpus, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

SSH: Final = "22"
PORT_OPTIONS: Final = ("-p", "-f", "-o")
"""The options of sshd that may set the port."""
CONFIGURATION: Final = "/etc/ssh"
_PORT: Final = re.compile(r"(?:^|\s)-p ?\d|Port[= ]\d")
UPSTREAM: Final = ("mpioperator/", "kubeflow/trainer/")
"""Parts of the names of images whose sshd listens on port 2222."""
FEW: Final = 1
"""GPUs. A pod with more GPUs is meant to use a whole node, or most of it."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the jobs of which two pods could share a node if their ports differed."""
    nodes = plan.named(traits(plan.runtime).node)
    for job, count in enumerate(plan.counts):
        pod = pod_at(plan, job)
        if count and job == nodes and pod.get("hostNetwork") and uses_port_of_ssh(plan, pod):
            yield LintFinding(
                "host-network-port", (*pod_spec(job), "hostNetwork"), (plan.jobs[job]["name"], SSH, "sshd")
            )
        elif (
            count > 1 and pod.get("hostNetwork") and not spread(pod) and devices(pod) <= FEW and (port := port_of(pod))
        ):
            yield LintFinding("host-network-port", (*pod_spec(job), "hostNetwork"), (plan.jobs[job]["name"], str(port)))


def uses_port_of_ssh(plan: Plan, pod: Tree) -> bool:
    """Return whether sshd in the pods of MPI nodes listens on port 22, as far as the manifest shows."""
    launcher = plan.named(traits(plan.runtime).launcher)
    pods = (pod, *(() if launcher is None else (pod_at(plan, launcher),)))
    if any(may_set_port(container) for each in pods for container in each.get("containers") or ()):
        return False
    for container in pod.get("containers") or ():
        command = [word.text for word in words(container)]
        if command and program(command[0]) == "sshd":
            probes = (get(container, (probe, "tcpSocket", "port")) for probe in ("readinessProbe", "startupProbe"))
            ports = [str(port["containerPort"]) for port in container.get("ports") or ()]
            ports += [str(port) for port in probes if port is not None]
            is_default = not any(word.startswith(PORT_OPTIONS) for word in command[1:])
            return is_default and all(port == SSH for port in ports) and not is_of_upstream(container)
    return False


def may_set_port(container: Tree) -> bool:
    """Return whether a container mounts a configuration of ssh, or has a word or a variable with a port of it."""
    if any(mount["mountPath"].startswith(CONFIGURATION) for mount in container.get("volumeMounts") or ()):
        return True
    texts = [word.text for word in words(container)]
    texts += [variable.get("value") or "" for variable in container.get("env") or ()]
    return any(_PORT.search(text) for text in texts)


def is_of_upstream(container: Tree) -> bool:
    """Return whether an image of Kubeflow's sets another port."""
    return any(sign in container.get("image", "") for sign in UPSTREAM)


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


@lint_rule("host-network-port")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """No two of these pods are placed on one node, nor is one placed beside another job's pod with the same port."""
    name, port, *is_sshd = finding.what
    if is_sshd:
        return Finding(
            message=f'with hostNetwork, sshd in the pods of job "{name}" listens on port {port} of the node, which '
            "the node's own sshd or another pod already uses, unless the image sets another port",
            help="remove hostNetwork; or set a free port in sshd and ssh: `sshd -De -p 2222`, and `Port 2222` for ssh",
        )
    return Finding(
        message=f'with hostNetwork, port {port} of the pods of job "{name}" is a port of the node: a node can run only '
        f"one of the {plan.counts[int(finding.path[1])]} pods, and no pod of another job with that port",
        help="remove hostNetwork, or set podAntiAffinity if each pod must have its own node",
    )
