"""The rules of Kueue's webhook for slices: parts of a pod set, each of which Kueue places in one topology domain.

Source: for the levels in JSON, Go 1.24's encoding/json with a list of structs, whose fields it matches without case.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.kubernetes import names
from trainc.kubernetes.gostrings import parse_bool, parse_int
from trainc.kubernetes.violations import field_of, listed, shown
from trainc.pipeline.checks.kueue_webhook.annotated_pods import (
    EXAMPLE,
    PREFERRED,
    REQUIRED,
    SLICE_LEVELS,
    SLICE_SIZE,
    SLICE_TOPOLOGY,
    UNCONSTRAINED,
    AnnotatedPods,
    node_label_fault,
    node_label_violations,
    without_domain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.violations import Violation


TOPOLOGY_SLICES: Final = Declaration("topology-slices", ("kueue",))

MOST_LEVELS: Final = 3
EXAMPLE_LEVELS: Final = f'[{{"topology": "{EXAMPLE}", "size": 2}}]'
_BITS: Final = 32
"""Of a size."""


class SliceLevel(NamedTuple):
    """A level of slices in JSON, with the values of missing fields. A fault is the reason why Go rejects a value."""

    topology: str = ""
    size: int = 0
    fault: str = ""


class _Pairs(list[tuple[str, Any]]):
    """The fields of an object in JSON, in their order; a field may be repeated."""


class _Number(str):
    """A number in JSON as it is written."""

    __slots__ = ()


def slice_violations(pods: AnnotatedPods) -> Iterator[Violation]:
    """Yield the violations of the annotations that divide a pod set into slices."""
    yield from node_label_violations(pods, TOPOLOGY_SLICES, SLICE_TOPOLOGY)
    yield from _size(pods)
    text = pods.annotations.get(SLICE_LEVELS)
    if text is None:
        return
    if others := pods.has(SLICE_TOPOLOGY, SLICE_SIZE):
        message = f"{without_domain(SLICE_LEVELS)} cannot be combined with {listed(map(without_domain, others))}"
        related = (("the other slices", pods.at(others[0])),)
        yield pods.violation(
            SLICE_LEVELS, TOPOLOGY_SLICES, message, "keep one of the two forms", of_key=True, related=related
        )
    try:
        levels = read_levels(text)
    except ValueError as error:
        message = f"{without_domain(SLICE_LEVELS)} must be a JSON list of 1 to {MOST_LEVELS} levels: {error}"
        yield pods.violation(SLICE_LEVELS, TOPOLOGY_SLICES, message, f"use a list such as {EXAMPLE_LEVELS}")
        return
    yield from _levels(pods, levels)


def _size(pods: AnnotatedPods) -> Iterator[Violation]:
    """Check that a slice size and its topology are used together, and that the size is at most the number of pods."""
    text = pods.annotations.get(SLICE_SIZE)
    if text is None:
        if SLICE_TOPOLOGY in pods.annotations:
            message = f"{without_domain(SLICE_TOPOLOGY)} requires {without_domain(SLICE_SIZE)}"
            help = f"add {SLICE_SIZE}, the number of pods of a slice"
            yield pods.violation(
                SLICE_TOPOLOGY, TOPOLOGY_SLICES, message, help, field=pods.field(SLICE_SIZE), of_key=True
            )
        return
    size = parse_int(text, _BITS)
    if size is None or not 1 <= size <= pods.size:
        message = f"{without_domain(SLICE_SIZE)} must be {_allowed(pods)}, not {shown(text)}"
        yield pods.violation(SLICE_SIZE, TOPOLOGY_SLICES, message, _help(pods))
    if SLICE_TOPOLOGY not in pods.annotations:
        message = f"{without_domain(SLICE_SIZE)} requires {without_domain(SLICE_TOPOLOGY)}"
        help = f"add {SLICE_TOPOLOGY}, such as {EXAMPLE}, or remove the size"
        yield pods.violation(SLICE_SIZE, TOPOLOGY_SLICES, message, help, of_key=True)


def _allowed(pods: AnnotatedPods) -> str:
    """Return the allowed sizes of a slice, to follow `must be`."""
    if pods.size < 2:
        return "1, the number of pods" if pods.size else "absent: the job runs no pods"
    return f"an integer from 1 to {pods.size}, the number of pods"


def _help(pods: AnnotatedPods) -> str:
    return f"use at most {pods.size}, or run more pods" if pods.size else "remove the slices"


def _levels(pods: AnnotatedPods, levels: list[SliceLevel]) -> Iterator[Violation]:
    """Check the topology and the size of each level, and the sizes of neighboring levels."""
    seen: dict[str, int] = {}
    for index, level in enumerate(levels):
        field = f"{pods.field(SLICE_LEVELS)}[{index}]"
        for name, message, help in _faults(levels, index, seen):
            yield pods.violation(
                SLICE_LEVELS,
                TOPOLOGY_SLICES,
                f"{without_domain(SLICE_LEVELS)}: {message}",
                help,
                field=f"{field}{name}",
            )
        seen.setdefault(level.topology, index)
    if levels[0].size > pods.size and not levels[0].fault:
        message = f"{without_domain(SLICE_LEVELS)}: size of level 1 must be {_allowed(pods)}, not {levels[0].size}"
        yield pods.violation(SLICE_LEVELS, TOPOLOGY_SLICES, message, _help(pods))


def _faults(levels: list[SliceLevel], index: int, seen: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield the field, the message and the hint of each fault of one level."""
    level, number = levels[index], index + 1
    if level.fault:
        yield "", f"level {number} {level.fault}", f"use an object such as {EXAMPLE_LEVELS[1:-1]}"
        return
    if names.qualified_name_errors(level.topology):
        message = f"topology of level {number} {node_label_fault(level.topology)}"
        yield ".topology", message, f"use the key of a node label, such as {EXAMPLE}"
    if level.topology in seen:
        message = f"level {number} has the topology of level {seen[level.topology] + 1}: {shown(level.topology)}"
        yield ".topology", message, "use each topology once"
    above = levels[index - 1].size if index else 0
    if level.size < 1:
        yield (
            ".size",
            f"size of level {number} must be at least 1, not {level.size}",
            "use the number of pods of a slice",
        )
    elif index and above % level.size:
        message = f"size of level {number} must divide {above}, the size of level {index}, but is {level.size}"
        yield ".size", message, f"use a divisor of {above}"


def read_levels(text: str) -> list[SliceLevel]:
    """Return the levels in an annotation. Raise ValueError with the reason for a text that is not a list of them."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_Pairs,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_no_constant,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON in line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if value is None:
        value = []
    if type(value) is not list:
        raise ValueError(f"it is {_kind(value)}")
    if not 1 <= len(value) <= MOST_LEVELS:
        raise ValueError(f"it has {len(value)}")
    return [_level(item) for item in value]


def _no_constant(name: str) -> Any:
    raise ValueError(f"it contains {name}, which is not JSON")


def _level(item: Any) -> SliceLevel:
    """Return one item as Go decodes it: a null changes nothing, and the last of several equal fields counts."""
    if item is None:
        return SliceLevel()
    if not isinstance(item, _Pairs):
        return SliceLevel(fault=f"must be an object, not {_kind(item)}")
    level = SliceLevel()
    for key, value in item:
        field = key.casefold()
        if value is None or field not in ("topology", "size"):
            continue
        if field == "topology":
            if type(value) is not str:
                return SliceLevel(fault=f"must have a string as its topology, not {_kind(value)}")
            level = level._replace(topology=value)
        else:
            size = parse_int(value, _BITS) if isinstance(value, _Number) else None
            if size is None:
                given = shown(str(value)).strip('"') if isinstance(value, _Number) else _kind(value)
                return SliceLevel(fault=f"must have an integer of {_BITS} bits as its size, not {given}")
            level = level._replace(size=size)
    return level


def _kind(value: Any) -> str:
    """Return the type of a value of JSON in words."""
    if isinstance(value, _Number):
        return "a number"
    if isinstance(value, _Pairs):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "a string" if isinstance(value, str) else "null" if value is None else "a boolean"


TOPOLOGY_REQUEST: Final = Declaration("topology-request", ("kueue",))


def request_violations(pods: AnnotatedPods) -> Iterator[Violation]:
    """Yield the violations of the annotations that request a topology; the pods can have one of them."""
    first, *others = pods.has(REQUIRED, PREFERRED, UNCONSTRAINED) or [""]
    if others:
        yield pods.violation(
            others[0],
            TOPOLOGY_REQUEST,
            f"the pods can have one topology request, but have {listed(map(without_domain, [first, *others]))}",
            "remove all but one of them",
            field=field_of(pods.path),
            of_key=True,
            related=(("the other request", pods.at(first)),),
        )
    yield from node_label_violations(pods, TOPOLOGY_REQUEST, REQUIRED, PREFERRED)
    unconstrained = pods.annotations.get(UNCONSTRAINED, "true")
    if parse_bool(unconstrained) is None:
        message = f"{without_domain(UNCONSTRAINED)} must be a boolean, not {shown(unconstrained)}"
        yield pods.violation(UNCONSTRAINED, TOPOLOGY_REQUEST, message, 'use "true"')
