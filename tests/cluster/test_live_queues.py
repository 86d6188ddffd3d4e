"""Kueue in `trainc diff --live`: the quota and the current use of a real API server's ClusterQueue.

Kueue does not run: the tests install CRDs that accept any spec, and write the status of a queue and the changes of an
admission themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from cluster.server import Cluster, load, until
from cluster.test_kueue import Job, admit, as_go_types
from cluster.versions import JOBSET
from running import run

from trainc.kubernetes.trees import put

Tree = dict[str, Any]

CRDS = (JOBSET,)
GROUP: Final = "kueue.x-k8s.io"
DEFINITIONS: Final = "apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUEUES: Final = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {namespace}}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: any, resources: [{{name: cpu, nominalQuota: "8"}}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: gpu, namespace: {namespace}}}
spec: {{clusterQueue: {namespace}}}
"""
JOB: Final = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: train, namespace: {namespace}, labels: {{kueue.x-k8s.io/queue-name: gpu}}}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    image: ghcr.io/acme/app:v1
    numNodes: 2
    resourcesPerNode: {{requests: {{cpu: 6, memory: 1Gi}}}}
"""


@pytest.fixture
def queues(cluster: Cluster) -> Iterator[None]:
    """Install the CRDs of Kueue's queues."""
    if cluster.ask("GET", f"{DEFINITIONS}/clusterqueues.{GROUP}").code == 200:
        pytest.skip("a cluster without Kueue")
    for kind, scope in (("ClusterQueue", "Cluster"), ("LocalQueue", "Namespaced")):
        answer = cluster.ask("POST", DEFINITIONS, definition(kind, scope))
        assert answer.code == 201, answer.message
    until(lambda: True if cluster.kubectl("get", "localqueues,clusterqueues").code == 0 else None, "the CRDs")
    yield
    for kind in ("clusterqueues", "localqueues"):
        cluster.ask("DELETE", f"{DEFINITIONS}/{kind}.{GROUP}")


def definition(kind: str, scope: str) -> Tree:
    """Return a CRD that accepts any spec and status."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1beta2",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}},
        "subresources": {"status": {}},
    }
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [version],
        },
    }


def test_the_current_use_of_a_queue(
    cluster: Cluster, queues: None, empty_repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", cluster.kubeconfig)
    namespace = cluster.namespace("queues")
    Path("train.yaml").write_text(JOB.format(namespace=namespace))
    cluster.apply(load(QUEUES.format(namespace=namespace)))
    cluster.apply(load(run("build", "train.yaml").out))
    assert figures() == [("12", "8", True, None)]
    rows = [{"name": "any", "resources": [{"name": "cpu", "total": "7", "borrowed": "0"}]}]
    status = json.dumps({"status": {"flavorsUsage": rows}})
    done = cluster.kubectl("patch", "clusterqueue", namespace, "--subresource=status", "--type=merge", "-p", status)
    assert done.code == 0, done.err
    assert figures() == [("12", "8", True, "7")]
    out = run("diff", "--live", "train.yaml").out
    assert "nothing changes: 1 object is unchanged\n" in out
    assert out.endswith(f"ClusterQueue {namespace}: requests 12 of 8 cpu exceeds the quota; in use now: 7 cpu\n")


def figures() -> list[tuple[str, str, bool, str | None]]:
    """Return the requests, the quota and the use of each resource."""
    review = json.loads(run("diff", "--live", "--format", "json", "train.yaml").out)
    [queue] = review["queues"]
    return [(each["requested"], each["quota"], each["exceeded"], each.get("used")) for each in queue["resources"]]


def test_an_admitted_jobset_is_unchanged(
    cluster: Cluster, empty_repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kueue writes node selectors and tolerations, and the empty structs of Go."""
    monkeypatch.setenv("KUBECONFIG", cluster.kubeconfig)
    namespace = cluster.namespace("queues")
    Path("train.yaml").write_text(JOB.format(namespace=namespace))
    [tree] = load(run("build", "train.yaml").out)
    job = Job(cluster, [put(tree, ("spec", "suspend"), True)], "client")
    assert job.apply().code == 0
    job.update(lambda stored: admit(as_go_types(stored)))
    done = run("diff", "--live", "--exit-code", "train.yaml")
    assert (done.code, done.out.splitlines()[1]) == (0, "nothing changes: 1 object is unchanged"), done.out
