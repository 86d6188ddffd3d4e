"""The requests of the page, answered by the public API of trainc.

`answer` takes a request as JSON, {"method": ..., ...}, and returns JSON. The manifest and its settings are files of the
current folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

import trainc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JOB = "job.yaml"
SETTINGS = "trainc.yaml"
_last: dict[str, trainc.Result] = {}


def answer(request: str) -> str:
    """Answer a request of the page."""
    given = json.loads(request)
    method = given.pop("method")
    try:
        return json.dumps(METHODS[method](**given))
    except (trainc.Error, ValueError) as error:
        return json.dumps({"error": str(error)})


def compiled(text: str, settings: str, release: str, legacy: bool) -> dict[str, Any]:
    """Compile the manifest: the output, the pods, the graph and the diagnostics."""
    _write(text, settings)
    options = _options(release, legacy)
    checked = trainc.check(JOB, options=options)
    environment = _environment(settings)
    # Without environments, the check has compiled the objects.
    result = trainc.compile(JOB, environment=environment, options=options) if environment else checked
    _last["result"] = result
    texts = {(each.id, each.message) for each in checked.diagnostics}
    found = [*checked.diagnostics, *(each for each in result.diagnostics if (each.id, each.message) not in texts)]
    return {
        "output": trainc.render(result.objects),
        "pods": trainc.pods_of(result) if not result.failed else [],
        "graph": trainc.graph_of(result) if not result.failed else [],
        "diagnostics": [_diagnostic(each, text) for each in found],
        "failed": result.failed,
    }


def origin(line: int) -> dict[str, Any]:
    """Return the place in the input that set a line of the output."""
    result = _last["result"]
    found = _field_at(result, line)
    if found is None:
        return {}
    job, index, path = found
    set_by = job.origin(index, path)
    at = set_by.place.locate()
    field = ".".join(map(str, path))
    return {"field": field, "by": set_by.by, "file": at.file, "line": at.line}


def fields(line: int, column: int) -> dict[str, Any]:
    """Return the lines of the output that a position of the input sets."""
    result = _last["result"]
    lines: list[dict[str, Any]] = []
    for job in result.jobs:
        for document in (job.document, *((job.runtime.document,) if job.runtime else ())):
            if document.file != JOB:
                continue
            path = trainc.path_at(document, line, column)
            if not path:
                continue
            own = None if document is job.document else document
            for each in job.fields_set_by(path, own):
                at = _line_of_field(result, job, each.object, each.path)
                lines.append({"line": at, "field": ".".join(map(str, each.path)), "by": each.by})
    return {"fields": lines}


def reviewed(before: str, after: str, settings: str, release: str, legacy: bool) -> dict[str, Any]:
    """Compare two versions of the manifest."""
    options = _options(release, legacy)
    results = []
    for text in (before, after):
        _write(text, settings)
        results.append(trainc.compile(JOB, environment=_environment(settings), options=options))
    review = trainc.diff(*results)
    if review.failed:
        return {"html": "", "summary": "one of the two versions has an error"}
    return {"html": review.render("html"), "summary": review.summary}


def migrated(text: str, settings: str, release: str, legacy: bool) -> dict[str, Any]:
    """Convert legacy jobs to TrainJobs."""
    del legacy
    _write(text, settings)
    found = trainc.migrate(JOB, options=_options(release, False))
    return {"documents": list(found.documents), "diagnostics": [_diagnostic(each, text) for each in found.diagnostics]}


METHODS: dict[str, Callable[..., dict[str, Any]]] = {
    "compile": compiled,
    "origin": origin,
    "fields": fields,
    "review": reviewed,
    "migrate": migrated,
}


def _options(release: str, legacy: bool) -> trainc.Options:
    return trainc.Options(budget="ci", legacy=legacy, trainer_version=release or None)


def _write(text: str, settings: str) -> None:
    Path(JOB).write_text(text, encoding="utf-8")
    if settings.strip():
        Path(SETTINGS).write_text(settings, encoding="utf-8")
    else:
        Path(SETTINGS).unlink(missing_ok=True)


def _environment(settings: str) -> str | None:
    """Return the first environment of the settings, which the page shows."""
    try:
        first = next(iter(yaml.safe_load(settings)["environments"]), None)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError):
        return None  # trainc reports what is wrong
    return first if isinstance(first, str) else None


def _diagnostic(each: trainc.Diagnostic, text: str) -> dict[str, Any]:
    at = each.locate()
    in_editor = at is not None and at.file == JOB
    fix = trainc.fix_of(each)
    edits = [
        {"range": list(trainc.utf16_range(edit.at, text)), "text": edit.text}
        for edit in (fix.edits if fix else ())
        if edit.file == JOB
    ]
    return {
        "severity": each.severity,
        "id": each.id,
        "message": each.message,
        "help": each.help,
        "at": f"{at.file}:{at.line}" if at and at.line else at.file if at else "",
        "range": list(trainc.utf16_range(at, text)) if at and in_editor else None,
        "fix": {"title": fix.title, "edits": edits} if fix and edits else None,
    }


def _field_at(result: trainc.Result, line: int) -> tuple[trainc.CompiledJob, int, tuple[Any, ...]] | None:
    for job, index, node in _nodes(result):
        found = [path for at, path in _lines_of(node, ()) if at == line]
        if found:
            return job, index, found[-1]
    return None


def _line_of_field(result: trainc.Result, job: trainc.CompiledJob, index: int, path: tuple[Any, ...]) -> int | None:
    for each, number, node in _nodes(result):
        if each is job and number == index:
            lines = {found: at for at, found in _lines_of(node, ())}
            return next((lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines), None)
    return None


def _nodes(result: trainc.Result) -> Iterator[tuple[trainc.CompiledJob, int, yaml.Node]]:
    """Yield each object of the output with its job, its index and its node."""
    owners = {id(each): (job, index) for job in result.jobs for index, each in enumerate(job.objects)}
    nodes = yaml.compose_all(trainc.render(result.objects), yaml.SafeLoader)
    for each, node in zip(result.objects, nodes, strict=True):
        owner = owners.get(id(each))
        if owner:
            yield *owner, node


def _lines_of(node: yaml.Node, path: tuple[Any, ...]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the line of each field of a node, from 0, with the path of the field."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key.start_mark.line, (*path, key.value)
            yield from _lines_of(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield value.start_mark.line, (*path, index)
            yield from _lines_of(value, (*path, index))
