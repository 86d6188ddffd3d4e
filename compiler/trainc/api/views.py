"""What the commands that show and rewrite print, as values: pods, graph, queues, schema, migrate, upgrade."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from trainc.api.checked_arguments import checked, checked_options
from trainc.api.compiling import request_of
from trainc.api.public_results import Result
from trainc.base.records import NamedTuple
from trainc.compilation.run import COMPILE, NO_OPTIONS, Options
from trainc.diagnostics import failed
from trainc.files.inputs import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.api.checked_arguments import StrPath
    from trainc.compilation import Compilation, Run
    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.trees import Tree
    from trainc.pods import Job


class Rewriting(NamedTuple):
    """The documents that `migrate` or `upgrade` writes."""

    documents: tuple[str, ...]
    """The new documents of `migrate`, or the new texts of the changed files of `upgrade`, in order."""
    files: tuple[str, ...]
    """The file of each of them; empty for a new runtime."""
    diagnostics: tuple[Diagnostic, ...]

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return failed(self.diagnostics)


def pods_of(result: Result) -> list[Tree]:
    """Return the pods of all TrainJobs of a result, as `trainc pods --format json` prints them."""
    from trainc.pods.json import pod_json

    return [pod_json(pod) for job in jobs_of(_compilation_of(result)) for pod in job.pods(None)]


def graph_of(result: Result) -> list[Tree]:
    """Return the dependencies of each TrainJob: its runtime, jobs, gang, endpoint and the objects it refers to."""
    from trainc.explain import graph

    compilation = _compilation_of(result)
    return [_values_of_json(graph.graph_of(job, compilation.others)) for job in compilation.shown]


def queues_of(result: Result) -> list[Tree]:
    """Return the ClusterQueues among the documents of a result, as `trainc queues --format json` prints them."""
    from trainc.kueue import usage

    compilation = _compilation_of(result)
    return usage.rows(usage.summaries((job.plan for job in compilation.shown), compilation.others))


def _compilation_of(result: Result) -> Compilation:
    checked(result, Result, "result")
    return result._compilation


def schema(kind: str, trainer_version: str | None = None) -> Tree:
    """Return the JSON Schema of a kind, as `trainc schema` prints it. Raise ValueError for an unknown kind or release.

    Args:
        kind: `TrainJob`, `JobSet`, `Settings` (of trainc.yaml), a legacy kind, ...
        trainer_version: the release of Trainer; by default the newest that trainc knows from its code.
    """
    from trainc.base.kinds import WITH_SCHEMA
    from trainc.base.releases import DEFAULT_RELEASE, find_release, release_fault
    from trainc.frontends.extensions import schema_of

    if kind not in WITH_SCHEMA:
        from trainc.base.suggestions import nearest_name

        near = nearest_name(kind, WITH_SCHEMA)
        help = f"did you mean {near}?" if near else f"use one of {', '.join(WITH_SCHEMA)}"
        raise ValueError(f'unknown kind "{kind}": {help}')
    if trainer_version is not None and (fault := release_fault(trainer_version)):
        raise ValueError(f"trainer_version: {fault[0]}; {fault[1]}")
    found: Tree = schema_of(kind, find_release(trainer_version, DEFAULT_RELEASE))
    return found


def built_in_runtimes(trainer_version: str | None = None, *, only_installed: bool = False) -> tuple[str, ...]:
    """Return the names of the built-in runtimes of a release of Trainer. Raise ValueError for an unknown release."""
    from trainc.base.releases import DEFAULT_RELEASE, find_release, release_fault
    from trainc.pipeline.library import BuiltIn
    from trainc.pipeline.passes.conform import conform_runtime

    if trainer_version is not None and (fault := release_fault(trainer_version)):
        raise ValueError(f"trainer_version: {fault[0]}; {fault[1]}")
    release = find_release(trainer_version, DEFAULT_RELEASE)
    conform = partial(conform_runtime, release=release, field_validation="ignore", option="")
    return tuple(name for _, _, name in BuiltIn(conform, release, only_installed=only_installed).known())


def migrate(
    paths: StrPath | Iterable[StrPath] | None = None, *, text: str | None = None, options: Options = NO_OPTIONS
) -> Rewriting:
    """Return the TrainJobs and runtimes that replace legacy jobs, as `trainc migrate` prints them.

    The arguments and exceptions are those of `trainc.compile`.
    """
    from trainc.rewriting.migration import migrate, output_files

    run, stdin = _one_project(paths, text, options)
    migration = migrate(run.inputs, run, stdin=stdin)
    if migration.strict and failed(migration.diagnostics):
        return Rewriting((), (), migration.diagnostics)
    new = output_files.documents(migration)
    texts = (*(job.document for job in new.jobs), *new.runtimes.values())
    files = (*(job.migrated.document.file for job in new.jobs), *("" for _ in new.runtimes))
    return Rewriting(texts, files, migration.diagnostics)


def upgrade(
    paths: StrPath | Iterable[StrPath] | None = None, *, text: str | None = None, options: Options = NO_OPTIONS
) -> Rewriting:
    """Return the new texts of the files that older dialects make `trainc upgrade` change.

    The arguments and exceptions are those of `trainc.compile`.
    """
    from trainc.rewriting.upgrade import upgrade

    run, stdin = _one_project(paths, text, options)
    upgraded, found = upgrade(run.inputs, run=run.for_reading(), stdin=stdin)
    return Rewriting(tuple(each.new for each in upgraded), tuple(each.path for each in upgraded), tuple(found))


def _one_project(
    paths: StrPath | Iterable[StrPath] | None, text: str | None, options: Options
) -> tuple[Run, bytes | None]:
    """Return the run of the only project, and the text as standard input; None without one."""
    asked = request_of(COMPILE, paths, text, None, checked_options(options))
    if len(asked.projects) > 1:
        folders = ", ".join(run.settings.folder for run in asked.projects)
        raise ValueError(f"the paths are of {len(asked.projects)} projects ({folders}): use the paths of one")
    [run] = asked.projects
    if text is None:
        return run, None
    return run._replace(paths=(STDIN,)), text.encode("utf-8", "surrogatepass")


def jobs_of(compilation: Compilation, name: str | None = None) -> Iterator[Job]:
    """Yield the Jobs of all JobSets, each with the ConfigMaps and Secrets that its pods may refer to.

    With a name, yield those of the replicated job or the Job of that name.
    """
    from trainc import pods
    from trainc.kubernetes.container_environment import sources

    given = [document.value for document in compilation.others]
    flavors = _flavors(compilation)
    for compiled in compilation.shown:
        jobs = pods.jobs_of(
            compiled.objects[0],
            sources([*compiled.objects, *given], compiled.namespace),
            name,
            flavors.get(id(compiled.objects[0])),
        )
        file = compiled.plan.job.document.file
        yield from (job._replace(file=file) for job in jobs)


def _flavors(compilation: Compilation) -> dict[int, dict[str, dict[str, str]]]:
    """Return the flavors that Kueue assigns in an empty cluster, by the identity of the JobSet."""
    if not any(document.value.get("kind") == "ClusterQueue" for document in compilation.others):
        return {}
    from trainc.kueue import usage

    found = usage.verdicts((job.plan for job in compilation.shown), compilation.others)
    return {jobset: verdict.flavors for jobset, verdict in found.items() if verdict.flavors}


def _values_of_json(value: Any) -> Any:
    """Return a value as JSON has it: named tuples as mappings, other tuples as lists."""
    if hasattr(value, "_asdict"):
        return {name: _values_of_json(each) for name, each in value._asdict().items()}
    if isinstance(value, dict):
        return {str(key): _values_of_json(each) for key, each in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_values_of_json(each) for each in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
