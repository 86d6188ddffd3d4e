"""TensorFlow's rendezvous by TF_CONFIG, from which its resolver reads every role."""

from __future__ import annotations

import pytest
from e2e.cluster import Clusters, Needs, Prove


def test_two_workers(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("tensorflow", modules=("tensorflow",))
    with prove("tensorflow", 2, 2, "MultiWorkerMirroredStrategy: one step with both workers' gradients"):
        pods = cluster("tensorflow")
        pods.start()
        said = sorted(pods.wait(240), key=lambda one: one["index"])
    assert [(one["type"], one["index"]) for one in said] == [("worker", 0), ("worker", 1)]
    assert {(one["replicas"], one["weight"]) for one in said} == {(2, 2.0)}


def test_roles(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("tensorflow", modules=("tensorflow",))
    with prove("tensorflow", 5, 5, "TFConfigClusterResolver reads chief, workers, ps, evaluator"):
        pods = cluster("roles")
        # Each pod reads only its own variable, so they need not run at the same time.
        said = []
        for pod in pods.pods:
            said += pods.wait(120, pods.start(pod["name"]))
    assert {(one["type"], one["index"], one["host"]) for one in said} == {
        ("chief", 0, "roles-chief-0-0"),
        ("worker", 0, "roles-worker-0-0"),
        ("worker", 1, "roles-worker-0-1"),
        ("ps", 0, "roles-ps-0-0"),
        ("evaluator", 0, "roles-evaluator-0-0"),
    }
    assert all(
        one["cluster"]
        == {
            "chief": ["roles-chief-0-0.roles:2222"],
            "worker": ["roles-worker-0-0.roles:2222", "roles-worker-0-1.roles:2222"],
            "ps": ["roles-ps-0-0.roles:2222"],
            "evaluator": ["roles-evaluator-0-0.roles:2222"],
        }
        for one in said
    )


@pytest.mark.parametrize(("job", "port"), [("tfjob", 2222), ("volcanojob", 2323)])
def test_parameter_servers(needs: Needs, cluster: Clusters, prove: Prove, job: str, port: int) -> None:
    needs("tensorflow", modules=("tensorflow",))
    with prove(job, 4, 4, "ParameterServerStrategy: the chief starts first; 2 workers add to the variable of a ps"):
        pods = cluster(job)
        chief = pods.start("chief")
        pods.until(lambda: "connects" in chief[0].text(), 60, "the chief connects")
        pods.start("worker", "ps")
        (said,) = pods.wait(240, chief)
    servers = [one for pod in pods.running[1:] for one in pod.reported()]
    assert {(one["type"], one["index"], one["host"]) for one in (said, *servers)} == {
        ("chief", 0, "served-chief-0-0"),
        ("worker", 0, "served-worker-0-0"),
        ("worker", 1, "served-worker-0-1"),
        ("ps", 0, "served-ps-0-0"),
    }
    assert all(
        one["cluster"]
        == {
            "chief": [f"served-chief-0-0.served:{port}"],
            "worker": ["served-worker-0-0.served:2323", "served-worker-0-1.served:2323"],
            "ps": [f"served-ps-0-0.served:{port}"],
        }
        for one in (said, *servers)
    )
    assert said["weight"] == 20.0
    assert [device.partition("/device:")[0] for device in said["devices"]] == [
        "/job:ps/replica:0/task:0",
        "/job:worker/replica:0/task:0",
        "/job:worker/replica:0/task:1",
    ]


def test_tfjob_with_dynamic_workers(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("tensorflow", modules=("tensorflow",))
    with prove("TFJob, dynamic", 3, 3, "TFConfigClusterResolver reads a cluster that has one of 2 workers"):
        pods = cluster("tfjob-dynamic")
        pods.start()
        said = pods.wait(120)
    ps = ["sparse-ps-0-0.sparse:2222"]
    assert [(one["type"], one["index"], one["cluster"]) for one in said] == [
        ("ps", 0, {"worker": {}, "ps": ps}),
        ("worker", 0, {"worker": ["sparse-worker-0-0.sparse:2222"], "ps": ps}),
        ("worker", 1, {"worker": {"1": "sparse-worker-0-1.sparse:2222"}, "ps": ps}),
    ]
