"""examples/teams: every command works without options, the trees are golden, and planted faults are reported once."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from committing import commit, git
from running import run

from trainc.cli.common import group

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
TEAMS = ROOT / "examples" / "teams"
ENVIRONMENTS = ("dev", "staging", "prod")


@pytest.fixture
def teams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the project, committed to git."""
    shutil.copytree(TEAMS, tmp_path / "teams")
    monkeypatch.chdir(tmp_path / "teams")
    git("init", "--quiet")
    commit()
    return tmp_path / "teams"


def test_the_project_has_three_teams_with_twelve_jobs_and_three_environments() -> None:
    assert sorted(path.name for path in (TEAMS / "jobs").iterdir()) == ["language", "speech", "vision"]
    jobs = [path for path in (TEAMS / "jobs").rglob("*.yaml") if path.name != "team.yaml"]
    assert len(jobs) == 12
    assert {name: len(list(rendered(name))) for name in ENVIRONMENTS} == {"dev": 12, "staging": 10, "prod": 10}
    assert sorted(path.name for path in (TEAMS / "rendered").iterdir()) == sorted(ENVIRONMENTS)
    settings = yaml.safe_load((TEAMS / "trainc.yaml").read_text())["environments"]
    assert [settings[name]["cluster"] for name in ENVIRONMENTS] == ["lab", "lab", "production"]


def rendered(environment: str) -> Iterator[Path]:
    """Yield the rendered files of the TrainJobs of an environment."""
    return (path for path in (TEAMS / "rendered" / environment).rglob("*.yaml") if not path.name.startswith("_"))


@pytest.mark.parametrize(
    ("environment", "namespaces"),
    [
        ("dev", {"language": "language-dev", "speech": "speech-dev", "vision": "vision-dev"}),
        ("staging", {"language": "language-staging", "speech": "speech-staging", "vision": "vision-staging"}),
        ("prod", {"language": "llm", "speech": "speech", "vision": "vision"}),
    ],
)
def test_each_team_has_a_namespace_with_its_documents(environment: str, namespaces: dict[str, str]) -> None:
    trees = [tree for path in rendered(environment) for tree in yaml.safe_load_all(path.read_text())]
    copied = list(yaml.safe_load_all((TEAMS / "rendered" / environment / "_passthrough.yaml").read_text()))
    for tree in trees:
        team = tree["metadata"]["labels"].get("team")
        assert tree["metadata"]["namespace"] == namespaces[team] if team else tree["metadata"]["namespace"]
    assert sorted((tree["kind"], tree["metadata"]["name"], tree["metadata"]["namespace"]) for tree in copied) == [
        ("ConfigMap", "tokenizer", namespaces["language"]),
        *(("ExternalSecret", f"{team}-bucket", namespace) for team, namespace in namespaces.items()),
        *(("LocalQueue", "gpu", namespace) for namespace in namespaces.values()),
        ("PersistentVolumeClaim", "texts", namespaces["language"]),
    ]


def test_the_review_and_the_build_show_which_data_is_lost(teams: Path) -> None:
    team = teams / "jobs/language/team.yaml"
    team.write_text(team.read_text().partition("---\n# The texts")[0])
    lost = "deleted with its data by a tool that prunes"
    removed = {"dev": "language-dev", "staging": "language-staging", "prod": "llm"}
    review = run("diff").out
    assert review.splitlines()[2] == "3 ConfigMaps and 3 PersistentVolumeClaims are deleted with their data"
    for id in ("ConfigMap language/tokenizer", "PersistentVolumeClaim language/texts"):
        assert f"- removed {id} [dev, staging, prod]  jobs/language/team.yaml: {lost}\n" in review
    build = run("build").err
    for environment, namespace in removed.items():
        ids = f"PersistentVolumeClaim {namespace}/texts, ConfigMap {namespace}/tokenizer"
        assert build.count(f"rendered/{environment}: removed {ids}: {lost}\n") == 1


@pytest.mark.parametrize("folder", [".", "jobs/vision"])
def test_the_rendered_trees_are_golden(teams: Path, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `trainc build` in examples/teams after a deliberate change of the output."""
    monkeypatch.chdir(folder)
    done = run("build", "--check")
    assert (done.code, done.out, done.reported) == (0, "", "")
    shutil.rmtree(teams / "rendered")
    assert run("build").code == 0
    for name in ENVIRONMENTS:
        found = subprocess.run(["diff", "-r", teams / "rendered" / name, TEAMS / "rendered" / name], check=False)
        assert found.returncode == 0


def pods(environment: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield the name of each TrainJob, the JobSet's specification and that of its pods."""
    for path in rendered(environment):
        jobset = next(yaml.safe_load_all(path.read_text()))
        (job,) = jobset["spec"]["replicatedJobs"]
        yield jobset["metadata"]["name"], jobset["spec"], job["template"]["spec"]["template"]["spec"]


CPUS = {"align", "resize-images", "tokenize"}
LANGUAGE = {"instruct", "long-context", "mixture", "pretrain", "tokenize"}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_trees_contain_the_four_patches(environment: str) -> None:
    for name, jobset, pod in pods(environment):
        (container,) = pod["containers"]
        proxy = {"name": "HTTPS_PROXY", "value": "http://proxy.acme.io:3128"}
        assert (proxy in container.get("env", [])) is (name in LANGUAGE)
        assert pod["priorityClassName"] == "research"
        assert jobset["failurePolicy"]["maxRestarts"] == 2
        assert ("affinity" in pod) is (environment == "prod" and name not in CPUS)


def test_explain_names_the_lines_of_the_patches(teams: Path) -> None:
    lines = {
        "**.env[HTTPS_PROXY].value": ("trainc.yaml", "http://proxy.acme.io:3128"),
        "**.priorityClassName": ("platform/patches/priority.yaml", "priorityClassName"),
        "**.maxRestarts": ("trainc.yaml", "maxRestarts: 2"),
        "**.nodeAffinity.**.key": ("trainc.yaml", "acme.io/pool"),
    }
    for pattern, (file, text) in lines.items():
        done = run("explain", "--env", "prod", pattern)
        line = (teams / file).read_text().partition(text)[0].count("\n") + 1
        assert re.search(rf"\s{file}:{line}(:|\s)", done.out), done.out


def test_the_commands_of_its_readme(teams: Path) -> None:
    readme = (teams / "README.md").read_text()
    commands = re.findall(r"^    trainc (.+?)(?:   .*)?$|`trainc ([^`]+ [^`]+)`", readme, re.MULTILINE)
    assert len(commands) == 9
    for block, inline in commands:
        done = run(*shlex.split(block or inline))
        assert (done.code, done.reported.count("warning")) == (0, 0), done.err


TOKEN = "env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: vision-bucket, key: token}}}]"
ALL = "[dev, staging, prod; an error in prod]"
# Each row: a file, a text in it and the text with the fault; and the only line of the report.
FAULTS = [
    pytest.param(
        *("jobs/vision/detector.yaml", "queue-name: gpu", "queue-name: h1"),
        'jobs/vision/detector.yaml:3:97: error[unknown-queue-object]: the given paths do not have LocalQueue "h1", '
        f"although they have others of its namespace {ALL}",
        id="a missing queue",
    ),
    pytest.param(
        *("jobs/language/experiments/mixture.yaml", "queue-name: gpu", "queue-name: h1"),
        "jobs/language/experiments/mixture.yaml:3:100: warning[unknown-queue-object]: the given paths do not have "
        'LocalQueue "h1", although they have others of its namespace [dev]',
        id="a missing queue in one environment",
    ),
    pytest.param(
        *("trainc.yaml", "images: [{name: ghcr.io/acme/jax, newName", "images: [{name: ghcr.io/acme/jaxx, newName"),
        'trainc.yaml:23:17: error[unmatched-image]: no TrainJob and no runtime has the image "ghcr.io/acme/jaxx" '
        f"{ALL}",
        id="an unmatched image of the file",
    ),
    pytest.param(
        *("trainc.yaml", "- {name: ghcr.io/acme/jax, newTag", "- {name: ghcr.io/acme/jaxx, newTag"),
        'trainc.yaml:40:16: warning[unmatched-image]: no TrainJob and no runtime has the image "ghcr.io/acme/jaxx" '
        "[staging]",
        id="an unmatched image of an environment",
    ),
    pytest.param(
        *("trainc.yaml", "labelSelector: team=language", "labelSelector: team=languages"),
        f"trainc.yaml:11:13: error[unused-patch]: patch 1 of trainc.yaml matches no TrainJob {ALL}",
        id="an unused patch of the file",
    ),
    pytest.param(
        *("trainc.yaml", 'name: "*-gpu"', 'name: "*-tpu"'),
        "trainc.yaml:50:17: error[unused-patch]: patch 1 of environment prod in trainc.yaml matches no "
        "ClusterTrainingRuntime [prod]",
        id="an unused patch of an environment",
    ),
    pytest.param(
        *("jobs/vision/detector.yaml", "vision-bucket", "speech-bucket"),
        'jobs/vision/detector.yaml:11:42: error[foreign-reference]: the given paths have Secret "speech-bucket" in '
        f'namespace "speech-dev", but not in "vision-dev" {ALL}',
        id="the secret of another team",
    ),
    pytest.param(
        *("jobs/language/experiments/mixture.yaml", "    numNodes: 4", f"    numNodes: 4\n    {TOKEN}"),
        "jobs/language/experiments/mixture.yaml:8:58: warning[foreign-reference]: the given paths have Secret "
        '"vision-bucket" in namespace "vision-dev", but not in "language-dev" [dev]',
        id="the secret of another team in one environment",
    ),
]


@pytest.mark.parametrize(("file", "old", "new", "expected"), FAULTS)
@pytest.mark.usefixtures("teams")
def test_a_planted_fault_is_reported_once(file: str, old: str, new: str, expected: str) -> None:
    text = Path(file).read_text()
    assert text.count(old) == 1
    Path(file).write_text(text.replace(old, new))
    done = run("validate")
    assert re.findall(r"^\S+: (?:error|warning|note)\[.*$", done.out, re.MULTILINE) == [expected]


COMMANDS = {
    "build": (),
    "validate": (),
    "diff": (),
    "explain": ("--env", "prod"),
    "pods": ("--env", "prod"),
    "graph": ("--env", "prod"),
    "queues": ("--env", "prod"),
    "settings": (),
    "runtimes": ("list",),
    "upgrade": (),
    "migrate": (),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("teams")
def test_every_command_works_without_options(command: str) -> None:
    done = run(command, *COMMANDS[command])
    assert done.code == 0, done.err
    assert "warning" not in done.err
    assert "error" not in done.err


def test_every_command_that_reads_a_project_is_tested() -> None:
    assert set(group.COMMANDS) - {"krm", "cmp", "init", "secret", "schema", "completion", "lsp"} == COMMANDS.keys()
