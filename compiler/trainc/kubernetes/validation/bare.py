"""What a Pod is refused for, and the template of a Job is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.validation.findings import At, Findings


def pod(found: Findings, at: At, pod: Tree) -> None:
    """A whole Pod."""
