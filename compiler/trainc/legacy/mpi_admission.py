"""The roles of an MPIJob, and the rules of its admission.

Reads    an MPIJob that its schema has admitted.
Returns  the violations of the rules.
Source   kubeflow/mpi-operator v0.8.0: the validation of MPIJobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import ENUM, INVALID_NAME, OUT_OF_RANGE, REQUIRED, Violation
from trainc.legacy.replica_specs import (
    CONTAINERS,
    MULTIKUEUE,
    POLICY,
    WORKER,
    too_many_replicas,
    unknown_manager,
    unknown_role,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

REPLICAS: Final = ("spec", "mpiReplicaSpecs")
SLOTS: Final = ("spec", "slotsPerWorker")
LAUNCHER: Final = "Launcher"
ROLES: Final = {LAUNCHER: "OnFailure", WORKER: "Never"}
"""The roles, each with the restart policy of one that sets none."""
RESTARTS: Final = ("Never", "OnFailure")
OPERATOR: Final = "kubeflow.org/mpi-operator"
IN_JOBSET: Final = "-0"
"""The part of a host name that JobSet adds: the index of the Job."""
_NOT_NEGATIVE: Final = (
    SLOTS,
    *((*POLICY, key) for key in ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit")),
)
_CLEAN: Final = ("None", "Running", "All")


def violations(_: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the operator's validation."""
    specs = get(job, REPLICAS, {})
    yield from _host_name(job, specs.get(WORKER, {}).get("replicas", 1))
    if LAUNCHER not in specs:
        message = f"the job has no role {LAUNCHER}"
        yield Violation.at((*REPLICAS, LAUNCHER), REQUIRED, message, "add it: its command runs mpirun")
    for name in specs:
        if name in ROLES:
            yield from _role(name, specs[name])
        else:
            found = unknown_role((*REPLICAS, name), tuple(ROLES))
            yield found._replace(message=f"{found.message}, which the operator ignores", severity="warning")
    for path in _NOT_NEGATIVE:
        if get(job, path, 0) < 0:
            message = f"{path[-1]} must not be negative, but is {get(job, path)}"
            yield Violation.at(path, OUT_OF_RANGE, message, "use 0 or more")
    if (clean := get(job, (*POLICY, "cleanPodPolicy"))) not in (None, *_CLEAN):
        message = f'unsupported cleanPodPolicy "{clean}"'
        yield Violation.at((*POLICY, "cleanPodPolicy"), ENUM, message, f"use {', '.join(_CLEAN[:-1])} or {_CLEAN[-1]}")
    yield from unknown_manager(job, (OPERATOR, MULTIKUEUE))


def _host_name(job: Tree, workers: int) -> Iterator[Violation]:
    """Yield the violation of a name with which the last worker's host name is no DNS label."""
    from trainc.kubernetes.names import LONGEST_LABEL, dns1035_label_errors

    name = get(job, ("metadata", "name"), "")
    if not isinstance(name, str) or not name:
        return
    index = f"-{WORKER.lower()}-{max(workers, 1) - 1}"
    if not dns1035_label_errors(name + index):
        return
    from trainc.kubernetes.names import LABEL as CHARACTERS
    from trainc.kubernetes.names import example, fault

    most = LONGEST_LABEL - len(index)
    if not dns1035_label_errors(f"{name[:most].rstrip('-')}{index}"):
        message = f'the host name "{name}{index}" has {len(name + index)} characters; the limit is {LONGEST_LABEL}'
        help = f"use a name with at most {most - len(IN_JOBSET)} characters"
    else:
        why = "starts with a digit" if name[0].isdigit() else fault(name, CHARACTERS, LONGEST_LABEL)
        message = f'"{name}" is not a valid name: it {why}'
        help = f"use lowercase letters, digits and `-`, and start with a letter{example(name, letter_first=True)}"
    yield Violation.at(("metadata", "name"), INVALID_NAME, message, help)


def _role(name: str, spec: Tree) -> Iterator[Violation]:
    at = (*REPLICAS, name)
    replicas, path = spec.get("replicas"), (*at, "replicas")
    if name == LAUNCHER:
        if replicas not in (None, 1):
            message = f"the {LAUNCHER} must have 1 replica, not {replicas}"
            yield Violation.at(path, OUT_OF_RANGE, message, "set replicas: 1")
    elif replicas is None:
        yield Violation.at(path, OUT_OF_RANGE, f"the {WORKER} has no replicas", "set the number of workers")
    elif replicas < 1:
        message = f"the {WORKER} must have at least 1 replica, not {replicas}"
        yield Violation.at(path, OUT_OF_RANGE, message, f"set replicas: 1, or remove {WORKER}")
    else:
        yield from too_many_replicas(name, replicas, path)
    restart = spec.get("restartPolicy") or ROLES[name]
    if restart not in RESTARTS:
        message = f'unsupported restartPolicy "{restart}" of the {name}'
        yield Violation.at((*at, "restartPolicy"), ENUM, message, f"use {' or '.join(RESTARTS)}")
    if not get(spec, CONTAINERS):
        yield Violation.at((*at, *CONTAINERS), REQUIRED, f"the {name} has no container", "add one")
