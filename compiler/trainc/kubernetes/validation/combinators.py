"""The interface of the validation rules, and the rules that every table needs.

A rule is a function of (findings, place, value). It is called if the field is present, and reports violations. Fields
that a table does not name are not checked. `fields` builds a mapping's rule from a table, `each_item` a list's rule.
Modules that word messages are imported with the first violation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.violations import (
    DUPLICATE_ITEM,
    ENUM,
    INVALID_NAME,
    OUT_OF_RANGE,
    REQUIRED,
    Violation,
    listed,
    shown,
    subject,
)
from trainc.kubernetes.violations import field_of as field_of_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.fixes import Fix
    from trainc.base.suggestions import KnownNames
    from trainc.kubernetes.trees import At, Tree

KUBERNETES_VERSION: Final = Declaration("kubernetes-version", ("job",), "warning")
"""The versions are those of docs/versions.md; with the older one, the older rules apply."""

FieldRule = Callable[["PodViolations", "At", Any], None]


class PodViolations:
    """The violations of one Job or Pod, the context that rules need, and the messages that several rules share."""

    __slots__ = ("_known_volumes", "claims", "job", "metadata", "of_job", "pod", "violations", "volumes")

    def __init__(self, template: Tree, *, of_job: bool = True) -> None:
        self.violations: list[Violation] = []
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
        self._known_volumes: KnownNames | None = None

    @property
    def known_volumes(self) -> KnownNames:
        """The names of the valid volumes, for hints about missing ones; all volumes are known when one is missing."""
        if self._known_volumes is None:
            from trainc.base.suggestions import KnownNames

            self._known_volumes = KnownNames(name for name, volume in self.volumes.items() if volume)
        return self._known_volumes

    def report(
        self,
        declared: Declaration,
        at: At,
        message: str,
        help: str | Fix = "",
        *,
        field: str = "",
        related: tuple[tuple[str, At], ...] = (),
        key: bool = False,
    ) -> None:
        """Add a violation: `at` is the precise path; pass `field` if the cluster's error reports another one."""
        places = tuple((label, path_of(there)) for label, there in related)
        self.violations.append(Violation.at(path_of(at), declared, message, help, field=field, key=key, related=places))

    def report_missing(self, at: At, help: str = "", *, field: str = "") -> None:
        """Report a required field that is missing or empty."""
        assert at is not None
        parent, key = at
        self.report(
            REQUIRED, at, f"{called(parent)} has no {key}, which is required", help or f"add {key}", field=field
        )

    def report_difference(self, at: At, message: str, help: str) -> None:
        """Report a value that one of two Kubernetes versions rejects and the other one accepts, as a warning."""
        self.report(KUBERNETES_VERSION, at, message, help)
        self.violations[-1] = self.violations[-1]._replace(severity="warning")

    def not_allowed(self, at: At, value: object, allowed: Sequence[str], *, field: str = "") -> None:
        """Report a value that an enum does not allow."""
        from trainc.base.fixes import replaced_name

        self.report(
            ENUM,
            at,
            f"{called(at)} must be {listed([shown(item) for item in allowed], 'or')}, not {shown(value)}",
            replaced_name(path_of(at), str(value), allowed) or "use one of these values exactly as written",
            field=field,
        )

    def out_of_range(self, at: At, value: int, minimum: int, maximum: int | None, *, field: str = "") -> None:
        """Report a number outside its range."""
        bounds = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        help = f"use {minimum} or more" if value < minimum or maximum is None else f"use {maximum} or less"
        self.report(OUT_OF_RANGE, at, f"{called(at)} must be {bounds}, not {value}", help, field=field)

    def bad_name(self, at: At, value: str, form: Literal["label", "subdomain"], *, field: str = "") -> None:
        """Report a name that is not a valid DNS label or DNS subdomain."""
        characters, most = (names.LABEL, 63) if form == "label" else (names.SUBDOMAIN, 253)
        allowed = "digits and `-`" if form == "label" else "digits, `-` and `.`"
        why = names.fault(value, characters, most)
        if form == "label" and "." in value and not names.fault(value.replace(".", "-"), characters, most):
            why = 'contains "."'
        self.report(
            INVALID_NAME,
            at,
            f"{called(at)} is not a valid DNS {form}: {shown(value)} {why}",
            f"use lowercase letters, {allowed}{names.example(value)}",
            field=field,
        )

    def bad_key(
        self, at: At, value: str, *, declared: Declaration = INVALID_NAME, field: str = "", key: bool = False
    ) -> None:
        """Report an invalid qualified name; with `key`, the invalid key of a mapping, such as a label key."""
        problem = "invalid key" if key else f"{called(at)} is not a valid qualified name"
        self.report(
            declared,
            at,
            f"{problem}: {shown(value)} {names.fault_of_key(value)}",
            "use letters, digits, `-`, `_` and `.`, and start and end with a letter or digit; a domain and a `/` may "
            "precede them",
            field=field,
            key=key,
        )

    def duplicate(self, at: At, value: Any, first: At, noun: str, *, field: str = "") -> None:
        """Report a duplicate; `noun` names its kind, and `first` is the place of the earlier one."""
        self.report(
            DUPLICATE_ITEM,
            at,
            f"duplicate {noun} {shown(value)}",
            "remove or rename one of them",
            field=field,
            related=(("the first one", first),),
        )

    def amount_too_small(self, at: At, value: Any, why: str, help: str, *, field: str = "") -> None:
        """Report a quantity that is negative or zero; `why` is the rule, such as `must not be negative`."""
        self.report(OUT_OF_RANGE, at, f"{called(at)} {why}, but is {value}", help, field=field)


def called(at: At) -> str:
    """Return the name of a place in a message."""
    return subject(path_of(at))


def fields(table: Mapping[str, FieldRule]) -> FieldRule:
    """Return the rule for a mapping that checks each field in `table`."""

    def rule(violations: PodViolations, at: At, value: Tree) -> None:
        for key, inner in value.items():
            if key in table:
                table[key](violations, (at, key), inner)

    return rule


def each_item(inner: FieldRule) -> FieldRule:
    """Return the rule for a list that checks each item."""

    def rule(violations: PodViolations, at: At, value: list[Any]) -> None:
        for index, item in enumerate(value):
            inner(violations, (at, index), item)

    return rule


def imported_later(module: str, name: str) -> FieldRule:
    """Return a rule of another module, imported when it is first called: most pods set only a few fields."""
    loaded: list[FieldRule] = []

    def rule(violations: PodViolations, at: At, value: Any) -> None:
        if not loaded:
            loaded.append(getattr(import_module(f"{__package__}.{module}"), name))
        loaded[0](violations, at, value)

    return rule


def one_of(*allowed: str) -> FieldRule:
    """Return the rule for an enum."""

    def rule(violations: PodViolations, at: At, value: str) -> None:
        if value not in allowed:
            violations.not_allowed(at, value, allowed)

    return rule


def integer_between(minimum: int, maximum: int) -> FieldRule:
    """Return the rule for an integer in a range that includes both ends."""

    def rule(violations: PodViolations, at: At, value: int) -> None:
        if not minimum <= value <= maximum:
            violations.out_of_range(at, value, minimum, maximum)

    return rule


def at_least(minimum: int) -> FieldRule:
    """Return the rule for an integer whose only upper bound is that of its type."""

    def rule(violations: PodViolations, at: At, value: int) -> None:
        if value < minimum:
            violations.out_of_range(at, value, minimum, None)

    return rule


def label(violations: PodViolations, at: At, value: str) -> None:
    """Check that a name is a DNS label."""
    if names.dns1123_label_errors(value):
        violations.bad_name(at, value, "label")


def subdomain(violations: PodViolations, at: At, value: str) -> None:
    """Check the name of another object, which must be a DNS subdomain."""
    if names.dns1123_subdomain_errors(value):
        violations.bad_name(at, value, "subdomain")


def qualified_name(violations: PodViolations, at: At, value: str) -> None:
    """Check a qualified name, which may have a domain and a slash as prefix."""
    if names.qualified_name_errors(value):
        violations.bad_key(at, value)


def required_fields(violations: PodViolations, at: At, value: Tree, *keys: str) -> None:
    """Report each field that a mapping lacks or leaves empty."""
    for key in keys:
        if not value.get(key):
            violations.report_missing((at, key))


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
