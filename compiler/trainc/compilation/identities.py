"""The identities of the objects in an output: no two may be the same.

Reads    the result of a run, and the documents that are copied to the output.
Returns  diagnostics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation.results import Compilation
    from trainc.kubernetes.trees import Tree


DUPLICATE_OBJECT: Final = Declaration(
    "duplicate-object", ("read",), "Duplicate object in an output or in one side of a review", trainc_only=True
)
FIXED_NAME: Final = Declaration(
    "fixed-name", ("build",), "Name in place of generateName", severity="note", trainc_only=True
)
KUSTOMIZE: Final = "kustomize.config.k8s.io/"
LOCAL: Final = "config.kubernetes.io/local-config"
"""The annotation of a document that only tools read, such as the configuration of a KRM function."""


def duplicates(result: Compilation, others: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield an error for each compiled object or other document that has the identity of an earlier one.

    An identity is the API group, kind, namespace and name. Versions of a group share it.
    """
    first: dict[tuple[str, str, str, str], Place] = {}
    for job in result.jobs:
        place = job.plan.job.at("metadata", "name")
        for tree in job.objects:
            key = _identity(tree)
            if key in first:
                yield duplicate_object(ObjectId.from_manifest(tree), place, first[key])
            first.setdefault(key, place)
    for document in others:
        key = _identity(document.value)
        if not (key[1] and key[3]):
            continue
        place = Place(document=document, path=("metadata", "name"))
        if key in first:
            yield duplicate_object(ObjectId.from_manifest(document.value), place, first[key])
        first.setdefault(key, place)


def fixed_names(result: Compilation) -> Iterator[Diagnostic]:
    """Yield a note for each TrainJob whose name is generated: the objects of an output have the same name each time."""
    for job in result.jobs:
        if job.plan.job.letters_at is not None:
            prefix = job.plan.job.source_name
            yield Diagnostic.declared(
                FIXED_NAME,
                f'generateName "{prefix}" becomes the name {job.name}: without a change, another apply starts no new '
                "run; with one, pruning deletes the old run",
                f"to start a run each time, create the {job.plan.job.word} itself with `kubectl create`",
                object=job.plan.job.id,
                field="metadata.generateName",
                place=job.plan.job.at("metadata", "name"),
            )


def wrong_namespace(result: Compilation, others: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield the faults of copied documents: a namespace that the settings do not set, or an invalid one."""
    moves = result.namespaces
    if moves is None:
        return
    from trainc.edits.transforming.setting_faults import invalid_moves, other_namespaces, unmoved

    others = list(others)
    yield from unmoved(others, moves)
    yield from invalid_moves(others, moves, {each.message for each in result.diagnostics})
    if moves.environment.namespace is not None:
        yield from other_namespaces(others, moves, moves.environment.namespace)


def _identity(tree: Tree) -> tuple[str, str, str, str]:
    id = ObjectId.from_manifest(tree)
    group, slash, _ = id.apiVersion.partition("/")
    return group if slash else "", id.kind, id.namespace, id.name


def duplicate_object(id: ObjectId, place: Place, first: Place) -> Diagnostic:
    """Return the error for an object with the identity of an earlier one."""
    return Diagnostic.declared(
        DUPLICATE_OBJECT,
        f'duplicate {id.kind} "{id.name}"' + (f' in namespace "{id.namespace}"' if id.namespace else ""),
        "remove one of them: the cluster would keep the one that is applied last",
        object=id,
        field="metadata.name",
        place=place,
        related=(Related(message="the first one", place=first),),
    )


def is_object(document: Document) -> bool:
    """Return whether a document can be applied to a cluster: it is not a values file or a kustomization."""
    tree = document.value
    version, kind = tree.get("apiVersion"), tree.get("kind")
    if not (isinstance(version, str) and isinstance(kind, str) and version and kind):
        return False
    local = get(tree, ("metadata", "annotations", LOCAL))
    return not version.startswith(KUSTOMIZE) and local not in ("true", True)
