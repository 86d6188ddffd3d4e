"""Volumes whose files come from several places: downward API volumes and projected ones.

The kinds of source that need a feature gate which is off by default (clusterTrustBundle, podCertificate) are dropped by
the API server, and not looked at. Of files about the pod, the cluster's fields lack the item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation import fieldrefs, files
from trainc.kubernetes.validation.fieldrefs import POD_FILE
from trainc.kubernetes.validation.files import VOLUME_SOURCES
from trainc.kubernetes.validation.findings import Findings, required, spelled

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

PROJECTED_PATH_TWICE: Final = Declaration(
    "projected-path-twice", ("job",), "Two sources of a projected volume write the same file"
)

KINDS: Final = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
SHORTEST: Final = 600
LONGEST: Final = 2**32
"""Seconds that a token may live."""


def downward_api(found: Findings, at: At, value: Tree) -> None:
    """A volume of files about the pod."""
    if "defaultMode" in value:
        files.mode(found, (at, "defaultMode"), value["defaultMode"])
    _about_pod(found, at, value)


def projected(found: Findings, at: At, value: Tree) -> None:
    """A volume of several sources in one folder."""
    if "defaultMode" in value:
        files.mode(found, (at, "defaultMode"), value["defaultMode"])
    paths: dict[str, At] = {}
    for index, source in enumerate(value.get("sources") or ()):
        here = ((at, "sources"), index)
        kinds = [kind for kind in KINDS if kind in source]
        for kind in kinds:
            _source(found, at, (here, kind), source[kind])
            for place, item in enumerate(source[kind].get("items") or ()):
                _once(found, at, (((here, kind), "items"), place), item.get("path") or "", paths)
        if len(kinds) > 1:
            from trainc.kubernetes.structural.remedies import listed

            message = f"an item of sources has {listed(kinds)}, and may have one of them"
            found.complain(VOLUME_SOURCES, here, message, "write an item of `sources` for each")


def _source(found: Findings, volume: At, at: At, value: Tree) -> None:
    """One source of one kind."""
    assert at is not None
    match at[1]:
        case "serviceAccountToken":
            _token(found, volume, at, value)
        case "downwardAPI":
            _about_pod(found, at, value)
        case _:
            required(found, at, value, "name")
            files.items(found, (at, "items"), value.get("items") or [])


def _token(found: Findings, volume: At, at: At, value: Tree) -> None:
    """The token of a service account, whose path is the volume's own to the cluster."""
    seconds = value.get("expirationSeconds", SHORTEST)
    if not SHORTEST <= seconds <= LONGEST:
        from trainc.kubernetes.validation import complaints

        complaints.out_of_range(found, (at, "expirationSeconds"), seconds, SHORTEST, LONGEST)
    _path(found, at, value, volume)


def _about_pod(found: Findings, at: At, value: Tree) -> None:
    """Files about the pod, of a volume or of a source."""
    for index, item in enumerate(value.get("items") or ()):
        here = ((at, "items"), index)
        _path(found, here, item, at)
        if "mode" in item:
            files.mode(found, (here, "mode"), item["mode"], named=(at, "mode"))
        ref, resource = item.get("fieldRef"), item.get("resourceFieldRef")
        if ref is not None:
            place = (at, "fieldRef")
            fieldrefs.pod_field(found, (here, "fieldRef"), ref, place)
        elif resource is not None:
            place = (at, "resourceFieldRef")
            fieldrefs.resource_field(found, (here, "resourceFieldRef"), resource, place)
        if (ref is None) == (resource is None):
            has = "neither fieldRef nor" if ref is None else "fieldRef and"
            found.complain(
                POD_FILE,
                here,
                f"a file about the pod has {has} resourceFieldRef, and must have one of them",
                "add one of them" if ref is None else "keep one of them, and write an item of its own for the other",
                field=spelled(at),
            )


def _path(found: Findings, at: At, value: Tree, named: At) -> None:
    """The path of a file, which the cluster calls `path` of another place."""
    if path := value.get("path"):
        files.inside(found, (at, "path"), path, named=(named, "path"))
    else:
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "path"), field=spelled(named, "path"))


def _once(found: Findings, volume: At, at: At, path: str, paths: dict[str, At]) -> None:
    """Two items of a projected volume that are the same file."""
    if not path:
        return
    first = paths.setdefault(path, (at, "path"))
    if first != (at, "path"):
        from trainc.kubernetes.structural.remedies import shown

        found.complain(
            PROJECTED_PATH_TWICE,
            (at, "path"),
            f"two items of the volume are the file {shown(path)}",
            "give one of them another path",
            field=spelled(volume),
            related=(("the first one", first),),
        )
