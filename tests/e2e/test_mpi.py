"""mpirun reaches the hosts of the compiled hostfile by ssh, with the keys from `trainc secret`."""

from __future__ import annotations

import pytest
from e2e.cluster import Clusters, Needs, Prove
from e2e.images import MPICH, OPENMPI, OPENMPI_OF_ROOT, Image

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


LAUNCHER = ["ring-launcher-0-0"]
WORKERS = ["ring-worker-0-0", "ring-worker-0-1"]


@pytest.mark.parametrize(
    ("name", "image", "program", "hosts"),
    [
        ("mpijob-openmpi", OPENMPI, "mpirun.openmpi", WORKERS),
        ("mpijob-openmpi-launcher", OPENMPI, "mpirun.openmpi", LAUNCHER + WORKERS),
        ("mpijob-root", OPENMPI_OF_ROOT, "mpirun.openmpi", WORKERS),
        ("mpijob-mpich", MPICH, "mpiexec.hydra", WORKERS),
        ("mpijob-mpich-launcher", MPICH, "mpiexec.hydra", LAUNCHER + WORKERS),
    ],
)
def test_mpijob(
    needs: Needs, cluster: Clusters, prove: Prove, name: str, image: Image, program: str, hosts: list[str]
) -> None:
    needs(name, modules=("mpi4py", "cryptography"), programs=("sshd", "ssh", program))
    ranks = 2 * len(hosts)
    with prove(
        name, len(hosts), ranks, "the launcher starts first: ssh retries until sshd listens; 2 ranks on each host"
    ):
        pods = cluster(name, image, secret="ring")
        pods.publish()
        launcher = pods.start("launcher")
        pods.start("worker")
        said = pods.wait(180, launcher)
    assert [one["rank"] for one in said] == list(range(ranks))
    assert [one["host"] for one in said] == sorted(hosts * 2)
    assert {(one["world"], one["sum"]) for one in said} == {(ranks, sum(range(ranks + 1)))}
