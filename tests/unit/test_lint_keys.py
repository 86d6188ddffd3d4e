"""Lint rules for the keys of queues and for schedulers: inputs with and without findings, and the carets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from linting import fires, marked, replicated, runtime_of, silent, trainjob, warnings
from manifests import ANCESTOR
from purposes import ALL_RULES
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.compilation.run import Options
from trainc.pipeline.lint.triggers import IGNORE
from trainc.settings import Settings

KUEUE, VOLCANO = "kueue.x-k8s.io/", "scheduling.volcano.sh/"
JOBSET, KAI = "alpha.jobset.sigs.k8s.io/", "kai.scheduler/"
GANG: dict[str, Any] = {"volcano": {}}
OF_VOLCANO = replicated(pod={"schedulerName": "volcano"})
OF_YUNIKORN = replicated(pod={"schedulerName": "yunikorn"})
GROUP = {"schedulingGroup": {"podGroupName": "a"}}
TASK_GROUP = replicated(of_pods={"annotations": {"yunikorn.apache.org/task-group-name": "a"}})
OTHER_GROUP = replicated(of_pods={"annotations": {"yunikorn.apache.org/queue": "a"}})
OF_KAI = replicated(pod={"schedulerName": "kai-scheduler"})


def job_with(field: str, key: str, value: str = "a") -> dict[str, Any]:
    """Return a replicated job with a label or an annotation of its Job template."""
    job = replicated()
    job["template"]["metadata"] = {"labels": ANCESTOR, field: {**(ANCESTOR if field == "labels" else {}), key: value}}
    return job


def template_with(key: str, value: str = "a", gang: Any = None) -> dict[str, Any]:
    """Return a runtime with an annotation of its template."""
    made = runtime_of(OF_VOLCANO, gang=gang)
    made["spec"]["template"]["metadata"] = {"annotations": {key: value}}
    return made


KEYS = [
    *(
        fires("key-not-read", runtime_of(), trainjob(numNodes=2, labels={key: "a"}), id=key)
        for key in (
            *(KUEUE + name for name in ("queuename", "queue_name", "queue-names", "Queue-Name")),
            *("kueue.x-k8s-io/queue-name", KAI + "queues"),
        )
    ),
    *(
        silent("key-not-read", runtime_of(), trainjob(labels={key: "a"}), id=key)
        for key in (
            KUEUE + "queue-name",
            KUEUE + "priority-class",
            KUEUE + "some-new-key",
            KAI + "queue",
            "acme.io/queue",
        )
    ),
    fires("key-not-read", runtime_of(), trainjob(annotations={KUEUE + "queue-name": "a"}), id="an annotation"),
    fires("key-not-read", runtime_of(), trainjob(labels={KUEUE + "podset-required-topology": "a"}), id="a label"),
    fires(
        "key-not-read",
        runtime_of(),
        trainjob(annotations={KUEUE + "podset-preferred-topology": "a"}),
        id="the TrainJob",
    ),
    fires(
        "key-not-read",
        runtime_of(job_with("annotations", KUEUE + "podset-unconstrained-topology", "true")),
        trainjob(),
        id="a Job template",
    ),
    silent(
        "key-not-read",
        runtime_of(replicated(of_pods={"annotations": {KUEUE + "podset-required-topology": "a"}})),
        trainjob(),
        id="a pod template",
    ),
    fires(
        "key-not-read",
        runtime_of(OF_VOLCANO, gang=GANG),
        trainjob(annotations={VOLCANO + "queue-name": "a"}),
        id="Volcano's queue in the TrainJob",
    ),
    silent(
        "key-not-read", template_with(VOLCANO + "queue-name", gang=GANG), trainjob(), id="in the runtime's template"
    ),
    fires(
        "key-not-read",
        runtime_of(OF_VOLCANO, gang=GANG),
        trainjob(labels={VOLCANO + "queue-name": "a"}),
        id="Volcano's queue as a label",
    ),
    silent("key-not-read", runtime_of(), trainjob(annotations={JOBSET + "exclusive-topology": "rack"}), id="JobSet"),
    fires(
        "key-not-read", runtime_of(), trainjob(labels={JOBSET + "exclusive-topology": "rack"}), id="JobSet's as a label"
    ),
    fires("key-not-read", runtime_of(), trainjob(annotations={KAI + "queue": "a"}), id="KAI's as an annotation"),
]
SCHEDULERS = [
    fires("gang-scheduler", runtime_of(gang=GANG), trainjob(), id="no schedulerName"),
    fires(
        "gang-scheduler",
        runtime_of(replicated(pod={"schedulerName": "default-scheduler"}), gang=GANG),
        trainjob(),
        id="the default scheduler",
    ),
    fires("gang-scheduler", runtime_of(OF_VOLCANO, replicated(name="fetch"), gang=GANG), trainjob(), id="other pods"),
    silent("gang-scheduler", runtime_of(OF_VOLCANO, gang=GANG), trainjob(), id="Volcano's scheduler"),
    silent("gang-scheduler", runtime_of(gang={"coscheduling": {}}), trainjob(), id="coscheduling"),
    silent("no-gang", runtime_of(OF_KAI), trainjob(numNodes=2), id="KAI"),
    silent("no-gang", runtime_of(OF_YUNIKORN), trainjob(numNodes=2), id="a scheduler that may form gangs"),
    silent("no-gang", runtime_of(replicated(pod=GROUP)), trainjob(numNodes=2), id="a group of Kubernetes"),
    silent("no-gang", runtime_of(TASK_GROUP), trainjob(numNodes=2), id="a task group of YuniKorn"),
    fires("no-gang", runtime_of(OF_VOLCANO), trainjob(numNodes=2), id="a scheduler that forms no gangs"),
    fires("no-gang", runtime_of(OTHER_GROUP), trainjob(numNodes=2), id="another annotation"),
]


@pytest.mark.parametrize(("documents", "rules"), [*KEYS, *SCHEDULERS])
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    found = warnings(tmp_path, *documents, purpose=ALL_RULES)
    assert [d.id for d in found] == rules
    assert not rules or texts(found) == snapshot


@pytest.mark.parametrize(
    ("annotations", "disable", "rules"),
    [
        pytest.param({}, set(), ["key-not-read"], id="one report for the queue"),
        pytest.param({}, {"key-not-read"}, ["no-gang"], id="disabled in the settings"),
        pytest.param({IGNORE: "key-not-read"}, set(), ["no-gang"], id="disabled in the TrainJob"),
    ],
)
def test_a_misspelled_queue_is_not_a_missing_gang(
    tmp_path: Path, annotations: dict[str, str], disable: set[str], rules: list[str]
) -> None:
    job = trainjob(numNodes=2, labels={KUEUE + "queuename": "a"}, annotations=annotations)
    options = Options(settings=Settings(disable=frozenset(disable)))
    assert [d.id for d in warnings(tmp_path, runtime_of(), job, options=options, purpose=ALL_RULES)] == rules


def manifest(metadata: str, of_runtime: str = "", pod: str = "") -> str:
    """Return a TrainJob with metadata, and a runtime with a gang of Volcano."""
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: j, {metadata}}}
spec:
  runtimeRef: {{name: r}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: r}}
spec:
  mlPolicy: {{torch: {{}}}}
  podGroupPolicy: {{volcano: {{}}}}
  template:
    {of_runtime}
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                {pod}
                containers: [{{name: node, image: "i:1", resources: {{requests: {{cpu: 1}}}}}}]
"""


@pytest.mark.parametrize(
    ("text", "id", "mark", "message"),
    [
        pytest.param(
            manifest("labels: {kueue.x-k8s.io/queuename: a}", pod="schedulerName: volcano"),
            "key-not-read",
            "kueue.x-k8s.io/queuename",
            "Kueue does not read kueue.x-k8s.io/queuename: the key is kueue.x-k8s.io/queue-name, a label of the "
            "TrainJob",
            id="a misspelled key",
        ),
        pytest.param(
            manifest("annotations: {kueue.x-k8s.io/queue-name: a}", pod="schedulerName: volcano"),
            "key-not-read",
            "kueue.x-k8s.io/queue-name",
            "Kueue does not read kueue.x-k8s.io/queue-name as an annotation",
            id="an annotation",
        ),
        pytest.param(
            manifest("annotations: {kueue.x-k8s.io/podset-required-topology: a}", pod="schedulerName: volcano"),
            "key-not-read",
            "kueue.x-k8s.io/podset-required-topology",
            "Kueue does not read kueue.x-k8s.io/podset-required-topology in the JobSet",
            id="the wrong object",
        ),
        pytest.param(
            manifest("annotations: {scheduling.volcano.sh/queue-name: a}", pod="schedulerName: volcano"),
            "key-not-read",
            "scheduling.volcano.sh/queue-name",
            "Trainer does not read scheduling.volcano.sh/queue-name of the TrainJob, so that the PodGroup gets the "
            "queue default",
            id="Volcano's queue",
        ),
        pytest.param(
            manifest("labels: {}"),
            "gang-scheduler",
            "spec",
            "podGroupPolicy.volcano creates a PodGroup, but the default scheduler, which does not read it, places the "
            'pods of job "node"',
            id="no scheduler",
        ),
    ],
)
def test_text_and_caret(tmp_path: Path, text: str, id: str, mark: str, message: str) -> None:
    assert marked(tmp_path, text) == [(id, "warning", mark, message)]
