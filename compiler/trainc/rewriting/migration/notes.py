"""Comments in new documents: at the values whose reason a reader does not see.

Reads    a TrainJob and its runtime, and the variables that hold counts.
Returns  a comment for each such value, with its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.kinds import JOBS_OF_RUNTIME, POD
from trainc.base.trainjob_dialects import PROCESSES_FIELD
from trainc.kubernetes.trees import get
from trainc.legacy.mpijob import KEYS, ROOT_KEYS
from trainc.legacy.own_runtime import NO_LIMIT
from trainc.pipeline.plan import JOBSET_NAME
from trainc.rewriting.migration.accepted_differences import UNUSED_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.trees import Path, Tree
    from trainc.rewriting.migration.new_documents import NewValue

    Note = tuple[Path, str]


def job_notes(job: Tree, counts: frozenset[str]) -> Iterator[Note]:
    """Yield the comments of a TrainJob."""
    trainer: Tree = get(job, ("spec", "trainer"), {})
    nodes, processes = trainer.get("numNodes"), trainer.get(PROCESSES_FIELD, 1)
    meanings = {str(nodes): "repeats numNodes"}
    if isinstance(nodes, int) and isinstance(processes, int) and processes > 1:
        meanings[str(nodes * processes)] = f"numNodes times {PROCESSES_FIELD}"
    for index, variable in enumerate(trainer.get("env") or ()):
        if variable["name"] in counts and (meaning := meanings.get(str(variable.get("value")))):
            yield ("spec", "trainer", "env", index, "value"), meaning


def runtime_notes(runtime: Tree) -> Iterator[Note]:
    """Yield the comments of a runtime."""
    keys: Path = ("spec", "mlPolicy", "mpi", "sshAuthMountPath")
    if get(runtime, keys) == UNUSED_KEYS:
        yield keys, f"unused: the pods have their keys in {ROOT_KEYS}"
    for number, job in enumerate(get(runtime, JOBS_OF_RUNTIME, [])):
        at: Path = (*JOBS_OF_RUNTIME, number)
        if get(job, ("template", "spec", "backoffLimit")) == NO_LIMIT:
            yield (*at, "template", "spec", "backoffLimit"), "no limit, as before"
        for index, volume in enumerate(get(job, (*POD, "volumes"), [])):
            if volume["name"] == KEYS and get(runtime, keys) == UNUSED_KEYS:
                secret: Path = (*at, *POD, "volumes", index, "secret")
                yield (*secret, "secretName"), "the Secret of the TrainJob"
                yield (*secret, "defaultMode"), "0600, which ssh of root needs"
        for index, container in enumerate(get(job, (*POD, "containers"), [])):
            for place, variable in enumerate(container.get("env") or ()):
                if get(variable, ("valueFrom", "fieldRef", "fieldPath")) == JOBSET_NAME:
                    path: Path = (*at, *POD, "containers", index, "env", place, "name")
                    yield path, "begins the host names of the pods"


def annotate(document: NewValue, notes: Iterable[Note]) -> None:
    """Write comments behind the fields of a new document that have none."""
    for path, text in notes:
        field, value = None, document
        for step in path:
            field = next((each for each in value.fields if each.key == step), None)
            if field is None:
                break
            value = field.value
        if field is not None and not field.behind:
            field.behind = f"  # {text}"
