"""The roles of an MxJob, and the rules of its admission.

Reads    an MxJob that its schema has admitted, with the defaults.
Returns  the violations of the rules.
Source   deepinsight/mxnet-operator: the validation of MxJobs. The operator created Jobs, which have rules of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import DUPLICATE_ITEM, ENUM, OUT_OF_RANGE, REQUIRED, Violation
from trainc.legacy.replica_specs import (
    CONTAINERS,
    MOST_REPLICAS,
    invalid_name,
    missing_container,
    too_many_replicas,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEDULER: Final = "SCHEDULER"
SERVER: Final = "SERVER"
WORKER: Final = "WORKER"
ROLES: Final = (SCHEDULER, SERVER, WORKER)
DIST: Final = "dist"
LOCAL: Final = "local"
MXNET: Final = "mxnet"
"""The main container."""
MODE: Final = ("spec", "jobMode")
SPECS: Final = ("spec", "replicaSpecs")
TYPE: Final = "mxReplicaType"
RESTARTS: Final = ("OnFailure", "Never")
RESTART_POLICY: Final = ("template", "spec", "restartPolicy")


def violations(job: Tree) -> Iterator[Violation]:
    """Yield the violations of the operator's validation, and of the rules of its Jobs."""
    yield from invalid_name(job)
    first: dict[str, int] = {}
    for index, spec in enumerate(get(job, SPECS, [])):
        role, at = replica_type(spec), (*SPECS, index)
        if role not in ROLES:
            from trainc.base.fixes import replaced_name

            there = (*at, TYPE)
            help = replaced_name(there, role, ROLES) or f"use {', '.join(ROLES[:-1])} or {ROLES[-1]}"
            yield Violation.at(there, ENUM, f'unknown mxReplicaType "{role}"', help)
        elif role in first:
            label = ((f"the first {role}", (*SPECS, first[role])),)
            help = "merge the two items" if _is_default(spec) else "merge the two items, or change mxReplicaType"
            yield Violation.at((*at, TYPE), DUPLICATE_ITEM, f"two replicaSpecs are a {role}", help, related=label)
        first.setdefault(role, index)
        yield from _replica_violations(role, spec, at)
    yield from _mode(job, first)


def _replica_violations(role: str, spec: Tree, at: Path) -> Iterator[Violation]:
    """Yield the violations of an item of replicaSpecs."""
    if spec.get("template") is None:
        yield Violation.at((*at, "template"), REQUIRED, f"the {role} has no template", "add the template of its pods")
        return
    if all(container.get("name") != MXNET for container in get(spec, CONTAINERS) or []):
        yield missing_container(role, spec, at, MXNET)
    yield from too_many_replicas(role, spec["replicas"], (*at, "replicas"))
    restart = get(spec, RESTART_POLICY)
    if restart not in (None, *RESTARTS):
        message = f'unsupported restartPolicy "{restart}" of the {role}: its pods are those of a Job'
        yield Violation.at((*at, *RESTART_POLICY), ENUM, message, f"use {' or '.join(RESTARTS)}")


def _mode(job: Tree, roles: dict[str, int]) -> Iterator[Violation]:
    """Yield the violations of the rules of the mode.

    roles   the index of each role in replicaSpecs
    """
    mode = get(job, MODE, "")
    if mode == DIST:
        for role in ROLES if all(each in ROLES for each in roles) else ():
            if role not in roles:
                yield Violation.at(SPECS, REQUIRED, f"mode {DIST} requires a {role}", "add one")
        yield from _replicas_above(job, roles, SCHEDULER, fewest=1, mode=DIST)
    elif mode == LOCAL:
        for role in (SCHEDULER, SERVER):
            if role in roles:
                message = f"mode {LOCAL} allows only a {WORKER}, not a {role}"
                other = f", or set jobMode: {DIST}" if all(each in roles for each in ROLES) else ""
                yield Violation.at((*SPECS, roles[role], TYPE), ENUM, message, f"remove the {role}{other}")
        if not roles:
            yield Violation.at(SPECS, REQUIRED, f"mode {LOCAL} requires a {WORKER}", "add one")
        yield from _replicas_above(job, roles, WORKER, fewest=0, mode=LOCAL)
    elif mode:
        from trainc.base.fixes import replaced_name

        help = replaced_name(MODE, mode, (DIST, LOCAL)) or f"use {DIST} or {LOCAL}"
        yield Violation.at(MODE, ENUM, f'unknown jobMode "{mode}"', help)
    else:
        yield Violation.at(MODE, REQUIRED, "the job has no jobMode", f"use {DIST} or {LOCAL}")


def _replicas_above(job: Tree, roles: dict[str, int], role: str, *, fewest: int, mode: str) -> Iterator[Violation]:
    """Yield the violation of a role that has more than one replica, or fewer than it needs."""
    path = (*SPECS, roles[role], "replicas") if role in roles else ()
    replicas = get(job, path) if path else 1
    if not fewest <= replicas <= 1 and replicas <= MOST_REPLICAS:
        count = "1" if fewest else "at most 1"
        message = f"the {role} must have {count} replica in mode {mode}, not {replicas}"
        yield Violation.at(path, OUT_OF_RANGE, message, "set replicas: 1")


def replica_type(spec: Tree) -> str:
    """Return the role of an item of replicaSpecs."""
    return spec.get(TYPE) or WORKER


def _is_default(spec: Tree) -> bool:
    return not spec.get(TYPE)
