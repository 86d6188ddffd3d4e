"""Trainer: apply spec.trainer to the containers, and write the pod counts into the jobs.

Reads    trainer.image, .command, .args, .env; the framework's own command; the pod counts; spec.suspend.
Changes  the `node` container of every trainer job; replicas, parallelism and completions of the jobs; suspend, which is
         never false (difference suspend-unset).
Source   kubeflow/trainer v2.3.0, the JobSet builder. `trainer.env` is applied again after the framework's variables, so
         it takes precedence over variables of the same name. An empty command replaces the runtime's, because it is
         set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.pipeline.objects import ancestor
from trainc.pipeline.plan import NODE, copied

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

ONE_REPLICA: Final = frozenset({"trainer", "dataset-initializer", "model-initializer"})
"""The ancestor steps whose jobs have one replica, whatever the runtime sets."""


def trainer(plan: Plan) -> Plan:
    """Write spec.trainer into every trainer job, and the counts into all jobs."""
    if plan.job.is_jobset:
        return plan
    given = plan.job.trainer
    start = given if plan.entry is None else plan.entry
    written = (("image", given), ("command", start), ("args", start))
    fields = {key: source[key] for key, source in written if key in source}
    env = given.get("env") or []
    if fields or env:
        for job in plan.trainers():
            if node := plan.find(job, NODE):
                plan = plan.on(node, fields=fields, env=map(copied, env))
    spec = {key: field for key, field in plan.spec.items() if key != "suspend"}
    if plan.job.spec.get("suspend"):
        spec["suspend"] = True
    if plan.jobs:
        one_replica = ONE_REPLICA if plan.job.own_runtime is None else frozenset[str]()
        spec["replicatedJobs"] = [
            counted(job, count, one_replica) for job, count in zip(plan.jobs, plan.counts, strict=True)
        ]
    return plan._replace(spec=spec)


def counted(job: Tree, count: int, one_replica: frozenset[str]) -> Tree:
    """Return a replicated job that runs `count` pods in parallel and completes when all of them succeed.

    one_replica   the ancestor steps whose jobs have one replica
    """
    template = job.get("template") or {}
    spec = template.get("spec") or {}
    # The Go types always have a pod spec, even for a job of which a patch sets only the name.
    pod_template = {"spec": {}} | (spec.get("template") or {})
    spec = spec | {"parallelism": count, "completions": count, "template": pod_template}
    job = job | {"template": template | {"spec": spec}}
    return job | {"replicas": 1} if ancestor(job) in one_replica else job
