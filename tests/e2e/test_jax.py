"""JAX's rendezvous at the coordinator in the compiled variables."""

from __future__ import annotations

from e2e.cluster import Clusters, Needs, Prove


def test_psum(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("jax", modules=("jax",))
    with prove("jax", 2, 2, "jax.distributed.initialize: a psum over both processes gives 3"):
        pods = cluster("jax")
        pods.start()
        said = sorted(pods.wait(180), key=lambda one: one["process"])
    assert [(one["process"], one["host"]) for one in said] == [(0, "psum-node-0-0"), (1, "psum-node-0-1")]
    assert {(one["processes"], one["devices"], one["sum"]) for one in said} == {(2, 2, 3.0)}


def test_jaxjob(needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("jax", modules=("jax",))
    with prove("JAXJob", 3, 3, "the first Worker, which has the coordinator, starts last: a psum gives 6"):
        pods = cluster("jaxjob")
        others = pods.start("psum-worker-0-1", "psum-worker-0-2")
        pods.until(lambda: all("connects to" in one.text() for one in others), 60, "Workers connect")
        pods.start("psum-worker-0-0")
        said = sorted(pods.wait(180), key=lambda one: one["process"])
    assert [(one["process"], one["host"]) for one in said] == [(index, f"psum-worker-0-{index}") for index in range(3)]
    assert {(one["processes"], one["devices"], one["sum"]) for one in said} == {(3, 3, 6.0)}
