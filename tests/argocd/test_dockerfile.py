"""The sidecar's Dockerfile: its content, and its steps performed in a plain venv, as user 999 if root runs the tests.

The tests build no image and need no container engine.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from typing import Any

import pytest
import yaml
from argocd.sidecar import FILES, HOME, ROOT, USER, Instruction, Sidecar, instructions
from running import without_note

from trainc import page_of

CONFIGURATION = "/home/argocd/cmp-server/config/plugin.yaml"
"""The path where Argo CD's plugin server looks for the plugin."""
SERVER = "/var/run/argocd/argocd-cmp-server"


def stages() -> list[list[Instruction]]:
    """Return the instructions of each stage, including FROM."""
    found: list[list[Instruction]] = []
    for instruction in instructions():
        if instruction.name == "FROM":
            found.append([])
        found[-1].append(instruction)
    return found


def named(stage: list[Instruction], name: str) -> list[str]:
    return [instruction.text for instruction in stage if instruction.name == name]


def sidecar_container() -> Any:
    (found,) = yaml.safe_load((FILES / "sidecar.yaml").read_text())["spec"]["template"]["spec"]["containers"]
    return found


def test_it_has_two_stages_on_the_same_python() -> None:
    build, final = stages()
    (base,) = named(final, "FROM")
    assert named(build, "FROM") == [f"{base} AS build"]
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    version, _, digest = base.removeprefix("python:").partition("@")
    assert tuple(map(int, version.partition("-")[0].split("."))) >= tuple(map(int, wanted.split(".")))
    assert re.fullmatch("sha256:[0-9a-f]{64}", digest)


def test_pip_checks_the_hash_of_everything_that_it_downloads() -> None:
    installs = [text for text in named(stages()[0], "RUN") if " install " in text]
    assert len(installs) == 3
    assert [text for text in installs if "--require-hashes" not in text and "--no-index" not in text] == []
    (build,) = (text for text in named(stages()[0], "RUN") if "-m build" in text)
    assert "--no-isolation" in build  # an isolated build downloads its backend without hashes


def test_nothing_is_run_or_fetched_in_the_final_stage() -> None:
    final = stages()[1]
    assert [instruction.name for instruction in final] == ["FROM", "COPY", "COPY", "ENV", "USER", "ENTRYPOINT"]
    assert "://" not in " ".join(named(final, "COPY"))


def test_only_the_venv_and_the_configuration_get_into_the_final_stage() -> None:
    build, final = stages()
    (home,) = (text.partition("=")[2] for text in named(build, "ENV") if text.startswith(f"{HOME}="))
    assert named(final, "COPY") == [
        f"--from=build {home} {home}",  # the scripts of a venv name its folder
        f"integrations/argocd/plugin.yaml {CONFIGURATION}",
    ]
    (variables,) = (dict(pair.split("=", 1) for pair in text.split()) for text in named(final, "ENV"))
    assert variables["PATH"].split(":")[0] == f"{home}/bin"


def test_what_is_copied_is_there() -> None:
    sources = [source for text in named(stages()[0], "COPY") for source in text.split()[:-1]]
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_the_user_and_the_program_are_those_of_argo_cds_sidecars() -> None:
    final = stages()[1]
    assert named(final, "USER") == [str(USER)]
    (program,) = named(final, "ENTRYPOINT")
    assert json.loads(program) == [SERVER]


def test_the_deployment_runs_it_as_that_user_and_mounts_what_it_needs() -> None:
    found = sidecar_container()
    assert found["securityContext"]["runAsUser"] == USER
    assert found["securityContext"]["readOnlyRootFilesystem"] is True
    mounts = [mount["mountPath"] for mount in found["volumeMounts"]]
    assert os.path.dirname(SERVER) in mounts
    assert "/tmp" in mounts  # where the server unpacks repositories
    hidden = [path for path in mounts if CONFIGURATION.startswith(f"{path}/")]
    assert hidden == []
    assert found["image"] in (FILES / "Dockerfile").read_text()


def test_the_steps_make_a_venv_that_finds_all_it_needs(sidecar: Sidecar) -> None:
    commands = yaml.safe_load((FILES / "plugin.yaml").read_text())["spec"]
    program = commands["generate"]["command"][0]
    case = ROOT / "golden" / "llm-finetune-4x8"
    built = sidecar.run([program, "build", "-"], sidecar.folder, input=(case / "input.yaml").read_text())
    assert (built.returncode, without_note(built.stderr)) == (0, "")
    assert built.stdout == (case / "expected.yaml").read_text()
    explained = sidecar.run([program, "explain", "wrong-type"], sidecar.folder)
    assert explained.stdout == page_of("wrong-type")


def test_only_root_can_change_the_venv(sidecar: Sidecar) -> None:
    if sidecar.user is None:
        pytest.skip("root")
    theirs = [path for path in (sidecar.folder / "opt").rglob("*") if path.lstat().st_uid != 0]
    assert theirs == []
