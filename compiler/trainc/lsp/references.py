"""Which documents a field names: the runtime of a TrainJob, queues, Secrets, the targets of a patch, other files.

Reads    the outline of a document in an editor, and the documents of the project.
Returns  the places that a name leads to, and the places that lead to a document.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import trainc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.lsp.outline import Outline, OutlineField, Path
    from trainc.lsp.project import OpenProject

REPLICATED_JOBS: Final = ("spec", "template", "spec", "replicatedJobs")
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
RUNTIMES: Final = ("ClusterTrainingRuntime", "TrainingRuntime")
SETTINGS: Final = "trainc.yaml"
MAKERS: Final = ("ExternalSecret", "SealedSecret")
"""The kinds of which a controller makes a Secret of the same name."""
ENDS: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("labels", QUEUE_LABEL): ("LocalQueue",),
    ("clusterQueue",): ("ClusterQueue",),
    ("flavors", "name"): ("ResourceFlavor",),
    ("secretKeyRef", "name"): ("Secret", *MAKERS),
    ("secretRef", "name"): ("Secret", *MAKERS),
    ("imagePullSecrets", "name"): ("Secret", *MAKERS),
    ("secretName",): ("Secret", *MAKERS),
    ("configMapKeyRef", "name"): ("ConfigMap",),
    ("configMapRef", "name"): ("ConfigMap",),
    ("configMap", "name"): ("ConfigMap",),
    ("claimName",): ("PersistentVolumeClaim",),
}
"""The kinds that a field names, by the end of its path without indices."""


class Named(NamedTuple):
    """What a field names."""

    kinds: tuple[str, ...]
    name: str


def kinds_of(path: Path, runtime_kind: str = "") -> tuple[str, ...]:
    """Return the kinds of the documents that a field names; none if it names none.

    >>> kinds_of(("spec", "volumes", 0, "secret", "secretName"))
    ('Secret', 'ExternalSecret', 'SealedSecret')
    """
    keys = tuple(part for part in path if isinstance(part, str))
    if keys[-2:] == ("runtimeRef", "name"):
        return (runtime_kind or RUNTIMES[0],)
    return ENDS.get(keys[-2:]) or ENDS.get(keys[-1:]) or ()


def named(document: Outline, field: OutlineField) -> Named | None:
    """Return what a field of a text names."""
    kinds = kinds_of(field.path, document.value(*field.path[:-1], "kind"))
    return Named(kinds, field.value) if kinds and field.value else None


def definitions(project: OpenProject, path: str, document: Outline, field: OutlineField) -> Iterator[trainc.Location]:
    """Yield the places that a field leads to."""
    if os.path.basename(path) == SETTINGS:
        yield from _targets_in_settings(project, path, document, field)
        return
    found = named(document, field)
    if found is not None:
        yield from _documents(project, found, document.value("metadata", "namespace"))
        if found.kinds[0] in RUNTIMES and (runtime := built_in(project, found.name)) is not None:
            yield trainc.Location(runtime.file, 1, 1)
    elif field.path[-1] == "name" and "replicatedJobs" in field.path:
        yield from _replicated_jobs(project, document, field.value)


def built_in(project: OpenProject, name: str) -> trainc.Document | None:
    """Return the document of a built-in runtime that a TrainJob uses."""
    jobs = project.whole.jobs if project.whole is not None else ()
    used = (job.runtime for job in jobs)
    return next((each.document for each in used if each is not None and each.is_built_in and each.name == name), None)


def references(project: OpenProject, path: str, document: Outline, field: OutlineField) -> Iterator[trainc.Location]:
    """Yield the places that name the document of a field, or the document that the field names."""
    own = Named((document.kind,), document.name) if field.path == ("metadata", "name") else named(document, field)
    if own is None:
        return
    kinds = ("Secret", *own.kinds) if own.kinds[0] in MAKERS else own.kinds
    for each in project.documents():
        for at, name, kind in _names_in(each.value, ()):
            if name == own.name and {*kinds} & {*kinds_of(at, kind)}:
                yield trainc.Place(each, at).locate()


def _names_in(value: Any, path: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the path and the value of each string, with the field `kind` beside it."""
    if isinstance(value, dict):
        kind = value.get("kind")
        for key, below in value.items():
            if isinstance(below, str):
                yield (*path, key), below, kind if isinstance(kind, str) else ""
            else:
                yield from _names_in(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _names_in(below, (*path, index))


def _documents(project: OpenProject, wanted: Named, namespace: str) -> Iterator[trainc.Location]:
    """Yield the names of the documents of a kind and name, those of the namespace if there are any."""
    found = [
        (id.namespace, each)
        for each in project.documents()
        if (id := trainc.ObjectId.from_manifest(each.value)).kind in wanted.kinds and id.name == wanted.name
    ]
    near = [each for own, each in found if own == namespace] or [each for _, each in found]
    for each in near:
        yield trainc.Place(each, ("metadata", "name")).locate()


def _replicated_jobs(project: OpenProject, document: Outline, name: str) -> Iterator[trainc.Location]:
    """Yield the replicated job of the runtime that a patch of a TrainJob names."""
    runtime = runtime_of(project, document)
    for index, each in enumerate(replicated_jobs(runtime)):
        if runtime is not None and each.get("name") == name:
            yield trainc.Place(runtime, (*REPLICATED_JOBS, index, "name")).locate()


def runtime_of(project: OpenProject, document: Outline) -> trainc.Document | None:
    """Return the document of the runtime that a TrainJob names; None if there is none."""
    name = document.value("spec", "runtimeRef", "name")
    kind = document.value("spec", "runtimeRef", "kind") or RUNTIMES[0]
    for each in project.documents():
        id = trainc.ObjectId.from_manifest(each.value)
        if (id.kind, id.name) == (kind, name):
            return each
    return built_in(project, name)


def replicated_jobs(runtime: trainc.Document | None) -> list[dict[str, Any]]:
    """Return the replicated jobs of a runtime."""
    value: Any = None if runtime is None else runtime.value
    for part in REPLICATED_JOBS:
        value = value.get(part) if isinstance(value, dict) else None
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _targets_in_settings(
    project: OpenProject, path: str, document: Outline, field: OutlineField
) -> Iterator[trainc.Location]:
    """Yield the targets of a patch, and the files that trainc.yaml names."""
    if "target" in field.path:
        target = field.path[: field.path.index("target") + 1]
        for each in project.documents():
            if _is_target(document, target, trainc.ObjectId.from_manifest(each.value), each.value):
                yield trainc.Place(each, ("metadata", "name")).locate()
    elif field.path[-1] in {"path", "extends"} or "extends" in field.path:
        file = os.path.normpath(os.path.join(os.path.dirname(path), field.value))
        if os.path.isfile(file) and project.path(project.uri(file)) is not None:
            yield trainc.Location(file, 1, 1)


def _is_target(document: Outline, target: Path, id: trainc.ObjectId, value: Any) -> bool:
    """Whether a patch's target selects a document: by kind, by name with `*`, and by `key=value` of its labels."""
    kind, name = document.value(*target, "kind"), document.value(*target, "name")
    labels = value.get("metadata", {}).get("labels") or {}
    wanted = [part.partition("=") for part in document.value(*target, "labelSelector").split(",") if part]
    return (
        (kind or "TrainJob") == id.kind
        and fnmatchcase(id.name, name or "*")
        and all(labels.get(key.strip()) == text.strip() for key, _, text in wanted)
    )
