"""The rules of Kueue's webhook for groups of pod sets, which Kueue places together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.gostrings import parse_uint
from trainc.kubernetes.violations import field_of, listed, shown
from trainc.pipeline.checks.kueue_webhook.annotated_pods import (
    GROUP,
    PREFERRED,
    REQUIRED,
    SLICE_LEVELS,
    SLICE_SIZE,
    SLICE_TOPOLOGY,
    AnnotatedPods,
    without_domain,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.violations import Violation

POD_SET_GROUP: Final = Declaration("pod-set-group", ("kueue",))

_SIZE: Final = 2
"""The pod sets of a group."""


def violations(pods: AnnotatedPods) -> Iterator[Violation]:
    """Yield the violations of one pod set: a group that is a number, has slices, or requests no topology."""
    group = pods.annotations.get(GROUP)
    if group is None:
        return
    if parse_uint(group) is not None:
        message = f"{without_domain(GROUP)} must not be a number: {shown(group)}"
        yield pods.violation(GROUP, POD_SET_GROUP, message, f"add a letter, such as group-{group[:20]}")
    if slices := pods.has(SLICE_TOPOLOGY, SLICE_SIZE, SLICE_LEVELS):
        message = f"{without_domain(GROUP)} cannot be combined with {listed(map(without_domain, slices))}"
        related = tuple(("the slices", pods.at(key)) for key in slices[:1])
        yield pods.violation(
            GROUP, POD_SET_GROUP, message, "remove the group or the slices", of_key=True, related=related
        )
    if not pods.has(REQUIRED, PREFERRED):
        message = f"{without_domain(GROUP)} requires {without_domain(REQUIRED)} or {without_domain(PREFERRED)}"
        yield pods.violation(
            GROUP, POD_SET_GROUP, message, f"add {REQUIRED} or {PREFERRED}, or remove the group", of_key=True
        )


def inconsistent_groups(annotated: Iterable[AnnotatedPods]) -> Iterator[Violation]:
    """Yield the violations between pod sets: a group has two, with the same topology, and one of them has one pod."""
    groups: dict[str, list[AnnotatedPods]] = {}
    for pods in annotated:
        if GROUP in pods.annotations and pods.has(REQUIRED, PREFERRED):
            groups.setdefault(pods.annotations[GROUP], []).append(pods)
    for group, members in groups.items():
        if len(members) != _SIZE:
            yield from _wrong_size_violations(group, members)
            continue
        one, other = members
        for pods, partner in ((one, other), (other, one)):
            if pods.size != 1 and partner.size != 1:
                yield pods.violation(
                    GROUP,
                    POD_SET_GROUP,
                    f'one of the two jobs of pod set group {shown(group)} must run one pod; job "{pods.job}" runs '
                    f'{pods.size}, and job "{partner.job}" runs {partner.size}',
                    "remove the group, or run one pod in one of the jobs",
                    related=(("the other job", partner.at(GROUP)),),
                )
            if _topology(pods) != _topology(partner):
                key, value = _topology(pods)
                their_key, their_value = _topology(partner)
                yield pods.violation(
                    key,
                    POD_SET_GROUP,
                    f"the two jobs of pod set group {shown(group)} must request the same topology; "
                    f"{without_domain(key)} is {shown(value)}, but {without_domain(their_key)} of "
                    f'job "{partner.job}" is {shown(their_value)}',
                    "use the same annotation with the same value in both jobs",
                    field=field_of(pods.path),
                    related=(("the other job", partner.at(their_key)),),
                )


def _wrong_size_violations(group: str, members: list[AnnotatedPods]) -> Iterator[Violation]:
    """Yield a violation for each pod set of a group that has not exactly two."""
    first, *others = members
    for pods in members:
        partner = next((each for each in (first, *others[:1]) if each is not pods), None)
        yield pods.violation(
            GROUP,
            POD_SET_GROUP,
            f"pod set group {shown(group)} must have exactly two jobs, but has {len(members)}",
            "set the group in exactly two jobs, or remove it",
            related=() if partner is None else (("another job of the group", partner.at(GROUP)),),
        )


def _topology(pods: AnnotatedPods) -> tuple[str, str]:
    """Return the annotation that requests the topology of a group, and its value; that of `required` if both do."""
    key = pods.has(REQUIRED, PREFERRED)[0]
    return key, pods.annotations[key]
