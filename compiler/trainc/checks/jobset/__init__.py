"""JobSet's webhook: what it refuses in a JobSet on its creation.

Reads    the JobSet as the API server stores it, defaults filled in.
Returns  violations. Where the webhook names no field, theirs is the place; where it says one thing twice (a name that
         is too long for a Job is too long for its pods), they say it once.
Source   JobSet v0.12.0, its webhook with the feature gates as they are by default. A claim that is in the cluster
         already is not known here.

Here is what concerns every JobSet; `policies` and `claims` are loaded for a JobSet that has such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.names import LONGEST_LABEL
from trainc.kubernetes.violations import Violation, field_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree


GROUP_NAME: Final = Declaration("group-name", ("jobset",), "The group name of a replicated job is not valid")
JOBSET_MANAGED_BY: Final = Declaration(
    "jobset-managed-by", ("jobset",), "The name of the controller that manages a JobSet is not valid"
)
REPLICATED_JOB_NAME: Final = Declaration(
    "replicated-job-name", ("jobset",), "The name of a replicated job does not fit into the names of its Jobs"
)
SUBDOMAIN: Final = Declaration("subdomain", ("jobset",), "The subdomain of the pods is not valid")
TOO_MANY_PODS: Final = Declaration(
    "too-many-pods", ("jobset",), "A replicated job would run more pods than can be counted"
)

RELEASE: Final = "jobset-0.12"
"""The folder of the schemas of that release."""
SUFFIX: Final = "-xxxxx"
"""What the Job controller adds to a pod's name, here with letters for its random ones."""
MOST_PODS: Final = 2**31 - 1
LETTERS: Final = "use lower-case letters, digits and `-`"


def violations(jobset: Tree) -> list[Violation]:
    """Everything that the webhook would refuse."""
    spec = jobset["spec"]
    found = [*_network(spec), *_manager(spec)]
    for index, job in enumerate(spec.get("replicatedJobs") or ()):
        path: Path = ("spec", "replicatedJobs", index)
        found += [*_pods(job, path), *_group(job, path), *_names(jobset["metadata"]["name"], job, path)]
    if _has_policies(spec):
        from trainc.checks.jobset import policies

        found += policies.violations(jobset)
    if spec.get("volumeClaimPolicies"):
        from trainc.checks.jobset import claims

        found += claims.violations(jobset)
    return found


def _has_policies(spec: Tree) -> bool:
    """Whether any of what `policies` looks at is there."""
    failure = spec.get("failurePolicy") or {}
    return bool(
        spec.get("coordinator")
        or failure.get("rules")
        or failure.get("restartStrategy") == "InPlaceRestart"
        or (spec.get("successPolicy") or {}).get("targetReplicatedJobs")
        or any("dependsOn" in job for job in spec.get("replicatedJobs") or ())
    )


def _network(spec: Tree) -> Iterator[Violation]:
    """The subdomain is the name of a Service: whatever is one is a domain, too."""
    subdomain = (spec.get("network") or {}).get("subdomain")
    if subdomain and names.is_dns1035_label(subdomain):
        from trainc.checks.jobset.wordings import shown

        path = ("spec", "network", "subdomain")
        yield Violation.at(
            path,
            SUBDOMAIN,
            f"the subdomain of the pods is {shown(subdomain)}, which {_label_fault(subdomain)}",
            f"{LETTERS}, a letter first; or leave it out, and it is the TrainJob's name",
        )


def _manager(spec: Tree) -> Iterator[Violation]:
    manager = spec.get("managedBy")
    if manager is None:
        return
    long = len(manager.encode("utf-8", "surrogatepass")) > LONGEST_LABEL
    if long or names.is_domain_prefixed_path(manager):
        from trainc.checks.jobset.wordings import shown

        path = ("spec", "managedBy")
        why = (
            f"has {len(manager)} characters, and may have {LONGEST_LABEL}"
            if long
            else "is no domain with a path behind it"
        )
        yield Violation.at(
            path,
            JOBSET_MANAGED_BY,
            f"the JobSet's managedBy is {shown(manager)}, which {why}",
            "leave it out, and JobSet's own controller manages it; or name another one, such as "
            "kueue.x-k8s.io/multikueue",
        )


def _pods(job: Tree, path: Path) -> Iterator[Violation]:
    """JobSet counts pods in 32 bits."""
    replicas, parallelism = job["replicas"], job["template"]["spec"].get("parallelism", 1)
    if replicas * parallelism > MOST_PODS:
        there = (*path, "template", "spec", "parallelism")
        yield Violation.at(
            there,
            TOO_MANY_PODS,
            f'job "{job["name"]}" would run {replicas} x {parallelism} pods at once, and JobSet counts to {MOST_PODS}',
            "make fewer replicas, or lower the parallelism",
            related=(("the replicas", (*path, "replicas")),),
        )


def _group(job: Tree, path: Path) -> Iterator[Violation]:
    """The group's name becomes a label."""
    group = job["groupName"]
    if names.is_dns1035_label(group):
        from trainc.checks.jobset.wordings import shown

        there = (*path, "groupName")
        yield Violation.at(
            there,
            GROUP_NAME,
            f'the groupName of job "{job["name"]}" is {shown(group)}, which {_label_fault(group)}',
            f"{LETTERS}, a letter first; or leave it out",
        )


def _names(owner: str, job: Tree, path: Path) -> Iterator[Violation]:
    """The names of the Job and the pod with the largest index, which are the longest."""
    name, spec = job["name"], job["template"]["spec"]
    child, last = "Job", f"{owner}-{name}-{job['replicas'] - 1}"
    longest = last
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is not None:
        child, longest = "pod", f"{last}-{spec['completions'] - 1}{SUFFIX}"
    if not names.is_dns1035_label(longest):
        return
    from trainc.checks.jobset.wordings import shortened, shown, too_long

    there = (*path, "name")
    if names.is_dns1035_label(last[:LONGEST_LABEL].rstrip("-")):
        from trainc.kubernetes import misnamed

        yield Violation.at(
            there,
            REPLICATED_JOB_NAME,
            f"a replicated job is named {shown(name)}, which {misnamed.fault(name, misnamed.LABEL, LONGEST_LABEL)}; "
            "its Jobs and pods are named after it",
            LETTERS + misnamed.example(name),
        )
    if len(longest) > LONGEST_LABEL:
        yield too_long(
            owner,
            f'the {child} of job "{shortened(name)}" with the highest index would be named',
            longest,
            field_of(there),
            part=(f'the name of job "{shortened(name)}"', there, name),
        )


def _label_fault(text: str) -> str:
    """What is wrong with a label that begins with a letter, to follow `which`."""
    from trainc.kubernetes import misnamed

    return "begins with a digit" if text[:1].isdigit() else misnamed.fault(text, misnamed.LABEL, LONGEST_LABEL)
