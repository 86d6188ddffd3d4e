"""`trainc diff` in a project with environments: which environments an edit reaches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from committing import commit
from environments import JOB
from running import run

SETTINGS = """\
sources: [jobs]
output: rendered
environments:
  dev:
    namespace: ml-dev
    labels: {env: dev}
  prod:
    namespace: ml
    exclude: [jobs/trial.yaml]
    images: [{name: ghcr.io/acme/app, newTag: v1.4.2}]
"""


def edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> Path:
    """Return a committed project with two environments and two TrainJobs, one of which is not in prod."""
    (empty_repository / "jobs").mkdir()
    Path("trainc.yaml").write_text(SETTINGS)
    for name in ("train", "trial"):
        Path(f"jobs/{name}.yaml").write_text(JOB.format(name=name))
    commit()
    return empty_repository


def test_an_edit_of_a_job_reaches_both_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    edit("jobs/train.yaml", "[python]", "[python, train.py]")
    monkeypatch.chdir("jobs")
    assert "changes train [dev, prod]" in run("diff").out
    assert run("diff").out.startswith("HEAD -> the working tree\n2 to change\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("command", "commands", "unknown field spec.trainer.commands in TrainJob", id="a TrainJob"),
        pytest.param(
            "command",
            "resourcesPerNode: {requests: {acme.io/gpu: 4}, limits: {acme.io/gpu: 8}}, command",
            "request of 4 acme.io/gpu must equal the limit of 8",
            id="its Job",
        ),
    ],
)
def test_a_fault_is_reported_once_with_its_environments(old: str, new: str, message: str) -> None:
    edit("jobs/train.yaml", old, new)
    done = run("diff")
    assert done.code == 1
    assert done.err.count(f"{message} [dev, prod]") == 1


def test_an_edited_setting_is_the_cause_in_its_environment() -> None:
    edit("trainc.yaml", "v1.4.2", "v1.5.0")
    assert (
        run("diff").out
        == """\
HEAD -> the working tree
1 to change, 1 setting changed
1 JobSet must be recreated: a running one loses its training

trainc.yaml:10: setting environments.prod.images[ghcr.io/acme/app].newTag: v1.4.2 -> v1.5.0
  changes train [prod]
  the cluster rejects this change: delete the JobSet first (a running one loses its training), or use --name-suffix-hash
    spec.replicatedJobs[node].template.spec.template.spec.containers[node].image: ghcr.io/acme/app:v1.4.2 -> \
ghcr.io/acme/app:v1.5.0
"""
    )
    assert run("diff", "--env", "dev").out.startswith("HEAD -> the working tree\n1 setting changed\n")


def test_a_new_environment_adds_its_objects() -> None:
    edit("trainc.yaml", "  prod:", "  staging: {namespace: ml-staging}\n  prod:")
    done = run("diff")
    assert "trainc.yaml:7: setting environments.staging is added" in done.out
    assert "+ added train [staging] (JobSet)  jobs/train.yaml" in done.out
    commit()
    removed = run("diff", "HEAD..HEAD^").out
    assert "- removed train [staging] (JobSet)  jobs/train.yaml" in removed


@pytest.mark.parametrize("compared", [(), ("HEAD^..HEAD",)], ids=["the working tree", "a commit"])
def test_an_edit_of_exclude_adds_objects(compared: tuple[str, ...]) -> None:
    edit("trainc.yaml", "exclude: [jobs/trial.yaml]", "exclude: [jobs/no.yaml]")
    if compared:
        commit()
    done = run("diff", *compared)
    assert "setting environments.prod.exclude[0]: jobs/trial.yaml -> jobs/no.yaml" in done.out
    assert "+ added trial [prod] (JobSet)  jobs/trial.yaml" in done.out


def test_the_json_names_the_environments() -> None:
    edit("jobs/train.yaml", "[python]", "[python3]")
    found = json.loads(run("diff", "--format", "json").out)
    [cause] = found["causes"]
    assert cause["environments"] == ["dev", "prod"]
    assert [(*each["environments"], each["namespace"]) for each in found["objects"]] == [
        ("dev", "ml-dev"),
        ("prod", "ml"),
    ]


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_other_formats_name_the_environments(form: str) -> None:
    edit("jobs/train.yaml", "[python]", "[python3]")
    assert "[dev, prod]" in run("diff", "--format", form).out


def test_manifests_are_compared_in_the_environment_of_their_folder() -> None:
    assert run("build").code == 0
    commit()
    edit("jobs/train.yaml", "[python]", "[python3]")
    assert run("build").code == 0
    done = run("diff", "HEAD", "--", "rendered")
    assert done.out.startswith("HEAD -> the working tree\n2 to change\n")
    done = run("diff", "HEAD", "--env", "prod", "--", "rendered")
    assert done.out.startswith("HEAD -> the working tree\n1 to change\n")


def test_manifests_and_sources_are_compared_in_every_environment() -> None:
    assert run("build").code == 0
    assert run("diff", "rendered", "jobs").out == "rendered -> jobs\nnothing changes: 3 objects are unchanged\n"
    assert run("diff", "rendered/prod", "jobs", "--env", "prod").out.startswith(
        "rendered/prod -> jobs\nnothing changes: 1 object is unchanged"
    )


def test_an_unknown_environment() -> None:
    done = run("diff", "--env", "prd")
    assert (done.code, done.out) == (1, "")
    assert 'error[unknown-environment]: "prd" is not an environment' in done.err


def test_only_finds_a_job_that_one_environment_excludes() -> None:
    edit("jobs/trial.yaml", "[python]", "[python3]")
    done = run("diff", "--only", "trial")
    assert done.code == 0, done.err
    assert done.out.startswith("HEAD -> the working tree\n1 to change\n")
    assert "error[only-not-found]" in run("diff", "--only", "nothing").err


def test_an_environment_without_trainjobs_has_no_objects() -> None:
    edit("trainc.yaml", "exclude: [jobs/trial.yaml]", "exclude: [jobs/train.yaml, jobs/trial.yaml]")
    # kustomize's copies of one Deployment, which are no output of trainc.
    for folder in ("jobs/base", "jobs/overlay"):
        Path(folder).mkdir()
        Path(folder, "web.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n")
    done = run("diff")
    assert done.code == 0, done.err
    assert "removed train [prod]" in done.out


def test_a_patch_that_is_removed_from_the_middle() -> None:
    patch = "- patch: {{metadata: {{annotations: {{{0}: x}}}}}}\n"
    edit("trainc.yaml", "output:", "patches:\n" + "".join(map(patch.format, "abc")) + "output:")
    commit()
    edit("trainc.yaml", patch.format("b"), "")
    out = run("diff").out
    assert "2 settings change" not in out
    assert "setting patches[1] is removed" in out
    assert "changes no object" not in out
