"""The command, which uses only libyaml's parser, reports the same as the library, which imports all of PyYAML."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import run

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PYTHONIOENCODING": "utf-8"}


def trainc(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trainc", *arguments]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False, timeout=60)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"a: \x01\n", id="a character that is not allowed"),
        pytest.param(b"a: \0\n", id="NUL"),
        pytest.param(b"a: \xe9\n", id="no UTF-8"),
        pytest.param(b"a:\n\tb: 1\n", id="scanner"),
        pytest.param(b"a: [b\n", id="parser"),
        pytest.param(b"a: *b\n", id="an alias of nothing"),
        pytest.param(b"a: 1\na: 2\n", id="two equal keys"),
        pytest.param(b"kind: TrainJob\n", id="nothing wrong with the YAML"),
    ],
)
def test_the_same_messages(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(text)
    done, inside = trainc("validate", str(file)), run("validate", str(file))
    assert (done.returncode, done.stdout) == (inside.code, inside.out)


def test_a_failed_replacement_is_undone() -> None:
    program = """
import sys
from trainc.kubernetes import libyaml
libyaml.ERRORS.pop("parser")        # as if the extension imported a module without a replacement
sys.modules["yaml.parser"] = None   # and that cannot be imported
print(libyaml.load_alone(), [name for name in sys.modules if name.startswith("yaml")])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split()[0] == "False"
    assert "'yaml'" not in done.stdout
