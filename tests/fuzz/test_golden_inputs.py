"""`make fuzz`: 20,000 mutated golden inputs, none of which may crash or hang trainc.

An input is a golden input together with its built-in runtimes, so that mutations also affect pods. One to four fields
are dropped, swapped, renamed, or replaced by a value of another type, null, a huge value or odd text. trainc must end
within a second and exit with 0 or 1. `validate` must fail if `build` fails, and a failing build must write nothing.
`make test` runs only a few examples.
"""

from __future__ import annotations

import json
import os
import time
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from batches import one_in_four
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from running import Done, run

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("EXAMPLES") or 60)
PARTS = 4
SECONDS = 1.0 if "EXAMPLES" in os.environ else 5.0
"""Seconds of processor time; more if other tests run in parallel."""

Place = tuple[Any, ...]
Accident = tuple[str, int, int, Any]


def with_runtimes(file: Path) -> list[Any]:
    """Return the documents of an input, and the built-in runtimes that they refer to."""
    documents = [document for document in yaml.load_all(file.read_text(), yaml.CSafeLoader) if document]
    text = file.read_text()
    runtimes = sorted([*(ROOT / "runtimes").glob("*.yaml"), *(ROOT / "runtimes" / "trainer-2.3").iterdir()])
    built_in = [runtime for runtime in runtimes if f"name: {runtime.stem}\n" in text]
    return documents + [yaml.load(runtime.read_text(), yaml.CSafeLoader) for runtime in built_in]


UNREADABLE = {"wrong-no-break-space"}
"""The cases that are not YAML."""
INPUTS = [
    with_runtimes(file) for file in sorted((ROOT / "golden").glob("*/input.yaml")) if file.parent.name not in UNREADABLE
]
ODD = [
    "",
    " ",
    "a" * 300,
    "\u202e",
    "é",
    "😀",
    "\0",
    "\n",
    "\x1b[31m",
    "\ud800",
    "{{ x }}",
    "$(A)",
    "$(",
    "a b",
    "A_B",
    "-",
]
HUGE = ["x" * 300_000, 10**40, -(10**40), 1e300, ["x"] * 10_000, {f"k{i}": i for i in range(5_000)}, 2**31, 2**63]
OTHERS = [True, False, 0, 1, -1, 1.5, "1", "true", [], {}, [None], [[]], {"a": "b"}, ["a"], "8Gi", "-1", "1.5", "1e3"]


def nested(depth: int) -> Any:
    """Return a value nested in many mappings and lists."""
    value: Any = "x"
    for _ in range(depth):
        value = {"a": [value]}
    return value


values = st.one_of(
    st.none(),
    st.sampled_from(OTHERS),
    st.sampled_from(OTHERS),
    st.sampled_from(HUGE),
    st.sampled_from(ODD),
    st.just(nested(45)),
    st.just(nested(110)),
    st.text(max_size=20),
)
accidents = st.tuples(
    st.sampled_from(["drop", "set", "set", "set", "swap", "rename", "repeat"]),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    values,
)


def places(node: Any, path: Place = ()) -> list[Place]:
    """Yield every field and item, without the document itself."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    found: list[Place] = []
    for key, child in children:
        found += [(*path, key), *places(child, (*path, key))]
    return found


def parent(tree: Any, path: Place) -> Any:
    """Return the parent of a field."""
    for step in path[:-1]:
        tree = tree[step]
    return tree


def happen(tree: list[Any], accident: Accident) -> None:
    """Apply one mutation at a place that two numbers choose."""
    what, one, other, value = accident
    there = places(tree)
    if not there:
        return
    path, second = there[one % len(there)], there[other % len(there)]
    around, key = parent(tree, path), path[-1]
    match what:
        case "drop":
            del around[key]
        case "set":
            around[key] = value
        case "swap":
            if second[: len(path)] != path and path[: len(second)] != second:
                beside = parent(tree, second)
                around[key], beside[second[-1]] = beside[second[-1]], around[key]
        case "rename" if isinstance(around, dict):
            around[value if isinstance(value, str) else str(second[-1])] = around.pop(key)
        case "repeat" if isinstance(around, list):
            around.append(deepcopy(around[key]))
        case _:
            around[key] = deepcopy(parent(tree, second)[second[-1]])


@pytest.mark.parametrize("part", one_in_four(range(PARTS)))
def test_golden_inputs(part: int) -> None:
    @given(st.sampled_from(INPUTS[part::PARTS]), st.lists(accidents, min_size=1, max_size=4), st.booleans())
    @settings(
        max_examples=EXAMPLES // PARTS,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        database=None,
    )
    def judged(documents: list[Any], happened: list[Accident], as_yaml: bool) -> None:
        judge(documents, happened, as_yaml)

    judged()


def judge(documents: list[Any], happened: list[Accident], as_yaml: bool) -> None:
    """Mutate the input and check trainc's results."""
    tree = deepcopy(documents)
    for accident in happened:
        happen(tree, deepcopy(accident))
    if as_yaml:
        text = yaml.dump_all(tree, allow_unicode=True, sort_keys=False, Dumper=Plain).encode("utf-8", "surrogatepass")
    else:
        text = "\n---\n".join(map(json.dumps, tree)).encode()
    checked, built = timed("validate", text), timed("build", text)
    assert checked.code in (0, 1), checked.err
    assert built.code in (0, 1), built.err
    assert not (built.code and built.out)
    assert ("error[" in checked.out) == (checked.code == 1), checked.out
    assert checked.code <= built.code


def timed(command: str, text: bytes) -> Done:
    """Run a command within a second of processor time."""
    note(f"trainc {command} of {text.decode('utf-8', 'replace')[:3000]}")
    start = time.process_time()
    done = run(command, "-", stdin=text)
    assert time.process_time() - start < SECONDS
    return done


class Plain(yaml.SafeDumper):
    """A dumper that writes no anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True
