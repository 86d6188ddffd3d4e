"""Documents by apiVersion and kind: ours, misspelt ones, other projects', and training jobs that are not compiled."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from purposes import internal
from running import run

import trainc
from trainc.base import kinds
from trainc.base.kinds import COMPILED, JOBSET, KINDS, LEGACY, RUNTIMES, TRAINJOB, Kind, Role
from trainc.budget import Meter
from trainc.diagnostics import Document, Edit, Place
from trainc.edits.environment import Environment, Setting
from trainc.edits.patching import Patches
from trainc.files.inputs import File
from trainc.frontends.reading import Reading
from trainc.frontends.training_jobs import not_compiled, training_job

pytestmark = pytest.mark.usefixtures("empty_folder")

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec: {runtimeRef: {name: torch-distributed}, trainer: {image: "ghcr.io/acme/train:1", command: [torchrun, train.py]}}
"""


def manifest(version: str, kind: str, **spec: object) -> str:
    return json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}) + "\n"


def write_input(*documents: str) -> None:
    Path("x.yaml").write_text("---\n".join(documents))


@pytest.mark.parametrize("kind", [row.kind for row in COMPILED])
@pytest.mark.parametrize(
    "version",
    [
        "trainer.kubeflow.org/v1",
        "trainer.kubeflow.org",
        "kubeflow.org/v1",
        "kubeflow.org/v2",
        "kubeflow.org/v1alpha1",
        "training.kubeflow.org/v1alpha1",
        "Trainer.Kubeflow.org/v1alpha1",
        "trainer.kubeflow.orgs/v1alpha1",
        "trainer.kubflow.org/v1alpha1",
        "trianer.kubeflow.org/v1alpha1",
        "trainer.kubeflow.arg/v1alpha1",
        "v1alpha1",
        "v1",
    ],
)
def test_a_misspelt_version_is_an_error(version: str, kind: str) -> None:
    write_input(manifest(version, kind))
    (found,) = trainc.compile(["x.yaml"]).diagnostics
    assert (found.id, found.severity, found.field) == ("unknown-version", "error", "apiVersion")
    assert run("validate").code == 1


@pytest.mark.parametrize("kind", [row.kind for row in COMPILED])
@pytest.mark.parametrize(
    "version", ["acme.io/v1", "train.acme.io/v1alpha1", "trainer.kubeflow.com/v1", "kubeflow.io/v1"]
)
def test_the_same_kind_of_another_project_is_passed_through(version: str, kind: str) -> None:
    write_input(manifest(version, kind), JOB)
    done = run("build", "x.yaml")
    assert (done.code, done.reported) == (0, "omitted 1 document of other kinds (--passthrough includes them)\n")
    assert manifest(version, kind) in run("build", "x.yaml", "--passthrough").out


V1 = [
    *(
        ("kubeflow.org/v1", kind)
        for kind in ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob", "MXJob")
    ),
    ("kubeflow.org/v2beta1", "MPIJob"),
    ("xgboostjob.kubeflow.org/v1alpha1", "XGBoostJob"),
    ("kubeflow.org/v1beta1", "MXJob"),
    ("mxnet.mlkube.io/v1beta1", "MxJob"),
]
OLD_MPIJOB = "(only kubeflow.org/v2beta1 is supported)"


@pytest.mark.parametrize(("version", "kind"), V1)
def test_a_training_job_that_is_not_compiled_is_named(version: str, kind: str) -> None:
    write_input(manifest(version, kind))
    support = OLD_MPIJOB if (version, kind) == V1[2] else "(--legacy compiles it)"
    assert run("validate").out == f"no problems found: 0 TrainJobs, 0 runtimes; 1 {kind} is not compiled {support}\n"


@pytest.mark.parametrize("switch", [(), ("--legacy",)])
@pytest.mark.parametrize(
    "spec",
    [
        {"plugins": {"pytorch": ["--port=23456"]}},
        {"plugins": {"svc": [], "ssh": []}},
        {"plugins": {"tensorflow": None}},
        {"plugins": ["tensorflow"]},
        {},
    ],
    ids=str,
)
def test_a_volcano_job_without_tensorflow_is_counted(spec: dict[str, object], switch: tuple[str, ...]) -> None:
    write_input(manifest("batch.volcano.sh/v1alpha1", "Job", **spec))
    sentence = "1 Volcano Job is not compiled (only the plugin tensorflow is supported)"
    assert run("validate", *switch).out == f"no problems found: 0 TrainJobs, 0 runtimes; {sentence}\n"


def test_a_volcano_job_with_tensorflow_is_counted_without_the_option() -> None:
    job = manifest("batch.volcano.sh/v1alpha1", "Job", plugins={"tensorflow": []})
    write_input(job, job.replace('"a"', '"b"'))
    sentence = "2 Volcano Jobs are not compiled (--legacy compiles them)"
    assert run("validate").out == f"no problems found: 0 TrainJobs, 0 runtimes; {sentence}\n"


@pytest.mark.parametrize(
    "text",
    [
        manifest("batch.volcano.sh/v1alpha1", "JobFlow"),
        manifest("mlkube.io/v1beta1", "MxJob"),
        manifest("batch/v1", "Job", plugins={"pytorch": []}),
        manifest("acme.io/v1", "PyTorchJob"),
        manifest("notkubeflow.org/v1", "PyTorchJob"),
        manifest("kubeflow.org/v1", "Notebook"),
        '{"apiVersion": 1, "kind": ["PyTorchJob"]}\n',
    ],
)
def test_other_documents_are_of_another_project(text: str) -> None:
    assert training_job(Document("x.yaml", 1, text, json.loads(text))) is None
    write_input(text)
    assert run("validate").out == "no problems found: 0 TrainJobs, 0 runtimes\n"


def documents(*kinds: str) -> list[Document]:
    return [Document("x.yaml", 1, "", json.loads(manifest("kubeflow.org/v1", kind))) for kind in kinds]


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        ((), ""),
        (("PyTorchJob",), "1 PyTorchJob is not compiled (--legacy compiles it)"),
        (("PyTorchJob", "PyTorchJob"), "2 PyTorchJobs are not compiled (--legacy compiles them)"),
        (("JAXJob", "TFJob", "TFJob"), "2 TFJobs and 1 JAXJob are not compiled (--legacy compiles them)"),
        (("MPIJob", "MPIJob"), f"2 MPIJobs are not compiled {OLD_MPIJOB}"),
        (("MPIJob", "TFJob"), f"1 TFJob is not compiled (--legacy compiles it); 1 MPIJob is not compiled {OLD_MPIJOB}"),
    ],
)
def test_training_jobs_are_counted_by_kind(kinds: tuple[str, ...], sentence: str) -> None:
    assert not_compiled(documents(*kinds), "--legacy") == sentence


def test_a_build_names_the_jobs_that_it_does_not_compile() -> None:
    one, mpi = manifest("kubeflow.org/v1", "PyTorchJob"), manifest("kubeflow.org/v1", "MPIJob")
    write_input(JOB, one, one.replace('"a"', '"b"'), mpi)
    sentence = f"2 PyTorchJobs are not compiled (--legacy compiles them); 1 MPIJob is not compiled {OLD_MPIJOB}"
    omitted = "omitted 3 documents of other kinds (--passthrough includes them)"
    assert run("build").reported == f"{omitted}\n{sentence}\n"
    assert run("build", "--passthrough").reported == f"{sentence}\n"
    assert run("build", "-o", "out").reported == f"out: 1 written, 0 removed, 0 unchanged\n{omitted}\n{sentence}\n"


def test_a_build_of_only_such_jobs_names_them_in_its_error() -> None:
    write_input(manifest("kubeflow.org/v1", "PyTorchJob"))
    done = run("build")
    assert (done.code, done.out) == (1, "")
    assert (
        "no TrainJob in the given paths (1 file read); 1 PyTorchJob is not compiled (--legacy compiles it)"
        in done.reported
    )


def test_errors_and_other_jobs_are_counted() -> None:
    write_input(manifest("kubeflow.org/v1", "PyTorchJob"), manifest("kubeflow.org/v1", "TrainJob"))
    summary = "1 error in 1 file (checked 1 file)\n1 PyTorchJob is not compiled (--legacy compiles it)\n"
    assert f"\n{summary}" in run("validate").out


def test_a_subset_counts_only_its_own_files() -> None:
    write_input(JOB)
    Path("y.yaml").write_text(manifest("kubeflow.org/v1", "PyTorchJob"))
    assert "PyTorchJob" not in run("validate", "--among", ".", "x.yaml").out
    assert "1 PyTorchJob is not compiled (--legacy compiles it)" in run("validate", "--among", ".", "y.yaml").out


MADE_UP = Kind("RoleJob", ("acme.io/v2", "acme.io/v1"), "job", "role job", (("spec", "roles", kinds.EACH),))
DOCUMENTS = {
    "job": manifest("trainer.kubeflow.org/v1alpha1", "TrainJob"),
    "draft": manifest("trainer.kubeflow.org/v2alpha1", "TrainJob"),
    "old": manifest("kubeflow.org/v2alpha1", "TrainJob"),
    "runtime": manifest("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"),
    "old runtime": manifest("kubeflow.org/v2alpha1", "ClusterTrainingRuntime"),
    "made up": manifest("acme.io/v2", "RoleJob"),
    "made up, old": manifest("acme.io/v1", "RoleJob"),
    "made up, unknown": manifest("acme.io/v3", "RoleJob"),
    "jobset": manifest("jobset.x-k8s.io/v1alpha2", "JobSet"),
}


def roles(compiled: tuple[Kind, ...]) -> dict[str, Role]:
    """Return the role of each of these documents in a run that compiles some kinds."""
    found: dict[str, Role] = {}
    for name, text in DOCUMENTS.items():
        reading = Reading(kinds=compiled)
        reading.add(File("x.yaml", text.encode()))
        assert reading.diagnostics == []
        (found[name],) = (role for role, documents in reading.documents.items() if documents)
    return found


@pytest.mark.parametrize(
    ("compiled", "jobs", "runtimes"),
    [
        (COMPILED, {"job", "draft", "old"}, {"runtime", "old runtime"}),
        ((*COMPILED, MADE_UP), {"job", "draft", "old", "made up", "made up, old"}, {"runtime", "old runtime"}),
        (RUNTIMES, set(), {"runtime", "old runtime"}),
        ((MADE_UP,), {"made up", "made up, old"}, set()),
        ((), set(), set()),
    ],
)
def test_a_run_compiles_the_kinds_that_its_caller_names(
    compiled: tuple[Kind, ...], jobs: set[str], runtimes: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "KINDS", (*KINDS, MADE_UP))
    found = roles(compiled)
    assert {name for name, role in found.items() if role == "job"} == jobs
    assert {name for name, role in found.items() if role == "runtime"} == runtimes


@pytest.mark.parametrize(
    ("version", "kind", "row"),
    [
        ("trainer.kubeflow.org/v1alpha1", "TrainJob", TRAINJOB),
        ("trainer.kubeflow.org/v1", "TrainJob", None),
        ("trainer.kubeflow.org/v1alpha1", "trainjob", None),
        (None, "TrainJob", None),
        (["trainer.kubeflow.org/v1alpha1"], {"TrainJob": 1}, None),
    ],
)
def test_find(version: object, kind: object, row: Kind | None) -> None:
    assert kinds.find(version, kind) is row


def patches_of(target: dict[str, str]) -> Patches:
    value = {"patches": [{"target": target, "patch": {"spec": {"suspend": True}}}]}
    setting = Setting(value["patches"][0], Place(Document("trainc.yaml", 1, "", value), ("patches", 0)))
    return Patches(Environment(patches=(setting,)), lambda *_, **__: (), Meter())


def job_at(line: int, name: str) -> Document:
    return Document("x.yaml", line, f"name: {name}", {**json.loads(DOCUMENTS["job"]), "metadata": {"name": name}})


def test_the_patches_of_a_jobset_are_those_of_its_document() -> None:
    patches = patches_of({"kind": "JobSet", "name": "a"})
    first, second = patches.apply_all([job_at(1, "a"), job_at(9, "b")])
    assert patches.jobset_patches(second) is None
    found = patches.jobset_patches(first)
    assert found is not None
    lowered = Edit({"kind": "RoleJob"}, lambda path: path)
    assert patches.jobset_patches(first._replace(value={}, edits=(lowered,))) is found


def test_the_patches_of_a_jobset_match_a_job_of_any_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "KINDS", (*KINDS, MADE_UP))
    document = Document("x.yaml", 1, DOCUMENTS["made up"], json.loads(DOCUMENTS["made up"]))
    patches = patches_of({"kind": "JobSet", "group": "jobset.x-k8s.io", "version": "v1alpha2"})
    patches.apply(document)
    assert patches.jobset_patches(document) is not None
    runtime = Document("x.yaml", 2, DOCUMENTS["runtime"], json.loads(DOCUMENTS["runtime"]))
    patches.apply(runtime)
    assert patches.jobset_patches(runtime) is None


OLD = """\
apiVersion: kubeflow.org/v2alpha1
kind: TrainJob
metadata: {name: NAME}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: "ghcr.io/acme/train:1", command: [torchrun, train.py]}
"""


def test_the_diagnostics_of_a_trainjob_have_the_identity_of_its_document() -> None:
    write_input(OLD.replace("NAME", "a"))
    result = internal(trainc.compile(["x.yaml"]))
    assert {found.object.apiVersion for found in result.diagnostics} == {"kubeflow.org/v2alpha1"}
    assert [checked.object.apiVersion for checked in result.checked] == ["kubeflow.org/v2alpha1"]


def test_a_trainjob_with_an_invalid_name_is_one_test_case() -> None:
    write_input(OLD.replace("NAME", "Not_Valid"))
    report = run("validate", "--format", "junit", "x.yaml").out
    assert re.findall('<testcase classname="trainc.TrainJob" name="([^"]*)"', report) == ["Not_Valid"]


def test_the_schema_of_patches_knows_every_kind() -> None:
    settings = json.loads((Path(__file__).parents[2] / "schemas" / "trainc" / "Settings.json").read_text())
    target = settings["$defs"]["patches"]["items"]["properties"]["target"]["properties"]["kind"]["enum"]
    assert sorted(target) == sorted({row.kind for row in (*COMPILED, JOBSET, *LEGACY)})
