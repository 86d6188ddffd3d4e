"""JobSets that the user writes: the stages check them, and change nothing but what the settings set.

Reads    a JobSet that the CRD's schema has admitted.
Returns  the TrainJob and the runtime whose JobSet it is, with a move for each field; the plan with its pod counts. The
         status and the metadata that the API server sets are not in the compiled JobSet.
Source   Kubernetes 1.36: the pods of a Job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import EACH, JOBSET, POD, RUNTIME, TRAINJOB, VERSION
from trainc.frontends.lowering import FrontEnd, Lowered
from trainc.frontends.moves import Move
from trainc.kubernetes.trees import get, put, values_at
from trainc.legacy.own_runtime import SPEC
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import Traits

if TYPE_CHECKING:
    from trainc.frontends.gangs import GangScheduler
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

OF_SERVER: Final = frozenset(
    {"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)
"""The metadata that only the API server sets."""
RULES: Final = ("spec", "failurePolicy", "rules")
AMOUNTS: Final = tuple(
    ("replicatedJobs", EACH, *POD, containers, EACH, "resources", kind, EACH)
    for containers in ("containers", "initContainers")
    for kind in ("limits", "requests")
)
"""The paths of the amounts of resources in a JobSetSpec."""
KEPT: Final = ("name", "namespace", "labels", "annotations")
"""The metadata of the compiled JobSet."""


def lower(jobset: Tree, _: GangScheduler | None) -> Lowered:
    """Return a JobSet as a TrainJob with only metadata, and a runtime whose template has the spec."""
    metadata = {key: jobset["metadata"][key] for key in KEPT if key in jobset["metadata"]}
    own = {key: metadata[key] for key in KEPT[:2] if key in metadata}
    return Lowered(
        job={
            "apiVersion": VERSION,
            "kind": TRAINJOB.kind,
            "metadata": metadata,
            "spec": {"runtimeRef": {"kind": RUNTIME.kind, **own}},
        },
        runtime={
            "apiVersion": VERSION,
            "kind": RUNTIME.kind,
            "metadata": own,
            "spec": {"mlPolicy": {JOBSET.framework: {}}, "template": {"spec": _with_texts(jobset.get("spec") or {})}},
        },
        of_runtime=(Move(("spec",), SPEC),),
    )


def defaulted(jobset: Tree) -> Tree:
    """Return a JobSet, which may be invalid, with what is added and dropped before the schema is applied.

    JobSet's webhook names the rules of failurePolicy. The API server replaces the metadata that only it sets.
    """
    metadata = jobset.get("metadata")
    if isinstance(metadata, dict) and not OF_SERVER.isdisjoint(metadata):
        own = {key: value for key, value in metadata.items() if key not in OF_SERVER}
        jobset = jobset | {"metadata": own}
    rules = get(jobset, RULES)
    if not isinstance(rules, list) or all(isinstance(rule, dict) and rule.get("name") for rule in rules):
        return jobset
    named = [
        rule | {"name": f"failurePolicyRule{index}"} if isinstance(rule, dict) and not rule.get("name") else rule
        for index, rule in enumerate(rules)
    ]
    result: Tree = put(jobset, RULES, named)
    return result


def _with_texts(spec: Tree) -> Tree:
    """Return a spec with the texts of the amounts that are written as numbers, as the API server stores them."""
    for amounts in AMOUNTS:
        for path, amount in [*values_at(spec, amounts)]:
            if isinstance(amount, int):
                spec = put(spec, path, str(amount))
    return spec


def apply(plan: Plan) -> Plan:
    """Count the pods of each Job until completion. Add the structs of Go types, as JobSet's webhook does."""
    if not plan.jobs:
        return plan._replace(counts=())
    jobs = [*map(_with_structs, plan.jobs)]
    return plan._replace(spec=plan.spec | {"replicatedJobs": jobs}, counts=tuple(map(_pods, jobs)))


def _with_structs(job: Tree) -> Tree:
    template = job.get("template") or {}
    spec = template.get("spec") or {}
    if (spec.get("template") or {}).get("spec") is not None:
        return job
    pods = {"spec": {}} | (spec.get("template") or {})
    return job | {"template": template | {"spec": spec | {"template": pods}}}


def _pods(job: Tree) -> int:
    spec = job["template"]["spec"]
    at_once: int = spec.get("parallelism", 1)
    completions: int = spec.get("completions", at_once)
    return completions if at_once else 0


FRAMEWORKS: Final = {
    JOBSET.framework: Framework(
        apply,
        traits=Traits(container="", nodes_field="replicas", independent_nodes=True),
        front_end=FrontEnd(lambda written, admitted: (), lower, defaulted=defaulted),
    )
}
