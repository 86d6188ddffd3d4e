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
    path: Path
    """The path of the name in the pod's spec."""


def references(pod: Tree) -> Iterator[Reference]:
    """Yield every reference of a pod, repeated references included.

    >>> list(references({"imagePullSecrets": [{"name": "registry"}], "containers": []}))
    [Reference(kind='Secret', name='registry', optional=False, path=('imagePullSecrets', 0, 'name'))]
    """
    for index, secret in _mappings(pod, "imagePullSecrets"):
        yield from _named("Secret", secret, ("imagePullSecrets", index), "name")
    for key in CONTAINERS:
        for index, container in _mappings(pod, key):
            for number, variable in _mappings(container, "env"):
                there = (key, index, "env", number, "valueFrom")
                yield from _references_in_source(variable.get("valueFrom") or {}, OF_VARIABLES, there)
            for number, source in _mappings(container, "envFrom"):
                yield from _references_in_source(source, OF_VARIABLES, (key, index, "envFrom", number))
    for index, volume in _mappings(pod, "volumes"):
        at = ("volumes", index)
        for kind, path in OF_VOLUMES:
            optional = get(volume, (path[0], "optional"), False)
            yield from _named(kind, get(volume, path[:-1], {}), (*at, *path[:-1]), str(path[-1]), optional=optional)
        for number, source in enumerate(get(volume, ("projected", "sources"), ())):
            kinds: dict[str, Kind] = {"configMap": "ConfigMap", "secret": "Secret"}
            yield from _references_in_source(source, kinds, (*at, "projected", "sources", number))


def _mappings(tree: Tree, key: str) -> Iterator[tuple[int, Tree]]:
    """Yield the mappings of a list with their indexes. A rendered pod is not checked: it may have anything there."""
    found = tree.get(key)
    for index, each in enumerate(found if isinstance(found, list) else ()):
        if isinstance(each, dict):
            yield index, each


def _references_in_source(source: Tree, kinds: dict[str, Kind], path: Path) -> Iterator[Reference]:
    for key, kind in kinds.items():
        ref = source.get(key) or {}
        yield from _named(kind, ref, (*path, key), "name", optional=ref.get("optional", False))


def _named(kind: Kind, ref: Tree, path: Path, key: str, *, optional: bool = False) -> Iterator[Reference]:
    if name := ref.get(key):
        yield Reference(kind, name, optional, (*path, key))
