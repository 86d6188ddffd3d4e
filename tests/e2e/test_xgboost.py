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


def test_xgboostjob(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("xgboost", modules=("xgboost",))
    with prove("XGBoostJob", 3, 3, "Workers start first and wait for the Master's tracker: one model of all parts"):
        pods = cluster("xgboostjob")
        # XGBoost retries if the port is closed, and exits if the name does not resolve.
        pods.publish()
        workers = pods.start("worker")
        pods.until(lambda: all("connects to" in one.text() for one in workers), 60, "Workers connect")
        pods.start("master")
        said = sorted(pods.wait(120), key=lambda one: one["task"])
    assert [(one["task"], one["host"]) for one in said] == [
        (0, "boost-master-0-0"),
        (1, "boost-worker-0-0"),
        (2, "boost-worker-1-0"),
    ]
    assert {(one["workers"], one["sum"]) for one in said} == {(3, 6.0)}
    assert said[0]["model"] == said[1]["model"] == said[2]["model"]
