"""What commands print: texts to standard output, messages and the summary line to standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from trainc.cli.common import MISUSE, WRONG_INPUT, OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.compilation import Compilation, Run
    from trainc.compilation.run import Purpose
    from trainc.diagnostics import Diagnostic


MOST_UNCHECKED: Final = 3
"""The most TrainJobs that the summary names."""


def write(*texts: str) -> None:
    """Write texts to standard output as UTF-8, whatever the locale."""
    write_bytes(*(text.encode("utf-8", "surrogatepass") for text in texts))


def write_documents(texts: Iterable[str]) -> None:
    """Write the texts of YAML documents to standard output as one stream."""
    write("---\n".join(text if text.endswith("\n") else f"{text}\n" for text in texts))


def write_bytes(*parts: bytes) -> None:
    """Write bytes to standard output. Raise OutputError if that fails, or BrokenPipeError for a closed pipe."""
    if sys.stdout is None:
        raise OutputError("it is closed")
    try:
        sys.stdout.flush()
        for data in parts:
            sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from None


def colored(stream: TextIO | None) -> bool:
    """Return whether to use color: on a terminal that supports it, or if FORCE_COLOR is set; never with NO_COLOR."""
    if os.environ.get("NO_COLOR") or stream is None:
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def report(text: str) -> None:
    """Write to standard error, if it is open; characters outside its encoding are escaped."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def report_error(diagnostic: Diagnostic) -> int:
    """Write the error that prevents a run to standard error, and return the exit code."""
    report_text([diagnostic])
    return WRONG_INPUT


def report_ambiguous_word(diagnostic: Diagnostic) -> int:
    """Write the error for a word of the command line with two meanings, and return the exit code."""
    report_text([diagnostic])
    return MISUSE


def report_text(diagnostics: Sequence[Diagnostic], summary: str = "") -> None:
    """Write diagnostics to standard error as text, and a summary."""
    from trainc.reports import text

    report(text.render(diagnostics, summary=summary, color=colored(sys.stderr)))


def audible(diagnostics: Sequence[Diagnostic], run: Run) -> Sequence[Diagnostic]:
    """Return the diagnostics that a command prints: with `--quiet` only errors."""
    return [each for each in diagnostics if each.severity == "error"] if run.quiet else diagnostics


def report_errors(result: Compilation, run: Run, own: Callable[[Diagnostic], bool] = lambda _: False) -> None:
    """Write the errors of a run to standard error as text, and the number of other diagnostics and of jobs left out.

    For commands that show something else than diagnostics, which `validate` reports.

    Args:
        result: the result.
        run: the run.
        own: whether a diagnostic is about what the command shows, so that it is written, too.
    """
    shown = [each for each in result.diagnostics if each.severity == "error" or (own(each) and not run.quiet)]
    lines = []
    if not run.quiet:
        more = "" if len(shown) == len(result.diagnostics) else "; `trainc validate` shows all"
        note = unsupported_note(result)
        lines += [f"{counted}{more}"] if (counted := summary(result)) else []
        lines += [note] if note and not any(note in each.message for each in shown) else []
    if shown or lines:
        report_text(shown, "\n".join(lines))


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
    others = unsupported_note(result)
    message = f"no TrainJob in the given paths ({plural(result.files, 'file')} read)"
    return Diagnostic.declared(NO_TRAINJOB, message + (f"; {others}" if others else ""), help)


def compiled_jobs(run: Run, purpose: Purpose) -> Compilation:
    """Return the result of a run whose jobs a command shows; without a TrainJob, it has an error. Report the errors."""
    from trainc.compilation import compile_paths

    result = compile_paths(run.inputs, run._replace(purpose=purpose))
    report_skipped(result.skipped, run)
    if not result.failed and not result.shown:
        result = result.with_diagnostics([no_trainjobs(result)])
    report_errors(result, run)
    return result


def report_diagnostics(result: Compilation) -> None:
    """Write the diagnostics of a run, if any, to standard error as text; and the number of jobs left out."""
    if result.diagnostics:
        report_text(result.diagnostics, summary(result))
    note = unsupported_note(result)
    if note and not any(note in diagnostic.message for diagnostic in result.diagnostics):
        report(f"{note}\n")


def report_skipped(names: Sequence[str], run: Run) -> None:
    """Write the number of skipped files and documents to standard error; with `--verbose`, also their names.

    A document has the name `PATH:LINE`.
    """
    if names and not run.quiet:
        from trainc.base.texts import escape, plural
        from trainc.files.selection import is_manifest

        listed = "".join(f"{escape(name)}: skipped\n" for name in names) if run.verbose else ""
        files = sum(map(is_manifest, names))
        counts = [(files, "file"), (len(names) - files, "document")]
        counted = " and ".join(plural(count, word) for count, word in counts if count)
        verb = "was" if len(names) == 1 else "were"
        report(f"{listed}{counted} without TrainJobs or runtimes {verb} skipped\n")


def report_built_in(compilation: Compilation, *, blank: bool = False) -> None:
    """Write the note about built-in runtimes to standard error, without its place: it is about the run.

    `blank` separates it from other lines on standard error.
    """
    if compilation.built_in is not None:
        from trainc.reports import text

        report("\n" * blank + text.one_line(compilation.built_in, color=colored(sys.stderr)))


def report_stand_ins(result: Compilation, run: Run) -> None:
    """Write to standard error that the output is about stand-in TrainJobs or first trials, if it is."""
    if result.stand_ins and result.jobs and not run.quiet:
        stand_ins = "a stand-in TrainJob" if result.stand_ins == 1 else "stand-in TrainJobs"
        report(f"no TrainJob in the given paths: this is the output for {stand_ins}\n")
    if not run.quiet:
        report("".join(f"{sentence}\n" for sentence in trial_sentences(result)))


def trial_sentences(result: Compilation) -> list[str]:
    """Return a sentence about each OptimizationJob of a result with its first trial."""
    trials = [job.plan.job.document for job in result.jobs if job.plan.job.is_trial]
    if not trials:
        return []
    from trainc.base.texts import escape
    from trainc.frontends.trials import sentence

    return [escape(sentence(each)) for each in trials]


def summary(compilation: Compilation) -> str:
    """Return the number of errors, warnings and notes as text."""
    from trainc.base.texts import plural
    from trainc.reports.repeated import without_repeats

    shown = without_repeats(compilation.diagnostics)
    counted = [(sum(d.severity == s for d in shown), s) for s in ("error", "warning", "note")]
    parts = [plural(count, word) for count, word in counted if count]
    if compilation.raised:
        raised = plural(compilation.raised, "warning")
        errors = "an error" if compilation.raised == 1 else "errors"
        parts[0] += f" (including {raised} turned into {errors} by {compilation.strict})"
    return ", ".join(parts)


def verdict(compilation: Compilation) -> str:
    """Return the summary with the numbers of files; without diagnostics, the number of checked objects."""
    others = "; ".join(filter(None, (*trial_sentences(compilation), unsupported_note(compilation))))
    if counted := summary(compilation):
        unchecked = _unchecked_notes(compilation)
        return "\n".join(filter(None, (f"{counted}{_counted_files(compilation)}", *unchecked, others)))
    checked = compilation.counted_jobs
    if compilation.jobs or compilation.stand_ins or not compilation.jobsets:
        checked = f"{checked}, {counted_runtimes(compilation)}"
    return "; ".join(filter(None, (f"no problems found: {checked}", others)))


def _unchecked_notes(compilation: Compilation) -> Iterator[str]:
    """Yield a sentence for each error that prevents the check of Jobs and pods."""
    from trainc.base.texts import escape, first_of

    for id, names in compilation.unchecked.items():
        yield f"Jobs and pods of {escape(first_of(names, MOST_UNCHECKED))} were not checked because of {id}"


def _counted_files(compilation: Compilation) -> str:
    """Return the numbers of files with diagnostics and of checked files: ` in 1 file (checked 12 files)`."""
    from trainc.base.texts import plural
    from trainc.diagnostics import Place

    found = {
        place.in_text().document.file if isinstance(place, Place) else place.file
        for place in (diagnostic.place for diagnostic in compilation.diagnostics)
        if place is not None
    }
    # A run that invalid settings end has checked only them.
    checked = found.union(compilation.checked_files)
    counted = f" in {plural(len(found), 'file')}" if found else ""
    return counted + (f" (checked {plural(len(checked), 'file')})" if checked else "")


def counted_runtimes(compilation: Compilation) -> str:
    """Return the number of runtimes that TrainJobs use, and of those that are checked with stand-in TrainJobs."""
    from trainc.base.texts import plural

    used = {id(job.plan.runtime.document) for job in compilation.jobs if job.plan.job.own_runtime is None}
    alone = compilation.stand_ins
    runtimes = plural(len(used) + alone, "runtime")
    if not alone:
        return runtimes
    some = f"{alone} " if used else ""
    return f"{runtimes}, {some}checked with {'a stand-in TrainJob' if alone == 1 else 'stand-in TrainJobs'}"


def unsupported_note(compilation: Compilation) -> str:
    """Return a sentence with the numbers of PyTorchJobs and other training jobs that are not compiled, if any."""
    if not compilation.others:
        return ""
    from trainc.frontends import training_jobs

    return training_jobs.not_compiled(compilation.others, compilation.legacy_option)


def omitted_note(result: Compilation, *, chosen: bool) -> str:
    """Return lines about the documents that a build leaves out; `chosen` is whether a setting decides which."""
    others = unsupported_note(result)
    omitted = len(result.others) - len(result.copied)
    if chosen or not omitted:
        return others
    from trainc.base.texts import plural

    note = f"omitted {plural(omitted, 'document')} of other kinds (--passthrough includes them)"
    return "\n".join(line for line in (note, others) if line)
