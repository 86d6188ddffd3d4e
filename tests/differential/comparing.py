"""Made-up cases, many at a time: each is written as a file, answered by the real code, and compared.

Reads    a strategy of cases (JSON trees), how a case becomes documents, and a comparison, which raises what it finds.
Returns  a tally of what the comparison said; on a failure the case is made smaller for a while, and shown.

A run of the program answers a batch of files: starting it takes as long as answering dozens. A part of the cases is a
test of its own, so that pytest's workers share the parts.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import hypothesis
import pytest
from differential.oracle import CRDS, PROGRAM, SEED
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

PARTS: Final = range(4)
BATCH: Final = 250
SHRINKING: Final = 40.0
"""Seconds in which a failing case is made smaller."""
GIVEN: Final = {"apiVersion", "kind", "metadata", "name", "namespace", "trainer"}
"""Keys that stay in a case that is made smaller: without them there is nothing to ask about."""

Documents = list[Any]
"""What is written into a file: JSON trees, and texts as they are."""
Answer = dict[str, Any]
Tallied = Callable[[Counter[str]], None]
"""The fixture that puts a tally into the summary of the run."""


class Question(NamedTuple):
    """A case with its documents, the file that holds them, and the real code's answer."""

    case: Any
    documents: Documents
    file: Path
    answer: Answer


Compare = Callable[[Question], str]
"""What the two answers have in common, in a few words for the tally."""


def whole(case: Any) -> Documents:
    """A case that is its documents."""
    documents: Documents = case
    return documents


class Comparison(NamedTuple):
    """What is compared, and how."""

    cases: st.SearchStrategy[Any]
    compare: Compare
    documents: Callable[[Any], Documents] = whole

    def run(self, part: int, examples: int) -> Counter[str]:
        """Compare a part of so many examples; the same ones for the same SEED."""
        tally: Counter[str] = Counter()
        left = max(1, examples // len(PARTS))
        for batch in range(0, left, BATCH):
            made = generated(self.cases, min(BATCH, left - batch), seed=(SEED * len(PARTS) + part) * 100_000 + batch)
            with asked([(case, self.documents(case)) for case in made]) as questions:
                for question in questions:
                    try:
                        tally[self.compare(question)] += 1
                    except Exception as error:
                        pytest.fail(self._told(question, error))
        return tally

    def _told(self, question: Question, error: Exception) -> str:
        """The failure of the smallest case like it that is found in time."""
        small, error = self.smaller(question, error)
        return f"{error!r}\n" + _text(small.documents)

    def smaller(self, question: Question, error: Exception) -> tuple[Question, Exception]:
        """The question without most of what does not matter to its failure, and how it fails."""
        end = time.monotonic() + SHRINKING
        shrunk = True
        while shrunk and time.monotonic() < end:
            shrunk = False
            case = question.case
            paths = sorted(_paths(case), key=lambda path: -len(json.dumps(_at(case, path))))
            for start in range(0, len(paths), 40):
                tries = [_without(case, path) for path in paths[start : start + 40]]
                with asked([(tried, self.documents(tried)) for tried in tries]) as questions:
                    alike = [it for it in questions if _stage(it) == _stage(question)]
                    failing = [(it, found) for it in alike if (found := self._failure(it))]
                if failing:
                    (question, error), shrunk = failing[0], True
                    break
        return question, error

    def _failure(self, question: Question) -> Exception | None:
        try:
            self.compare(question)
        except Exception as error:
            return error
        return None


def generated(cases: st.SearchStrategy[Any], count: int, *, seed: int) -> list[Any]:
    """So many cases. Nothing is tried while they are made: hypothesis would ask about them one by one."""
    made: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(cases)
    def collect(case: Any) -> None:
        made.append(case)

    collect()
    return made


@contextmanager
def asked(cases: Sequence[tuple[Any, Documents]]) -> Iterator[list[Question]]:
    """The cases with their documents in files, and answered."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in" / "made").mkdir(parents=True)
        files = [folder / "in" / "made" / f"{index:03}.yaml" for index in range(len(cases))]
        for file, (_, documents) in zip(files, cases, strict=True):
            file.write_text(_text(documents))
        options = ["-runs", "1", *(["-crds", CRDS] if CRDS else [])]
        subprocess.run([PROGRAM, *options, str(folder / "out"), *map(str, files)], check=True, capture_output=True)
        answers = [folder / "out" / "made" / f"{file.stem}.json" for file in files]
        yield [
            Question(case, documents, file, json.loads(answer.read_text()))
            for (case, documents), file, answer in zip(cases, files, answers, strict=True)
        ]


def _text(documents: Documents) -> str:
    return "\n---\n".join(document if isinstance(document, str) else json.dumps(document) for document in documents)


def _stage(question: Question) -> tuple[str, str]:
    return question.answer["verdict"], question.answer.get("stage", "")


def _paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The parts of a case that can be left out; of a list of documents, none as a whole."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        at = (*path, key)
        if key not in GIVEN and len(at) > 1:
            yield at
        yield from _paths(value, at)


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _without(tree: Any, path: tuple[Any, ...]) -> Any:
    """The tree without one part."""
    key, *rest = path
    changed = tree.copy()
    if rest:
        changed[key] = _without(tree[key], tuple(rest))
    else:
        del changed[key]
    return changed
