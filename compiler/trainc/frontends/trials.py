"""OptimizationJobs: each is checked and shown by its first trial, which only the controller creates.

Reads    an OptimizationJob that its schema has admitted, and the release of Trainer.
Returns  the trial, the TrainJob for one choice of parameters, as an edit of its document, so that each field leads back
         to it. The value of each parameter is a placeholder. A sentence with the number of trials for commands, and
         diagnostics about releases that do not serve the kind.
Source   kubeflow/trainer, development branch of 2026-08-21, proposal 2605: trials are named after the OptimizationJob,
         and get each parameter in an environment variable of the trainer. The controller was not released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import OPTIMIZATION_JOB, TRAINJOB
from trainc.base.releases import RELEASES
from trainc.base.texts import plural
from trainc.diagnostics import Diagnostic, ObjectId, Place
from trainc.frontends.lowering import Move, edited
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree

VARIABLE: Final = "KUBEFLOW_TRAINER_OPT_"
TEMPLATE: Final = ("spec", "trainJobTemplate")
ENV: Final = ("spec", "trainer", "env")


UNSERVED_KIND: Final = Declaration("unserved-kind", ("schema",), severity="warning")


def unserved(documents: Iterable[Document], release: TrainerRelease, *, stated: bool) -> Iterator[Diagnostic]:
    """Yield an error for each OptimizationJob that the release does not serve; a warning for a release by default."""
    if release.optimization_jobs == "served":
        return
    first = next(each for each in RELEASES if each.optimization_jobs == "served")
    help = f'set trainerVersion: "{first.name}" if the cluster runs {first.title}'
    for document in documents:
        found = Diagnostic.declared(
            UNSERVED_KIND,
            f"{release.title} does not serve {OPTIMIZATION_JOB.kind}",
            f"upgrade the cluster to {first.title}" if stated else help,
            object=ObjectId.from_manifest(document.value),
            field="kind",
            place=Place(document, ("kind",)),
        )
        yield found._replace(severity="error") if stated else found


def sentence(job: Document) -> str:
    """Return a sentence about the trials of a valid OptimizationJob, which may lack the defaults."""
    total, parallel = (get(job.value, ("spec", key)) or 1 for key in ("numTrials", "parallelTrials"))
    most = min(total, parallel)
    at_once = f", {'one' if most == 1 else f'up to {most}'} at once" if total > 1 else ""
    name = ObjectId.from_source(job.unedited).name
    return f'OptimizationJob "{name}" has {plural(total, "trial")}{at_once}: trainc compiles the first one'


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
