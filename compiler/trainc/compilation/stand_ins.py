"""Stand-in TrainJobs, with which runtimes that no TrainJob uses are checked.

Reads    runtimes, the settings of the run.
Returns  the compiled plans of the stand-ins for each runtime.

The stand-ins are tried in order, until the cluster accepts one: a TrainJob that sets nothing, one that sets the image,
one that sets all fields of a trainer, and one that also sets the initializers that the runtime has. A fault of the
first one in a field that the runtime leaves to TrainJobs is no fault of the runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import RUNTIME, TRAINJOB, VERSION
from trainc.base.records import NamedTuple
from trainc.diagnostics import Document
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline import frameworks, stages
from trainc.pipeline.library import Level, Library, LibraryEntry
from trainc.pipeline.lint.triggers import OVERCOMMITTED
from trainc.pipeline.objects import STEPS, TrainJob, ancestor
from trainc.pipeline.plan import Plan, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.compilation.run import Run
    from trainc.pipeline.library import Conformed
    from trainc.pipeline.objects import Runtime

FILE: Final = "<stand-in>"
IMAGE: Final = "registry.acme.io/stand-in:1"
AMOUNTS: Final = {"cpu": "1", "memory": "1Gi"}


class Attempt(NamedTuple):
    """The plans of the stand-ins with one name, in order: the last one is accepted, or none is."""

    plans: tuple[Plan, ...]

    @property
    def accepted(self) -> Plan | None:
        """The plan that the cluster accepts."""
        return None if self.plans[-1].failed else self.plans[-1]


def attempted(entry: LibraryEntry, library: Library, run: Run, name: str, *, shown: bool = False) -> Attempt:
    """Return the plans of the stand-ins for a runtime, up to the first one that the cluster accepts.

    With `shown`, they have a text, to which the output of a command refers.
    """
    runtime, _ = entry.conform_quietly()
    assert runtime is not None, "a runtime with errors has no stand-in"

    def conform(_document: Document, _level: str) -> Conformed:
        return entry.conform_quietly()

    level, _ = Level.build(entry.level, [entry.document], conform)
    plans: list[Plan] = []
    for spec in specs(runtime):
        job = stand_in(runtime, name, spec, shown=shown)
        settings = run.settings
        plan = stages.run(
            Plan(
                job=job,
                library=Library((level,), library.option_names),
                release=settings.release,
                project=settings.project,
                field_validation=settings.field_validation,
                quiet=run.quiet_rules,
                quiet_in=settings.lint_paths,
            )
        )
        plans.append(plan)
        if not plan.failed:
            break
    return Attempt(tuple(plans))


def stand_in(runtime: Runtime, name: str, spec: Tree, *, shown: bool) -> TrainJob:
    """Return a TrainJob for a runtime. Only one that is shown has a text."""
    id = runtime.id
    metadata: Tree = {"name": name}
    if id.kind == RUNTIME.kind and id.namespace:
        metadata["namespace"] = id.namespace
    value = {
        "apiVersion": VERSION,
        "kind": TRAINJOB.kind,
        "metadata": metadata,
        "spec": {"runtimeRef": {"name": id.name, "kind": id.kind}} | spec,
    }
    if shown:
        from trainc.emit.yaml import Writer

        return TrainJob(Document(FILE, 1, Writer().document(value), value), value)
    # The text only identifies the document; the file decides which lint rules are disabled.
    return TrainJob(Document(runtime.document.file, 1, f"{name} of {id.kind} {id.name}", value), value)


def specs(runtime: Runtime) -> Iterator[Tree]:
    """Yield what the stand-ins set in their spec: nothing, the image, and all fields that the runtime has a use for."""
    yield {}
    yield {"trainer": {"image": IMAGE}}
    jobs = runtime.spec.get("replicatedJobs") or ()
    steps = {ancestor(job) for job in jobs}
    initializer = {key: {"storageUri": "hf://acme/stand-in"} for key, step in STEPS.items() if step in steps}
    trainer: Tree = {"image": IMAGE, "resourcesPerNode": _resources(runtime)}
    if "elasticPolicy" not in runtime.settings:
        trainer["numNodes"] = (runtime.policy or {}).get("numNodes", 1)
    if not _is_torchtune(runtime):
        trainer["command"] = ["stand-in"]
    yield {"trainer": trainer}
    if initializer:
        yield {"trainer": trainer, "initializer": initializer}


def _main_containers(runtime: Runtime) -> Iterator[Tree]:
    """Yield the containers to which the fields of spec.trainer apply."""
    name = frameworks.traits(runtime).container
    for index, job in enumerate(runtime.spec.get("replicatedJobs") or ()):
        if ancestor(job) == "trainer":
            containers = get(runtime.spec, (*pod_spec(index), "containers"), [])
            yield from (container for container in containers if container.get("name") == name)


def _resources(runtime: Runtime) -> Tree:
    """Return resources that replace all amounts of the runtime. A name that is no resource stays in the merge."""
    names = {
        name
        for container in _main_containers(runtime)
        for amounts in (container.get("resources") or {}).values()
        if isinstance(amounts, dict)
        for name in amounts
        if "/" in name or name in OVERCOMMITTED
    }
    amounts = dict.fromkeys(sorted(names), "1") | AMOUNTS
    return {"limits": amounts, "requests": amounts}


def _is_torchtune(runtime: Runtime) -> bool:
    """Return whether a runtime starts torchtune, with the command of its container."""
    return any((container.get("command") or [""])[0] == "tune" for container in _main_containers(runtime))
