"""Templates that are not rendered: Helm charts, Jinja, cookiecutter, and texts for envsubst.

Reads    the syntax errors of a file; the errors of a run, and its TrainJobs and runtimes.
Returns  the errors, with one diagnostic per document in place of those that a placeholder causes; in a chart's
         `templates` folder, one per file. Commands and arguments are never templates: `$VAR` is legal shell there, and
         `{{ }}` may be meant for another program.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import CLUSTER_RUNTIME, COMPILED, JOBSET, LEGACY, RUNTIMES
from trainc.diagnostics import Diagnostic, Document, Location, ObjectId, Place
from trainc.frontends.unreadable import BLOCK, COMMENT, is_of_kinds
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from trainc.diagnostics import Identity, Path
    from trainc.kubernetes.documents import YamlError

TEMPLATE_NOT_RENDERED: Final = Declaration("template-not-rendered", ("read",), trainc_only=True)

_BLOCK: Final = re.compile(BLOCK)
_COMMENT: Final = re.compile(COMMENT)
_SYNTAX: Final = re.compile(rf"{COMMENT}|{BLOCK}|\$\{{[^{{}}\s]{{1,200}}\}}")
"""The placeholders with characters of YAML's own syntax."""
_TO_REPLACE: Final = (
    r"(?<![A-Za-z0-9_])(?:[A-Z0-9]{1,30}_){0,5}(?:YOUR|PLACEHOLDER|CHANGE_?ME|REPLACE_?ME|FIXME|TODO)"
    r"(?:_[A-Z0-9]{1,30}){0,5}(?![A-Za-z0-9_])"
)
"""A word in capitals that asks to be replaced, such as YOUR_IMAGE."""
_PLACEHOLDER: Final = re.compile(
    rf"{BLOCK}|\$\{{[^{{}}\s]{{1,200}}\}}|\$[A-Za-z_]\w*|<[A-Za-z][^<>\n]{{0,200}}>|{_TO_REPLACE}"
)
_OF_HELM: Final = re.compile(r"\{\{[^{}]{0,500}?\.(?:Values|Release|Chart|Capabilities)\b[^{}]{0,500}\}\}")
"""Only Helm has these objects."""
_OF_GO: Final = re.compile(r"\{\{-?\s{0,20}(?:[.$]|(?:end|else|range|with|if|define)\b|[^{}]{0,200}[ (][.$]\w)")
"""Only Go templates have fields and variables that begin with a dot or a dollar sign, and keywords in double braces."""
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_SHELL: Final = frozenset({"command", "args", "env"})
"""The fields in which a placeholder may be meant for a shell or another program."""
_OF_CHART: Final = "templates"
CHART: Final = "Chart.yaml"
_MOST_ABOVE: Final = 50
"""The folders above the current one that are searched for a chart."""
_MOST_VALUES: Final = 10_000
"""The values of a document that are searched for placeholders: aliases can repeat them without end."""
_MESSAGE: Final = "the template is not rendered"
_LONGEST: Final = 80
"""The characters of a placeholder that a message shows."""


def syntax_errors(path: str, errors: Iterable[tuple[YamlError, Diagnostic]]) -> Iterator[Diagnostic]:
    """Yield the syntax errors of a file, with one diagnostic in place of those that placeholders cause.

    A document of another kind keeps its errors.
    """
    seen: set[Hashable] = set()
    for error, diagnostic in errors:
        found = _placeholder_error(diagnostic) if _may_be_template(error.document) else None
        if found is None:
            yield diagnostic
            continue
        document, not_rendered = found
        key = path if _chart(path) else document.line
        if key not in seen:
            yield not_rendered
        seen.add(key)


def _may_be_template(text: str) -> bool:
    """Return whether the text of a training job or a runtime may have a placeholder."""
    if not any(opening in text for opening in ("{{", "{%", "${")):
        return False
    return is_of_kinds(text, (*COMPILED, JOBSET, *LEGACY))


def _placeholder_error(error: Diagnostic) -> tuple[Document, Diagnostic] | None:
    """Return a document and its diagnostic if a placeholder causes its syntax error; None for any other error."""
    place = error.place
    if not isinstance(place, Location) or place.source is None:
        return None
    document, wanted = place.source, place.line
    blocks = [
        (document.line + document.text.count("\n", 0, found.start()), found)
        for found in _SYNTAX.finditer(document.text)
        if not _is_comment(document.text, found.start())
    ]
    if not blocks or _remains(error, document):
        return None
    line, first = next((found for found in blocks if found[0] == wanted), blocks[0])
    column = first.start() - document.text.rfind("\n", 0, first.start())
    written = [found[0].partition("\n")[0] for _, found in ((line, first), *blocks)]
    at = Location(document.file, line, column, line, column + len(written[0]), document)
    found = _diagnostic(document.file, list(dict.fromkeys(written)), at)
    return document, _template_note(found) if is_of_kinds(document.text, (JOBSET,)) else found


def _is_comment(text: str, index: int) -> bool:
    """Return whether an index is in a line that is a comment."""
    return text[text.rfind("\n", 0, index) + 1 : index].lstrip().startswith("#")


def _remains(error: Diagnostic, document: Document) -> bool:
    """Return whether the same error is there with words in place of the placeholders."""
    from trainc.kubernetes.documents import read_stream

    assert isinstance(error.place, Location)
    text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), document.text)
    _, errors = read_stream("\n".join(map(_rendered, text.split("\n"))))
    line = error.place.line - document.line + 1
    return any((other.line, other.message) == (line, error.message) for other in errors)


def _rendered(line: str) -> str:
    """Return a line with a word in place of each placeholder; an empty line if it has nothing else.

    >>> _rendered("  name: {{ .Release.Name }}-a"), _rendered("  {{- end }}")
    ('  name: x-a', '')
    """
    return _SYNTAX.sub("x", line) if _SYNTAX.sub("", line).strip() else ""


def replaced(
    diagnostics: Sequence[Diagnostic],
    documents: Sequence[Document],
    with_note: Callable[[Diagnostic], Diagnostic | None] = lambda diagnostic: diagnostic,
) -> list[Diagnostic]:
    """Return the diagnostics of a run, with one per document in place of the errors that placeholders cause.

    documents   the TrainJobs and runtimes; a placeholder that only Helm has is an error without another one
    with_note   returns the note in place of an error for a chart; None if the chart has one
    """
    causes: dict[Identity, list[tuple[Place, str]]] = {}
    kept: list[Diagnostic] = []
    for diagnostic in diagnostics:
        cause = _cause(diagnostic)
        if cause is None:
            kept.append(diagnostic)
            continue
        causes.setdefault(cause[0].document.identity, []).append(cause)
    texts = {id(document.text): document.text for document in documents}
    with_braces = {key for key, text in texts.items() if "{{" in text}
    for document in documents:
        if id(document.text) not in with_braces or document.identity in causes:
            continue
        if (cause := _helm_object(document)) is not None:
            causes[document.identity] = [cause]
    kept = _without_missing_runtimes(kept, documents)
    made = [_not_rendered(group) for group in causes.values()]
    files: set[str] = {d.place.file for d in kept if d.id == TEMPLATE_NOT_RENDERED.id and isinstance(d.place, Location)}
    for diagnostic, group in zip(made, causes.values(), strict=True):
        file = group[0][0].document.file
        noted = None if _chart(file) and file in files else with_note(diagnostic)
        kept += [] if noted is None else [noted]
        files.add(file)
    return kept


def _without_missing_runtimes(diagnostics: Sequence[Diagnostic], documents: Sequence[Document]) -> list[Diagnostic]:
    """Return the diagnostics without the errors for missing runtimes that a template may define."""
    texts = [
        found.place.source.text
        for found in diagnostics
        if found.id == TEMPLATE_NOT_RENDERED.id and isinstance(found.place, Location) and found.place.source is not None
    ]
    unnamed = [id for id in map(ObjectId.from_manifest, (each.value for each in documents)) if _has_placeholder(id)]
    return [
        found
        for found in diagnostics
        if found.id != "runtime-not-found" or not (_may_define(texts, found) or _may_be_one_of(unnamed, found))
    ]


def _has_placeholder(id: ObjectId) -> bool:
    """Return whether the name or the namespace of a runtime is a placeholder."""
    is_runtime = any(id.kind == row.kind for row in RUNTIMES)
    return is_runtime and any(_PLACEHOLDER.search(text) for text in (id.name, id.namespace))


def _may_be_one_of(unnamed: Sequence[ObjectId], missing: Diagnostic) -> bool:
    """Return whether the runtime that a TrainJob lacks may be one whose name or namespace is a placeholder.

    The namespace of a TrainingRuntime is that of the TrainJob.
    """
    if not isinstance(missing.place, Place):
        return False
    job = missing.place.document.value
    reference = get(job, missing.place.path[:-1]) or {}
    kind, name = reference.get("kind", CLUSTER_RUNTIME.kind), reference.get("name")
    if kind != CLUSTER_RUNTIME.kind and _PLACEHOLDER.search(ObjectId.from_manifest(job).namespace):
        return True
    return any(id.kind == kind and (id.name == name or _PLACEHOLDER.search(id.name)) for id in unnamed)


def _may_define(texts: Sequence[str], missing: Diagnostic) -> bool:
    """Return whether one of the texts may be the runtime that a TrainJob lacks."""
    if not texts or not isinstance(missing.place, Place):
        return False
    name = re.escape(str(get(missing.place.document.value, missing.place.path)))
    written = re.compile(rf"""["']?name["']?\s*:\s*["']?(?:{name}(?![\w.-])|[^\n]*(?:{BLOCK}|\$\{{))""")
    return any(written.search(text) and is_of_kinds(text, RUNTIMES) for text in texts)


def is_of_template(diagnostic: Diagnostic) -> bool:
    """Return whether a placeholder is the cause of an error."""
    return _cause(diagnostic) is not None


def _cause(diagnostic: Diagnostic) -> tuple[Place, str] | None:
    """Return the place and the value with the placeholder that causes an error, in the TrainJob or in its runtime."""
    if diagnostic.severity != "error":
        return None
    place = diagnostic.place
    if not isinstance(place, Place) or not _SHELL.isdisjoint(place.path):
        return None
    value = place.path[-1] if place.key and place.path else get(place.document.value, place.path)
    # A key such as `$patch` is a directive of a strategic merge patch.
    if isinstance(value, str) and (_BLOCK if place.key else _PLACEHOLDER).search(value):
        return place, value
    return None


def _helm_object(document: Document) -> tuple[Place, str] | None:
    """Return the first string of a document with an object of Helm, outside of commands and arguments."""
    strings = _strings(document.value, without=_SHELL - {"env"})
    return next(((Place(document, path), value) for path, value in strings if _OF_HELM.search(value)), None)


def _strings(tree: object, *, without: frozenset[str]) -> Iterator[tuple[Path, str]]:
    """Yield the strings of a document in order with their paths, up to a limit; leave out the fields `without`."""
    pending: list[tuple[Path, object]] = [((), tree)]
    for _ in range(_MOST_VALUES):
        if not pending:
            return
        path, value = pending.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            pending += [((*path, key), below) for key, below in reversed(value.items()) if key not in without]
        elif isinstance(value, list):
            pending += [((*path, index), value[index]) for index in reversed(range(len(value)))]


def _not_rendered(causes: Sequence[tuple[Place, str]]) -> Diagnostic:
    """Return the diagnostic for a document, at its first placeholder."""
    place, value = causes[0]
    match = _PLACEHOLDER.search(value)
    assert match is not None
    strings = [value, *(text for _, text in _strings(place.document.value, without=_SHELL))]
    placeholders = list(dict.fromkeys(found[0] for text in strings for found in _PLACEHOLDER.finditer(text)))
    found = _diagnostic(place.document.file, placeholders, place)._replace(place=_placeholder(place, match))
    return _template_note(found) if place.document.unedited.get("kind") == JOBSET.kind else found


def _template_note(diagnostic: Diagnostic) -> Diagnostic:
    """Return the note in place of the error for a template of a JobSet, which another tool renders."""
    rest = diagnostic.message.removeprefix(_MESSAGE)
    help = diagnostic.help.replace("trainc build -", "trainc validate -")
    return diagnostic._replace(severity="note", message=f"the JobSet is not checked{rest}", help=help)


def _placeholder(place: Place, match: re.Match[str]) -> Place:
    """Return the place of the first placeholder in a value, which settings may have made longer than its source."""
    if place.key:
        return place
    source = place.in_text()
    value = get(source.document.value, source.path)
    if isinstance(value, str) and (there := _PLACEHOLDER.search(value)) is not None:
        return source._replace(part=there.span())
    return place._replace(part=match.span())


def _diagnostic(file: str, placeholders: Sequence[str], place: Place | Location) -> Diagnostic:
    more = len(placeholders) - 1
    others = f" (and {more} more)" if more else ""
    shown = placeholders[0] if len(placeholders[0]) <= _LONGEST else f"{placeholders[0][:_LONGEST]}..."
    subject = ObjectId.from_source(place.document.value) if isinstance(place, Place) else ObjectId()
    message = f"{_MESSAGE}: `{shown}` is a placeholder{others}"
    return Diagnostic.declared(TEMPLATE_NOT_RENDERED, message, _hint(file, placeholders), object=subject, place=place)


def _hint(file: str, placeholders: Sequence[str]) -> str:
    """Return the command that renders a file."""
    text, chart = " ".join(placeholders), _chart(file)
    path = "FILE" if file == "-" else shlex.quote(file)
    if "cookiecutter" in text:
        return "create the project with cookiecutter, and compile its files"
    if chart or _OF_HELM.search(text):
        return f"render the chart: `helm template {shlex.quote(chart) if chart else 'CHART'} | trainc build -`"
    if _OF_GO.search(text) and "{%" not in text:
        return "render it with the program that fills in its Go templates, and give the result to `trainc build -`"
    if "{{" in text or "{%" in text:
        return f"render it with its tool, for example `jinja2 {path} | trainc build -`"
    names = [match[1] or match[2] for each in placeholders if (match := _VARIABLE.fullmatch(each))]
    if names:
        variables = " ".join(f"${name}" for name in names)
        return f"set the variables and render the file: `envsubst '{variables}' < {path} | trainc build -`"
    return "replace it with a value"


def _chart(file: str) -> str:
    """Return the folder of the chart that a file is a template of by its path, or an empty string.

    >>> _chart("charts/train/templates/jobs/job.yaml"), _chart("templates/job.yaml"), _chart("jobs/job.yaml")
    ('charts/train', '.', '')
    """
    folders = PurePosixPath(file).parts[:-1]
    if _OF_CHART not in folders:
        return ""
    index = len(folders) - 1 - folders[::-1].index(_OF_CHART)
    return str(PurePosixPath(*folders[:index])) if index else "."


def chart_of(file: str, revision: str = "") -> str:
    """Return the nearest folder above a file with a Chart.yaml, or an empty string.

    For a file of a commit, the folder follows from the path.
    """
    return _chart(file.removeprefix(revision)) if revision else _nearest_chart(os.path.dirname(file))


def _nearest_chart(folder: str) -> str:
    for level in range(folder.count("/") + _MOST_ABOVE):
        at = os.path.normpath(os.path.join(folder, *[os.pardir] * level))
        if os.path.isfile(os.path.join(at, CHART)):
            return at
        if os.path.ismount(at) or os.path.lexists(os.path.join(at, ".git")):
            return ""
    return ""


def chart_note(diagnostic: Diagnostic, chart: str) -> Diagnostic:
    """Return the note in place of the error for a template of a chart."""
    help = f"render the chart: `helm template {shlex.quote(chart)} | trainc validate -`"
    _, colon, rest = diagnostic.message.partition(": ")
    message = f"the templates of the chart are not checked{colon}{rest}"
    return diagnostic._replace(severity="note", message=message, help=help)


def placeholder(document: Document) -> Diagnostic | None:
    """Return the diagnostic for a document that is a template; None without a placeholder of a template's language."""
    strings = _strings(document.value, without=_SHELL)
    cause = next(((Place(document, path), value) for path, value in strings if _BLOCK.search(value)), None)
    cause = cause or _helm_object(document)
    return None if cause is None else _not_rendered([cause])
