"""The patches of a compiled JobSet.

Reads    the JobSet of a plan, before defaults are filled in, and the patches that match its TrainJob.
Returns  the JobSet after each patch, with the edit that knows the source of its fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.records import NamedTuple
from trainc.budget import DEFAULT, Budget
from trainc.edits.patching.applying import VALUES, applied, failure, too_large
from trainc.edits.patching.patch_faults import PatchError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.diagnostics import Diagnostic, Edit, Place
    from trainc.edits.patching.parsed_patches import Patch
    from trainc.kubernetes.trees import Tree

FIELDS = frozenset({"apiVersion", "kind", "metadata", "spec"})
"""The fields of a JobSet that is applied; the API server drops a status."""


class Patched(NamedTuple):
    """A JobSet after one patch."""

    tree: Tree
    edit: Edit


class JobSetPatches(NamedTuple):
    """The patches that match the JobSet of a TrainJob."""

    patches: tuple[Patch, ...]
    labels: Mapping[str, str] = {}
    """The environment's labels, which no patch can change."""
    annotations: Mapping[str, str] = {}
    budget: Budget = DEFAULT
    suspends: Place | None = None
    """The line that suspends the JobSet if it is left out, because the JobSet has a Kueue queue."""

    def apply(self, tree: Tree, object: Place) -> Iterator[Patched | Diagnostic]:
        """Yield the JobSet after each patch, or the diagnostic for a patch that cannot be applied.

        object   the place of the TrainJob, for diagnostics
        """
        for patch in self.patches:
            try:
                result, edit = applied(patch, tree, most=self.budget.limits.get(VALUES))
                if unknown := result.keys() - FIELDS:
                    name = min(unknown)
                    path = edit.source((name,))
                    raise PatchError(
                        f'unknown field "{name}" in a JobSet', "remove it", getattr(path, "path", ()), key=True
                    )
            except PatchError as error:
                yield failure(patch, error, object)
            except TooLargeError as error:
                yield too_large(patch, error, self.budget)
            else:
                tree = result
                yield Patched(result, edit)
