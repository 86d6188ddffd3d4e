"""The documents of a run, and the runtimes that its TrainJobs can use.

Reads    the paths of the command line and of trainc.yaml.
Returns  the documents by role, and the runtimes by level, with a diagnostic for each path that cannot be read.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from trainc.base.kinds import COMPILED, JOBSET, LEGACY, RUNTIMES
from trainc.budget import Meter, size_of
from trainc.diagnostics import Diagnostic, Document, Location
from trainc.files import inputs
from trainc.frontends.reading import Reading
from trainc.pipeline.library import BuiltIn, Level, Library
from trainc.settings import DEFAULT
from trainc.settings.nested_projects import Apart

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from trainc.base.kinds import Kind
    from trainc.compilation.run import Run
    from trainc.frontends.kustomizations import Kustomizations
    from trainc.frontends.reading import Reader
    from trainc.pipeline.library import OverlayConflict
    from trainc.settings import ProjectPath


def metered(run: Run) -> Meter:
    """Return the meter of a run, with the settings files charged."""
    meter = Meter(run.budget, run.all_runs)
    for document in (file.document for file in run.settings.settings_files):
        meter.charge("input bytes", size_of(document.text))
        if "&" in document.text and "*" in document.text:
            from trainc.kubernetes.trees import repeated

            meter.charge("input bytes", repeated(document.text, document.value))
    return meter


def settings_name_queue(run: Run) -> bool:
    """Return whether the settings may give a job a queue or a priority, or the command is about queues."""
    from trainc.files.foreign import names_queue

    own = run.settings
    return (
        run.purpose.all_queue_faults
        or bool(own.patch_files)
        or any(names_queue(file.document.text.encode("utf-8", "surrogatepass")) for file in own.settings_files)
    )


def read(
    paths: Iterable[str],
    run: Run,
    files_of: Reader = inputs.read,
    *,
    kinds: Collection[Kind],
    meter: Meter | None = None,
    copies: bool = True,
) -> Reading:
    """Read the documents of some paths and sort them by role.

    Args:
        paths: files and folders.
        run: the run.
        files_of: the function that reads files.
        kinds: the kinds that `Reading` compiles.
        meter: the work of the run.
        copies: whether documents of other kinds may be copied to the output.
    """
    meter = meter or metered(run)
    reading = Reading(
        files_of,
        kinds=kinds,
        namespace=run.options.namespace,
        others=run.purpose.others,
        copied_files=run.copied_files if copies else None,
        meter=meter,
        parsed=run.parsed,
    )
    reading.settings_name_queue = partial(settings_name_queue, run)
    if run.purpose.legacy_files:
        reading.kinds_of_named_files = (*COMPILED, JOBSET, *LEGACY)
    reading.gather(paths, run.selection, root=run.root, follow_links=run.options.follow_links)
    for source in run.settings.sources:
        reading.diagnostics = at_setting(reading.diagnostics, source)
    return reading


def library(
    run: Run,
    *,
    given: Sequence[Document] | None = None,
    files_of: Reader = inputs.read,
    apart: OverlayConflict | None = None,
    meter: Meter | None = None,
    edits: Sequence[Callable[[Document], Document]] = (),
) -> tuple[Library, list[Diagnostic]]:
    """Return the runtimes by level in search order: the given ones, those of each path, the built-in ones.

    `edits` change the runtimes of the paths and the built-in ones, in order; the given ones are already changed.
    """
    from functools import reduce

    from trainc.pipeline.passes.conform import conform_runtime

    def edit(document: Document) -> Document:
        return reduce(lambda changed, change: change(changed), edits, document)

    names = run.purpose.option_names._replace(revision=run.revision)
    if run.settings.environment_name:
        names = names._replace(environment="--env NAME")
    conform = partial(
        conform_runtime,
        release=run.settings.release,
        field_validation=run.settings.field_validation,
        option=names.field_validation,
        extended=not run.settings.renders_nothing,
    )
    unique = run.settings.in_project
    levels: list[Level] = []
    found: list[Diagnostic] = []
    skipped: list[str] = []
    if given is not None:
        level, duplicate_runtimes = Level.build("the given paths", given, conform, apart, unique=unique)
        found += duplicate_runtimes
        levels.append(level)
    plain = run._replace(settings=DEFAULT._replace(exclude=run.settings.exclude), apart=Apart())
    searched = [
        (names.runtimes.format(path), read([path], plain, files_of, kinds=RUNTIMES, meter=meter, copies=False))
        for path in run.runtimes
    ]
    if not searched:
        searched = [_level_of_settings(path, plain, files_of, meter) for path in run.settings.runtimes]
    for name, more in searched:
        runtimes = [*map(edit, more.documents["runtime"])] if edits else more.documents["runtime"]
        level, duplicate_runtimes = Level.build(
            name, runtimes, conform, overlay_conflict_in(more.kustomizations, run), unique=unique
        )
        # A folder can be a source and in runtimes.paths, too.
        reported = {str(each) for each in found} if duplicate_runtimes else ()
        found += [*more.diagnostics, *(each for each in duplicate_runtimes if str(each) not in reported)]
        levels.append(level)
        skipped += more.skipped_names()
    only_installed = run.settings.renders_nothing
    levels.append(BuiltIn(conform, run.settings.release, edit if edits else None, only_installed=only_installed))
    return Library(tuple(levels), names, tuple(skipped), run.settings.built_in_forbidden), found


def _level_of_settings(setting: ProjectPath, run: Run, files_of: Reader, meter: Meter | None) -> tuple[str, Reading]:
    """Return the level's name and the documents of a path in trainc.yaml; if it cannot be read, its line there."""
    root = run.root or setting.root
    reading = read([setting.path], run._replace(root=root), files_of, kinds=RUNTIMES, meter=meter, copies=False)
    reading.diagnostics = at_setting(reading.diagnostics, setting)
    return f"runtimes.paths {setting.written}", reading


def at_setting(diagnostics: Iterable[Diagnostic], setting: ProjectPath) -> list[Diagnostic]:
    """Return the diagnostics; one for a path of trainc.yaml that cannot be read is at its line there."""
    return [
        diagnostic._replace(message=f"{setting.path} {diagnostic.message}", place=setting.place)
        if diagnostic.place == Location(file=setting.path)
        else diagnostic
        for diagnostic in diagnostics
    ]


def overlay_conflict_in(kustomizations: Kustomizations | None, run: Run) -> OverlayConflict:
    """Return the function that returns the diagnostic for a name that two kustomizations use, or None."""

    def conflict(document: Document, first: Document) -> Diagnostic | None:
        if kustomizations is None:
            return None
        from trainc.frontends.kustomizations import overlay_conflict

        return overlay_conflict(document, first, kustomizations, allowed=run.purpose.check_only)

    return conflict
