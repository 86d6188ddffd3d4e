"""Changes of a legacy job that a TrainJob in its place would not get: patches for its kind.

Reads    the patches of trainc.yaml in an environment; the kustomizations that include the job, and their patch files.
Returns  a diagnostic at each patch that matches the job and would match no TrainJob, with the target to write.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBSET, TRAINJOB
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related
from trainc.edits.patching.parsed_patches import Patch
from trainc.edits.patching.parsed_patches import read as parsed_patches
from trainc.frontends.kustomizations import PATCHES
from trainc.frontends.reading import documents_of
from trainc.kubernetes.documents import YamlError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trainc.compilation import Run
    from trainc.files.inputs import File
    from trainc.frontends.kustomizations import Kustomization, Kustomizations
    from trainc.frontends.reading import Reader

PATCH_OF_OLD_KIND: Final = Declaration("patch-of-old-kind", ("read",), trainc_only=True)
IMAGE_OF_OLD_KIND: Final = Declaration("image-of-old-kind", ("read",), severity="warning", trainc_only=True)
_SPECIAL: Final = frozenset("*?[")


def patched_by_settings(
    documents: Sequence[Document], run: Run, files_of: Reader
) -> Iterator[tuple[Document, Diagnostic]]:
    """Yield each document that a patch of trainc.yaml targets by its kind, and the diagnostic at the patch."""
    environment = run.settings.environment
    if environment is None or not environment.patches:
        return
    for patch in parsed_patches(environment, files_of, follow_links=run.options.follow_links):
        if isinstance(patch, Diagnostic) or patch.target.kind in (JOBSET.kind, TRAINJOB.kind):
            continue
        for document in documents:
            if patch.target.kind == document.value.get("kind") and patch.target.matches(document.value):
                yield document, _fault_of_patch(document, patch)


def _fault_of_patch(document: Document, patch: Patch) -> Diagnostic:
    subject = ObjectId.from_source(document.value)
    name = patch.target.name if _SPECIAL.isdisjoint(patch.target.name) and patch.target.name else subject.name
    target = f"{{kind: {JOBSET.kind}, name: {patch.target.name or name}}}"
    place = patch.setting.place
    return Diagnostic.declared(
        PATCH_OF_OLD_KIND,
        f'{patch.name} changes {subject.kind} "{subject.name}", and would match no TrainJob',
        f"write it for the compiled object, with the target {target}, or for the TrainJob, with kind: {TRAINJOB.kind}",
        object=subject,
        field="patches.target.kind",
        place=place._replace(path=(*place.path, "target", "kind")),
        related=(Related("the job", Place(document, ("metadata", "name"))),),
    )


def patched_by_kustomizations(
    documents: Iterable[Document], kustomizations: Kustomizations | None, files: Mapping[str, File]
) -> Iterator[tuple[Document, Diagnostic]]:
    """Yield each document that a kustomization patches, and the diagnostic at the patch."""
    if kustomizations is None:
        return
    parts = [
        read
        for path, file in files.items()
        if kustomizations.is_part(path)
        for read in documents_of(file)
        if isinstance(read, Document)
    ]
    for document in documents:
        for kustomization in kustomizations.changed(document).by:
            own = [part for part in parts if kustomizations.user_of(part.file) is kustomization]
            for place in _patches(document, kustomization, own):
                yield document, _fault_of_kustomization(document, kustomization, place)


def images_of_kustomizations(
    documents: Iterable[Document], kustomizations: Kustomizations | None
) -> Iterator[Diagnostic]:
    """Yield a warning for each kustomization that changes an image of a document, which a TrainJob has elsewhere."""
    for document in documents if kustomizations is not None else ():
        subject = ObjectId.from_source(document.value)
        for kustomization in kustomizations.changed(document).by if kustomizations is not None else ():
            images = kustomization.document.value.get("images")
            for index, item in enumerate(images if isinstance(images, list) else ()):
                name = item.get("name") if isinstance(item, dict) else None
                if (
                    not isinstance(name, str)
                    or re.search(rf"image: *[\"']?{re.escape(name)}[:@\s\"']", document.text) is None
                ):
                    continue
                yield Diagnostic.declared(
                    IMAGE_OF_OLD_KIND,
                    f"{kustomization.document.file} changes image {name} of {subject.kind} "
                    f'"{subject.name}", and kustomize does not change that of a TrainJob',
                    f"set it in `images` of trainc.yaml, or write a patch for kind: {TRAINJOB.kind}",
                    object=subject,
                    place=Place(kustomization.document, ("images", index, "name")),
                    related=(Related("the job", Place(document, ("metadata", "name"))),),
                )


def _has_image(text: str, name: str) -> bool:
    return re.search(rf"image: *[\"']?{re.escape(name)}[:@\s\"']", text) is not None


def _patches(document: Document, kustomization: Kustomization, parts: Sequence[Document]) -> Iterator[Place]:
    """Yield the places of the patches of a kustomization that match a document."""
    subject = ObjectId.from_source(document.value)
    for part in parts:
        if _names(part.value, subject):
            yield Place(part, ("metadata", "name"))
    for field in PATCHES:
        items = kustomization.document.value.get(field)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            target = item.get("target") if isinstance(item, dict) else None
            if isinstance(target, dict):
                if _is_target(target, subject):
                    yield Place(kustomization.document, (field, index, "target"), key=True)
            elif _names(_parsed(item.get("patch") if isinstance(item, dict) else item), subject):
                path = (field, index, "patch") if isinstance(item, dict) else (field, index)
                yield Place(kustomization.document, path)


def _is_target(target: Mapping[str, Any], subject: ObjectId) -> bool:
    """Return whether a target matches: its fields are regular expressions of whole texts."""
    pairs = ((target.get("kind"), subject.kind), (target.get("name"), subject.name))
    return target.get("kind") is not None and all(_is_match(given, text) for given, text in pairs)


def _is_match(given: object, text: str) -> bool:
    if given is None:
        return True
    try:
        return re.fullmatch(str(given), text) is not None
    except re.error:
        return False  # kustomize rejects it


def _names(value: Any, subject: ObjectId) -> bool:
    """Return whether a partial object has the kind and the name of a job."""
    id = ObjectId.from_manifest(value)
    return id.kind == subject.kind and id.name == subject.name


def _parsed(text: object) -> Any:
    """Return the value of an inline patch; None for a path or an invalid text."""
    if not isinstance(text, str):
        return None
    try:
        return parse(text)
    except YamlError:
        return None


def _fault_of_kustomization(document: Document, kustomization: Kustomization, place: Place) -> Diagnostic:
    subject = ObjectId.from_source(document.value)
    return Diagnostic.declared(
        PATCH_OF_OLD_KIND,
        f'{kustomization.document.file} patches {subject.kind} "{subject.name}", and the patch would match no TrainJob',
        f"migrate the output of kustomize, or write the patch for kind: {TRAINJOB.kind} after the migration",
        object=subject,
        place=place,
        related=(Related("the job", Place(document, ("metadata", "name"))),),
    )
