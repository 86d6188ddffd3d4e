"""What users do first, with the wheel in an empty venv: no compiler, no network, no checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from committing import commit, git
from release.conftest import BIN, ROOT, Installed, isolated

from trainc import page_of

README = (ROOT / "README.md").read_text()
PLUGIN = yaml.safe_load((ROOT / "integrations" / "argocd" / "plugin.yaml").read_text())["spec"]
GOLDEN = ROOT / "golden" / "llm-finetune-4x8"


def test_there_is_no_network(installed: Installed) -> None:
    if not isolated():
        pytest.skip("root")
    ask = "import socket; socket.create_connection(('192.0.2.1', 443), timeout=5)"
    assert "Network is unreachable" in installed.run([installed.bin / "python", "-c", ask], code=1).stderr


def test_the_readmes_example(installed: Installed, tmp_path: Path) -> None:
    command, _, output = README.split("```console\n$ ")[1].partition("```")[0].partition("\n")
    [path] = [Path(word) for word in command.split() if word.endswith(".yaml")]
    (tmp_path / path.parent).mkdir(parents=True)
    shutil.copy(ROOT / path, tmp_path / path)
    assert output.count("error[") == 2
    assert installed.run(command.split(), tmp_path, code=1).stdout == output


def test_a_golden_case_and_its_data_files(installed: Installed, tmp_path: Path) -> None:
    assert installed.run(["trainc", "build", GOLDEN / "input.yaml"]).stdout == (GOLDEN / "expected.yaml").read_text()
    page = installed.run(["trainc", "explain", "wrong-type"]).stdout
    assert page == page_of("wrong-type")
    assert "torch-distributed" in installed.run(["kubectl-trainc", "runtimes", "list"], tmp_path).stdout


def test_every_dependency_is_declared(installed: Installed) -> None:
    assert installed.run([installed.bin / "pip", "check"]).stdout == "No broken requirements found.\n"
    listed = installed.run([installed.bin / "pip", "list", "--format=json"]).stdout
    names = {re.sub(r"[-_.]+", "-", package["name"]).lower() for package in json.loads(listed)} - {"pip", "setuptools"}
    lock = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert names == {"trainc", *lock}


def test_the_plugins_commands(installed: Installed, tmp_path: Path) -> None:
    app = tmp_path / "apps" / "training"
    app.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    shutil.copy(GOLDEN / "input.yaml", app)
    argo = {"ARGOCD_APP_NAME": "training", "ARGOCD_APP_SOURCE_PATH": "apps/training"}
    discover, generate, parameters = (
        PLUGIN["discover"]["find"]["command"],
        PLUGIN["generate"]["command"],
        PLUGIN["parameters"]["dynamic"]["command"],
    )
    assert installed.run(discover, app, variables=argo).stdout.strip()
    kinds = [found["kind"] for found in yaml.safe_load_all(installed.run(generate, app, variables=argo).stdout)]
    assert kinds == [found["kind"] for found in yaml.safe_load_all((GOLDEN / "expected.yaml").read_text())]
    announced = json.loads(installed.run(parameters, app, variables=argo).stdout)
    assert {"runtimes", "only"} <= {found["name"] for found in announced}


def committed(folder: Path) -> None:
    git("init", "--quiet", at=folder)
    commit(at=folder)


def sources(folder: Path) -> str:
    """Create a repository with the files of a release, and return its tag."""
    metadata: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = metadata["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for name in (*listed, "/pyproject.toml", "/.pre-commit-hooks.yaml"):
        path = ROOT / name.removeprefix("/")
        if path.is_dir():
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, folder)
    committed(folder)
    git("tag", "v0.1.0", at=folder)
    return "v0.1.0"


def test_the_hooks_of_pre_commit_at_a_tag(installed: Installed, tmp_path: Path) -> None:
    released, user = tmp_path / "trainc", tmp_path / "user"
    released.mkdir()
    tag = sources(released)
    installed.run(["trainc", "init", user])
    hooks = [{"id": "trainc-validate"}, {"id": "trainc-build-check"}]
    settings = {"repos": [{"repo": str(released), "rev": tag, "hooks": hooks}]}
    (user / ".pre-commit-config.yaml").write_text(yaml.safe_dump(settings))
    installed.run(["trainc", "build", "-o", "rendered"], user)
    committed(user)
    offline = {**installed.offline_index, "PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": os.devnull}
    check: list[str | Path] = [BIN / "pre-commit", "run", "--all-files", "--color", "never"]
    good = installed.run(check, user, variables=offline).stdout
    assert good.count("Passed") == 2
    job = user / "jobs" / "first-job.yaml"
    job.write_text(job.read_text().replace("numNodes: 1", "numNodes: many"))
    bad = installed.run(check, user, variables=offline, code=1).stdout
    assert bad.count("Failed") == 2
    assert "jobs/first-job.yaml:10:15: error[wrong-type]" in bad


def test_the_action_installs_it(installed: Installed, tmp_path: Path) -> None:
    """`pip` checks the hashes of the lock files, here of the wheelhouse's files."""
    (tmp_path / "path").touch()
    variables = {**installed.offline_index, "RUNNER_TEMP": str(tmp_path), "GITHUB_PATH": str(tmp_path / "path")}
    step = ROOT / "integrations" / "github" / "action" / "install.sh"
    assert installed.run(["bash", step], variables=variables).stdout.startswith("trainc ")
    (folder,) = (tmp_path / "path").read_text().splitlines()
    built = installed.run([Path(folder) / "trainc", "build", GOLDEN / "input.yaml"]).stdout
    assert built == (GOLDEN / "expected.yaml").read_text()
