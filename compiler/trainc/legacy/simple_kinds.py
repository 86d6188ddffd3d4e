"""Kinds of Training Operator that differ only in their roles, names and variables: a row each.

Adds     the variables of the operator to every container. The pods of a role share one template: a text with the index
         of a pod refers to a variable, which the kubelet expands, and PaddleJob's first pod has its host name, too.
Source   kubeflow/training-operator v1.9.3, and v1.7.0 for MXJob: the defaults, the webhook, the status and the
         variables of each kind, in their order. MX_CONFIG is compact JSON with sorted roles; without a Scheduler, its
         port is 0 and its address is empty.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.frontends.lowering import Loss, LossRule
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import REQUIRED, Violation
from trainc.legacy.operator_jobs import NO_LEAD, framework
from trainc.legacy.operator_kinds import OperatorKind
from trainc.legacy.own_runtime import PolicySetting, Success
from trainc.legacy.replica_specs import CONTAINERS, MASTER, POLICY, WORKER
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.legacy.layout import Group
    from trainc.legacy.operator_kinds import Roles
    from trainc.legacy.pod_environment import Pods

OLD_CONTAINER_NAME: Final = Declaration("old-container-name", ("schema",), "warning", fix="unsafe")
WORKERS: Final = "WORKER_ADDRS"


def xgboost_variables(pods: Pods, _: Group) -> Iterator[Tree]:
    """Yield the variables of an XGBoostJob."""
    yield value("MASTER_PORT", pods.port(MASTER))
    yield value("MASTER_ADDR", pods.host(MASTER))
    yield value("WORLD_SIZE", pods.nodes)
    yield from_field("RANK", pods.layout.rank_field)
    yield value("PYTHONUNBUFFERED", 1)
    if pods.replicas(WORKER):
        yield value("WORKER_PORT", pods.port(WORKER))
        yield value(WORKERS, ",".join(pods.hosts(WORKER)))


def xgboost_lengths(pods: Pods) -> Iterator[tuple[str, int]]:
    """Yield the length of the list of workers."""
    if workers := pods.replicas(WORKER):
        yield WORKERS, pods.hosts_length(WORKER) + workers - 1


def xgboost_rules(written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield an error without a Master, and a warning for a main container with the name of old examples."""
    at = XGBOOSTJOB.replicas
    if (specs := get(written, at, {})) and MASTER not in specs:
        yield Violation.at(at, REQUIRED, "the role Master is missing", "add it, with replicas: 1")
    for role, spec in get(job, at, {}).items():
        yield from _old_container(spec, (*at, role, *CONTAINERS))


def _old_container(spec: Tree, at: Path) -> Iterator[Violation]:
    names = [container.get("name") for container in get(spec, CONTAINERS) or ()]
    new, old = XGBOOSTJOB.container, XGBOOSTJOB.other_container
    if new not in names and old in names:
        from trainc.base.fixes import setting

        message = (
            f'Training Operator v1.9 rejects a role without a container "{new}"; trainc takes "{old}" as the main '
            "container"
        )
        path = (*at, names.index(old), "name")
        violation = Violation.at(path, OLD_CONTAINER_NAME, message, setting(path, new, f"rename it to {new}"))
        yield violation._replace(severity="warning")


XGBOOSTJOB: Final = OperatorKind(
    key="xgboostjob",
    family="xgboost",
    replicas=("spec", "xgbReplicaSpecs"),
    roles=(MASTER, WORKER),
    container="xgboost",
    port_name="xgboostjob-port",
    port=9999,
    restart="Never",
    variables=xgboost_variables,
    rendezvous=(("MASTER_ADDR", "MASTER_PORT"),),
    other_container="xgboostjob",
    single=MASTER,
    ranked=True,
    deletion_fails=("OnFailure", "Always"),
    rules=xgboost_rules,
    lengths=xgboost_lengths,
)


MANAGER: Final = (*POLICY, "managedBy")
MANAGED: Final = LossRule(
    "spec.runPolicy.managedBy",
    "approximated",
    "the controller that it names manages the JobSet; the operator ignores it for this kind",
    "remove it to run the job in this cluster",
)


def jax_variables(pods: Pods, _: Group) -> Iterator[Tree]:
    """Yield the variables of a JAXJob."""
    yield value("PYTHONUNBUFFERED", 1)
    yield value("COORDINATOR_PORT", pods.port(WORKER))
    yield value("COORDINATOR_ADDRESS", pods.host(WORKER))
    yield value("NUM_PROCESSES", pods.nodes)
    yield from_field("PROCESS_ID", pods.layout.rank_field)


def jax_losses(job: Tree, *_: object) -> Iterator[Loss]:
    """Yield the loss of managedBy."""
    if get(job, MANAGER) is not None:
        yield Loss(MANAGER, MANAGED)


JAXJOB: Final = OperatorKind(
    key="jaxjob",
    family="jax",
    replicas=("spec", "jaxReplicaSpecs"),
    roles=(WORKER,),
    container="jax",
    port_name="jaxjob-port",
    port=6666,
    restart="Never",
    variables=jax_variables,
    rendezvous=(("COORDINATOR_ADDRESS", "COORDINATOR_PORT"),),
    worker_leads=True,
    managers=(),
    losses=(MANAGED,),
    lost=jax_losses,
)


ELASTIC: Final = ("spec", "elasticPolicy")
NOT_ELASTIC: Final = LossRule(
    "spec.elasticPolicy", "without effect", "the operator adds nothing for it", "remove it, and set replicas"
)
OWN_ADDRESS: Final = LossRule(
    "*.replicas: PADDLE_MASTER of the first pod, of the operator",
    "approximated",
    "it has the host name of the pod instead of its IP address",
    "bind to the address to which the host name resolves",
    is_added=True,
)


def paddle_variables(pods: Pods, group: Group) -> Iterator[Tree]:
    """Yield the variables of the pods of a PaddleJob's role; the first role has the address of the rendezvous."""
    lead, role = pods.layout.groups[0].role, group.role
    yield value("PYTHONUNBUFFERED", 1)
    yield value("PADDLE_JOB_ID", pods.plan.name)
    yield value("PADDLE_NNODES", pods.nodes)
    if role == lead:
        yield from_field("POD_IP_DUMMY", "status.podIP")
    yield value("PADDLE_MASTER", f"{pods.host(lead)}:{pods.port(lead)}")
    if lead == MASTER:
        yield value("PADDLE_SERVER_NUM" if role == MASTER else "PADDLE_TRAINER_NUM", 1)


def paddle_settings(_: Tree, roles: Roles) -> Iterator[PolicySetting]:
    """Yield the port, a setting of the public policy, too."""
    yield PolicySetting(("port",), roles[0].port, (*roles[0].at, *CONTAINERS))


def paddle_losses(job: Tree, roles: Roles, _: Success | None) -> Iterator[Loss]:
    """Yield the losses of the elastic policy and of the first pod's address."""
    for key in get(job, ELASTIC) or ():
        yield Loss((*ELASTIC, key), NOT_ELASTIC)
    yield Loss((*roles[0].at, "replicas"), OWN_ADDRESS)


PADDLEJOB: Final = OperatorKind(
    key="paddlejob",
    family="paddle",
    replicas=("spec", "paddleReplicaSpecs"),
    roles=(MASTER, WORKER),
    container="paddle",
    port_name="master",
    port=36543,
    restart="OnFailure",
    variables=paddle_variables,
    rendezvous=(("PADDLE_MASTER",),),
    losses=(NOT_ELASTIC, OWN_ADDRESS),
    settings=paddle_settings,
    lost=paddle_losses,
)


SCHEDULER: Final = "Scheduler"
SERVER: Final = "Server"
CONFIG: Final = "MX_CONFIG"
INDEX: Final = "MX_TASK_INDEX"
MODE: Final = ("spec", "jobMode")
LABELS: Final = "labels"
TUNER_LABEL: Final = ("template", "metadata", "annotations", "tuner-server-key")
"""The annotation with the label of a role in MX_CONFIG."""
ANY_MODE: Final = LossRule(
    "spec.jobMode", "without effect", "the operator only looks at the roles", "keep it: the schema requires it"
)


def mxnet_variables(pods: Pods, group: Group) -> Iterator[Tree]:
    """Yield the variables of the pods of an MXJob's role: MX_CONFIG, and those of ps-lite."""
    has_scheduler = SCHEDULER in pods.roles
    entries = {role: [_entry(pods, role, host) for host in pods.hosts(role)] for role in pods.roles}
    yield from_field(INDEX, group.index_field)
    yield value(CONFIG, mxnet_config(pods, group.role, entries))
    yield value("DMLC_PS_ROOT_PORT", pods.port(SCHEDULER) if has_scheduler else 0)
    yield value("DMLC_PS_ROOT_URI", pods.host(SCHEDULER) if has_scheduler else "")
    yield value("DMLC_NUM_SERVER", pods.replicas(SERVER))
    yield value("DMLC_NUM_WORKER", pods.replicas(WORKER))
    yield value("DMLC_ROLE", group.role.lower())
    yield value("DMLC_USE_KUBERNETES", 1)
    if group.role == WORKER:
        yield from_field("DMLC_WORKER_ID", group.index_field)


def _entry(pods: Pods, role: str, host: str) -> Tree:
    """Return the entry of a pod in MX_CONFIG."""
    return {"url": host, "port": pods.port(role)}


def mxnet_config(pods: Pods, role: str, entries: dict[str, list[Any]]) -> str:
    """Return MX_CONFIG for the pods of a role.

    entries   the entries of all pods by role
    """
    names = sorted(entries, key=str.lower)
    cluster = {name.lower(): entries[name] for name in names}
    labels = {name.lower(): pods.settings[LABELS][name] for name in names}
    text = json.dumps({"cluster": cluster, "labels": labels}, separators=(",", ":"))
    return f'{text[:-1]},"task":{{"type":"{role.lower()}","index":$({INDEX})}}}}'


def mxnet_lengths(pods: Pods) -> Iterator[tuple[str, int]]:
    """Yield the length of MX_CONFIG."""
    size = max(len(mxnet_config(pods, role, {each: [] for each in pods.roles})) for role in pods.roles)
    for role in pods.roles:
        count = pods.replicas(role)
        around = len(json.dumps([_entry(pods, role, "")], separators=(",", ":"))) - 1
        size += around * count + pods.hosts_length(role) - min(count, 1)
    yield CONFIG, size


def mxnet_settings(job: Tree, roles: Roles) -> Iterator[PolicySetting]:
    """Yield the label of each role."""
    for role in roles:
        label = (*role.at, *TUNER_LABEL)
        yield PolicySetting((LABELS, role.name), get(job, label, ""), label)


def mxnet_losses(_: Tree, __: Roles, success: Success | None) -> Iterator[Loss]:
    """Yield the losses of the mode, and of a job without a Scheduler."""
    yield Loss(MODE, ANY_MODE)
    if success is None:
        yield Loss(MXJOB.replicas, NO_LEAD)


MXJOB: Final = OperatorKind(
    key="mxjob",
    family="mxnet",
    replicas=("spec", "mxReplicaSpecs"),
    roles=(SCHEDULER, SERVER, WORKER, "TunerTracker", "TunerServer", "Tuner"),
    container="mxnet",
    port_name="mxjob-port",
    port=9091,
    restart="Never",
    variables=mxnet_variables,
    rendezvous=(("DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"),),
    any_case=True,
    leads=(SCHEDULER,),
    labelled=(SERVER,),  # although the Scheduler decides
    managers=(),
    deletion_fails=("OnFailure", "Always"),
    losses=(NO_LEAD, ANY_MODE),
    settings=mxnet_settings,
    lost=mxnet_losses,
    lengths=mxnet_lengths,
)


FRAMEWORKS: Final = {kind.key: framework(kind) for kind in (XGBOOSTJOB, JAXJOB, PADDLEJOB, MXJOB)}
