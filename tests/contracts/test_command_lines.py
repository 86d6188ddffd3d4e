"""The fast parser of `build` and `validate` agrees with click, and leaves every other command line to it."""

from __future__ import annotations

import shlex
from importlib import import_module
from typing import Any

import click
import pytest
from running import run

from trainc.cli import HOT
from trainc.cli.common.arguments import Command
from trainc.cli.common.group import COMMANDS
from trainc.cli.runtimes import SUBCOMMANDS

EVERY_HELP = ((), *((name,) for name in COMMANDS), *(("runtimes", name) for name in SUBCOMMANDS), ("cmp", "generate"))

PLAIN = {
    "build": (
        "",
        "jobs/",
        "-",
        "a b c",
        "a -r b",
        "a -r b --runtimes c",
        "--runtimes=b a",
        "--project jobs",
        "a -o out",
        "a -o -",
        "a --output=out --check",
        "--output= a",
        "--output=a=b",
        "a -o one -o two",
        "--check a b --check",
        "a --format json",
        "a --format=yaml",
        "--only x --namespace=y -n z",
        "--strict --no-config",
        "--budget ci a --budget=unlimited",
        "--follow-links",
        "--exclude vendor/ a --exclude=*.tmpl.yaml",
        "-v a",
        "--verbose",
        "-q a",
        "--quiet",
        "--field-validation warn a",
        "--field-validation=ignore",
        "--config trainc.yaml",
        "--config=-",
        "--name-suffix-hash --argocd-replace --suspend --passthrough",
        "--legacy a",
        "''",
        "a '' b",
        "--only '' 'two words' '*'",
        "--only=--check",
        "-v a",
        "--verbose",
        "-q a",
        "--quiet",
        "--env dev",
        "--env=dev --env prod -o out",
    ),
    "validate": (
        "",
        "--env prod a",
        "jobs/",
        "a --format sarif b",
        "--among . jobs/a.yaml",
        "-r a -n b --name-suffix-hash",
        "a -v",
        "--legacy",
        "a --fix",
        "--fix --unsafe-fixes --diff",
        "jobs --fix --check",
    ),
}
OF_CLICK = {
    "build": (
        "--help",
        "a -h",
        "-- a",
        "a -- -b",
        "--unknown",
        "--outpu x",
        "-oout",
        "-o",
        "a --only",
        "a -o --check",
        "-r=a",
        "-o=out",
        "--check=yes",
        "--format toml",
        "--format=",
        "--format YAML",
        "--field-validation=Strict",
        "--report json=file",
        "--gang volcano",
        "--trainer-version 2.2 a",
        "--kueue-version 0.19 a",
        "--trainer-version=2.5",
        "-x",
        "---",
    ),
    "validate": ("--version", "--format table", "--among", "--report=json=file", "--no-strict"),
}


def command(name: str) -> Command:
    """Return the command with that name."""
    found = import_module(f"trainc.cli.{name}").command
    assert isinstance(found, Command)
    return found


def by_click(name: str, words: list[str]) -> dict[str, Any]:
    """Return the arguments of the command's function as click parses them."""
    read = command(name).click_command()
    with read.make_context(name, list(words)) as context:
        assert isinstance(context, click.Context)
        return dict(context.params)


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in PLAIN.items() for line in lines])
def test_both_read_the_same(name: str, line: str) -> None:
    words = shlex.split(line)
    assert command(name).read(words) == by_click(name, words)


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in OF_CLICK.items() for line in lines])
def test_the_rest_is_left_to_click(name: str, line: str) -> None:
    assert command(name).read(shlex.split(line)) is None


def test_every_hot_command_is_covered() -> None:
    assert PLAIN.keys() == OF_CLICK.keys() == set(HOT)


def test_every_option_is_covered() -> None:
    lines = " ".join(line for lines in (*PLAIN.values(), *OF_CLICK.values()) for line in lines)
    flags = {max(parameter.opts, key=len) for name in HOT for parameter in command(name).click_command().params}
    assert {flag for flag in flags if flag.startswith("--") and flag not in lines} == set()


@pytest.mark.parametrize("words", EVERY_HELP, ids=" ".join)
def test_no_line_of_help_is_longer_than_80_columns(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = run(*words, "--help")
    assert done.code == 0
    assert [line for line in done.out.splitlines() if len(line) > 80] == []


def test_the_options_of_a_command_are_first() -> None:
    sections = [line for line in run("validate", "--help").out.splitlines() if line.endswith(":") and line[0] != " "]
    assert sections == ["Options:", "Input:", "Settings of trainc.yaml:", "Report:"]
