"""Hover, code lenses and code actions.

Reads    the last results of the project, and the diagnostics of the open files.
Returns  Markdown about the field at a position, a line over each TrainJob, and the edits that fix a diagnostic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

import trainc
from trainc.lsp.completion import described, schema_at
from trainc.lsp.project import UNREADABLE
from trainc.lsp.references import QUEUE_LABEL, RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.lsp.outline import Outline, OutlineField, Path
    from trainc.lsp.project import OpenProject

MOST_ROWS: Final = 20
"""The most rows of a list."""
MOST_JOBS: Final = 60
"""The most compiled jobs of a runtime that are compared: each runs the stages again."""
OVERRIDES: Final[dict[Path, Path]] = {
    ("spec", "mlPolicy", "numNodes"): ("spec", "trainer", "numNodes"),
    ("spec", "mlPolicy", "torch", "numProcPerNode"): ("spec", "trainer", "numProcPerNode"),
}
"""The fields of a TrainJob that replace fields of its runtime outside of the template."""
MOST_PASSES: Final = 10
"""The most times that all fixes of a file are applied."""
IGNORE: Final = "trainc.dev/lint-ignore"
FIX_ALL: Final = f"{lsp.CodeActionKind.SourceFixAll.value}.trainc"
SHOW_JOBSET: Final = "trainc.showJobSet"


def hover(project: OpenProject, path: str, position: lsp.Position) -> lsp.Hover | None:
    """Return the page of each diagnostic at a position, and what the field there means and sets."""
    parts = {
        f"[{each.id}]({trainc.address_of(each.id)}): {trainc.page_of(each.id)}": None
        for each, shown in project.diagnostics(path)
        if _is_in(position, shown.range)
    }
    at = project.code_points(path, position)
    document = project.outline(path, at.line)
    field = document.at(at.line, at.character)
    if field is not None:
        parts |= dict.fromkeys(filter(None, _about_field(project, path, document, field)))
    if not parts:
        return None
    text = "\n\n---\n\n".join(parts)
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text))


def _about_field(project: OpenProject, path: str, document: Outline, field: OutlineField) -> Iterator[str]:
    node = schema_at(project, path, document, field.path)
    yield "\n\n".join(filter(None, (f"`{_text_of(field.path)}`", described(node) if node is not None else "")))
    if document.kind in RUNTIMES:
        yield _about_runtime(project, path, document, field.path)
    else:
        rows: dict[str, list[str]] = {}
        for environment, job in project.jobs(path, document):
            for each in job.fields_set_by(field.path):
                kind = job.objects[each.object]["kind"]
                row = f"- {kind} `{_text_of(each.path)}` = `{each.value}`, by {each.by}"
                rows.setdefault(row, []).append(environment)
        yield _list("Sets:", (f"{row}{_in(project, names)}" for row, names in rows.items()))
    if "resources" in field.path or "resourcesPerNode" in field.path or field.path[-1] == QUEUE_LABEL:
        yield _list("Quota:", _quotas(project, path, document, str(field.path[-1])))
    elif document.kind in ("LocalQueue", "ClusterQueue") and field.path == ("metadata", "name"):
        yield _list("Quota:", _rows_of_queues(project, document))


def _about_runtime(project: OpenProject, path: str, document: Outline, field: Path) -> str:
    """Return what a field of a runtime sets, and the TrainJobs that override it."""
    jobs = [
        job
        for job in (project.whole.jobs if project.whole is not None else ())
        if job.runtime is not None and (job.runtime.document.file, job.runtime.name) == (path, document.name)
    ]
    # The template becomes the JobSet.
    is_template = len(field) > 2 and field[:2] == ("spec", "template")
    targets: dict[tuple[int, Path], None] = {(0, field[2:]): None} if is_template else {}
    kept, others = list[trainc.CompiledJob](), list[trainc.CompiledJob]()
    for job in jobs[:MOST_JOBS]:
        found = [*job.fields_set_by(field, job.runtime.document if job.runtime is not None else None)]
        targets |= {(each.object, each.path): None for each in found}
        (kept if found else others).append(job)
    names = {(job.document.file, job.document.line) for job in kept}
    text = _list(f"Sets in {len(names)} TrainJobs:", (f"- `{_text_of(each)}`" for _, each in targets)) if kept else ""
    rows = (_overriding(project, job, path, field, targets) for job in others)
    more = f"Only the first {MOST_JOBS} of {len(jobs)} compiled jobs are compared." if len(jobs) > MOST_JOBS else ""
    return "\n\n".join(filter(None, (text, _list("Overridden by:", filter(None, rows)), more)))


def _overriding(
    project: OpenProject, job: trainc.CompiledJob, path: str, field: Path, targets: Iterable[tuple[int, Path]]
) -> str:
    """Return the place and the value with which a TrainJob overrides a field of its runtime; empty if it does not."""
    own = OVERRIDES.get(field)
    if own is not None and _has(job.document.value, own):
        at = trainc.Place(job.document, own).locate()
        return f"- [{at}]({project.uri(at.file)}#L{at.line}): `{_text_of(own)}`"
    for index, target in targets:
        if index < len(job.objects) and _has(job.objects[index], target):
            origin = job.origin(index, target)
            at = origin.place.locate()
            if at.file != path:
                return f"- [{at}]({project.uri(at.file)}#L{at.line}): `{origin.value}`, by {origin.by}"
    return ""


def _has(value: Any, path: Path) -> bool:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _quotas(project: OpenProject, path: str, document: Outline, resource: str) -> Iterator[str]:
    """Yield the use of the queue of a job in each environment: of one resource, or of all of them."""
    names = {(environment, job.namespace, job.name) for environment, job in project.jobs(path, document)}
    for part in project.parts(path):
        for graph in trainc.graph_of(part):
            if (part.environment, graph["namespace"], graph["name"]) in names:
                rows = _resources(project, part.environment, graph["queue"])
                chosen = [row for row in rows if row["resource"] == resource] or rows
                yield from (_row(part.environment, graph["queue"], row) for row in chosen)


def _rows_of_queues(project: OpenProject, document: Outline) -> Iterator[str]:
    """Yield the use of a ClusterQueue, or of that of a LocalQueue, in each environment."""
    name = document.value("spec", "clusterQueue") or document.name
    for part in project.whole.parts if project.whole is not None else ():
        for queue in project.queues(part.environment):
            if queue["queue"] == name:
                yield from (_row(part.environment, name, row) for row in queue["resources"])


def _row(environment: str, queue: str, row: dict[str, Any]) -> str:
    suffix = f" ({environment})" if environment else ""
    return f"- queue {queue}: {row['requested']} of {row['quota']} {row['resource']} requested{suffix}"


def _resources(project: OpenProject, environment: str, local_queue: str) -> list[dict[str, Any]]:
    for queue in project.queues(environment):
        if local_queue in queue["localQueues"]:
            rows: list[dict[str, Any]] = queue["resources"]
            return rows
    return []


def lenses(project: OpenProject, path: str) -> list[lsp.CodeLens]:
    """Return a line over each job of a file: its nodes, its devices, and the use of its queue."""
    texts: dict[int, dict[str, list[str]]] = {}
    for part in project.parts(path):
        lines = {id(job.objects[0]): job.document.line for job in part.jobs if job.document.file == path}
        graphs = {(each["namespace"], each["name"]): each for each in trainc.graph_of(part) if each["file"] == path}
        for job in part.jobs:
            graph = graphs.get((job.namespace, job.name))
            if graph is not None and id(job.objects[0]) in lines:
                text = _lens(project, part.environment, graph)
                texts.setdefault(job.document.line, {}).setdefault(text, []).append(part.environment)
    return [
        lsp.CodeLens(
            project.units(path, line - 1, 0, line - 1, 0),
            lsp.Command(f"{text}{_in(project, names)}", SHOW_JOBSET, arguments=[project.uri(path), names[0]]),
        )
        for line, found in texts.items()
        for text, names in found.items()
    ]


def _lens(project: OpenProject, environment: str, graph: dict[str, Any]) -> str:
    total, words = graph["total"], []
    words.append(f"{total['nodes']} node{'s' * (total['nodes'] != 1)}")
    devices = [name for name in total["resources"] if "/" in name] or [
        name for name in ("cpu",) if name in total["resources"]
    ]
    words += [f"{total['resources'][name]} {name}" for name in devices]
    if graph["queue"]:
        used = {row["resource"]: row for row in _resources(project, environment, graph["queue"])}
        uses = [f"{used[name]['requested']} of {used[name]['quota']}" for name in devices if name in used]
        words.append(f"queue {graph['queue']}" + (f": {', '.join(uses)}" if uses else ""))
    return ", ".join(words)


def actions(project: OpenProject, path: str, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Return the actions for a range: fixes, rules that can be disabled, and all safe fixes of the file."""
    only = params.context.only
    found: list[lsp.CodeAction] = []
    for each, shown in project.diagnostics(path):
        if shown.range.end.line < params.range.start.line or shown.range.start.line > params.range.end.line:
            continue
        if (fix := trainc.fix_of(each)) is not None:
            title = fix.title if fix.is_safe else f"{fix.title} (unsafe)"
            found.append(_action(title, shown, _edits(project, fix.edits), preferred=fix.is_safe))
        if each.stage == "lint" and (edit := _ignored(project, path, each, shown)) is not None:
            kind = project.outline(path, shown.range.start.line).kind
            found.append(_action(f"Disable {each.id} for this {kind}", shown, {project.uri(path): [edit]}))
    if any(_is_safe(each) for each in project.found.get(path, ())):
        text = _fixed_text(project, path)
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(project.text(path).count("\n") + 1, 0))
        all_fixes = lsp.WorkspaceEdit({project.uri(path): [lsp.TextEdit(whole, text)]})
        found.append(lsp.CodeAction("Fix all safe problems in this file", FIX_ALL, edit=all_fixes))
    return [each for each in found if only is None or any(str(each.kind).startswith(str(kind)) for kind in only)]


def _action(
    title: str, shown: lsp.Diagnostic, changes: dict[str, list[lsp.TextEdit]], *, preferred: bool = False
) -> lsp.CodeAction:
    return lsp.CodeAction(
        title,
        lsp.CodeActionKind.QuickFix,
        diagnostics=[shown],
        is_preferred=preferred,
        edit=lsp.WorkspaceEdit(changes),
    )


def _edits(project: OpenProject, edits: Iterable[trainc.FileEdit]) -> dict[str, list[lsp.TextEdit]]:
    changes: dict[str, list[lsp.TextEdit]] = {}
    for each in edits:
        changes.setdefault(project.uri(each.file), []).append(lsp.TextEdit(project.range(each.at), each.text))
    return changes


def _is_safe(diagnostic: trainc.Diagnostic) -> bool:
    fix = trainc.fix_of(diagnostic)
    return fix is not None and fix.is_safe


def _fixed_text(project: OpenProject, path: str) -> str:
    """Return the text of a file after all safe fixes, each of which may lead to another one."""
    text = project.text(path)
    for _ in range(MOST_PASSES):
        result = project.session.check_file(path, {**project.readable, path: text})
        fixes = [trainc.fix_of(each) for each in result.diagnostics if project.file_of(each) == path]
        edits = [each for fix in fixes if fix is not None and fix.is_safe for each in fix.edits if each.file == path]
        if not edits:
            break
        text = _applied(text, edits)
    return text


def _applied(text: str, edits: Iterable[trainc.FileEdit]) -> str:
    """Return a text after the edits; of two that overlap, only the first one is applied."""
    begins = [0]
    for line in text.split("\n"):
        begins.append(begins[-1] + len(line) + 1)
    spans = {
        (
            begins[each.at.line - 1] + each.at.column - 1,
            begins[each.at.end_line - 1] + each.at.end_column - 1,
        ): each.text
        for each in edits
    }
    parts, last = [], 0
    for (begin, end), new in sorted(spans.items()):
        if begin >= last:
            parts += [text[last:begin], new]
            last = end
    return "".join([*parts, text[last:]])


def _ignored(
    project: OpenProject, path: str, diagnostic: trainc.Diagnostic, shown: lsp.Diagnostic
) -> lsp.TextEdit | None:
    """Return the edit that adds a rule to the annotation of the document; None for a document that cannot have it."""
    document = project.outline(path, shown.range.start.line)
    if diagnostic.id in UNREADABLE or document.kind not in ("TrainJob", *RUNTIMES):
        return None
    annotations = ("metadata", "annotations")
    for each in document.fields:
        if each.path == (*annotations, IGNORE) and each.value:
            line = each.value_line
            at = project.units(path, line, each.value_begin, line, each.value_end)
            return lsp.TextEdit(at, f'"{each.value}, {diagnostic.id}"')
    own = f'{IGNORE}: "{diagnostic.id}"'
    for parent, new in ((annotations, own), (annotations[:1], f"annotations: {{{own}}}")):
        first = next((each for each in document.fields if each.path[:-1] == parent and not each.is_word), None)
        if first is not None:
            separator = ", " if first.flow else f"\n{' ' * first.begin}"
            return lsp.TextEdit(project.units(path, first.line, first.begin, first.line, first.begin), new + separator)
    return None


def _is_in(position: lsp.Position, span: lsp.Range) -> bool:
    return span.start <= position <= span.end


def _in(project: OpenProject, names: list[str]) -> str:
    """Return the environments as a suffix; empty for all of them."""
    return f" ({', '.join(names)})" if {*names} < project.environments else ""


def _list(title: str, rows: Iterable[str]) -> str:
    """Return a Markdown list of the first rows; empty without any."""
    found = [*dict.fromkeys(rows)]
    more = [f"- and {len(found) - MOST_ROWS} more"] if len(found) > MOST_ROWS else []
    return "\n".join([title, "", *found[:MOST_ROWS], *more]) if found else ""


def _text_of(path: Path) -> str:
    """Return a path as text.

    >>> _text_of(("spec", "replicatedJobs", 0, "name"))
    'spec.replicatedJobs[0].name'
    """
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")
