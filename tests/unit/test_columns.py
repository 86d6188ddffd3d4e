"""Lines that are broken at the width of a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import run

from trainc.base.texts import wrapped

COLOR = re.compile("\x1b\\[\\d*m")
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train, namespace: research}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: registry.example.com/research/language/train:2026.11, numNodes: 2}
"""


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        pytest.param("a b c", 80, "a b c", id="it fits"),
        pytest.param("aa bb cc", 5, "aa bb\n    cc", id="at the last space"),
        pytest.param("  aa bb cc", 7, "  aa bb\n      cc", id="below its own indentation"),
        pytest.param("aaaaaaaaaa bb", 4, "aaaaaaaaaa\n    bb", id="a wide word is not broken"),
        pytest.param("aaaaaaaaaa", 4, "aaaaaaaaaa", id="one wide word"),
        pytest.param("\x1b[31maa\x1b[0m bb", 5, "\x1b[31maa\x1b[0m bb", id="colors take no space"),
        pytest.param("aa bb\ncc dd", 4, "aa\n    bb\ncc\n    dd", id="each line"),
        pytest.param("", 4, "", id="nothing"),
    ],
)
def test_wrapped(text: str, width: int, expected: str) -> None:
    assert wrapped(text, width) == expected


def test_explain_and_diff_fit_the_terminal(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    Path("old.yaml").write_text(JOB)
    Path("new.yaml").write_text(JOB.replace("2026.11", "2026.12").replace("numNodes: 2", "numNodes: 4"))
    for arguments in (("explain", "old.yaml"), ("diff", "old.yaml", "new.yaml")):
        lines = run(*arguments).out.splitlines()
        assert len(lines) > 10
        # A value or a path without spaces is not broken.
        assert [each for each in lines if len(COLOR.sub("", each)) > 80 and " " in each.strip()] == []
