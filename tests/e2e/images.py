"""The test images: the paths of their programs, their users and their files.

No image is pulled: the machine's programs and the tests' venv replace it. This module also has the variables that the
kubelet and the container runtime add; everything else comes from the compiled manifest.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

MPIUSER = 1000
"""The user of the MPI images."""


class Image(NamedTuple):
    """A container's file system and environment before Kubernetes adds to them."""

    path: str
    home: str = "/root"
    workdir: str = "/workspace"
    users: tuple[str, ...] = ()
    """Lines of /etc/passwd."""
    files: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def env(self) -> dict[str, str]:
        """The variables that the image and the container runtime set."""
        return {"PATH": self.path, "HOME": self.home, "LANG": "C.UTF-8", **dict(self.variables)}


SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
VENV = ("/opt/venv", sys.prefix)
"""The venv's path in the images, and on the machine."""
PYTHON = Image(path=f"/opt/venv/bin:{SYSTEM}", links=(VENV,))


def _mpi(*links: tuple[str, str], variables: tuple[tuple[str, str], ...] = ()) -> Image:
    """Return an image like those of mpi-operator: sshd and ssh on port 2222, keys in the user's home."""
    return Image(
        path=f"/opt/mpi/bin:{SYSTEM}",
        home="/home/mpiuser",
        workdir="/home/mpiuser",
        users=(f"mpiuser:x:{MPIUSER}:{MPIUSER}::/home/mpiuser:/bin/bash",),
        files=(
            (
                "/home/mpiuser/.sshd_config",
                "Port 2222\nPidFile /home/mpiuser/sshd.pid\nHostKey /home/mpiuser/.ssh/id_rsa\nStrictModes no\n",
            ),
            (
                "/etc/ssh/ssh_config",
                "Host *\n  Port 2222\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
            ),
        ),
        links=(VENV, *((f"/opt/mpi/{name}", path) for name, path in links)),
        variables=variables,
    )


def _library(name: str) -> str:
    """Return the path of a Debian library; its name if it is not installed (the test is skipped)."""
    return next((str(path) for path in Path("/usr/lib").glob(f"*/{name}")), name)


OPENMPI = _mpi(("bin/mpirun", "/usr/bin/mpirun.openmpi"))
OPENMPI_OF_ROOT = OPENMPI._replace(
    home="/root",
    workdir="/root",
    files=(
        ("/etc/ssh/sshd_config", "StrictModes no\n"),
        (
            "/etc/ssh/ssh_config",
            "Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
        ),
    ),
)
"""An image whose sshd needs no options, with keys in the home of root, and with the machine's host keys."""
MPICH = _mpi(
    ("bin/mpirun", "/usr/bin/mpiexec.hydra"),
    ("bin/hydra_pmi_proxy", "/usr/bin/hydra_pmi_proxy"),
    ("lib/libmpi.so.12", _library("libmpich.so.12")),
    # Ranks on other hosts inherit these from the launcher.
    variables=(
        # mpi4py looks for the library by the name in MPICH's own releases.
        ("LD_LIBRARY_PATH", "/opt/mpi/lib"),
        # The pods share one kernel here: UCX would treat them as one host and wait for shared memory.
        ("UCX_TLS", "tcp,self"),
        ("UCX_NET_DEVICES", "eth0"),
    ),
)
