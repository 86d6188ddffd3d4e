"""Downward API volumes and projected volumes, whose files come from several places.

The API server drops the sources that need a feature gate which is off by default (clusterTrustBundle, podCertificate),
so they are not checked. The API server's errors for downward API files omit the item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.validation import fieldrefs, volume_files
from trainc.kubernetes.validation.combinators import PodViolations, cluster_field, required_fields
from trainc.kubernetes.validation.fieldrefs import POD_FILE
from trainc.kubernetes.validation.volume_files import VOLUME_SOURCES
from trainc.kubernetes.violations import listed, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

PROJECTED_PATH_TWICE: Final = Declaration("projected-path-twice", ("job",), "Duplicate path in projected volume")

KINDS: Final = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
MIN_TOKEN_SECONDS: Final = 600
MAX_TOKEN_SECONDS: Final = 2**32
"""The range of a token's expirationSeconds."""


def downward_api(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a downward API volume."""
    if "defaultMode" in value:
        volume_files.mode(violations, (at, "defaultMode"), value["defaultMode"])
    _downward_files(violations, at, value)


def projected(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a projected volume, which has several sources in one directory."""
    if "defaultMode" in value:
        volume_files.mode(violations, (at, "defaultMode"), value["defaultMode"])
    paths: dict[str, At] = {}
    for index, source in enumerate(value.get("sources") or ()):
        here = ((at, "sources"), index)
        kinds = [kind for kind in KINDS if kind in source]
        for kind in kinds:
            _source(violations, at, (here, kind), source[kind])
            for place, item in enumerate(source[kind].get("items") or ()):
                _unique_path(violations, at, (((here, kind), "items"), place), item.get("path") or "", paths)
        if len(kinds) > 1:
            message = f"sources[{index}] sets {listed(kinds)}, but may set only one source"
            violations.report(VOLUME_SOURCES, here, message, "split it into one item of `sources` per source")


def _source(violations: PodViolations, volume: At, at: At, value: Tree) -> None:
    """Check one source of one kind."""
    assert at is not None
    match at[1]:
        case "serviceAccountToken":
            _token(violations, volume, at, value)
        case "downwardAPI":
            _downward_files(violations, at, value)
        case _:
            required_fields(violations, at, value, "name")
            volume_files.items(violations, (at, "items"), value.get("items") or [])


def _token(violations: PodViolations, volume: At, at: At, value: Tree) -> None:
    """Check a service account token; the API server's error gives its path as the volume's."""
    seconds = value.get("expirationSeconds", MIN_TOKEN_SECONDS)
    if not MIN_TOKEN_SECONDS <= seconds <= MAX_TOKEN_SECONDS:
        violations.out_of_range((at, "expirationSeconds"), seconds, MIN_TOKEN_SECONDS, MAX_TOKEN_SECONDS)
    _path(violations, at, value, volume)


def _downward_files(violations: PodViolations, at: At, value: Tree) -> None:
    """Check the downward API files of a volume or of a projected source."""
    for index, item in enumerate(value.get("items") or ()):
        here = ((at, "items"), index)
        _path(violations, here, item, at)
        if "mode" in item:
            volume_files.mode(violations, (here, "mode"), item["mode"], named=(at, "mode"))
        ref, resource = item.get("fieldRef"), item.get("resourceFieldRef")
        if ref is not None:
            place = (at, "fieldRef")
            fieldrefs.pod_field(violations, (here, "fieldRef"), ref, place)
        elif resource is not None:
            place = (at, "resourceFieldRef")
            fieldrefs.resource_field(violations, (here, "resourceFieldRef"), resource, place)
        if (ref is None) == (resource is None):
            has = "neither fieldRef nor" if ref is None else "both fieldRef and"
            violations.report(
                POD_FILE,
                here,
                f"a downward API file sets {has} resourceFieldRef, but must set exactly one",
                "add one of them" if ref is None else "keep one of them, and add a separate item for the other",
                field=cluster_field(at),
            )


def _path(violations: PodViolations, at: At, value: Tree, named: At) -> None:
    """Check a file's path, which the API server's error reports as the `path` of the place `named`."""
    if path := value.get("path"):
        volume_files.path_in_volume(violations, (at, "path"), path, named=(named, "path"))
    else:
        violations.report_missing((at, "path"), field=cluster_field(named, "path"))


def _unique_path(violations: PodViolations, volume: At, at: At, path: str, paths: dict[str, At]) -> None:
    """Report two items of a projected volume with the same path."""
    if not path:
        return
    first = paths.setdefault(path, (at, "path"))
    if first != (at, "path"):
        violations.report(
            PROJECTED_PATH_TWICE,
            (at, "path"),
            f"two items of the volume use the path {shown(path)}",
            "change one of the paths",
            field=cluster_field(volume),
            related=(("the first one", first),),
        )
