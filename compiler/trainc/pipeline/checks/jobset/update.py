"""The fields of an existing JobSet that can change, and the changes that the API server rejects.

Reads    the JobSet as it is stored, and as it would be after a request (an update, or a merged patch).
Returns  violations, each at a field that would change. The server stops at the first schema error, and reports the
         whole list replicatedJobs if any field in it differs. This module reports every change, at its own field.
Source   JobSet v0.12.0: the transition rules of its CRD (a field can be added and removed, but not changed), and its
         webhook, which compares Go values. The webhook sets no defaults on an update. The feature gate ElasticJobSet,
         off by default, would also allow different pod counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import POD_TEMPLATE
from trainc.kubernetes import objectmeta
from trainc.kubernetes.gotypes import compared
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import Memory, get, put
from trainc.kubernetes.violations import Violation, field_of, shown
from trainc.pipeline.checks.cel import broken_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Path, Tree

NAMES: Final = ("name", "namespace")
"""The fields by which the server finds the object."""
POLICIES: Final = ("network", "successPolicy", "failurePolicy", "startupPolicy", "volumeClaimPolicies")
"""Fields of the spec that can be added and removed, but not changed."""
WHILE_SUSPENDED: Final[tuple[Path, ...]] = (
    ("metadata", "annotations"),
    ("metadata", "labels"),
    ("spec", "nodeSelector"),
    ("spec", "schedulingGates"),
    ("spec", "tolerations"),
)
"""Fields of a pod template that can change while the JobSet is suspended, or in the change that suspends or resumes it.
Kueue sets them."""

JOBS: Final = "replicatedJobs"
RULE: Final = "immutable"
_GONE: Final = object()
_AS_VALUES: Final = Memory()
"""Replicated jobs as Go values, by identity: the rules and the consequences of a change both compare them."""


def refused(old: Tree, new: Tree, release: TrainerRelease) -> list[Violation]:
    """Return why the server would reject `new` as an update of `old`; an empty list if it accepts the update."""
    admitted = load("JobSet", release.jobset).admit(new)
    found = [*objectmeta.check(new["metadata"], namespaced=True), *admitted.violations]
    found += broken_rules("JobSet", admitted.value, release, tuple(found))
    return found or immutable_changes(old, admitted.value)


def immutable_changes(old: Tree, new: Tree) -> list[Violation]:
    """Return the changes that the server would reject between two JobSets as it stores them."""
    before, after = (tree.get("spec") or {} for tree in (old, new))  # the schema does not require a spec
    return [*_identity(old, new), *_policies(before, after), *_jobs(before, after)]


def immutable_fields(jobset: Tree) -> Tree:
    """Return the immutable fields of a JobSet: if they are equal in two JobSets, `refused` allows the change.

    They include the fields that can be added and removed, because an added field could not change later, and the
    fields that can only change while the JobSet is suspended.
    """
    spec = jobset["spec"]
    return {key: spec[key] for key in (*POLICIES, "managedBy") if key in spec} | compared({JOBS: spec.get(JOBS)})


def _identity(old: Tree, new: Tree) -> Iterator[Violation]:
    for key in NAMES:
        path = ("metadata", key)
        if get(old, path) != get(new, path):
            yield _violation(path, field_of(path), old, new, "delete the old object if it is no longer needed")


def _policies(old: Tree, new: Tree) -> Iterator[Violation]:
    """Compare the fields that CEL compares, as JSON."""
    for key in POLICIES:
        if key in old and key in new:
            for path in differences(old[key], new[key], (key,)):
                yield _violation(("spec", *path), f"spec.{key}", {"spec": old}, {"spec": new})
    if old.get("managedBy") != new.get("managedBy"):
        yield _violation(("spec", "managedBy"), "spec.managedBy", {"spec": old}, {"spec": new})


def _jobs(old: Tree, new: Tree) -> Iterator[Violation]:
    """Compare the fields that the webhook compares, as Go values.

    The violation's field is replicatedJobs, or dependsOn if a CEL rule about dependencies reports the change.
    """
    suspended = bool(old.get("suspend") or new.get("suspend"))
    before, after = (as_values(without_queueing(spec) if suspended else spec.get(JOBS)) for spec in (old, new))
    for path in differences(before, after, ()):
        of_server = path[:3] if path[2:3] == ("dependsOn",) and _has_both(old, new, path[:3]) else (JOBS,)
        help = "suspend the JobSet in the same change" if while_suspended(path) else ""
        yield _violation(("spec", *path), field_of(("spec", *of_server)), {"spec": old}, {"spec": new}, help)


def as_values(jobs: list[Tree] | None) -> Tree:
    """Return replicated jobs as the webhook compares them. Raises WrongTypeError."""
    known: tuple[list[Tree] | None, Tree] | None = _AS_VALUES.get(id(jobs))
    return (known or _AS_VALUES.keep(id(jobs), (jobs, compared({JOBS: jobs}))))[1]


def _has_both(old: Tree, new: Tree, path: Path) -> bool:
    """Return whether a replicated job has a field before and after, under the same job name."""
    name = (*path[:2], "name")
    return get(old, path) is not None and get(new, path) is not None and get(old, name) == get(new, name)


def without_queueing(spec: Tree) -> list[Tree]:
    """Return the replicated jobs without the fields that can change while the JobSet is suspended."""
    return [_without_queueing(job) for job in spec.get(JOBS) or ()]


def _without_queueing(job: Tree) -> Tree:
    for *parents, last in WHILE_SUSPENDED:
        path = (*POD_TEMPLATE, *parents)
        if last in get(job, path, {}):
            job = put(job, path, {key: value for key, value in get(job, path).items() if key != last})
    return job


def while_suspended(path: Path) -> bool:
    """Return whether a field can change while the JobSet is suspended."""
    in_pod = path[2 + len(POD_TEMPLATE) :] if path[2 : 2 + len(POD_TEMPLATE)] == POD_TEMPLATE else ()
    return any(in_pod[: len(there)] == there[: len(in_pod)] for there in WHILE_SUSPENDED if in_pod)


def differences(old: Any, new: Any, path: Path) -> Iterator[Path]:
    """Yield the paths of the smallest parts in which two trees differ. Lists of unequal length differ as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = ((key, old.get(key, _GONE), new.get(key, _GONE)) for key in sorted(old.keys() | new.keys()))
        for key, before, after in pairs:
            if before != after:
                yield from differences(before, after, (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, (*path, index))
    elif old != new:
        yield path


def _violation(path: Path, of_server: str, old: Tree, new: Tree, help: str = "") -> Violation:
    before, after = get(old, path), get(new, path)
    if before is None:
        message = f"{field_of(path)} is immutable: {shown(after)} cannot be added"
    elif after is None:
        message = f"{field_of(path)} is immutable: {shown(before)} cannot be removed"
    else:
        message = f"{field_of(path)} is immutable: it cannot change from {shown(before)} to {shown(after)}"
    return Violation(
        path=path,
        field=of_server,
        rule=RULE,
        message=message,
        help=help or "create the JobSet under another name (--name-suffix-hash), or delete the old one first",
    )
