"""The claim that an ephemeral volume makes: its metadata, and the specification of a PersistentVolumeClaim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import At, path_of
from trainc.kubernetes.validation.findings import Findings, label, late, one_of, required, spelled, subdomain
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


def ephemeral(found: Findings, at: At, value: Tree) -> None:
    """An ephemeral volume."""
    template = value.get("volumeClaimTemplate")
    here = (at, "volumeClaimTemplate")
    if template is None:
        required(found, at, value, "volumeClaimTemplate")
        return
    if metadata := template.get("metadata"):
        _metadata(found, (here, "metadata"), metadata)
    _spec(found, (here, "spec"), template.get("spec") or {})


def _metadata(found: Findings, at: At, metadata: Tree) -> None:
    """Labels and annotations, as those of any object, and nothing else."""
    kept = {key: value for key, value in metadata.items() if key in ("annotations", "labels")}
    if kept:
        from trainc.kubernetes import objectmeta

        assert at is not None
        for violation in objectmeta.check(kept | {"name": "claim"}, namespaced=True):
            path = (*path_of(at[0]), *violation.path)
            field = f"{spelled(at[0])}.{violation.field}"
            found.violations.append(violation._replace(path=path, field=field))
    for key in metadata.keys() - kept.keys():
        found.complain(
            CLAIM_TEMPLATE,
            (at, key),
            f"the claim template has {key} in its metadata, and may have labels and annotations alone",
            "remove it" + ("; the claim is called after the pod and the volume" if key == "name" else ""),
        )


def _spec(found: Findings, at: At, spec: Tree) -> None:
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


def _access_modes(found: Findings, at: At, spec: Tree) -> None:
    modes = spec.get("accessModes")
    here = (at, "accessModes")
    if not modes:
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, here, "for example accessModes: [ReadWriteOnce]")
        return
    for index, mode in enumerate(modes):
        if mode not in ACCESS_MODES:
            from trainc.kubernetes.validation import complaints

            complaints.not_allowed(found, (here, index), mode, ACCESS_MODES, field=spelled(here))
    if ALONE in modes and any(mode != ALONE and mode in ACCESS_MODES for mode in modes):
        message = f"accessModes has {ALONE} and another mode, and {ALONE} must be alone"
        found.complain(CLAIM_TEMPLATE, here, message, f"keep {ALONE} for one pod, or the other mode")


def _storage(found: Findings, at: At, spec: Tree) -> None:
    """The size of the volume; the cluster's field lacks `requests`."""
    requests = (spec.get("resources") or {}).get("requests") or {}
    size = requests.get("storage")
    here = (((at, "resources"), "requests"), "storage")
    if size is None:
        field = f"{spelled(at, 'resources')}[storage]"
        message, help = "the claim template does not say how much storage it asks for", "add resources.requests.storage"
        found.complain(REQUIRED, here, message, help, field=field)
    elif Quantity.from_json(size).sign <= 0:
        from trainc.kubernetes.validation import complaints

        field = f"{spelled(at, 'resources')}[storage]"
        complaints.amount_too_small(found, here, size, "must be more than 0", "for example 10Gi", field=field)


def _source(found: Findings, at: At, source: Tree) -> None:
    """Another claim, or a snapshot, from which a volume is filled."""
    required(found, at, source, "name", "kind")
    group = source.get("apiGroup") or ""
    if group:
        subdomain(found, (at, "apiGroup"), group)
    elif source.get("kind") != CLAIM:
        from trainc.kubernetes.structural.remedies import shown
        from trainc.kubernetes.validation.complaints import called

        kind = shown(source.get("kind", ""))
        message = f"{called(at)} has the kind {kind} and no apiGroup, without which it must be a {CLAIM}"
        found.complain(CLAIM_TEMPLATE, at, message, "add its group, for example snapshot.storage.k8s.io")


def _sources_together(found: Findings, at: At, source: Tree, ref: Tree) -> None:
    """The old field and the new one, which say the same or nothing."""
    if ref.get("namespace"):
        why = "a dataSourceRef with a namespace must be alone"
    elif any(source.get(key) != ref.get(key) for key in ("apiGroup", "kind", "name")):
        why = "they are not the same"
    else:
        return
    found.complain(
        CLAIM_TEMPLATE,
        (at, "dataSource"),
        f"the claim template has dataSource and dataSourceRef, and {why}",
        "remove dataSource",
        field=spelled(at),
        related=(("the dataSourceRef", (at, "dataSourceRef")),),
    )
