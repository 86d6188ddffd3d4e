"""The interface of the validation rules, and the rules that every table needs.

A rule is a function of (findings, place, value). It is called if the field is present, and reports violations. Fields
that a table does not name are not checked. `fields` builds a mapping's rule from a table, `each` builds a list's rule.
`field_messages` words the messages; it is imported with the first violation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes import names
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.violations import Collector
from trainc.kubernetes.violations import field_of as field_of_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import At, Tree

FieldRule = Callable[["PodViolations", "At", Any], None]


class PodViolations(Collector):
    """The violations of one Job or Pod, and the context that rules need."""

    __slots__ = ("claims", "job", "metadata", "of_job", "pod", "volumes")

    def __init__(self, template: Tree, *, of_job: bool = True) -> None:
        super().__init__()
        self.claims: Sequence[Tree] = ()
        """Volumes that are added to the pod on creation."""
        self.job: Tree = {}
        """The Job's spec."""
        self.metadata: Tree = template.get("metadata") or {}
        """The metadata of the pod template or the Pod."""
        self.pod: Tree = template.get("spec") or {}
        """The pod's spec."""
        self.volumes: dict[str, Tree | None] = {}
        """The pod's volumes by name: the volume, or None for an invalid volume, which does not count."""
        self.of_job = of_job
        """Whether a Job's template is checked, to which fewer rules apply than to a Pod."""


def fields(table: Mapping[str, FieldRule]) -> FieldRule:
    """Return the rule for a mapping that checks each field in `table`."""

    def rule(found: PodViolations, at: At, value: Tree) -> None:
        for key, inner in value.items():
            if key in table:
                table[key](found, (at, key), inner)

    return rule


def each(inner: FieldRule) -> FieldRule:
    """Return the rule for a list that checks each item."""

    def rule(found: PodViolations, at: At, value: list[Any]) -> None:
        for index, item in enumerate(value):
            inner(found, (at, index), item)

    return rule


def late(module: str, name: str) -> FieldRule:
    """Return a rule of another module, imported when it is first called: most pods set only a few fields."""
    loaded: list[FieldRule] = []

    def rule(found: PodViolations, at: At, value: Any) -> None:
        if not loaded:
            loaded.append(getattr(import_module(f"{__package__}.{module}"), name))
        loaded[0](found, at, value)

    return rule


def one_of(*allowed: str) -> FieldRule:
    """Return the rule for an enum."""

    def rule(found: PodViolations, at: At, value: str) -> None:
        if value not in allowed:
            from trainc.kubernetes.validation import field_messages

            field_messages.not_allowed(found, at, value, allowed)

    return rule


def between(minimum: int, maximum: int) -> FieldRule:
    """Return the rule for an integer in a range that includes both ends."""

    def rule(found: PodViolations, at: At, value: int) -> None:
        if not minimum <= value <= maximum:
            from trainc.kubernetes.validation import field_messages

            field_messages.out_of_range(found, at, value, minimum, maximum)

    return rule


def at_least(minimum: int) -> FieldRule:
    """Return the rule for an integer whose only upper bound is that of its type."""

    def rule(found: PodViolations, at: At, value: int) -> None:
        if value < minimum:
            from trainc.kubernetes.validation import field_messages

            field_messages.out_of_range(found, at, value, minimum, None)

    return rule


def label(found: PodViolations, at: At, value: str) -> None:
    """Check that a name is a DNS label."""
    if names.is_dns1123_label(value):
        from trainc.kubernetes.validation import field_messages

        field_messages.bad_name(found, at, value, "label")


def subdomain(found: PodViolations, at: At, value: str) -> None:
    """Check the name of another object, which must be a DNS subdomain."""
    if names.is_dns1123_subdomain(value):
        from trainc.kubernetes.validation import field_messages

        field_messages.bad_name(found, at, value, "subdomain")


def qualified(found: PodViolations, at: At, value: str) -> None:
    """Check a qualified name, which may have a domain and a slash as prefix."""
    if names.is_qualified_name(value):
        from trainc.kubernetes.validation import field_messages

        field_messages.bad_key(found, at, value)


def required(found: PodViolations, at: At, value: Tree, *keys: str) -> None:
    """Report each field that a mapping lacks or leaves empty."""
    for key in keys:
        if not value.get(key):
            from trainc.kubernetes.validation import field_messages

            field_messages.missing(found, (at, key))


SPACES: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""The characters that Go treats as white space."""


def field_of(at: At) -> str:
    """Return a place as the API server's errors write it; some errors use only a prefix of the exact field."""
    return field_of_path(path_of(at))


def cluster_field(at: At, *steps: str | int) -> str:
    """Return the field of a place that the API server's error names instead of the exact one; "" for no place.

    `steps` are appended to the field.
    """
    if at is None:
        return ""
    return field_of_path((*path_of(at), *steps))


def every_container(spec: At, pod: Tree) -> Iterator[tuple[At, Tree]]:
    """Yield the containers of a pod with their places, in the order in which the API server checks them."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(pod.get(kind) or ()):
            yield ((spec, kind), index), container
