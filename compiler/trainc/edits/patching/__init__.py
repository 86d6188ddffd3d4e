"""Patches of trainc.yaml: changes to TrainJobs, runtimes and compiled JobSets.

Reads    the patches of an environment, and the documents of a run as they are in their files.
Returns  the documents with all patches that match them, each with the edits that led to it (`diagnostics.Edit`); the
         patches of the JobSet of each TrainJob, which the stage `patch` applies; and diagnostics. The package is
         imported only if there are patches.

Patches apply in their order: those of the file first, then those of the environment. Each is parsed once. A patch that
is not valid or cannot be applied is an error, and the run then has no objects.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBSET, role_of
from trainc.diagnostics import Diagnostic, Place
from trainc.edits.patching.applying import VALUES, JobSetPatches, applied, failure, too_large
from trainc.edits.patching.parsed_patches import Patch
from trainc.edits.patching.parsed_patches import read as read_items
from trainc.edits.patching.patch_faults import UNUSED_PATCH, PatchError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.budget import Meter
    from trainc.diagnostics import Document, Identity
    from trainc.edits.environment import Environment
    from trainc.frontends.reading import Reader
    from trainc.kubernetes.trees import Tree

__all__ = ["JobSetPatches", "Patch", "Patches"]


_EXPRESSION: Final = re.compile(r"\^?([\w*.?-]*)\$?")


def _target_meant(name: str) -> str:
    """Return the hint for a target's name that is a regular expression of kustomize; empty for another one."""
    expression = _EXPRESSION.fullmatch(name)
    if expression is None or ".*" not in expression[1]:
        return ""
    begin, _, end = expression[1].partition(".*")
    return f"names are globs: use {begin}*{end}"


class Patches:
    """The patches of a run, and the objects that they match."""

    def __init__(self, environment: Environment, files_of: Reader, meter: Meter, *, follow_links: bool = False) -> None:
        self.environment = environment
        self.meter = meter
        self.diagnostics: list[Diagnostic] = []
        """The faults of the patches, and of their application."""
        self._of_kind: dict[str, list[Patch]] = {}
        self._used: set[int] = set()
        self._jobset_patches: dict[Identity, JobSetPatches] = {}
        """The patches of the JobSets, by the identities of their TrainJobs' documents."""
        found = list(read_items(environment, files_of, meter=meter, follow_links=follow_links))
        for patch in found:
            if isinstance(patch, Diagnostic):
                self._report(patch)
            else:
                self._of_kind.setdefault(patch.target.kind, []).append(patch)

    @property
    def failed(self) -> bool:
        """Whether a patch is not valid or cannot be applied."""
        return bool(self.diagnostics)

    @property
    def texts(self) -> frozenset[int]:
        """The identities of the texts of all valid patches."""
        return frozenset(id(patch.document.text) for patches in self._of_kind.values() for patch in patches)

    @property
    def files(self) -> frozenset[str]:
        """The files with a valid patch."""
        return frozenset(patch.document.file for patches in self._of_kind.values() for patch in patches)

    def apply_all(self, documents: Sequence[Document]) -> list[Document]:
        """Return documents with all patches that match them."""
        counts = Counter(kind for document in documents for kind in self._kinds_of_targets(document))
        if not all(self._charge_targets(kind, count) for kind, count in counts.items()):
            return [*documents]
        return [*map(self._apply, documents)]

    def apply(self, document: Document) -> Document:
        """Return a document with all patches that match it."""
        within = all(self._charge_targets(kind, 1) for kind in self._kinds_of_targets(document))
        return self._apply(document) if within else document

    def _charge_targets(self, kind: str, count: int) -> bool:
        """Charge the comparison of targets of a kind with some objects. Return whether the run may continue."""
        terms = sum(patch.target.terms for patch in self._of_kind.get(kind, ()))
        return self.meter.charge_product("terms of targets", (terms, "terms of targets"), (count, f"{kind}s"))

    def _kinds_of_targets(self, document: Document) -> Iterator[str]:
        """Yield the kinds of the targets that may match a document."""
        kind = document.value["kind"]
        if kind in self._of_kind:
            yield kind
        if self._has_compiled_jobset(document.value):
            yield JOBSET.kind

    def _has_compiled_jobset(self, source: Tree) -> bool:
        """Return whether a document is a job that is compiled to a JobSet, for which there may be patches."""
        kind = source["kind"]
        return kind != JOBSET.kind and JOBSET.kind in self._of_kind and role_of(source["apiVersion"], kind) == "job"

    def _apply(self, document: Document) -> Document:
        source = document.value
        kind = source["kind"]
        for patch in self._of_kind.get(kind, ()):
            if patch.target.matches(source):
                document = self._applied(patch, document)
        if self._has_compiled_jobset(source):
            of_jobset = tuple(patch for patch in self._of_kind[JOBSET.kind] if patch.target.matches(source))
            for patch in of_jobset:
                self._use(patch)
            if of_jobset:
                labels = {name: setting.value for name, setting in self.environment.labels.items()}
                annotations = {name: setting.value for name, setting in self.environment.annotations.items()}
                patches = JobSetPatches(of_jobset, labels, annotations, self.meter.budget)
                self._jobset_patches[document.identity] = patches
        return document

    def jobset_patches(self, document: Document) -> JobSetPatches | None:
        """Return the patches of the JobSet of a TrainJob; None without any."""
        return self._jobset_patches.get(document.identity)

    def unused_patches(self) -> Iterator[Diagnostic]:
        """Yield a warning for each patch that matches no object of the run."""
        for patches in self._of_kind.values():
            for patch in patches:
                if id(patch) not in self._used:
                    yield Diagnostic.declared(
                        UNUSED_PATCH,
                        f"{patch.name} matches no {patch.target.kind}",
                        _target_meant(patch.target.name) or "fix its target, or remove the patch",
                        place=patch.setting.place._replace(path=(*patch.setting.place.path, "target")),
                    )

    def _applied(self, patch: Patch, document: Document) -> Document:
        """Return a document with a patch applied; unchanged with a diagnostic if that is not possible."""
        if not self._use(patch):
            return document
        budget = self.meter.budget
        try:
            value, edit = applied(patch, document.value, most=budget.limits.get(VALUES))
        except PatchError as error:
            self._report(failure(patch, error, Place(document, ("metadata", "name"))))
        except TooLargeError as error:
            self.meter.over = self.meter.over or too_large(patch, error, budget)
        else:
            return document._replace(value=value, edits=(*document.edits, edit))
        return document

    def _use(self, patch: Patch) -> bool:
        """Count a patch and its work. Return whether the run may continue."""
        self._used.add(id(patch))
        return self.meter.charge("values of patches", patch.size)

    def _report(self, diagnostic: Diagnostic) -> None:
        if diagnostic.id == "over-budget":
            self.meter.over = self.meter.over or diagnostic
        elif self.meter.charge("errors and warnings"):
            self.diagnostics.append(diagnostic)
