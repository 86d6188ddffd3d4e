"""The rules of Kueue's webhook for the labels and annotations of the JobSet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.gostrings import parse_int
from trainc.kubernetes.violations import Violation, shown
from trainc.pipeline.objects import QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from trainc.base.fixes import Fix
    from trainc.kubernetes.trees import Path, Tree

QUEUE_NAME: Final = Declaration("queue-name", ("kueue",))
PREBUILT_WORKLOAD: Final = Declaration("prebuilt-workload", ("kueue",))
MAX_EXEC_TIME: Final = Declaration("max-exec-time", ("kueue",))
ELASTIC_JOBSET: Final = Declaration("elastic-jobset", ("kueue",), fix="unsafe")
ADMISSION_GATE: Final = Declaration("admission-gate", ("kueue",))

PREBUILT: Final = "kueue.x-k8s.io/prebuilt-workload-name"
"""An annotation, or a label that counts without it."""
MAX_EXEC: Final = "kueue.x-k8s.io/max-exec-time-seconds"
ELASTIC: Final = "kueue.x-k8s.io/elastic-job"
GATES: Final = "kueue.x-k8s.io/admission-gated-by"
LONGEST_GATE: Final = 63
"""Bytes."""
LONGEST_NAME: Final = 253


def violations(metadata: Tree) -> Iterator[Violation]:
    """Yield the violations of a JobSet's labels and annotations."""
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    if QUEUE in labels:
        yield from _name(QUEUE_NAME, "LocalQueue", "labels", QUEUE, labels[QUEUE])
    if annotations.get(PREBUILT):
        yield from _name(PREBUILT_WORKLOAD, "Workload", "annotations", PREBUILT, annotations[PREBUILT])
    elif PREBUILT in labels:
        yield from _name(PREBUILT_WORKLOAD, "Workload", "labels", PREBUILT, labels[PREBUILT])
    if MAX_EXEC in labels:
        yield from _seconds(labels[MAX_EXEC])
    if annotations.get(ELASTIC) == "true":
        from trainc.base.fixes import removal

        path: Path = ("metadata", "annotations", ELASTIC)
        message = f"Kueue rejects a JobSet with the annotation {ELASTIC}: elastic jobs support other kinds only"
        yield _violation(ELASTIC_JOBSET, path, message, removal(path, "remove the annotation"))
    yield from _gates(annotations.get(GATES, ""))


def gates_of(text: str) -> list[str]:
    """Return the names of the admission gates in an annotation, which commas separate."""
    return [gate.strip() for gate in text.split(",")] if text.strip() else []


def _violation(declared: Declaration, path: Path, message: str, help: str | Fix) -> Violation:
    """Return a violation at a label or an annotation, with the field as the webhook names it."""
    *parents, key = path
    return Violation.at(path, declared, message, help, field=f"{'.'.join(map(str, parents))}[{key}]")


def _name(declared: Declaration, kind: str, holder: str, key: str, value: str) -> Iterator[Violation]:
    if not names.dns1123_subdomain_errors(value):
        return
    fault = names.fault(value, names.SUBDOMAIN, LONGEST_NAME)
    if value:
        message = f"{shown(value)} is not a valid name of a {kind}: it {fault}"
        help = f"use lowercase letters, digits, `-` and `.`{names.example(value)}"
    else:
        message, help = f"{key} is empty", f"name a {kind}, or remove the {holder[:-1]}"
    yield _violation(declared, ("metadata", holder, key), message, help)


def _seconds(text: str) -> Iterator[Violation]:
    seconds = parse_int(text)
    if seconds is None or seconds < 1:
        is_large = seconds is None and text.isdecimal()
        message = f"{MAX_EXEC} must be {f'below {2**63}' if is_large else 'an integer above 0'}, not {shown(text)}"
        help = "use a number of seconds, such as 3600"
        yield _violation(MAX_EXEC_TIME, ("metadata", "labels", MAX_EXEC), message, help)


def _gates(text: str) -> Iterator[Violation]:
    """Yield the first violation of the admission gates: the webhook names the annotation for all of them."""
    seen: set[str] = set()
    for gate in gates_of(text):
        if fault := _gate_fault(gate, seen):
            message, help = fault
            yield _violation(ADMISSION_GATE, ("metadata", "annotations", GATES), f"{GATES} has {message}", help)
            return
        seen.add(gate)


def _gate_fault(gate: str, seen: Set[str]) -> tuple[str, str] | None:
    """Return the message and the hint for an invalid gate."""
    if not gate:
        return "an empty name", "remove the extra comma"
    if gate in seen:
        return f"{shown(gate)} twice", "name each gate once"
    if names.domain_prefixed_path_errors(gate):
        return (
            f"{shown(gate)}, which is not a domain-prefixed path",
            "use a domain, a slash and a name, such as acme.io/approval",
        )
    if len(gate.encode("utf-8", "surrogatepass")) > LONGEST_GATE:
        return f"{shown(gate)}, which is longer than {LONGEST_GATE} bytes", "shorten it"
    return None
