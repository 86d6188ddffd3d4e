"""Every text of a diagnostic is in a report that the tests compare, so that no message changes unnoticed.

A text is a string of three words or more in a function of a module that makes diagnostics or their texts; the values of
an f-string are left out. The reports are the snapshots, the recorded outputs, the pages, and the strings of the tests.
`unreported.yaml` lists the texts in no report by the reason.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import yaml
from contracts.steps import parsed

from trainc.base.data import declared_in

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "compiler/trainc"
REPORTS: Final = ("diagnostics", "docs", "examples", "golden", "tests")
LISTED: Final = Path(__file__).with_name("unreported.yaml")
MAKES: Final = re.compile(r"Diagnostic\b|Violations?\b|Finding\b|violations\b")
SUFFIXES: Final = {".ambr", ".html", ".md", ".py", ".txt", ".yaml"}
WORD: Final = re.compile(r"[A-Za-z]{2,}")
HOLE: Final = "{}"


def strings(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of strings: each f-string as a whole, with HOLE for a value."""
    if isinstance(tree, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else HOLE for part in tree.values]
        yield "".join(map(str, parts))
        for part in tree.values:
            if isinstance(part, ast.FormattedValue):
                yield from strings(part.value)
    elif isinstance(tree, ast.Constant):
        if isinstance(tree.value, str):
            yield tree.value
    elif not isinstance(tree, ast.Assert | ast.Raise) and not (
        isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant)
    ):
        for child in ast.iter_child_nodes(tree):
            yield from strings(child)


def texts_of_diagnostics() -> dict[str, str]:
    """Return the texts of diagnostics, each with its module."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name, source = str(path.relative_to(PACKAGE)), path.read_text(encoding="utf-8")
        if not (MAKES.search(source) or name.endswith("messages.py")):
            continue
        for function in functions(parsed(source)):
            for statement in function.body:
                found |= {text: name for text in strings(statement) if len(WORD.findall(text)) > 2 and " " in text}
    return found


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yield the outermost functions of a module."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef):
            yield child
        elif isinstance(child, ast.ClassDef):
            yield from functions(child)


def reported() -> list[str]:
    """Return the lines of all reports, each once."""
    found: set[str] = set()
    for path in sorted(path for folder in REPORTS for path in (ROOT / folder).rglob("*.*") if path != LISTED):
        if path.suffix in SUFFIXES or path.name == "validation.jsonl":
            found.update(path.read_text(encoding="utf-8", errors="replace").splitlines())
    return [line.replace('\\"', '"').replace("&quot;", '"') for line in found]


def not_reported(texts: Iterable[str], lines: list[str]) -> list[str]:
    """Return the texts of which a line is in no line of the reports."""
    by_word: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        for word in set(WORD.findall(line)):
            by_word[word].append(line)

    def is_in_report(text: str) -> bool:
        parts = text.strip().split(HOLE)
        whole = WORD.findall(re.sub(r"[A-Za-z]*\{\}[A-Za-z]*", HOLE, text))
        few = min((by_word.get(word, []) for word in whole), key=len, default=lines)
        return any(has_parts(line, parts) for line in few)

    return [text for text in texts if not all(map(is_in_report, text.split("\n")))]


def has_parts(line: str, parts: list[str]) -> bool:
    """Return whether a line has some parts in their order."""
    at = 0
    for part in parts:
        found = line.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def test_every_text_is_in_a_report() -> None:
    listed: dict[str, list[str]] = yaml.safe_load(LISTED.read_text(encoding="utf-8"))
    exempt = [text for texts in listed.values() for text in texts]
    found = texts_of_diagnostics()
    unreported = not_reported(found, reported())
    assert {text: found[text] for text in unreported if text not in exempt} == {}
    assert [text for text in exempt if text not in unreported] == [], "these have a report, or are no texts anymore"


def test_every_id_is_in_a_report() -> None:
    lines = "\n".join(reported())
    assert [id for id in declared_in() if f"[{id}]" not in lines] == []
