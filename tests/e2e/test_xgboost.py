"""XGBoost's rendezvous at the tracker in the DMLC variables."""

from __future__ import annotations

from e2e.cluster import Clusters, Needs, Prove


def test_two_workers(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("xgboost", modules=("xgboost",))
    with prove("xgboost", 2, 2, "the DMLC variables, read by the script: an all-reduce, and one model of both halves"):
        pods = cluster("xgboost")
        pods.start()
        first, second = sorted(pods.wait(120), key=lambda one: one["task"])
    assert (first["host"], second["host"]) == ("boost-node-0-0", "boost-node-0-1")
    assert {(one["workers"], one["sum"]) for one in (first, second)} == {(2, 3.0)}
    assert first["model"] == second["model"]
