"""mpirun reaches the hosts of the compiled hostfile by ssh, with the keys from `trainc secret`."""

from __future__ import annotations

import pytest
from e2e.cluster import Clusters, Needs, Prove
from e2e.images import MPICH, OPENMPI, Image

HOSTS = ["ranks-launcher-0-0", "ranks-node-0-0", "ranks-node-0-1"]


@pytest.mark.parametrize(
    ("name", "image", "program"), [("openmpi", OPENMPI, "mpirun.openmpi"), ("mpich", MPICH, "mpiexec.hydra")]
)
def test_ranks(needs: Needs, cluster: Clusters, prove: Prove, name: str, image: Image, program: str) -> None:
    needs(name, modules=("mpi4py", "cryptography"), programs=("sshd", "ssh", program))
    with prove(f"mpi, {name}", 3, 6, "over sshd: 2 ranks on each host of the hostfile, their sum is 21"):
        pods = cluster(name, image, secret="ranks")
        pods.start("node")
        # The launcher's init container waits for the others.
        said = pods.wait(180, pods.start("launcher"))
    assert [one["rank"] for one in said] == list(range(6))
    assert sorted(one["host"] for one in said) == sorted(HOSTS * 2)
    assert {(one["world"], one["sum"]) for one in said} == {(6, 21)}
