"""The extension for VS Code, as `make vscode` packs it: its manifest, and its client in Node with the real server.

Skipped without Node or the packed extension; if CI is set, that is a failure. Node's own runner runs the `*.test.cjs`
files. `vscode.cjs` is the part of VS Code's API that they need.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest

from trainc.base.releases import __version__
from trainc.lsp.server import COMMANDS

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "integrations" / "vscode"
BUILD: Final = ROOT / "build" / "vscode"
PACKED: Final = BUILD / f"trainc-{__version__}.vsix"
HERE: Final = Path(__file__).parent
LICENSES: Final = ("vscode-languageclient", "vscode-languageserver-protocol", "vscode-jsonrpc", "semver", "minimatch")


@pytest.fixture(scope="session")
def node() -> str:
    found = shutil.which("node")
    if found is None or not PACKED.is_file():
        reason = "needs node and build/vscode (`make vscode`)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return found


@pytest.fixture(scope="session")
def extension(node: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension as VS Code installs it."""
    folder = tmp_path_factory.mktemp("vsix")
    with zipfile.ZipFile(PACKED) as packed:
        packed.extractall(folder)
    return folder / "extension"


def manifest(extension: Path) -> Any:
    return json.loads((extension / "package.json").read_text())


def runs(node: str, file: str, **variables: str) -> None:
    """Run the tests of a file; report their output if one fails."""
    command = [node, "--test", "--test-reporter=tap", str(HERE / file)]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.findall(r"^# pass (\d+)$", done.stdout, re.MULTILINE)[0]) > 0


def test_the_package_has_only_what_vs_code_runs(extension: Path) -> None:
    files = {str(path.relative_to(extension)) for path in extension.rglob("*") if path.is_file()}
    assert files == {"LICENSE.txt", "package.json", "readme.md", "dist/LICENSES.txt", "dist/extension.js"}
    assert (extension / "LICENSE.txt").read_text() == (ROOT / "LICENSE").read_text()
    licenses = (extension / "dist" / "LICENSES.txt").read_text()
    assert [name for name in LICENSES if not re.search(rf"^{name} \d", licenses, re.MULTILINE)] == []
    assert manifest(extension)["version"] == __version__


def test_the_manifest_has_the_commands_of_the_server(extension: Path) -> None:
    contributes = manifest(extension)["contributes"]
    assert {each["command"] for each in contributes["commands"]} == {*COMMANDS, "trainc.restart"}
    assert {each["command"] for each in contributes["menus"]["commandPalette"]} == {*COMMANDS}


def test_the_extension_reads_the_settings_of_its_manifest(extension: Path) -> None:
    settings = manifest(extension)["contributes"]["configuration"]["properties"]
    read = re.findall(r'settings\.get\("(\w+)"', (SOURCE / "src" / "extension.ts").read_text())
    assert {*settings} == {*(f"trainc.{name}" for name in read), "trainc.trace.server"}
    assert [name for name, each in settings.items() if not (each.keys() & {"description", "markdownDescription"})] == []


def test_an_untrusted_workspace_starts_no_program(extension: Path) -> None:
    assert manifest(extension)["capabilities"]["untrustedWorkspaces"]["supported"] is False


def test_each_package_is_locked_with_its_hash() -> None:
    named = json.loads((SOURCE / "package.json").read_text())
    direct = {**named["dependencies"], **named["devDependencies"]}
    locked = json.loads((SOURCE / "package-lock.json").read_text())["packages"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in direct} == direct
    others = {path: each for path, each in locked.items() if path}
    assert [path for path, each in others.items() if not each["integrity"].startswith("sha512-")] == []


def test_the_choice_of_the_program(node: str, tmp_path: Path) -> None:
    module = tmp_path / "program.cjs"
    bundle = [str(BUILD / "node_modules" / ".bin" / "esbuild"), str(SOURCE / "src" / "program.ts")]
    options = ["--format=cjs", "--platform=node", "--log-level=warning", f"--outfile={module}"]
    subprocess.run([*bundle, *options], check=True)
    runs(node, "program.test.cjs", PROGRAM=str(module))


def test_the_client_with_the_server(node: str, extension: Path) -> None:
    trainc = Path(sys.executable).with_name("trainc")
    runs(node, "extension.test.cjs", EXTENSION=str(extension), TRAINC=str(trainc))
