"""A cluster that gets the JobSet and no TrainJob: its commands, the switch and the way back (docs/two-ways.md)."""

from __future__ import annotations

from typing import Any

from cluster.cases import GOLDEN
from cluster.life import EXIT, RUNS_ON, wait, with_endings
from cluster.server import Cluster, until

import trainc
from trainc.compilation import compile_paths
from trainc.compilation.run import PLAIN
from trainc.kubernetes.trees import put

Tree = dict[str, Any]


def test_only_the_jobset_is_there(alive: Cluster) -> None:
    """Its suspension deletes the pods, and its deletion leaves the PodGroup."""
    namespace, name = _started(alive, "gang-coscheduling")
    until(lambda: _running(alive, namespace) or None, "running pods")
    listed = alive.kubectl("get", "trainjobs", "--namespace", namespace)
    assert (listed.code, listed.out) == (0, "")
    patch = ["patch", "jobset", name, "--namespace", namespace, "--type=merge", "--patch"]
    assert alive.kubectl(*patch, '{"spec": {"suspend": true}}').code == 0
    wait(alive, namespace, name, "Suspended")
    until(lambda: not alive.list("Pod", namespace) or None, "no pods")
    assert alive.kubectl(*patch, '{"spec": {"suspend": false}}').code == 0
    until(lambda: _running(alive, namespace) or None, "running pods again")
    assert alive.kubectl("delete", "jobset", name, "--namespace", namespace).code == 0
    until(lambda: not alive.list("Pod", namespace) or None, "no pods of a deleted JobSet")
    assert [group["metadata"]["name"] for group in alive.list("PodGroup", namespace)] == [name]
    assert alive.list("JobSet", namespace) == []


def _started(cluster: Cluster, case: str) -> tuple[str, str]:
    """Apply a golden case, whose pods run on; return the JobSet's namespace and name."""
    namespace = cluster.namespace("two-ways")
    compiled = compile_paths([str(GOLDEN / case / "input.yaml")], PLAIN).jobs[0].objects
    objects = [put(tree, ("metadata", "namespace"), namespace) for tree in compiled]
    (jobset,) = (tree for tree in objects if tree["kind"] == "JobSet")
    running = with_endings(jobset, lambda _: {EXIT: RUNS_ON})
    cluster.apply([running if tree is jobset else tree for tree in objects])
    return namespace, str(jobset["metadata"]["name"])


def _running(cluster: Cluster, namespace: str) -> bool:
    phases = {pod["status"].get("phase") for pod in cluster.list("Pod", namespace)}
    return phases == {"Running"}


SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: bert}
spec: {clusterIP: None, selector: {training.kubeflow.org/job-name: bert}}
"""


def test_the_switch_and_the_way_back(cluster: Cluster) -> None:
    """The steps of docs/two-ways.md, and what happens without the deletion of the TrainJob."""
    namespace = cluster.namespace("switch")
    rendered = trainc.render(trainc.compile(text=JOB).objects)

    def done(verb: str, text: str) -> None:
        done = cluster.kubectl(verb, "--namespace", namespace, "-f", "-", stdin=text)
        assert done.code == 0, done.err

    def owners() -> list[str] | None:
        """Return the kinds of the owners of the JobSet; None if there is no JobSet."""
        jobset = cluster.get("JobSet", namespace, "bert")
        return None if jobset is None else [owner["kind"] for owner in jobset["metadata"].get("ownerReferences", ())]

    def status() -> Any:
        return (cluster.get("TrainJob", namespace, "bert") or {}).get("status", {})

    done("apply", JOB)
    until(lambda: owners() == ["TrainJob"] or None, "the JobSet of the TrainJob")
    done("apply", rendered)
    done("delete", JOB)
    until(lambda: owners() is None or None, "the deletion of the JobSet with the TrainJob")
    done("apply", rendered)
    assert owners() == []

    done("apply", JOB)
    until(lambda: "jobsStatus" in status() or None, "the status of the second TrainJob")
    done("delete", JOB)
    assert owners() == []
    done("delete", rendered)
    until(lambda: owners() is None or None, "the deletion of the JobSet")
    done("apply", JOB)
    until(lambda: owners() == ["TrainJob"] or None, "the JobSet of the TrainJob again")


def test_the_service_of_a_legacy_job(alive: Cluster) -> None:
    """JobSet uses a Service of its name as it is (docs/migration.md), so that the pods would have no addresses."""
    namespace = alive.namespace("service")
    for text in (SERVICE, trainc.render(trainc.compile(text=JOB).objects)):
        done = alive.kubectl("apply", "--namespace", namespace, "-f", "-", stdin=text)
        assert done.code == 0, done.err
    until(lambda: _running(alive, namespace) or None, "running pods")
    words = ("get", "service", "bert", "--namespace", namespace, "--output=jsonpath={.spec.selector}")
    assert alive.kubectl(*words).out == '{"training.kubeflow.org/job-name":"bert"}'


JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert}
spec:
  suspend: false
  runtimeRef: {name: torch-distributed}
  trainer: {image: "acme/bert:1", numNodes: 2, command: [torchrun, train.py], env: [{name: LR, value: "1"}]}
"""
PATCH = """\
  runtimePatches:
  - manager: acme.io/pools
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template: {spec: {template: {spec: {nodeSelector: {pool: a100}}}}}
"""
IMMUTABLE = {"bert:1": "bert:2", "numNodes: 2": "numNodes: 3", 'value: "1"': 'value: "2"', "torch-d": "jax-d"}
"""Edits of the TrainJob that the API server rejects."""


def test_a_changed_trainjob(cluster: Cluster) -> None:
    """The first table of docs/update-a-jobset.md, and the ways to get the new version."""
    namespace = cluster.namespace("trainjobs")

    def apply(text: str, *words: str) -> str:
        done = cluster.kubectl(*(words or ("apply",)), "--namespace", namespace, "-f", "-", stdin=text)
        return "" if done.code == 0 else done.err

    def jobset() -> Any:
        return cluster.get("JobSet", namespace, "bert")

    def pods() -> Any:
        return jobset()["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]

    suspended = JOB.replace("false", "true")
    for text in (JOB, suspended):
        assert apply(text) == ""
        until(jobset, "the JobSet")
        for old, new in IMMUTABLE.items():
            assert "field is immutable" in apply(text.replace(old, new))
    until(lambda: jobset()["spec"]["suspend"] or None, "the suspended JobSet")
    assert apply(suspended + PATCH) == ""
    until(lambda: pods().get("nodeSelector"), "the node selector of the patch")
    assert apply(JOB + PATCH) == ""
    until(lambda: jobset()["spec"]["suspend"] is False or None, "the resumed JobSet")
    assert "when the TrainJob is suspended" in apply(JOB)
    first = jobset()["metadata"]["uid"]
    assert cluster.kubectl("delete", "jobset", "bert", "--namespace", namespace).code == 0
    until(lambda: (jobset() or {"metadata": {"uid": first}})["metadata"]["uid"] != first or None, "a new JobSet")
    assert apply(JOB.replace("bert:1", "bert:2"), "replace", "--force") == ""
    until(lambda: (jobset() and pods()["containers"][0]["image"] == "acme/bert:2") or None, "the new image")
