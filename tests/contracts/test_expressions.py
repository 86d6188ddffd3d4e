"""Every regular expression of the package takes linear time, on generated worst cases of 1 MB (`expressions`)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parent
FEWEST = 100
"""The package has more uses of expressions than this: the search for them works."""


def test_every_expression() -> None:
    done = subprocess.run([sys.executable, "expressions.py"], cwd=FOLDER, capture_output=True, check=True, text=True)
    (_, _, quadratic), *rows = map(json.loads, done.stdout.splitlines())
    assert quadratic < 0
    assert len(rows) > FEWEST
    assert [row for row in rows if row[2]] == []
