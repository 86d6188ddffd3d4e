"""The TrainJob and the runtime of a legacy job: the parts that the kinds of all operators share.

Reads    a valid job, and the JobSetSpec of its runtime so far: the replicated jobs.
Returns  the TrainJob and its runtime, with a move for each field; and the losses of the run policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_RUNTIME, RUNTIME, TRAINJOB, VERSION
from trainc.base.records import NamedTuple
from trainc.frontends.legacy.replica_specs import LABEL, POLICY
from trainc.frontends.lowering import Loss, Lowered
from trainc.frontends.moves import Move
from trainc.kubernetes.trees import Path, Tree, get, put

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trainc.frontends.legacy.layout import Group, Layout

SPEC: Final = ("spec", "template", "spec")
"""The path of the JobSetSpec in a runtime."""
ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
NO_LIMIT: Final = 2147483647
"""The backoff limit of pods that restart without a limit."""


class PolicySetting(NamedTuple):
    """A setting of the framework, or a field of spec.trainer, and the field that it comes from."""

    key: Path
    value: Any
    source: Path


class Success(NamedTuple):
    """The role whose pods decide about the success of the job."""

    role: str
    source: Path
    """The field that decides."""
    rule: Tree
    """The rule of the success policy of its Job, if the Job has several pods."""


def lowered(
    job: Tree,
    key: str,
    template: Tree,
    *,
    manager: str,
    settings: Iterable[PolicySetting],
    moves: Iterable[Move],
    trainer: Iterable[PolicySetting] = (),
    losses: Iterable[Loss] = (),
) -> Lowered:
    """Return a job as a TrainJob and a runtime of its own.

    key       the name of its framework
    template  the JobSetSpec, to which the fields of the run policy are added
    manager   the operator's own name in managedBy, which a JobSet does not have
    trainer   the fields of the TrainJob's spec.trainer
    moves     the moves of the JobSetSpec
    """
    policy, settings, trainer = get(job, POLICY, {}), tuple(settings), tuple(trainer)
    of_policy = {key: policy[key] for key in ("ttlSecondsAfterFinished", "managedBy") if policy.get(key) is not None}
    if of_policy.get("managedBy") == manager:
        del of_policy["managedBy"]
    own = {key: job["metadata"][key] for key in ("name", "namespace") if key in job["metadata"]}
    fields = {key: policy[key] for key in ("suspend", "activeDeadlineSeconds") if key in policy}
    spec = {"runtimeRef": {"kind": RUNTIME.kind, **own}, **fields}
    return Lowered(
        job={
            "apiVersion": VERSION,
            "kind": TRAINJOB.kind,
            "metadata": job["metadata"],
            "spec": spec | ({"trainer": _tree(trainer)} if trainer else {}),
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
        of_job=(
            *(Move((*POLICY, key), ("spec", key)) for key in fields),
            *(Move(field.source, ("spec", "trainer", *field.key)) for field in trainer),
        ),
        of_runtime=(
            Move(("spec",), SPEC),
            *moves,
            *(Move((*POLICY, key), (*SPEC, key)) for key in of_policy),
            *(Move(setting.source, ("spec", "mlPolicy", key, *setting.key)) for setting in settings),
        ),
        losses=(*_losses(policy), *losses),
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
    if group.is_one_job and group.pods > 1:
        template["replicatedJobs"][index]["template"]["spec"]["successPolicy"] = {"rules": [success.rule]}
        yield Move(success.source, (*JOBS_OF_RUNTIME, index, "template", "spec", "successPolicy"))
    if len(layout.groups) > 1:
        template["successPolicy"] = {"operator": "All", "targetReplicatedJobs": [group.name]}
        yield Move(success.source, (*SPEC, "successPolicy"))


def pod_metadata(template: Tree, labels: Mapping[str, str]) -> Tree:
    """Return the metadata of a role's pods, with labels of the operator, which replace those of the role.

    labels   the labels without the operator's prefix
    """
    metadata = {key: get(template, ("metadata", key)) for key in ("labels", "annotations")}
    operators = {f"{LABEL}{name}": value for name, value in labels.items()}
    return {key: value for key, value in metadata.items() if value} | {"labels": (metadata["labels"] or {}) | operators}


def _losses(policy: Tree) -> Iterator[Loss]:
    """Yield the fields of the run policy that have another effect, whatever the operator."""
    if "schedulingPolicy" in policy:
        yield Loss((*POLICY, "schedulingPolicy"), "the pods are not scheduled as a gang")
    if "suspend" in policy:
        why = "pods that have succeeded do not run again when the job resumes"
        yield Loss((*POLICY, "suspend"), why, approximated=True)
