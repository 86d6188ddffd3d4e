"""MXNet's rendezvous at the scheduler in the DMLC variables. MXNet is retired: few machines have it.

A substitute for ps-lite in plain Python runs on every machine.
"""

from __future__ import annotations

import pytest
from e2e.cluster import Clusters, Needs, Prove


@pytest.mark.parametrize("job", ["mxnet", "mlkubejob"])
def test_two_workers(needs: Needs, cluster: Clusters, prove: Prove, job: str) -> None:
    needs("mxnet", modules=("mxnet",))
    with prove(job, 5, 2, "a parameter server: what both workers have pushed"):
        pods = cluster(job)
        pods.start()
        said = sorted(pods.wait(120), key=lambda one: one["rank"])
    assert {(one["workers"], one["sum"]) for one in said} == {(2, 3.0)}
    assert [one["rank"] for one in said] == [0, 1]


@pytest.mark.parametrize("job", ["mlkubejob", "mxjob"])
def test_all_pods_find_the_scheduler(needs: Needs, cluster: Clusters, prove: Prove, job: str) -> None:
    needs("plain Python")
    with prove(f"{job}, plain Python", 5, 5, "2 servers and 2 workers start first, and join the scheduler"):
        pods = cluster(f"{job}-plain")
        pods.start("worker", "server")
        pods.start("scheduler")
        said = pods.wait(60)
    joined = [f"{role} meet-{role}-0-{index}" for role in ("server", "worker") for index in range(2)]
    assert [one["joined"] for one in said] == [joined] * 5
    assert sorted(f"{one['role']} {one['host']}" for one in said) == sorted([*joined, "scheduler meet-scheduler-0-0"])
