"""TensorFlow's rendezvous by TF_CONFIG, from which its resolver reads every role."""

from __future__ import annotations

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
