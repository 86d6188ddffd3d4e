"""Pods that cannot resolve the rendezvous host name.

Without a framework policy, the variables of the runtime and the TrainJob have it: a host name that begins with the name
of the job must be that of a pod of its JobSet. Host names of other Services are not looked at.

Source: JobSet v0.12.0: a pod has a host name in DNS only if network.enableDNSHostnames is true, and without
publishNotReadyAddresses only once it is ready. Kubernetes 1.36: with hostNetwork, dnsPolicy ClusterFirst acts as
Default, which resolves no cluster names; None uses only dnsConfig.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.container_environment import expand
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.frameworks import main_container, traits
from trainc.pipeline.lint import containers, lint_rule, pod_at, stored
from trainc.pipeline.lint.triggers import FROM_THE_CLUSTER
from trainc.pipeline.plan import JOBSET_NAME, pod_spec
from trainc.pipeline.training import has_policy, training, training_traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.fixes import Fix
    from trainc.pipeline.plan import Plan

NETWORK: Final = ("network",)
ROLES: Final = ("chief", "evaluator", "launcher", "master", "node", "ps", "scheduler", "server", "worker")
"""The names of roles in host names, with which a host name needs no domain to be that of a pod."""
PROBES: Final = ("readinessProbe", "startupProbe")


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the settings that prevent nodes from resolving the host names that the framework policy uses."""
    if traits(plan.runtime).independent_nodes:
        yield from unknown_hosts(plan)
    jobs = resolving(plan)
    if not jobs:
        return
    network = stored(plan)["network"]
    if not network.get("enableDNSHostnames", True):
        yield LintFinding("rendezvous-host", (*NETWORK, "enableDNSHostnames"), ("no-names",))
        return
    if not network.get("publishNotReadyAddresses", True) and has_probe(plan):
        yield LintFinding("rendezvous-host", (*NETWORK, "publishNotReadyAddresses"), ("late-names",))
    for job in jobs:
        pod, path = pod_at(plan, job), pod_spec(job)
        policy = pod.get("dnsPolicy", FROM_THE_CLUSTER)
        if policy == FROM_THE_CLUSTER and pod.get("hostNetwork"):
            yield LintFinding("rendezvous-host", (*path, "hostNetwork"), ("host-network",))
        elif policy == "Default" or (policy == "None" and not searches_cluster(pod)):
            yield LintFinding("rendezvous-host", (*path, "dnsPolicy"), (policy,))


def unknown_hosts(plan: Plan) -> Iterator[LintFinding]:
    """Yield the variables with a host name in the form of the job's pods that no pod has."""
    name, domain = re.escape(plan.name), re.escape(plan.subdomain)
    in_domain = rf"-[\w-]+(?=\.{domain}(?![\w-]))"
    of_role = rf"-(?:{'|'.join(ROLES)})(?:-[0-9]+){{1,2}}(?![\w.-])"
    pattern = re.compile(rf"(?<![\w.-]){name}(?:{in_domain}|{of_role})")
    for path, container in containers(plan):
        known: dict[str, str] = {}
        for index, variable in enumerate(container.get("env") or ()):
            if get(variable, ("valueFrom", "fieldRef", "fieldPath")) == JOBSET_NAME:
                known[variable["name"]] = plan.name
            text = variable.get("value") or ""
            found = expand(text, lambda name, known=known: known.get(name, f"$({name})"))  # type: ignore[misc]
            for match in pattern.finditer(found) if isinstance(found, str) else ():
                if not is_pod(plan, match[0]):
                    yield LintFinding("rendezvous-host", (*path, "env", index, "value"), ("no-pod", match[0]))


def is_pod(plan: Plan, host: str) -> bool:
    """Return whether a host name without a domain is that of a pod."""
    for index, job in enumerate(stored(plan)["replicatedJobs"]):
        match = re.fullmatch(rf"{re.escape(plan.name)}-{re.escape(job['name'])}-([0-9]{{1,10}})-([0-9]{{1,10}})", host)
        if match and int(match[1]) < job.get("replicas", 1) and int(match[2]) < plan.counts[index]:
            return True
    return False


def resolving(plan: Plan) -> list[int]:
    """Return the jobs whose pods look up others by name: the trainers of several nodes, or mpirun's launcher.

    Elastic trainers may use a rendezvous server with its own host name instead.
    """
    framework = traits(plan.runtime)
    if framework.launcher:
        launcher = plan.named(framework.launcher)
        return [] if launcher is None else [launcher]
    elsewhere = get(plan.runtime.settings, ("elasticPolicy", "rdzvHost")) is not None
    jobs = [] if elsewhere or training_traits(plan).independent_nodes else training(plan)
    return jobs if sum(map(plan.pods, jobs)) > 1 else []


def has_probe(plan: Plan) -> bool:
    """Return whether the rendezvous pod has a probe, which may succeed only after the rendezvous; never a launcher."""
    slot = main_container(plan, plan.trainer)
    if slot is None or traits(plan.runtime).launcher:
        return False
    container = get(stored(plan), slot.path, {})
    return any(probe in container for probe in PROBES)


def searches_cluster(pod: Tree) -> bool:
    """Return whether a pod's own DNS search list has a cluster domain, `<namespace>.svc.<domain>`."""
    return any("svc" in domain.split(".") for domain in get(pod, ("dnsConfig", "searches"), []))


@lint_rule("rendezvous-host", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The policy gives every node the host name of the first one, which the nodes cannot resolve."""
    from trainc.base.fixes import addition, removal

    if finding.what[0] == "no-pod":
        _, host = finding.what
        message = f'"{host}" is the host name of no pod of JobSet "{plan.name}"'
        return Finding(message=message, help=f"use that of one of its pods, such as {plan.host(0, 0, 0)}")
    cause, help = MESSAGES[finding.what[0]]
    repair: str | Fix = help
    if finding.what[0] == "no-names":
        repair = removal(finding.path, help)
    elif finding.what[0] == "host-network" and "dnsPolicy" not in get(stored(plan), finding.path[:-1]):
        repair = addition((*finding.path[:-1], "dnsPolicy"), "ClusterFirstWithHostNet", help)
    use = f"the rendezvous endpoint is {plan.endpoint()}"
    if traits(plan.runtime).launcher:
        use = "the hostfile lists the nodes by host name"
    elif not has_policy(plan):
        use = "the nodes find the first one by host name"
    return Finding(message=f"{use}, but {cause}", help=repair)


MESSAGES: Final = {
    "no-names": (
        "with enableDNSHostnames: false no pod has a host name in DNS",
        "remove enableDNSHostnames: it is true by default",
    ),
    "late-names": (
        "with publishNotReadyAddresses: false that name resolves only when its pod is ready, which may be after the "
        "other pods need it",
        "remove publishNotReadyAddresses (it is true by default), or the probe",
    ),
    "host-network": (
        "a pod with hostNetwork uses its node's DNS, which does not resolve that name",
        "set dnsPolicy: ClusterFirstWithHostNet together with hostNetwork",
    ),
    "Default": (
        "with dnsPolicy: Default a pod uses its node's DNS, which does not resolve that name",
        "remove dnsPolicy, or set ClusterFirstWithHostNet with hostNetwork",
    ),
    "None": (
        "with dnsPolicy: None and no cluster domain in dnsConfig.searches that name does not resolve",
        "remove dnsPolicy, or add <namespace>.svc.cluster.local to dnsConfig.searches",
    ),
}
"""The cause and the help for each kind of finding."""
