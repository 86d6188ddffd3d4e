"""Fixtures for a real rendezvous, and the table of results."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from e2e.cluster import HERE, Cluster, Prove, trainc
from e2e.images import PYTHON, Image

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

MAY_SKIP = ("mxnet", "xgboost")
"""Modules that CI may lack: MXNet has no release for current Python, and XGBoost may change its variables."""
TABLE = pytest.StashKey[list["Proof"]]()


class Proof(NamedTuple):
    """A row of the table."""

    framework: str
    nodes: int
    processes: int
    proved: str
    seconds: float


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TABLE] = []


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    rows = [("FRAMEWORK", "NODES", "PROCESSES", "PROVED", "SECONDS")]
    rows += [
        (proof.framework, str(proof.nodes), str(proof.processes), proof.proved, f"{proof.seconds:.1f}")
        for proof in config.stash[TABLE]
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    terminalreporter.section("real rendezvous")
    for row in rows:
        terminalreporter.write_line(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


@pytest.fixture
def needs() -> Callable[..., None]:
    """Skip the test with the reason if a module or program is missing; fail if CI must have it."""

    def check(framework: str, *, modules: tuple[str, ...] = (), programs: tuple[str, ...] = ()) -> None:
        # Not every user's PATH has Debian's sbin folders.
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        missing = [f"the module {name}" for name in modules if find_spec(name) is None]
        missing += [f"the program {name}" for name in ("ip", "unshare", *programs) if not shutil.which(name, path=path)]
        if os.geteuid() != 0:
            missing.append("root, who can make namespaces")
        if missing:
            reason = f"{', '.join(missing)} (for {framework})"
            if os.environ.get("CI") and framework not in MAY_SKIP:
                pytest.fail(f"CI may not skip a test that needs {reason}")
            pytest.skip(reason)

    return check


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Callable[..., Cluster]]:
    """Return a factory: `cluster("torch")` is the cluster of jobs/torch.yaml, which ends with the test.

    A path is another file. With `migrated`, it is the cluster of the TrainJob that replaces the legacy job of the file.
    """
    made: list[Cluster] = []

    def make(
        name: str | Path,
        image: Image = PYTHON,
        *,
        secret: str = "",
        migrated: bool = False,
        options: tuple[str, ...] = (),
    ) -> Cluster:
        manifest = name if isinstance(name, Path) else HERE / "jobs" / f"{name}.yaml"
        if migrated:
            text = trainc("migrate", str(manifest))
            manifest = tmp_path / "migrated.yaml"
            manifest.write_text(text)
        one = Cluster(manifest, tmp_path, image, secret=secret, options=options)
        made.append(one)
        return one.__enter__()

    yield make
    for one in made:
        one.__exit__(None, None, None)


@pytest.fixture
def prove(request: pytest.FixtureRequest) -> Prove:
    """Return a context manager: `with prove("torch", 3, 6, "..."):` adds a row to the table if the block passes."""

    @contextmanager
    def proving(framework: str, nodes: int, processes: int, proved: str) -> Iterator[None]:
        begin = time.monotonic()
        yield
        seconds = time.monotonic() - begin
        request.config.stash[TABLE].append(Proof(framework, nodes, processes, proved, seconds))

    return proving
