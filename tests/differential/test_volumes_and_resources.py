"""Generated volumes and resources of pods, answered by trainc and by the API server's own validation of Jobs.

Each pod is the template of an otherwise unchanged replicated job `x`, next to a trainer in a runtime. The rejected
fields in both answers must be the same. Needs ORACLE and CRDS (see oracle.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from differential.comparing import PARTS, Comparison, Documents, Tallied
from differential.one_job import compare, documents
from differential.oracle import EXAMPLES, needs_oracle
from differential.test_jobs import Fields, fields
from hypothesis import strategies as st

texts = st.sampled_from(["a", "a", "b.c", "", "A", "a_b", "a/b", "x" * 64])
paths = st.sampled_from(["a", "b", "a/b", "", "/a", "..", "../a", "a/../b", "..a", "a/..", "."])
modes = st.sampled_from([0, 0o644, 0o777, 0o1000, 777, -1])
counts = st.sampled_from([0, 1, 255, 256, -1])
amounts = st.sampled_from(["1", "0", "-1", "500m", "2Mi", "3Mi", "4Mi", "1Gi", "1.5", "0.0001", "-0.5", "10k", 2, 0])
words = st.sampled_from(["a", "b", "A", "a b"])
labels = st.dictionaries(st.sampled_from(["a", "x.io/y", "a b", "/x"]), words, max_size=2)


def some(**of: st.SearchStrategy[Any]) -> Fields:
    return fields({}, of)


def few(of: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[list[Any]]:
    return st.lists(of, max_size=most)


secret = some(name=texts)
items = few(fields({"key": texts, "path": paths}, {"mode": modes}))
of_field = fields(
    {
        "fieldPath": st.sampled_from(
            [
                *("metadata.name", "metadata.labels", "metadata.labels['a']", "metadata.annotations['A/B']"),
                *("metadata.labels['a b']", "metadata.name['a']", "status.podIP", "spec.host", "nothing", ""),
            ]
        )
    },
    {"apiVersion": st.sampled_from(["v1", "v1", "v2", ""])},
)
of_resource = fields(
    {
        "resource": st.sampled_from(
            ["limits.cpu", "requests.memory", "limits.hugepages-2Mi", "requests.ephemeral-storage", "limits.gpu", ""]
        )
    },
    {
        "containerName": st.sampled_from(["c", "c", "c", ""]),
        "divisor": st.sampled_from(["1", "0", "1m", "1000m", "1Ki", "1k", "1000", "1024", "2"]),
    },
)
about = few(fields({"path": paths}, {"mode": modes, "fieldRef": of_field, "resourceFieldRef": of_resource}))
sources = some(
    secret=some(name=texts, items=items),
    configMap=some(name=texts, items=items),
    downwardAPI=some(items=about),
    serviceAccountToken=fields(
        {"path": paths}, {"expirationSeconds": st.sampled_from([0, 599, 600, 2**32, 2**32 + 1])}
    ),
    clusterTrustBundle=fields({"path": paths}, {"name": texts, "signerName": texts}),
)
data = fields({"kind": st.sampled_from(["PersistentVolumeClaim", "X", ""]), "name": texts}, {"apiGroup": texts})
modes_of_access = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", "RWO"]
expressions = few(
    fields(
        {"key": texts, "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", ""])},
        {"values": few(words)},
    )
)
claim = some(
    accessModes=few(st.sampled_from(modes_of_access)),
    resources=some(requests=st.dictionaries(st.sampled_from(["storage", "storage", "x"]), amounts, max_size=2)),
    storageClassName=texts,
    volumeAttributesClassName=texts,
    volumeMode=st.sampled_from(["Block", "Filesystem", "block", ""]),
    selector=some(matchLabels=labels, matchExpressions=expressions),
    dataSource=data,
    dataSourceRef=st.builds(lambda one, more: one | more, data, some(namespace=texts)),
)
template = fields(
    {"spec": claim}, {"metadata": some(name=texts, labels=labels, annotations=labels, finalizers=few(texts))}
)
names_of_targets = st.sampled_from(
    [
        *("iqn.2001-04.com.example:x", "iqn.2001-04.com.example", "xiqn.2001-04.com.example:x", "iqn.", "a"),
        *("eui.0123456789abcdef", "eui.0", "naa.01234567890123456789012345678901", "naa.0", ""),
    ]
)
monitors = st.just(["a"])
registry = st.lists(st.sampled_from("a:[],1"), max_size=6).map("".join)
volume_sources = {
    "emptyDir": some(medium=texts, sizeLimit=amounts),
    "hostPath": fields({"path": paths}, {"type": st.sampled_from(["", "Directory", "File", "directory"])}),
    "gitRepo": fields({"repository": texts}, {"directory": paths}),
    "gcePersistentDisk": fields({"pdName": texts}, {"partition": counts}),
    "awsElasticBlockStore": fields({"volumeID": texts}, {"partition": counts}),
    "secret": some(secretName=texts, items=items, defaultMode=modes),
    "nfs": fields({"server": texts, "path": paths}, {}),
    "iscsi": fields(
        {"targetPortal": st.sampled_from(["a", "", "x" * 62, "x" * 61]), "iqn": names_of_targets, "lun": counts},
        {
            "initiatorName": names_of_targets,
            "chapAuthSession": st.booleans(),
            "chapAuthDiscovery": st.booleans(),
            "secretRef": secret,
        },
    ),
    "glusterfs": fields({"endpoints": texts, "path": texts}, {}),
    "flocker": some(datasetName=texts, datasetUUID=texts),
    "persistentVolumeClaim": fields({"claimName": texts}, {}),
    "rbd": fields({"monitors": monitors, "image": texts}, {"secretRef": secret}),
    "cinder": fields({"volumeID": texts}, {"secretRef": secret}),
    "cephfs": fields({"monitors": monitors}, {"secretRef": secret}),
    "quobyte": fields({"registry": registry, "volume": texts}, {"tenant": st.sampled_from(["a", "x" * 64, "x" * 65])}),
    "downwardAPI": some(items=about, defaultMode=modes),
    "fc": some(targetWWNs=few(texts), wwids=few(texts), lun=counts),
    "flexVolume": fields(
        {"driver": texts},
        {
            "options": st.dictionaries(
                st.sampled_from(["a", "k8s.io/a", "x.KUBERNETES.io", "xk8s.io"]), texts, max_size=2
            )
        },
    ),
    "configMap": some(name=texts, items=items, defaultMode=modes),
    "azureFile": fields({"secretName": texts, "shareName": texts}, {}),
    "vsphereVolume": fields({"volumePath": texts}, {}),
    "photonPersistentDisk": fields({"pdID": texts}, {}),
    "portworxVolume": fields({"volumeID": texts}, {}),
    "azureDisk": fields(
        {"diskName": texts, "diskURI": st.sampled_from(["", "a", "https://a", "/subscriptions/a"])},
        {
            "kind": st.sampled_from(["Shared", "Dedicated", "Managed", "managed"]),
            "cachingMode": st.sampled_from(["None", "ReadOnly", "none"]),
        },
    ),
    "storageos": some(volumeName=texts, volumeNamespace=texts, secretRef=secret),
    "projected": some(sources=few(sources, 3), defaultMode=modes),
    "scaleIO": fields({"gateway": texts, "system": texts, "secretRef": secret}, {"volumeName": texts}),
    "csi": fields({"driver": texts}, {"nodePublishSecretRef": secret}),
    "ephemeral": some(volumeClaimTemplate=template),
    "image": some(reference=texts, pullPolicy=st.sampled_from(["Always", "always", ""])),
}
one_source = st.sampled_from(sorted(volume_sources)).flatmap(
    lambda source: volume_sources[source].map(lambda value: {source: value})
)
volume: Fields = st.one_of(
    one_source, one_source, st.builds(lambda one, other: one | other, one_source, one_source), st.just({})
)


@st.composite
def volumes(draw: st.DrawFn) -> list[dict[str, Any]]:
    made = draw(st.lists(volume, max_size=4))
    usual = [f"v{index}" for index in range(len(made))]
    odd = st.sampled_from(["A", "a_b", "x" * 64, "a.b", ""])
    return [
        {"name": draw(odd) if draw(st.integers(0, 9)) == 0 else name} | it for name, it in zip(usual, made, strict=True)
    ]


resource_names = st.sampled_from(
    [
        *("cpu", "memory", "nvidia.com/gpu", "ephemeral-storage", "hugepages-2Mi", "cpu", "memory", "nvidia.com/gpu"),
        *(
            "gpu",
            "a b",
            "/x",
            "x/y/z",
            "pods",
            "storage",
            "requests.nvidia.com/gpu",
            "a.kubernetes.io/x",
            "requests.cpu",
        ),
        *(
            "hugepages-",
            "hugepages-0",
            "hugepages-2GB",
            "hugepages-1/x",
            "hugepages-500m",
            "x.io/a_b",
            "x" * 63 + ".io/y",
        ),
    ]
)
asked = st.dictionaries(resource_names, amounts, max_size=4)
claims = st.lists(fields({"name": words}, {"request": words}), max_size=2, unique_by=lambda claim: claim["name"])
both = some(limits=asked, requests=asked)
containers = st.lists(
    fields({"image": st.just("i")}, {"resources": some(limits=asked, requests=asked, claims=claims)}), max_size=2
)
side = fields({"image": st.just("i")}, {"resources": both, "restartPolicy": st.just("Always")})
declared = st.lists(
    fields({"name": texts}, {"resourceClaimName": texts, "resourceClaimTemplateName": texts}),
    max_size=2,
    unique_by=lambda claim: claim["name"],
)


@st.composite
def pods(draw: st.DrawFn) -> dict[str, Any]:
    main = {"image": "i", "resources": draw(both)}
    made = draw(
        fields(
            {},
            {
                "volumes": volumes(),
                "resources": some(limits=asked, requests=asked, claims=claims),
                "overhead": asked,
                "resourceClaims": declared,
            },
        )
    )
    more = {"containers": [main, *draw(containers)], "initContainers": draw(st.lists(side, max_size=2))}
    for kind, listed in more.items():
        made[kind] = [{"name": f"{kind[0]}{index}"} | container for index, container in enumerate(listed)]
    return made


@needs_oracle
@pytest.mark.parametrize("part", PARTS)
def test_volumes_and_resources(part: int, tallied: Tallied) -> None:
    tallied(COMPARISON.run(part, EXAMPLES // 4))


def in_a_job(pod: dict[str, Any]) -> Documents:
    return documents({"spec": pod})


COMPARISON = Comparison(pods(), compare, in_a_job)
