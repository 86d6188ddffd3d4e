"""Origins: the file of an object before kustomize or a KRM function wrote it to a stream.

Reads    the annotations of a document: `config.kubernetes.io/origin`, which kustomize writes with `buildMetadata:
         [originAnnotations]`, and the path and index that KRM functions write.
Returns  the origin in words. Paths are those of the annotations: kustomize's are relative to the overlay.
Source   kustomize v5.7, api/resource: Origin; kyaml's kioutil.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.diagnostics import Location, Place, Related
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from trainc.diagnostics import Document

ORIGIN: Final = "config.kubernetes.io/origin"
PATHS: Final = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
INDEXES: Final = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")
"""The current name and the legacy name, which kustomize and kpt keep in sync."""
LONGEST: Final = 4096
"""The maximum length of an origin, in characters. A longer one is ignored."""


def kustomize(annotations: dict[str, Any]) -> dict[str, str]:
    """Return kustomize's origin of an object: path, repo, ref, configuredIn; empty if there is none."""
    written = annotations.get(ORIGIN)
    if not isinstance(written, str) or len(written) > LONGEST:
        return {}
    from trainc.kubernetes.documents import YamlError, parse

    try:
        value = parse(written)
    except YamlError:
        return {}
    return {key: part for key, part in value.items() if isinstance(part, str)} if isinstance(value, dict) else {}


def index(annotations: dict[str, Any]) -> int | None:
    """Return the index of an object in its file, from 0; None if no annotation has it."""
    return next((number for key in INDEXES if (number := _number(annotations.get(key))) is not None), None)


def origin(document: Document) -> str:
    """Return the origin of a document; empty if no annotation has one."""
    if document.inside is not None:
        document = document.inside.document
    annotations = get(document.value, ("metadata", "annotations"))
    if not isinstance(annotations, dict):
        return ""
    path = next((annotations[key] for key in PATHS if isinstance(annotations.get(key), str)), "")
    if path and len(path) <= LONGEST:
        number = index(annotations)
        return f"{path}, document {number + 1}" if number else path
    found = kustomize(annotations)
    path = found.get("path") or found.get("configuredIn", "")
    if not path:
        return ""
    if "repo" in found:
        return f"{path} in {found['repo']}" + (f" at {found['ref']}" if found.get("ref") else "")
    return f"{path} (relative to the overlay)"


def related_origin(place: Place | Location | None) -> tuple[Related, ...]:
    """Return the related place that names the origin of a place's document; empty without one."""
    document = place.in_text().document if isinstance(place, Place) else place.source if place is not None else None
    found = origin(document) if document is not None else ""
    return (Related(f"from {found}", place),) if found and place is not None else ()


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
