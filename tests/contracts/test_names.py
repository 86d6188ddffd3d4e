"""Names: one name for one thing, and functions that say what they return or do.

Reads    all Python files of compiler/, tests/, scripts/ and bench/.
Reports  each name with its file and line.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from trainc.cli.common.group import COMMANDS
from trainc.cli.common.options import REPORTS, REVIEWS
from trainc.emit import FORMATS
from trainc.pipeline.frameworks import FRAMEWORKS, LEGACY
from trainc.pipeline.schedulers import SCHEDULERS
from trainc.pipeline.stages import STAGES

ROOT: Final = Path(__file__).parents[2]
COMPILER: Final = ROOT / "compiler" / "trainc"
FOLDERS: Final = ("compiler", "tests", "scripts", "bench")
KEYS: Final = frozenset((*COMMANDS, *REPORTS, *REVIEWS, *FORMATS, *FRAMEWORKS, *LEGACY, *SCHEDULERS, "mermaid"))
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


def parsed(folder: str) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield path, ast.parse(path.read_text())


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def at(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def test_no_two_public_classes_share_a_name() -> None:
    classes: dict[str, list[str]] = defaultdict(list)
    for path, tree in parsed("compiler"):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(at(path, node))
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
    uses = [
        at(path, node)
        for path, tree in parsed(folder)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        and any(parameter.arg == "found" for parameter in parameters(node))
    ]
    assert uses == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_function_says_what_it_returns_or_does(folder: str) -> None:
    names = [
        f"{at(path, node)}: {node.name}"
        for path, tree in parsed(folder)
        for node in functions(tree)
        if not node.name.endswith("__")
        and ((name := node.name.strip("_")) in QUALIFIERS or name == "of" or name.startswith("of_"))
    ]
    assert names == []


def test_a_predicate_returns_a_boolean() -> None:
    others = [
        f"{at(path, node)}: {node.name}"
        for path, tree in parsed("compiler")
        for node in functions(tree)
        if PREDICATE.match(node.name) and (node.returns is None or ast.unparse(node.returns) != "bool")
    ]
    assert others == []
