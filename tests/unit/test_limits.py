"""Size limits: each limit to the byte, and its place; small jobs are not measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trainc
from trainc.pipeline.checks import limits

MAX_BYTES = 128 * 1024 - 1
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: finetune, namespace: ml}}
spec:
  runtimeRef: {{name: {runtime}}}
  trainer:
    numNodes: {nodes}
    args: [{args}]
    env:
{env}
"""


def written(folder: Path, *env: str, runtime: str = "torch-distributed-shm", nodes: int = 1, args: str = "") -> str:
    lines = "\n".join(f"    - {{name: V{index}, value: {value}}}" for index, value in enumerate(env or ("v",)))
    file = folder / "job.yaml"
    file.write_text(JOB.format(runtime=runtime, nodes=nodes, args=args, env=lines), encoding="utf-8")
    return str(file)


def reported(path: str) -> list[tuple[str, str, str, int]]:
    errors = [d for d in trainc.compile([path]).diagnostics if d.severity == "error"]
    return [(d.id, d.stage, d.field, at.line if (at := d.locate()) else 0) for d in errors]


CONTAINER = "spec.template.spec.containers[0]"
TOO_LONG = [("argument-too-long", "job", f"{CONTAINER}.env[0].value", 10)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("a" * (MAX_BYTES - len("V0=")), [], id="fits"),
        pytest.param("a" * (MAX_BYTES - len("V0=") + 1), TOO_LONG, id="does not"),
        pytest.param("é" * (MAX_BYTES // 2), TOO_LONG, id="bytes are counted"),
    ],
)
def test_a_variable(tmp_path: Path, value: str, expected: list[Any]) -> None:
    assert reported(written(tmp_path, value, runtime="plain")) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(MAX_BYTES, [], id="fits"),
        pytest.param(MAX_BYTES + 1, [("argument-too-long", "job", f"{CONTAINER}.args[1]", 8)], id="does not"),
    ],
)
def test_an_argument(tmp_path: Path, size: int, expected: list[Any]) -> None:
    assert reported(written(tmp_path, args=f"-c, {'a' * size}")) == expected


def test_an_alias_counts_as_its_value(tmp_path: Path) -> None:
    many = [f"&text {'<' * 20_000}", *["*text"] * 13]
    path = written(tmp_path, *many)
    assert Path(path).stat().st_size < 32 * 1024
    assert [(id, stage, line) for id, stage, _, line in reported(path)] == [("object-too-large", "jobset", 9)]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param(20_000, [], id="fits"),
        pytest.param(40_000, [("config-map-too-large", "build", "", 7)], id="does not"),
    ],
)
def test_the_hosts_of_many_nodes(tmp_path: Path, nodes: int, expected: list[Any]) -> None:
    assert reported(written(tmp_path, runtime="openmpi-distributed", nodes=nodes)) == expected


def stored(text: str) -> dict[str, Any]:
    return {"kind": "JobSet", "spec": {"a": [{"b": "small"}, {"b": text}]}}


FRAME = len('{"kind":"JobSet","spec":{"a":[{"b":"small"},{"b":""}]}}')


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        pytest.param("x" * (limits.MAX_STORED - FRAME), True, id="the last byte"),
        pytest.param("x" * (limits.MAX_STORED - FRAME + 1), False, id="one more"),
        pytest.param("é" * (limits.MAX_STORED // 2), False, id="two bytes a letter"),
        pytest.param("&" * (limits.MAX_STORED // 6), False, id="Go escapes an ampersand"),
        pytest.param("\u2028" * (limits.MAX_STORED // 6), False, id="and a line separator"),
        pytest.param('"' * (limits.MAX_STORED // 2), False, id="a quote takes a backslash"),
    ],
)
def test_stored_size(text: str, *, fits: bool) -> None:
    expected = [] if fits else [("spec", "a", 1, "b")]
    assert [violation.path for violation in limits.stored(stored(text))] == expected


def test_a_small_job_is_not_measured(tmp_path: Path) -> None:
    code = "import sys, trainc; assert trainc.compile(sys.argv[1:]).objects; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, written(tmp_path)], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "trainc.pipeline.checks.jobset" in loaded
    assert (
        loaded
        & {"trainc.pipeline.checks.limits", "trainc.pipeline.checks.jobset.policies", "trainc.provenance.tracing"}
        == set()
    )
