"""What may change in a JobSet that is in the cluster, and what the API server would refuse to change.

Reads    the JobSet as it is stored, and as it would be after a request (an update, or a patch that has been merged).
Returns  violations, each at a field that would change. The server stops at what its schema refuses, and names the
         whole list replicatedJobs where one field of it differs; here all is said, at its own place.
Source   JobSet v0.12.0: the transition rules of its CRD (what is there may go, and may come, but not become another),
         and its webhook, which compares Go values. Nobody fills in the webhook's defaults on an update. With the
         feature gate ElasticJobSet, which is off by default, it would also take other counts of pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.checks.jobset import RELEASE
from trainc.checks.rules import broken_rules
from trainc.kubernetes import objectmeta
from trainc.kubernetes.gotypes import compared
from trainc.kubernetes.structural import load
from trainc.kubernetes.structural.remedies import shown
from trainc.kubernetes.trees import get, put
from trainc.kubernetes.violations import Violation, field_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree

NAMES: Final = ("name", "namespace")
"""By these the server finds the object."""
POLICIES: Final = ("network", "successPolicy", "failurePolicy", "startupPolicy", "volumeClaimPolicies")
"""Fields of the spec that may come and go, but not become another."""
WHILE_SUSPENDED: Final[tuple[Path, ...]] = (
    ("metadata", "annotations"),
    ("metadata", "labels"),
    ("spec", "nodeSelector"),
    ("spec", "schedulingGates"),
    ("spec", "tolerations"),
)
"""Fields of a pod template that may change while the JobSet is suspended, or in the change that suspends or resumes it:
Kueue sets them."""

JOBS: Final = "replicatedJobs"
POD: Final[Path] = ("template", "spec", "template")
"""The pod template of a replicated job."""
RULE: Final = "immutable"
_GONE: Final = object()


def refused(old: Tree, new: Tree) -> list[Violation]:
    """What stands against storing `new` in the place of `old`; empty where the server would."""
    admitted = load("JobSet", RELEASE).admit(new)
    found = [*objectmeta.check(new["metadata"], namespaced=True), *admitted.violations]
    found += broken_rules("JobSet", admitted.value, tuple(found))
    if found:
        return found
    before, after = (tree.get("spec") or {} for tree in (old, admitted.value))  # the schema asks for none
    return [*_identity(old, new), *_policies(before, after), *_jobs(before, after)]


def fixed(jobset: Tree) -> Tree:
    """What of a JobSet cannot change in place: where it is the same for two, `refused` has nothing against the change.

    What may come and go counts, since what came could not become another; so does what may change only while the
    JobSet is suspended.
    """
    spec = jobset["spec"]
    return {key: spec[key] for key in (*POLICIES, "managedBy") if key in spec} | compared({JOBS: spec.get(JOBS)})


def _identity(old: Tree, new: Tree) -> Iterator[Violation]:
    for key in NAMES:
        path = ("metadata", key)
        if get(old, path) != get(new, path):
            yield _violation(path, field_of(path), old, new, "delete the old object where nobody needs it")


def _policies(old: Tree, new: Tree) -> Iterator[Violation]:
    """What CEL compares, as JSON; the dependencies of a job by its name, as those of another would be."""
    for key in POLICIES:
        if key in old and key in new:
            for path in differences(old[key], new[key], (key,)):
                yield _violation(("spec", *path), f"spec.{key}", {"spec": old}, {"spec": new})
    if old.get("managedBy") != new.get("managedBy"):
        yield _violation(("spec", "managedBy"), "spec.managedBy", {"spec": old}, {"spec": new})


def _jobs(old: Tree, new: Tree) -> Iterator[Violation]:
    """What the webhook compares, as Go values; where there is a rule about dependencies, the server names them."""
    suspended = bool(old.get("suspend") or new.get("suspend"))
    before, after = (compared({JOBS: without_queueing(spec) if suspended else spec.get(JOBS)}) for spec in (old, new))
    for path in differences(before, after, ()):
        of_server = path[:3] if path[2:3] == ("dependsOn",) and _has_both(old, new, path[:3]) else (JOBS,)
        help = "suspend the JobSet in the same change" if while_suspended(path) else ""
        yield _violation(("spec", *path), field_of(("spec", *of_server)), {"spec": old}, {"spec": new}, help)


def _has_both(old: Tree, new: Tree, path: Path) -> bool:
    """Whether a field of a replicated job is there before and after, in a job of one name."""
    name = (*path[:2], "name")
    return get(old, path) is not None and get(new, path) is not None and get(old, name) == get(new, name)


def without_queueing(spec: Tree) -> list[Tree]:
    """The replicated jobs without what may change while they are suspended."""
    return [_without_queueing(job) for job in spec.get(JOBS) or ()]


def _without_queueing(job: Tree) -> Tree:
    for *parents, last in WHILE_SUSPENDED:
        path = (*POD, *parents)
        if last in get(job, path, {}):
            job = put(job, path, {key: value for key, value in get(job, path).items() if key != last})
    return job


def while_suspended(path: Path) -> bool:
    """Whether a field may change while the JobSet is suspended."""
    in_pod = path[2 + len(POD) :] if path[2 : 2 + len(POD)] == POD else ()
    return any(in_pod[: len(there)] == there[: len(in_pod)] for there in WHILE_SUSPENDED if in_pod)


def differences(old: Any, new: Any, path: Path) -> Iterator[Path]:
    """The paths of the smallest parts in which two trees differ; a list of another length differs as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key, _GONE), new.get(key, _GONE), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, (*path, index))
    elif old != new:
        yield path


def _violation(path: Path, of_server: str, old: Tree, new: Tree, help: str = "") -> Violation:
    before, after = get(old, path), get(new, path)
    if before is None:
        message = f"{field_of(path)} cannot be added, and would be {shown(after)}"
    elif after is None:
        message = f"{field_of(path)} cannot be removed, and is {shown(before)}"
    else:
        message = f"{field_of(path)} is {shown(before)}, and cannot become {shown(after)}"
    return Violation(
        path=path,
        field=of_server,
        rule=RULE,
        message=message,
        help=help or "make the JobSet under another name (--name-suffix-hash), or delete the old one first",
    )
