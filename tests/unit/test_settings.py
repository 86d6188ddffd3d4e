"""Settings: the search for trainc.yaml, its content, its faults, and the command line's precedence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import run

from trainc.base.data import lint_rules
from trainc.settings import DEFAULT, load

ROOT = Path(__file__).parents[2]
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: ghcr.io/acme/train}
"""
QUIET = "lint: {disable: [image-version]}\n"
STRICT = "lint: {strict: true}\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository with a job whose image has no tag; return the current folder."""
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "jobs" / "team").mkdir(parents=True)
    (root / "jobs" / "team" / "job.yaml").write_text(JOB)
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    ("file", "path", "expected"),
    [
        pytest.param("trainc.yaml", "jobs", True, id="at the root"),
        pytest.param("jobs/trainc.yaml", "jobs", True, id="in the folder"),
        pytest.param("jobs/team/trainc.yaml", "jobs/team/job.yaml", True, id="beside the file"),
        pytest.param("jobs/trainc.yaml", "jobs/team/job.yaml", True, id="between"),
        pytest.param("../trainc.yaml", "jobs", False, id="above the root"),
        pytest.param("jobs/trainc.yml", "jobs", False, id="another suffix"),
    ],
)
def test_where_it_is_found(file: str, path: str, expected: bool) -> None:
    Path(file).write_text(QUIET)
    assert load([path]).disable == ({"image-version"} if expected else set())
    assert ("image-version" in run("build", path).err) is not expected


def test_without_a_git_root_the_current_folder_is_the_highest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repo" / ".git").rmdir()
    Path("trainc.yaml").write_text(QUIET)
    assert load(["jobs/team"]).disable == load(["."]).disable == {"image-version"}
    monkeypatch.chdir("jobs")
    assert load(["team"]) == load(["."]) == DEFAULT
    monkeypatch.chdir("team")
    assert load(["../../jobs"]) == DEFAULT


def test_the_nearest_one_counts() -> None:
    Path("trainc.yaml").write_text(QUIET)
    Path("jobs/trainc.yaml").write_text("lint: {}\n")
    assert load(["jobs"]).disable == set()


def test_of_standard_input_it_is_the_current_folder_s() -> None:
    Path("trainc.yaml").write_text(QUIET)
    assert "warning" not in run("build", "-", stdin=JOB.encode()).err


def test_the_first_path_says_where() -> None:
    Path("other").mkdir()
    Path("jobs/trainc.yaml").write_text(QUIET)
    assert load(["jobs", "other"]).disable == {"image-version"}
    assert load(["other", "jobs"]) == DEFAULT


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        pytest.param("lint: {disable: [image-versoin]}", "1:18", "error[enum]", id="an id"),
        pytest.param("lint: {disbale: []}", "1:8", "error[unknown-field]", id="a key"),
        pytest.param("linnt: {}", "1:1", "error[unknown-field]", id="a key at the top"),
        pytest.param("lint: {disable: no-gang}", "1:17", "error[wrong-type]", id="no list"),
        pytest.param("lint: {strict: 1}", "1:16", "error[wrong-type]", id="no switch"),
        pytest.param("[lint]", "1:1", "error[wrong-type]", id="no mapping"),
        pytest.param("lint: {disable: [no-gang, no-gang]}", "1:27", "error[duplicate-item]", id="twice"),
        pytest.param("lint: {", "2:1", "error[yaml]", id="no YAML"),
        pytest.param("lint: {}\n---\nlint: {}", "3:1", "error[unreadable]", id="two documents"),
    ],
)
def test_what_is_wrong_with_it(text: str, place: str, said: str) -> None:
    Path("trainc.yaml").write_text(f"{text}\n")
    done = run("validate")
    assert f"trainc.yaml:{place}: {said}" in done.out
    assert done.code == int(said.startswith("error"))


@pytest.mark.parametrize(
    ("text", "help"),
    [
        pytest.param("lint: {disable: [image-versoin]}", "did you mean image-version?", id="an id"),
        pytest.param("lint: {disbale: []}", "did you mean disable?", id="a key"),
    ],
)
def test_the_nearest_name_is_offered(text: str, help: str) -> None:
    Path("trainc.yaml").write_text(text)
    assert f"help: {help}" in run("validate").out


@pytest.mark.parametrize("text", ["", "# Nothing yet.\n", "lint:\n", "lint: {}\n", "lint: {disable: []}\n", "---\n"])
def test_it_may_say_nothing(text: str) -> None:
    Path("trainc.yaml").write_text(text)
    done = run("validate")
    assert (done.code, done.out.count("warning[")) == (0, 1)


def test_it_is_no_manifest() -> None:
    Path("jobs/trainc.yaml").write_text(QUIET)
    Path("jobs/ci.yaml").write_text(QUIET)
    done = run("build", "jobs", "--config", "jobs/ci.yaml", "--passthrough")
    assert (done.code, "error" in done.err) == (0, False)
    assert "lint" not in done.out
    assert "contains trainc settings, not manifests" in run("build", "jobs/trainc.yaml").err


@pytest.mark.parametrize(
    ("arguments", "quiet"),
    [
        pytest.param([], True, id="the nearest"),
        pytest.param(["--no-config"], False, id="none"),
        pytest.param(["--config", "loud.yml"], False, id="another"),
    ],
)
def test_the_command_line_says_which(arguments: list[str], quiet: bool) -> None:
    Path("trainc.yaml").write_text(QUIET)
    Path("loud.yml").write_text("lint: {}\n")
    for command in ("validate", "build"):
        done = run(command, "jobs", *arguments)
        assert ("image-version" not in done.out + done.err) is quiet


def test_a_file_that_is_not_there() -> None:
    done = run("validate", "--config", "none.yaml")
    assert (done.code, "none.yaml: error[unreadable]: cannot be read" in done.out) == (1, True)


def test_a_file_and_none() -> None:
    done = run("validate", "--config", "trainc.yaml", "--no-config")
    assert (done.code, "cannot be combined" in done.err) == (2, True)


def test_a_link_out_of_the_root_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text(QUIET)
    Path("trainc.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    done = run("validate")
    assert (done.code, "trainc.yaml: error[link-out]" in done.out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "text", "by"),
    [
        pytest.param(["--strict"], "", "--strict", id="--strict"),
        pytest.param([], STRICT, "lint.strict in trainc.yaml", id="trainc.yaml"),
    ],
)
def test_warnings_are_errors(arguments: list[str], text: str, by: str) -> None:
    Path("jobs/team/job.yaml").write_text(JOB.replace("trainer: {", "trainer: {nodes: 4, "))
    Path("trainc.yaml").write_text(text)
    arguments = [*arguments, "--field-validation=warn"]
    checked = run("validate", *arguments)
    assert checked.code == 1
    assert "error[image-version]" in checked.out
    assert "error[unknown-field]" in checked.out
    assert f"2 errors (including 2 warnings turned into errors by {by})" in checked.out
    listed = json.loads(run("validate", *arguments, "--format", "json").out)
    assert {d["severity"] for d in listed if d["id"] != "built-in-runtime"} == {"error"}
    built = run("build", *arguments, "-o", "rendered")
    assert (built.code, built.out, Path("rendered").exists()) == (1, "", False)


def test_strictly_a_good_job_is_a_good_job() -> None:
    Path("jobs/team/job.yaml").write_text(JOB.replace("train}", "train:2}"))
    for command in ("validate", "build"):
        done = run(command, "--strict")
        assert (done.code, "error" in done.out + done.err) == (0, False)


def test_the_schema_knows_every_rule() -> None:
    schema = json.loads(run("schema", "settings").out)
    assert schema["$defs"]["rules"]["items"]["enum"] == list(lint_rules())
