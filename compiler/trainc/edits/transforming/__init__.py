"""The transformations of an environment: images, namespace, name prefix and suffix, labels and annotations.

Reads    the documents of a run by role, and the settings of an environment.
Returns  the same documents with new values, each with one `Edit`, which maps a field to the setting that wrote it. The
         values share everything but the changed fields with the old ones. Invalid fields stay: the schema reports them.
Source   kustomize 5.7: its transformers in the order of `transformed`, with these differences: they know TrainJobs,
         prefix and suffix rename only TrainJobs, and an image's name is a text, not a pattern. Verified by
         tests/contracts/test_kustomize_transformers.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import CLUSTER_SCOPED, JOBSET
from trainc.diagnostics import Edit, ObjectId, Place
from trainc.edits.transforming.image_overrides import changed, images_of_job, images_of_runtime, line_of, split
from trainc.edits.transforming.namespaces import NAMESPACE, Namespaces
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trainc.base.kinds import Role
    from trainc.diagnostics import Diagnostic, Document, Path
    from trainc.edits.environment import Environment, Image, Setting
    from trainc.kubernetes.trees import Tree

NAME: Final = ("metadata", "name")
NO_IMAGES: Final[Mapping[Path, Image]] = {}
UNMOVED: Final[Mapping[Path, Setting]] = {}


class WrittenValue:
    """The source of a transformed document's fields, for `Edit.source`."""

    def __init__(
        self,
        environment: Environment,
        before: Tree,
        after: Tree,
        images: Mapping[Path, Image],
        namespaces: Mapping[Path, Setting] = UNMOVED,
    ) -> None:
        self.environment = environment
        self.namespaces = namespaces
        """The settings of the new namespaces, by their paths."""
        self.before = before
        self.after = after
        self.images = images
        """The changed images, each with the item of `images` that changed it last."""

    @property
    def renames(self) -> bool:
        """Whether the object has another name than before, or is a TrainJob whose name is generated later."""
        return bool(get(self.after, NAME) != get(self.before, NAME) or not get(self.after, NAME))

    def __call__(self, path: Path) -> Place | Path:
        """Return the setting that wrote a field, or the field's path in the value before."""
        if path in self.images:
            return line_of(self.images[path])
        if path in self.namespaces and path != NAME:
            return self.namespaces[path].place
        if path[:1] != ("metadata",) or self.after.get("metadata") is self.before.get("metadata"):
            return path
        if path[1:2] in (("labels",), ("annotations",)):
            return self._metadata_source(path)
        return path

    def _metadata_source(self, path: Path) -> Place | Path:
        """Return the source of a label or an annotation, or of the mapping of all of them."""
        key = str(path[1])
        settings = self.environment.labels if key == "labels" else self.environment.annotations
        metadata = self.after["metadata"]
        if not settings or metadata.get(key) is self.before["metadata"].get(key):
            return path
        if len(path) > 2:
            setting = settings.get(str(path[2]))
            return path if setting is None else setting.place
        if self.before["metadata"].get(key):
            return path
        first = next(iter(settings.values())).place
        return first._replace(path=first.path[:-1])


class Transformation:
    """The transformations of one environment for the documents of one run."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment = _without_empty(environment)
        self._changes_metadata = any(
            (
                environment.namespace,
                environment.moves_namespaces,
                environment.shared,
                environment.name_prefix,
                environment.name_suffix,
                environment.labels,
                environment.annotations,
            )
        )
        self.namespaces = Namespaces(environment)
        self.without_namespace: list[Document] = []
        """The TrainJobs and TrainingRuntimes without a namespace to which a prefix or a suffix applies."""
        self._matched: set[int] = set()
        """The indices of the items of `images` that matched an image."""
        self._names: set[str] = set()
        """The names of all images."""
        self._known: dict[str, tuple[tuple[str, Image], ...]] = {}
        """The images so far: each one's new text after each item that matched it, with the item."""

    def transformed(self, documents: Mapping[Role, Sequence[Document]]) -> dict[Role, list[Document]]:
        """Return all documents of the given paths."""
        return {
            "job": [self.job(document) for document in documents["job"]],
            "runtime": [self.runtime(document) for document in documents["runtime"]],
            "other": self.other_documents(documents["other"]),
        }

    def job(self, document: Document) -> Document:
        """Return a TrainJob with all transformations, or a JobSet of the paths, which keeps its name."""
        document, after, images = self._with_images(document, images_of_job)
        namespaces = UNMOVED
        if self._changes_metadata and _metadata(after) is not None:
            after, namespaces = self._moved(document, after)
            is_renamed = after.get("kind") != JOBSET.kind
            after = after | {"metadata": self._metadata_of_job(after["metadata"], is_renamed=is_renamed)}
        return self._edited(document, after, images, namespaces)

    def runtime(self, document: Document) -> Document:
        """Return a runtime with the images and the namespaces.

        The labels of the environment have no effect on it: the JobSet gets those of its template.
        """
        document, after, images = self._with_images(document, images_of_runtime)
        namespaces = UNMOVED
        if self._changes_metadata and _metadata(after) is not None:
            after, namespaces = self._moved(document, after)
        return self._edited(document, after, images, namespaces)

    def other_documents(self, documents: Sequence[Document]) -> list[Document]:
        """Return the documents of other kinds, with the namespaces.

        The namespace of all TrainJobs is that of the documents that set none, if their kind has one.
        """
        environment, setting = self.environment, self.environment.namespace
        if environment.moves_namespaces or environment.shared:
            documents = [*map(self._moved_document, documents)]
        if setting is None:
            return [*documents]
        from trainc.edits.transforming.namespaces import is_namespaced, namespaced_kinds

        scopes = namespaced_kinds(documents)

        def with_namespace(document: Document) -> Document:
            id = ObjectId.from_manifest(document.value)
            if id.namespace or not is_namespaced(id, scopes) or _metadata(document.value) is None:
                return document
            if self.namespaces.is_shared(document.unedited):
                return document
            return self._edited(
                document, put(document.value, NAMESPACE, setting.value), namespaces={NAMESPACE: setting}
            )

        return [*map(with_namespace, documents)]

    def _moved_document(self, document: Document) -> Document:
        """Return a document of another kind with its new namespaces."""
        if self.namespaces.is_shared(document.unedited) or not self.environment.moves_namespaces:
            return document
        after, namespaces = self.namespaces.moved_tree(document.value)
        return self._edited(document, after, namespaces=namespaces)

    def _moved(self, document: Document, tree: Tree) -> tuple[Tree, Mapping[Path, Setting]]:
        """Return a TrainJob or a runtime with its new namespaces, and the setting of each."""
        environment, namespaced = self.environment, tree.get("kind") not in CLUSTER_SCOPED
        if self.namespaces.is_shared(document.unedited):
            return tree, UNMOVED
        if environment.moves_namespaces:
            if namespaced and not environment.namespaces and not tree["metadata"].get("namespace"):
                self.without_namespace.append(document)
            return self.namespaces.moved_tree(tree)
        if environment.namespace is None or not namespaced:
            return tree, UNMOVED
        return put(tree, NAMESPACE, environment.namespace.value), {NAMESPACE: environment.namespace}

    def unmatched_images(self) -> Iterator[Diagnostic]:
        """Yield a warning for each item of `images` that has matched no image so far, in each layer that has it."""
        unmatched = [item for index, item in enumerate(self.environment.images) if index not in self._matched]
        if not unmatched:
            return
        from trainc.base.suggestions import KnownNames
        from trainc.edits.transforming.image_overrides import unmatched_item

        known = KnownNames(sorted(self._names))
        for item in unmatched:
            for place in (*item.merged, item.place):
                yield unmatched_item(item._replace(place=place), known)

    def _metadata_of_job(self, metadata: Tree, *, is_renamed: bool) -> Tree:
        environment, changed = self.environment, dict(metadata)
        name = metadata.get("name")
        if is_renamed and name and isinstance(name, str):
            changed["name"] = f"{_text(environment.name_prefix)}{name}{_text(environment.name_suffix)}"
        for key, settings in (("labels", environment.labels), ("annotations", environment.annotations)):
            own = metadata.get(key)
            if settings and (own is None or isinstance(own, dict)):
                changed[key] = (own or {}) | {name: setting.value for name, setting in settings.items()}
        return changed

    def _with_images(
        self, document: Document, images_of: Callable[[Tree], Iterable[tuple[Path, str]]]
    ) -> tuple[Document, Tree, Mapping[Path, Image]]:
        """Return a document, its value with new images, and the item of `images` of each changed one.

        If several items match an image, the document has an edit for each of them but the last one.
        """
        tree = document.value
        if not self.environment.images:
            return document, tree, NO_IMAGES
        rounds: list[dict[Path, tuple[str, Image]]] = []
        for path, image in images_of(tree):
            steps = self._known.get(image)
            if steps is None:
                steps = self._known[image] = tuple(self._steps(image))
            for number, step in enumerate(steps, 1 - len(steps)):  # the last step is in the last round
                rounds += [{} for _ in range(1 - number - len(rounds))]
                rounds[-number][path] = step
        images: Mapping[Path, Image] = NO_IMAGES
        for changes in reversed(rounds):
            document = self._edited(document, tree, images)
            images = {path: item for path, (_, item) in changes.items()}
            for path, (new, _) in changes.items():
                tree = put(tree, path, new)
        return document, tree, images

    def _steps(self, image: str) -> Iterator[tuple[str, Image]]:
        """Yield an image after each item of `images` that matches it, with the item."""
        for index, item in enumerate(self.environment.images):
            self._names.add(split(image)[0])
            if (new := changed(image, item)) is not None:
                self._matched.add(index)
                image = new
                yield image, item

    def _edited(
        self,
        document: Document,
        after: Tree,
        images: Mapping[Path, Image] = NO_IMAGES,
        namespaces: Mapping[Path, Setting] = UNMOVED,
    ) -> Document:
        before = document.value
        if after is before:
            return document
        edit = Edit(before, WrittenValue(self.environment, before, after, images, namespaces))
        return document._replace(value=after, edits=(*document.edits, edit))


def _without_empty(environment: Environment) -> Environment:
    """Return an environment without the settings that an empty string turns off."""

    def unless_empty(setting: Setting | None) -> Setting | None:
        return setting if setting is not None and setting.value else None

    return environment._replace(
        namespace=unless_empty(environment.namespace),
        name_prefix=unless_empty(environment.name_prefix),
        name_suffix=unless_empty(environment.name_suffix),
    )


def _metadata(tree: Tree) -> Tree | None:
    metadata = tree.get("metadata")
    return metadata if isinstance(metadata, dict) else None


def _text(setting: Setting | None) -> str:
    return "" if setting is None else str(setting.value)
