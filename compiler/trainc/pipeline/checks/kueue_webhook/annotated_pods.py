"""The pods of a replicated job with annotations, which Kueue calls a pod set, and the keys of its annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes import names
from trainc.kubernetes.violations import Violation, field_of, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.declarations import Declaration
    from trainc.kubernetes.trees import Path

PREFIX: Final = "kueue.x-k8s.io/podset-"
REQUIRED: Final = f"{PREFIX}required-topology"
PREFERRED: Final = f"{PREFIX}preferred-topology"
UNCONSTRAINED: Final = f"{PREFIX}unconstrained-topology"
GROUP: Final = f"{PREFIX}group-name"
SLICE_TOPOLOGY: Final = f"{PREFIX}slice-required-topology"
SLICE_SIZE: Final = f"{PREFIX}slice-size"
SLICE_LEVELS: Final = f"{PREFIX}slice-required-topology-constraints"
EXAMPLE: Final = "cloud.provider.com/topology-rack"
"""A label of nodes, for hints."""


class AnnotatedPods(NamedTuple):
    """The pods of one replicated job."""

    job: str
    """The replicated job's name."""
    size: int
    """The number of pods that run at once."""
    annotations: dict[str, str]
    path: Path
    """The path of the annotations in the JobSet."""

    def at(self, key: str) -> Path:
        """Return the path of an annotation in the JobSet."""
        return (*self.path, key)

    def field(self, key: str) -> str:
        """Return the field of an annotation, as the webhook names it."""
        return f"{field_of(self.path)}[{key}]"

    def has(self, *keys: str) -> list[str]:
        """Return those of some annotations that the pods have."""
        return [key for key in keys if key in self.annotations]

    def violation(
        self,
        key: str,
        declared: Declaration,
        message: str,
        help: str,
        *,
        field: str = "",
        of_key: bool = False,
        related: tuple[tuple[str, Path], ...] = (),
    ) -> Violation:
        """Return a violation at an annotation, or with `of_key` at its key; `field` is another one than its own."""
        text = f'job "{self.job}": {message}'
        return Violation.at(
            self.at(key), declared, text, help, field=field or self.field(key), key=of_key, related=related
        )


def without_domain(key: str) -> str:
    """Return a key without its domain, for a message: the line that the message shows has the whole key."""
    return key.partition("/")[2]


def node_label_violations(pods: AnnotatedPods, declared: Declaration, *keys: str) -> Iterator[Violation]:
    """Yield a violation for each of some annotations that is not the key of a label."""
    for key in pods.has(*keys):
        value = pods.annotations[key]
        if names.qualified_name_errors(value):
            yield pods.violation(
                key,
                declared,
                f"{without_domain(key)} {node_label_fault(value)}",
                f"use the key of a node label, such as {EXAMPLE}",
            )


def node_label_fault(value: str) -> str:
    """Return the reason why a text is not the key of a label, to follow its subject."""
    if not value:
        return "is empty"
    return f"is {shown(value)}, which is not a label key: it {names.fault_of_key(value)}"
