"""`trainc build`: TrainJobs in, manifests out. Runs every check; with an error it writes nothing."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from trainc.cli import options
from trainc.cli.arguments import Command, Option
from trainc.cli.codes import DIFFERENT, OK, WRONG_INPUT

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.compilation import Compilation
    from trainc.delivery import Delivery
    from trainc.diagnostics import Diagnostic, Document
    from trainc.outputs import Changes
    from trainc.settings import Settings

EPILOG = """\b
Examples:
  trainc build jobs/                          print the JobSets of every TrainJob below jobs/
  trainc build job.yaml -r platform/runtimes  with runtimes from another folder
  trainc build jobs/ -o rendered/             write rendered/<namespace>/<trainjob>.yaml
  trainc build jobs/ -o rendered/ --check     exit 3 with a diff when rendered/ is not current
  trainc build jobs/ -o rendered/ --report junit=junit.xml
  helm template chart | trainc build - --passthrough | kubectl apply -f -
"""


MOST_KEPT = 20
"""How many outputs are named that are not pruned."""


@options.with_settings
@options.with_delivery
def build(  # noqa: PLR0913, PLR0917 (an option each)
    paths: tuple[str, ...],
    runtimes: tuple[str, ...],
    output: str,
    form: str,
    only: str | None,
    namespace: str | None,
    settings: Settings,
    delivery: Delivery,
    passthrough: bool,
    check: bool,
    reports: tuple[tuple[str, str], ...],
) -> int:
    """Compile the TrainJobs found in PATH (files, folders, or -; by default the current folder)."""
    if check and output == "-":
        raise options.misuse("--check compares a folder: give it with -o DIR.")
    if form == "json" and output != "-":
        raise options.misuse("--format json goes to standard output; files in a folder are YAML.")
    folder = None if output == "-" else output
    if reports:
        from trainc.cli import reporting

        carries = "the diff" if check else "the manifests" if folder is None else ""
        reporting.check(reports, inputs=(*paths, *runtimes), stdout=carries)
    from trainc.compilation import compile, duplicates

    paths = paths or (".",)
    written = (*(file for _, file in reports), *([folder] if folder else []))
    result = compile(
        paths,
        runtimes=runtimes,
        only=only,
        namespace=namespace,
        skip=written,
        settings=settings,
        delivery=delivery,
    )
    result = result.saying(duplicates(result, result.others if passthrough else ()))
    report = partial(_report, reports)
    if result.failed:
        report(result)
        return WRONG_INPUT
    if not result.jobs and folder is None:
        # An empty manifest would let a GitOps tool remove everything.
        report(result.saying([nothing(result)]))
        return WRONG_INPUT
    if folder is not None:
        return _to_folder(result, paths, folder, report, passthrough=passthrough, prune=only is None, check=check)
    report(result, _left_out(result, passthrough))
    options.write(*_manifest(result, form, passthrough=passthrough))
    return OK


command = Command(
    build,
    (
        options.PATHS,
        options.RUNTIMES,
        Option(
            ("-o", "--output"),
            "Write to this folder; - is standard output.",
            default="-",
            metavar="DIR|-",
            complete=options.folder_names,
        ),
        Option(("--format",), "json: one list of objects.", name="form", choices=("yaml", "json"), default="yaml"),
        Option(("--only",), "Compile only the TrainJobs of this name.", metavar="NAME"),
        options.NAMESPACE,
        *options.SETTINGS,
        *options.DELIVERY,
        Option(("--passthrough",), "Add the documents of other kinds, as read, after the objects.", is_flag=True),
        Option(("--check",), "With -o: write nothing; exit 3 with a diff when DIR is not current.", is_flag=True),
        options.REPORT,
    ),
    short_help="Compile TrainJobs to JobSets.",
    epilog=EPILOG,
)


def nothing(result: Compilation) -> Diagnostic:
    """What to say where there is no TrainJob."""
    from trainc.compilation import NO_TRAINJOB
    from trainc.diagnostics import Diagnostic
    from trainc.plural import plural

    return Diagnostic.of(
        NO_TRAINJOB,
        f"no TrainJob in the given paths ({plural(result.files, 'file')} read)",
        "give the folder that holds them; `trainc validate` checks runtimes alone",
    )


def _report(reports: tuple[tuple[str, str], ...], result: Compilation, note: str = "") -> None:
    if reports:
        from trainc.cli import reporting

        reporting.write(reports, result)
    if result.diagnostics or note:
        from trainc.reports import text

        lines = [line for line in (options.summary(result), note) if line]
        options.complain(text.render(result.diagnostics, summary="\n".join(lines), color=options.colored(sys.stderr)))


def _left_out(result: Compilation, passthrough: bool) -> str:
    if passthrough or not result.others:
        return ""
    from trainc.plural import plural

    return f"left out {plural(len(result.others), 'document')} of other kinds (--passthrough keeps them)"


def _manifest(result: Compilation, form: str, *, passthrough: bool) -> list[str]:
    """The whole manifest, in parts: together they would take as much memory a second and a third time."""
    others = result.others if passthrough else ()
    if form == "json":
        from trainc.emit import json

        return [json.render([*result.objects, *(document.value for document in others)])]
    documents = [*(text for _, _, text in result.manifests()), *map(as_read, others)]
    return [part for document in documents for part in ("---\n", document)][1:]


def as_read(document: Document) -> str:
    """A document's own text, ready to stand behind a separator; an item of a List is written anew."""
    if document.within:
        from trainc.emit import yaml

        return yaml.render([document.value])
    text = document.text
    if text[:4] in ("--- ", "---\t", "---\r", "---\n"):
        first, newline, rest = text.partition("\n")
        text = first[3:].strip() + newline + rest if first[3:].strip() else rest
    return text if text.endswith("\n") else text + "\n"


def _to_folder(
    result: Compilation,
    paths: tuple[str, ...],
    folder: str,
    report: Callable[..., None],
    *,
    passthrough: bool,
    prune: bool,
    check: bool,
) -> int:
    from contextlib import ExitStack

    from trainc import outputs
    from trainc.listings import LISTING

    files = {
        f"{namespace}/{name}.yaml" if namespace else f"{name}.yaml": text
        for namespace, name, text in result.manifests()
    }
    sources = dict(zip(files, ([job.plan.job.document.file] for job in result.jobs), strict=True))
    if passthrough and result.others:
        files[outputs.PASSED] = "---\n".join(as_read(document) for document in result.others)
        sources[outputs.PASSED] = [document.file for document in result.others]
    with ExitStack() as stack:
        try:
            output = stack.enter_context(outputs.opened(folder, make=not check, tell=options.complain))
        except OSError as error:
            report(result.saying([outputs.unwritable(folder, "", error)]))
            return WRONG_INPUT
        changes = outputs.plan(output, files, sources=sources, paths=paths, prune=prune)
        result = result.saying(changes.diagnostics)
        if result.failed:
            report(result)
            return WRONG_INPUT
        if check:
            difference = "".join(outputs.diff(output, changes))
            current = f"{folder} is not current: run trainc build without --check" if difference else ""
            report(result, _lines(_kept(folder, changes), current))
            options.write(difference)
            return DIFFERENT if difference else OK
        if refused := outputs.apply(output, changes):
            report(result.saying(refused))
            return WRONG_INPUT
    written = [path for path in changes.write if path != LISTING]
    done = f"{folder}: {len(written)} written, {len(changes.remove)} removed, {len(files) - len(written)} unchanged"
    report(result, _lines(_kept(folder, changes), done, _left_out(result, passthrough)))
    return OK


def _kept(folder: str, changes: Changes) -> str:
    """Name the outputs that are not pruned, and why."""
    if not changes.kept:
        return ""
    from trainc import outputs
    from trainc.source.printable import escape

    files = [f"{folder}/{path}: kept; it is not compiled from the given paths" for path in changes.kept[:MOST_KEPT]]
    if more := len(changes.kept) - len(files):
        files.append(f"{more} more files are kept")
    missing = outputs.shown(folder, changes.missing)
    return "\n".join(map(escape, [*files, f"the given paths do not cover {missing}: nothing is pruned"]))


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)
