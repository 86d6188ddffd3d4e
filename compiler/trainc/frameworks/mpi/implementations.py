"""The implementations of MPI: how each one's mpirun is told of the nodes, and how it reads the hostfile.

Reads    the slots of a node.
Returns  by the name in mpi.mpiImplementation: a line of the hostfile, and the launcher's variables.
Source   Open MPI: kubeflow/trainer v2.3.0, runtime plugin mpi; for Open MPI 5 (difference prte) PRRTE v3.0 and v4.1,
         the parameters registered in src/runtime/prte_mca_params.c, src/util/proc_info.c and
         src/mca/plm/ssh/plm_ssh_component.c, read from the environment with the prefix PRTE_MCA_; tried with Open MPI
         5.0.11. Intel and MPICH (difference extensions): kubeflow/mpi-operator v0.8.0, the controller of v2beta1;
         MPICH 4.0.2, tried, for the name of ssh's options, and for the launcher's short name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.plan import value
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.kubernetes.trees import Tree

HOSTFILE: Final = "/etc/mpi/hostfile"
"""Where the launcher finds it."""
PATIENCE: Final = "-o ConnectionAttempts=10"
"""What ssh is told: an sshd may be a little late."""


class Implementation(NamedTuple):
    """What differs from one implementation to the next."""

    slots: str
    """What stands behind a host in the hostfile; `{}` is how many ranks it takes."""
    variables: Callable[[int], tuple[Tree, ...]]
    """The launcher's variables by the slots of a node; they are reserved."""
    another_release: Callable[[int], tuple[Tree, ...]]
    """What another release reads instead; one that the runtime sets already stays as it is."""
    short_name: bool
    """Whether the launcher is its short host name to it: in the hostfile, where by a whole name it would look for an
    sshd in the launcher, and on the nodes, from which it is called back."""

    @property
    def reserved(self) -> frozenset[str]:
        """The names of its variables."""
        return frozenset(str(variable["name"]) for variable in self.variables(1))


def open_mpi_4(slots: int) -> tuple[Tree, ...]:
    """What Open MPI 4's own runtime, ORTE, reads."""
    return (
        value("OMPI_MCA_orte_default_hostfile", HOSTFILE),
        value("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        value("OMPI_MCA_orte_set_default_slots", slots),
        value("OMPI_MCA_plm_rsh_args", PATIENCE),
    )


def open_mpi_5(slots: int) -> tuple[Tree, ...]:
    """What Open MPI 5's, PRRTE, reads instead.

    PRRTE connects to the names as they stand in the hostfile, but compares them with its own short host name. With
    whole names it would not know the launcher in the hostfile for itself, and wait for an sshd there.
    """
    return (
        value("PRTE_MCA_prte_default_hostfile", HOSTFILE),
        value("PRTE_MCA_prte_keep_fqdn_hostnames", "false"),
        value("PRTE_MCA_prte_set_default_slots", slots),
        value("PRTE_MCA_plm_ssh_args", PATIENCE),
    )


def intel(slots: int) -> tuple[Tree, ...]:
    """What Intel's Hydra reads; it goes on to the next node after so many ranks, whatever the hostfile says."""
    return (
        value("I_MPI_HYDRA_HOST_FILE", HOSTFILE),
        value("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", PATIENCE),
        value("I_MPI_PERHOST", slots),
    )


def mpich(_: int) -> tuple[Tree, ...]:
    """What MPICH's Hydra reads; it takes the slots from the hostfile."""
    return (value("HYDRA_HOST_FILE", HOSTFILE), value("HYDRA_LAUNCH_EXTRA_ARGS", PATIENCE))


def mpich_4(_: int) -> tuple[Tree, ...]:
    """The name under which MPICH 4 looks for ssh's options."""
    return (value("HYDRA_LAUNCHER_EXTRA_ARGS", PATIENCE),)


def nothing(_: int) -> tuple[Tree, ...]:
    """No release reads anything else."""
    return ()


IMPLEMENTATIONS: Final = {
    "OpenMPI": Implementation(" slots={}", open_mpi_4, open_mpi_5, short_name=False),
    "Intel": Implementation(":{}", intel, nothing, short_name=True),
    "MPICH": Implementation(":{}", mpich, mpich_4, short_name=True),
}
