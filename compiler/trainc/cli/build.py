"""`trainc build`: compile TrainJobs to manifests. Runs every check and writes nothing if there is an error."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from trainc import emit
from trainc.cli.common import options, printing
from trainc.cli.common.arguments import Command, Option
from trainc.cli.common.codes import OK, WRONG_INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trainc.compilation import Compilation, Run
    from trainc.diagnostics import Diagnostic
    from trainc.frontends.reading import Reader
    from trainc.settings import Settings

EPILOG = """\b
Examples:
  trainc build                                the project of trainc.yaml
  trainc build --env prod                     only one of its environments
  trainc build jobs/                          print all TrainJobs of a folder
  trainc build job.yaml -r platform/runtimes  with more runtimes
  trainc build jobs/ -o rendered/             write one file per TrainJob
  trainc build jobs/ -o rendered/ --check     exit 3 if they are out of date
  trainc build jobs/ -o rendered/ --report junit=junit.xml
  helm template chart | trainc build - --passthrough | kubectl apply -f -
"""


@options.with_options
def build(
    run: Run,
    output: str | None,
    form: str,
    check: bool,
    reports: tuple[tuple[str, str], ...],
) -> int:
    """Compile the TrainJobs in PATH (files, folders or -; default: the project or the current folder)."""
    from trainc.compilation.run import BUILD

    runs = options.projects_of(run)
    if isinstance(runs, int):
        return runs
    folders = _folders(output, form, runs, check=check)
    folder = next(filter(None, folders), None)
    if reports:
        from trainc.cli.common import reporting

        carries = "the diff" if check else "the manifests" if folder is None else ""
        reporting.check(reports, inputs=(*run.paths, *run.runtimes), stdout=carries)
    report = partial(_report, reports, run)
    runs = tuple(
        each._replace(written=tuple(file for _, file in reports), output_folder=own, purpose=BUILD)
        for each, own in zip(runs, folders, strict=True)
    )
    [first, *others] = runs
    if others or first.options.environments or first.settings.environment_names:
        from trainc.compilation.all_projects import compile_all

        result, found = compile_all(runs, _compiled, several=folder is not None)
        parts = [(each.project, each.settings, each.result) for each in found]
    else:
        result = _compiled(first)
        parts = [(0, first.settings, result)]
    if folder is not None and not result.failed:
        _check_folders(folders, parts)
    printing.report_skipped(result.skipped, run)
    if result.failed:
        report(result)
        return WRONG_INPUT
    if folder is None:
        chosen = all(settings.passthrough is not None for _, settings, _ in parts)
        return _to_stdout(result, form, report, chosen=chosen)
    from trainc.cli.common.output_folder import Order, Part, to_folders

    orders = [
        Order(
            own,
            each.inputs,
            project=each.settings.base is not None and not each.paths,
            prune=each.only is None,
            check=check,
            every=not each.options.environments,
            keep=each.settings.keep,
            parts=tuple(
                Part(settings.environment_name, result, settings.passthrough is not None)
                for number, settings, result in parts
                if number == index
            ),
        )
        for index, (each, own) in enumerate(zip(runs, folders, strict=True))
        if own is not None
    ]
    return to_folders(orders, result, report)


def _compiled(run: Run, files_of: Reader | None = None) -> Compilation:
    """Return the result of a run, including the faults of the output as a whole."""
    from trainc.compilation import compile_paths, duplicates, fixed_names, wrong_namespace

    result = compile_paths(run.inputs, run, files_of)
    result = result.with_diagnostics(
        (
            *duplicates(result, result.copied),
            *fixed_names(result),
            *wrong_namespace(result, result.copied),
        )
    )
    return result.with_undecided_queues() if run.verbose else result


def _folders(output: str | None, form: str, runs: Sequence[Run], *, check: bool) -> list[str | None]:
    """Return the output folder of each project; None for standard output, or for a project without one."""
    from trainc.diagnostics import failed

    valid = [not failed(each.settings.diagnostics) for each in runs]
    folders = [
        _folder(output, form, each.paths, each.settings) if is_valid else None
        for each, is_valid in zip(runs, valid, strict=True)
    ]
    if check and any(valid) and not any(folders):
        raise options.misuse("--check requires -o DIR.")
    return folders


def _check_folders(folders: Sequence[str | None], parts: Iterable[tuple[int, Settings, Compilation]]) -> None:
    """Raise UsageError for a project that has objects and no output folder, beside others that have one."""
    for number, settings, result in parts:
        if folders[number] is None and (result.jobs or result.copied):
            where = settings.folder
            raise options.misuse(f"{where} has no output folder: set output in its trainc.yaml, or use --project.")


def _folder(output: str | None, form: str, paths: tuple[str, ...], settings: Settings) -> str | None:
    """Return the output folder: -o or, without a PATH, that of the settings; None for standard output."""
    folder = output
    if output is None and not paths and settings.output is not None:
        folder = settings.output.path
    if folder in {None, "-"}:
        return None
    if output in emit.FORMATS:  # kubectl selects the format with -o
        raise options.misuse(
            f"-o is the output folder: use --format {output}, or -o ./{output} for a folder of that name."
        )
    if form != emit.FORMATS[0]:
        if output is None:
            raise options.misuse(
                f"--format {form} requires -o -: trainc.yaml sets an output folder, whose files are YAML."
            )
        raise options.misuse(f"--format {form} cannot be combined with -o DIR: files in a folder are YAML.")
    return folder


def _to_stdout(result: Compilation, form: str, report: Callable[..., None], *, chosen: bool) -> int:
    """Print the manifests of a result without errors; `chosen` is whether a setting decides which documents it has."""
    if not result.jobs and not result.copied:
        # A GitOps tool that applies an empty manifest removes everything.
        report(result.with_diagnostics([no_trainjobs(result)]))
        return WRONG_INPUT
    from trainc.budget import OverBudgetError

    try:
        manifest = _manifest(result, form)
    except OverBudgetError as error:
        report(result.with_diagnostics([error.diagnostic]))
        return WRONG_INPUT
    report(result, printing.omitted_note(result, chosen=chosen))
    printing.write(*manifest)
    return OK


command = Command(
    build,
    (
        options.PATHS,
        options.RUNTIMES,
        Option(
            ("-o", "--output"),
            "Write to this folder; - is standard output. Default: without PATH, output in trainc.yaml; else -.",
            metavar="DIR|-",
            complete=options.folder_names,
        ),
        Option(
            ("--format",), "Output format; json is a list.", name="form", choices=emit.FORMATS, default=emit.FORMATS[0]
        ),
        options.ONLY,
        options.NAMESPACE,
        options.ENVIRONMENTS,
        *options.SETTINGS,
        *options.DELIVERY,
        options.PASSTHROUGH._replace(
            help="Also write documents of other kinds, unchanged, after the objects; with -o only Kubernetes objects."
        ),
        Option(("--check",), "With -o, write nothing and exit 3 with a diff if DIR is out of date.", is_flag=True),
        options.REPORT,
    ),
    short_help="Compile TrainJobs to JobSets.",
    epilog=EPILOG,
)


def no_trainjobs(result: Compilation) -> Diagnostic:
    """Return the diagnostic for input without a TrainJob."""
    from trainc.base.texts import plural
    from trainc.compilation import NO_TRAINJOB
    from trainc.diagnostics import Diagnostic

    help = "pass the folder that contains them, or check only runtimes with `trainc validate`"
    if result.kustomizations is not None:
        from trainc.frontends.kustomizations import command

        help = f"pass the folder that contains them, or compile a kustomization: {command(result.kustomizations)}"
    if result.jobsets:
        help = "copy the JobSets with --passthrough; `trainc validate` has checked them, too"
    others = printing.unsupported_note(result)
    message = f"no TrainJob in the given paths ({plural(result.files, 'file')} read)"
    return Diagnostic.declared(NO_TRAINJOB, message + (f"; {others}" if others else ""), help)


def _report(reports: tuple[tuple[str, str], ...], run: Run, result: Compilation, note: str = "") -> None:
    if reports:
        from trainc.cli.common import reporting

        reporting.write(reports, result)
    if run.quiet:
        if result.failed:
            printing.report_text(printing.audible(result.diagnostics, run))
        return
    if result.diagnostics or note:
        lines = [line for line in (printing.summary(result), note) if line]
        printing.report_text(result.diagnostics, "\n".join(lines))
    printing.report_built_in(result, blank=bool(result.diagnostics or note))


def _manifest(result: Compilation, form: str) -> Iterable[str]:
    """Return the manifest in parts: joining them would double or triple the memory.

    Raise OverBudgetError beyond the budget.
    """
    from trainc.budget import checked_output

    copied: Iterable[emit.Copy] = ()
    if result.copied:
        from trainc.cli.common.output_folder import as_read

        copied = ((document.value, as_read(document)) for document in result.copied)
    return checked_output(result.budget, emit.load(form)(result.objects, copied))
