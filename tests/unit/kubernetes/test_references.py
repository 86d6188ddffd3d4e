"""References to ConfigMaps, Secrets and claims, for each field of a pod."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.kubernetes.pod_references import references
from trainc.kubernetes.trees import get

CONFIG, SECRET, CLAIM = "ConfigMap", "Secret", "PersistentVolumeClaim"


def with_variable(**source: Any) -> Any:
    return {"containers": [{"name": "c", "env": [{"name": "V", "valueFrom": source}]}]}


def with_volume(**source: Any) -> Any:
    return {"volumes": [{"name": "v", **source}]}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        ({}, []),
        ({"imagePullSecrets": [{"name": "a"}, {}]}, [(SECRET, "a", False)]),
        (with_variable(configMapKeyRef={"name": "a", "key": "k"}), [(CONFIG, "a", False)]),
        (with_variable(secretKeyRef={"name": "a", "key": "k", "optional": True}), [(SECRET, "a", True)]),
        (with_variable(fieldRef={"fieldPath": "metadata.name"}), []),
        ({"initContainers": [{"envFrom": [{"configMapRef": {"name": "a"}}]}]}, [(CONFIG, "a", False)]),
        ({"ephemeralContainers": [{"envFrom": [{"secretRef": {"name": "a"}}]}]}, [(SECRET, "a", False)]),
        ({"containers": [{"env": [{"name": "V", "value": "a"}], "envFrom": [{"secretRef": {}}]}]}, []),
        (with_volume(configMap={"name": "a", "optional": True}), [(CONFIG, "a", True)]),
        (with_volume(secret={"secretName": "a"}), [(SECRET, "a", False)]),
        (with_volume(persistentVolumeClaim={"claimName": "a"}), [(CLAIM, "a", False)]),
        (with_volume(emptyDir={}), []),
        (with_volume(azureFile={"secretName": "a", "shareName": "s"}), [(SECRET, "a", False)]),
        (with_volume(cephfs={"secretRef": {"name": "a"}}), [(SECRET, "a", False)]),
        (with_volume(csi={"driver": "d", "nodePublishSecretRef": {"name": "a"}}), [(SECRET, "a", False)]),
        (
            with_volume(projected={"sources": [{"secret": {"name": "a"}}, {"configMap": {"name": "b"}}]}),
            [(SECRET, "a", False), (CONFIG, "b", False)],
        ),
    ],
)
def test_references(pod: Any, expected: list[Any]) -> None:
    found = list(references(pod))
    assert [(one.kind, one.name, one.optional) for one in found] == expected
    assert [get(pod, one.path) for one in found] == [one.name for one in found]
