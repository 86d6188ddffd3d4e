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
