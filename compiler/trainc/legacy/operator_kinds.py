"""The kinds of Training Operator v1: what differs between them, and the roles and the admission that they share.

Reads    a job that the schema of its kind has admitted.
Returns  its roles with their defaults, and the violations of the rules.
Source   kubeflow/training-operator v1.9.3: the defaults and the webhook of each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.base.texts import plural
from trainc.base.trainjob_dialects import PROCESSES_FIELD
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import ENUM, OUT_OF_RANGE, REQUIRED, TOO_FEW_PROPERTIES, Violation
from trainc.legacy.layout import Layout, field_paths
from trainc.legacy.replica_specs import (
    CONTAINERS,
    LABEL,
    MASTER,
    MOST_REPLICAS,
    MULTIKUEUE,
    POLICY,
    WORKER,
    ReplicaSpec,
    carried_template,
    choice,
    invalid_name,
    missing_container,
    too_many_replicas,
    unknown_manager,
    unknown_role,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.frontends.lowering import Loss, LossRule
    from trainc.legacy.layout import Group
    from trainc.legacy.own_runtime import PolicySetting, Success
    from trainc.legacy.pod_environment import Pods

    Roles = tuple[ReplicaSpec, ...]

OPERATOR: Final = "kubeflow.org/training-operator"
MANAGERS: Final = (OPERATOR, MULTIKUEUE)
TOP_FIELDS: Final = ("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "ttlSecondsAfterFinished")
"""The fields of the run policy that earlier API versions have directly in the spec."""
_ROLE_LABELS: Final = frozenset(
    f"metadata.labels['{LABEL}{name}']" for name in ("replica-index", "replica-type", "job-role")
)
"""The fields that differ between two roles with one template."""

SETTING_TWICE: Final = Declaration("setting-twice", ("schema",))


class OperatorKind(NamedTuple):
    """The differences of a kind of Training Operator. Those without a default, and `variables`, every kind has."""

    key: str
    """The name of its framework."""
    family: str
    """The framework with whose public policy `trainc migrate` tries to replace the jobs; another name if none fits."""
    replicas: Path
    """The path of its roles."""
    roles: tuple[str, ...]
    """The roles, in the order of their ranks."""
    container: str
    """The main container, which each role must have."""
    port_name: str
    """The name of the main container's port, of at most 15 characters, as Kubernetes requires."""
    port: int
    """The number of a port that is not set."""
    restart: str
    """The restart policy of a role that sets none."""
    variables: Callable[[Pods, Group], Iterable[Tree]]
    """The variables that the operator adds to the containers of a group of pods, in its order."""
    rendezvous: tuple[tuple[str, ...], ...] = ()
    """The variables with the rendezvous endpoint, as in `Framework`."""
    other_container: str = ""
    """Another name of the main container, which trainc accepts, too."""
    only_main: bool = False
    """Whether only the main container gets the variables."""
    any_case: bool = False
    """Whether the names of roles can have any case of letters, and other roles than these have pods, too."""
    fewest: int = 0
    """The fewest replicas that admission accepts. Without replicas, the operator creates one pod."""
    single: str = ""
    """The role that must have exactly one replica."""
    ranked: bool = False
    """Whether each pod has a rank among those of all roles. Roles with equal templates then share one Job."""
    dynamic: Path = ()
    """The field with which the job goes on without a Worker that fails."""
    leads: tuple[str, ...] = (MASTER,)
    """The roles that decide about success, the first one that the job has."""
    labelled: tuple[str, ...] = ()
    """The roles whose pods have the label `job-role`, if those are not the leads."""
    worker_leads: bool = False
    """Whether the first Worker has the label `job-role` in a job without a lead."""
    removes_failed: bool = False
    """Whether ttlSecondsAfterFinished also applies to a job that an exit code from 1 to 127 ended."""
    managers: tuple[str, ...] = MANAGERS
    """The values of managedBy that admission accepts; empty if it does not check them."""
    deletion_fails: tuple[str, ...] = ()
    """The restart policies, except Never, with which a deleted pod fails the job."""
    processes_field: str = PROCESSES_FIELD
    """The field with the number of processes of a node, if the kind has one."""
    losses: tuple[LossRule, ...] = ()
    """The rules of the losses that only this kind has."""
    rules: Callable[[Tree, Tree], Iterable[Violation]] = lambda written, job: ()
    """The violations of rules that only this kind has, in a job as written and as admitted."""
    success: Callable[[Tree, Roles], Success | None] = lambda job, roles: None
    """The pods that decide about success in a job without a lead; None if all of them do."""
    settings: Callable[[Tree, Roles], Iterable[PolicySetting]] = lambda job, roles: ()
    """The settings that `variables` reads beside the replicas and ports of the roles."""
    lost: Callable[[Tree, Roles, Success | None], Iterable[Loss]] = lambda job, roles, success: ()
    """The losses that only this kind has."""
    lengths: Callable[[Pods], Iterable[tuple[str, int]]] = lambda pods: ()
    """The variables with the host names of all pods, each with the length of its value in bytes, by arithmetic."""
    least_nodes: Callable[[Pods], int | None] = lambda pods: None
    """The number of nodes with which the job can start, if that is not all of them."""

    def role(self, key: str) -> str:
        """Return the name of the role that a key of the job means."""
        if self.any_case:
            return next((role for role in self.roles if role.lower() == key.lower()), key)
        return key

    @property
    def with_label(self) -> tuple[str, ...]:
        """The roles whose pods have the label `job-role`."""
        return self.labelled or self.leads


def replica_specs(job: Tree, kind: OperatorKind) -> Roles:
    """Return the roles of a valid job, in the order of their ranks; roles that the kind does not know are last."""
    specs = get(job, kind.replicas, {})
    keys = {kind.role(key): key for key in specs}
    names = (*kind.roles, *(name for name in keys if name not in kind.roles))
    found = (_replica_spec(name, keys[name], specs[keys[name]], kind) for name in names if name in keys)
    if not (kind.dynamic and get(job, kind.dynamic)):
        return tuple(found)
    return tuple(role._replace(is_expendable=role.name == WORKER) for role in found)


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


def layout_of(roles: Roles, kind: OperatorKind) -> Layout:
    """Return the layout of the pods of all roles."""
    counts = [(role.name, role.pods) for role in roles]
    if not kind.ranked:
        return Layout.by_role(counts)
    return Layout.folded(counts) if _can_share_a_job(roles) else Layout.ranked(counts)


def _can_share_a_job(roles: Roles) -> bool:
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


def violations(kind: OperatorKind, written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the rules of admission.

    written   the job as its author wrote it, in which a role can be null
    """
    yield from invalid_name(job)
    yield from unknown_manager(job, kind.managers)
    specs, as_written = get(job, kind.replicas, {}), get(written, kind.replicas, {})
    if not as_written:
        message = "the job has no roles"
        yield Violation.at(kind.replicas, TOO_FEW_PROPERTIES, message, f"add {choice(kind.roles, 'and')}")
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
    yield from _double_settings(job)
    yield from _not_single(job, kind.single, kind)
    yield from kind.rules(written, job)


def _role(name: str, spec: Tree, kind: OperatorKind) -> Iterator[Violation]:
    at = (*kind.replicas, name)
    if main_container(get(spec, CONTAINERS) or [], kind) is None:
        yield missing_container(name, spec, at, kind.container)
    replicas, path = spec.get("replicas", 1), (*at, "replicas")
    yield from too_many_replicas(name, replicas, path)
    if replicas < kind.fewest:
        message = f"{name} must have at least {plural(kind.fewest, 'replica')}, not {replicas}"
        yield Violation.at(path, OUT_OF_RANGE, message, f"set replicas: {max(1, kind.fewest)}")


def _not_single(job: Tree, role: str, kind: OperatorKind) -> Iterator[Violation]:
    """Yield the violation of a role that must have exactly one replica, if the job has this role."""
    spec, path = get(job, (*kind.replicas, role)), (*kind.replicas, role, "replicas")
    if not role or spec is None:
        return
    replicas = spec.get("replicas")
    if replicas is None:
        yield Violation.at(path, REQUIRED, f"the {role} has no replicas", "set replicas: 1")
    elif replicas != 1 and kind.fewest <= replicas <= MOST_REPLICAS:
        yield Violation.at(path, OUT_OF_RANGE, f"the {role} must have 1 replica, not {replicas}", "set replicas: 1")


def _double_settings(job: Tree) -> Iterator[Violation]:
    """Yield the violation of each field that the job has both in the spec and in the run policy."""
    for key in TOP_FIELDS:
        inner = (*POLICY, key)
        if key in get(job, ("spec",), {}) and get(job, inner) is not None:
            message = f"{key} is set in spec and in spec.runPolicy"
            related = (("the other one", ("spec", key)),)
            yield Violation.at(inner, SETTING_TWICE, message, "remove one of them", key=True, related=related)
