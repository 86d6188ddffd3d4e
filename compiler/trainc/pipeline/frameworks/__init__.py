"""The frameworks. A policy's key in `mlPolicy` is the name of its file or folder; `plain` is for runtimes without one.
A legacy kind has a framework of its own, named as the kind in lower case.

A framework has `apply`, which takes a sized plan and returns a plan with its variables and ports; `RESERVED`, the
variables that only the framework can set, and `RESERVED_AT`, the field that the webhook reports for them; and `CHECKS`,
the other rules of its part of the webhook. Optional attributes are `secrets`, for pods that wait for a Secret;
`reserved_variables`, if they depend on the plan; `RENDEZVOUS`, if there is a rendezvous endpoint; `TRAITS`,
for checks and lint rules that apply to some frameworks; and `counted_processes`, if `TRAITS` has a starter.

**A framework** (`mlPolicy.<key>`). Copy from `pipeline/frameworks/jax.py`. For a framework with several modules,
copy from `pipeline/frameworks/flux/`.
1. Write `pipeline/frameworks/<key>.py`, or a package with that name, with `apply(plan) -> Plan`, `RESERVED`,
   `RESERVED_AT` and `CHECKS`. `pipeline/frameworks/__init__.py` describes the optional attributes, such as
   `TRAITS`, on which checks and lint rules depend. The docstring states what the module reads and adds, and names
   the source.
2. Add `<key>` to `FRAMEWORKS` in `pipeline/frameworks/__init__.py`.
3. Write a unit test `tests/unit/test_<key>.py` (copy from `test_jax.py`), a golden case, an entry in
   `docs/frameworks.md` and a built-in runtime.
4. If Trainer's CRD lacks the field, write `schemas/extensions/<key>.json` (copy from `mxnet.json`) and a section in
   `docs/extensions.md`. trainc loads the schema together with a runtime of that framework.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import PROCESSES_FIELD
from trainc.diagnostics import Finding
from trainc.pipeline.checks import Check, check
from trainc.pipeline.objects import ANCESTOR, Traits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.pipeline.objects import Runtime
    from trainc.pipeline.plan import Plan, Slot

    PlanCheck = Check[[Plan]] | Callable[[ObjectId, Plan], Iterator[Diagnostic]]
    """A check, or a function that runs further checks on the plans they apply to."""


FRAMEWORKS: Final = ("flux", "jax", "mpi", "mxnet", "paddle", "plain", "tensorflow", "torch", "xgboost")
LEGACY: Final = (
    "pytorchjob",
    "mpijob",
    "tfjob",
    "xgboostjob",
    "jaxjob",
    "paddlejob",
    "mxjob",
    "mlkubejob",
    "volcanojob",
)
"""The frameworks of legacy kinds, which only the runtimes of their own jobs have."""
NO_TRAITS: Final = Traits()
OF_CONTAINER: Final = ("image", "command", "args")
"""The trainer fields that apply only to a job with the trainer's label."""


class Secret(NamedTuple):
    """A Secret that the pods wait for. The controller creates it; trainc does not write it."""

    name: str
    kind: Literal["ssh", "curve"]
    """Its content: a pair of SSH keys, or a CURVE certificate."""
    holds: str
    """The content, for messages."""


class Framework(Protocol):
    """The interface of a module in this folder."""

    RESERVED: frozenset[str]
    RESERVED_AT: str
    """The field that its webhook reports for a reserved variable; `{index}` is the variable's index in the list."""
    CHECKS: tuple[PlanCheck, ...]
    apply: Callable[[Plan], Plan]


@cache
def load(key: str) -> Framework | None:
    """Return the framework for a policy's key, or None if the key is unknown."""
    if key not in FRAMEWORKS and key not in LEGACY:
        return None
    return cast("Framework", import_module(f"{__name__}.{key}"))


def traits(runtime: Runtime) -> Traits:
    """Return the traits of a runtime's framework."""
    found: Traits = getattr(load(runtime.framework), "TRAITS", NO_TRAITS)
    return found


def main_container(plan: Plan, job: int | None) -> Slot | None:
    """Return the main container of a replicated job; None without the job or the container."""
    name = traits(plan.runtime).container
    if name or job is None:
        return plan.find(job, name)
    return next(iter(plan.containers(job)), None)


def reserved_variables(plan: Plan) -> frozenset[str]:
    """Return the variables that only the framework can set."""
    framework = load(plan.runtime.framework)
    if framework is None:
        return frozenset()
    of_plan: Callable[[Plan], frozenset[str]] | None = getattr(framework, "reserved_variables", None)
    return of_plan(plan) if of_plan else framework.RESERVED


def counted_processes(plan: Plan) -> int | None:
    """Return the processes per node that Trainer counts; None if a field sets them, or if it counts none."""
    count: Callable[[Plan], int | None] | None = getattr(load(plan.runtime.framework), "counted_processes", None)
    return count(plan) if count else None


def expected_secrets(plan: Plan) -> tuple[Secret, ...]:
    """Return the Secrets that the pods of a job wait for."""
    secrets: Callable[[Plan], tuple[Secret, ...]] | None = getattr(load(plan.runtime.framework), "secrets", None)
    return secrets(plan) if secrets else ()


def rendezvous_sources(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """Return the sources of the rendezvous endpoint in a container: variables, or a command line flag.

    The first source applies whose names are all present. Its values, joined by colons, are the endpoint.
    """
    found: tuple[tuple[str, ...], ...] = getattr(load(plan.runtime.framework), "RENDEZVOUS", ())
    return found


@check(
    "trainer-missing",
    phase="trainjob",
    severity="warning",
    title="Trainer fields without a trainer job",
    trainc_only=True,
)
def lost_fields(plan: Plan) -> Iterator[Finding]:
    """The controller writes spec.trainer only into jobs with the ancestor label `trainer`."""
    if plan.trainer is not None or not plan.jobs:
        return
    by_name = traits(plan.runtime).finds_jobs_by_name
    lost = [key for key in plan.job.trainer if key in OF_CONTAINER or not by_name]
    if lost:
        known = [str(job.get("name")) for job in plan.jobs]
        which = f'job "{known[0]}"' if len(known) == 1 else f"one of the jobs {', '.join(known)}" if known else "a job"
        yield Finding(
            message=f"spec.trainer has no effect ({', '.join(lost)}): no job of runtime "
            f'"{plan.runtime.id.name}" has the label {ANCESTOR}: trainer',
            help=f"add the label to the Job template of {which} in the runtime",
            place=plan.job.at("spec", "trainer", lost[0], key=True),
        )


@check("reserved-env", phase="trainjob", title="Variable that the framework sets", fix="unsafe")
def reserved_env(plan: Plan) -> Iterator[Finding]:
    """The framework sets these variables itself; another value would break the rendezvous."""
    framework, names = load(plan.runtime.framework), reserved_variables(plan)
    for index, variable in enumerate(plan.job.trainer.get("env") or []):
        if framework and variable.get("name") in names:
            from trainc.base.fixes import removal

            title = f"remove it: its value follows from numNodes, {PROCESSES_FIELD} and the runtime"
            if ":" in str(variable.get("value", "")) and variable["name"] == "PET_NNODES":
                title = "remove it: elasticPolicy of the runtime sets a range of nodes"
            yield Finding(
                message=f"the {plan.runtime.framework} framework sets {variable['name']}, so a TrainJob cannot set it",
                help=removal(("spec", "trainer", "env", index), title),
                field=framework.RESERVED_AT.format(index=index),
                place=plan.job.at("spec", "trainer", "env", index, "name"),
            )


@check(
    "secret-expected",
    phase="build",
    severity="note",
    title="Required Secret not in the output",
    trainc_only=True,
    can_be_disabled=True,
)
def secret(plan: Plan) -> Iterator[Finding]:
    """The controller creates new keys for every TrainJob; a private key does not belong in a manifest."""
    for expected in expected_secrets(plan):
        if plan.library.has_secret and plan.library.has_secret(plan.job.namespace, expected.name):
            continue
        import shlex

        environment, legacy = plan.library.option_names.environment, "--legacy" if plan.job.own_runtime else ""
        file, (in_commit, on_disk) = plan.job.document.file, plan.library.option_names.revision
        if in_commit and file.startswith(in_commit):
            file = on_disk + file.removeprefix(in_commit)
        words = (plan.job.source_name, shlex.quote(file), environment, legacy)
        arguments = " ".join(filter(None, words))
        once = "once in each environment" if environment else "once"
        yield Finding(
            message=f'the pods wait for Secret "{expected.name}" with {expected.holds}, which is not in the output',
            help=f"create it {once}: trainc secret {arguments} | kubectl apply -f -",
            place=plan.job.at("metadata", "name"),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (lost_fields, reserved_env, secret)
"""The checks that every framework shares."""
