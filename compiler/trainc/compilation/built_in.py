"""The note about the built-in runtimes of a run: their names, their release, their lint findings, and how to pin them.

Reads    the plans of the compiled TrainJobs, and the lint findings whose only place is a built-in runtime.
Returns  one note at the first TrainJob that uses one; None if every runtime is from a file of the user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.texts import first_of
from trainc.diagnostics import Diagnostic
from trainc.pipeline.passes.resolve import BUILT_IN_RUNTIME
from trainc.pipeline.runtime_owners import installed, origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from trainc.base.releases import TrainerRelease
    from trainc.pipeline.plan import Plan

LISTED: Final = 8
"""The number of runtimes that the note names."""
PULL: Final = ", or the runtimes of your cluster with `trainc runtimes pull`"


ANNOUNCED_RELEASE: Final = Declaration("announced-release", ("read",), "note", trainc_only=True)


def announced(release: TrainerRelease) -> Diagnostic:
    """Return the note about a release whose code trainc has not been compared with."""
    return Diagnostic.declared(
        ANNOUNCED_RELEASE,
        f"{release.title} is compiled from its {release.source} and its {release.read_in}: "
        "trainc was not compared with its code",
        "compare the objects with those of a cluster before you rely on them",
    )


def note(plans: Iterable[Plan], lint: Mapping[str, Set[str]]) -> Diagnostic | None:
    """Return the note about some compiled TrainJobs; `lint` has the ids of the lint findings by runtime name."""
    first: dict[int, Plan] = {}
    for plan in plans:
        first.setdefault(id(plan.runtime.document), plan)
    used = {plan.runtime.id.name: plan for plan in first.values() if plan.library.is_built_in(plan.runtime.document)}
    if not used:
        return None
    names, job = sorted(used), next(iter(used.values())).job
    release = next(iter(used.values())).release
    described = {name: _described(name, release, lint.get(name, frozenset())) for name in names}
    named = first_of([f"{name} ({text})" for name, text in described.items()], LISTED)
    runtimes, it, name = ("runtime", "it", names[0]) if len(names) == 1 else ("runtimes", "each", "NAME")
    return Diagnostic.declared(
        BUILT_IN_RUNTIME,
        f"built-in {runtimes}: {named}",
        f"pin {it} with `trainc runtimes export {name}`" + (PULL if installed(release).intersection(names) else ""),
        object=job.id,
        field="spec.runtimeRef.name",
        place=job.at("spec", "runtimeRef", "name"),
    )


def _described(name: str, release: TrainerRelease, rules: Set[str]) -> str:
    """Return the release of a built-in runtime, with the ids of its lint findings."""
    found = f"; lint findings: {', '.join(sorted(rules))}" if rules else ""
    return f"{origin(name, release)}{found}"
