"""The pipelines in integrations/: checked by their own linters, and their trainc steps run one by one."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import cel
import jsonschema
import pytest
import yaml
from committing import commit, git
from running import run

ROOT = Path(__file__).parents[2]
INTEGRATIONS = ROOT / "integrations"
GITHUB = INTEGRATIONS / "github" / "trainc.yaml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
DEPENDABOT = ROOT / ".github" / "dependabot.yml"
GITLAB = INTEGRATIONS / "gitlab" / ".gitlab-ci.yml"
FLUX = INTEGRATIONS / "flux" / "training-jobs.yaml"
BIN = Path(sys.executable).parent

CRDS = Path(__file__).parent / "crds"
"""The fields of `spec` in Flux's CRDs, by apiVersion and kind."""
FLUX_FLAGS = {
    "push": {"--path", "--source", "--revision", "--creds", "--provider", "--ignore-paths", "--output"},
    "tag": {"--tag", "--creds", "--provider"},
}
"""The flags of `flux push artifact` and `flux tag artifact` (fluxcd/flux2, cmd/flux)."""


@pytest.fixture
def project(empty_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository with `trainc init`, as CI checks it out."""
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    assert run("init").code == 0
    assert run("build", "-o", "rendered").code == 0
    return empty_root


def steps_of_github() -> list[str]:
    jobs = yaml.safe_load(GITHUB.read_text())["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def steps_of_gitlab() -> list[str]:
    jobs = yaml.safe_load(GITLAB.read_text())
    return [step for job in jobs.values() if isinstance(job, dict) for step in job.get("script", ())]


STEPS = {"github": steps_of_github(), "gitlab": steps_of_gitlab()}
ALL = [step for steps in STEPS.values() for step in steps]


def here(steps: list[str]) -> list[str]:
    """Return the steps that need neither a package index, nor a registry, nor a base branch."""
    return [step for step in steps if step.startswith(("trainc ", "test ")) and not step.startswith("trainc diff")]


def ends(steps: list[str]) -> list[int]:
    """Run each step with GitHub's shell; return the exit codes."""
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    return [subprocess.run([*shell, step], capture_output=True, timeout=30, check=False).returncode for step in steps]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["actionlint", "-no-color", *map(str, WORKFLOWS), str(GITHUB)], id="actionlint"),
        pytest.param(["zizmor", "--offline", "--quiet", str(ROOT)], id="zizmor"),  # workflows, the action, Dependabot
        pytest.param(["zizmor", "--offline", "--quiet", str(GITHUB)], id="zizmor of the example"),
        pytest.param(["check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(GITHUB)], id="github"),
        pytest.param(["check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(GITLAB)], id="gitlab"),
        pytest.param(["check-jsonschema", "--builtin-schema", "vendor.dependabot", str(DEPENDABOT)], id="dependabot"),
    ],
)
def test_their_linters_find_nothing(command: list[str]) -> None:
    done = subprocess.run([BIN / command[0], *command[1:]], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_zizmor_reads_every_workflow() -> None:
    command: list[str | Path] = [BIN / "zizmor", "--offline", "--no-progress", ROOT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, cwd=ROOT)
    for file in (*WORKFLOWS, ROOT / "action.yml", DEPENDABOT):
        assert f"{file.relative_to(ROOT)}\n" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("tool", STEPS)
def test_the_steps_of_a_good_repository(tool: str, project: Path) -> None:
    steps = here(STEPS[tool])
    assert len(steps) == 4
    assert ends(steps) == [0, 0, 0, 0]


@pytest.mark.parametrize("tool", STEPS)
def test_the_steps_with_an_invalid_job(tool: str, project: Path) -> None:
    job = project / "jobs" / "first-job.yaml"
    job.write_text(job.read_text().replace("numNodes: 1", "numNodes: many"))
    assert ends(here(STEPS[tool]))[:3] == [1, 1, 1]
    reports = {"github": {"trainc.sarif"}, "gitlab": {"gl-code-quality-report.json", "trainc.xml"}}
    assert {path.name for path in project.iterdir() if path.is_file()} >= reports[tool]


@pytest.mark.slow
@pytest.mark.parametrize("tool", STEPS)
def test_the_steps_without_a_job(tool: str, project: Path) -> None:
    (project / "jobs" / "first-job.yaml").unlink()
    assert ends(here(STEPS[tool])) == [0, 3, 0, 1]


@pytest.fixture
def pull_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with a branch that has the same jobs as main, as CI checks it out."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (tmp_path / "upstream").mkdir()
    monkeypatch.chdir(tmp_path / "upstream")
    git("init", "--quiet")
    assert run("init").code == 0
    commit("A first job")
    git("clone", "--quiet", ".", "../clone")
    monkeypatch.chdir(tmp_path / "clone")
    git("checkout", "--quiet", "-b", "branch")
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("BASE", "refs/remotes/origin/main")
    monkeypatch.setenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path / "clone"


def reviewed(tool: str) -> str:
    """What the steps of a review write, and what they print."""
    if tool == "github":
        steps = [step for step in STEPS[tool] if step.startswith("trainc diff")]
        written = Path(os.environ["GITHUB_STEP_SUMMARY"])
    else:
        steps = [step for step in yaml.safe_load(GITLAB.read_text())["review"]["script"] if not step.startswith("pip")]
        written = Path("review.html")
    printed = ""
    for step in steps:
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step]
        done = subprocess.run(shell, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0, done.stderr
        printed += done.stderr
    return written.read_text() + printed


@pytest.mark.parametrize("tool", STEPS)
def test_the_review_of_a_change(tool: str, pull_request: Path) -> None:
    job = pull_request / "jobs" / "first-job.yaml"
    job.write_text(job.read_text().replace("gpu: 2", "gpu: 4"))
    commit("Four GPUs")
    assert "2 to change" in reviewed(tool)


@pytest.mark.slow
@pytest.mark.parametrize("tool", STEPS)
@pytest.mark.parametrize("folder", ["origin/main...HEAD", "main...HEAD", "main", "HEAD"])
def test_no_folder_hides_a_change_from_the_review(tool: str, folder: str, pull_request: Path) -> None:
    job = pull_request / "jobs" / "first-job.yaml"
    job.write_text(job.read_text().replace("gpu: 2", "gpu: 4"))
    shutil.copytree("jobs", folder)
    commit("Four GPUs")
    assert "2 to change" in reviewed(tool)


@pytest.mark.slow
@pytest.mark.parametrize("tool", STEPS)
def test_no_setting_hides_a_warning_from_the_review(tool: str, pull_request: Path) -> None:
    job = pull_request / "jobs" / "first-job.yaml"
    job.write_text(job.read_text().replace("numNodes: 1", "image: registry.example.com/train:latest"))
    settings = pull_request / "trainc.yaml"
    settings.write_text(f"{settings.read_text()}lint: {{disable: [image-version]}}\n")
    commit("The latest image")
    found = reviewed(tool)
    assert "1 setting changed" in found
    assert "warning[image-version]" in found


@pytest.mark.slow
@pytest.mark.parametrize("tool", STEPS)
def test_the_review_writes_through_no_link(tool: str, pull_request: Path) -> None:
    outside = pull_request.parent / "outside"
    outside.write_text("kept")
    (pull_request / "review.html").symlink_to(outside)
    commit("A link")
    assert "nothing changes" in reviewed(tool)
    assert outside.read_text() == "kept"


def test_the_reports_are_those_that_are_uploaded() -> None:
    for tool, text in (("github", GITHUB.read_text()), ("gitlab", GITLAB.read_text())):
        (validate,) = [step for step in STEPS[tool] if step.startswith("trainc validate")]
        for file in re.findall(r"--report \w+=(\S+)", validate):
            assert text.count(file) == 2


@pytest.mark.parametrize("step", ALL)
def test_every_step_is_a_shell_script(step: str) -> None:
    subprocess.run(["bash", "-n", "-c", step], check=True, timeout=10)
    for line in re.sub(r"\\\n\s*", "", step).splitlines():
        words = shlex.split(line)
        if words[0] == "flux":
            assert words[2] == "artifact"
            assert {word.partition("=")[0] for word in words[4:]} <= FLUX_FLAGS[words[1]]


def test_flux_knows_every_field() -> None:
    found = list(yaml.safe_load_all(FLUX.read_text()))
    assert [document["kind"] for document in found] == ["OCIRepository", "Kustomization"]
    for document in found:
        group, _, version = document["apiVersion"].partition("/")
        crd = json.loads((CRDS / f"{group}_{version}_{document['kind']}.json").read_text())
        jsonschema.validate(document["spec"], closed(crd["schema"]))
    source, applied = found
    assert applied["spec"]["sourceRef"]["name"] == source["metadata"]["name"]


def test_flux_has_a_kustomization_for_each_environment() -> None:
    found = list(yaml.safe_load_all((FLUX.parent / "environments.yaml").read_text()))
    assert [document["spec"]["path"] for document in found] == ["./rendered/dev", "./rendered/prod"]
    for document in found:
        group, _, version = document["apiVersion"].partition("/")
        crd = json.loads((CRDS / f"{group}_{version}_{document['kind']}.json").read_text())
        jsonschema.validate(document["spec"], closed(crd["schema"]))


def closed(schema: Any) -> Any:
    """Return the schema with unknown fields rejected, which the API server would prune."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        made.setdefault("additionalProperties", False)
    return made


COUNTED = {"replicatedJobsStatus": [{"name": "node", "ready": 0, "succeeded": 0, "failed": 0}]}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({}, "in progress", id="new"),
        pytest.param({"restarts": 0, "conditions": []}, "in progress", id="nothing counted"),
        pytest.param(COUNTED, "current", id="taken"),
        pytest.param(COUNTED | {"conditions": [{"type": "Suspended", "status": "True"}]}, "current", id="suspended"),
        pytest.param(COUNTED | {"conditions": [{"type": "Completed", "status": "True"}]}, "current", id="completed"),
        pytest.param(COUNTED | {"conditions": [{"type": "Failed", "status": "False"}]}, "current", id="not failed"),
        pytest.param(COUNTED | {"conditions": [{"type": "Failed", "status": "True"}]}, "failed", id="failed"),
    ],
)
def test_what_flux_waits_for(status: dict[str, Any], expected: str) -> None:
    _, applied = yaml.safe_load_all(FLUX.read_text())
    (check,) = applied["spec"]["healthCheckExprs"]
    assert (check["apiVersion"], check["kind"]) == ("jobset.x-k8s.io/v1alpha2", "JobSet")
    said = [state for state in ("failed", "current") if cel.evaluate(check[state], {"status": status})]
    assert (said or ["in progress"])[0] == expected
