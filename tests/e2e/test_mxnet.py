"""MXNet's rendezvous at the scheduler in the DMLC variables. MXNet is retired: few machines have it."""

from __future__ import annotations

from e2e.cluster import Clusters, Needs, Prove


def test_two_workers(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("mxnet", modules=("mxnet",))
    with prove("mxnet", 5, 2, "a parameter server: what both workers have pushed"):
        pods = cluster("mxnet")
        pods.start()
        said = sorted(pods.wait(120), key=lambda one: one["rank"])
    assert {(one["workers"], one["sum"]) for one in said} == {(2, 3.0)}
    assert [one["rank"] for one in said] == [0, 1]
