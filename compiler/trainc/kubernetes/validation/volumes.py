"""The volumes of a pod: their names and sources, and those that other parts may refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.validation.findings import At, Findings


def volumes(found: Findings, at: At, volumes: list[Tree]) -> None:
    """All volumes; good ones are put into `found.volumes` with their source, refused ones with None."""
    for volume in volumes:
        found.volumes[volume["name"]] = volume
