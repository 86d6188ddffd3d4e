"""A runtime without a framework policy: only the nodes and variables of the TrainJob apply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, container_of, job_of, trainer_job

OF_THE_RUNTIME = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
NODE = trainer_job(env=OF_THE_RUNTIME)


@pytest.mark.parametrize(
    ("trainer", "policy", "nodes"),
    [
        pytest.param({"numNodes": 3}, None, 3, id="the TrainJob's nodes without a policy"),
        pytest.param({"numNodes": 3}, {"numNodes": 2}, 3, id="the TrainJob's nodes"),
        pytest.param({}, {"numNodes": 2}, 2, id="the runtime's nodes"),
    ],
)
def test_nodes(tmp_path: Path, trainer: dict[str, Any], policy: dict[str, Any] | None, nodes: int) -> None:
    job = job_of(compiled(tmp_path, NODE, trainer, mlPolicy=policy))
    assert (job["parallelism"], job["completions"]) == (nodes, nodes)


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        pytest.param([], OF_THE_RUNTIME, id="only the runtime's"),
        pytest.param([{"name": "C", "value": "3"}], [*OF_THE_RUNTIME, {"name": "C", "value": "3"}], id="one more"),
        pytest.param(
            [{"name": "A", "value": "3"}], [{"name": "A", "value": "3"}, OF_THE_RUNTIME[1]], id="the TrainJob's wins"
        ),
    ],
)
def test_variables(tmp_path: Path, env: list[dict[str, str]], expected: list[dict[str, str]]) -> None:
    container = container_of(compiled(tmp_path, NODE, {"env": env}))
    assert container["env"] == expected
    assert "ports" not in container
