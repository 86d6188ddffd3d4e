"""The owners of the built-in runtimes, and the names that earlier releases of Trainer shipped.

Reads    the name of a runtime.
Returns  its owner and release. A built-in runtime of Trainer has the content that the release gives it.
Source   kubeflow/trainer, manifests/base/runtimes and manifests/overlays of each release.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Final

from trainc.base.data import data_path
from trainc.base.records import NamedTuple
from trainc.base.releases import RELEASES

if TYPE_CHECKING:
    from trainc.base.releases import TrainerRelease


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


FORMER: Final = {"mpi-distributed": Former("v2.0", "openmpi-distributed")}
"""The runtimes that no longer ship, by name."""


@cache  # one value for each release
def installed(release: TrainerRelease) -> frozenset[str]:
    """Return the names of the runtimes that a release installs."""
    names = os.listdir(data_path("runtimes", release.runtimes))
    return frozenset(name.removesuffix(".yaml") for name in names)


def is_of_trainc(name: str) -> bool:
    """Return whether trainc itself has a built-in runtime of that name, which no release installs."""
    return os.path.exists(data_path("runtimes", f"{name}.yaml"))


def first_release(name: str) -> TrainerRelease | None:
    """Return the first release that a built-in runtime works with; None if there is no such runtime.

    >>> [release.name if (release := first_release(name)) else "" for name in ("jax-distributed", "plain", "x")]
    ['2.2', '2.1', '']
    """
    own = is_of_trainc(name)
    for release in RELEASES:
        if name in installed(release) or (own and name not in release.unusable_runtimes):
            return release
    return None


def origin(name: str, release: TrainerRelease) -> RuntimeOwner:
    """Return the origin of a built-in runtime for a release.

    >>> from trainc.base.releases import V2_2
    >>> str(origin("torch-distributed", V2_2)), origin("torch-elastic", V2_2).owner
    ('Trainer v2.2.1', 'trainc')
    """
    if name in installed(release):
        announced = "" if release.source == "code" else f" from its {release.source}"
        return RuntimeOwner("Trainer", release.tag + announced)
    from trainc.base.releases import __version__

    return RuntimeOwner("trainc", f"v{__version__}")
