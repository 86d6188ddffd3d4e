"""JobSet's webhook: what it refuses in a JobSet on its creation.

Reads    the JobSet as the API server stores it, defaults filled in.
Returns  violations. Where the webhook names no field, theirs is the place; where it says one thing twice (a name that
         is too long for a Job is too long for its pods), they say it once.
Source   JobSet v0.12.0, its webhook with the feature gates as they are by default. A claim that is in the cluster
         already is not known here.

Here is what concerns every JobSet; `policies` and `claims` are loaded for a JobSet that has such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes import names
from trainc.kubernetes.violations import Violation, field_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree

TITLES: Final = {
    "claim-name": "The name of a volume claim template is not valid, or not the only one",
    "claim-not-mounted": "A volume claim is made that no container mounts",
    "claim-volume-conflict": "A volume has the name of a volume claim template",
    "coordinator": "The coordinator is no pod of the JobSet",
    "depends-on-first": "The first replicated job depends on another",
    "depends-on-unknown": "A replicated job depends on one that is not before it",
    "failure-reason": "A failure policy waits for a reason that Jobs do not fail for",
    "failure-rule-name": "The name of a failure policy's rule is not valid, or not the only one",
    "feature-gate": "What a failure policy asks for is behind a feature gate of JobSet",
    "generated-name-too-long": "A name that JobSet makes would be too long",
    "group-name": "The group name of a replicated job is not valid",
    "jobset-managed-by": "The name of the controller that manages a JobSet is not valid",
    "policy-target-unknown": "A policy names a replicated job that is not there",
    "replicated-job-name": "The name of a replicated job does not fit into the names of its Jobs",
    "subdomain": "The subdomain of the pods is not valid",
    "too-many-pods": "A replicated job would run more pods than can be counted",
}
"""The rules by their ids."""

LONGEST: Final = 63
"""Characters of a DNS label, which the names of Jobs, pods and claims must be."""
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
        path = ("spec", "network", "subdomain")
        yield Violation(
            path=path,
            field=field_of(path),
            rule="subdomain",
            message=f"the subdomain of the pods is {shown(subdomain)}, which {_label_fault(subdomain)}",
            help=f"{LETTERS}, a letter first; or leave it out, and it is the TrainJob's name",
        )


def _manager(spec: Tree) -> Iterator[Violation]:
    manager = spec.get("managedBy")
    if manager is None:
        return
    long = len(manager.encode("utf-8", "surrogatepass")) > LONGEST
    if long or names.is_domain_prefixed_path(manager):
        path = ("spec", "managedBy")
        why = f"has {len(manager)} characters, and may have {LONGEST}" if long else "is no domain with a path behind it"
        yield Violation(
            path=path,
            field=field_of(path),
            rule="jobset-managed-by",
            message=f"the JobSet's managedBy is {shown(manager)}, which {why}",
            help="leave it out, and JobSet's own controller manages it; or name another one, such as "
            "kueue.x-k8s.io/multikueue",
        )


def _pods(job: Tree, path: Path) -> Iterator[Violation]:
    """JobSet counts pods in 32 bits."""
    replicas, parallelism = job["replicas"], job["template"]["spec"].get("parallelism", 1)
    if replicas * parallelism > MOST_PODS:
        there = (*path, "template", "spec", "parallelism")
        yield Violation(
            path=there,
            field=field_of(there),
            rule="too-many-pods",
            message=f'job "{job["name"]}" would run {replicas} x {parallelism} pods at once, '
            f"and JobSet counts to {MOST_PODS}",
            help="make fewer replicas, or lower the parallelism",
            related=(("the replicas", (*path, "replicas")),),
        )


def _group(job: Tree, path: Path) -> Iterator[Violation]:
    """The group's name becomes a label."""
    group = job["groupName"]
    if names.is_dns1035_label(group):
        there = (*path, "groupName")
        yield Violation(
            path=there,
            field=field_of(there),
            rule="group-name",
            message=f'the groupName of job "{job["name"]}" is {shown(group)}, which {_label_fault(group)}',
            help=f"{LETTERS}, a letter first; or leave it out",
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
    there = (*path, "name")
    if names.is_dns1035_label(last[:LONGEST].rstrip("-")):
        from trainc.kubernetes import misnamed

        yield Violation(
            path=there,
            field=field_of(there),
            rule="replicated-job-name",
            message=f"a replicated job is named {shown(name)}, which {misnamed.fault(name, misnamed.LABEL, LONGEST)}; "
            "its Jobs and pods are named after it",
            help=LETTERS + misnamed.example(name),
        )
    if len(longest) > LONGEST:
        yield too_long(
            owner,
            f'the {child} of job "{shortened(name)}" with the highest index would be named',
            longest,
            field_of(there),
            part=(f'the name of job "{shortened(name)}"', there, name),
        )


def too_long(
    owner: str, subject: str, made: str, field: str, *, part: tuple[str, Path, str], twice: bool = False
) -> Violation:
    """A name made of the TrainJob's (maybe twice) and another (what it is, where, its text) that does not fit.

    To change the TrainJob's is easiest, so long as some of it is left.
    """
    from trainc.plural import plural

    what, there, text = part
    mine: Path = ("metadata", "name")
    over = len(made) - LONGEST
    enough = -(-over // 2) if twice else over
    path, related = mine, (what, there)
    if enough < len(owner):
        way_out = f"shorten the TrainJob's name by {plural(enough, 'character')}"
    elif over < len(text):
        path, related = there, ("the name of the TrainJob", mine)
        way_out = f"shorten {what} by {plural(over, 'character')}"
    else:
        way_out = f"shorten the TrainJob's name and {what}"
    return Violation(
        path=path,
        field=field,
        rule="generated-name-too-long",
        message=f"{subject} {made}: {plural(len(made), 'character')}, and {LONGEST} fit",
        help=way_out,
        related=(related,),
    )


def _label_fault(text: str) -> str:
    """What is wrong with a label that begins with a letter, to follow `which`."""
    from trainc.kubernetes import misnamed

    return "begins with a digit" if text[:1].isdigit() else misnamed.fault(text, misnamed.LABEL, LONGEST)


def shown(value: Any) -> str:
    """A value on one short line."""
    from trainc.kubernetes.structural import remedies

    return remedies.shown(value)


def shortened(name: str) -> str:
    """A name in a sentence, however long."""
    from trainc.kubernetes.structural import remedies

    return remedies.shortened(name)
