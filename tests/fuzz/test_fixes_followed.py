"""`make fuzz`: each fix, safe or not, and each help that writes a field, is right when it is followed once.

The inputs are those of `test_fixes_converge.py`. Each fix and each help is followed alone: its diagnostic is gone, and
no error is new. `make test` runs only a few examples.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir

import pytest
from batches import drawn_apart
from fixes.followed import Problem, edited, fields, follow, problems
from fuzz.test_fixes_converge import commented, mistaken
from fuzz.test_fixes_of_mutations import EXAMPLES, inputs
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

SEEN: Counter[str] = Counter()
"""How many documents had a mistake, a fix and a help, by mistake; printed with `pytest -s`."""


@pytest.fixture(scope="module", autouse=True)
def counted() -> Iterator[None]:
    yield
    print(dict(SEEN))


def reported(diagnostics: list[Problem]) -> Counter[tuple[str, str]]:
    return Counter((each["id"], each["message"]) for each in diagnostics)


def errors(diagnostics: list[Problem]) -> Counter[str]:
    return Counter(each["id"] for each in diagnostics if each["severity"] == "error")


@pytest.mark.examples
@drawn_apart
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize="EXAMPLES" not in os.environ,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(number=st.integers(0, 10**6), seed=st.integers(0, 2**32))
def test_a_fix_removes_its_diagnostic(number: int, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    texts, chance = inputs(), random.Random(seed)
    text = commented(texts[number % len(texts)], chance)
    made = mistaken(text, chance)
    if made is None:
        return
    wrong, kind, right, word = made
    folder = tmp_path_factory.mktemp("job")
    (folder / ".git").mkdir()
    path = folder / "job.yaml"
    path.write_bytes(text.encode())
    with chdir(folder):
        if errors(problems()):
            return
        path.write_bytes(wrong.encode())
        before = problems()
        SEEN[kind] += 1
        SEEN[f"{kind}, with a fix"] += any("fix" in each for each in before)
        for found in before:
            if "fix" in found:
                path.write_bytes(edited(wrong, found["fix"]["edits"]).encode())
            elif helps := fields(found):
                SEEN["helps"] += 1
                follow(folder, found, helps[0], before)
            else:
                continue
            SEEN["followed"] += 1
            note(f"{kind}: {right!r} -> {word!r}\n{wrong}\n=====\n{path.read_text()}\n{found}")
            after = problems()
            key = found["id"], found["message"]
            assert reported(after)[key] < reported(before)[key]
            assert not errors(after) - errors(before), after
            path.write_bytes(wrong.encode())
            (folder / "trainc.yaml").unlink(missing_ok=True)
