"""The frameworks. A policy's key in `mlPolicy` is the name of its file or folder; `plain` is for runtimes without one.

The value `FRAMEWORK` of each is all that the stages, checks and lint rules know of it. A legacy kind has a framework of
its own, which only the runtimes of its jobs have, in a module of `trainc.legacy`; its row in `base.kinds` names both.

**A framework** (`mlPolicy.<key>`). Copy from `pipeline/frameworks/jax.py`. For a framework with several modules,
copy from `pipeline/frameworks/mpi/`.
1. Write `pipeline/frameworks/<key>.py`, or a package with that name, with `apply(plan) -> Plan` and `FRAMEWORK`, a
   `Framework` whose fields this module describes: checks, reserved variables, and the traits on which checks and lint
   rules depend. The docstring states what the module reads and adds, and names the source.
2. Add `<key>` to `FRAMEWORKS` in `pipeline/frameworks/__init__.py`.
3. Write a unit test `tests/unit/test_<key>.py` (copy from `test_jax.py`), a golden case, an entry in
   `docs/frameworks.md` and a built-in runtime.
4. If Trainer's CRD lacks the field, write `schemas/extensions/<key>.json` (copy from `mxnet.json`) and a section in
   `docs/extensions.md`. trainc loads the schema together with a runtime of that framework.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal

from trainc.base.kinds import KINDS
from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import PROCESSES_FIELD
from trainc.diagnostics import Finding
from trainc.pipeline.checks import Check, check
from trainc.pipeline.objects import ANCESTOR, Traits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.base.kinds import Kind
    from trainc.diagnostics import Diagnostic, ObjectId, Path
    from trainc.frontends.lowering import FrontEnd
    from trainc.pipeline.objects import Runtime
    from trainc.pipeline.plan import Plan, Slot

    PlanCheck = Check[[Plan]] | Callable[[ObjectId, Plan], Iterator[Diagnostic]]
    """A check, or a function that runs further checks on the plans they apply to."""


FRAMEWORKS: Final = ("flux", "jax", "mpi", "mxnet", "paddle", "plain", "tensorflow", "torch", "xgboost")
"""The frameworks of this folder."""
OF_CONTAINER: Final = ("image", "command", "args")
"""The trainer fields that apply only to a job with the trainer's label."""


class Secret(NamedTuple):
    """A Secret that the pods wait for. The controller creates it; trainc does not write it."""

    name: str
    kind: Literal["ssh", "curve"]
    """Its content: a pair of SSH keys, or a CURVE certificate."""
    holds: str
    """The content, for messages."""


class Framework(NamedTuple):
    """A framework."""

    apply: Callable[[Plan], Plan]
    """A sized plan with its variables and ports."""
    checks: tuple[PlanCheck, ...] = ()
    """The rules of its part of the webhook, beside those that all frameworks share."""
    reserved: Callable[[Plan], frozenset[str]] = lambda _: frozenset()
    """The variables that only the framework can set."""
    reserved_at: str = "spec.trainer.env"
    """The field that the webhook reports for a reserved variable; `{index}` is the variable's index in the list."""
    traits: Traits = Traits()
    """The properties that other checks and lint rules depend on."""
    rendezvous: tuple[tuple[str, ...], ...] = ()
    """The sources of the rendezvous endpoint in a container: variables, or a command line flag.

    The first source applies whose names are all present. Its values, joined by colons, are the endpoint.
    """
    secrets: Callable[[Plan], tuple[Secret, ...]] = lambda _: ()
    """The Secrets that the pods of a job wait for."""
    counted_processes: Callable[[Plan], int | None] = lambda _: None
    """The processes per node that Trainer counts, if the traits have a starter; None if a field sets them."""
    front_end: FrontEnd | None = None
    """The front end of a legacy kind."""
    unknown_hosts: Callable[[Plan], Iterable[tuple[Path, str]]] = lambda _: ()
    """The host names in a JobSetSpec that only look like those of the job's pods, with the paths of their texts."""


@cache  # one value for each framework, and for each unknown key
def load(key: str) -> Framework | None:
    """Return the framework for a policy's key, or None if the key is unknown."""
    if key in FRAMEWORKS:
        found: Framework = import_module(f"{__name__}.{key}").FRAMEWORK
        return found
    kind = {row.framework: row for row in KINDS}.get(key) if key else None
    return legacy_framework(kind) if kind else None


def legacy_framework(kind: Kind) -> Framework:
    """Return the framework of a legacy kind."""
    found: Framework = import_module(f"trainc.legacy.{kind.module}").FRAMEWORKS[kind.framework]
    return found


def front_end(kind: Kind) -> FrontEnd:
    """Return the front end of a legacy kind."""
    found = legacy_framework(kind).front_end
    assert found is not None, "the framework of a legacy kind has a front end"
    return found


def framework_of(plan: Plan) -> Framework:
    """Return the framework of a plan; one that adds nothing for an unknown policy."""
    return load(plan.runtime.framework) or NONE


NONE: Final = Framework(apply=lambda plan: plan)
"""The framework of an unknown policy."""


def traits(runtime: Runtime) -> Traits:
    """Return the traits of a runtime's framework."""
    return (load(runtime.framework) or NONE).traits


def main_container(plan: Plan, job: int | None) -> Slot | None:
    """Return the main container of a replicated job; None without the job or the container."""
    name = traits(plan.runtime).container
    if name or job is None:
        return plan.find(job, name)
    return next(iter(plan.containers(job)), None)


@check("trainer-missing", phase="trainjob", severity="warning", trainc_only=True)
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


@check("reserved-env", phase="trainjob", fix="unsafe")
def reserved_env(plan: Plan) -> Iterator[Finding]:
    """The framework sets these variables itself; another value would break the rendezvous."""
    framework = framework_of(plan)
    names = framework.reserved(plan)
    for index, variable in enumerate(plan.job.trainer.get("env") or []):
        if variable.get("name") in names:
            from trainc.base.fixes import removal

            title = f"remove it: its value follows from numNodes, {PROCESSES_FIELD} and the runtime"
            if ":" in str(variable.get("value", "")) and variable["name"] == "PET_NNODES":
                title = "remove it: elasticPolicy of the runtime sets a range of nodes"
            yield Finding(
                message=f"the {plan.runtime.framework} framework sets {variable['name']}, so a TrainJob cannot set it",
                help=removal(("spec", "trainer", "env", index), title),
                field=framework.reserved_at.format(index=index),
                place=plan.job.at("spec", "trainer", "env", index, "name"),
            )


@check("secret-expected", phase="build", severity="note", trainc_only=True, can_be_disabled=True)
def secret(plan: Plan) -> Iterator[Finding]:
    """The controller creates new keys for every TrainJob; a private key does not belong in a manifest."""
    for expected in framework_of(plan).secrets(plan):
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
