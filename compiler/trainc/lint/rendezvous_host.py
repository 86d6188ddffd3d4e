"""Pods that cannot find the pod where all of them are to meet.

Source: JobSet v0.12.0: a pod has a host name in DNS only where network.enableDNSHostnames is true, and without
publishNotReadyAddresses only once it is ready. Kubernetes 1.36: with hostNetwork, dnsPolicy ClusterFirst is Default,
which knows no name of the cluster; None knows what dnsConfig says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import field_of
from trainc.lint import pod_at, stored, training
from trainc.lint.signs import FROM_THE_CLUSTER
from trainc.plan import NODE, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

LAUNCHER: Final = "launcher"
NETWORK: Final = ("network",)
PROBES: Final = ("readinessProbe", "startupProbe")


def find(plan: Plan) -> Iterator[Regret]:
    """What keeps a node from finding the others by their host names; of a policy that has them meet so."""
    jobs = asking(plan)
    if not jobs:
        return
    network = stored(plan)["network"]
    if not network.get("enableDNSHostnames", True):
        yield Regret("rendezvous-host", (*NETWORK, "enableDNSHostnames"), ("no-names",))
        return
    if not network.get("publishNotReadyAddresses", True) and waits_to_be_ready(plan):
        yield Regret("rendezvous-host", (*NETWORK, "publishNotReadyAddresses"), ("late-names",))
    for job in jobs:
        pod, path = pod_at(plan, job), pod_spec(job)
        policy = pod.get("dnsPolicy", FROM_THE_CLUSTER)
        if policy == FROM_THE_CLUSTER and pod.get("hostNetwork"):
            yield Regret("rendezvous-host", (*path, "hostNetwork"), ("host-network",))
        elif policy == "Default" or (policy == "None" and not searches_the_cluster(pod)):
            yield Regret("rendezvous-host", (*path, "dnsPolicy"), (policy,))


def asking(plan: Plan) -> list[int]:
    """The jobs of which a pod looks others up by name: the trainers of several nodes, or mpirun's launcher.

    Elastic ones may meet elsewhere, at a server that no name of a pod leads to.
    """
    if plan.runtime.framework == "mpi":
        launcher = plan.named(LAUNCHER)
        return [] if launcher is None else [launcher]
    elsewhere = get(plan.runtime.settings, ("elasticPolicy", "rdzvHost")) is not None
    jobs = [] if elsewhere or plan.runtime.framework == "plain" else training(plan)
    return jobs if sum(plan.counts[job] for job in jobs) > 1 else []


def waits_to_be_ready(plan: Plan) -> bool:
    """Whether the pod where all meet is ready only after something that may well be the meeting; mpirun's nodes are."""
    slot = plan.find(plan.trainer, NODE)
    if slot is None or plan.runtime.framework == "mpi":
        return False
    container = get(stored(plan), slot.path, {})
    return any(probe in container for probe in PROBES)


def searches_the_cluster(pod: Tree) -> bool:
    """Whether a pod's own resolver knows the namespaces of a cluster, `<namespace>.svc.<domain>`."""
    return any("svc" in domain.split(".") for domain in get(pod, ("dnsConfig", "searches"), []))


@check("rendezvous-host", stage="lint", severity="warning", title="The nodes cannot find one another by name", own=True)
def rendezvous_host(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """The policy tells every node the host name of the first one, and nobody can resolve it."""
    why, help = WORDS[regret.what[0]]
    of_mpi = plan.runtime.framework == "mpi"
    where = "the hostfile names the nodes" if of_mpi else f"the nodes meet at {plan.endpoint()}"
    yield Finding(message=f"{where}, and {why}", help=help, field=field_of(("spec", *regret.path)))


WORDS: Final = {
    "no-names": (
        "with enableDNSHostnames: false no pod has a host name in DNS",
        "leave enableDNSHostnames out: it is true by default",
    ),
    "late-names": (
        "with publishNotReadyAddresses: false that name is known once its pod is ready, which it may not be before "
        "the others have come",
        "leave publishNotReadyAddresses out (it is true by default), or the probe",
    ),
    "host-network": (
        "a pod with hostNetwork asks its node's DNS, which does not know that name",
        "set dnsPolicy: ClusterFirstWithHostNet beside hostNetwork",
    ),
    "Default": (
        "with dnsPolicy: Default a pod asks its node's DNS, which does not know that name",
        "leave dnsPolicy out, or with hostNetwork set ClusterFirstWithHostNet",
    ),
    "None": (
        "with dnsPolicy: None and no domain of the cluster in dnsConfig.searches that name is not found",
        "leave dnsPolicy out, or add <namespace>.svc.cluster.local to dnsConfig.searches",
    ),
}
"""What is in the way, and the way out, by what a regret says."""

CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (rendezvous_host,)
