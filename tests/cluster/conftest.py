"""One cluster for the whole run, and the table of what was checked on it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from cluster import versions
from cluster.server import PROGRAM, Cluster, missing, started

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

NODE = "cluster-node"
"""The node of the cluster program, on which pods run without images and end by annotation."""
COUNTS = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = Counter()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Fail a skipped test if CI is set, except where only the cluster program can run the pods."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and os.environ.get("CI") and NODE not in report.longrepr[2]:
        report.outcome = "failed"
        report.longrepr = f"skipped although CI is set: {report.longrepr[2]}"


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    if counts := config.stash[COUNTS]:
        terminalreporter.section("checked on a real API server")
        for what, count in sorted(counts.items()):
            terminalreporter.write_line(f"{count:6} {what}")


@pytest.fixture
def counted(request: pytest.FixtureRequest) -> Callable[[str, int], None]:
    """Add to the table at the end of the run."""

    def add(what: str, count: int = 1) -> None:
        request.config.stash[COUNTS][what] += count

    return add


@pytest.fixture(scope="session")
def served() -> Iterator[Cluster]:
    """The cluster that KUBECONFIG names, or one that TRAINC_CLUSTER starts."""
    if reason := missing():
        pytest.skip(reason)
    if kubeconfig := os.environ.get("KUBECONFIG"):
        yield Cluster(kubeconfig)
        return
    with started(os.environ[PROGRAM]) as kubeconfig:
        yield Cluster(kubeconfig)


@pytest.fixture
def cluster(served: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster; the test's namespaces are deleted after it, unless the whole cluster is."""
    if reason := versions.differing(served, getattr(request.module, "CRDS", (versions.JOBSET,))):
        promise = str(request.module.__doc__).partition("\n")[0]
        pytest.skip(f"cannot check this promise: {promise} {reason}")
    yield served
    if os.environ.get("KUBECONFIG"):
        served.release()


@pytest.fixture
def alive(cluster: Cluster) -> Cluster:
    """The cluster, if its pods run without images and end by annotation."""
    if cluster.ask("GET", f"api/v1/nodes/{NODE}").code != 200:
        pytest.skip(f"cannot check how jobs run: there is no node {NODE}, on which pods run without images")
    return cluster
