"""The first trial of an OptimizationJob: the TrainJob that its controller creates for one choice of parameters.

Reads    an OptimizationJob that its schema has admitted.
Returns  the trial as an edit of its document, so that each field leads back to it; and the numbers of its trials. The
         value of each parameter is a placeholder.
Source   kubeflow/trainer, development branch of 2026-08-21, proposal 2605: trials are named after the OptimizationJob,
         and get each parameter in an environment variable of the trainer. The controller was not released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import TRAINJOB
from trainc.base.records import NamedTuple
from trainc.frontends.lowering import Move, edited
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree

VARIABLE: Final = "KUBEFLOW_TRAINER_OPT_"
TEMPLATE: Final = ("spec", "trainJobTemplate")
ENV: Final = ("spec", "trainer", "env")


class Trials(NamedTuple):
    """The numbers of the trials of an OptimizationJob."""

    total: int
    parallel: int
    """The most that run at once."""


def trials_of(job: Tree) -> Trials:
    """Return the numbers of the trials of a valid OptimizationJob, which may lack the defaults."""
    total, parallel = (get(job, ("spec", key)) or 1 for key in ("numTrials", "parallelTrials"))
    return Trials(total, min(total, parallel))


def first_trial(written: Document, stored: Tree, suffix: str) -> Document:
    """Return the first trial of an OptimizationJob as an edit of its document.

    Args:
        written: the document.
        stored: the OptimizationJob as the API server stores it.
        suffix: the end of the trial's name.
    """
    template: Any = get(stored, TEMPLATE)
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if key in _CARRIED}
    own = stored["metadata"]
    metadata |= {"name": f"{own['name']}{suffix}"} | {key: own[key] for key in ("namespace",) if own.get(key)}
    moves = [Move((*TEMPLATE, "metadata", key), ("metadata", key)) for key in _CARRIED]
    moves.append(Move((*TEMPLATE, "spec"), ("spec",)))
    env = [*(get(template, ENV) or ())]
    for index, parameter in enumerate(get(stored, ("spec", "parameters")) or ()):
        source = ("spec", "parameters", index)
        target = (*ENV, len(env))
        env.append({"name": f"{VARIABLE}{parameter['name'].upper()}", "value": f"<{parameter['name']}>"})
        moves += [Move(source, target), Move((*source, "searchSpace"), (*target, "value"))]
    trial = {
        "apiVersion": TRAINJOB.versions[0],
        "kind": TRAINJOB.kind,
        "metadata": metadata,
        "spec": put(template, ENV, env)["spec"] if get(template, ENV[:2]) else _with_trainer(template["spec"], env),
    }
    return edited(written, trial, moves)


_CARRIED: Final = ("labels", "annotations", "finalizers")
"""The fields of the template's metadata that a trial has."""


def _with_trainer(spec: Tree, env: list[Tree]) -> Tree:
    return {**spec, "trainer": {"env": env}}
