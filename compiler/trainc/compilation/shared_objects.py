"""Objects that two environments of one cluster write: each apply would overwrite the other, each prune delete both.

Reads    the objects that the environments of all projects render, copied documents included.
Returns  an error for each two environments that write one object. They may write one that `shared` names, if both write
         the same. An error for each two projects that write into one folder.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.base.texts import plural
from trainc.compilation.results import is_object
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related
from trainc.files.confine import is_within, resolved
from trainc.kubernetes.trees import get
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.compilation import Run
    from trainc.compilation.environment_runs import EnvironmentRun
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.settings import Settings

SHARED_OBJECT: Final = Declaration("shared-object", ("read",), trainc_only=True)
MOST_SHOWN: Final = 3
"""The most objects of two environments whose documents are shown."""


class WritingEnvironment(NamedTuple):
    """An environment that writes objects."""

    name: str
    """The name, which no other environment of its project has; empty for a project without environments."""
    cluster: str
    """The name of its cluster; environments without one are in the same cluster."""
    place: Place | None
    """The setting of its namespace, or its name."""
    field: str = ""
    project: int = 0
    """The number of its project."""
    folder: str = ""
    """The folder of its project, for messages."""

    @property
    def key(self) -> tuple[int, str]:
        """The identity among the environments of all projects."""
        return self.project, self.name

    @property
    def title(self) -> str:
        """The environment and its project, for messages."""
        return f"environment {self.name} of {self.folder}" if self.name else f"project {self.folder}"


class WrittenObject(NamedTuple):
    """An object that an environment writes."""

    writer: WritingEnvironment
    tree: Tree
    document: Document
    """The copied document, or the TrainJob of a compiled object."""
    is_copy: bool
    is_shared: bool
    """Whether `shared` names it."""

    @property
    def id(self) -> ObjectId:
        """The identity of the object."""
        return ObjectId.from_manifest(self.tree)


def written_objects(run: EnvironmentRun) -> Iterator[WrittenObject]:
    """Yield the objects that an environment writes; those of files as they are in git belong to the first one."""
    own = run.settings
    if own.renders_nothing and own.environment_name not in ("", *own.environment_names[:1]):
        return
    writer, result = _writer(run.settings)._replace(project=run.project, folder=run.settings.folder), run.result
    is_shared = result.namespaces.is_shared if result.namespaces is not None else lambda _: False
    for job in result.jobs:
        document = job.plan.job.document
        for tree in job.objects:
            yield WrittenObject(writer, tree, document, is_copy=False, is_shared=is_shared(document.unedited))
    for document in filter(is_object, result.copied):
        yield WrittenObject(writer, document.value, document, is_copy=True, is_shared=is_shared(document.unedited))


def shared_objects(objects: Iterable[WrittenObject]) -> Iterator[Diagnostic]:
    """Yield an error for each two environments of one cluster that write one object."""
    first: dict[ObjectId, WrittenObject] = {}
    several: dict[tuple[object, object, bool], list[tuple[WrittenObject, WrittenObject]]] = {}
    for each in objects:
        if not each.id.name:
            continue  # each apply creates another one
        group, slash, _ = each.id.apiVersion.partition("/")
        key = each.id._replace(apiVersion=f"{each.writer.cluster}/{group if slash else ''}")
        other = first.setdefault(key, each)
        if other.writer.key == each.writer.key:
            continue
        named = other.is_shared and each.is_shared
        if not named or _is_different(other.tree, each.tree):
            several.setdefault((other.writer.key, each.writer.key, named), []).append((other, each))
    for (_, _, named), pairs in several.items():
        yield _shared(pairs, named=named)


def _is_different(one: Tree, other: Tree) -> bool:
    """Return whether two objects differ: in YAML, 1, 1.0 and true do."""
    if one is other:
        return False
    from trainc.emit import yaml

    return one != other or yaml.render([one]) != yaml.render([other])


def _shared(pairs: list[tuple[WrittenObject, WrittenObject]], *, named: bool) -> Diagnostic:
    """Return the error for the objects of two environments; `named` is whether `shared` names them."""
    one, other, id = pairs[0][0].writer, pairs[0][1].writer, pairs[0][1].id
    text = f'{id.kind} "{id.qualified_name}"'
    more = f" and {plural(len(pairs) - 1, 'more object')}" if len(pairs) > 1 else ""
    copies = any(each.is_copy for pair in pairs for each in pair)
    is_one_project = one.project == other.project
    writers = f"the environments {one.name} and {other.name}" if is_one_project else f"{one.title} and {other.title}"
    message = f"{writers} write the same {text}{more}"
    change = "set another namespace or suffix" if is_one_project else "give it another name, namespace or suffix"
    help = f"{change} in one of them, or {'' if is_one_project else 'set '}cluster if each has a cluster of its own"
    if named:
        message = f"{message}, which `shared` names, but not the same content"
        help = "remove what differs, or remove the object from one of the environments"
    elif copies:
        help = f"{help}; or add the objects to `shared` if both write the same"
    related = (
        [] if one.place is None else [Related(f"the other {'environment' if is_one_project else 'project'}", one.place)]
    )
    for pair in [pair for pair in pairs if named or pair[1].is_copy][:MOST_SHOWN]:
        related += _documents(*pair)
    return Diagnostic.declared(
        SHARED_OBJECT, message, help, object=id, field=other.field, place=other.place, related=tuple(related)
    )


def shared_folders(projects: Sequence[Run]) -> Iterator[Diagnostic]:
    """Yield an error for each project that writes into the output folder of an earlier one, above it or below it."""
    known: list[tuple[str, Run]] = []
    for run in projects:
        own = run.settings.output
        folder = run.output_folder or (own and own.path)
        if not folder:
            continue
        real = resolved(folder)
        for other_folder, other in known:
            if is_within(real, other_folder) or is_within(other_folder, real):
                yield Diagnostic.declared(
                    SHARED_OBJECT,
                    f"project {other.settings.folder} and project {run.settings.folder} write into one folder, "
                    f"{os.path.relpath(max(real, other_folder, key=len))}",
                    "set another output in one of them, or build each one with --project",
                    field="output" if own else "",
                    place=own and own.place,
                )
                break
        known.append((real, run))


def _documents(one: WrittenObject, other: WrittenObject) -> Iterator[Related]:
    """Yield the documents of an object: often both environments copy the same one."""
    where = Place(other.document, ("metadata", "name"))
    if one.document.identity == other.document.identity:
        yield Related(f"the {other.id.kind} in both environments", where)
        return
    yield Related(
        f"the {one.id.kind} in {one.writer.name or one.writer.folder}", Place(one.document, ("metadata", "name"))
    )
    yield Related(f"the {other.id.kind} in {other.writer.name or other.writer.folder}", where)


def _writer(settings: Settings) -> WritingEnvironment:
    """Return an environment with the place of its namespace in its own mapping, or of its name."""
    name, cluster, base = settings.environment_name, settings.cluster, settings.base
    if base is None:
        return WritingEnvironment(name, cluster, None)
    path = (ENVIRONMENTS, name) if name else ()
    for key in ("namespace", "namespaceSuffix", "namespacePrefix"):
        document = base.document_with(*path, key)
        if get(document.value, (*path, key)):
            return WritingEnvironment(name, cluster, Place(document, (*path, key)), ".".join((*path, key)))
    return WritingEnvironment(name, cluster, Place(base.document_with(*path), path, key=bool(path)), ".".join(path))
