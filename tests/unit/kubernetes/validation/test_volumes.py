"""Volume sources: rejected and accepted values. The volume is `v`, the second one of its pod."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.base.data import data_path
from trainc.base.releases import DEFAULT_RELEASE
from trainc.kubernetes.validation import volumes
from trainc.kubernetes.validation.combinators import PodViolations

FIRST = {"name": "first", "emptyDir": {}}


def found(*added: dict[str, Any]) -> PodViolations:
    pod = {"volumes": [FIRST, *added]}
    findings = PodViolations({"spec": pod})
    volumes.volumes(findings, (None, "volumes"), pod["volumes"])
    return findings


def about(**item: Any) -> dict[str, Any]:
    return {"items": [item]}


def claim(**spec: Any) -> dict[str, Any]:
    usual = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"volumeClaimTemplate": {"spec": usual | spec}}


def sources(*listed: dict[str, Any]) -> dict[str, Any]:
    return {"sources": list(listed)}


NAME = {"fieldPath": "metadata.name"}
CLAIM = {"kind": "PersistentVolumeClaim", "name": "c"}
IQN = "iqn.2001-04.com.example:storage"
PORTAL = {"targetPortal": "10.0.0.1:3260", "iqn": IQN, "lun": 0}
DISK = {"diskName": "d", "diskURI": "https://a"}

SELECTED = "volumeClaimTemplate.spec.selector.matchExpressions"

GOOD: list[tuple[str, Any]] = [
    ("emptyDir", {"medium": "Disk", "sizeLimit": "0"}),
    ("hostPath", {"path": "data/x", "type": ""}),
    ("gitRepo", {"repository": "r", "directory": "."}),
    ("gcePersistentDisk", {"pdName": "d"}),
    ("awsElasticBlockStore", {"volumeID": "d", "partition": 255}),
    ("secret", {"secretName": "S_", "defaultMode": 0, "items": [{"key": "a/b", "path": "a..", "mode": 511}]}),
    ("nfs", {"server": "s", "path": "/"}),
    ("iscsi", PORTAL),
    ("iscsi", PORTAL | {"iqn": "eui.0123456789abcdef", "initiatorName": IQN, "chapAuthSession": True, "secretRef": {}}),
    ("glusterfs", {"endpoints": "e", "path": "p"}),
    ("flocker", {"datasetName": "d"}),
    ("persistentVolumeClaim", {"claimName": "Not_a_name"}),
    ("rbd", {"monitors": ["m"], "image": "i", "secretRef": {}}),
    ("cinder", {"volumeID": "v", "secretRef": {"name": "s"}}),
    ("cephfs", {"monitors": ["m"]}),
    ("quobyte", {"registry": "a:1,[::1]:b,:", "volume": "v", "tenant": "x" * 64}),
    ("downwardAPI", about(path="a", fieldRef={"fieldPath": "metadata.annotations['A/B']"}, mode=0)),
    ("downwardAPI", about(path="a", resourceFieldRef={"resource": "limits.cpu", "containerName": "nobody"})),
    ("fc", {"wwids": ["w"], "lun": 900}),
    ("fc", {"targetWWNs": ["w"], "lun": 0}),
    ("flexVolume", {"driver": "d", "options": {"notk8s.io/b": "c", "x": "y"}}),
    ("configMap", {"name": "UPPER"}),
    ("azureFile", {"secretName": "s", "shareName": "s"}),
    ("vsphereVolume", {"volumePath": "p"}),
    ("photonPersistentDisk", {"pdID": "p"}),
    ("portworxVolume", {"volumeID": "p"}),
    ("azureDisk", DISK),
    ("azureDisk", DISK | {"kind": "Managed", "diskURI": "/subscriptions/a", "cachingMode": "None"}),
    ("storageos", {"volumeName": "v", "volumeNamespace": ""}),
    ("projected", {}),
    ("projected", sources({}, {"serviceAccountToken": {"path": "a"}}, {"secret": {"name": "s"}})),
    ("projected", sources({"clusterTrustBundle": {"path": "/a"}, "secret": {"name": "s"}})),
    ("scaleIO", {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": {}}),
    ("csi", {"driver": "Driver.io", "nodePublishSecretRef": {"name": "s"}}),
    ("ephemeral", claim(storageClassName="", dataSource=CLAIM, dataSourceRef=CLAIM)),
    ("ephemeral", claim(selector={"matchExpressions": [{"key": "a", "operator": "Exists"}]})),
    ("image", {"reference": "a"}),
]


@pytest.mark.parametrize(("source", "value"), GOOD, ids=[f"{source} {json.dumps(value)}" for source, value in GOOD])
def test_good(source: str, value: Any) -> None:
    findings = found({"name": "v", source: value})
    assert findings.violations == []
    assert findings.volumes == {"first": FIRST, "v": {"name": "v", source: value}}


BAD: list[tuple[str, Any, str]] = [
    ("emptyDir", {"sizeLimit": "-1m"}, "sizeLimit"),
    ("hostPath", {"path": "/a/../b", "type": "directory"}, "path type"),
    ("gitRepo", {"repository": "", "directory": "/.."}, "repository directory directory"),
    ("gcePersistentDisk", {"pdName": "", "partition": 256}, "../persistentDisk.pdName ../persistentDisk.partition"),
    ("awsElasticBlockStore", {"volumeID": "", "partition": -1}, "volumeID partition"),
    (
        "secret",
        {"items": [{"key": "", "path": "..a", "mode": 512}]},
        "secretName items[0].key items[0].path items[0].mode",
    ),
    ("nfs", {"server": "", "path": "a"}, "server path"),
    ("iscsi", {"lun": 256, "chapAuthDiscovery": True}, "targetPortal iqn lun secretRef"),
    ("iscsi", PORTAL | {"iqn": "iqn.2001-04.com.example:a b"}, "iqn"),
    ("iscsi", PORTAL | {"iqn": "eui.0", "initiatorName": ""}, "iqn initiatorname"),
    ("iscsi", PORTAL | {"targetPortal": "x" * 63, "initiatorName": IQN}, "../name"),
    ("glusterfs", {}, "endpoints path"),
    ("flocker", {}, "."),
    ("flocker", {"datasetName": "a/b", "datasetUUID": "u"}, ". datasetName"),
    ("persistentVolumeClaim", {"claimName": ""}, "claimName"),
    ("rbd", {}, "monitors image"),
    ("cinder", {"volumeID": "", "secretRef": {}}, "volumeID secretRef.name"),
    ("cephfs", {}, "monitors"),
    ("quobyte", {"registry": "", "tenant": "x" * 65}, "registry volume"),
    ("quobyte", {"registry": "a:1,b", "volume": "v"}, "registry"),
    ("quobyte", {"registry": "[a]b:1", "volume": "v"}, "registry"),
    ("quobyte", {"registry": "a:1", "volume": "v", "tenant": "x" * 65}, "tenant"),
    ("downwardAPI", {"defaultMode": 512}, "defaultMode"),
    ("downwardAPI", about(path="/a/..", mode=777), "path path mode ."),
    ("downwardAPI", about(path="", fieldRef=NAME, resourceFieldRef={}), "path ."),
    ("downwardAPI", about(path="a", fieldRef={"fieldPath": ""}), "fieldRef.fieldPath"),
    ("downwardAPI", about(path="a", fieldRef={"fieldPath": "spec.host"}), "fieldRef.fieldPath"),
    ("downwardAPI", about(path="a", fieldRef=NAME | {"apiVersion": "v2"}), "fieldRef.fieldPath"),
    ("downwardAPI", about(path="a", fieldRef={"fieldPath": "metadata.labels['a b']"}), "fieldRef"),
    ("downwardAPI", about(path="a", fieldRef={"fieldPath": "metadata.name['a']"}), "fieldRef.fieldPath"),
    (
        "downwardAPI",
        about(path="a", resourceFieldRef={"resource": "limits.cpu", "divisor": "1k"}),
        "resourceFieldRef.containerName resourceFieldRef.divisor",
    ),
    ("downwardAPI", about(path="a", resourceFieldRef={"containerName": "c"}), "resourceFieldRef.resource"),
    ("fc", {}, "targetWWNs"),
    ("fc", {"targetWWNs": ["a"], "wwids": ["b"]}, "targetWWNs lun"),
    ("fc", {"targetWWNs": ["a"], "lun": 256}, "lun"),
    (
        "flexVolume",
        {"options": {"a.K8s.io/b": "c", "kubernetes.io": "d"}},
        "driver options[a.K8s.io/b] options[kubernetes.io]",
    ),
    ("configMap", {"name": "", "defaultMode": -1}, "name defaultMode"),
    ("azureFile", {}, "secretName shareName"),
    ("azureDisk", {"kind": "managed", "cachingMode": ""}, "diskName cachingMode kind diskURI"),
    ("azureDisk", DISK | {"kind": "Managed"}, "diskURI"),
    ("storageos", {"secretRef": {}}, "volumeName secretRef.name"),
    ("storageos", {"volumeName": "a.b", "volumeNamespace": "A"}, "volumeName volumeNamespace"),
    (
        "projected",
        {"defaultMode": 512} | sources({"serviceAccountToken": {"expirationSeconds": 0}}),
        "defaultMode sources[0].serviceAccountToken.expirationSeconds path",
    ),
    ("projected", sources({"secret": {"name": "s"}, "configMap": {}}), "sources[0].configMap.name sources[0]"),
    (
        "projected",
        sources(
            {"secret": {"name": "s", "items": [{"key": "k", "path": "p"}]}},
            {"downwardAPI": about(path="p", fieldRef=NAME)},
        ),
        ".",
    ),
    ("csi", {"driver": "a" * 64, "nodePublishSecretRef": {"name": "A"}}, "driver name"),
    ("csi", {"driver": "a_b", "nodePublishSecretRef": {}}, "driver nodePublishSecretRef.name"),
    ("ephemeral", {}, "volumeClaimTemplate"),
    (
        "ephemeral",
        {"volumeClaimTemplate": {"spec": {}}},
        "volumeClaimTemplate.spec.accessModes volumeClaimTemplate.spec.resources[storage]",
    ),
    (
        "ephemeral",
        claim(dataSourceRef={"kind": "X", "apiGroup": "A"}),
        "volumeClaimTemplate.spec.dataSourceRef.name volumeClaimTemplate.spec.dataSourceRef.apiGroup",
    ),
    ("ephemeral", claim(dataSource=CLAIM, dataSourceRef=CLAIM | {"namespace": "a"}), "volumeClaimTemplate.spec"),
    ("ephemeral", claim(dataSource=CLAIM, dataSourceRef=CLAIM | {"name": "d"}), "volumeClaimTemplate.spec"),
    ("ephemeral", claim(dataSource={"kind": "Snapshot", "name": "s"}), "volumeClaimTemplate.spec.dataSource"),
    ("ephemeral", claim(selector={"matchLabels": {"a": "b c"}}), "volumeClaimTemplate.spec.selector.matchLabels"),
    (
        "ephemeral",
        claim(
            selector={
                "matchExpressions": [
                    {"key": "", "operator": "In"},
                    {"key": "a", "operator": "Exists", "values": ["a b"]},
                ]
            }
        ),
        f"{SELECTED}[0].key {SELECTED}[0].values {SELECTED}[1].values {SELECTED}[1].values[0]",
    ),
    ("image", {"reference": "a", "pullPolicy": "always"}, "pullPolicy"),
]


@pytest.mark.parametrize(
    ("source", "value", "fields"), BAD, ids=[f"{source} {json.dumps(value)}" for source, value, _ in BAD]
)
def test_bad(source: str, value: Any, fields: str) -> None:
    findings = found({"name": "v", source: value})
    base = f"volumes[1].{source}"
    wanted = [
        f"volumes[1].{field[3:]}" if field.startswith("../") else base if field == "." else f"{base}.{field}"
        for field in fields.split()
    ]
    assert sorted(violation.field for violation in findings.violations) == sorted(wanted)
    assert findings.volumes == {"first": FIRST, "v": None}


def test_texts(snapshot: SnapshotAssertion) -> None:
    assert (
        texts(each for source, value, _ in BAD for each in found({"name": "v", source: value}).violations) == snapshot
    )


def test_a_reserved_option_is_marked_at_its_key() -> None:
    findings = found({"name": "v", "flexVolume": {"driver": "d", "options": {"kubernetes.io/b": "c"}}})
    assert [(violation.path[-1], violation.key) for violation in findings.violations] == [("kubernetes.io/b", True)]


@pytest.mark.parametrize(
    ("volumes", "fields", "usable"),
    [
        ([{"name": ""}, {}], ["[1].name", "[2].name"], {"first"}),
        ([{"name": "a.b"}, {"name": "x" * 64}, {"name": "x" * 63}], ["[1].name", "[2].name"], {"first", "x" * 63}),
        ([{"name": "first", "emptyDir": {}}], ["[1].name"], {"first"}),
        ([{"name": "v", "secret": {}}, {"name": "v"}], ["[1].secret.secretName"], {"first", "v"}),
        ([{"name": "v"}, {"name": "v", "secret": {}}], ["[2].secret.secretName", "[2].name"], {"first", "v"}),
        (
            [{"name": "v", "configMap": {"name": "c"}, "emptyDir": {}, "nfs": {}}],
            ["[1].nfs", "[1].configMap"],
            {"first"},
        ),
        ([{"name": "v", "cephfs": {}, "emptyDir": {}, "downwardAPI": {}}], ["[1].cephFS", "[1].downwarAPI"], {"first"}),
        (
            [{"name": "v", "emptyDir": {"sizeLimit": -1}, "image": {}}],
            ["[1].emptyDir.sizeLimit", "[1].image"],
            {"first"},
        ),
        (
            [{"name": "v", "emptyDir": {}, "iscsi": {"targetPortal": "x" * 63, "initiatorName": "", "lun": 900}}],
            ["[1].iscsi", "[1].name"],
            {"first"},
        ),
    ],
)
def test_names_and_sources(volumes: list[dict[str, Any]], fields: list[str], usable: set[str]) -> None:
    findings = found(*volumes)
    assert [violation.field for violation in findings.violations] == [f"volumes{field}" for field in fields]
    assert {name for name, volume in findings.volumes.items() if volume} == usable


def test_every_source_has_a_rule() -> None:
    schema = json.loads(Path(data_path("schemas", DEFAULT_RELEASE.jobset, "JobSet.json")).read_text("utf-8"))
    at = schema
    for step in ("spec", "replicatedJobs", "items", "template", "spec", "template", "spec", "volumes", "items"):
        at = at["items"] if step == "items" else at["properties"][step]
        if "$ref" in at:
            at = schema["$defs"][at["$ref"].removeprefix("#/$defs/")]
    assert at["properties"].keys() - {"name"} == volumes.SOURCES.keys()


@pytest.mark.parametrize(
    ("volume", "message", "help"),
    [
        pytest.param(
            {"name": "v", "secret": {"secretName": "s", "defaultMode": 755}},
            "defaultMode must be from 0 to 511 (0777 in octal), not 755",
            "use 493, which is 0755 in octal",
            id="octal meant",
        ),
        pytest.param(
            {"name": "v", "configMap": {"name": "c", "items": [{"key": "k", "path": "/etc/a"}]}},
            'items[0].path "/etc/a" is absolute',
            "use etc/a",
            id="absolute",
        ),
        pytest.param(
            {"name": "v", "emptyDir": {}, "nfs": {}},
            'volume "v" sets two sources, emptyDir and nfs, but may set only one',
            "move one of them to a separate volume, or use a projected volume to combine them in one directory",
            id="two sources",
        ),
        pytest.param(
            {"name": "v", "downwardAPI": about(path="a", fieldRef={"fieldPath": "metadata.label"})},
            'fieldPath "metadata.label" is not a pod field that containers can read',
            "did you mean metadata.labels?",
            id="field misspelt",
        ),
    ],
)
def test_messages(volume: dict[str, Any], message: str, help: str) -> None:
    (violation,) = found(volume).violations
    assert (violation.message, violation.help) == (message, help)
