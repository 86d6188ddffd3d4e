"""JobSets under Kueue: applying a manifest again restarts and resumes nothing, and server-side it changes nothing.

A simulated Kueue: a MutatingAdmissionPolicy suspends a JobSet on creation, like Kueue's webhook. A second field
manager, `kueue`, resumes it on admission, and writes node selector, tolerations and labels into the pod templates. Like
Kueue, it sends the whole object as Go types write it, with empty structs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from cluster.server import Cluster, Done, path_of, stream, until

from trainc.compilation import compile_paths
from trainc.compilation.run import PLAIN

Tree = dict[str, Any]
GOLDEN: Final = Path(__file__).parents[2] / "golden"
QUEUE: Final = "kueue.x-k8s.io/queue-name"
NAME: Final = "trainc-test"
"""No JobSet of another test is in this queue."""
JOBS: Final = {
    "plain": "single-gpu-script",
    "mpi": "mpi-solver",
    "initializer": "fetch-then-train",
}
"""The golden case of each job."""
APPLIES: Final = {"client": (), "server": ("--server-side",), "force": ("--server-side", "--force-conflicts")}
FINISH: Final = {"cluster.test/after": "20"}
"""The annotation that lets the pods succeed after so many seconds."""


class Job:
    """One JobSet, applied in one way."""

    def __init__(self, cluster: Cluster, objects: list[Tree], apply: str) -> None:
        self.cluster = cluster
        self.objects = objects
        self.apply_as = apply
        self.path = path_of(objects[0])
        self.namespace: str = objects[0]["metadata"]["namespace"]

    def apply(self) -> Done:
        return self.cluster.kubectl("apply", *APPLIES[self.apply_as], "--filename=-", stdin=stream(self.objects))

    def stored(self) -> Tree:
        answer = self.cluster.ask("GET", self.path)
        assert answer.code == 200, answer.message
        return answer.body

    def pods(self) -> dict[str, str]:
        """Return the pods' UIDs by name."""
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in self.cluster.list("Pod", self.namespace)}

    def update(self, change: Callable[[Tree], None]) -> None:
        """Change the JobSet as Kueue; try again after a conflict with JobSet's controller."""

        def updated() -> bool | None:
            tree = self.stored()
            change(tree)
            answer = self.cluster.ask("PUT", f"{self.path}?fieldManager=kueue", as_go_types(tree))
            assert answer.code in {200, 409}, answer.message
            return True if answer.code == 200 else None

        until(updated, f"update of {self.path}")

    def until_started(self) -> None:
        """Wait for the pods that the controllers create at once."""
        jobs = [job for job in self.objects[0]["spec"]["replicatedJobs"] if "dependsOn" not in job]
        wanted = sum(job.get("replicas", 1) * job["template"]["spec"].get("parallelism", 1) for job in jobs)
        until(lambda: len(self.pods()) == wanted or None, f"{wanted} pods of {self.path}")

    def until(self, condition: str) -> None:
        """Wait until the JobSet has a condition."""

        def has() -> bool | None:
            conditions = self.stored().get("status", {}).get("conditions", [])
            return any(one["type"] == condition and one["status"] == "True" for one in conditions) or None

        until(has, f"{condition} of {self.path}")

    def until_cleaned_up(self) -> None:
        """Wait until no Job is active: a completed JobSet deletes the Jobs that still run, and so their pods."""

        def is_cleaned_up() -> bool | None:
            jobs = self.cluster.list("Job", self.namespace)
            ended = all("completionTime" in job.get("status", {}) for job in jobs)
            left = {job["metadata"]["uid"] for job in jobs if "deletionTimestamp" not in job["metadata"]}
            pods = self.cluster.list("Pod", self.namespace)
            owned = all(pod["metadata"]["ownerReferences"][0]["uid"] in left for pod in pods)
            return (ended and owned) or None

        until(is_cleaned_up, f"no active Job of {self.path}")


def as_go_types(tree: Tree) -> Tree:
    """Return a JobSet as Go types write it."""
    for job in tree["spec"]["replicatedJobs"]:
        template = job["template"]["spec"]["template"]
        template.setdefault("metadata", {})
        for key in ("initContainers", "containers"):
            for container in template["spec"].get(key, ()):
                container.setdefault("resources", {})
    for policy in tree["spec"].get("volumeClaimPolicies", ()):
        for claim in policy["templates"]:
            claim.setdefault("status", {})
    return tree


def change_nothing(_: Tree) -> None:
    """Change nothing: the update only writes the object as Go types do."""


def admit(tree: Tree) -> None:
    tree["spec"]["suspend"] = False
    for job in tree["spec"]["replicatedJobs"]:
        template = job["template"]["spec"]["template"]
        template["metadata"].setdefault("labels", {})["kueue.x-k8s.io/podset"] = job["name"]
        template["spec"]["nodeSelector"] = {"accelerator": "h100"}
        template["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists"}]


@pytest.fixture(autouse=True)
def webhook(cluster: Cluster) -> Iterator[None]:
    """Suspend every JobSet in the queue on creation, as Kueue's webhook does."""
    path = "apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
    name = f"trainc-kueue-{os.getpid()}"
    suspend = '[JSONPatch{op: "add", path: "/spec/suspend", value: true}]'
    policy = {
        "metadata": {"name": name},
        "spec": {
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["jobset.x-k8s.io"],
                        "apiVersions": ["*"],
                        "operations": ["CREATE"],
                        "resources": ["jobsets"],
                    }
                ]
            },
            "matchConditions": [
                {"name": "queued", "expression": f"object.metadata.?labels[?'{QUEUE}'] == optional.of('{NAME}')"}
            ],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": suspend}}],
        },
    }
    created = cluster.ask("POST", path, policy)
    if created.code == 404:
        pytest.skip("a cluster with MutatingAdmissionPolicies: Kubernetes 1.36 or later")
    assert created.code == 201, created.message
    binding = {"metadata": {"name": name}, "spec": {"policyName": name}}
    assert cluster.ask("POST", path.replace("policies", "policybindings"), binding).code == 201
    probe = yaml.safe_load((GOLDEN / "single-gpu-script" / "expected.yaml").read_text())
    probe["metadata"] |= {"namespace": cluster.namespace("kueue-probe"), "labels": {QUEUE: NAME}}

    def active() -> bool | None:
        return True if cluster.try_create(probe).body.get("spec", {}).get("suspend") else None

    until(active, "the policy is in effect")
    yield
    for each in (path, path.replace("policies", "policybindings")):
        cluster.ask("DELETE", f"{each}/{name}")


def queued_objects(case: str, namespace: str, folder: Path) -> list[Tree]:
    """Return the objects of a golden case in a queue, with pods that finish."""
    documents = list(yaml.safe_load_all((GOLDEN / case / "input.yaml").read_text()))
    for document in documents:
        if document["kind"] == "TrainJob":
            document["metadata"] |= {"namespace": namespace, "labels": {QUEUE: NAME}}
    path = folder / f"{namespace}.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    done = compile_paths([str(path)], PLAIN)
    assert not done.failed, done.diagnostics
    objects = deepcopy(list(done.objects))
    for job in objects[0]["spec"]["replicatedJobs"]:
        template = job["template"]["spec"]["template"]
        template.setdefault("metadata", {}).setdefault("annotations", {}).update(FINISH)
    return objects


def meaning(tree: Tree) -> str:
    """Return the JobSet without status and without the fields by which the server and kubectl track changes."""
    metadata = {key: value for key, value in tree["metadata"].items() if key in ("labels", "annotations", "generation")}
    metadata["annotations"] = {k: v for k, v in metadata.get("annotations", {}).items() if "last-applied" not in k}
    return json.dumps({"metadata": metadata, "spec": tree["spec"]}, sort_keys=True)


def assert_unharmed(job: Job, state: str) -> None:
    """Apply twice more; nothing restarts and nothing is resumed or suspended."""
    before, pods = job.stored(), job.pods()
    for _ in range(2):
        done = job.apply()
        refused = job.apply_as == "client" and state != "pending" and "immutable" in done.err
        assert done.code == 0 or refused, done.err
        after = job.stored()
        assert after["spec"].get("suspend") == before["spec"].get("suspend")
        assert job.pods() == pods
        assert after["status"].get("restarts") == before["status"].get("restarts")
        if job.apply_as != "client":
            assert meaning(after) == meaning(before)


def test_the_same_manifest_again(cluster: Cluster, tmp_path: Path, counted: Callable[[str, int], None]) -> None:
    jobs = [
        Job(cluster, queued_objects(case, cluster.namespace(f"kueue-{name}-{apply}"), tmp_path), apply)
        for name, case in JOBS.items()
        for apply in APPLIES
    ]
    for job in jobs:
        done = job.apply()
        assert done.code == 0, done.err
        job.update(change_nothing)
    for job in jobs:
        job.until("Suspended")
        assert not job.pods()
        assert_unharmed(job, "pending")
    for job in jobs:  # one by one, because some of the pods end and others start after some seconds
        job.update(admit)
        job.until_started()
        assert_unharmed(job, "running")
    for job in jobs:
        job.until("Completed")
        job.until_cleaned_up()
        assert_unharmed(job, "finished")
    counted("applies of a queued JobSet: pending, running, finished", len(jobs) * 6)


@pytest.mark.parametrize("value", [True, False])
def test_a_manifest_with_suspend_is_harmful(cluster: Cluster, tmp_path: Path, value: bool) -> None:
    """The reason for difference suspend-unset: a forced apply of either value overrides Kueue."""
    job = Job(cluster, queued_objects("single-gpu-script", cluster.namespace("kueue-suspend"), tmp_path), "force")
    assert job.apply().code == 0
    assert job.stored()["spec"]["suspend"] is True
    if value:
        job.update(admit)
    job.objects[0]["spec"]["suspend"] = value
    assert job.apply().code == 0
    assert job.stored()["spec"]["suspend"] is value
