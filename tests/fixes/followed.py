"""The inputs whose fixes and helps are followed, and the edit that a help describes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from running import run

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WRONG = re.compile(r"^Wrong:\n\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROWS = {path.name: path for path in (HERE / "inputs").iterdir()}
REPORTS = {path.stem: path for path in (ROOT / "tests" / "reports").glob("*.yaml")}
GOLDEN = {path.parent.name: path for path in (ROOT / "golden").glob("wrong-*/input.yaml")}
PAGES = {f"page {path.stem}": path for path in (ROOT / "diagnostics").glob("*.md") if WRONG.search(path.read_text())}
INPUTS = {**REPORTS, **GOLDEN, **PAGES, **ROWS}


def write(given: Path, folder: Path) -> None:
    """Write an input as a repository."""
    if given.is_dir():
        shutil.copytree(given, folder, dirs_exist_ok=True)
    elif given.suffix == ".md":
        found = WRONG.search(given.read_text())
        assert found is not None
        (folder / "job.yaml").write_text(found[1])
    else:
        shutil.copy(given, folder / "job.yaml")
    (folder / ".git").mkdir()


def problems() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("validate", "--legacy", "--format", "json").out)
    return found


SPAN = re.compile(r"`([A-Za-z][\w./-]*: [^`]+)`")
BARE = re.compile(r"\b(?:set|use) ([a-z]\w*: \w+)(?=,|$| and\b)")


def fields(help_text: str) -> list[tuple[str, Any]]:
    """Return the name and the value of each field that a help writes in full."""
    spans = SPAN.findall(help_text) + BARE.findall(SPAN.sub("", help_text))
    return [next(iter(yaml.safe_load(each).items())) for each in spans if "..." not in each]


def at(node: yaml.Node, line: int, column: int) -> Iterator[str | int]:
    """Yield the path of the node at a place."""
    children: list[tuple[str | int, yaml.Node, yaml.Node]] = []
    if isinstance(node, yaml.MappingNode):
        children = [(key.value, key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        children = [(index, item, item) for index, item in enumerate(node.value)]
    for name, key, value in children:
        first, last = key.start_mark, value.end_mark
        if (first.line, first.column) <= (line, column) < (last.line, last.column):
            yield name
            if (line, column) >= (value.start_mark.line, value.start_mark.column):
                yield from at(value, line, column)


def follow(text: str, found: dict[str, Any], name: str, value: Any) -> str:
    """Return a text with a field written in place of its namesake around a diagnostic, or beside its field."""
    line, column = found["line"] - 1, found["column"] - 1
    nodes = list(yaml.compose_all(text))
    trees = list(yaml.safe_load_all(text))
    number = max(index for index, node in enumerate(nodes) if node.start_mark.line <= line)
    chain = [trees[number]]
    path = list(at(nodes[number], line, column))
    for part in path:
        chain.append(chain[-1][part])
    mappings = [each for each in chain if isinstance(each, dict)]
    target = next((each for each in reversed(mappings) if name in each), mappings[-1])
    target[name] = value
    return yaml.safe_dump_all(trees, sort_keys=False)
