"""The pages are correct beside their examples: command lines in prose, links, tables, lengths, names of code."""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence, Set
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final

import click
import pytest
from pages import PAGES, ROOT, SYNOPSIS, Section, anchors, links, sections, spans

import trainc
from trainc.cli.common.group import COMMANDS, cli
from trainc.pipeline.stages import STAGES

PACKAGE: Final = ROOT / "compiler" / "trainc"
INDEX: Final = "docs/README.md"
REFERENCE: Final = frozenset(
    posixpath.normpath(f"docs/{target.partition('#')[0]}")
    for section in sections(INDEX)
    if section.title == "Reference"
    for _, target in links(section)
)
"""The pages that readers search instead of reading them."""
MOST_LINES: Final = {"README.md": 110}
MOST_WORDS: Final = 40
"""The maximum number of words in a cell of a table; more are a list or a section."""
LINE: Final = re.compile(rf"(?:^|\b)trainc (?P<words>(?:{'|'.join(COMMANDS)})\b[^|<>&;)\n]*)")
"""A command line within a text."""
WHOLE: Final = re.compile(r"trainc (?P<words>[a-z][^<>&;]*?)(?: {2,}.*| [|<>&;].*)?")
"""A command line that is a code span, or a line of an indented block, in which a description follows it."""
OTHER_OPTIONS: Final = {
    "kubectl": ("--force-conflicts",),
    "paddle.distributed.launch": ("--host", "--rank"),
    "programs in a job": ("--password",),
    "the operators of legacy jobs": ("--gang-scheduler-name",),
    "the plugins of Volcano": ("--ps", "--worker", "--chief", "--evaluator", "--port"),
    "torchrun": ("--nnodes", "--node-rank", "--rdzv_endpoint"),
}
"""The options of other programs that code spans name."""


def resolved(words: Sequence[str]) -> tuple[click.Command, list[str]]:
    """Return the command of a command line, and its arguments."""
    context = click.Context(cli)
    found = cli.get_command(context, words[0])
    if found is None:
        raise click.UsageError(f"No such command {words[0]}")
    if isinstance(found, click.Group):
        inner = found.get_command(context, (*words, "")[1])
        return inner or found, [*words[2:]]
    return found, [*words[1:]]


def leaves() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command; those of its subcommands, if it has any."""
    context = click.Context(cli)
    for name in COMMANDS:
        found = cli.get_command(context, name)
        inner = found.list_commands(context) if isinstance(found, click.Group) else ()
        yield from ((name, each) for each in inner) if inner else ((name,),)


def fault(line: str) -> str:
    """Return why trainc would reject a command line; empty if it would not. A word in capitals is any value."""
    try:
        found, words = resolved(shlex.split(re.sub(r"\.\.\.|[\[\]]", "", line)))
        # click keeps the help option of a command, so that the context has the settings of the whole program.
        given, _, _ = found.make_parser(click.Context(found, **cli.context_settings)).parse_args(words)
    except click.UsageError as error:
        return error.format_message()
    for parameter in found.params:
        values = given.get(parameter.name)
        for value in values if isinstance(values, list) else [values] if isinstance(values, str) else []:
            known = getattr(parameter.type, "choices", None)
            if known and isinstance(parameter, click.Option) and not (value in known or value.isupper()):
                return f"{parameter.opts[-1]} {value}: use {', '.join(known)}"
    return ""


def command_lines(section: Section) -> Iterator[tuple[int, str]]:
    """Yield the command lines of a section: in code spans and blocks."""
    for number, span in spans(section):
        if match := WHOLE.fullmatch(span) or LINE.search(span):
            yield number, match["words"]
    for block in section.blocks:
        lines = block.text.replace("\\\n", " ").splitlines()
        if block.language != SYNOPSIS:
            yield from ((block.line, match["words"]) for line in lines if (match := LINE.search(line)))
        else:
            shown = (WHOLE.fullmatch(line) for line in lines)
            yield from ((block.line, match["words"].replace("|", " ")) for match in shown if match)


def balanced(words: str) -> str:
    """Return a command line without the end that belongs to a string around it."""
    while words.count("'") % 2 or words.count('"') % 2:
        words = words[: max(words.rfind("'"), words.rfind('"'))]
    return words


@pytest.mark.parametrize("page", PAGES)
def test_command_lines(page: str) -> None:
    found = [
        f"{page}:{number}: trainc {words}: {wrong}"
        for section in sections(page)
        for number, words in command_lines(section)
        if (wrong := fault(balanced(words)))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [*leaves(), ("runtimes",), ("cmp",)], ids=" ".join)
def test_command_lines_in_the_help(name: tuple[str, ...]) -> None:
    for line in (resolved(name)[0].epilog or "").splitlines():
        for match in LINE.finditer(line):
            words, _, _ = balanced(match["words"]).partition("   ")
            assert fault(words) == "", line


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("build [PATH...] --env NAME -o DIR", "", id="placeholders"),
        pytest.param("validate --format FORMAT --report FORMAT=FILE", "", id="a placeholder for a choice"),
        pytest.param("runtimes pull --check", "", id="a subcommand"),
        pytest.param("bild jobs", "bild", id="an unknown command"),
        pytest.param("build --runtime jobs", "--runtime", id="an unknown option"),
        pytest.param("runtimes pull --wide", "--wide", id="an option of another subcommand"),
        pytest.param("build -o", "-o", id="a missing value"),
        pytest.param("build --format toml", "use yaml, json", id="an unknown choice"),
    ],
)
def test_a_fault(line: str, reason: str) -> None:
    found = fault(line)
    assert reason in found
    assert bool(found) is bool(reason)


@pytest.mark.parametrize("name", [*leaves()], ids=" ".join)
def test_the_page_of_a_command_has_its_help(name: tuple[str, ...]) -> None:
    page = f"docs/commands/{name[0]}.md"
    shown = [command for section in sections(page) for block in section.blocks for command, _ in block.commands()]
    assert f"trainc {' '.join(name)} --help" in shown


@pytest.mark.parametrize("page", PAGES)
def test_the_length_of_a_page(page: str) -> None:
    """Only a page of the reference is longer: the index lists them."""
    most = MOST_LINES.get(page, 300)
    assert page in REFERENCE or len((ROOT / page).read_text().splitlines()) <= most


def test_the_index_lists_every_page() -> None:
    """The pages of a folder, such as docs/commands, are those of an index of its own."""
    listed = {target.partition("#")[0] for section in sections(INDEX) for _, target in links(section)}
    there = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {target for target in listed if not target.startswith("../")} == there | {"commands/README.md"}


def test_the_index_of_commands_lists_every_command() -> None:
    listed = [target for section in sections("docs/commands/README.md") for _, target in links(section)]
    assert [name for name in COMMANDS if listed.count(f"{name}.md") != 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_links(page: str) -> None:
    folder = (ROOT / page).parent
    wrong = []
    for section in sections(page):
        for number, target in links(section):
            path, _, fragment = target.partition("#")
            file = (folder / path).resolve() if path else ROOT / page
            if "://" not in target and not (
                file.exists() and (not fragment or fragment in anchors(file.relative_to(ROOT).as_posix()))
            ):
                wrong.append(f"{page}:{number}: {target}")
    assert wrong == []


CELL: Final = re.compile(r"(?<!\\)\|")
SEPARATOR: Final = re.compile(r"\|(?: *:?-+:? *\|)+")


def tables(section: Section) -> Iterator[list[tuple[int, str]]]:
    """Yield the numbered rows of each table; Markdown takes rows without a header and a separator for a paragraph."""
    for is_row, lines in groupby(section.prose, lambda line: line[1].startswith("|")):
        if is_row:
            yield [*lines]


@pytest.mark.parametrize("page", PAGES)
def test_tables(page: str) -> None:
    """Each table has a separator, each row the cells of the header, and no cell is a paragraph."""
    wrong = []
    for table in (table for section in sections(page) for table in tables(section)):
        if len(table) < 3 or not SEPARATOR.fullmatch(table[1][1]):
            wrong.append(f"{page}:{table[0][0]}: no table")
        for number, row in table:
            cells = CELL.split(row)[1:-1]
            if len(cells) != len(CELL.split(table[0][1])[1:-1]):
                wrong.append(f"{page}:{number}: another number of cells than in the header")
            if max(len(cell.split()) for cell in cells) > MOST_WORDS:
                wrong.append(f"{page}:{number}: a cell of more than {MOST_WORDS} words")
    assert not wrong, "\n".join(wrong)


def options_of_trainc() -> Iterator[str]:
    """Yield the flags of all commands, with those that click adds."""
    yield from ("--help", "--version")
    for name in leaves():
        for parameter in resolved(name)[0].params:
            yield from parameter.opts


@pytest.mark.parametrize("page", PAGES)
def test_options(page: str) -> None:
    """A code span that begins with an option names one of trainc, or of another program in the table."""
    known = {*options_of_trainc(), *(each for options in OTHER_OPTIONS.values() for each in options)}
    wrong = [
        f"{page}:{number}: {span}"
        for section in sections(page)
        for number, span in spans(section)
        if (option := re.match(r"--[a-z][\w-]*", span)) and option[0] not in known
    ]
    assert not wrong, "\n".join(wrong)


def test_the_options_of_other_programs_are_needed() -> None:
    named = " ".join(span for page in PAGES for section in sections(page) for _, span in spans(section))
    assert [option for options in OTHER_OPTIONS.values() for option in options if option not in named] == []


@cache
def defined(file: Path) -> frozenset[str]:
    """Return the functions and classes of a module, and the methods as `Class.method`."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return frozenset(found)


def passages(page: str) -> Iterator[list[str]]:
    """Yield the code spans of each paragraph, list item and table row."""
    for section in sections(page):
        text = "\n".join(line for _, line in section.prose)
        for passage in re.split(r"\n\n|\n(?=- |\d+\. |\|)", text):
            yield [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", passage)]


def module(path: str) -> Path | None:
    """Return a file or folder of the package or of the repository; None if it does not exist."""
    return next((folder / path for folder in (PACKAGE, ROOT) if (folder / path).exists()), None)


def unknown_names(names: Sequence[str], classes: Set[str]) -> Iterator[str]:
    """Yield the code spans of a passage that name no code; a function `run()` is in a module that the passage names."""
    paths = {span: module(span) for span in names if re.fullmatch(r"[\w/.-]+(?:\.py|/)", span)}
    yield from (path for path, file in paths.items() if file is None)
    known = {name for file in paths.values() if file is not None and file.is_file() for name in defined(file)}
    for span in names:
        function = span.removesuffix("()")
        if function != span and function not in known and not hasattr(trainc, function.removeprefix("trainc.")):
            yield f"{span} is not in {', '.join(paths)}"
        if re.fullmatch(r"(?:[A-Z][a-z]+)+", span) and span not in classes:
            yield f"{span} is no class"


def test_the_architecture_page_names_existing_code() -> None:
    classes = {name for file in PACKAGE.rglob("*.py") for name in re.findall(r"^class (\w+)", file.read_text(), re.M)}
    wrong = [name for names in passages("docs/architecture.md") for name in unknown_names(names, classes)]
    assert not wrong, "\n".join(wrong)


def test_the_architecture_page_has_all_stages() -> None:
    (table,) = (
        table
        for section in sections("docs/architecture.md")
        for table in tables(section)
        if table[0][1].startswith("| stage |")
    )
    assert [row.split("`")[1] for _, row in table[2:]] == [stage.__name__ for stage in STAGES]
