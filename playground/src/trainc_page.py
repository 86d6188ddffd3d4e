"""The requests of the page, answered by the public API of trainc.

`answer` takes a request as JSON, {"method": ..., ...}, and returns JSON. The manifest and its settings are files of the
current folder. `compile` and `review` check the text of the request; the other methods show the result of `compile`.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

import trainc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

JOB = "job.yaml"
SETTINGS = "trainc.yaml"
MOST = 100
"""The most pods, jobs of the graph and diagnostics that the page shows."""
MOST_EXPLAINED = 20
"""The most jobs whose fields are searched for those that a line sets: a runtime may have a thousand jobs."""


class Options(NamedTuple):
    """The choices of the page."""

    settings: str
    """The content of trainc.yaml."""
    environment: str
    release: str
    legacy: bool


class Shown:
    """The result that the page shows, in one environment. The JobSets of the manifest are shown as they are stored."""

    def __init__(self, text: str, options: Options) -> None:
        self.checked = _check(text, options)
        names = [part.environment for part in self.checked.parts]
        at = names.index(options.environment) if options.environment in names else 0
        self.result, self.environments = self.checked.parts[at], [name for name in names if name]
        self.jobs = (*self.result.jobs, *self.result.jobsets)
        own = (each for job in self.result.jobsets for each in job.objects)
        self.values = (*self.result.objects, *own)
        self.texts = [trainc.render((each,)) for each in self.values]
        self.lines_of = cache(self._lines_of)

    def objects(self) -> Iterator[tuple[int, int, trainc.CompiledJob | None, int]]:
        """Yield each object of the output: its number, its first line from 0, its job, and its index there."""
        owners = {id(each): (job, index) for job in self.jobs for index, each in enumerate(job.objects)}
        first = 0
        for number, (value, text) in enumerate(zip(self.values, self.texts, strict=True)):
            yield number, first, *owners.get(id(value), (None, 0))
            first += text.count("\n") + 1  # the separator

    def _lines_of(self, number: int) -> dict[tuple[Any, ...], int]:
        """Return the line of each field of an object, from 0."""
        return dict(_fields_of(yaml.compose(self.texts[number], yaml.SafeLoader), ()))


_last: dict[str, Shown] = {}
_sessions: dict[tuple[str, str, bool], trainc.Session] = {}


def answer(request: str) -> str:
    """Answer a request of the page."""
    given = json.loads(request)
    method = given.pop("method")
    if "settings" in given:
        given["options"] = Options(*(given.pop(name) for name in Options._fields))
    try:
        return json.dumps(METHODS[method](**given))
    except (trainc.Error, ValueError) as error:
        return json.dumps({"error": str(error)})


def compiled(text: str, options: Options) -> dict[str, Any]:
    """Compile the manifest: the output and the diagnostics."""
    shown = _last["shown"] = Shown(text, options)
    # Without those that differ only in the field of the output.
    found = [*{repr(each): each for each in shown.checked.diagnostics}.values()]
    counts = {each: sum(found.severity == each for found in found) for each in ("error", "warning", "note")}
    return {
        "output": "---\n".join(shown.texts),
        "environments": shown.environments,
        "environment": shown.result.environment,
        "counts": counts,
        "omitted": Counter(str(each.value.get("kind")) for each in shown.checked.documents.others),
        "diagnostics": [_diagnostic(each, text, options.settings) for each in found[:MOST]],
    }


def pods() -> dict[str, Any]:
    """Return the pods of the result."""
    return _first(trainc.pods_of(_last["shown"].result))


def graph() -> dict[str, Any]:
    """Return the dependencies of each job of the result."""
    return _first(trainc.graph_of(_last["shown"].result))


def origin(line: int) -> dict[str, Any]:
    """Return the place in the input that set a line of the output."""
    shown = _last["shown"]
    for number, first, job, index in shown.objects():
        found = [path for path, at in shown.lines_of(number).items() if at == line - first] if job else []
        if job and found:
            path = found[-1]
            set_by = job.origin(index, path)
            at = set_by.place.locate()
            lines = at.source.text.split("\n")[at.line - at.source.line :] if at.source else []
            source = lines[0].strip() if lines else ""
            field = _name_of(job.objects[index], path)
            return {"field": field, "by": set_by.by, "file": at.file, "line": at.line, "source": source}
    return {}


def fields(line: int, columns: Sequence[int]) -> dict[str, Any]:
    """Return the fields of the output, with their lines, that the first field at some columns of a line sets."""
    shown = _last["shown"]
    numbers = {(id(job), index): (number, first) for number, first, job, index in shown.objects()}
    found: list[dict[str, Any]] = []
    of_line = ((job, path, document) for job in shown.jobs for path, document in _inputs(job, line, columns))
    for job, path, document in islice(of_line, MOST_EXPLAINED):
        for each in job.fields_set_by(path, document):
            number, first = numbers[id(job), each.object]
            lines = shown.lines_of(number)
            known = next((each.path[:size] for size in range(len(each.path), 0, -1) if each.path[:size] in lines), None)
            if known:
                found.append({"line": first + lines[known], "field": _name_of(job.objects[each.object], known)})
    return {"fields": found}


def reviewed(before: str, after: str, options: Options) -> dict[str, Any]:
    """Compare two versions of the manifest."""
    review = trainc.diff(Shown(before, options).result, Shown(after, options).result)
    if review.failed:
        return {"html": "", "summary": "one of the two versions has an error"}
    return {"html": review.render("html"), "summary": review.summary}


def migrated(text: str, options: Options) -> dict[str, Any]:
    """Convert legacy jobs to TrainJobs."""
    _write(text, options.settings)
    found = trainc.migrate(JOB, options=_options(options._replace(legacy=False)))
    diagnostics = [_diagnostic(each, text, options.settings) for each in found.diagnostics[:MOST]]
    return {"documents": list(found.documents), "diagnostics": diagnostics}


METHODS: dict[str, Callable[..., dict[str, Any]]] = {
    "compile": compiled,
    "pods": pods,
    "graph": graph,
    "origin": origin,
    "fields": fields,
    "review": reviewed,
    "migrate": migrated,
}


def _check(text: str, options: Options) -> trainc.Result:
    """Check the manifest, with the session of these options, which parses only the documents that have changed."""
    _write(text, options.settings)
    key = options.settings, options.release, options.legacy
    if key not in _sessions:
        _sessions.clear()
        _sessions[key] = trainc.Session(JOB, options=_options(options))
    return _sessions[key].check()


def _options(options: Options) -> trainc.Options:
    return trainc.Options(budget="ci", legacy=options.legacy, trainer_version=options.release or None)


def _write(text: str, settings: str) -> None:
    # Half of a pair of UTF-16 units: trainc reports its place.
    Path(JOB).write_bytes(text.encode("utf-8", "surrogatepass"))
    if settings.strip():
        Path(SETTINGS).write_bytes(settings.encode("utf-8", "surrogatepass"))
    else:
        Path(SETTINGS).unlink(missing_ok=True)


def _first(found: Sequence[Any]) -> dict[str, Any]:
    return {"found": found[:MOST], "more": max(0, len(found) - MOST)}


def _diagnostic(each: trainc.Diagnostic, text: str, settings: str) -> dict[str, Any]:
    at = each.locate()
    texts = {JOB: text, SETTINGS: settings}
    fix = trainc.fix_of(each)
    edits = [
        {"file": edit.file, "range": trainc.utf16_range(edit.at, texts[edit.file]), "text": edit.text}
        for edit in (fix.edits if fix else ())
        if edit.file in texts
    ]
    return {
        "severity": each.severity,
        "id": each.id,
        "message": each.message + (f" [{', '.join(each.environments)}]" if each.environments else ""),
        "help": each.help,
        "at": f"{at.file}:{at.line}" if at and at.line else at.file if at else "",
        "file": at.file if at else "",
        "range": trainc.utf16_range(at, texts[at.file]) if at and at.line and at.file in texts else None,
        "fix": {"title": fix.title if fix.is_safe else f"{fix.title} (unsafe)", "edits": edits}
        if fix and len(edits) == len(fix.edits)
        else None,
    }


def _inputs(
    job: trainc.CompiledJob, line: int, columns: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], trainc.Document]]:
    """Yield the first field at some columns of a line in the documents of a job."""
    for document in (job.document, job.runtime.document if job.runtime else None):
        if document and document.file == JOB:
            path = next(filter(None, (trainc.path_at(document, line, column) for column in columns)), None)
            if path:
                yield path, document


def _fields_of(node: yaml.Node | None, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Yield the path of each field of a node, and its line from 0."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*path, key.value), key.start_mark.line
            yield from _fields_of(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*path, index), value.start_mark.line
            yield from _fields_of(value, (*path, index))


def _name_of(value: Any, path: tuple[Any, ...]) -> str:
    """Return the path of a field with the names of items: `spec.replicatedJobs[node].replicas`."""
    text = ""
    for key in path:
        value = value[key]
        name = value.get("name", key) if isinstance(key, int) and isinstance(value, dict) else key
        text += f"[{name}]" if isinstance(key, int) else f".{name}"
    return text.removeprefix(".")
