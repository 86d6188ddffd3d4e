"""A legacy job whose equal roles are one Job, also if their pods fail for good.

Reads    a compiled legacy job.
Returns  the same job with all its pods in one Job; None if its roles are not equal. Compiled as it is, such a job has a
         Job for each role (`legacy.operator_kinds.layout_of`): a worker that fails for good in the moment in which the
         Master succeeds would fail the whole job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_RUNTIME, find
from trainc.emit import objects_of_a_job
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import get, put
from trainc.pipeline import frameworks
from trainc.provenance.tracing.history import remade, resolved_plan

if TYPE_CHECKING:
    from trainc.base.kinds import Kind
    from trainc.compilation import Compiled
    from trainc.kubernetes.trees import Tree

_OF_JOB: Final = (*JOBS_OF_RUNTIME, 0, "template", "spec")
_RESTART: Final = (*_OF_JOB, "template", "spec", "restartPolicy")
RESTARTED: Final = "OnFailure"
"""A restart policy with which equal roles share a Job."""
_ENDS: Final = ("backoffLimit", "podFailurePolicy")


def in_one_job(job: Compiled) -> Compiled | None:
    """Return a compiled job with its pods in one Job; None if it has one, or if its roles differ."""
    plan, value = job.plan, job.plan.job.document.value
    kind = find(value.get("apiVersion"), value.get("kind"))
    if len(plan.jobs) < 2 or kind is None or plan.runtime.gang is not None:
        return None
    admitted = load(kind.kind, kind.schema_folder(value["apiVersion"])).admit(value).value
    runtime = runtime_in_one_job(kind, admitted, plan.runtime.value)
    if runtime is None:
        return None
    new = remade(resolved_plan(plan, runtime=runtime))
    return job._replace(plan=new, objects=tuple(objects_of_a_job(new.objects)))


def runtime_in_one_job(kind: Kind, job: Tree, own: Tree) -> Tree | None:
    """Return the runtime of an admitted job with its pods in one Job; None if its roles differ.

    own   the runtime of the job, whose first Job says how the pods restart
    """
    restarted = _with_restarts(job)
    runtime = None if restarted is None else frameworks.front_end(kind).lower(restarted, None).runtime
    if runtime is None or len(get(runtime, JOBS_OF_RUNTIME, ())) != 1:
        return None
    first: Tree = get(own, _OF_JOB)
    ends = {key: first[key] for key in _ENDS if key in first}
    rest = {key: field for key, field in get(runtime, _OF_JOB).items() if key not in _ENDS}
    found: Tree = put(put(runtime, _OF_JOB, ends | rest), _RESTART, get(own, _RESTART))
    return found


def _with_restarts(job: Tree) -> Tree | None:
    """Return a job whose roles restart their containers; None if the roles do not have the same restart policy."""
    key = next((key for key in job["spec"] if key.endswith("ReplicaSpecs")), "")
    roles: Tree = job["spec"].get(key) or {}
    if len({role.get("restartPolicy") for role in roles.values()}) != 1:
        return None
    changed = {name: role | {"restartPolicy": RESTARTED} for name, role in roles.items()}
    restarted: Tree = put(job, ("spec", key), changed)
    return restarted
