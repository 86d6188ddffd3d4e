"""Objects that two environments of one cluster write: each apply would overwrite the other, each prune delete both.

Reads    the objects that the environments render, copied documents included.
Returns  an error for each two environments that write one object. They may write one that `shared` names, if both write
         the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.plural import plural
from trainc.base.records import NamedTuple
from trainc.compilation.identities import is_object
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related
from trainc.kubernetes.trees import get
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation.environment_runs import EnvironmentRun
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.settings import Settings

SHARED_OBJECT: Final = Declaration("shared-object", ("read",), "Object of two environments", trainc_only=True)
MOST_SHOWN: Final = 3
"""The most objects of two environments whose documents are shown."""


class WritingEnvironment(NamedTuple):
    """An environment that writes objects."""

    name: str
    """The name in messages; no other environment has it."""
    cluster: str
    """The name of its cluster; environments without one are in the same cluster."""
    place: Place | None
    """The setting of its namespace, or its name."""
    field: str = ""


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
    """Yield the objects that an environment writes."""
    writer, result = _writer(run.settings), run.result
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
    several: dict[tuple[str, str, bool], list[tuple[WrittenObject, WrittenObject]]] = {}
    for each in objects:
        if not each.id.name:
            continue  # each apply creates another one
        group, slash, _ = each.id.apiVersion.partition("/")
        key = each.id._replace(apiVersion=f"{each.writer.cluster}/{group if slash else ''}")
        other = first.setdefault(key, each)
        if other.writer.name == each.writer.name:
            continue
        named = other.is_shared and each.is_shared
        if not named or _is_different(other.tree, each.tree):
            several.setdefault((other.writer.name, each.writer.name, named), []).append((other, each))
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
    text = f'{id.kind} "{id.namespace}/{id.name}"' if id.namespace else f'{id.kind} "{id.name}"'
    more = f" and {plural(len(pairs) - 1, 'more object')}" if len(pairs) > 1 else ""
    copies = any(each.is_copy for pair in pairs for each in pair)
    message = f"the environments {one.name} and {other.name} write the same {text}{more}"
    help = "set another namespace or suffix in one of them, or cluster if each has a cluster of its own"
    if named:
        message = f"{message}, which `shared` names, but not the same content"
        help = "remove what differs, or remove the object from one of the environments"
    elif copies:
        help = f"{help}; or add the objects to `shared` if both write the same"
    related = [] if one.place is None else [Related("the other environment", one.place)]
    for pair in [pair for pair in pairs if named or pair[1].is_copy][:MOST_SHOWN]:
        related += _documents(*pair)
    return Diagnostic.declared(
        SHARED_OBJECT, message, help, object=id, field=other.field, place=other.place, related=tuple(related)
    )


def _documents(one: WrittenObject, other: WrittenObject) -> Iterator[Related]:
    """Yield the documents of an object: often both environments copy the same one."""
    where = Place(other.document, ("metadata", "name"))
    if one.document.identity == other.document.identity:
        yield Related(f"the {other.id.kind} in both environments", where)
        return
    yield Related(f"the {one.id.kind} in {one.writer.name}", Place(one.document, ("metadata", "name")))
    yield Related(f"the {other.id.kind} in {other.writer.name}", where)


def _writer(settings: Settings) -> WritingEnvironment:
    """Return an environment with the place of its namespace in its own mapping, or of its name."""
    name, cluster, base = settings.environment_name, settings.cluster, settings.base
    if base is None:
        return WritingEnvironment(name, cluster, None)
    path = (ENVIRONMENTS, name)
    for key in ("namespace", "namespaceSuffix", "namespacePrefix"):
        document = base.document_with(*path, key)
        if get(document.value, (*path, key)):
            return WritingEnvironment(name, cluster, Place(document, (*path, key)), ".".join((*path, key)))
    return WritingEnvironment(name, cluster, Place(base.document_with(*path), path, key=True), ".".join(path))
