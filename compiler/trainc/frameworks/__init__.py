"""The framework passes. A policy's key in `mlPolicy` is the name of its file or folder; `plain` is what has no key.

A framework has `apply`, which takes a sized plan and returns one with its variables and ports; `RESERVED`, the
variables that a TrainJob may not set because the framework does, and `RESERVED_AT`, where the webhook says so; and
`CHECKS`, what else its part of the webhook refuses. One whose pods wait for a Secret has `secrets`, too; one that does
not reserve the same variables for every plan, `reserved`; one whose processes meet at one place, `MEETS_AT`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.plan import Plan

    Asked = Check[[Plan]] | Callable[[ObjectId, Plan], Iterator[Diagnostic]]
    """A check, or what asks more of them about a plan that has to do with them."""


FRAMEWORKS: Final = ("flux", "jax", "mpi", "mxnet", "paddle", "plain", "tensorflow", "torch", "xgboost")


class Secret(NamedTuple):
    """A Secret that the pods wait for, which the controller would have made and trainc does not write."""

    name: str
    kind: Literal["ssh", "curve"]
    """What is in it: a pair of SSH keys, or a CURVE certificate."""
    holds: str
    """The same in words."""


class Framework(Protocol):
    """What a module in this folder offers."""

    RESERVED: frozenset[str]
    RESERVED_AT: str
    """How its webhook spells the field of a reserved variable; `{index}` is the variable's place in the list."""
    CHECKS: tuple[Asked, ...]
    apply: Callable[[Plan], Plan]


@cache
def load(key: str) -> Framework | None:
    """The framework of a policy's key, or None when there is none of that name."""
    if key not in FRAMEWORKS:
        return None
    return cast("Framework", import_module(f"{__name__}.{key}"))


def reserved_variables(plan: Plan) -> frozenset[str]:
    """The variables that a TrainJob may not set, because its framework does."""
    framework = load(plan.runtime.framework)
    if framework is None:
        return frozenset()
    of_plan: Callable[[Plan], frozenset[str]] | None = getattr(framework, "reserved", None)
    return of_plan(plan) if of_plan else framework.RESERVED


def expected_secrets(plan: Plan) -> tuple[Secret, ...]:
    """The Secrets that the pods of a job wait for."""
    secrets: Callable[[Plan], tuple[Secret, ...]] | None = getattr(load(plan.runtime.framework), "secrets", None)
    return secrets(plan) if secrets else ()


def meeting_words(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """In which words a container is told where its processes meet: variables, or a flag of its command.

    Of several ways the first holds whose words are all there; the values of one way, joined by colons, are the place.
    """
    found: tuple[tuple[str, ...], ...] = getattr(load(plan.runtime.framework), "MEETS_AT", ())
    return found


@check("reserved-env", stage="trainjob", title="The TrainJob sets a variable that the framework sets")
def reserved(plan: Plan) -> Iterator[Finding]:
    """The framework writes these variables itself; another value would break the rendezvous."""
    framework, names = load(plan.runtime.framework), reserved_variables(plan)
    for index, variable in enumerate(plan.job.trainer.get("env") or []):
        if framework and variable.get("name") in names:
            yield Finding(
                message=f"{variable['name']} is set by the {plan.runtime.framework} framework",
                help="leave it out: it follows from numNodes, numProcPerNode and the runtime",
                field=framework.RESERVED_AT.format(index=index),
                place=plan.job.at("spec", "trainer", "env", index, "name"),
            )


@check(
    "secret-expected",
    stage="build",
    severity="note",
    title="The pods need a Secret that is not in the output",
    own=True,
)
def secret(plan: Plan) -> Iterator[Finding]:
    """The controller makes new keys for every TrainJob; a manifest is no place for a private key."""
    for expected in expected_secrets(plan):
        import shlex

        file = shlex.quote(plan.job.document.file)
        yield Finding(
            message=f'the pods wait for a Secret "{expected.name}" with {expected.holds}, which is not in the output',
            help=f"make it once: trainc secret {plan.job.name} {file} | kubectl apply -f -",
            field="metadata.name",
            place=plan.job.at("metadata", "name"),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (reserved, secret)
"""The checks that every framework shares."""
