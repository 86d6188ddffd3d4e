"""One cluster for the whole run, and the table of what was checked on it.

The workers of pytest-xdist share the cluster, which the main process starts: much of a test's time is waiting for the
API server and kubectl.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from cluster import versions
from cluster.server import PROGRAM, Cluster, missing_reason, started

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

NODE = "cluster-node"
"""The node of the cluster program, on which pods run without images and end by annotation."""
COUNTS = pytest.StashKey[Counter[str]]()
STARTED = pytest.StashKey[str]()
"""The kubeconfig of the cluster that this run has started."""
SLOWEST = ("test_stored_form.py", "test_edits.py", "test_refusals.py", "test_kueue.py")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = Counter()
    config.stash[STARTED] = getattr(config, "workerinput", {}).get(PROGRAM, "")
    if hasattr(config, "workerinput") or missing_reason() or os.environ.get("KUBECONFIG") or config.option.collectonly:
        return
    stack = ExitStack()
    config.stash[STARTED] = stack.enter_context(started(os.environ[PROGRAM]))
    config.add_cleanup(stack.close)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the slowest tests first, so that the workers end at about the same time."""
    items.sort(key=lambda item: item.path.name not in SLOWEST)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker which cluster this run has started."""
    node.workerinput[PROGRAM] = node.config.stash[STARTED]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        counts: Counter[str] = session.config.stash[COUNTS]
        session.config.workeroutput["counts"] = dict(counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the counts of a worker."""
    counts: dict[str, int] = getattr(node, "workeroutput", {}).get("counts", {})
    total: Counter[str] = node.config.stash[COUNTS]
    total.update(counts)


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
def served(request: pytest.FixtureRequest) -> Cluster:
    """The cluster that KUBECONFIG names, or the one that TRAINC_CLUSTER has started."""
    if reason := missing_reason():
        pytest.skip(reason)
    return Cluster(request.config.stash[STARTED] or os.environ["KUBECONFIG"])


@pytest.fixture
def cluster(served: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster; the test's namespaces are deleted after it, unless the whole cluster is."""
    if reason := versions.version_difference(served, getattr(request.module, "CRDS", (versions.JOBSET,))):
        promise = str(request.module.__doc__).partition("\n")[0]
        pytest.skip(f"another cluster to check this promise: {promise} {reason}")
    yield served
    if not request.config.stash[STARTED]:
        served.release()


@pytest.fixture
def alive(cluster: Cluster) -> Cluster:
    """The cluster, if its pods run without images and end by annotation."""
    if cluster.ask("GET", f"api/v1/nodes/{NODE}").code != 200:
        pytest.skip(f"a node {NODE}, on which pods run without images")
    return cluster
