"""Initialize: where the dataset and the model come from.

Reads    spec.initializer.dataset and .model: storageUri, env, secretRef.
Changes  in the jobs labelled as that step, the container of that name: STORAGE_URI, then the variables; the Secret is
         added to its envFrom.
Source   kubeflow/trainer v2.3.0, the JobSet builder. The webhook finds the job by its name, the builder by its label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.trees import Tree, edit
from trainc.objects import STEPS, ancestor
from trainc.plan import copied, value

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.plan import Plan


def initialize(plan: Plan) -> Plan:
    """Write each part into its containers."""
    for part, step in STEPS.items():
        said = (plan.job.spec.get("initializer") or {}).get(part)
        if said is None:
            continue
        for index, job in enumerate(plan.jobs):
            if ancestor(job) == step and (slot := plan.find(index, step)):
                plan = plan.on(slot, env=variables(said))
                plan = plan._replace(spec=edit(plan.spec, (*slot.path, "envFrom"), with_secret(said.get("secretRef"))))
    return plan


def variables(said: Tree) -> list[Tree]:
    """What the initializer's container is told."""
    uri = [value("STORAGE_URI", said["storageUri"])] if "storageUri" in said else []
    return [*uri, *map(copied, said.get("env") or [])]


def with_secret(secret: Tree | None) -> Callable[[list[Tree] | None], list[Tree]]:
    """A change of envFrom that adds a Secret, if there is one."""
    added: list[Tree] = [] if secret is None else [{"secretRef": secret}]
    return lambda sources: [*(sources or []), *added]
