"""XGBoostJob of kubeflow.org/v1, and of the group xgboostjob.kubeflow.org before it.

Reads    an XGBoostJob that the schema of its version has admitted.
Returns  the TrainJob and its runtime. `pipeline.frameworks.xgboostjob` adds the variables.
Source   kubeflow/training-operator v1.9.3: the defaults, the webhook and the status of XGBoostJobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import REQUIRED, Violation
from trainc.legacy.operator_jobs import LOSSES as OPERATOR_LOSSES
from trainc.legacy.operator_jobs import lowered
from trainc.legacy.own_runtime import PolicySetting, Success
from trainc.legacy.replica_specs import (
    CONTAINERS,
    MASTER,
    WORKER,
    OperatorKind,
    not_single,
    ranked_layout,
    replica_specs,
)
from trainc.legacy.replica_specs import violations as shared_violations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Lowered
    from trainc.legacy.replica_specs import ReplicaSpec

SCHEMA: Final = "training-operator-1.9"
KIND: Final = OperatorKind(
    key="xgboostjob",
    replicas=("spec", "xgbReplicaSpecs"),
    roles=(MASTER, WORKER),
    container="xgboost",
    port_name="xgboostjob-port",
    port=9999,
    restart="Never",
    other_container="xgboostjob",
    deletion_fails=("OnFailure", "Always"),
)
OLDER: Final[dict[str, str]] = {}

LOSSES: Final = OPERATOR_LOSSES

OLD_CONTAINER_NAME: Final = Declaration(
    "old-container-name", ("schema",), "Main container with an earlier name", "warning", fix="unsafe"
)


def violations(written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the rules of the webhook."""
    yield from shared_violations(written, job, KIND)
    yield from not_single(job, MASTER, KIND)
    specs = get(written, KIND.replicas, {})
    if specs and MASTER not in specs:
        yield Violation.at(KIND.replicas, REQUIRED, "the role Master is missing", "add it, with replicas: 1")
    for role, spec in get(job, KIND.replicas, {}).items():
        yield from _old_container(spec, (*KIND.replicas, role, *CONTAINERS))


def _old_container(spec: Tree, at: Path) -> Iterator[Violation]:
    """Yield a warning for a role whose main container has the name of old examples."""
    names = [container.get("name") for container in get(spec, CONTAINERS) or ()]
    if KIND.container not in names and KIND.other_container in names:
        message = (
            f'Training Operator v1.9 refuses a role without a container "{KIND.container}"; trainc takes '
            f'"{KIND.other_container}" as the main container'
        )
        from trainc.base.fixes import setting

        path = (*at, names.index(KIND.other_container), "name")
        help = setting(path, KIND.container, f"rename it to {KIND.container}")
        violation = Violation.at(path, OLD_CONTAINER_NAME, message, help)
        yield violation._replace(severity="warning")


def lower(job: Tree, gang: GangScheduler | None = None) -> Lowered:
    """Return the TrainJob and its runtime. The Master decides about success."""
    roles = replica_specs(job, KIND)
    return lowered(
        job,
        KIND,
        roles,
        ranked_layout(roles),
        gang=gang,
        settings=_settings(roles),
        success=Success(MASTER, roles[0].at, {"succeededIndexes": "0"}),
        losses=(),
    )


def _settings(roles: tuple[ReplicaSpec, ...]) -> Iterator[PolicySetting]:
    for role in roles:
        yield PolicySetting(("ports", role.name), role.port, (*role.at, *CONTAINERS))
