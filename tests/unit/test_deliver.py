"""Delivery to a cluster that may have older objects: suspended JobSets, and replacement by Argo CD."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from purposes import internal

import trainc
from trainc.compilation.run import Options
from trainc.pipeline.objects import PLAIN, Delivery
from trainc.pipeline.passes.deliver import SYNC_OPTIONS, with_replace

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.mark.parametrize(
    ("existing", "wanted"),
    [
        ("", "Force=true,Replace=true"),
        ("Prune=false", "Prune=false,Force=true,Replace=true"),
        ("Prune=false , ServerSideApply=true,", "Prune=false,ServerSideApply=true,Force=true,Replace=true"),
        ("Force=true,Replace=true", "Force=true,Replace=true"),
        ("Replace=true", "Replace=true,Force=true"),
        ("Replace=false", "Replace=false,Force=true"),
    ],
)
def test_sync_options(existing: str, wanted: str) -> None:
    assert with_replace(existing) == wanted


def objects(case: str, delivery: Delivery = PLAIN) -> tuple[dict[str, Any], ...]:
    return trainc.compile([str(GOLDEN / case / "input.yaml")], options=Options(**delivery._asdict())).objects


def test_argocd_replaces_only_the_jobset() -> None:
    made = objects("gang-mpi", Delivery(argocd_replace=True))
    marked = [tree["kind"] for tree in made if SYNC_OPTIONS in tree["metadata"].get("annotations", {})]
    assert {tree["kind"] for tree in made} == {"JobSet", "ConfigMap", "PodGroup"}
    assert marked == ["JobSet"]


def test_a_patch_of_the_annotation_stays(tmp_path: Path) -> None:
    job = yaml.safe_load((GOLDEN / "argocd-replace" / "input.yaml").read_text())
    template = {"metadata": {"annotations": {SYNC_OPTIONS: "SkipDryRunOnMissingResource=true"}}}
    patch = {"manager": "a.io/b", "trainingRuntimeSpec": {"template": template}}
    file = tmp_path / "x.yaml"
    file.write_text(yaml.safe_dump(job | {"spec": job["spec"] | {"runtimePatches": [patch]}}))
    (jobset,) = trainc.compile([str(file)], options=Options(argocd_replace=True)).objects
    wanted = "SkipDryRunOnMissingResource=true,Force=true,Replace=true"
    assert jobset["metadata"]["annotations"] == {SYNC_OPTIONS: wanted}


@pytest.mark.parametrize("case", ["suspended", "exported-list", "single-gpu-script"])
def test_suspend_overrides_the_trainjob(case: str) -> None:
    assert all(jobset["spec"]["suspend"] is True for jobset in objects(case, Delivery(suspend=True)))
    assert not any("suspend" in jobset["spec"] for jobset in objects(case))


@pytest.mark.parametrize("delivery", [Delivery(), Delivery(suspend=True)], ids=["plain", "--suspend"])
@pytest.mark.parametrize("case", ["kueue-queue", "kueue-suspended"])
def test_a_queue_decides_about_suspend(case: str, delivery: Delivery) -> None:
    (jobset,) = objects(case, delivery)
    assert "suspend" not in jobset["spec"]


def test_the_runtime_does_not_suspend(tmp_path: Path) -> None:
    """The controller writes the TrainJob's suspend over that of the runtime's template."""
    pods = {"spec": {"containers": [{"name": "node", "image": "i:1"}]}}
    jobs = [{"name": "node", "template": {"spec": {"template": pods}}}]
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "r"},
        "spec": {"template": {"spec": {"suspend": True, "replicatedJobs": jobs}}},
    }
    job = yaml.safe_load((GOLDEN / "single-gpu-script" / "input.yaml").read_text())
    job["spec"] = {"runtimeRef": {"name": "r"}}
    (tmp_path / "x.yaml").write_text(yaml.safe_dump_all([job, runtime]))
    (jobset,) = trainc.compile([str(tmp_path)]).objects
    assert "suspend" not in jobset["spec"]


def test_the_provenance_of_a_delivery_option() -> None:
    options = Options(argocd_replace=True, suspend=True)
    (job,) = internal(trainc.compile(GOLDEN / "single-gpu-script" / "input.yaml", options=options)).jobs
    options_of = {("spec", "suspend"): "--suspend", ("metadata", "annotations", SYNC_OPTIONS): "--argocd-replace"}
    for path, option in options_of.items():
        origin = job.trace().origin(0, path)
        assert (origin.stage, origin.by, origin.in_file) == ("deliver", f"the option {option}", False)
