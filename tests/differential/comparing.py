"""Batches of generated cases: each case is written to a file, answered by the upstream code, and compared.

Reads    a strategy for cases (JSON trees), a function from a case to documents, and a comparison, which raises on a
         difference.
Returns  a tally of the comparison's results; on a failure, the case is reduced for a limited time and shown.

One run of the program answers a batch of files, because its start takes as long as dozens of answers. Each part of the
cases is a separate test, so that pytest's workers share the parts.
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
"""Time limit, in seconds, for the reduction of a failing case."""
GIVEN: Final = {"apiVersion", "kind", "metadata", "name", "namespace", "trainer"}
"""Keys that a reduction keeps: without them there is nothing to compare."""

Documents = list[Any]
"""The content of a file: JSON trees, and texts, which are written unchanged."""
Answer = dict[str, Any]
Tallied = Callable[[Counter[str]], None]
"""The fixture that adds a tally to the run's summary."""


class Question(NamedTuple):
    """A case with its documents, their file, and the upstream code's answer."""

    case: Any
    documents: Documents
    file: Path
    answer: Answer


Compare = Callable[[Question], str]
"""Compares the two answers; returns a short label of the common result for the tally."""


def whole_case(case: Any) -> Documents:
    """Return the documents of a case that consists of its documents."""
    documents: Documents = case
    return documents


class Comparison(NamedTuple):
    """A comparison: its cases, their documents, and how answers are compared."""

    cases: st.SearchStrategy[Any]
    compare: Compare
    documents: Callable[[Any], Documents] = whole_case

    def run(self, part: int, examples: int) -> Counter[str]:
        """Compare one part of a number of examples, which depend only on SEED."""
        tally: Counter[str] = Counter()
        left = max(1, examples // len(PARTS))
        for batch in range(0, left, BATCH):
            cases = generated(self.cases, min(BATCH, left - batch), seed=(SEED * len(PARTS) + part) * 100_000 + batch)
            with asked([(case, self.documents(case)) for case in cases]) as questions:
                for question in questions:
                    try:
                        tally[self.compare(question)] += 1
                    except Exception as error:
                        pytest.fail(self._reduced_failure(question, error))
        return tally

    def _reduced_failure(self, question: Question, error: Exception) -> str:
        """Return the failure of the smallest similar case found within the time limit."""
        small, error = self.smaller(question, error)
        return f"{error!r}\n" + _text(small.documents)

    def smaller(self, question: Question, error: Exception) -> tuple[Question, Exception]:
        """Reduce a question to the parts that matter to its failure; return it with its failure."""
        end = time.monotonic() + SHRINKING
        shrunk = True
        while shrunk and time.monotonic() < end:
            shrunk = False
            case = question.case
            paths = sorted(_paths(case), key=lambda path: -len(json.dumps(_at(case, path))))
            for start in range(0, len(paths), 40):
                tries = [_without_part(case, path) for path in paths[start : start + 40]]
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
    """Generate a number of cases. They are not compared here, because hypothesis would compare them one by one."""
    result: list[Any] = []

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
        result.append(case)

    collect()
    return result


@contextmanager
def asked(cases: Sequence[tuple[Any, Documents]]) -> Iterator[list[Question]]:
    """Write the documents of the cases to files; yield the cases with their answers."""
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
    """Yield the paths of the removable parts of a case; whole documents are not removable."""
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


def _without_part(tree: Any, path: tuple[Any, ...]) -> Any:
    """Return the tree without one part."""
    key, *rest = path
    changed = tree.copy()
    if rest:
        changed[key] = _without_part(tree[key], tuple(rest))
    else:
        del changed[key]
    return changed
