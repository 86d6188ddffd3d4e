"""Trainer: what spec.trainer says itself, and the counts written into the jobs.

Reads    trainer.image, .command, .args, .env; what the framework starts instead; the pod counts; spec.suspend.
Changes  the `node` container of every trainer job; replicas, parallelism and completions of the jobs; suspend.
Source   kubeflow/trainer v2.3.0, the JobSet builder. `trainer.env` is put on once more after the framework's
         variables, so it wins over one of the same name. An empty command replaces the runtime's: it is given.
"""

from __future__ import annotations

from typing import Final

from trainc.kubernetes.trees import Tree, edit
from trainc.objects import ancestor
from trainc.plan import NODE, Plan, copied

ONE_REPLICA: Final = frozenset({"trainer", "dataset-initializer", "model-initializer"})
"""The ancestors whose jobs run once, whatever the runtime says."""


def trainer(plan: Plan) -> Plan:
    """Write spec.trainer into every trainer job, and the counts into all jobs."""
    start = plan.job.trainer if plan.entry is None else plan.entry
    written = (("image", plan.job.trainer), ("command", start), ("args", start))
    said = {key: source[key] for key, source in written if key in source}
    env = plan.job.trainer.get("env") or []
    if said or env:
        for job in plan.trainers():
            if node := plan.find(job, NODE):
                plan = plan._replace(spec=edit(plan.spec, node.path, lambda container: container | said))
                plan = plan.on(node, env=map(copied, env))
    spec = plan.spec | {"suspend": plan.job.spec.get("suspend", False)}
    if plan.jobs:
        spec["replicatedJobs"] = [counted(job, count) for job, count in zip(plan.jobs, plan.counts, strict=True)]
    return plan._replace(spec=spec)


def counted(job: Tree, count: int) -> Tree:
    """A replicated job that runs `count` pods at once and is done when all are."""
    template = job.get("template") or {}
    spec = template.get("spec") or {}
    # The Go types have a pod spec in any case, also for a job of which a patch says no more than the name.
    pod_template = {"spec": {}} | (spec.get("template") or {})
    spec = spec | {"parallelism": count, "completions": count, "template": pod_template}
    job = job | {"template": template | {"spec": spec}}
    return job | {"replicas": 1} if ancestor(job) in ONE_REPLICA else job
