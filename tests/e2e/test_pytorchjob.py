"""PyTorchJobs whose Workers start before the Master: torch retries, so no init container has to wait.

A migrated job trains as its original does.

test_torch.py has the elastic PyTorchJob.
"""

from __future__ import annotations

import pytest
from e2e.cluster import Clusters, Needs, Prove


@pytest.mark.parametrize(
    ("layout", "hosts", "processes"),
    [
        ("folded", ["folded-node-0-0", "folded-node-0-1", "folded-node-0-2"], 1),
        ("folded, migrated", ["folded-node-0-0", "folded-node-0-1", "folded-node-0-2"], 1),
        ("roles", ["apart-master-0-0", "apart-worker-0-0", "apart-worker-1-0"], 1),
        ("torchrun", ["launched-node-0-0", "launched-node-0-1", "launched-node-0-2"], 2),
    ],
)
def test_workers_before_the_master(
    needs: Needs, cluster: Clusters, prove: Prove, layout: str, hosts: list[str], processes: int
) -> None:
    needs("torch", modules=("torch",))
    world = 3 * processes
    with prove(f"PyTorchJob, {layout}", 3, world, "Workers wait for the Master's name and port: all ranks join"):
        name, _, migrated = layout.partition(", ")
        pods = cluster(f"pytorch-{name}", migrated=bool(migrated))
        master = hosts[0]
        workers = pods.start(*hosts[1:])
        pods.until(lambda: all("cannot be retrieved" in one.text() for one in workers), 120, "the name is unknown")
        pods.publish(master)
        pods.until(lambda: all("not yet listening" in one.text() for one in workers), 120, "the port is closed")
        pods.start(master)
        said = sorted(pods.wait(180), key=lambda one: one["rank"])
    assert [one["rank"] for one in said] == list(range(world))
    # The Master has the first rank, and the Workers have the others in the order of their indices.
    assert [one["host"] for one in said] == [host for host in hosts for _ in range(processes)]
    assert {(one["world"], one["sum"]) for one in said} == {(world, sum(range(world + 1)))}
