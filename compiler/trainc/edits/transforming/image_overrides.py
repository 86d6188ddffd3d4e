"""The images of TrainJobs and runtimes, and their new names, tags and digests.

Reads    documents as they were written, which may be invalid, and the items of `images`.
Returns  the images with their paths; an image after an item; a warning for each item that matches no image.
Source   kustomize 5.7, `images`: api/image, api/filters/imagetag. A new tag or digest replaces both the old tag and
         the old digest. Two differences: an item's name is a text and not a pattern, and a digest may have any
         algorithm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import RUNTIME, TRAINJOB, find
from trainc.diagnostics import Diagnostic
from trainc.kubernetes.trees import get, values_at
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.base.suggestions import KnownNames
    from trainc.diagnostics import Path, Place
    from trainc.edits.environment import Image
    from trainc.kubernetes.trees import Tree

UNMATCHED_IMAGE: Final = Declaration("unmatched-image", ("read",), "warning", trainc_only=True, fix="unsafe")

OF_TRAINER: Final = ("spec", "trainer", "image")
CONTAINERS: Final = ("initContainers", "containers")
REFERENCE: Final = ("image", "reference")
"""The path of the image in a volume."""
OVERRIDES: Final[dict[str, Path]] = {"podSpecOverrides": (), "podTemplateOverrides": ("spec",)}
"""The lists of overrides in older dialects, and the path of the pod's spec in an override."""


def images_of_job(job: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the images of a TrainJob: the trainer's, and those of volumes in its patches, which can set no others.

    A job of another kind has those of its pod templates.
    """
    spec = job.get("spec")
    if not isinstance(spec, dict):
        return
    if (kind := find(job.get("apiVersion"), job.get("kind"))) is not None and kind.framework:
        yield from _in_templates(job, kind.pods, CONTAINERS)
        return
    image = get(spec, OF_TRAINER[1:])
    if image and isinstance(image, str):
        yield OF_TRAINER, image
    yield from _in_templates(job, TRAINJOB.pods, ())
    for field, pod in OVERRIDES.items():
        for index, override in _items(spec.get(field)):
            yield from _in_pod(get(override, pod), ("spec", field, index, *pod), ())


def images_of_runtime(runtime: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the images of a runtime's containers, init containers and volumes."""
    yield from _in_templates(runtime, RUNTIME.pods, CONTAINERS)


def _in_templates(
    tree: Tree, templates: Iterable[tuple[str, ...]], containers: Iterable[str]
) -> Iterator[tuple[Path, str]]:
    for template in templates:
        for path, pod in values_at(tree, (*template, "spec")):
            yield from _in_pod(pod, path, containers)


def _in_pod(pod: Any, path: Path, containers: Iterable[str]) -> Iterator[tuple[Path, str]]:
    if not isinstance(pod, dict):
        return
    for field, image in (*((name, ("image",)) for name in containers), ("volumes", REFERENCE)):
        for index, item in _items(pod.get(field)):
            text = get(item, image)
            if text and isinstance(text, str):
                yield (*path, field, index, *image), text


def _items(items: Any) -> Iterator[tuple[int, Any]]:
    return enumerate(items if isinstance(items, list) else ())


def split(image: str) -> tuple[str, str, str]:
    """Return the name, tag and digest of an image; a part that it lacks is empty.

    >>> split("reg.io:5000/acme/trainer:v1@sha256:12"), split("trainer")
    (('reg.io:5000/acme/trainer', 'v1', 'sha256:12'), ('trainer', '', ''))
    """
    rest, _, digest = image.partition("@")
    colon = rest.find(":", rest.rfind("/") + 1)
    return (rest, "", digest) if colon < 0 else (rest[:colon], rest[colon + 1 :], digest)


def changed(image: str, item: Image) -> str | None:
    """Return an image as an item of `images` changes it; None if the item has another name.

    >>> from trainc.edits.environment import Image
    >>> changed("acme/trainer:v1@sha256:12", Image("acme/trainer", None, new_tag="v2"))
    'acme/trainer:v2'
    """
    name, tag, digest = split(image)
    if name != item.name:
        return None
    if item.new_tag or item.digest:
        tag, digest = item.new_tag, item.digest
    return (item.new_name or name) + (tag and f":{tag}") + (digest and f"@{digest}")


def line_of(item: Image) -> Place:
    """Return the place of the field that changes an image, or the item if it is written in another form."""
    for field in ("digest", "newTag", "newName", "name"):
        path = (*item.place.path, field)
        if get(item.place.document.value, path) is not None:
            return item.place._replace(path=path)
    return item.place


def unmatched_item(item: Image, known: KnownNames) -> Diagnostic:
    """Return the warning for an item that matches none of the images with these names."""
    from trainc.base.fixes import Fix, replaced_name

    place = item.place
    if isinstance(get(place.document.value, (*place.path, "name")), str):
        place = place._replace(path=(*place.path, "name"))
    help: str | Fix = "remove it: no TrainJob and no runtime sets an image"
    if near := replaced_name(place.path, item.name, known):
        help = near._replace(applicability="unsafe")
    elif known:
        help = f"{known.use()}; or remove the item"
    message = f'no TrainJob and no runtime has the image "{item.name}"'
    return Diagnostic.declared(UNMATCHED_IMAGE, message, help, field=field_of(place.path), place=place)
