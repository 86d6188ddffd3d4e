"""The names of new runtimes: words, with which a reader finds the job that a runtime comes from.

Reads    the accepted candidates in the order of their files, and the runtimes that the paths have.
Returns  each candidate with the name of its runtime: that of an equal runtime of the paths, else that of an earlier
         candidate with an equal one, else the name of its job and of the framework. A runtime that exists keeps its
         name, so that a job that is migrated later changes none.
"""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING

from trainc.base.kinds import CLUSTER_RUNTIME, RUNTIME
from trainc.diagnostics import ObjectId
from trainc.kubernetes.trees import get, put
from trainc.pipeline.training import FRAMEWORK_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.rewriting.migration.migrated import Candidate


def with_names(
    accepted: Iterable[tuple[Document, Candidate]], known: Sequence[Document], kind: str
) -> Iterator[Candidate]:
    """Yield the candidates with the final kinds and names of their runtimes.

    accepted   the legacy jobs, each with its candidate
    known      the runtimes of the paths
    kind       the kind of the new runtimes
    """
    taken = {ObjectId.from_manifest(document.value).name for document in known}
    existing = [(ObjectId.from_manifest(each.value), dumps(each.value.get("spec"), sort_keys=True)) for each in known]
    named: dict[tuple[str, str], ObjectId] = {}
    for document, candidate in accepted:
        if candidate.is_built_in:
            yield candidate
            continue
        subject, spec = ObjectId.from_source(document.value), dumps(candidate.runtime["spec"], sort_keys=True)
        namespace = subject.namespace if kind == RUNTIME.kind else ""
        key = namespace, spec
        if key not in named:
            equal = (id for id, other in existing if other == spec and id.namespace in ("", subject.namespace))
            name = _free_name(subject, str(get(candidate.runtime, ("metadata", "labels", FRAMEWORK_LABEL))), taken)
            id = next(equal, ObjectId(kind=kind, namespace=namespace, name=name))
            taken.add(id.name)
            named[key] = id
        yield _with_id(candidate, named[key])


def _free_name(job: ObjectId, framework: str, taken: set[str]) -> str:
    """Return the name of a runtime for a job; with the namespace, or a number, if another one has it."""
    name = f"{job.name.rstrip('-')}-{framework}"
    in_namespace = f"{job.namespace}-{name}" if job.namespace else name
    numbered = (f"{in_namespace}-{number}" for number in range(2, len(taken) + 3))
    return next(each for each in (name, in_namespace, *numbered) if each not in taken)


def _with_id(candidate: Candidate, id: ObjectId) -> Candidate:
    """Return a candidate whose runtime has another kind, namespace and name."""
    metadata = {"name": id.name, **({"namespace": id.namespace} if id.namespace else {})}
    metadata |= {key: field for key, field in candidate.runtime["metadata"].items() if key != "name"}
    reference = {"name": id.name} | ({} if id.kind == CLUSTER_RUNTIME.kind else {"kind": id.kind})
    runtime: Tree = candidate.runtime | {"kind": id.kind, "metadata": metadata}
    job: Tree = put(candidate.job, ("spec", "runtimeRef"), reference)
    return candidate._replace(job=job, runtime=runtime)
