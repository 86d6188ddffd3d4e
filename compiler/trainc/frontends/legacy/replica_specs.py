"""The roles of a job of Training Operator v1, and the rules of its admission that all kinds share.

Reads    a job that the schema of its kind has admitted.
Returns  its roles with their defaults, and the violations of the rules.
Source   kubeflow/training-operator v1.9.3: the defaults and the webhook of each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.base.texts import plural
from trainc.frontends.legacy.field_refs import field_paths
from trainc.frontends.legacy.layout import Layout
from trainc.frontends.legacy.run_policy import POLICY, double_settings
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import (
    ENUM,
    INVALID_NAME,
    OUT_OF_RANGE,
    REQUIRED,
    TOO_FEW_PROPERTIES,
    Violation,
    field_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from trainc.base.fixes import Fix

CONTAINERS: Final = ("template", "spec", "containers")
MASTER: Final = "Master"
WORKER: Final = "Worker"
OPERATOR: Final = "kubeflow.org/training-operator"
MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"
MANAGERS: Final = (OPERATOR, MULTIKUEUE)
MOST_REPLICAS: Final = 100_000
LABEL: Final = "training.kubeflow.org/"
"""The prefix of the labels that the operator adds to pods."""
REPLICA_INDEX: Final = f"metadata.labels['{LABEL}replica-index']"
OPERATOR_LABELS: Final = frozenset(
    f"{LABEL}{name}" for name in ("job-name", "operator-name", "replica-type", "replica-index", "job-role")
)
"""The labels that operators set on pods."""
_ROLE_LABELS: Final = frozenset(
    f"metadata.labels['{LABEL}{name}']" for name in ("replica-index", "replica-type", "job-role")
)
"""The fields that differ between two roles with one template."""


class OperatorKind(NamedTuple):
    """The data by which the kinds of Training Operator differ."""

    key: str
    """The name of its framework."""
    replicas: Path
    """The path of its roles."""
    roles: tuple[str, ...]
    """The roles, in the order of their ranks."""
    container: str
    """The main container, which each role must have."""
    port_name: str
    """The name of the main container's port."""
    port: int
    """The number of a port that is not set."""
    restart: str
    """The restart policy of a role that sets none."""
    other_container: str = ""
    """Another name of the main container, which trainc accepts, too."""
    any_case: bool = False
    """Whether the names of roles can have any case of letters, and other roles than these have pods, too."""
    fewest: int = 0
    """The fewest replicas that admission accepts. Without replicas, the operator creates one pod."""
    leads: tuple[str, ...] = (MASTER,)
    """The roles that decide about success, and whose pods have the label `job-role`."""
    worker_leads: bool = False
    """Whether the first Worker has the label `job-role` in a job without a lead."""
    removes_failed: bool = False
    """Whether ttlSecondsAfterFinished also applies to a job that an exit code from 1 to 127 ended."""
    managers: tuple[str, ...] = MANAGERS
    """The values of managedBy that admission accepts; empty if it does not check them."""
    deletion_fails: tuple[str, ...] = ()
    """The restart policies, except Never, with which a deleted pod fails the job."""

    def role(self, key: str) -> str:
        """Return the name of the role that a key of the job means."""
        if self.any_case:
            return next((role for role in self.roles if role.lower() == key.lower()), key)
        return key


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


def replica_specs(job: Tree, kind: OperatorKind) -> tuple[ReplicaSpec, ...]:
    """Return the roles of a valid job, in the order of their ranks; roles that the kind does not know are last."""
    specs = get(job, kind.replicas, {})
    keys = {kind.role(key): key for key in specs}
    names = (*kind.roles, *(name for name in keys if name not in kind.roles))
    return tuple(_replica_spec(name, keys[name], specs[keys[name]], kind) for name in names if name in keys)


def _replica_spec(name: str, key: str, spec: Tree, kind: OperatorKind) -> ReplicaSpec:
    template = spec["template"]
    containers = template["spec"]["containers"]
    container = main_container(containers, kind)
    assert container is not None, "admission requires a main container"
    index = next(i for i, each in enumerate(containers) if each.get("name") == container)
    main, port = _with_port(containers[index], kind)
    pod = template["spec"] | {"containers": [*containers[:index], main, *containers[index + 1 :]]}
    pod.pop("restartPolicy", None)  # that of the role replaces it
    return ReplicaSpec(
        name,
        (*kind.replicas, key),
        spec.get("replicas", 1),
        spec.get("restartPolicy") or kind.restart,
        carried_template(template, pod),
        port,
        container,
    )


def main_container(containers: Iterable[Tree], kind: OperatorKind) -> str | None:
    """Return the name of a role's main container; None without one."""
    names = {container.get("name") for container in containers}
    return next((name for name in (kind.container, kind.other_container) if name and name in names), None)


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


def _with_port(container: Tree, kind: OperatorKind) -> tuple[Tree, int]:
    """Return the main container with its port, and the port's number.

    The operator adds its port beside one of the same number with another name; a JobSet may have only one of them.
    """
    ports = container.get("ports") or []
    for port in ports:
        if port.get("name") == kind.port_name:
            return container, port["containerPort"]
    if any(port.get("containerPort") == kind.port and port.get("protocol", "TCP") == "TCP" for port in ports):
        return container, kind.port
    return container | {"ports": [*ports, {"name": kind.port_name, "containerPort": kind.port}]}, kind.port


def layout_by_role(roles: tuple[ReplicaSpec, ...]) -> Layout:
    """Return the layout with a Job for each role, whose pods have no common rank."""
    return Layout.by_role((role.name, role.pods) for role in roles)


def ranked_layout(roles: tuple[ReplicaSpec, ...]) -> Layout:
    """Return the layout in which each pod has a rank among those of all roles."""
    counts = [(role.name, role.pods) for role in roles]
    return Layout.folded(counts) if _can_share_a_job(roles) else Layout.ranked(counts)


def _can_share_a_job(roles: tuple[ReplicaSpec, ...]) -> bool:
    """Return whether the pods of all roles can be those of one Job: they are equal, and none fails for ever.

    A worker that fails for ever at the moment in which the first pod succeeds would end the job as failed.
    """
    first = roles[0]
    return (
        len(roles) > 1
        and first.restart in ("OnFailure", "Always")
        and all((role.template, role.restart) == (first.template, first.restart) for role in roles)
        and _ROLE_LABELS.isdisjoint(field_paths(first.template))
    )


def violations(written: Tree, job: Tree, kind: OperatorKind) -> Iterator[Violation]:
    """Yield the violations of the rules of admission.

    written   the job as its author wrote it, in which a role can be null
    """
    yield from invalid_name(job)
    yield from unknown_manager(job, kind.managers)
    specs, as_written = get(job, kind.replicas, {}), get(written, kind.replicas, {})
    if not as_written:
        message = "the job has no roles"
        yield Violation.at(kind.replicas, TOO_FEW_PROPERTIES, message, f"add {_choice(kind.roles, 'and')}")
    seen: dict[str, str] = {}
    for key in as_written:
        path = (*kind.replicas, key)
        name = kind.role(key)
        first = seen.setdefault(name.lower(), key) if kind.any_case else key
        if first != key:
            other = (("the first one", (*kind.replicas, first)),)
            message = f"the role {name} has two keys: {first} and {key}"
            yield Violation.at(path, ENUM, message, "remove one of them", key=True, related=other)
        elif as_written[key] is None:
            yield Violation.at(path, REQUIRED, f"the role {key} is null", "set its template")
        elif name not in kind.roles and not kind.any_case:
            yield unknown_role(path, kind.roles)
        else:
            yield from _role(key, specs[key], kind)
    yield from double_settings(job)


def not_single(job: Tree, role: str, kind: OperatorKind) -> Iterator[Violation]:
    """Yield the violation of a role that must have exactly one replica, if the job has this role."""
    spec, path = get(job, (*kind.replicas, role)), (*kind.replicas, role, "replicas")
    if spec is None:
        return
    replicas = spec.get("replicas")
    if replicas is None:
        yield Violation.at(path, REQUIRED, f"the {role} has no replicas", "set replicas: 1")
    elif replicas != 1 and kind.fewest <= replicas <= MOST_REPLICAS:
        yield Violation.at(path, OUT_OF_RANGE, f"the {role} must have 1 replica, not {replicas}", "set replicas: 1")


def invalid_name(job: Tree) -> Iterator[Violation]:
    """Yield the violation of a name that is no DNS label."""
    from trainc.kubernetes.names import LONGEST_LABEL, dns1035_label_errors

    name = get(job, ("metadata", "name"), "")
    if isinstance(name, str) and name and dns1035_label_errors(name):
        from trainc.kubernetes.misnamed import LABEL, example, fault

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
    help = renamed_key(path, roles) or f"use {_choice(roles, 'or')}"
    return Violation.at(path, ENUM, f'unknown role "{name}"', help, key=True)


def _choice(roles: tuple[str, ...], word: str) -> str:
    """Return the names of roles as a part of a sentence."""
    return f" {word} ".join((*filter(None, [", ".join(roles[:-1])]), roles[-1]))


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


def _role(name: str, spec: Tree, kind: OperatorKind) -> Iterator[Violation]:
    at = (*kind.replicas, name)
    if main_container(get(spec, CONTAINERS) or [], kind) is None:
        yield missing_container(name, spec, at, kind.container)
    replicas, path = spec.get("replicas", 1), (*at, "replicas")
    yield from too_many_replicas(name, replicas, path)
    if replicas < kind.fewest:
        message = f"{name} must have at least {plural(kind.fewest, 'replica')}, not {replicas}"
        yield Violation.at(path, OUT_OF_RANGE, message, f"set replicas: {max(1, kind.fewest)}")
