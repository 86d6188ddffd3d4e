"""The TrainJob and the runtime of a legacy job: the parts that the kinds of all operators share.

Reads    a valid job, and the JobSetSpec of its runtime so far: the replicated jobs.
Returns  the TrainJob and its runtime, with a move for each field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_RUNTIME, RUNTIME, TRAINJOB, VERSION
from trainc.base.records import NamedTuple
from trainc.frontends.lowering import Lowered, Move
from trainc.kubernetes.trees import Path, Tree, get, put
from trainc.legacy.replica_specs import LABEL, POLICY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Loss
    from trainc.legacy.layout import Group, Layout
    from trainc.legacy.replica_specs import ReplicaSpec

SPEC: Final = ("spec", "template", "spec")
"""The path of the JobSetSpec in a runtime."""
ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
GANG: Final = "podGroupPolicy"
REPLICA_SPECS: Final = "replicaSpecs"
"""The key of the settings of each role in those of the framework: its replicas, and the port of its main container."""
NO_LIMIT: Final = 2147483647
"""The backoff limit of pods that restart without a limit."""


class PolicySetting(NamedTuple):
    """A setting of the framework, and the field that it comes from."""

    key: Path
    value: Any
    source: Path


class Success(NamedTuple):
    """The role whose pods decide about the success of the job."""

    role: str
    source: Path
    """The field that decides."""
    rule: Tree | None = None
    """The rule of the success policy of its Job, if the Job has several pods; None if all of them decide."""


def lowered(
    job: Tree,
    key: str,
    template: Tree,
    *,
    manager: str,
    settings: Iterable[PolicySetting],
    moves: Iterable[Move],
    losses: Iterable[Loss],
    at: Path = POLICY,
) -> Lowered:
    """Return a job as a TrainJob and a runtime of its own.

    key       the name of its framework
    template  the JobSetSpec, to which the fields of the run policy are added
    manager   the operator's own name in managedBy, which a JobSet does not have
    moves     the moves of the JobSetSpec
    at        the path of the run policy
    """
    policy, settings = get(job, at, {}), tuple(settings)
    of_policy = {key: policy[key] for key in ("ttlSecondsAfterFinished", "managedBy") if policy.get(key) is not None}
    if of_policy.get("managedBy") == manager:
        del of_policy["managedBy"]
    own = {key: job["metadata"][key] for key in ("name", "namespace") if key in job["metadata"]}
    fields = {key: policy[key] for key in ("suspend", "activeDeadlineSeconds") if key in policy}
    return Lowered(
        job={
            "apiVersion": VERSION,
            "kind": TRAINJOB.kind,
            "metadata": job["metadata"],
            "spec": {"runtimeRef": {"kind": RUNTIME.kind, **own}, **fields},
        },
        runtime={
            "apiVersion": VERSION,
            "kind": RUNTIME.kind,
            "metadata": own,
            "spec": {
                "mlPolicy": {key: _tree(settings)},
                "template": {"spec": template | of_policy},
            },
        },
        of_job=tuple(Move((*at, key), ("spec", key)) for key in fields),
        of_runtime=(
            Move(("spec",), SPEC),
            *moves,
            *(Move((*at, key), (*SPEC, key)) for key in of_policy),
            *(Move(setting.source, ("spec", "mlPolicy", key, *setting.key)) for setting in settings),
        ),
        losses=tuple(losses),
    )


def with_gang(lowered: Lowered, job: Tree, roles: Sequence[ReplicaSpec], gang: GangScheduler | None) -> Lowered:
    """Return a lowered job with the podGroupPolicy of its runtime, if there is a gang scheduler."""
    if gang is None:
        return lowered
    policy = gang.policy(get(job, (*POLICY, "schedulingPolicy"), {}), sum(role.replicas for role in roles))
    at = ("spec", GANG, gang.key)
    return lowered._replace(
        runtime=put(lowered.runtime, ("spec", GANG), policy),
        of_runtime=(
            *lowered.of_runtime,
            Move((*roles[-1].at, "replicas"), at),
            *(Move((*POLICY, "schedulingPolicy", field), (*at, to)) for field, to in gang.fields.items()),
        ),
    )


def _tree(settings: Iterable[PolicySetting]) -> Tree:
    tree: Tree = {}
    for setting in settings:
        tree = put(tree, setting.key, setting.value)
    return tree


def replicated_job(group: Group, spec: Tree, *, trains: bool = True) -> Tree:
    """Return a replicated job with the pods of a group.

    spec     the JobSpec without the number of pods
    trains   whether the pods are nodes
    """
    count = group.pods if group.is_one_job else 1
    job: Tree = {"parallelism": count, "completions": count, **spec}
    metadata = {"metadata": {"labels": {ANCESTOR: "trainer"}}} if trains else {}
    return {
        "name": group.name,
        "replicas": 1 if group.is_one_job else group.pods,
        "template": metadata | {"spec": job},
    }


def moves_of_job(index: int, first: Path, last: Path) -> Iterator[Move]:
    """Yield the moves of a replicated job and of the number of its pods.

    first, last   the paths of the first and the last role whose pods it has
    """
    job: Path = (*JOBS_OF_RUNTIME, index)
    yield Move(first, job)
    for count in (("replicas",), ("template", "spec", "parallelism"), ("template", "spec", "completions")):
        yield Move((*last, "replicas"), (*job, *count))
    yield Move((*first, "template"), (*job, "template", "spec", "template"))


def add_success(template: Tree, layout: Layout, success: Success) -> Iterator[Move]:
    """Add the success policies to a JobSetSpec, and yield their moves."""
    position = layout.position(success.role, 0)
    assert position is not None, "the role has a pod"
    index, group = position.job, layout.groups[position.job]
    if success.rule is not None and group.is_one_job and group.pods > 1:
        template["replicatedJobs"][index]["template"]["spec"]["successPolicy"] = {"rules": [success.rule]}
        yield Move(success.source, (*JOBS_OF_RUNTIME, index, "template", "spec", "successPolicy"))
    if len(layout.groups) > 1:
        template["successPolicy"] = {"operator": "All", "targetReplicatedJobs": [group.name]}
        yield Move(success.source, (*SPEC, "successPolicy"))


def with_labels(template: Tree, labels: Mapping[str, str]) -> Tree:
    """Return the pod template of a role with labels of the operator.

    labels   the labels without the operator's prefix
    """
    operators = {f"{LABEL}{name}": value for name, value in labels.items()}
    metadata = template["metadata"]
    return template | {"metadata": metadata | {"labels": metadata.get("labels", {}) | operators}}
