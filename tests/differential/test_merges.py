"""Generated merges, compared with apimachinery's."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from conformance.recordings import are_equal
from conformance.test_smp import go_spelled
from differential.oracle import EXAMPLES, Oracle, needs_oracle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.test_merge import MERGED, REFUSED

from trainc.kubernetes.gotypes import ROOT, GoField, Struct, struct
from trainc.kubernetes.merge import MergeError, strategic_merge

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = needs_oracle

# Few values, so that keys meet; among the odd ones some that differ by type alone.
NAMES = ["a", "b", "c", "d"]
ODD: list[Any] = [None, "", 1, 1.0, True, 80, "80", "x", {}, [], [None], ["a"], {"a": None}, {"a": {"b": []}}, [["a"]]]
ODD_KEYS: list[Any] = [None, 80, 80.0, "80", True, 1, "", {}, ["a"]]
POD = ("replicatedJobs", "template", "spec", "template")
# Where merges begin: they go some types deep from there, and the mappings above are the same on both sides.
PLACES: list[tuple[str, tuple[str, ...]]] = [
    (ROOT, ()),
    ("jobset/v1alpha2.ReplicatedJob", ("replicatedJobs",)),
    ("core/v1.PodTemplateSpec", POD),
    ("meta/v1.ObjectMeta", (*POD, "metadata")),
    ("core/v1.PodSpec", (*POD, "spec")),
    ("core/v1.PodSpec", (*POD, "spec")),
    ("core/v1.Container", (*POD, "spec", "containers")),
    ("core/v1.Volume", (*POD, "spec", "volumes")),
]
LISTS = frozenset({"replicatedJobs", "containers", "volumes"})


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    oracle = Oracle()
    yield oracle
    oracle.close()


class Maker:
    """Generates values of Go types, with directives in a patch, and sometimes with invalid content.

    Of every type it uses a few fields only, so that both sides have the same ones.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.fields: dict[str, list[str]] = {}
        self.oddity = random.choice([0, 0, 0.03, 0.15])

    def odd_value(self) -> bool:
        return self.random.random() < self.oddity

    def value(self, type_name: str, depth: int, *, patch: bool) -> Any:
        declared = struct(type_name)
        if declared is None or not declared.fields:
            return self.random.choice(NAMES if type_name == "string" else [0, 1, 80, 80.0, True])
        value: dict[str, Any] = {}
        for name in self.vocabulary(declared):
            if self.random.random() < 0.6:
                spelled = self.random.choice([name.upper(), name.capitalize(), "unknown"]) if self.odd_value() else name
                value[spelled] = (
                    self.random.choice(ODD)
                    if self.odd_value()
                    else self.field(declared.fields[name], depth - 1, patch=patch)
                )
        if patch:
            self.direct(value, [name for name in self.vocabulary(declared) if declared.fields[name].kind == "slice"])
        return value

    def vocabulary(self, declared: Struct) -> list[str]:
        if declared.name not in self.fields:
            merged = [name for name, field in declared.fields.items() if field.merges]
            others = [name for name, field in declared.fields.items() if not field.merges]
            some = self.random.sample(merged, min(2, len(merged))) + self.random.sample(others, min(2, len(others)))
            self.fields[declared.name] = some
        return self.fields[declared.name]

    def field(self, field: GoField, depth: int, *, patch: bool) -> Any:
        if self.random.random() < 0.06 and patch:
            return None
        if field.kind == "map":
            return {name: self.random.choice([*NAMES, None]) for name in self.some(NAMES)}
        if depth < 0:
            return [] if field.kind == "slice" else {}
        if field.kind != "slice":
            return self.value(field.of or field.kind, depth, patch=patch)
        if not field.mergeKey:
            return [self.value(field.of, depth, patch=patch) for _ in self.some(NAMES)]
        return [self.item(field, key, depth, patch=patch) for key in self.some(NAMES)]

    def some(self, names: list[str]) -> list[str]:
        """Return some of the names in any order, rarely one of them twice."""
        some = self.random.sample(names, self.random.randrange(len(names) + 1))
        return [*some, some[0]] if some and self.odd_value() else some

    def item(self, field: GoField, key: Any, depth: int, *, patch: bool) -> Any:
        if self.odd_value():
            key = self.random.choice(ODD_KEYS)
        item = self.value(field.of, depth, patch=patch) | {field.mergeKey: key}
        if self.odd_value():
            del item[field.mergeKey]
        if self.random.random() < (0.12 if patch else self.oddity / 3):
            item["$patch"] = self.random.choice(["delete", "delete", "delete", "replace", "merge", None])
        return item

    def direct(self, value: dict[str, Any], lists: list[str]) -> None:
        """Add directives to a patch's mapping, mostly those that a client would write."""
        random = self.random
        if random.random() < 0.05:
            value["$patch"] = random.choice(["replace", "delete", "merge", None])
        if random.random() < 0.08:
            names = [*value, "name"]
            value["$retainKeys"] = random.choice([names, names[1:], random.choice(ODD) if self.odd_value() else names])
        for name in lists:
            items = value.get(name)
            if random.random() < 0.3:
                value[f"$setElementOrder/{name}"] = random.choice(ODD) if self.odd_value() else self.order(name, items)
            if random.random() < (0.5 if name == "finalizers" else self.oddity / 2):
                value[f"$deleteFromPrimitiveList/{name}"] = random.choice(ODD) if self.odd_value() else self.some(NAMES)

    def order(self, name: str, items: Any) -> list[Any]:
        """Return the keys of the patch's items in order, with others between them; or in any order."""
        if name == "finalizers":
            return self.some(NAMES)
        key = {"ports": "containerPort", "volumeMounts": "mountPath", "ownerReferences": "uid"}.get(name, "name")
        keys = [
            item.get(key)
            for item in (items if isinstance(items, list) else [])
            if isinstance(item, dict) and item.get("$patch") != "delete"
        ]
        for other in self.some(NAMES):
            if other not in keys:
                keys.insert(self.random.randrange(len(keys) + 1), other)
        return [{key: name} for name in (self.some(NAMES) if self.odd_value() else keys)]

    def merge(self) -> dict[str, Any]:
        """Return an original and a patch for it."""
        type_name, path = self.random.choice(PLACES)
        depth = self.random.randrange(1, 4)
        return {
            "original": wrapped(self.value(type_name, depth, patch=False), path),
            "patch": wrapped(self.value(type_name, depth, patch=True), path),
        }


def wrapped(value: Any, path: tuple[str, ...]) -> Any:
    """Return the value nested at a path, in items with the name w."""
    for name in reversed(path):
        value = {name: [value | {"name": "w"}] if name in LISTS else value}
    return value


def hangs_on_slices(original: Any, patch: Any) -> bool:
    """Whether Go's result may depend on how its slices grow."""
    return any(
        len({json.dumps(item) for item in items}) < len(items)
        for mapping in mappings(original)
        for name, items in mapping.items()
        if name.lower() == "finalizers" and isinstance(items, list)
    ) or any(
        f"$setElementOrder/{name}" in mapping and any(isinstance(item, dict) and "$patch" in item for item in items)
        for mapping in mappings(patch)
        for name, items in mapping.items()
        if isinstance(items, list)
    )


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from mappings(item)


def merged(case: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"output": go_spelled(strategic_merge(case["original"], case["patch"]))}
    except MergeError as error:
        return {"error": str(error)}


def agree(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return ("error" in ours and "error" in theirs) or (
        "output" in ours and "output" in theirs and are_equal(ours["output"], go_spelled(theirs["output"]))
    )


def disagrees(oracle: Oracle, case: dict[str, Any]) -> bool:
    """Whether trainc's result differs from all results of the upstream code, on a relevant case."""
    ours = merged(case)
    if agree(ours, *oracle.ask("smp", [case])) or hangs_on_slices(case["original"], case["patch"]):
        return False
    # Go's maps have no order: another run may return another result.
    return not any(agree(ours, answer) for answer in oracle.ask("smp", [case] * 50))


def smallest(oracle: Oracle, case: dict[str, Any]) -> dict[str, Any]:
    """Reduce the case to the parts that the difference needs. Hypothesis only knows the seed."""
    for smaller in reductions(case):
        if smaller.keys() == case.keys() and disagrees(oracle, smaller):
            return smallest(oracle, smaller)
    return case


def reductions(value: Any) -> Iterator[Any]:
    """Yield the value with one part less, at any depth."""
    if isinstance(value, dict):
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
        for key, item in value.items():
            yield from (value | {key: smaller} for smaller in reductions(item))
    if isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, item in enumerate(value):
            yield from ([*value[:index], smaller, *value[index + 1 :]] for smaller in reductions(item))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.integers(min_value=0, max_value=2**63))
def test_merges_agree(oracle: Oracle, seed: int) -> None:
    case = Maker(Random(seed)).merge()
    before = json.dumps(case)
    merged(case)
    assert json.dumps(case) == before, "the merge changed what it was given"
    if disagrees(oracle, case):
        case = smallest(oracle, case)
        pytest.fail(f"{json.dumps(case)}\nours: {merged(case)}\ntheirs: {oracle.ask('smp', [case])}")


@pytest.mark.parametrize(
    ("type_name", "original", "patch"), [pytest.param(*row[:3], id=name) for name, *row in (*MERGED, *REFUSED)]
)
def test_the_tables_of_the_unit_tests_are_true(oracle: Oracle, type_name: str, original: Any, patch: Any) -> None:
    path = dict(PLACES)[type_name]
    case = {"original": wrapped(original, path), "patch": wrapped(patch, path)}
    assert agree(merged(case), *oracle.ask("smp", [case]))
