"""`trainc settings`: the effective settings of a project or an environment, each with its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.cli.common import OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.compilation import Run
    from trainc.diagnostics import Diagnostic
    from trainc.settings import Settings
    from trainc.settings.effective import SettingEntry
    from trainc.settings.model import Flags

WIDEST: Final = 60
"""The maximum width of the values' column; the source of a longer line follows it after two spaces."""
EPILOG = """\b
Examples:
  trainc settings                          the settings, for every environment
  trainc settings --env prod               only those of one environment
  trainc settings --env prod --format json | jq '.[0].settings[].key'
"""


@options.with_options
def show(run: Run, form: str) -> int:
    """Show the effective settings of the project of PATH, each with the line, option or default that sets it.

    The other options are those of build and validate: they override trainc.yaml.
    """
    from trainc.settings import in_environment, with_flags
    from trainc.settings.effective import entries

    paths = run.paths
    run = run.with_project(paths)
    flags: Flags = {**run.flags, ("sources",): paths} if paths else run.flags
    settings = with_flags(run.settings, flags)
    names = dict.fromkeys(run.options.environments) or settings.environment_names
    selected = [in_environment(settings, name, flags) for name in names] or [settings]
    if wrong := _without_repetitions(selected):
        printing.report_text(wrong)
        return WRONG_INPUT
    found = [(each.environment_name, list(entries(each, flags))) for each in selected]
    printing.write(_json(found) if form == "json" else "---\n".join(_yaml(name, listed) for name, listed in found))
    return OK


def _without_repetitions(selected: Iterable[Settings]) -> list[Diagnostic]:
    """Return the faults of some environments; those of the file are the same in each."""
    found: list[Diagnostic] = []
    for each in selected:
        found += (diagnostic for diagnostic in each.diagnostics if diagnostic not in found)
    return found


def _json(listings: Sequence[tuple[str, Iterable[SettingEntry]]]) -> str:
    """Return the settings of each environment as JSON; the environment is null for a project without environments."""
    import json

    from trainc.base.texts import escape_json

    listed = [
        {"environment": name or None, "settings": [_fields(each) for each in entries]} for name, entries in listings
    ]
    return escape_json(json.dumps(listed, indent=2, ensure_ascii=False)) + "\n"


def _fields(entry: SettingEntry) -> dict[str, Any]:
    from trainc.kubernetes.violations import field_of

    at = entry.location
    return {
        "key": field_of(entry.path),
        "value": entry.value,
        "layer": entry.layer,
        "flag": entry.flag or None,
        "file": None if at is None else at.file,
        "line": None if at is None else at.line,
        "column": None if at is None else at.column,
        **(
            {"lower": [{"file": at.file, "line": at.line, "column": at.column} for at in entry.lower]}
            if entry.lower
            else {}
        ),
    }


def _yaml(name: str, listed: Iterable[SettingEntry]) -> str:
    """Return the settings as YAML, with the source of each value as a comment."""
    from trainc.base.texts import escape

    rows = list(_rows(listed))
    width = max(len(text) for text, _ in rows if len(text) <= WIDEST)
    lines = [f"{text:{width}}  # {escape(source)}" if source else text for text, source in rows]
    return "\n".join([*([f"# environment {escape(name)}"] if name else []), *lines, ""])


def _rows(listed: Iterable[SettingEntry]) -> Iterator[tuple[str, str]]:
    """Yield the lines of YAML with their sources; the source of a line without a value is empty."""
    above: tuple[str | int, ...] = ()
    for entry in listed:
        is_item = isinstance(entry.path[-1], int)
        parents = entry.path[:-1]
        for depth, step in enumerate(parents):
            if above[: depth + 1] != parents[: depth + 1]:
                yield f"{_indent(depth)}{_key(str(step))}", ""
        above = entry.path
        depth = len(parents) - is_item
        first, *more = _text(entry.value, item=is_item, key=str(entry.path[-1]))
        yield f"{_indent(depth)}{first}", entry.source
        yield from ((f"{_indent(depth)}{line}", "") for line in more)


def _indent(depth: int) -> str:
    return "  " * depth


def _key(name: str) -> str:
    """Return a key that YAML parsers read as a string."""
    return _text(None, item=False, key=name)[0].removesuffix(" null")


def _text(value: Any, *, item: bool, key: str) -> list[str]:
    """Return the lines of a value after its key, or as an item of a list.

    A line that a terminal or a pipeline would obey is escaped: key and value are then in double quotes, as in JSON.
    """
    from trainc.base.texts import escape
    from trainc.emit.yaml import Writer

    writer = Writer(as_given=True)
    lines = writer.part([value] if item else {key: value}).removesuffix("\n").split("\n")
    if all(escape(line) == line for line in lines):
        return lines
    import json

    name, shown = (escape(json.dumps(part, ensure_ascii=False)) for part in (key, value))
    return [f"- {shown}" if item else f"{name}: {shown}"]


command = Command(
    show,
    (
        options.PATHS,
        options.RUNTIMES,
        options.ENVIRONMENTS,
        options.format_option("Output format. Default: yaml.", ("yaml", "json")),
        *options.SETTINGS,
        *options.DELIVERY,
        options.PASSTHROUGH,
    ),
    short_help="Show the effective settings and their sources.",
    epilog=EPILOG,
)
