"""The command of the playground gives the golden outputs in Node, where Python and PyYAML are those of the page.

Skipped with a reason without Node or the playground (`make site`); if CI is set, that is a failure.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from browsing import skip_or_fail
from make_site import ROOT

GOLDEN: Final = ROOT / "golden"
PLAYGROUND: Final = ROOT / "build" / "site" / "site" / "playground"
CASES: Final = sorted(path.parent.name for path in GOLDEN.glob("*/input.yaml"))


@pytest.fixture(scope="module")
def results() -> dict[str, list[object]]:
    node = shutil.which("node")
    if not node or not PLAYGROUND.is_dir():
        skip_or_fail("Node and the playground: make site")
    program = Path(__file__).with_name("golden.mjs")
    done = subprocess.run([node or "", program, PLAYGROUND, GOLDEN], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("case", CASES)
def test_golden(results: dict[str, list[object]], case: str) -> None:
    code, out, err = results[case]
    assert code == (1 if case.startswith("wrong-") else 0), err
    assert out == _recorded(case, "expected.yaml")
    # The recorded messages have no number of runtimes.
    assert re.sub(r"\(\d+\)(?=[,;] add a path)", "(N)", str(err)) == _recorded(case, "expected.txt")


def _recorded(case: str, name: str) -> str:
    file = GOLDEN / case / name
    return file.read_text(encoding="utf-8") if file.exists() else ""
