"""Declarations: a constant or a check of a module, never an id as text. test_recipes.py has the other rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import make_diagnostics
from contracts.steps import Tree, called, parsed, walk
from declared import ENTRIES

from trainc.base.data import declared_in
from trainc.base.declarations import PHASES

TREE = Tree(Path(__file__).parents[2])
ID = re.compile(r"[a-z][a-z0-9-]*")
"""The syntax of an id, which message texts do not match."""


def texts(nodes: Iterable[ast.AST | None]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_a_declaration_is_a_constant_or_a_check() -> None:
    assert sorted(each.id for each in TREE.declared) == sorted(make_diagnostics.declared_in(TREE.root))


def test_a_constant_has_the_name_of_its_id() -> None:
    constants = [each for each in TREE.declared if not each.is_check]
    assert [each for each in constants if each.name != each.id.upper().replace("-", "_")] == []


def test_no_id_is_written_instead_of_a_declaration() -> None:
    sources = {module: parsed(TREE.read(path)) for module, path in TREE.sources.items()}
    found = {name: [text for text in bare(tree) if ID.fullmatch(text)] for name, tree in sources.items()}
    assert {name: ids for name, ids in found.items() if ids} == {}


def bare(tree: ast.AST) -> Iterator[str]:
    """Return the expressions that a module passes as `id` or `rule`, by keyword or position, and such defaults."""
    places = {"Diagnostic": 0, "Violation": 2}
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name != "check":
            for index, argument in enumerate(node.args.args):
                if argument.arg in ("id", "rule"):
                    places[node.name] = index
            defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            yield from texts(default for argument, default in defaults if argument.arg in ("id", "rule"))
    for node in walk(tree):
        if isinstance(node, ast.Call):
            yield from texts(keyword.value for keyword in node.keywords if keyword.arg in ("id", "rule"))
            if called(node) in places:
                yield from texts(node.args[places[called(node)] :][:1])


def test_a_rule_of_lint_is_trainc_alone() -> None:
    lint = {id: declared.trainc_only for id, declared in ENTRIES.items() if declared.phases == ("lint",)}
    assert lint == {id: declared_in()[id].startswith("trainc.pipeline.lint.") for id in lint}


def test_every_phase_has_a_description() -> None:
    assert tuple(make_diagnostics.BY) == tuple(make_diagnostics.HEADINGS) == PHASES
