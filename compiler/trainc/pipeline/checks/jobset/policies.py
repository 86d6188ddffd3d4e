"""The rules of JobSet's webhook for dependencies, success and failure policies, and the coordinator.

Reads    the JobSet as the API server stores it.
Returns  violations.
Source   JobSet v0.12.0; see the package. The webhook accepts a job that depends on itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.texts import plural
from trainc.kubernetes.names import LONGEST_LABEL, dns1035_label_errors
from trainc.kubernetes.violations import Violation, field_of, listed, shortened, shown
from trainc.pipeline.checks.jobset.jobset_messages import too_long
from trainc.pipeline.objects import STEPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.base.fixes import Fix
    from trainc.base.releases import TrainerRelease
    from trainc.base.suggestions import KnownNames
    from trainc.kubernetes.trees import Path, Tree

COORDINATOR: Final = Declaration("coordinator", ("jobset",), fix="safe")
DEPENDS_ON_FIRST: Final = Declaration("depends-on-first", ("jobset",))
DEPENDS_ON_UNKNOWN: Final = Declaration("depends-on-unknown", ("jobset",), fix="safe")
FAILURE_REASON: Final = Declaration("failure-reason", ("jobset",), fix="safe")
FAILURE_RULE_NAME: Final = Declaration("failure-rule-name", ("jobset",))
FEATURE_GATE: Final = Declaration("feature-gate", ("jobset",))
POLICY_TARGET_UNKNOWN: Final = Declaration("policy-target-unknown", ("jobset",), fix="safe")

RULE_NAME: Final = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
LONGEST_RULE_NAME: Final = 128
REASONS: Final = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)
"""The reasons that a failed Job can report."""
OF_ONE_JOB: Final = {
    "RestartJob": "RestartJobSet",
    "RestartJobAndIgnoreMaxRestarts": "RestartJobSetAndIgnoreMaxRestarts",
}
"""The actions behind the feature gate RestartJob, and the action that restarts all jobs instead."""
JOBS: Final[Path] = ("spec", "replicatedJobs")
COMPARED: Final = 64
"""The most jobs before a job that a hint about its dependency compares with the name."""


def violations(jobset: Tree, release: TrainerRelease) -> Iterator[Violation]:
    """Yield the violations of dependencies, policies and the coordinator."""
    spec = jobset["spec"]
    jobs = spec.get("replicatedJobs") or ()
    known: dict[str, int] = {}
    for index, job in enumerate(jobs):
        known.setdefault(job["name"], index)
    yield from _dependencies(jobs, known)
    targets: Path = ("spec", "successPolicy", "targetReplicatedJobs")
    yield from _targets("successPolicy", spec["successPolicy"], targets, known)
    if policy := spec.get("failurePolicy"):
        yield from _failure(policy, known)
    if coordinator := spec.get("coordinator"):
        yield from _coordinator(coordinator, spec)
        if release.coordinator_label == "checked":
            yield from _coordinator_name(jobset["metadata"]["name"], coordinator, spec)


def _dependencies(jobs: list[Tree] | tuple[()], known: dict[str, int]) -> Iterator[Violation]:
    """Check that each job depends only on jobs listed before it."""
    for index, job in enumerate(jobs):
        path: Path = (*JOBS, index, "dependsOn")
        if not index and "dependsOn" in job:
            yield _first_depends(path, job, known)
            continue
        for number, entry in enumerate(job.get("dependsOn") or ()):
            name = entry["name"]
            if known.get(name, len(jobs)) <= index:
                continue
            there = (*path, number, "name")
            later = name in known
            before = [other["name"] for other in jobs[max(index - COMPARED, 0) : index]]
            yield Violation.at(
                there,
                DEPENDS_ON_UNKNOWN,
                f'job "{job["name"]}" depends on "{shortened(name)}", which '
                + ("is listed after it" if later else "is not a job of the JobSet"),
                f'move job "{name}" before it' if later else _job_name_hint(there, name, before),
                related=((f'job "{name}"', (*JOBS, known[name], "name")),) if later else (),
            )


def _first_depends(path: Path, job: Tree, known: dict[str, int]) -> Violation:
    """Return the violation of a first job that depends on another one."""
    others = [entry["name"] for entry in job["dependsOn"]]
    missing = next((name for name in others if name not in known), None)
    help = f'move it after job "{others[-1]}"' if others else "remove dependsOn"
    if missing is not None:
        jobs = listed([f'"{name}"' for name in [*known][1:]])
        have = f"the other jobs are {jobs}" if jobs else "it is the only one"
        help = f'remove the dependency: there is no job "{shortened(missing)}"; {have}'
    message = f'job "{job["name"]}" is the first one and cannot depend on another'
    return Violation.at(path, DEPENDS_ON_FIRST, message, help)


def _targets(policy_name: str, policy: Tree, path: Path, known: dict[str, int]) -> Iterator[Violation]:
    """Check the jobs that a policy, or one of its rules, targets."""
    targets = enumerate(policy.get("targetReplicatedJobs") or ())
    unknown = [(number, name) for number, name in targets if name not in known]
    if not unknown:
        return
    from trainc.base.suggestions import KnownNames

    names = KnownNames(known)
    for number, name in unknown:
        there = (*path, number)
        yield Violation.at(
            there,
            POLICY_TARGET_UNKNOWN,
            f'{policy_name} targets job "{shortened(name)}", which the JobSet does not have',
            _job_name_hint(there, name, names),
        )


def _failure(policy: Tree, known: dict[str, int]) -> Iterator[Violation]:
    path: Path = ("spec", "failurePolicy")
    if policy.get("restartStrategy") == "InPlaceRestart":
        yield _gated((*path, "restartStrategy"), "restartStrategy", "InPlaceRestart", "InPlaceRestart", "Recreate")
    first: dict[str, int] = {}
    for index, rule in enumerate(policy.get("rules") or ()):
        there = (*path, "rules", index)
        if (action := rule["action"]) in OF_ONE_JOB:
            yield _gated((*there, "action"), "action", action, "RestartJob", OF_ONE_JOB[action])
        name = rule["name"]
        yield from _rule_name(name, there, first.setdefault(name, index))
        rule_name = f'rule "{shortened(name)}" of failurePolicy'
        yield from _targets(rule_name, rule, (*there, "targetReplicatedJobs"), known)
        for number, reason in enumerate(rule.get("onJobFailureReasons") or ()):
            if reason not in REASONS:
                at = (*there, "onJobFailureReasons", number)
                yield Violation.at(
                    at,
                    FAILURE_REASON,
                    f"{shown(reason)} in {rule_name} is not a Job failure reason",
                    _name_hint(at, reason, REASONS),
                )


def _gated(path: Path, field: str, value: str, gate: str, instead: str) -> Violation:
    return Violation.at(
        path,
        FEATURE_GATE,
        f"{field} {value} requires the JobSet feature gate {gate}, which is off by default",
        f"use {instead}, which restarts all jobs",
    )


def _rule_name(name: str, path: Path, first: int) -> Iterator[Violation]:
    there = (*path, "name")
    fault = ""
    if len(name.encode("utf-8", "surrogatepass")) > LONGEST_RULE_NAME:
        fault = f"has {len(name)} characters; the limit is {LONGEST_RULE_NAME}"
    elif not RULE_NAME.fullmatch(name):
        fault = _fault(name)
    if fault:
        yield Violation.at(
            there,
            FAILURE_RULE_NAME,
            f"{shown(name)} is not a valid name of a failurePolicy rule: it {fault}",
            "use letters, digits, `_`, `,` and `:`; start with a letter, and do not end with `,` or `:`",
        )
    if first != path[-1]:
        yield Violation.at(
            there,
            FAILURE_RULE_NAME,
            f'two rules of failurePolicy are named "{shortened(name)}"',
            "rename one of them; the default name is failurePolicyRule followed by the rule's index",
            related=(("the first one", (*path[:-1], first, "name")),),
        )


def _fault(name: str) -> str:
    """Return the fault of a rule name, to follow `it`."""
    if not re.match("[A-Za-z]", name):
        return f"starts with {shown(name[0])}" if name else "is empty"
    if re.search("[^A-Za-z0-9_,:]", name):
        from trainc.kubernetes import names

        return names.fault(name, "A-Za-z0-9_,:", LONGEST_RULE_NAME)
    return f"ends with {shown(name[-1])}"


def _coordinator(coordinator: Tree, spec: Tree) -> Iterator[Violation]:
    """Check that the coordinator is a pod of a job: its job name and both indices."""
    jobs, name = spec.get("replicatedJobs") or [], coordinator["replicatedJob"]
    known = [job["name"] for job in jobs]
    if name not in known:
        message = f'the coordinator is a pod of job "{shortened(name)}", which the JobSet does not have'
        there = ("spec", "coordinator", "replicatedJob")
        yield _coordinator_violation("replicatedJob", message, _job_name_hint(there, name, known))
        return
    index = known.index(name)
    path: Path = (*JOBS, index)
    job = jobs[index]
    replicas, of_job, job_spec = job["replicas"], coordinator.get("jobIndex", 0), job["template"]["spec"]
    if not 0 <= of_job < replicas:
        yield _coordinator_violation(
            "jobIndex",
            f'the coordinator is in replica {of_job} of job "{name}", which has {plural(replicas, "replica")}',
            "remove it" if replicas == 1 else f"use a number from 0 to {replicas - 1}",
            (f'the replicas of job "{name}"', (*path, "replicas")),
        )
        return
    completions, of_pod = job_spec.get("completions"), coordinator.get("podIndex", 0)
    if completions is None or job_spec.get("completionMode") != "Indexed":
        missing = "completionMode" if completions is not None else "completions"
        yield _coordinator_violation(
            "replicatedJob",
            f'the coordinator is a pod of job "{name}", whose pods have no index',
            f'set completionMode Indexed and completions in job "{name}", or remove the coordinator',
            (f'job "{name}"', (*path, "template", "spec", missing)),
        )
        return
    if not 0 <= of_pod < completions:
        yield _coordinator_violation(
            "podIndex",
            f'the coordinator is pod {of_pod} of job "{name}", which has {plural(completions, "pod")}',
            "remove it" if completions == 1 else f"use a number from 0 to {completions - 1}",
            (f'the pods of job "{name}"', (*path, "template", "spec", "completions")),
        )


def _coordinator_name(owner: str, coordinator: Tree, spec: Tree) -> Iterator[Violation]:
    """Check the length of the coordinator's host name, which becomes a label of all pods.

    Other faults of the host name are faults of its parts, which have their own checks.
    """
    name = coordinator["replicatedJob"]
    subdomain = (spec.get("network") or {}).get("subdomain") or owner
    indices = f"{coordinator.get('jobIndex', 0)}-{coordinator.get('podIndex', 0)}"
    made = f"{owner}-{name}-{indices}.{subdomain}"
    if len(made) > LONGEST_LABEL:
        path: Path = ("spec", "coordinator")
        yield too_long(
            owner,
            "the coordinator's host name, a label of all pods, is",
            made,
            field_of(path),
            part=("the subdomain", ("spec", "network", "subdomain"), subdomain)
            if subdomain != owner
            else ("the coordinator's job name", (*path, "replicatedJob"), name),
            twice=subdomain == owner,
        )


def _coordinator_violation(key: str, message: str, help: str | Fix, *related: tuple[str, Path]) -> Violation:
    path: Path = ("spec", "coordinator", key)
    return Violation.at(
        path,
        COORDINATOR,
        message,
        help,
        related=related,
    )


def _job_name_hint(path: Path, name: str, names: Iterable[str] | KnownNames) -> str | Fix:
    """Return a hint with the job name that was probably meant, or all job names.

    The reference is right if its name is that of an initializer, or if the job's name is invalid.
    """
    from trainc.base.suggestions import KnownNames, nearest_name

    known = names if isinstance(names, KnownNames) else KnownNames(names)
    near = nearest_name(name, known) or known.only
    if near is not None and dns1035_label_errors(near):
        return f"correct the name of job {shown(near)} first"
    if near is not None and name in STEPS.values():
        return f"rename job {shown(near)} to {name}, which is the name of that initializer"
    return _name_hint(path, name, known)


def _name_hint(path: Path, name: str, names: Iterable[str] | KnownNames) -> str | Fix:
    """Return a hint with the name that was probably meant, or all names."""
    from trainc.base.fixes import replaced_name, setting
    from trainc.base.suggestions import KnownNames

    known = names if isinstance(names, KnownNames) else KnownNames(names)
    if near := replaced_name(path, name, known):
        return near
    if not known:
        return "remove it: there is no job to name"
    return setting(path, known.only, known.use()) if known.only else known.use()
