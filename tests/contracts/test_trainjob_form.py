"""The form of a TrainJob has its own name: no module names it, or asks for it, by the word of a release."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from trainc.base.trainjob_dialects import DIALECTS

PACKAGE = Path(__file__).parents[2] / "compiler" / "trainc"
MODULES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
ROWS = {"base/trainjob_dialects.py", "base/releases.py", "base/behaviours.py"}
"""The modules that have the rows."""
KEYS = frozenset(row.key for row in DIALECTS.values() if not row.has_module)
"""The dialects that a release writes: the form could be confused with them."""
NAMED = re.compile(r"\bv2\.\d+ (?:form|field)s?\b|\bform of (?:Trainer )?v2\.\d+")


def texts(module: str) -> list[str]:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@pytest.mark.parametrize("module", [module for module in MODULES if module not in ROWS])
def test_no_module_names_the_form_by_a_release(module: str) -> None:
    found = texts(module)
    assert [text for text in found if text in KEYS] == []
    assert [match[0] for text in found for match in NAMED.finditer(text)] == []


def test_the_words_are_found() -> None:
    assert "v2.3" in KEYS
    assert NAMED.search("its v2.3 form")
    assert NAMED.search("in the form of v2.3")
    assert not NAMED.search("Trainer v2.3 rejects it")
