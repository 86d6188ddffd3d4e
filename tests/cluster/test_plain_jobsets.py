"""JobSets as users write them, valid and with one mistake each: the cluster accepts those that trainc accepts.

A mistake in a pod template is found when the Jobs are created: the JobSet itself is accepted. The pods of the valid
ones are those of `trainc pods`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from cluster.server import Cluster, collection, until
from cluster.test_pods import _assert_same, _key, _previewed_pods, _real_key

import trainc
from trainc.api.public_results import Result
from trainc.compilation.run import Options
from trainc.kubernetes.trees import Path as Steps
from trainc.kubernetes.trees import put, removed_at
from trainc.pipeline.checks import created_jobs

Tree = dict[str, Any]

VALID = 40
JOB: Steps = ("spec", "replicatedJobs", 0)
JOB_SPEC: Steps = (*JOB, "template", "spec")
POD: Steps = (*JOB_SPEC, "template", "spec")
CONTAINER: Steps = (*POD, "containers", 0)


class Mistake(NamedTuple):
    """A wrong value of a field; None removes the field."""

    path: Steps
    value: Any


MISTAKES = (
    # The schema and the rules of the CRD
    Mistake((*JOB, "replicas"), "two"),
    Mistake((*JOB, "template"), None),
    Mistake((*JOB, "name"), None),
    Mistake(("spec", "failurePolicy"), {"restartStrategy": "Sometimes"}),
    Mistake(("spec", "failurePolicy"), {"maxRestarts": "3"}),
    Mistake(("spec", "failurePolicy"), {"rules": [{"targetReplicatedJobs": ["worker"]}]}),
    Mistake(("spec", "successPolicy"), {"targetReplicatedJobs": ["worker"]}),
    Mistake(("spec", "successPolicy"), {"operator": "Most"}),
    Mistake(("spec", "startupPolicy"), {"startupPolicyOrder": "Reverse"}),
    Mistake(("spec", "network"), {"subdomain": 3}),
    Mistake(("spec", "ttlSecondsAfterFinished"), -1),
    Mistake(("spec", "suspend"), "yes"),
    Mistake((*JOB_SPEC, "parallelism"), 1.5),
    Mistake((*CONTAINER, "env"), [{"name": "A", "value": 1}]),
    Mistake((*CONTAINER, "env"), [{"value": "1"}]),
    Mistake((*CONTAINER, "ports"), [{"containerPort": "80"}]),
    Mistake((*CONTAINER, "command"), "python"),
    Mistake((*POD, "containers"), None),
    Mistake((*POD, "nodeSelector"), {"zone": 1}),
    Mistake(("metadata", "name"), "Big_Name"),
    Mistake(("metadata", "labels"), {"team": "a b"}),
    Mistake(("metadata", "annotations"), {"no key!": "a"}),
    # JobSet's webhook
    Mistake(("metadata", "name"), "n" * 60),
    Mistake((*JOB, "name"), "w" * 62),
    Mistake(("spec", "successPolicy"), {"operator": "Any", "targetReplicatedJobs": ["workers"]}),
    Mistake(("spec", "failurePolicy"), {"rules": [{"action": "FailJobSet", "targetReplicatedJobs": ["x"]}]}),
    Mistake(("spec", "failurePolicy"), {"rules": [{"action": "FailJobSet", "onJobFailureReasons": ["Bored"]}]}),
    Mistake(("spec", "failurePolicy"), {"rules": [{"action": "RestartJob"}]}),
    Mistake(("spec", "failurePolicy"), {"restartStrategy": "InPlaceRestart"}),
    Mistake(("spec", "coordinator"), {"replicatedJob": "x"}),
    Mistake(("spec", "coordinator"), {"replicatedJob": "worker", "jobIndex": 9}),
    Mistake(("spec", "coordinator"), {"replicatedJob": "worker", "podIndex": 9}),
    Mistake(("spec", "network"), {"subdomain": "Net"}),
    Mistake(("spec", "managedBy"), "nobody"),
    Mistake((*JOB, "dependsOn"), [{"name": "later", "status": "Complete"}]),
    # The Jobs and the pods
    Mistake((*POD, "restartPolicy"), "Always"),
    Mistake((*JOB_SPEC, "backoffLimit"), -1),
    Mistake((*JOB_SPEC, "parallelism"), -1),
    Mistake((*JOB_SPEC, "completions"), None),
    Mistake((*JOB_SPEC, "activeDeadlineSeconds"), -5),
    Mistake((*JOB_SPEC, "podReplacementPolicy"), "Later"),
    Mistake((*JOB_SPEC, "podFailurePolicy"), {"rules": [{"action": "FailJob"}]}),
    Mistake((*CONTAINER, "image"), None),
    Mistake((*CONTAINER, "name"), "Main"),
    Mistake((*CONTAINER, "imagePullPolicy"), "Sometimes"),
    Mistake((*CONTAINER, "ports"), [{"containerPort": 295000}]),
    Mistake((*CONTAINER, "ports"), [{"containerPort": 80, "name": "a-very-long-port-name"}]),
    Mistake((*CONTAINER, "env"), [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.image"}}}]),
    Mistake((*CONTAINER, "volumeMounts"), [{"name": "data", "mountPath": "/data"}]),
    Mistake((*CONTAINER, "resources"), {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
    Mistake((*CONTAINER, "resources"), {"requests": {"nvidia.com/gpu": 1}}),
    Mistake((*CONTAINER, "resources"), {"limits": {"nvidia.com/gpu": "500m"}}),
    Mistake((*CONTAINER, "livenessProbe"), {"periodSeconds": 5}),
    Mistake((*CONTAINER, "securityContext"), {"privileged": True, "allowPrivilegeEscalation": False}),
    Mistake((*POD, "volumes"), [{"name": "data"}, {"name": "data"}]),
    Mistake((*POD, "volumes"), [{"name": "data", "emptyDir": {}, "hostPath": {"path": "/a"}}]),
    Mistake((*POD, "tolerations"), [{"operator": "Exists", "value": "a"}]),
    Mistake((*POD, "activeDeadlineSeconds"), -1),
    Mistake((*POD, "dnsPolicy"), "Cluster"),
    Mistake((*CONTAINER, "terminationMessagePolicy"), "Never"),
)


def jobset(random: Random, name: str, namespace: str) -> Tree:
    """Return a valid JobSet with a job `worker`, and perhaps another one."""
    jobs = [_job(random, "worker"), *([_job(random, "driver")] if random.random() < 0.4 else [])]
    spec: Tree = {"replicatedJobs": jobs}
    if random.random() < 0.3:
        spec["network"] = {"subdomain": f"{name}-net"}
    if random.random() < 0.3:
        spec["failurePolicy"] = {"maxRestarts": random.randrange(4), "rules": [{"action": "FailJobSet"}]}
    if random.random() < 0.3:
        spec["successPolicy"] = {"operator": "Any", "targetReplicatedJobs": ["worker"]}
    metadata = {"name": name, "namespace": namespace, "labels": {"app": name}}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def _job(random: Random, name: str) -> Tree:
    pods = random.randrange(1, 4)
    env = [
        {"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/job-index']"}}},
        {"name": "SIZE", "value": str(pods)},
    ]
    container: Tree = {"name": "main", "image": "train:1", "env": env[: random.randrange(3)]}
    if random.random() < 0.5:
        container["resources"] = {"limits": {"cpu": random.randrange(1, 3), "memory": "1Gi"}}
    pod: Tree = {"containers": [container]}
    if random.random() < 0.5:
        pod["restartPolicy"] = random.choice(["Never", "OnFailure"])
    template: Tree = {"spec": pod}
    if random.random() < 0.3:
        template["metadata"] = {"annotations": {"note": "a"}, "labels": {"role": name}}
    job_spec: Tree = {"parallelism": pods, "completions": pods, "template": template}
    replicas = {"replicas": random.choice([0, 1, 2])} if random.random() < 0.5 else {}
    return {"name": name, **replicas, "template": {"spec": job_spec}}


def with_mistake(tree: Tree, mistake: Mistake) -> Tree:
    """Return a JobSet with one mistake."""
    if mistake.value is None:
        wrong: Tree = removed_at(tree, mistake.path)
    else:
        wrong = put(tree, mistake.path, mistake.value)
    return wrong


def checked(folder: Path, tree: Tree) -> Result:
    """Return the result of trainc for a JobSet."""
    file = folder / "jobset.json"
    file.write_text(json.dumps(tree))
    return trainc.compile([str(file)], options=Options(no_config=True))


def test_verdicts_and_pods(cluster: Cluster, counted: Callable[[str, int], None], tmp_path: Path) -> None:
    namespace, random = cluster.namespace("plain"), Random(7)
    wrong: list[str] = []
    stages: Counter[str] = Counter()
    for number, mistake in enumerate(MISTAKES):
        right = put(jobset(random, f"m{number}", namespace), (*JOB, "replicas"), 1)  # with 0 there are no Jobs
        tree = with_mistake(right, mistake)
        errors = [each for each in checked(tmp_path, tree).diagnostics if each.severity == "error"]
        later = {each.stage for each in errors} == {"job"}
        answer = cluster.try_create(tree)
        # The webhook adds the empty names of Go types, so that the Jobs are rejected instead.
        is_refused = answer.code >= 300 or _jobs_are_refused(cluster, tree)
        if not errors or not is_refused or (later and answer.code >= 300):
            wrong.append(f"{mistake}: trainc says {errors}, the server {answer.code} {answer.message}")
        stages.update({each.stage for each in errors})
    assert not wrong, "\n".join(wrong)
    assert {"schema", "jobset", "job"} <= set(stages)
    counted("JobSets with one mistake", len(MISTAKES))

    valid = [jobset(random, f"v{number}", namespace) for number in range(VALID)]
    stored = []
    for tree in valid:
        result = checked(tmp_path, tree)
        assert not result.failed, result.diagnostics
        stored += [deepcopy(dict(each.objects[0])) for each in result.jobsets]
        assert cluster.create(tree).code == 201
    wanted = {_key(pod): pod for tree in stored for pod in _previewed_pods(tree, stored)}

    def created() -> bool | None:
        return len(cluster.list("Pod", namespace)) >= len(wanted) or None

    with suppress(AssertionError):
        until(created, "the pods")
    real = {_real_key(pod): pod for pod in cluster.list("Pod", namespace)}
    assert real.keys() == wanted.keys()
    for key, pod in wanted.items():
        _assert_same(pod, real[key])
    cluster.ask("DELETE", collection("JobSet", namespace))
    counted("valid JobSets", VALID)
    counted("pods of valid JobSets", len(wanted))


def _jobs_are_refused(cluster: Cluster, tree: Tree) -> bool:
    """Return whether the server rejects a Job of a JobSet with the defaults of JobSet's webhook."""
    for replicated in tree["spec"]["replicatedJobs"]:
        job = {"replicas": 1, "groupName": "default"} | deepcopy(replicated)
        job["template"]["spec"].setdefault("completionMode", "Indexed")
        job["template"]["spec"]["template"]["spec"].setdefault("restartPolicy", "OnFailure")
        if cluster.try_create(created_jobs.make_job(tree, job)).code >= 300:
            return True
    return False
