"""What the release of Kueue in the cluster serves, starts and manages (`trainc.kueue.release_faults`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run

from trainc.base.kinds import MPIJOB
from trainc.base.kueue_releases import KUEUE_RELEASES, ranges

LABELS = {"kueue.x-k8s.io/queue-name": "gpu"}
QUEUE = {"kind": "LocalQueue", "metadata": {"name": "gpu", "namespace": "ml"}, "spec": {"clusterQueue": "gpu"}}
JOB = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "bert", "namespace": "ml", "labels": LABELS},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}
CONTAINER = {"name": "pytorch", "image": "acme/resnet:1.4"}


def queue(version: str, kind: str = "LocalQueue", **spec: Any) -> dict[str, Any]:
    """Return an object of Kueue in a version of its API."""
    return {**QUEUE, "apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, **({"spec": spec} if spec else {})}


def legacy(kind: str, version: str = "kubeflow.org/v1", **spec: Any) -> dict[str, Any]:
    """Return a legacy job with a queue."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "old", "labels": LABELS}, "spec": spec}


PYTORCH = legacy("PyTorchJob", pytorchReplicaSpecs={"Master": {"template": {"spec": {"containers": [CONTAINER]}}}})
IDS = {"kueue-version", "queue-never-starts", "queue-not-managed"}


def found(*documents: dict[str, Any], settings: str = "", options: tuple[str, ...] = ()) -> list[str]:
    """Return the diagnostics about the release, each as its severity and its message."""
    Path("job.yaml").write_text(yaml.safe_dump_all(documents))
    Path("trainc.yaml").write_text(settings or "output: none\n")
    report = json.loads(run("validate", "--format", "json", *options).out)
    return [f"{each['severity']}: {each['message']}" for each in report if each["id"] in IDS]


def test_the_page_has_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "kueue.md").read_text()
    for release in KUEUE_RELEASES:
        legacy = ", ".join([MPIJOB.kind, *sorted(release.legacy)])
        served, trainers = ", ".join(release.served), ranges(release.trainers)
        assert f"\n| `{release.name}` | {served} | Trainer {trainers} | `{release.patches}` | {legacy} |\n" in page


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(
    ("document", "version", "expected"),
    [
        pytest.param(queue("v1beta1"), "0.19", [], id="served"),
        pytest.param(queue("v1beta1"), "0.20", ["error: Kueue v0.20 does not serve v1beta1 of LocalQueue"], id="gone"),
        pytest.param(queue("v1beta1"), "", ["warning: Kueue v0.20 does not serve v1beta1 of LocalQueue"], id="unset"),
        pytest.param(queue("v1beta2"), "", [], id="newest, unset"),
        pytest.param(queue("v1beta2"), "0.15", [], id="newest"),
        pytest.param(queue("v1beta2"), "0.14", ["error: Kueue v0.14 does not serve v1beta2 of LocalQueue"], id="early"),
        pytest.param(
            queue("v1alpha1", "Cohort"), "", ["warning: Kueue v0.20 does not serve v1alpha1 of Cohort"], id="alpha"
        ),
    ],
)
def test_an_api_version(document: dict[str, Any], version: str, expected: list[str]) -> None:
    assert found(document, options=("--kueue-version", version) if version else ()) == expected


@pytest.mark.usefixtures("empty_folder")
def test_the_objects_of_a_kind_are_one_fault_with_the_renamed_fields() -> None:
    queues = [queue("v1beta1", "ClusterQueue", cohort="all"), queue("v1beta1", "ClusterQueue", admissionChecks=["a"])]
    queues[1]["metadata"] = {"name": "other"}
    assert found(*queues) == ["warning: Kueue v0.20 does not serve v1beta1 of ClusterQueue (and 1 more ClusterQueue)"]
    (error,) = (each for each in json.loads(run("validate", "--format", "json").out) if each["id"] == "kueue-version")
    assert error["help"] == (
        "use kueue.x-k8s.io/v1beta2, where cohort is cohortName; or set kueueVersion, if the cluster has an older Kueue"
    )


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(
    ("kueue", "trainer", "works"),
    [
        *((name, "2.1", name in {"0.14", "0.15", "0.16"}) for name in ("0.14", "0.16", "0.17", "0.20")),
        *((name, "2.2", name in {"0.17", "0.18", "0.19"}) for name in ("0.16", "0.17", "0.19", "0.20")),
        *((name, "2.3", name != "0.16") for name in ("0.16", "0.17", "0.20")),
    ],
)
def test_a_pair_of_releases(kueue: str, trainer: str, works: bool) -> None:
    faults = found(JOB, options=("--kueue-version", kueue, "--trainer-version", trainer))
    start = f"error: Kueue v{kueue} does not work with Trainer v{trainer}: it starts TrainJobs by "
    assert [fault[: len(start)] for fault in faults] == ([] if works else [start])


@pytest.mark.usefixtures("empty_folder")
def test_a_pair_matters_only_to_trainjobs_in_the_cluster() -> None:
    older = "kueueVersion: 0.18\ntrainerVersion: 2.1\n"
    assert len(found(JOB, settings=f"{older}output: none\n")) == 1
    assert found(JOB, settings=f"{older}output: rendered\n") == []
    assert found({**JOB, "metadata": {"name": "bert"}}, settings=f"{older}output: none\n") == []
    (unstated,) = found(JOB, settings="kueueVersion: 0.16\noutput: none\n")
    assert unstated.startswith("warning: Kueue v0.16 does not work with Trainer v2.3")


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(
    ("document", "version", "expected"),
    [
        pytest.param(PYTORCH, "0.18", "", id="managed"),
        pytest.param(PYTORCH, "0.19", "warning: Kueue v0.19 does not manage PyTorchJobs by default", id="no longer"),
        pytest.param(PYTORCH, "", "note: Kueue does not manage PyTorchJobs by default since v0.19", id="unset"),
        pytest.param(legacy("MPIJob", "kubeflow.org/v2beta1"), "0.20", "", id="MPIJob"),
        pytest.param(legacy("MPIJob"), "", "warning: Kueue does not manage MPIJobs of kubeflow.org/v1", id="v1"),
        pytest.param(legacy("MXJob"), "0.14", "warning: Kueue does not manage MXJobs of kubeflow.org/v1", id="MXJob"),
        pytest.param({**PYTORCH, "metadata": {"name": "old"}}, "0.19", "", id="no queue"),
    ],
)
def test_a_legacy_job(document: dict[str, Any], version: str, expected: str) -> None:
    faults = found(document, options=("--kueue-version", version) if version else ())
    tail = ": the job starts at once, without quota"
    assert faults == ([f"{expected}{tail}"] if expected else [])


@pytest.mark.usefixtures("empty_folder")
def test_a_legacy_job_that_becomes_a_jobset_is_managed() -> None:
    compiled = "kueueVersion: 0.19\nlegacy: {kinds: [PyTorchJob]}\n"
    assert found(PYTORCH, settings=f"{compiled}output: rendered\n") == []
    assert len(found(PYTORCH, settings=f"{compiled}output: none\n")) == 1


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"0.13"', '"0.13" is not a release of Kueue that trainc knows'),
        ("0.2", '"0.2" is not a release of Kueue that trainc knows'),
        ("19", '"19" is not a release of Kueue that trainc knows'),
        ("v0.19", '"v0.19" is not a release of Kueue that trainc knows'),
        ("[0.19]", '"" is not a release of Kueue that trainc knows'),
    ],
)
def test_a_wrong_setting(text: str, message: str) -> None:
    Path("job.yaml").write_text(yaml.safe_dump(JOB))
    for layer in (f"kueueVersion: {text}\n", f"environments: {{a: {{kueueVersion: {text}}}}}\n"):
        Path("trainc.yaml").write_text(layer)
        (error,) = json.loads(run("validate", "--format", "json").out)
        assert (error["id"], error["message"]) == ("cluster-version", message)


@pytest.mark.usefixtures("empty_folder")
def test_the_environments_of_a_cluster_have_one_kueue() -> None:
    Path("job.yaml").write_text(yaml.safe_dump(JOB))
    Path("trainc.yaml").write_text(
        "environments: {a: {kueueVersion: 0.19}, b: {}, c: {kueueVersion: 0.20}, d: {cluster: x, kueueVersion: 0.18}}\n"
    )
    (error,) = json.loads(run("validate", "--format", "json").out)
    assert error["message"] == (
        "the environments a and c of one cluster have different values of kueueVersion: 0.19 and 0.20"
    )
