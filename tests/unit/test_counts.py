"""Warnings about counts below 1 and JobSets without jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from linting import MPI, fires, replicated, runtime_of, silent, trainjob, warnings
from manifests import write_json
from running import run
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.compilation.run import Options
from trainc.settings import Settings

NO_JOBS = runtime_of(of_jobset={"replicatedJobs": []})
ELASTIC = {"torch": {"elasticPolicy": {"minNodes": 1, "maxNodes": 2}}}
FLUX = runtime_of(policy={"flux": {}, "numNodes": 1})
LAUNCHER = replicated(name="launcher")


def mpi(**policy: Any) -> dict[str, Any]:
    return runtime_of(LAUNCHER, replicated(), policy={"mpi": MPI["mpi"] | policy})


@pytest.mark.parametrize(
    ("documents", "ids"),
    [
        fires("node-count", runtime_of(), trainjob(numNodes=0), id="no nodes"),
        fires("node-count", runtime_of(policy={"jax": {}, "numNodes": 0}), trainjob(), id="of the runtime"),
        fires("node-count", mpi(), trainjob(numNodes=0), id="only a launcher"),
        silent("node-count", runtime_of(), trainjob(numNodes=1), id="one node"),
        silent("node-count", runtime_of(policy=ELASTIC), trainjob(numNodes=1), id="elastic"),
        fires("process-count", runtime_of(), trainjob(numProcPerNode=0), id="no processes"),
        fires("process-count", runtime_of(), trainjob(numProcPerNode=-1), id="less than none"),
        fires("process-count", runtime_of(policy={"jax": {}}), trainjob(numProcPerNode=0), id="without effect"),
        fires("process-count", mpi(numProcPerNode=0), trainjob(), id="of an MPI runtime"),
        silent("process-count", runtime_of(), trainjob(numProcPerNode=1), id="one process"),
        silent("process-count", mpi(numProcPerNode=4), trainjob(), id="of another MPI runtime"),
        fires("no-jobs", NO_JOBS, trainjob(image="i:1"), id="no jobs"),
    ],
)
def test_a_warning(tmp_path: Path, documents: tuple[Any, ...], ids: list[str], snapshot: SnapshotAssertion) -> None:
    found = warnings(tmp_path, *documents)
    assert [d.id for d in found] == ids
    assert not ids or texts(found) == snapshot


def test_a_runtime_is_warned_about_once(tmp_path: Path) -> None:
    jobs = [trainjob(name) for name in "abc"]
    assert [d.id for d in warnings(tmp_path, runtime_of(policy={"torch": {}, "numNodes": 0}), *jobs)] == ["node-count"]


@pytest.mark.parametrize(
    ("runtime_of_job", "trainer", "id"),
    [
        pytest.param(runtime_of(policy=ELASTIC), {"numNodes": 0}, "elastic-nodes", id="below an elastic minimum"),
        pytest.param(
            runtime_of(policy={"torch": {"elasticPolicy": {}}, "numNodes": 0}), {}, "elastic-nodes", id="an empty range"
        ),
        pytest.param(FLUX, {"numNodes": 1, "numProcPerNode": 0}, "flux-process-count", id="Flux"),
    ],
)
def test_an_error_is_not_repeated_as_a_warning(tmp_path: Path, runtime_of_job: Any, trainer: Any, id: str) -> None:
    done = trainc.compile(
        [write_json(tmp_path, runtime_of_job, trainjob(**trainer))], options=Options(settings=Settings())
    )
    assert [d.id for d in done.diagnostics] == [id]


@pytest.mark.parametrize(("options", "code", "severity"), [([], 0, "warning"), (["--strict"], 1, "error")])
def test_strict_makes_it_an_error(tmp_path: Path, options: list[str], code: int, severity: str) -> None:
    done = run("validate", *options, write_json(tmp_path, runtime_of(), trainjob(numNodes=0)))
    assert done.code == code
    assert f"{severity}[node-count]: numNodes must be at least 1, not 0" in done.out
