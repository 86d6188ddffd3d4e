"""The layout of the repository: what the documentation and the tests say about files and packages."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from contracts.recipes import TEXTS
from contracts.steps import Tree, parsed, walk

from trainc.cli.graph import FORMATS as GRAPHS
from trainc.pipeline.checks import Check

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "compiler" / "trainc"
CHECKS = [
    pytest.param(getattr(import_module(each.module), each.name), id=each.id)
    for each in Tree(ROOT).declared
    if each.is_check
]


def modules(folder: Path) -> set[str]:
    """Return the names of a folder's modules and packages."""
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return ({path.stem for path in folder.glob("*.py")} | packages) - {"__init__"}


def test_each_format_of_a_graph_has_a_file_and_an_entry() -> None:
    assert modules(PACKAGE / "explain" / "graph") == set(GRAPHS)
    page = (ROOT / "docs" / "commands" / "graph.md").read_text()
    assert [form for form in GRAPHS if f"`{form}`" not in page] == []


def test_no_module_compares_a_framework_with_its_name() -> None:
    """Checks and lint rules read `Traits`. The frameworks of Training Operator v1.9 are those of a release."""
    compared = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for node in walk(parsed(path.read_text()))
        if isinstance(node, ast.Compare)
        if any(isinstance(part, ast.Attribute) and part.attr == "framework" for part in (node.left, *node.comparators))
        if any(isinstance(part, ast.Constant | ast.Name) for part in (node.left, *node.comparators))
    }
    assert compared == {"pipeline/training_operator.py"}


def test_the_gallery_shows_every_golden_case() -> None:
    script = ROOT / "scripts" / "make_gallery.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_difference_has_an_existing_golden_case() -> None:
    text = (ROOT / "docs" / "differences.md").read_text()
    entries = re.findall(r"^### `[a-z-]+`\n\n((?:[- ] .+\n)+)", text, re.MULTILINE)
    assert len(entries) == text.count("\n### ")
    for entry in entries:
        labels = re.findall(r"^- \*\*(\w+):\*\*", entry, re.MULTILINE)
        assert labels == ["Controller", "trainc", "Reason", "Case"], entry
        case = entry.rpartition("golden/")[2].partition(")")[0]
        assert (ROOT / "golden" / case / "input.yaml").exists(), entry


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_states_its_rule(check: Check[...]) -> None:
    docstring = check.find.__doc__ or ""
    assert docstring.strip()
    assert "Wrong:" not in docstring, "examples are in diagnostics/<id>.md"


def test_each_recipe_names_a_file_to_copy_from() -> None:
    assert [title for title, recipe in TEXTS.items() if "copy from `" not in recipe.lower()] == []


def test_the_files_that_the_recipes_copy_from_are_there() -> None:
    sentences = re.findall(r"[Cc]opy from (.*?)(?:[.:,)]\s|$)", " ".join(TEXTS.values()))
    files = [name for said in sentences for name in re.findall(r"`([^`]+)`", said) if "/" in name or "." in name]
    tests = (ROOT / "tests" / "unit", ROOT / "tests" / "e2e")
    folders = (ROOT, PACKAGE, *tests, ROOT / "schemas" / "extensions", ROOT / "diagnostics")
    assert [name for name in files if not any((folder / name).exists() for folder in folders)] == []


def test_make_test_runs_every_folder_of_tests_but_those_with_programs_of_their_own() -> None:
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["testpaths"]
    there = {f"tests/{path.name}" for path in (ROOT / "tests").iterdir() if any(path.rglob("test_*.py"))}
    assert set(said) == there - {"tests/cluster", "tests/e2e", "tests/release", "tests/site", "tests/vscode"}


def test_the_architecture_page_lists_the_layers_that_the_linter_enforces() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    enforced = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    table = (ROOT / "docs" / "architecture.md").read_text().partition("| layer | contents |")[2].partition("\n\n")[0]
    described = [sorted(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines()[2:]]
    assert described == [sorted(layer.split(" | ")) for layer in enforced if layer != "__main__"]


def test_the_top_level_has_at_most_27_packages() -> None:
    assert len(modules(PACKAGE) - {"__main__", "trainc"}) <= 27
