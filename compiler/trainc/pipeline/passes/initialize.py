"""Initialize: configure the containers that fetch the dataset and the model.

Reads    spec.initializer.dataset and .model: storageUri, env, secretRef.
Changes  the container of the step's name in the jobs with the step's label: STORAGE_URI, then the variables; the Secret
         is added to its envFrom.
Source   kubeflow/trainer v2.3.0, the JobSet builder. The webhook finds the job by its name, the builder by its label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.trees import Tree, edit
from trainc.pipeline.objects import STEPS, ancestor
from trainc.pipeline.plan import copied, value

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.pipeline.plan import Plan


def initialize(plan: Plan) -> Plan:
    """Write each initializer into its containers."""
    for part, step in STEPS.items():
        initializer = (plan.job.spec.get("initializer") or {}).get(part)
        if initializer is None:
            continue
        for index, job in enumerate(plan.jobs):
            if ancestor(job) == step and (slot := plan.find(index, step)):
                plan = plan.on(slot, env=variables(initializer))
                change = with_secret(initializer.get("secretRef"))
                plan = plan._replace(spec=edit(plan.spec, (*slot.path, "envFrom"), change))
    return plan


def variables(initializer: Tree) -> list[Tree]:
    """Return the variables of the initializer's container."""
    uri = [value("STORAGE_URI", initializer["storageUri"])] if "storageUri" in initializer else []
    return [*uri, *map(copied, initializer.get("env") or [])]


def with_secret(secret: Tree | None) -> Callable[[list[Tree] | None], list[Tree]]:
    """Return a function that adds a Secret to envFrom, if there is one."""
    added: list[Tree] = [] if secret is None else [{"secretRef": secret}]
    return lambda sources: [*(sources or []), *added]
