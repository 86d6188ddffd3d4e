"""The form of a TrainJob has its own name, and its fields have their names in one module.

No module names the form, or asks for it, by the word of a release.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from pathlib import Path

import pytest

from trainc.base.trainjob_dialects import DIALECTS, PROCESSES_FIELD

PACKAGE = Path(__file__).parents[2] / "compiler" / "trainc"
SOURCES = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
ROWS = {"base/trainjob_dialects.py", "base/releases.py"}
"""The modules that have the rows."""
KEYS = frozenset(row.key for row in DIALECTS.values() if not row.has_overrides)
"""The dialects that a release writes: the form could be confused with them."""
IDENTIFIER = re.compile(r"v[2-9]_\d+")
RELEASE = re.compile(r"[vV][2-9][_.]\d")
"""Each of these words has it."""
OF_OLDER = {"_targets_of_v2_0"}
"""The function for a rule of one older release."""
NAMED = re.compile(r"\bv2\.\d+ (?:form|field)s?\b|\bform of (?:Trainer )?v2\.\d+")


def words_of_releases(source: str) -> list[str]:
    """Return the texts and names of a module that use the word of a release as the name of the form."""
    if RELEASE.search(source) is None:  # most modules: parsing takes seconds
        return []
    tree = ast.parse(source)
    found = [text for text in texts(tree) if text in KEYS]
    found += [match[0] for text in texts(tree) for match in NAMED.finditer(text)]
    return found + [name for name in names(tree) if IDENTIFIER.search(name.lower()) and name not in OF_OLDER]


def fields_of_the_form(source: str) -> list[str]:
    """Return the texts of a module, without its docstrings, that have the name of the form's renamed field."""
    if PROCESSES_FIELD not in source:
        return []
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [text for text in texts(tree, documentation) if PROCESSES_FIELD in text]


def texts(tree: ast.Module, without: Set[int] = frozenset()) -> list[str]:
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in without]
    return [node.value for node in constants if isinstance(node.value, str)]


def names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name):
            yield node.id


def test_no_module_names_the_form_by_a_release() -> None:
    found = {module: words_of_releases(text) for module, text in SOURCES.items() if module not in ROWS}
    assert {module: words for module, words in found.items() if words} == {}


def test_a_field_of_the_form_is_named_once() -> None:
    # The language server has only the public names, and answers about the text as it is written.
    modules = {module: text for module, text in SOURCES.items() if module not in ROWS and not module.startswith("lsp/")}
    found = {module: fields_of_the_form(text) for module, text in modules.items()}
    assert {module: fields for module, fields in found.items() if fields} == {}


@pytest.mark.parametrize(
    "source",
    [
        'is_form = plan.release.dialect == "v2.3"',
        'help = "use runtimePatches, its v2.3 form"',
        '"""Convert a TrainJob to the form of v2.3."""',
        "def conform_v2_3(plan): ...",
        "V2_3_FORM = DIALECTS",
    ],
)
def test_the_word_of_a_release_is_found(source: str) -> None:
    assert len(words_of_releases(source)) == 1


@pytest.mark.parametrize(
    "source",
    ['plan.job.trainer.get("numProcPerNode")', 'f"numProcPerNode must be at least 1, not {count}"'],
)
def test_a_field_of_the_form_is_found(source: str) -> None:
    assert len(fields_of_the_form(source)) == 1


@pytest.mark.parametrize("source", ['message = "Trainer v2.3 rejects it"', '"""Return numProcPerNode."""'])
def test_other_words_are_no_names_of_the_form(source: str) -> None:
    assert words_of_releases(source) == fields_of_the_form(source) == []
