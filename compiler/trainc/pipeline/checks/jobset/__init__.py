"""The rules of JobSet's webhook for the creation of a JobSet.

Reads    the JobSet as the API server stores it, with defaults filled in.
Returns  violations. If the webhook names no field, the violation's field is its path. If the webhook reports the same
         cause twice (a name that is too long for a Job is also too long for its pods), there is one violation.
Source   JobSet v0.12.0, its webhook with the default feature gates. Claims that already exist in the cluster are
         unknown.

This module has the rules for every JobSet. `policies` and `claims` are imported only for a JobSet that has them.

**A check of the JobSet** (its webhook). Copy from `pipeline/checks/jobset/claims.py`. Write a function that takes
the JobSet and returns violations, declare its id in the same module, and follow steps 3 and 4 of a check. A
violation, `Violation.at(path, DECLARED, message, help)`, names the field of the compiled object. trainc finds the
line that caused it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.names import LONGEST_LABEL
from trainc.kubernetes.violations import Violation, field_of, shortened, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Path, Tree


GROUP_NAME: Final = Declaration("group-name", ("jobset",))
JOBSET_MANAGED_BY: Final = Declaration("jobset-managed-by", ("jobset",))
REPLICATED_JOB_NAME: Final = Declaration("replicated-job-name", ("jobset",))
SUBDOMAIN: Final = Declaration("subdomain", ("jobset",))
TOO_MANY_PODS: Final = Declaration("too-many-pods", ("jobset",))

SUFFIX: Final = "-xxxxx"
"""A placeholder for the random suffix that the Job controller adds to a pod name."""
MOST_PODS: Final = 2**31 - 1
LETTERS: Final = "use lowercase letters, digits and `-`"


def violations(jobset: Tree, release: TrainerRelease) -> list[Violation]:
    """Return a violation for each rule of the release's JobSet that the JobSet breaks."""
    spec = jobset["spec"]
    found = [*_network(spec), *_manager(spec)]
    for index, job in enumerate(spec.get("replicatedJobs") or ()):
        path: Path = ("spec", "replicatedJobs", index)
        found += [*_pods(job, path), *_group(job, path), *_names(jobset["metadata"]["name"], job, path)]
    if _has_policies(spec):
        from trainc.pipeline.checks.jobset import policies

        found += policies.violations(jobset, release)
    if spec.get("volumeClaimPolicies"):
        from trainc.pipeline.checks.jobset import claims

        found += claims.violations(jobset)
    return found


def _has_policies(spec: Tree) -> bool:
    """Return whether the JobSet has a field that `policies` checks."""
    failure = spec.get("failurePolicy") or {}
    return bool(
        spec.get("coordinator")
        or failure.get("rules")
        or failure.get("restartStrategy") == "InPlaceRestart"
        or (spec.get("successPolicy") or {}).get("targetReplicatedJobs")
        or any("dependsOn" in job for job in spec.get("replicatedJobs") or ())
    )


def _network(spec: Tree) -> Iterator[Violation]:
    """Check the subdomain as a Service name; every valid Service name is also a valid domain."""
    subdomain = (spec.get("network") or {}).get("subdomain")
    if subdomain and names.dns1035_label_errors(subdomain):
        path = ("spec", "network", "subdomain")
        yield Violation.at(
            path,
            SUBDOMAIN,
            f"{shown(subdomain)} is not a valid subdomain: it {_label_fault(subdomain)}",
            f"{LETTERS}, and start with a letter; or remove it to use the name of the JobSet",
        )


def _manager(spec: Tree) -> Iterator[Violation]:
    manager = spec.get("managedBy")
    if manager is None:
        return
    long = len(manager.encode("utf-8", "surrogatepass")) > LONGEST_LABEL
    if long or names.domain_prefixed_path_errors(manager):
        path = ("spec", "managedBy")
        fault = (
            f"has {len(manager)} characters; the limit is {LONGEST_LABEL}" if long else "must be a domain-prefixed path"
        )
        yield Violation.at(
            path,
            JOBSET_MANAGED_BY,
            f"{shown(manager)} is not a valid managedBy of a JobSet: it {fault}",
            "remove it to use JobSet's own controller, or name another controller, such as kueue.x-k8s.io/multikueue",
        )


def _pods(job: Tree, path: Path) -> Iterator[Violation]:
    """Check the number of pods, which JobSet counts in 32 bits."""
    replicas, parallelism = job["replicas"], job["template"]["spec"].get("parallelism", 1)
    if replicas * parallelism > MOST_PODS:
        there = (*path, "template", "spec", "parallelism")
        yield Violation.at(
            there,
            TOO_MANY_PODS,
            f'job "{job["name"]}" runs {replicas} x {parallelism} pods at once; the limit is {MOST_PODS}',
            "reduce replicas or parallelism",
            related=(("the replicas", (*path, "replicas")),),
        )


def _group(job: Tree, path: Path) -> Iterator[Violation]:
    """Check the group name, which becomes a label."""
    if "groupName" not in job:  # JobSet v0.8 has no groups
        return
    group = job["groupName"]
    if names.dns1035_label_errors(group):
        there = (*path, "groupName")
        yield Violation.at(
            there,
            GROUP_NAME,
            f'{shown(group)} is not a valid groupName for job "{job["name"]}": it {_label_fault(group)}',
            f"{LETTERS}, and start with a letter; or remove it",
        )


def _names(owner: str, job: Tree, path: Path) -> Iterator[Violation]:
    """Check the names of the Job and the pod with the highest index, which are the longest."""
    name, spec = job["name"], job["template"]["spec"]
    child, last = "Job", f"{owner}-{name}-{job['replicas'] - 1}"
    longest = last
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is not None:
        child, longest = "pod", f"{last}-{spec['completions'] - 1}{SUFFIX}"
    if not names.dns1035_label_errors(longest):
        return

    there = (*path, "name")
    if names.dns1035_label_errors(last[:LONGEST_LABEL].rstrip("-")):
        yield Violation.at(
            there,
            REPLICATED_JOB_NAME,
            f"{shown(name)} is not a valid replicated job name: it "
            f"{names.fault(name, names.LABEL, LONGEST_LABEL)}; its Jobs and pods are named after it",
            LETTERS + names.example(name),
        )
    if len(longest) > LONGEST_LABEL:
        from trainc.pipeline.checks.jobset.jobset_messages import too_long

        yield too_long(
            owner,
            f'the name of the {child} with the highest index in job "{shortened(name)}" is',
            longest,
            field_of(there),
            part=(f'the name of job "{shortened(name)}"', there, name),
        )


def _label_fault(text: str) -> str:
    """Return the fault of a label that must start with a letter, to follow `which` or `it`."""
    return "starts with a digit" if text[:1].isdigit() else names.fault(text, names.LABEL, LONGEST_LABEL)
