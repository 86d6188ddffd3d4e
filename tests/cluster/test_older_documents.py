"""A document of an older release is an error of `validate` exactly if a cluster of the stated release refuses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster.server import Cluster, Done, until
from cluster.test_controller import NOT_YET_SEEN
from running import run

Tree = dict[str, Any]
RUNTIME: Tree = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainingRuntime",
    "metadata": {"name": "older-torch"},
    "spec": {
        "mlPolicy": {"torch": {}},
        "template": {
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                            "spec": {"template": {"spec": {"containers": [{"name": "node", "image": "a:1"}]}}},
                        },
                    }
                ]
            }
        },
    },
}
JOB: Tree = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "older"},
    "spec": {"runtimeRef": {"name": "older-torch", "kind": "TrainingRuntime"}},
}


def older_job(**spec: Any) -> Tree:
    return JOB | {"spec": JOB["spec"] | spec}


def policy(**torch: Any) -> Tree:
    return RUNTIME | {"spec": RUNTIME["spec"] | {"mlPolicy": {"torch": torch}}}


CASES = {
    "overrides": older_job(
        podTemplateOverrides=[{"targetJobs": [{"name": "node"}], "spec": {"nodeSelector": {"a": "b"}}}]
    ),
    "labels": older_job(labels={"team": "nlp"}),
    "word": older_job(trainer={"numProcPerNode": "auto"}),
    "version": JOB | {"apiVersion": "kubeflow.org/v2alpha1"},
    "runtime": policy(numProcPerNode="auto"),
    "runtime-number": policy(numProcPerNode=2),
    "own-form": older_job(trainer={"numProcPerNode": 2}),
}


@pytest.mark.parametrize("case", CASES)
def test_verdict(
    case: str, cluster: Cluster, counted: Callable[[str, int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = cluster.namespace(f"older-{case}")
    metadata = {"namespace": namespace}
    document = CASES[case] | {"metadata": CASES[case]["metadata"] | metadata}
    documents = [document]
    if document["kind"] == "TrainJob":
        documents.append(RUNTIME | {"metadata": RUNTIME["metadata"] | metadata})
        cluster.apply(documents[1:])

    def answer() -> Done | None:
        found = cluster.kubectl("apply", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(document))
        return None if NOT_YET_SEEN in found.err else found

    done = until(answer, "the webhook sees the runtime")
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(yaml.safe_dump_all(documents), encoding="utf-8")
    assert run("validate", "--trainer-version", "2.3").code == (1 if done.code else 0), done.err
    assert run("validate").code == 0
    assert ("warning[older-" in run("validate").out) == bool(done.code)
    assert ("error[older-" in run("validate", "--strict").out) == bool(done.code)
    Path("trainc.yaml").write_text('trainerVersion: "2.3"\noutput: rendered\n', encoding="utf-8")
    noted = run("validate")
    assert noted.code == 0
    assert ("note[older-" in noted.out + noted.err) == bool(done.code)
    counted("documents of older releases", 1)
