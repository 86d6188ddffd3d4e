"""The layout of a legacy job: the position of each pod of its roles in the JobSet.

Reads    roles in their order, each with its number of pods.
Returns  groups, one for each replicated job. Roles with equal templates share one Job, in which the completion index is
         the rank. Otherwise each role has a Job; or, where the rank runs on across roles, a Job for each pod: JobSet
         numbers the Jobs across replicated jobs, so that the number is the rank. Also the fields to which a pod
         template refers, such as its index (the downward API).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.trees import Tree


COMPLETION_INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
JOB_INDEX: Final = "metadata.labels['jobset.sigs.k8s.io/job-index']"
"""The field with the number of a pod's Job in its replicated job."""
GLOBAL_INDEX: Final = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"
"""The field with the number of a pod's Job among all Jobs of the JobSet."""
FOLDED: Final = "node"
"""The name of a replicated job with the pods of several roles."""


class Position(NamedTuple):
    """The position of a pod in a JobSet."""

    job: int
    """The index of its replicated job."""
    replica: int
    pod: int
    """The completion index."""


class Group(NamedTuple):
    """A replicated job, and the roles of its pods in their order."""

    name: str
    roles: tuple[tuple[str, int], ...]
    """The name of each role, and its number of pods."""
    is_one_job: bool
    """Whether its pods are those of one Job; otherwise each pod has a Job."""

    @property
    def role(self) -> str:
        """The first role."""
        return self.roles[0][0]

    @property
    def pods(self) -> int:
        """The number of pods."""
        return sum(count for _, count in self.roles)

    @property
    def index_field(self) -> str:
        """The field of a pod with its index in the group."""
        return COMPLETION_INDEX if self.is_one_job else JOB_INDEX


class Layout(NamedTuple):
    """The replicated jobs of a JobSet, and the host names that the operator gave to their pods."""

    groups: tuple[Group, ...]
    unnumbered: str = ""
    """The role whose only pod has the host name `<job>-<role>`, without an index."""
    in_subdomain: bool = False
    """Whether the host names can have the job's name as their domain."""

    @classmethod
    def folded(cls, roles: Iterable[tuple[str, int]]) -> Layout:
        """Return the layout of roles that share one Job."""
        return cls((Group(FOLDED, tuple(roles), is_one_job=True),))

    @classmethod
    def ranked(cls, roles: Iterable[tuple[str, int]]) -> Layout:
        """Return the layout with a replicated job for each role, and consecutive ranks."""
        roles = tuple(roles)
        return cls(tuple(Group(name.lower(), ((name, pods),), len(roles) == 1 or pods == 1) for name, pods in roles))

    @classmethod
    def by_role(cls, roles: Iterable[tuple[str, int]]) -> Layout:
        """Return the layout with a Job for each role, whose pods have no common rank."""
        return cls(tuple(Group(name.lower(), ((name, pods),), is_one_job=True) for name, pods in roles))

    @classmethod
    def from_tree(cls, tree: Tree) -> Layout:
        """Return the layout that `tree` describes."""
        groups = (Group(each["name"], tuple(map(tuple, each["roles"])), each["isOneJob"]) for each in tree["groups"])
        return cls(tuple(groups), tree["unnumbered"], tree["inSubdomain"])

    @property
    def tree(self) -> Tree:
        """The layout as a part of a manifest."""
        groups = [
            {"name": group.name, "roles": [*map(list, group.roles)], "isOneJob": group.is_one_job}
            for group in self.groups
        ]
        return {"groups": groups, "unnumbered": self.unnumbered, "inSubdomain": self.in_subdomain}

    @property
    def rank_field(self) -> str:
        """The field of a pod with its rank among the pods of all roles."""
        return COMPLETION_INDEX if len(self.groups) == 1 else GLOBAL_INDEX

    def position(self, role: str, index: int) -> Position | None:
        """Return the position of a role's pod; None if there is no such pod."""
        for job, group in enumerate(self.groups):
            before = 0
            for name, pods in group.roles:
                if name == role and 0 <= index < pods:
                    at = before + index
                    return Position(job, 0, at) if group.is_one_job else Position(job, at, 0)
                before += pods
        return None


REFERENCE: Final = "fieldRef"
"""The key of a reference in a variable, and in an item of a downwardAPI or projected volume."""


def field_paths(tree: Any) -> Iterator[str]:
    """Yield the path of each reference."""
    if isinstance(tree, list):
        for item in tree:
            yield from field_paths(item)
    elif isinstance(tree, dict):
        reference = tree.get(REFERENCE)
        if isinstance(reference, dict):
            yield str(reference.get("fieldPath"))
        for value in tree.values():
            yield from field_paths(value)


def with_field_path(tree: Any, old: str, new: str) -> Any:
    """Return a tree whose references to the path `old` refer to `new`.

    >>> with_field_path([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}], "a", "b")
    [{'name': 'A', 'valueFrom': {'fieldRef': {'fieldPath': 'b'}}}]
    """
    if isinstance(tree, list):
        return [with_field_path(item, old, new) for item in tree]
    if not isinstance(tree, dict):
        return tree
    changed = {key: with_field_path(value, old, new) for key, value in tree.items()}
    reference = tree.get(REFERENCE)
    if isinstance(reference, dict) and reference.get("fieldPath") == old:
        changed[REFERENCE] = reference | {"fieldPath": new}
    return changed
