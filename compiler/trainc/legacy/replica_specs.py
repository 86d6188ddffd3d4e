"""The roles of a legacy job: their pods, and the rules of admission that the kinds of several operators share.

Reads    a job that the schema of its kind has admitted.
Returns  the pod template of a role, and the violations of the rules.
Source   kubeflow/training-operator v1.9.3, kubeflow/mpi-operator v0.8.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import (
    ENUM,
    INVALID_NAME,
    OUT_OF_RANGE,
    REQUIRED,
    Violation,
    field_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trainc.base.fixes import Fix

POLICY: Final = ("spec", "runPolicy")
CONTAINERS: Final = ("template", "spec", "containers")
MASTER: Final = "Master"
WORKER: Final = "Worker"
MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"
MOST_REPLICAS: Final = 100_000
LABEL: Final = "training.kubeflow.org/"
"""The prefix of the labels that the operator adds to pods."""
REPLICA_INDEX: Final = f"metadata.labels['{LABEL}replica-index']"
OPERATOR_LABELS: Final = frozenset(
    f"{LABEL}{name}" for name in ("job-name", "operator-name", "replica-type", "replica-index", "job-role")
)
"""The labels that operators set on pods."""


class ReplicaSpec(NamedTuple):
    """A role of a job, with its defaults."""

    name: str
    at: Path
    """Its path in the job."""
    replicas: int
    restart: str
    template: Tree
    port: int = 0
    """The number of the main container's port, if the operator gives it one."""
    container: str = ""
    """The name of the main container, if the operator needs it."""
    is_expendable: bool = False
    """Whether the job goes on without a pod that fails."""

    @property
    def pods(self) -> int:
        """The number of pods: the operator creates the first one in any case."""
        return max(1, self.replicas)


def carried_template(
    template: Tree,
    pod: Tree,
    added: dict[str, str] | None = None,
    overwritten: Collection[str] = OPERATOR_LABELS,
) -> Tree:
    """Return the parts of a role's pod template that its pods have, without the labels that the operator sets.

    pod           the pod spec with the changes of the operator
    added         the labels of the operator that all pods of the role have
    overwritten   all labels that the operator sets
    """
    metadata = template.get("metadata") or {}
    labels = {key: text for key, text in (metadata.get("labels") or {}).items() if key not in overwritten}
    found = {"labels": labels | (added or {}), "annotations": metadata.get("annotations")}
    return {"metadata": {key: value for key, value in found.items() if value}, "spec": pod}


def invalid_name(job: Tree) -> Iterator[Violation]:
    """Yield the violation of a name that is no DNS label."""
    from trainc.kubernetes.names import LONGEST_LABEL, dns1035_label_errors

    name = get(job, ("metadata", "name"), "")
    if isinstance(name, str) and name and dns1035_label_errors(name):
        from trainc.kubernetes.names import LABEL, example, fault

        why = "starts with a digit" if name[0].isdigit() else fault(name, LABEL, LONGEST_LABEL)
        help = f"use lowercase letters, digits and `-`, and start with a letter{example(name)}"
        yield Violation.at(("metadata", "name"), INVALID_NAME, f'"{name}" is not a valid name: it {why}', help)


def unknown_manager(job: Tree, managers: tuple[str, ...]) -> Iterator[Violation]:
    """Yield the violation of a manager that is not one of those that the operator knows."""
    manager, path = get(job, (*POLICY, "managedBy")), (*POLICY, "managedBy")
    if managers and manager is not None and manager not in managers:
        yield Violation.at(path, ENUM, f'"{manager}" cannot manage the job', f"use {' or '.join(managers)}")


def unknown_role(path: Path, roles: tuple[str, ...]) -> Violation:
    """Return the violation of a role that the kind does not have."""
    from trainc.base.fixes import renamed_key

    name = str(path[-1])
    help = renamed_key(path, roles) or f"use {choice(roles, 'or')}"
    return Violation.at(path, ENUM, f'unknown role "{name}"', help, key=True)


def too_many_replicas(name: str, replicas: int, path: Path) -> Iterator[Violation]:
    """Yield the violation of a number of pods that no Job can have. It prevents the work of listing them."""
    if replicas > MOST_REPLICAS:
        message = f"{name} has {replicas} replicas; an indexed Job has at most {MOST_REPLICAS} pods"
        yield Violation.at(path, OUT_OF_RANGE, message, f"use {MOST_REPLICAS} or fewer")


def missing_container(role: str, spec: Tree, at: Path, container: str) -> Violation:
    """Return the violation of a role without its main container."""
    names = [str(each.get("name")) for each in get(spec, CONTAINERS) or []]
    message = f'the role {role} has no container "{container}"'
    path: Path = (*at, *CONTAINERS)
    help: str | Fix = f'name the main container "{container}"'
    if len(names) == 1:
        from trainc.base.fixes import setting

        path = (*path, 0, "name")
        help = setting(path, container, f"rename {names[0]} to {container}")
    return Violation.at(path, REQUIRED, message, help, field=field_of((*at, *CONTAINERS)))


def choice(roles: tuple[str, ...], word: str) -> str:
    """Return the names of roles as a part of a sentence."""
    return f" {word} ".join((*filter(None, [", ".join(roles[:-1])]), roles[-1]))
