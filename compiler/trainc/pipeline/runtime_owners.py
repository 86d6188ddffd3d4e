"""The owners of the built-in runtimes, and the names that earlier releases of Trainer shipped.

Reads    the name of a runtime.
Returns  its owner and release. A built-in runtime of Trainer has the content that the release gives it.
Source   kubeflow/trainer v2.3.0, manifests/base/runtimes, and the same folder of v2.0, v2.1 and v2.2.
"""

from __future__ import annotations

from typing import Final

from trainc.base.records import NamedTuple


class RuntimeOwner(NamedTuple):
    """The project that ships a runtime, and its release."""

    owner: str
    """`Trainer`: the cluster has the runtime if it runs that release. `trainc`: the runtime must be applied."""
    release: str

    def __str__(self) -> str:
        """Return both: `Trainer v2.3.0`."""
        return f"{self.owner} {self.release}"


class Former(NamedTuple):
    """A runtime that earlier releases of Trainer shipped."""

    releases: str
    """The releases that had it."""
    successor: str
    """The built-in runtime for the same purpose."""


TRAINER: Final = RuntimeOwner("Trainer", "v2.3.0")
UPSTREAM: Final = frozenset(
    {
        "deepspeed-distributed",
        "jax-distributed",
        "mlx-distributed",
        "torch-distributed",
        "torch-distributed-with-cache",
        "torchtune-llama3.2-1b",
        "torchtune-llama3.2-3b",
        "torchtune-qwen2.5-1.5b",
        "xgboost-distributed",
    }
)
"""The runtimes of that release."""
FORMER: Final = {"mpi-distributed": Former("v2.0", "openmpi-distributed")}
"""The runtimes that no longer ship, by name."""


def origin(name: str) -> RuntimeOwner:
    """Return the origin of a built-in runtime.

    >>> str(origin("torch-distributed")), origin("torch-elastic").owner
    ('Trainer v2.3.0', 'trainc')
    """
    if name in UPSTREAM:
        return TRAINER
    from trainc.base.version import __version__

    return RuntimeOwner("trainc", f"v{__version__}")
