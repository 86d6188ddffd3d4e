"""`trainc build`: compile TrainJobs to manifests. Runs every check and writes nothing if there is an error."""

from __future__ import annotations

import sys
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from trainc.cli import options
from trainc.cli.arguments import Command, Option
from trainc.cli.codes import DIFFERENT, OK, WRONG_INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.compilation import Compilation
    from trainc.delivery import Delivery
    from trainc.diagnostics import Diagnostic, Document
    from trainc.outputs import Changes
    from trainc.settings import Settings

EPILOG = """\b
Examples:
  trainc build jobs/                          print the JobSets for every TrainJob below jobs/
  trainc build job.yaml -r platform/runtimes  with runtimes from another folder
  trainc build jobs/ -o rendered/             write rendered/<namespace>/<trainjob>.yaml
  trainc build jobs/ -o rendered/ --check     exit 3 with a diff if rendered/ is out of date
  trainc build jobs/ -o rendered/ --report junit=junit.xml
  helm template chart | trainc build - --passthrough | kubectl apply -f -
"""


MANIFEST_FORMATS = ("yaml", "json")
"""The formats of manifests. kubectl selects them with -o, which is the output folder here."""
KUSTOMIZE = "kustomize.config.k8s.io/"
LOCAL = "config.kubernetes.io/local-config"
"""The annotation of a document that only tools read, such as the configuration of a KRM function."""
MOST_KEPT = 20
"""The maximum number of kept outputs that are named."""


@options.with_settings
@options.with_delivery
def build(  # noqa: PLR0913, PLR0917 (one argument per option)
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
    """Compile the TrainJobs in PATH (files, folders or -; default: the current folder)."""
    if check and output == "-":
        raise options.misuse("--check requires -o DIR.")
    if output in MANIFEST_FORMATS:
        raise options.misuse(
            f"-o is the output folder: use --format {output}, or -o ./{output} for a folder of that name."
        )
    if form == "json" and output != "-":
        raise options.misuse("--format json cannot be combined with -o DIR: files in a folder are YAML.")
    folder = None if output == "-" else output
    if reports:
        from trainc.cli import reporting

        carries = "the diff" if check else "the manifests" if folder is None else ""
        reporting.check(reports, inputs=(*paths, *runtimes), stdout=carries)
    from trainc.budget import OverBudgetError
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
        others="require" if passthrough else "skip",
    )
    options.report_skipped(result.skipped, verbose=settings.verbose)
    result = result.saying(duplicates(result, result.others if passthrough else ()))
    if settings.verbose:
        result = options.with_unknown(result)
    report = partial(_report, reports)
    if result.failed:
        report(result)
        return WRONG_INPUT
    if not result.jobs and folder is None:
        # A GitOps tool that applies an empty manifest removes everything.
        report(result.saying([nothing(result)]))
        return WRONG_INPUT
    try:
        if folder is not None:
            return _to_folder(result, paths, folder, report, passthrough=passthrough, prune=only is None, check=check)
        manifest = _manifest(result, form, passthrough=passthrough)
    except OverBudgetError as error:
        report(result.saying([error.diagnostic]))
        return WRONG_INPUT
    report(result, _left_out(result, passthrough))
    options.write(*manifest)
    return OK


command = Command(
    build,
    (
        options.PATHS,
        options.RUNTIMES,
        Option(
            ("-o", "--output"),
            "Write to this folder; - (the default) is standard output.",
            default="-",
            metavar="DIR|-",
            complete=options.folder_names,
        ),
        Option(("--format",), "Output format; json is a list.", name="form", choices=MANIFEST_FORMATS, default="yaml"),
        Option(("--only",), "Compile only TrainJobs with this name.", metavar="NAME", complete=options.job_names),
        options.NAMESPACE,
        *options.SETTINGS,
        *options.DELIVERY,
        Option(
            ("--passthrough",),
            "Also write documents of other kinds, unchanged, after the objects; with -o only Kubernetes objects.",
            is_flag=True,
        ),
        Option(("--check",), "With -o, write nothing and exit 3 with a diff if DIR is out of date.", is_flag=True),
        options.REPORT,
    ),
    short_help="Compile TrainJobs to JobSets.",
    epilog=EPILOG,
)


def nothing(result: Compilation) -> Diagnostic:
    """Return the diagnostic for input without a TrainJob."""
    from trainc.compilation import NO_TRAINJOB
    from trainc.diagnostics import Diagnostic
    from trainc.plural import plural

    help = "pass the folder that contains them, or check only runtimes with `trainc validate`"
    if result.kustomizations is not None:
        from trainc.kustomizations import command

        help = f"pass the folder that contains them, or compile a kustomization: {command(result.kustomizations)}"
    others = options.not_compiled(result)
    message = f"no TrainJob in the given paths ({plural(result.files, 'file')} read)"
    return Diagnostic.of(NO_TRAINJOB, message + (f"; {others}" if others else ""), help)


def _report(reports: tuple[tuple[str, str], ...], result: Compilation, note: str = "") -> None:
    if reports:
        from trainc.cli import reporting

        reporting.write(reports, result)
    if result.diagnostics or note:
        from trainc.reports import text

        lines = [line for line in (options.summary(result), note) if line]
        options.report(text.render(result.diagnostics, summary="\n".join(lines), color=options.colored(sys.stderr)))
    options.report_built_in(result, blank=bool(result.diagnostics or note))


def _left_out(result: Compilation, passthrough: bool) -> str:
    others = options.not_compiled(result)
    if passthrough or not result.others:
        return others
    from trainc.plural import plural

    omitted = f"omitted {plural(len(result.others), 'document')} of other kinds (--passthrough includes them)"
    return _lines(omitted, others)


def _manifest(result: Compilation, form: str, *, passthrough: bool) -> Iterable[str]:
    """Return the manifest in parts: joining them would double or triple the memory.

    Raise OverBudgetError beyond the budget.
    """
    from trainc.budget import within

    others = result.others if passthrough else ()
    if form == "json":
        from trainc.emit import json

        parts = json.parts((*result.objects, *(document.value for document in others)))
    else:
        documents = chain((text for _, _, text in result.manifests()), map(as_read, others))
        parts = islice((part for document in documents for part in ("---\n", document)), 1, None)
    return within(result.budget, parts)


def as_read(document: Document) -> str:
    """Return a document's own text, to follow a `---` line; an item of a List is rendered again."""
    if document.within:
        from trainc.emit import yaml

        return yaml.render([document.value])
    text = document.text
    if text[:4] in ("--- ", "---\t", "---\r", "---\n"):
        first, newline, rest = text.partition("\n")
        text = first[3:].strip() + newline + rest if first[3:].strip() else rest
    return text if text.endswith("\n") else text + "\n"


def is_object(document: Document) -> bool:
    """Return whether a document can be applied to a cluster: it is not a values file or a kustomization."""
    tree = document.value
    version, kind = tree.get("apiVersion"), tree.get("kind")
    if not (isinstance(version, str) and isinstance(kind, str) and version and kind):
        return False
    from trainc.kubernetes.trees import get

    local = get(tree, ("metadata", "annotations", LOCAL))
    return not version.startswith(KUSTOMIZE) and local not in ("true", True)


def with_source(document: Document, folder: str) -> str:
    """Return a document's own text below a comment with its file, relative to the output folder."""
    from trainc.listings import STDIN, relative
    from trainc.source.printable import escape

    source = relative(folder, document.file)
    return f"# Source: {'<stdin>' if source == STDIN else escape(source)}\n{as_read(document)}"


def _not_objects(result: Compilation, others: list[Document]) -> str:
    count = len(result.others) - len(others)
    if not count:
        return ""
    from trainc.plural import plural

    return f"omitted {plural(count, 'document')} that {'is' if count == 1 else 'are'} not Kubernetes objects"


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
    from trainc.budget import within
    from trainc.listings import LISTING
    from trainc.source.printable import escape

    shown = escape(folder)
    files = {
        f"{namespace}/{name}.yaml" if namespace else f"{name}.yaml": text
        for namespace, name, text in result.manifests()
    }
    sources = dict(zip(files, ([job.plan.job.document.file] for job in result.jobs), strict=True))
    others = [document for document in result.others if passthrough and is_object(document)]
    if others:
        parts = chain(files.values(), (with_source(document, folder) for document in others))
        files[outputs.PASSED] = "---\n".join(islice(within(result.budget, parts), len(files), None))
        sources[outputs.PASSED] = [document.file for document in others]
    with ExitStack() as stack:
        try:
            output = stack.enter_context(outputs.opened(folder, make=not check, notify=options.report))
        except OSError as error:
            report(result.saying([outputs.unwritable(folder, "", error)]))
            return WRONG_INPUT
        changes = outputs.plan(output, files, sources=sources, paths=paths, prune=prune)
        result = result.saying(changes.diagnostics)
        if result.failed:
            report(result)
            return WRONG_INPUT
        if check:
            from trainc.source.printable import unified_diff

            difference = "".join(line for each in outputs.diff(output, changes) for line in unified_diff(*each))
            outdated = f"{shown} is out of date: run trainc build without --check" if difference else ""
            report(result, _lines(_kept(folder, changes), outdated))
            options.write(difference)
            return DIFFERENT if difference else OK
        if refused := outputs.apply(output, changes):
            report(result.saying(refused))
            return WRONG_INPUT
    omitted = _not_objects(result, others) if passthrough else _left_out(result, passthrough)
    written = [path for path in changes.write if path != LISTING]
    done = f"{shown}: {len(written)} written, {len(changes.remove)} removed, {len(files) - len(written)} unchanged"
    report(result, _lines(_kept(folder, changes), done, omitted))
    return OK


def _kept(folder: str, changes: Changes) -> str:
    """Return lines that name the kept outputs and the reason."""
    if not changes.kept:
        return ""
    from trainc import outputs
    from trainc.source.printable import escape

    files = [f"{folder}/{path}: kept, not compiled from the given paths" for path in changes.kept[:MOST_KEPT]]
    if more := len(changes.kept) - len(files):
        files.append(f"{more} more files kept")
    missing = outputs.shown(folder, changes.missing)
    return "\n".join(map(escape, [*files, f"nothing is pruned: the given paths do not cover {missing}"]))


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)
