"""The MPI implementations: the variables of each mpirun, and its hostfile format.

Reads    the slots of a node.
Returns  by the name in mpi.mpiImplementation: the format of a hostfile line, and the launcher's variables.
Source   Open MPI: kubeflow/trainer v2.3.0, runtime plugin mpi. Open MPI 5 (difference prte): PRRTE v3.0 and v4.1, the
         parameters registered in src/runtime/prte_mca_params.c, src/util/proc_info.c and
         src/mca/plm/ssh/plm_ssh_component.c, read from the environment with the prefix PRTE_MCA_; tested with Open MPI
         5.0.11. Intel and MPICH (difference extensions): kubeflow/mpi-operator v0.8.0, the controller of v2beta1;
         tested with MPICH 4.0.2 for the name of ssh's options, and for the launcher's short name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.pipeline.plan import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.kubernetes.trees import Tree

HOSTFILE: Final = "/etc/mpi/hostfile"
"""The path of the hostfile in the launcher."""
PATIENCE: Final = "-o ConnectionAttempts=10"
"""The options of ssh: an sshd may start a little later than the launcher."""


class Implementation(NamedTuple):
    """The differences between the implementations."""

    slots: str
    """The text after a host in the hostfile; `{}` is the number of ranks for the host."""
    variables: Callable[[int], tuple[Tree, ...]]
    """The launcher's variables by the slots of a node; they are reserved."""
    another_release: Callable[[int], tuple[Tree, ...]]
    """The variables that another release reads instead; those that the runtime already sets stay."""
    short_name: bool
    """Whether it uses the launcher's short host name: in the hostfile, where a full name would make it look for an sshd
    in the launcher, and on the nodes, which connect back to the launcher."""

    @property
    def reserved_names(self) -> frozenset[str]:
        """The names of its variables."""
        return frozenset(str(variable["name"]) for variable in self.variables(1))


def open_mpi_4(slots: int) -> tuple[Tree, ...]:
    """Return the variables of ORTE, the runtime of Open MPI 4."""
    return (
        value("OMPI_MCA_orte_default_hostfile", HOSTFILE),
        value("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        value("OMPI_MCA_orte_set_default_slots", slots),
        value("OMPI_MCA_plm_rsh_args", PATIENCE),
    )


def open_mpi_5(slots: int) -> tuple[Tree, ...]:
    """Return the variables of PRRTE, the runtime of Open MPI 5.

    PRRTE connects to the names in the hostfile as they are, but compares them with its own short host name. With full
    names it would not recognize the launcher in the hostfile as its own host, and would wait for an sshd there.
    """
    return (
        value("PRTE_MCA_prte_default_hostfile", HOSTFILE),
        value("PRTE_MCA_prte_keep_fqdn_hostnames", "false"),
        value("PRTE_MCA_prte_set_default_slots", slots),
        value("PRTE_MCA_plm_ssh_args", PATIENCE),
    )


def intel(slots: int) -> tuple[Tree, ...]:
    """Return the variables of Intel's Hydra. I_MPI_PERHOST sets the ranks per node, whatever the hostfile sets."""
    return (
        value("I_MPI_HYDRA_HOST_FILE", HOSTFILE),
        value("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", PATIENCE),
        value("I_MPI_PERHOST", slots),
    )


def mpich(_: int) -> tuple[Tree, ...]:
    """Return the variables of MPICH's Hydra, which reads the slots from the hostfile."""
    return (value("HYDRA_HOST_FILE", HOSTFILE), value("HYDRA_LAUNCH_EXTRA_ARGS", PATIENCE))


def mpich_4(_: int) -> tuple[Tree, ...]:
    """Return the variable from which MPICH 4 reads ssh's options."""
    return (value("HYDRA_LAUNCHER_EXTRA_ARGS", PATIENCE),)


def no_variables(_: int) -> tuple[Tree, ...]:
    """Return no variables: no other release reads different ones."""
    return ()


IMPLEMENTATIONS: Final = {
    "OpenMPI": Implementation(" slots={}", open_mpi_4, open_mpi_5, short_name=False),
    "Intel": Implementation(":{}", intel, no_variables, short_name=True),
    "MPICH": Implementation(":{}", mpich, mpich_4, short_name=True),
}
