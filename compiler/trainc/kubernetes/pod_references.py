"""The ConfigMaps, Secrets and PersistentVolumeClaims that a pod refers to by name.

Reads    a pod spec.
Returns  each reference, in the order of the spec: pull secrets, containers, volumes.
Source   Kubernetes 1.36: the fields in which the API server looks for a pod's ConfigMaps and Secrets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from trainc.kubernetes.trees import Tree, get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path

Kind = Literal["ConfigMap", "Secret", "PersistentVolumeClaim"]

CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
OF_VARIABLES: Final[dict[str, Kind]] = {
    "configMapKeyRef": "ConfigMap",
    "configMapRef": "ConfigMap",
    "secretKeyRef": "Secret",
    "secretRef": "Secret",
}
"""References in a variable's valueFrom and in an item of envFrom."""
OF_VOLUMES: Final[tuple[tuple[Kind, Path], ...]] = (
    ("ConfigMap", ("configMap", "name")),
    ("Secret", ("secret", "secretName")),
    ("Secret", ("azureFile", "secretName")),
    *(
        ("Secret", (driver, "secretRef", "name"))
        for driver in ("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")
    ),
    ("Secret", ("csi", "nodePublishSecretRef", "name")),
    ("PersistentVolumeClaim", ("persistentVolumeClaim", "claimName")),
)
"""References in a volume: the kind, and the path of the name."""


class Reference(NamedTuple):
    """A reference from a pod to an object."""

    kind: Kind
    name: str
    optional: bool
    """Whether the pod can start without the object."""


def references(pod: Tree) -> Iterator[Reference]:
    """Yield every reference of a pod, repeated references included.

    >>> list(references({"imagePullSecrets": [{"name": "registry"}], "containers": []}))
    [Reference(kind='Secret', name='registry', optional=False)]
    """
    for secret in pod.get("imagePullSecrets") or ():
        yield from _named("Secret", secret.get("name"))
    for key in CONTAINERS:
        for container in pod.get(key) or ():
            variables = (variable.get("valueFrom") or {} for variable in container.get("env") or ())
            for source in (*variables, *(container.get("envFrom") or ())):
                yield from _references_in_source(source, OF_VARIABLES)
    for volume in pod.get("volumes") or ():
        for kind, path in OF_VOLUMES:
            yield from _named(kind, get(volume, path), optional=get(volume, (path[0], "optional"), False))
        for source in get(volume, ("projected", "sources"), ()):
            yield from _references_in_source(source, {"configMap": "ConfigMap", "secret": "Secret"})


def _references_in_source(source: Tree, kinds: dict[str, Kind]) -> Iterator[Reference]:
    for key, kind in kinds.items():
        ref = source.get(key) or {}
        yield from _named(kind, ref.get("name"), optional=ref.get("optional", False))


def _named(kind: Kind, name: str | None, *, optional: bool = False) -> Iterator[Reference]:
    if name:
        yield Reference(kind, name, optional)
