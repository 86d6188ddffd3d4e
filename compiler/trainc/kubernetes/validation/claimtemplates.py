"""The claim that an ephemeral volume makes: its metadata, and the specification of a PersistentVolumeClaim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import At, path_of
from trainc.kubernetes.validation.combinators import (
    PodViolations,
    cluster_field,
    label,
    late,
    one_of,
    required,
    subdomain,
)
from trainc.kubernetes.violations import REQUIRED

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

CLAIM_TEMPLATE: Final = Declaration(
    "claim-template", ("job",), "A claim template contradicts itself, or has metadata that it cannot have"
)

ALONE: Final = "ReadWriteOncePod"
ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", ALONE)
CLAIM: Final = "PersistentVolumeClaim"
_mode: Final = one_of("Block", "Filesystem")
_selector: Final = late("selectors", "label_selector")


def ephemeral(found: PodViolations, at: At, value: Tree) -> None:
    """An ephemeral volume."""
    template = value.get("volumeClaimTemplate")
    here = (at, "volumeClaimTemplate")
    if template is None:
        required(found, at, value, "volumeClaimTemplate")
        return
    if metadata := template.get("metadata"):
        _metadata(found, (here, "metadata"), metadata)
    _spec(found, (here, "spec"), template.get("spec") or {})


def _metadata(found: PodViolations, at: At, metadata: Tree) -> None:
    """Labels and annotations, as those of any object, and nothing else."""
    kept = {key: value for key, value in metadata.items() if key in ("annotations", "labels")}
    if kept:
        from trainc.kubernetes import objectmeta

        assert at is not None
        for violation in objectmeta.check(kept | {"name": "claim"}, namespaced=True):
            path = (*path_of(at[0]), *violation.path)
            field = f"{cluster_field(at[0])}.{violation.field}"
            found.violations.append(violation._replace(path=path, field=field))
    for key in metadata.keys() - kept.keys():
        found.report(
            CLAIM_TEMPLATE,
            (at, key),
            f"the claim template has {key} in its metadata, and may have labels and annotations alone",
            "remove it" + ("; the claim is called after the pod and the volume" if key == "name" else ""),
        )


def _spec(found: PodViolations, at: At, spec: Tree) -> None:
    _access_modes(found, at, spec)
    _storage(found, at, spec)
    if "selector" in spec:
        _selector(found, (at, "selector"), spec["selector"])
    for key in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(key):
            subdomain(found, (at, key), spec[key])
    if "volumeMode" in spec:
        _mode(found, (at, "volumeMode"), spec["volumeMode"])
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        _source(found, (at, "dataSource"), source)
    if ref is not None:
        _source(found, (at, "dataSourceRef"), ref)
        if ref.get("namespace"):
            label(found, ((at, "dataSourceRef"), "namespace"), ref["namespace"])
    if source is not None and ref is not None:
        _sources_together(found, at, source, ref)


def _access_modes(found: PodViolations, at: At, spec: Tree) -> None:
    modes = spec.get("accessModes")
    here = (at, "accessModes")
    if not modes:
        from trainc.kubernetes.validation import field_messages

        field_messages.missing(found, here, "for example accessModes: [ReadWriteOnce]")
        return
    for index, mode in enumerate(modes):
        if mode not in ACCESS_MODES:
            from trainc.kubernetes.validation import field_messages

            field_messages.not_allowed(found, (here, index), mode, ACCESS_MODES, field=cluster_field(here))
    if ALONE in modes and any(mode != ALONE and mode in ACCESS_MODES for mode in modes):
        message = f"accessModes has {ALONE} and another mode, and {ALONE} must be alone"
        found.report(CLAIM_TEMPLATE, here, message, f"keep {ALONE} for one pod, or the other mode")


def _storage(found: PodViolations, at: At, spec: Tree) -> None:
    """The size of the volume; the cluster's field lacks `requests`."""
    requests = (spec.get("resources") or {}).get("requests") or {}
    size = requests.get("storage")
    here = (((at, "resources"), "requests"), "storage")
    if size is None:
        field = f"{cluster_field(at, 'resources')}[storage]"
        message, help = "the claim template does not say how much storage it asks for", "add resources.requests.storage"
        found.report(REQUIRED, here, message, help, field=field)
    elif Quantity.from_json(size).sign <= 0:
        from trainc.kubernetes.validation import field_messages

        field = f"{cluster_field(at, 'resources')}[storage]"
        field_messages.amount_too_small(found, here, size, "must be more than 0", "for example 10Gi", field=field)


def _source(found: PodViolations, at: At, source: Tree) -> None:
    """Another claim, or a snapshot, from which a volume is filled."""
    required(found, at, source, "name", "kind")
    group = source.get("apiGroup") or ""
    if group:
        subdomain(found, (at, "apiGroup"), group)
    elif source.get("kind") != CLAIM:
        from trainc.kubernetes.structural.hints import shown
        from trainc.kubernetes.validation.field_messages import called

        kind = shown(source.get("kind", ""))
        message = f"{called(at)} has the kind {kind} and no apiGroup, without which it must be a {CLAIM}"
        found.report(CLAIM_TEMPLATE, at, message, "add its group, for example snapshot.storage.k8s.io")


def _sources_together(found: PodViolations, at: At, source: Tree, ref: Tree) -> None:
    """The old field and the new one, which say the same or nothing."""
    if ref.get("namespace"):
        why = "a dataSourceRef with a namespace must be alone"
    elif any(source.get(key) != ref.get(key) for key in ("apiGroup", "kind", "name")):
        why = "they are not the same"
    else:
        return
    found.report(
        CLAIM_TEMPLATE,
        (at, "dataSource"),
        f"the claim template has dataSource and dataSourceRef, and {why}",
        "remove dataSource",
        field=cluster_field(at),
        related=(("the dataSourceRef", (at, "dataSourceRef")),),
    )
