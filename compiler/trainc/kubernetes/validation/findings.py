"""How the rules of this room are written: what they are given, and the ones that every table needs.

A rule is a function of (findings, where, value). It is called when the field is there, and complains when it must; what
a table of rules does not name is not looked at. `fields` makes a rule for a mapping of a table, `each` one for a list.
Names and words for what is wrong are made by `complaints`, which is imported with the first complaint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import path_of
from trainc.kubernetes.violations import Collector
from trainc.kubernetes.violations import field_of as spelling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import At, Tree

Rule = Callable[["Findings", "At", Any], None]


class Findings(Collector):
    """What is found in one Job or Pod, and what rules need to know of the whole of it."""

    __slots__ = ("claims", "job", "metadata", "of_job", "pod", "volumes")

    def __init__(self, template: Tree, *, of_job: bool = True) -> None:
        super().__init__()
        self.claims: Sequence[Tree] = ()
        """Volumes that nobody has written, and that the pod will have."""
        self.job: Tree = {}
        """The Job's spec."""
        self.metadata: Tree = template.get("metadata") or {}
        """Of the pod template, or the Pod."""
        self.pod: Tree = template.get("spec") or {}
        """The pod's spec."""
        self.volumes: dict[str, Tree | None] = {}
        """The pod's volumes by name: its source, or None for one that does not count because it is refused itself."""
        self.of_job = of_job
        """Whether the template of a Job is looked at, which is forgiven some of what a Pod is not."""


def fields(table: Mapping[str, Rule]) -> Rule:
    """The rule of a mapping: that of each field that it has."""

    def rule(found: Findings, at: At, value: Tree) -> None:
        for key, inner in value.items():
            if key in table:
                table[key](found, (at, key), inner)

    return rule


def each(inner: Rule) -> Rule:
    """The rule of a list: that of its items."""

    def rule(found: Findings, at: At, value: list[Any]) -> None:
        for index, item in enumerate(value):
            inner(found, (at, index), item)

    return rule


def late(module: str, name: str) -> Rule:
    """A rule of another module of this room, imported when the field is first met: most pods have few fields."""
    loaded: list[Rule] = []

    def rule(found: Findings, at: At, value: Any) -> None:
        if not loaded:
            loaded.append(getattr(import_module(f"{__package__}.{module}"), name))
        loaded[0](found, at, value)

    return rule


def one_of(*allowed: str) -> Rule:
    """The rule of a word of which there are only a few."""

    def rule(found: Findings, at: At, value: str) -> None:
        if value not in allowed:
            from trainc.kubernetes.validation import complaints

            complaints.not_allowed(found, at, value, allowed)

    return rule


def between(least: int, most: int) -> Rule:
    """The rule of a whole number, both ends included."""

    def rule(found: Findings, at: At, value: int) -> None:
        if not least <= value <= most:
            from trainc.kubernetes.validation import complaints

            complaints.out_of_range(found, at, value, least, most)

    return rule


def at_least(least: int) -> Rule:
    """The rule of a whole number that has no upper bound but its type's."""

    def rule(found: Findings, at: At, value: int) -> None:
        if value < least:
            from trainc.kubernetes.validation import complaints

            complaints.out_of_range(found, at, value, least, None)

    return rule


def label(found: Findings, at: At, value: str) -> None:
    """The rule of a name that is a DNS label."""
    from trainc.kubernetes import names

    if names.is_dns1123_label(value):
        from trainc.kubernetes.validation import complaints

        complaints.bad_name(found, at, value, "label")


def subdomain(found: Findings, at: At, value: str) -> None:
    """The rule of the name of another object."""
    from trainc.kubernetes import names

    if names.is_dns1123_subdomain(value):
        from trainc.kubernetes.validation import complaints

        complaints.bad_name(found, at, value, "subdomain")


def qualified(found: Findings, at: At, value: str) -> None:
    """The rule of a name that may have a domain and a slash before it."""
    from trainc.kubernetes import names

    if names.is_qualified_name(value):
        from trainc.kubernetes.validation import complaints

        complaints.bad_key(found, at, value)


def required(found: Findings, at: At, value: Tree, *keys: str) -> None:
    """Complain of each of the fields that a mapping lacks, or that are empty."""
    for key in keys:
        if not value.get(key):
            from trainc.kubernetes.validation import complaints

            complaints.missing(found, (at, key))


SPACES: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go takes for white space."""


def field_of(at: At) -> str:
    """A place as the cluster's errors spell it: what a field of a coarser spelling begins with."""
    return spelling(path_of(at))


def spelled(at: At, *steps: str | int) -> str:
    """The field of another place than the one that is meant, where the cluster names that; "" for no place.

    `steps` are what the field has behind it.
    """
    if at is None:
        return ""
    return spelling((*path_of(at), *steps))


def every_container(spec: At, pod: Tree) -> Iterator[tuple[At, Tree]]:
    """The containers of a pod with their places, in the order in which the API server goes through them."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(pod.get(kind) or ()):
            yield ((spec, kind), index), container
