"""Names: one name for one thing, and functions that say what they return or do.

Reads    all Python files of compiler/, tests/, scripts/ and bench/.
Reports  each name with its file and line.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from contracts.steps import walk

from trainc.base.kinds import LEGACY
from trainc.cli.common.group import COMMANDS
from trainc.cli.common.options import REPORTS, REVIEWS
from trainc.emit import FORMATS
from trainc.pipeline.frameworks import FRAMEWORKS
from trainc.pipeline.schedulers import SCHEDULERS
from trainc.pipeline.stages import STAGES

ROOT: Final = Path(__file__).parents[2]
COMPILER: Final = ROOT / "compiler" / "trainc"
FOLDERS: Final = ("compiler", "tests", "scripts", "bench")
KEYS: Final = frozenset(
    (*COMMANDS, *REPORTS, *REVIEWS, *FORMATS, *FRAMEWORKS, *SCHEDULERS, "mermaid", *(row.framework for row in LEGACY))
)
"""File names that are keys: of a command, a format, a framework or a scheduler."""
QUALIFIERS: Final = frozenset(
    """
    above absolute after alike alone also another apart around before below beside between brief broken current
    differing distinct each earlier elsewhere enclosing everything everywhere exclusive finite first fitting
    fixed fresh full further immutable incomplete inner inside instead kept larger largest late leading less
    like longer longest made making meant missing mixed near nearest needed next nothing odd old older once one
    opaque optional others ours outermost outside own partial plain plus quiet real recursive related relative
    required reserved retired said same saying several short since single sized stale standing strictly
    suspicious there together told twice unchanged unique unknown unmatched untolerated unused unusable
    unwritable usable versioned wanted where whole within without worst
    """.split()  # noqa: SIM905
)
"""Adjectives and adverbs. Alone, they do not say what a function returns or does."""
PREDICATE: Final = re.compile("_?(is|has|are|can)_")


class Definition(NamedTuple):
    """A class, a function or a lambda, which has no name."""

    place: str
    node: type[ast.AST]
    name: str
    parameters: tuple[str, ...] = ()
    returns: str = ""
    is_top: bool = False


@cache
def definitions(folder: str) -> list[Definition]:
    """Return all definitions in a folder. The syntax trees, 2 million nodes, are not kept."""
    return [each for path in sorted((ROOT / folder).rglob("*.py")) for each in definitions_of_file(path)]


def definitions_of_file(path: Path) -> Iterator[Definition]:
    tree = ast.parse(path.read_text())
    file = path.relative_to(ROOT)
    for node in walk(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        place = f"{file}:{node.lineno}"
        match node:
            case ast.ClassDef(name=name):
                yield Definition(place, ast.ClassDef, name, is_top=node in tree.body)
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                returns = ast.unparse(node.returns) if node.returns else ""
                yield Definition(place, ast.FunctionDef, name, parameters(args), returns)
            case ast.Lambda(args=args):
                yield Definition(place, ast.Lambda, "", parameters(args))


def parameters(arguments: ast.arguments) -> tuple[str, ...]:
    return tuple(each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def functions(folder: str) -> list[Definition]:
    return [each for each in definitions(folder) if each.node is ast.FunctionDef]


def test_no_two_public_classes_share_a_name() -> None:
    classes: dict[str, list[str]] = defaultdict(list)
    for each in definitions("compiler"):
        if each.is_top and not each.name.startswith("_"):
            classes[each.name].append(each.place)
    assert {name: places for name, places in classes.items() if len(places) > 1} == {}


def test_no_two_modules_share_a_name() -> None:
    stages = {stage.__name__ for stage in STAGES}
    modules: dict[str, list[str]] = defaultdict(list)
    for path in sorted(COMPILER.rglob("*.py")):
        module = path.parent if path.name == "__init__.py" else path
        if module.stem not in KEYS | stages and path.parent != COMPILER:
            modules[module.stem].append(str(module.relative_to(COMPILER)))
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_parameter_is_called_found(folder: str) -> None:
    assert [each.place for each in definitions(folder) if "found" in each.parameters] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_function_says_what_it_returns_or_does(folder: str) -> None:
    names = [
        f"{each.place}: {each.name}"
        for each in functions(folder)
        if not each.name.endswith("__")
        and ((name := each.name.strip("_")) in QUALIFIERS or name == "of" or name.startswith("of_"))
    ]
    assert names == []


def test_a_predicate_returns_a_boolean() -> None:
    others = [
        f"{each.place}: {each.name}"
        for each in functions("compiler")
        if PREDICATE.match(each.name) and each.returns != "bool"
    ]
    assert others == []
