"""The inputs whose fixes and helps are followed, and the edit that a help describes.

The inputs are those of the reports, of the golden cases with faults, of the pages of diagnostics, and of the rows in
this folder.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from running import run

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WRONG = re.compile(r"^Wrong:\n\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INPUTS = {
    **{path.stem: path for path in (ROOT / "tests" / "reports").glob("*.yaml")},
    **{path.parent.name: path for path in (ROOT / "golden").glob("wrong-*/input.yaml")},
    **{f"page {path.stem}": path for path in (ROOT / "diagnostics").glob("*.md") if WRONG.search(path.read_text())},
    **{path.name: path for path in (HERE / "inputs").iterdir()},
}
SPAN = re.compile(r"`([A-Za-z][\w./-]*: [^`]+)`")
WORDS = re.compile(r"\b(?:set|use) ([a-z]\w*: \w+)(?=,|$)")
"""A field without backquotes."""
NAME = re.compile(r"; for example (\S+)$")
LITERAL = re.compile(r"\.\.\.|^key: value$")
"""The fields that only show a form."""
NO_EDITS = {
    "invalid-owner": "the field exists in several items, of which one keeps it",
    "no-shared-memory": "the field is a part of a volume, which has a mount, too",
}
"""The ids of helps with a field that is no edit by itself, with the reason."""
MOVE = re.compile("set it in |a TrainJob cannot set it")

Problem = dict[str, Any]
Steps = tuple[str | int, ...]
"""A path, after the number of the document."""


class Field(NamedTuple):
    """A field that a help writes in full."""

    name: str
    value: Any
    beside: str
    """The words after it."""


def write_repository(given: Path, folder: Path) -> None:
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


def problems() -> list[Problem]:
    found: list[Problem] = json.loads(run("validate", "--legacy", "--format", "json").out)
    return found


def edited(text: str, edits: list[Problem]) -> str:
    """Return a text after the edits of a fix."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda edit: (edit["line"], edit["column"]), reverse=True):
        begin = starts[edit["line"] - 1] + edit["column"] - 1
        end = starts[edit["endLine"] - 1] + edit["endColumn"] - 1
        text = text[:begin] + edit["text"] + text[end:]
    return text


def fields(problem: Problem) -> list[Field]:
    """Return the fields that a help without a fix writes in full; a field without a name for the example of a name."""
    help_text = problem.get("help", "")
    if "fix" in problem or problem["id"] in NO_EDITS:
        return []
    if example := NAME.search(help_text):
        return [Field("", example[1], "")]
    spans = [*SPAN.finditer(help_text), *WORDS.finditer(help_text)]
    return [
        Field(name, value, help_text[span.end() :])
        for span in spans
        if not LITERAL.search(span[1])
        for name, value in yaml.safe_load(span[1]).items()
    ]


def follow(folder: Path, problem: Problem, field: Field, all_found: list[Problem]) -> None:
    """Make the edit that a help describes."""
    edited = Stream(folder / problem["file"])
    steps, is_value = edited.place(problem)
    if MOVE.match(problem["help"]):
        together = [each for each in all_found if field in fields(each)]
        for each in [edited.place(each)[0] for each in together]:
            del edited.get(each[:-1])[each[-1]]
        if "in trainc.yaml" in problem["help"]:
            edited.write()
            edited = Stream(folder / "trainc.yaml", "{}\n")
            steps = (0, "")
        target = steps[:2] if "in spec." in problem["help"] else steps[:-1]
    else:
        if steps[-1] == "runtimeRef" and problem["related"]:
            edited = Stream(folder / problem["related"][0]["file"])
            steps, is_value = edited.place(problem["related"][0])
        is_missing = problem["field"].endswith(f".{field.name}")
        if is_missing and isinstance(steps[-2], int) and steps[-1] == next(iter(edited.get(steps[:-1]))):
            steps = steps[:-1]  # the item begins where its first field does
        target = edited.target(steps, is_value or is_missing, field) if field.name else steps[:-1]
    edited.get(target)[field.name or steps[-1]] = field.value
    edited.write()


class Stream:
    """The documents of a file."""

    def __init__(self, path: Path, default: str = "") -> None:
        self.path = path
        text = path.read_text() if path.exists() else default
        self.nodes = list(yaml.compose_all(text, yaml.CSafeLoader))
        self.trees = list(yaml.safe_load_all(text))

    def write(self) -> None:
        self.path.write_text(yaml.safe_dump_all(self.trees, sort_keys=False))

    def get(self, place: Steps) -> Any:
        found: Any = self.trees
        for step in place:
            found = found[step]
        return found

    def place(self, at: Problem) -> tuple[Steps, bool]:
        """Return the path of the field at a line and a column, and whether its value is there, not its name."""
        line, column = at["line"] - 1, at["column"] - 1
        number = max(index for index, node in enumerate(self.nodes) if node.start_mark.line <= line)
        steps = [(number, True), *_steps(self.nodes[number], (line, column))]
        return tuple(step for step, _ in steps), steps[-1][1]

    def target(self, steps: Steps, is_inside: bool, field: Field) -> Steps:
        """Return the path of the mapping that gets a field."""
        mappings = [steps[:end] for end in range(1, len(steps) + 1) if isinstance(self.get(steps[:end]), dict)]
        if beside := re.match(r" beside (\w+)", field.beside):
            return next(each for each in reversed(mappings) if beside[1] in self.get(each))
        if within := re.match(r" to its (\w+)", field.beside):
            self.get(steps).setdefault(within[1], {})
            return (*steps, within[1])
        named = [each for each in mappings[-2:] if field.name in self.get(each)]
        return (named or [each for each in mappings if is_inside or each != steps])[-1]


def _steps(node: yaml.Node, at: tuple[int, int]) -> Iterator[tuple[str | int, bool]]:
    children: list[tuple[str | int, yaml.Node, yaml.Node]] = []
    if isinstance(node, yaml.MappingNode):
        children = [(key.value, key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        children = [(index, item, item) for index, item in enumerate(node.value)]
    for name, key, value in children:
        if _at(key.start_mark) <= at < _at(value.end_mark):
            is_value = at >= _at(value.start_mark)
            yield name, is_value
            yield from _steps(value, at) if is_value else ()


def _at(mark: yaml.Mark) -> tuple[int, int]:
    return mark.line, mark.column
