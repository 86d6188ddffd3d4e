"""TFJob of kubeflow.org/v1, v1beta2 and v1beta1.

Reads    a TFJob that the schema of its version has admitted.
Returns  the kind: its rules, its losses, and TF_CONFIG for the pods of several tasks. The pods of a role share one
         template, so TF_CONFIG refers to the index by $(TF_TASK_INDEX), which the kubelet expands.
Source   kubeflow/training-operator v1.9.3: the defaults, the webhook, the status and the environment of TFJobs.
         TF_CONFIG is compact JSON with sorted roles.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.frontends.lowering import Loss, LossRule, without_effect
from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import Violation
from trainc.legacy.operator_jobs import NO_LEAD, framework
from trainc.legacy.operator_kinds import OperatorKind
from trainc.legacy.own_runtime import PolicySetting, Success
from trainc.legacy.replica_specs import MASTER, POLICY, WORKER
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.legacy.layout import Group
    from trainc.legacy.operator_kinds import Roles
    from trainc.legacy.pod_environment import Pods

CHIEF: Final = "Chief"
PS: Final = "PS"
CONFIG: Final = "TF_CONFIG"
INDEX: Final = "TF_TASK_INDEX"
DYNAMIC: Final = ("spec", "enableDynamicWorker")
SUCCESS: Final = ("spec", "successPolicy")
ALL_WORKERS: Final = "AllWorkers"

LEAD_DECIDES: Final = without_effect(
    "spec.successPolicy, with a Chief, a Master, or fewer than two Workers",
    "in such a job, the policy decides nothing about its success",
)
EXPENDABLE: Final = LossRule(
    "spec.enableDynamicWorker, with restartPolicy Never or ExitCode",
    "approximated",
    "a Job creates a Worker that fails again; the operator goes on without it",
    "use OnFailure, with which the container restarts in its pod",
)
ONE_TASK: Final = without_effect(
    "spec.enableDynamicWorker, of a single task that restarts", "a single task has no cluster, and does not fail"
)
SEVERAL_LEADS: Final = Declaration("several-leads", ("schema",))


def _rules(_: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violation of two roles that decide about success."""
    leads = {name: key for key in get(job, KIND.replicas, {}) if (name := KIND.role(key)) in KIND.leads}
    if len(leads) > 1:
        first, path = (*KIND.replicas, leads[CHIEF]), (*KIND.replicas, leads[MASTER])
        yield Violation.at(
            path,
            SEVERAL_LEADS,
            "the job has a Chief and a Master, which is another name of it",
            f"remove {leads[MASTER]}",
            field="spec.tfReplicaSpecs",
            key=True,
            related=(("the Chief", first),),
        )


def _success(job: Tree, roles: Roles) -> Success | None:
    """Return the pods that decide about success in a job without a lead: the first worker, or all of them."""
    at = next((role.at for role in roles if role.name == WORKER), None)
    if at is None:
        return None
    policy = get(job, SUCCESS)
    source = at if policy is None else SUCCESS
    return Success(WORKER, source, None if policy == ALL_WORKERS else {"succeededIndexes": "0"})


def _is_distributed(roles: Roles) -> bool:
    """Return whether the tasks get TF_CONFIG: a single one does not. Unknown roles do not count."""
    return sum(role.replicas for role in roles if role.name in KIND.roles) != 1


def _settings(job: Tree, roles: Roles) -> Iterator[PolicySetting]:
    yield PolicySetting(("isDistributed",), _is_distributed(roles), (*roles[-1].at, "replicas"))
    if get(job, DYNAMIC):
        yield PolicySetting(("dynamicWorkers",), True, DYNAMIC)


def _losses(job: Tree, roles: Roles, success: Success | None) -> Iterator[Loss]:
    has_workers = (
        success is not None and success.role == WORKER and any(role.name == WORKER and role.pods > 1 for role in roles)
    )
    if get(job, SUCCESS) is not None and not has_workers:
        yield Loss(SUCCESS, LEAD_DECIDES)
    if success is None:
        yield Loss(KIND.replicas, NO_LEAD)
    restarts = all(role.restart not in ("Never", "ExitCode") for role in roles if role.name == WORKER)
    if get(job, DYNAMIC) and not restarts and get(job, (*POLICY, "backoffLimit")) != 0:
        yield Loss(DYNAMIC, EXPENDABLE)
    if get(job, DYNAMIC) is not None and restarts and not _is_distributed(roles):
        yield Loss(DYNAMIC, ONE_TASK)


def _variables(pods: Pods, group: Group) -> Iterator[Tree]:
    """Yield TF_CONFIG for the tasks of a role, and the index that it refers to."""
    if pods.settings["isDistributed"]:
        addresses = {role: [_address(pods, role, host) for host in pods.hosts(role)] for role in _listed(pods)}
        yield from_field(INDEX, group.index_field)
        yield value(CONFIG, _config(pods, group.role, addresses))


def _listed(pods: Pods) -> list[str]:
    """Return the roles with lists of all tasks: with enableDynamicWorker, the parameter servers alone."""
    return [role for role in pods.roles if role == PS or not _is_dynamic(pods)]


def _is_dynamic(pods: Pods) -> bool:
    """Return whether the cluster of a task has only the tasks to which it connects."""
    return bool(pods.settings.get("dynamicWorkers"))


def _address(pods: Pods, role: str, host: str) -> str:
    """Return the address of a task."""
    return f"{host}:{pods.port(role)}"


def _config(pods: Pods, role: str, addresses: dict[str, list[str]]) -> str:
    """Return TF_CONFIG for the tasks of a role.

    addresses   those of all tasks by role
    """
    cluster: dict[str, Any] = {other.lower(): addresses[other] for other in sorted(addresses, key=str.lower)}
    ending = ',"environment":"cloud"'
    if _is_dynamic(pods):
        position = pods.layout.position(role, 0)
        assert position is not None, "a role has a pod"
        own = _address(pods, role, pods.plan.host(position.job, 0, f"$({INDEX})"))
        workers = {f"$({INDEX})": own} if role == WORKER else {}
        servers = addresses.get(PS) if role == WORKER else [own] if role == PS else []
        cluster, ending = {"worker": workers, "ps": servers}, ""
    text = json.dumps(cluster, separators=(",", ":"))
    return f'{{"cluster":{text},"task":{{"type":"{role.lower()}","index":$({INDEX})}}{ending}}}'


def _lengths(pods: Pods) -> Iterator[tuple[str, int]]:
    """Yield the length of TF_CONFIG."""
    listed = _listed(pods) if pods.settings["isDistributed"] else []
    size = max(len(_config(pods, role, {each: [] for each in listed})) for role in pods.roles)
    for role in listed:
        count = pods.replicas(role)
        around = len(_address(pods, role, '"",')) * count - 1 if count else 0
        size += around + pods.hosts_length(role)
    yield CONFIG, size


KIND: Final = OperatorKind(
    key="tfjob",
    family="tensorflow",
    replicas=("spec", "tfReplicaSpecs"),
    roles=(CHIEF, "Evaluator", MASTER, PS, WORKER),
    container="tensorflow",
    port_name="tfjob-port",
    port=2222,
    restart="Never",
    variables=_variables,
    only_main=True,
    any_case=True,
    dynamic=DYNAMIC,
    leads=(CHIEF, MASTER),
    worker_leads=True,
    removes_failed=True,
    deletion_fails=("OnFailure", "Always", "ExitCode"),
    losses=(NO_LEAD, LEAD_DECIDES, EXPENDABLE, ONE_TASK),
    rules=_rules,
    success=_success,
    settings=_settings,
    lost=_losses,
    lengths=_lengths,
)
FRAMEWORKS: Final = {KIND.key: framework(KIND)}
