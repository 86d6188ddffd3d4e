"""torchrun's rendezvous by the compiled variables, with a fixed and an elastic number of nodes.

test_pytorchjob.py has the PyTorchJobs whose number of nodes is fixed.
"""

from __future__ import annotations

import time

import pytest
from e2e.cluster import HERE, Clusters, Needs, Prove, trainc


def test_all_reduce(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("torch", modules=("torch",))
    with prove("torch", 3, 6, "torchrun: an all-reduce over all ranks gives 21"):
        pods = cluster("torch")
        pods.start()
        said = sorted(pods.wait(180), key=lambda one: one["rank"])
    assert [one["rank"] for one in said] == list(range(6))
    # The node's rank is the pod's completion index: ranks 0 and 1 are on the first pod.
    assert [one["host"] for one in said] == [f"reduce-node-0-{index}" for index in (0, 0, 1, 1, 2, 2)]
    assert {(one["world"], one["sum"]) for one in said} == {(6, 21)}


def test_too_many_nodes(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    report = trainc("validate", str(HERE / "jobs/torch-waits.yaml"))
    assert "torchrun gets --nnodes=3 (--nnodes=$(PROCESSES)), but the TrainJob has 2 nodes" in report
    needs("torch", modules=("torch",))
    with prove("torch, --nnodes", 2, 0, "torchrun waits for a third node, as validate says"):
        pods = cluster("torch-waits").start()
        time.sleep(20)  # the all-reduce of three nodes takes a few seconds
        assert [one.is_running for one in pods] == [True, True]
        assert [one.reported() for one in pods] == [[], []]


@pytest.mark.parametrize(
    ("kind", "name", "job"),
    [
        ("torch.elasticPolicy", "elastic", "elastic-node"),
        ("PyTorchJob, elastic", "pytorch-elastic", "grow-worker"),
        ("PyTorchJob, elastic, migrated", "pytorch-elastic", "grow-node"),
    ],
)
def test_elastic(needs: Needs, cluster: Clusters, prove: Prove, kind: str, name: str, job: str) -> None:
    hosts = [f"{job}-0-{index}" for index in range(3)]
    needs("torch", modules=("torch",))
    with prove(kind, 3, 3, "2:4 starts with 2, one joins, one dies, training goes on from its step"):
        pods = cluster(name, migrated=kind.endswith("migrated"))
        first, second = pods.start(*hosts[:2])

        def worlds() -> list[int]:
            return [one["world"] for one in first.reported() if "from" in one]

        pods.until(lambda: worlds()[-1:] == [2], 120, "two train")
        (third,) = pods.start(hosts[2])
        pods.until(lambda: worlds()[-1:] == [3], 120, "a third one has joined")
        third.kill()
        pods.until(lambda: worlds()[-1:] == [2], 120, "the two that are left train")
        (pods.folder / "node/srv/shared/enough").touch()
        said = pods.wait(120, [first, second])
    assert worlds() == [2, 3, 2]
    origins = [one["from"] for one in first.reported() if "from" in one]
    assert origins == sorted(origins)
    assert origins[1] > 0, "the steps of two nodes were kept when the third one came"
    ends = {one["to"] for one in said if "to" in one}
    assert len(ends) == 1
    assert ends.pop() >= origins[-1]
