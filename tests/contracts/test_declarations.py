"""Every id is declared once, in the module that yields it, and the catalogue lists that module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from trainc.catalogue import BY, MODULES, entries
from trainc.checks import Check
from trainc.declarations import PHASES, Declaration
from trainc.lint.triggers import ELSEWHERE, RULES

PACKAGE = Path(__file__).parents[2] / "compiler" / "trainc"
ENTRIES = entries()
ID = re.compile(r"[a-z][a-z0-9-]*")
"""The syntax of an id, which message texts do not match."""


def name_of(path: Path) -> str:
    return ".".join(("trainc", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


SOURCES = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
"""All modules of trainc."""


class Constant(NamedTuple):
    """A declaration that is a module constant."""

    module: str
    name: str
    id: str


def called(node: ast.AST) -> str:
    """Return the name of the called function; empty for a node that is not a call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def texts(nodes: Iterable[ast.AST | None]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def declared_in(tree: ast.AST) -> list[str]:
    """Return the ids that a module declares."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) in ("Declaration", "check"))
    return [id for call in calls for id in texts(call.args[:1])]


def constants_of(module: str, tree: ast.Module) -> Iterator[Constant]:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and called(node.value or node):
            value = getattr(import_module(module), node.target.id)
            if isinstance(value, Declaration):
                yield Constant(module, node.target.id, value.id)


DECLARED = {name: ids for name, tree in SOURCES.items() if (ids := declared_in(tree))}
CONSTANTS = [constant for name in DECLARED for constant in constants_of(name, SOURCES[name])]


def test_every_id_is_declared_once() -> None:
    assert sorted(id for ids in DECLARED.values() for id in ids) == list(ENTRIES)


def test_the_catalogue_lists_the_modules_that_declare_and_no_other() -> None:
    assert list(MODULES) == sorted(DECLARED)


def test_a_declaration_is_a_constant_or_a_check() -> None:
    checks = [
        value.declared.id
        for name in MODULES
        for value in vars(import_module(name)).values()
        if isinstance(value, Check) and value.find.__module__ == name
    ]
    assert sorted([*checks, *(constant.id for constant in CONSTANTS)]) == list(ENTRIES)


def handed_on(module: str, tree: ast.AST) -> Iterator[str]:
    """Return the full names that a module uses, except to read an attribute such as `.id`."""
    imports = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    read = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if id(node) in read:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield imports.get(node.id, f"{module}.{node.id}")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imports:
            yield f"{imports[node.value.id]}.{node.attr}"


USED = {name for module, tree in SOURCES.items() for name in handed_on(module, tree)}


def test_a_constant_has_the_name_of_its_id() -> None:
    assert [constant for constant in CONSTANTS if constant.name != constant.id.upper().replace("-", "_")] == []


@pytest.mark.parametrize("constant", [pytest.param(constant, id=constant.id) for constant in CONSTANTS])
def test_a_declaration_is_yielded(constant: Constant) -> None:
    assert f"{constant.module}.{constant.name}" in USED


def test_no_id_is_written_instead_of_a_declaration() -> None:
    found = {name: [text for text in bare(tree) if ID.fullmatch(text)] for name, tree in SOURCES.items()}
    assert {name: ids for name, ids in found.items() if ids} == {}


def bare(tree: ast.AST) -> Iterator[str]:
    """Return the expressions that a module passes as `id` or `rule`, by keyword or position, and such defaults."""
    places = {"Diagnostic": 0, "Violation": 2}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name != "check":
            for index, argument in enumerate(node.args.args):
                if argument.arg in ("id", "rule"):
                    places[node.name] = index
            defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            yield from texts(default for argument, default in defaults if argument.arg in ("id", "rule"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from texts(keyword.value for keyword in node.keywords if keyword.arg in ("id", "rule"))
            if called(node) in places:
                yield from texts(node.args[places[called(node)] :][:1])


def test_a_rule_of_lint_is_trainc_alone() -> None:
    lint = {id: declared.own for id, declared in ENTRIES.items() if declared.phases == ("lint",)}
    assert lint == dict.fromkeys(RULES, True) | dict.fromkeys(ELSEWHERE, False)


def test_every_phase_has_a_description() -> None:
    assert tuple(BY) == PHASES
