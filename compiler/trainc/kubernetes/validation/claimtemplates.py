"""The API server's rules for a PersistentVolumeClaim, and for the claim template of an ephemeral volume."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import At, path_of
from trainc.kubernetes.validation.combinators import (
    PodViolations,
    called,
    cluster_field,
    imported_later,
    label,
    one_of,
    required_fields,
    subdomain,
)
from trainc.kubernetes.violations import REQUIRED, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

CLAIM_TEMPLATE: Final = Declaration("claim-template", ("job",), fix="unsafe")

EXCLUSIVE_MODE: Final = "ReadWriteOncePod"
ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", EXCLUSIVE_MODE)
CLAIM: Final = "PersistentVolumeClaim"
SOURCES: Final = (("", CLAIM), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
"""The groups and kinds of a dataSource."""
_mode: Final = one_of("Block", "Filesystem")
_selector: Final = imported_later("pod_selectors", "label_selector")


def ephemeral_volume(violations: PodViolations, at: At, value: Tree) -> None:
    """Check an ephemeral volume."""
    template = value.get("volumeClaimTemplate")
    here = (at, "volumeClaimTemplate")
    if template is None:
        required_fields(violations, at, value, "volumeClaimTemplate")
        return
    if metadata := template.get("metadata"):
        _metadata(violations, (here, "metadata"), metadata)
    _spec(violations, (here, "spec"), template.get("spec") or {})


def claim_spec(violations: PodViolations, at: At, spec: Tree) -> None:
    """Check the spec of a claim that is not a pod's template.

    The API server first drops a dataSource of another kind than a claim or a snapshot, and a dataSourceRef with a
    namespace, which requires a feature gate that is off by default.
    """
    source, ref = spec.get("dataSource") or {}, spec.get("dataSourceRef") or {}
    dropped = {
        "dataSource": (source.get("apiGroup") or "", source.get("kind")) not in SOURCES,
        "dataSourceRef": bool(ref.get("namespace")),
    }
    _spec(violations, at, {key: value for key, value in spec.items() if not dropped.get(key)})


def _metadata(violations: PodViolations, at: At, metadata: Tree) -> None:
    """Check that the metadata has only labels and annotations, and that these are valid."""
    kept = {key: value for key, value in metadata.items() if key in ("annotations", "labels")}
    if kept:
        from trainc.kubernetes import objectmeta

        assert at is not None
        for violation in objectmeta.check(kept | {"name": "claim"}, namespaced=True):
            path = (*path_of(at[0]), *violation.path)
            field = f"{cluster_field(at[0])}.{violation.field}"
            violations.violations.append(violation._replace(path=path, field=field))
    for key in metadata.keys() - kept.keys():
        from trainc.base.fixes import removal

        title = "remove it" + ("; the claim is named after the pod and the volume" if key == "name" else "")
        violations.report(
            CLAIM_TEMPLATE,
            (at, key),
            f"the claim template's metadata sets {key}, but may set only labels and annotations",
            removal(path_of((at, key)), title),
        )


def _spec(violations: PodViolations, at: At, spec: Tree) -> None:
    _access_modes(violations, at, spec)
    _storage(violations, at, spec)
    if "selector" in spec:
        _selector(violations, (at, "selector"), spec["selector"])
    for key in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(key):
            subdomain(violations, (at, key), spec[key])
    if "volumeMode" in spec:
        _mode(violations, (at, "volumeMode"), spec["volumeMode"])
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        _source(violations, (at, "dataSource"), source)
    if ref is not None:
        _source(violations, (at, "dataSourceRef"), ref)
        if ref.get("namespace"):
            label(violations, ((at, "dataSourceRef"), "namespace"), ref["namespace"])
    if source is not None and ref is not None:
        _sources_together(violations, at, source, ref)


def _access_modes(violations: PodViolations, at: At, spec: Tree) -> None:
    modes = spec.get("accessModes")
    here = (at, "accessModes")
    if not modes:
        violations.report_missing(here, "add access modes, such as accessModes: [ReadWriteOnce]")
        return
    for index, mode in enumerate(modes):
        if mode not in ACCESS_MODES:
            violations.not_allowed((here, index), mode, ACCESS_MODES, field=cluster_field(here))
    if EXCLUSIVE_MODE in modes and any(mode != EXCLUSIVE_MODE and mode in ACCESS_MODES for mode in modes):
        message = f"{EXCLUSIVE_MODE} cannot be combined with another access mode"
        violations.report(
            CLAIM_TEMPLATE, here, message, f"keep {EXCLUSIVE_MODE} if a single pod uses the claim, otherwise remove it"
        )


def _storage(violations: PodViolations, at: At, spec: Tree) -> None:
    """Check the volume's size; the API server's field omits `requests`."""
    requests = (spec.get("resources") or {}).get("requests") or {}
    size = requests.get("storage")
    here = (((at, "resources"), "requests"), "storage")
    if size is None:
        field = f"{cluster_field(at, 'resources')}[storage]"
        message, help = "the claim template has no storage request, which is required", "add resources.requests.storage"
        violations.report(REQUIRED, here, message, help, field=field)
    elif Quantity.from_json(size).sign <= 0:
        field = f"{cluster_field(at, 'resources')}[storage]"
        violations.amount_too_small(
            here, size, "must be greater than 0", "use a positive size such as 10Gi", field=field
        )


def _source(violations: PodViolations, at: At, source: Tree) -> None:
    """Check a data source: another claim or a snapshot that fills the volume."""
    required_fields(violations, at, source, "name", "kind")
    group = source.get("apiGroup") or ""
    if group:
        subdomain(violations, (at, "apiGroup"), group)
    elif source.get("kind") != CLAIM:
        kind = shown(source.get("kind", ""))
        message = f"{called(at)} has kind {kind} and no apiGroup, but without apiGroup the kind must be {CLAIM}"
        violations.report(CLAIM_TEMPLATE, at, message, "add its apiGroup, such as snapshot.storage.k8s.io")


def _sources_together(violations: PodViolations, at: At, source: Tree, ref: Tree) -> None:
    """Check that the old and the new data source field are equal."""
    if ref.get("namespace"):
        why = "a dataSourceRef with a namespace cannot be combined with dataSource"
    elif any(source.get(key) != ref.get(key) for key in ("apiGroup", "kind", "name")):
        why = "they differ"
    else:
        return
    violations.report(
        CLAIM_TEMPLATE,
        (at, "dataSource"),
        f"the claim template sets dataSource and dataSourceRef, but {why}",
        "remove dataSource",
        field=cluster_field(at),
        related=(("the dataSourceRef", (at, "dataSourceRef")),),
    )
