"""Targets: the objects that a patch changes.

Reads    `target` of a patch: group, version and kind exactly; name and namespace as globs; labelSelector and
         annotationSelector as in kubectl. Without a target, the patch is for all TrainJobs.
Returns  whether a document matches. Names, labels and annotations are those of the source file: for a JobSet, those of
         the TrainJob that it is compiled from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBSET, TRAINJOB, role_of
from trainc.base.records import NamedTuple
from trainc.diagnostics import ObjectId
from trainc.edits.patching.label_selectors import SelectorError, parse
from trainc.files.globs import matches
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from trainc.edits.patching.label_selectors import Requirement
    from trainc.kubernetes.trees import Tree

SELECTORS: Final = {"labelSelector": "labels", "annotationSelector": "annotations"}
_OF_GLOB: Final = 20
"""The number of terms that take the time of a glob."""
_SPECIAL: Final = frozenset("*?[\\")


class Target(NamedTuple):
    """A parsed target; an empty part matches everything."""

    kind: str = TRAINJOB.kind
    group: str = ""
    version: str = ""
    name: str = ""
    namespace: str = ""
    labels: tuple[Requirement, ...] = ()
    annotations: tuple[Requirement, ...] = ()

    @property
    def terms(self) -> int:
        """The number of comparisons with an object, in units of one term of a selector."""
        globs = sum(not _SPECIAL.isdisjoint(glob) for glob in (self.name, self.namespace))
        return 1 + globs * _OF_GLOB + len(self.labels) + len(self.annotations)

    def matches(self, source: Tree) -> bool:
        """Return whether the target matches an object: for a JobSet, the TrainJob that it is compiled from."""
        id = ObjectId.from_source(source)
        version = id.apiVersion
        if self.kind == JOBSET.kind and role_of(version, id.kind) == "job":
            version = JOBSET.versions[0]
        elif self.kind not in ("", id.kind):
            return False
        if (self.group or self.version) and not self._is_version(version):
            return False
        if not (is_match(self.name, id.name) and is_match(self.namespace, id.namespace)):
            return False
        return not (self.labels or self.annotations) or self._is_selected(source)

    def is_namespace(self, namespace: str) -> bool:
        """Return whether the target selects a namespace as a whole: it has no other selector."""
        return not (self.kind or self.group or self.name) and is_match(self.namespace, namespace)

    def _is_version(self, version: str) -> bool:
        group, slash, name = version.rpartition("/")
        return self.group in ("", group) and self.version in ("", name if slash else version)

    def _is_selected(self, source: Tree) -> bool:
        pairs = ((self.labels, "labels"), (self.annotations, "annotations"))
        for requirements, key in pairs:
            found = get(source, ("metadata", key), {})
            found = found if isinstance(found, dict) else {}
            if not all(requirement.matches(found) for requirement in requirements):
                return False
        return True


def is_match(glob: str, text: str) -> bool:
    """Return whether a glob matches a whole text; an empty glob matches every text.

    >>> [is_match("llama-*", text) for text in ("llama-7b", "llama", "my-llama-7b")]
    [True, False, False]
    """
    if glob in ("", "*", text):
        return True
    return not _SPECIAL.isdisjoint(glob) and matches(glob, text)


def read(given: dict[str, Any]) -> Target:
    """Return the target of a patch. Raises SelectorError with the field that has the selector."""
    parts: dict[str, Any] = {key: value for key, value in given.items() if key not in SELECTORS and value}
    for key, field in SELECTORS.items():
        try:
            parts[field] = parse(given.get(key) or "")
        except SelectorError as error:
            error.key = key
            raise
    return Target(**parts)
