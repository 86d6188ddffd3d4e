"""The output folder of `trainc build`: one file per TrainJob, in a subfolder for each environment.

Reads    the results of a build, without errors, and the folder.
Returns  the exit code. Nothing is written for any environment if one of their folders cannot be written as planned.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.budget import OverBudgetError, checked_output
from trainc.cli.common import printing
from trainc.cli.common.codes import DIFFERENT, OK, WRONG_INPUT
from trainc.cli.common.copies import is_object, with_source
from trainc.files import outputs
from trainc.files.output_listing import PASSED_MARK, first_line
from trainc.source.printable import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.compilation import Compilation
    from trainc.compilation.results import Compiled
    from trainc.diagnostics import Diagnostic, Document
    from trainc.files.outputs import Changes, Output

MOST_KEPT: Final = 20
"""The maximum number of kept outputs that are named."""


class Order(NamedTuple):
    """How to write a build."""

    folder: str
    paths: tuple[str, ...]
    """The PATHs whose outputs the folder has."""
    passthrough: bool
    prune: bool
    check: bool
    whole: bool
    """Whether all environments are built, so that the outputs of deleted ones are pruned."""


Part = tuple[str, "Compilation"]
"""The name and the result of an environment; the name is empty for a project without environments."""


class _Planned(NamedTuple):
    """The changes of a folder; those of an earlier layout have no part."""

    output: Output
    changes: Changes
    files: int = 0
    part: Part | None = None
    others: tuple[Document, ...] = ()


def to_folder(order: Order, parts: Sequence[Part], result: Compilation, report: Callable[..., None]) -> int:
    """Write the outputs of all environments, or compare them with the folder.

    Args:
        order: how to write.
        parts: the result of each environment.
        result: the result to report.
        report: the function that reports a result and lines of text.
    """
    with ExitStack() as stack:
        planned: list[_Planned] = []
        folder = order.folder
        try:
            rendered = [_rendered(order, part) for part in parts]
            for part, files in zip(parts, rendered, strict=True):
                folder = _folder(order, part[0])
                output = stack.enter_context(outputs.opened(folder, make=not order.check, notify=printing.report))
                planned.append(_plan(order, part, files, output))
            if order.whole and order.prune:
                folder = order.folder
                planned += _removals(order, parts, planned, stack)
        except OSError as error:
            report(result.with_diagnostics([outputs.write_fault(folder, "", error)]))
            return WRONG_INPUT
        except OverBudgetError as error:
            report(result.with_diagnostics([error.diagnostic]))
            return WRONG_INPUT
        result = result.with_diagnostics(found for each in planned for found in _diagnostics(each))
        if result.failed:
            report(result)
            return WRONG_INPUT
        kept = [_kept_outputs_note(each) for each in planned]
        if order.check:
            return _compare(order, result, planned, kept, report)
        for each in planned:
            if refused := outputs.apply(each.output, each.changes):
                report(result.with_diagnostics(refused))
                return WRONG_INPUT
        _drop(planned)
    done = [line for each in planned if (line := _done(each))]
    omitted = dict.fromkeys(_omitted(order, each) for each in planned if each.part is not None)
    report(result, _lines(*kept, *done, *omitted))
    return OK


def _folder(order: Order, environment: str) -> str:
    return os.path.join(order.folder, environment) if environment else order.folder


def _rendered(order: Order, part: Part) -> dict[str, str]:
    """Return the files of one environment's folder. Raise OverBudgetError beyond the budget."""
    environment, result = part
    texts = [text for _, _, text in result.manifests()]
    files = {_path(job): _first_line(job) + text for job, text in zip(result.jobs, texts, strict=True)}
    if others := _copied_documents(order, result):
        folder = _folder(order, environment)
        whole = chain(files.values(), (with_source(document, folder) for document in others))
        copies = "---\n".join(islice(checked_output(result.budget, whole), len(files), None))
        files[outputs.PASSED] = PASSED_MARK + copies
    return files


def _copied_documents(order: Order, result: Compilation) -> tuple[Document, ...]:
    return tuple(document for document in result.others if order.passthrough and is_object(document))


def _plan(order: Order, part: Part, files: dict[str, str], output: Output) -> _Planned:
    """Return the changes of one environment's folder."""
    environment, result = part
    sources = {_path(job): [job.plan.job.document.file] for job in result.jobs}
    if others := _copied_documents(order, result):
        sources[outputs.PASSED] = [document.file for document in others]
    changes = outputs.plan(
        output, files, sources=sources, paths=order.paths, prune=order.prune, environment=environment
    )
    return _Planned(output, changes, len(files), part, others)


def _removals(order: Order, parts: Sequence[Part], planned: Sequence[_Planned], stack: ExitStack) -> list[_Planned]:
    """Return the changes that remove the outputs of deleted environments, and those from before environments."""
    from trainc.files import layouts

    names = [name for name, _ in parts if name]
    root = planned[0].output if not names else None
    if root is None:
        root = stack.enter_context(outputs.opened(order.folder, make=not order.check, notify=printing.report))
    found: list[_Planned] = []
    files = {f"{name}/{path}" if name else path for name, result in parts for path in map(_path, result.jobs)}
    if names and (changes := layouts.removal(root, keep=files, paths=order.paths)) is not None:
        found.append(_Planned(root, changes))
    for name in layouts.deleted_environments(root, names):
        output = stack.enter_context(outputs.opened(_folder(order, name), make=not order.check, notify=printing.report))
        keep = {path.removeprefix(f"{name}/") for path in files if path.startswith(f"{name}/")}
        if (changes := layouts.removal(output, keep=keep, paths=order.paths)) is not None:
            found.append(_Planned(output, changes))
    return found


def _path(job: Compiled) -> str:
    """Return the file of a TrainJob, relative to the folder of its environment."""
    return f"{job.namespace}/{job.name}.yaml" if job.namespace else f"{job.name}.yaml"


def _first_line(job: Compiled) -> str:
    id = job.plan.job.id
    return first_line(id.kind, id.namespace, id.name)


def _diagnostics(planned: _Planned) -> Iterator[Diagnostic]:
    for diagnostic in planned.changes.diagnostics:
        name = planned.part[0] if planned.part is not None else ""
        yield diagnostic._replace(environments=(name,)) if name else diagnostic


def _compare(
    order: Order, result: Compilation, planned: Sequence[_Planned], kept: Sequence[str], report: Callable[..., None]
) -> int:
    """Print the differences between the folder and the output."""
    from trainc.source.printable import unified_diff

    differences = [each for one in planned for each in outputs.diff(one.output, one.changes)]
    difference = "".join(line for each in differences for line in unified_diff(*each))
    outdated = f"{escape(order.folder)} is out of date: run trainc build without --check" if difference else ""
    report(result, _lines(*kept, outdated))
    printing.write(difference)
    return DIFFERENT if difference else OK


def _drop(planned: Sequence[_Planned]) -> None:
    """Remove the empty folders of deleted environments."""
    for each in planned:
        if each.part is None and each.changes.remove:
            with suppress(OSError):  # it contains other files
                os.rmdir(each.output.folder)


def _done(planned: _Planned) -> str:
    shown = escape(planned.output.folder)
    removed = sum(path != planned.changes.listing for path in planned.changes.remove)
    if planned.part is None:
        return f"{shown}: {removed} removed" if removed else ""
    written = sum(path != planned.changes.listing for path in planned.changes.write)
    return f"{shown}: {written} written, {removed} removed, {planned.files - written} unchanged"


def _omitted(order: Order, planned: _Planned) -> str:
    assert planned.part is not None
    if not order.passthrough:
        return printing.omitted_note(planned.part[1], False)
    count = len(planned.part[1].others) - len(planned.others)
    if not count:
        return ""
    from trainc.base.plural import plural

    return f"omitted {plural(count, 'document')} that {'is' if count == 1 else 'are'} not Kubernetes objects"


def _kept_outputs_note(planned: _Planned) -> str:
    """Return lines that name the kept outputs and the reason."""
    folder, changes = planned.output.folder, planned.changes
    if not changes.kept:
        return ""
    files = [f"{folder}/{path}: kept, not compiled from the given paths" for path in changes.kept[:MOST_KEPT]]
    if more := len(changes.kept) - len(files):
        files.append(f"{more} more files kept")
    missing = outputs.shown(folder, changes.missing)
    return "\n".join(map(escape, [*files, f"nothing is pruned: the given paths do not cover {missing}"]))


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)
