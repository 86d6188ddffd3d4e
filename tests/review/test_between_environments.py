"""`trainc diff --env A..B`: what differs between two environments of one tree, by source document."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from committing import commit
from running import run
from syrupy.assertion import SnapshotAssertion

TEAMS = Path(__file__).parents[2] / "examples" / "teams"
SETTINGS = """\
sources: [jobs]
passthrough: true
environments:
  dev: {namespace: ml-dev, nameSuffix: -dev, exclude: [jobs/audit.yaml]}
  test: {namespace: ml-test, namePrefix: test-, nameSuffix: "-2"}
  tuned:
    namespaceSuffix: -tuned
    images: [{name: ghcr.io/acme/app, newTag: v2}]
    exclude: [jobs/trial.yaml]
    patches:
      - target: {kind: TrainJob, name: train}
        patch: {spec: {trainer: {numNodes: 4}}}
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: ml}}
spec:
  runtimeRef: {{name: torch-distributed-coscheduling}}
  trainer: {{image: "ghcr.io/acme/app:v1", numNodes: 2}}
"""
TABLE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: table, namespace: ml}
data: {a: "1"}
"""


@pytest.fixture
def project(empty_repository: Path) -> Path:
    """Return a project whose environments have other namespaces, names, images and patches."""
    Path("jobs").mkdir()
    Path("trainc.yaml").write_text(SETTINGS)
    for name in ("train", "trial", "audit"):
        Path(f"jobs/{name}.yaml").write_text(JOB.format(name=name))
    Path("jobs/table.yaml").write_text(TABLE)
    return empty_repository


@pytest.fixture
def teams(empty_repository: Path) -> None:
    """Copy the sample project into a repository."""
    shutil.copytree(TEAMS, ".", dirs_exist_ok=True)


@pytest.mark.usefixtures("teams")
@pytest.mark.parametrize("form", ["text", "markdown", "json", "html"])
def test_staging_and_prod(form: str, snapshot: SnapshotAssertion) -> None:
    done = run("diff", "--env", "staging..prod", "--format", form)
    assert done.code == 0
    # The style and the script of a page are the same for all pages.
    assert re.sub(r"<(style|script)>.*?</\1>|sha256-[^']*", "", done.out, flags=re.DOTALL) == snapshot


@pytest.mark.usefixtures("project")
def test_names_and_namespaces_are_no_difference(snapshot: SnapshotAssertion) -> None:
    """Host names, labels and variables that follow from a name are none either; dev has no audit."""
    done = run("diff", "--env", "dev..test", "--exit-code")
    assert (done.code, done.reported) == (3, "")
    assert done.out == snapshot
    without = run("diff", "--env", "dev..test", "--exit-code", "jobs/train.yaml", "jobs/table.yaml")
    assert (without.code, without.out) == (0, "dev -> test\nnothing changes: 3 objects are unchanged\n")


@pytest.mark.usefixtures("project")
def test_an_annotation_of_a_job_that_one_environment_excludes() -> None:
    audit = Path("jobs/audit.yaml")
    audit.write_text(audit.read_text().replace("ml}", 'ml, annotations: {trainc.dev/lint-ignore: "no-shared-memory"}}'))
    assert run("diff", "--env", "dev..test").out.splitlines()[1:3] == ["2 only in test", ""]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("environments", ["dev..tuned", "tuned..dev"])
def test_images_and_patches(environments: str, snapshot: SnapshotAssertion) -> None:
    done = run("diff", "--env", environments)
    assert (done.code, done.reported) == (0, "")
    assert done.out == snapshot


@pytest.mark.usefixtures("project")
def test_both_names_are_in_the_json(snapshot: SnapshotAssertion) -> None:
    review = json.loads(run("diff", "--env", "dev..tuned", "--format", "json", "--only", "train").out)
    found = [
        (each["name"], each["renamedFrom"]["name"], each["effect"], "allowed" in each) for each in review["objects"]
    ]
    assert found == snapshot
    assert {(each["name"], each["file"]) for each in review["jobs"]} == {("ml/train", "jobs/train.yaml")}


@pytest.mark.usefixtures("project")
def test_a_name_that_another_job_has_in_the_other_environment() -> None:
    """`a` of one environment and `a-x` of the other one are both called a-x; each is compared with its own document."""
    for file in Path("jobs").iterdir():
        file.unlink()
    settings = "sources: [jobs]\nenvironments: {one: {nameSuffix: -x}, two: {namespace: ml}}\n"
    Path("trainc.yaml").write_text(settings)
    for name, nodes in (("a", 2), ("a-x", 3)):
        Path(f"jobs/{name}.yaml").write_text(JOB.format(name=name).replace("numNodes: 2", f"numNodes: {nodes}"))
    assert run("diff", "--env", "one..two").out == "one -> two\nnothing changes: 4 objects are unchanged\n"
    Path("trainc.yaml").write_text(settings.replace("-x}", "-x, exclude: [jobs/a-x.yaml]}"))
    found = run("diff", "--env", "one..two").out
    assert found.splitlines()[1:4] == ["2 only in two", "", "+ only in two ml/a-x (JobSet and PodGroup)  jobs/a-x.yaml"]


@pytest.mark.usefixtures("project")
def test_one_revision(snapshot: SnapshotAssertion) -> None:
    commit()
    Path("jobs/train.yaml").write_text("not a manifest")
    for words in (("HEAD",), ("HEAD", "jobs/train.yaml"), ("HEAD", "--", "jobs/train.yaml")):
        done = run("diff", "--env", "dev..tuned", *words)
        assert (done.code, done.out.splitlines()[0]) == (0, "dev of HEAD -> tuned of HEAD")
    assert done.out == snapshot


@pytest.mark.usefixtures("project")
def test_several_projects(snapshot: SnapshotAssertion) -> None:
    """A folder with a trainc.yaml of its own is compared with its own environments."""
    Path("other/jobs").mkdir(parents=True)
    Path("other/trainc.yaml").write_text(SETTINGS.replace("v2", "v3"))
    Path("other/jobs/serve.yaml").write_text(JOB.format(name="serve"))
    done = run("diff", "--env", "dev..tuned", ".")
    assert (done.code, done.reported) == (0, "")
    assert done.out == snapshot


@pytest.mark.usefixtures("project")
def test_names_with_a_hash() -> None:
    Path("trainc.yaml").write_text(SETTINGS + "delivery: {nameSuffixHash: true}\n")
    done = run("diff", "--env", "dev..test", "jobs/train.yaml")
    assert done.out == "dev -> test\nnothing changes: 2 objects are unchanged\n", done.err


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("dev..",), 2, id="one name"),
        pytest.param(("..dev",), 2, id="no first name"),
        pytest.param(("dev...test",), 2, id="three dots"),
        pytest.param(("dev..test", "--env", "tuned"), 2, id="a third one"),
        pytest.param(("tuned", "--env", "dev..test"), 2, id="a third one first"),
        pytest.param(("dev..nope",), 1, id="unknown"),
        pytest.param(("nope..dev",), 1, id="unknown first"),
        pytest.param(("dev..test", "main..HEAD"), 2, id="a range"),
        pytest.param(("dev..test", "HEAD", "HEAD", "--", "jobs"), 2, id="two revisions"),
        pytest.param(("dev..test", "-"), 2, id="standard input"),
        pytest.param(("dev..test", "nothing"), 2, id="no path"),
        pytest.param(("dev..test", "--trainer-version", "2.2..2.3"), 2, id="two releases"),
        pytest.param(("dev..test", "rendered"), 1, id="rendered"),
        pytest.param(("dev..test", "empty"), 1, id="nothing to compare"),
    ],
)
def test_wrong_arguments(words: tuple[str, ...], code: int, snapshot: SnapshotAssertion) -> None:
    commit()
    Path("empty").mkdir()
    Path("trainc.yaml").write_text(f"{SETTINGS}output: rendered\n")
    run("build", "--env", "dev")
    done = run("diff", "--env", *words)
    assert (done.code, done.out) == (code, "")
    assert done.err.removeprefix(done.err[: done.err.find("Error:")] if code == 2 else "") == snapshot


@pytest.mark.usefixtures("project")
def test_a_word_with_two_meanings() -> None:
    commit()
    Path("HEAD").mkdir()
    done = run("diff", "--env", "dev..test", "HEAD")
    assert (done.code, "both" in done.err) == (2, True), done.err


@pytest.mark.usefixtures("project")
def test_a_project_without_environments(snapshot: SnapshotAssertion) -> None:
    Path("trainc.yaml").write_text("sources: [jobs]\n")
    done = run("diff", "--env", "dev..test")
    assert (done.code, done.out) == (1, "")
    assert done.err == snapshot
