"""State between calls: what bounds each cache, and two compilations at once.

A cache of a function of few values says in its line what bounds it. A cache of texts has a maximum size. A cache of
trees is a `Memory` (`kubernetes.trees`), or has the thread in its key. Nothing else is state of the process.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from contracts.steps import parsed, walk
from files import write

import trainc

PACKAGE = Path(__file__).parents[2] / "compiler" / "trainc"
GOLDEN = Path(__file__).parents[2] / "golden"
CHANGING = {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
REGISTRY = "kubernetes/trees.py: _TO_CLEAR"
"""The functions that clear the caches of trees, which modules register when they are imported."""


def caches(source: str) -> Iterator[str]:
    """Yield the caches and variables of a module that nothing bounds, as text."""
    tree, lines = parsed(source), source.splitlines()
    for node in walk(tree):
        if isinstance(node, ast.Global):
            yield f"global {', '.join(node.names)}"
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            name = ast.unparse(decorator)
            if name in ("cache", "functools.cache") and "  # " not in lines[decorator.lineno - 1]:
                yield f"{node.name}: say what bounds the cache"
            if name.startswith("lru_cache") and "maxsize=" not in name:
                yield f"{node.name}: the cache has no size"
    plain = {
        node.target.id
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and is_plain_container(node.value)
    } | {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and is_plain_container(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if attribute in CHANGING:
                changed = name
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                changed = name
            case _:
                continue
        if changed in plain:
            yield changed


def is_plain_container(value: ast.expr | None) -> bool:
    """Return whether a value is a new mapping, list or set that is no `Memory`."""
    called = ast.unparse(value.func).partition("[")[0] if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.Dict | ast.List | ast.Set | ast.DictComp) or called in {"dict", "list", "set"}


def test_every_cache_says_what_bounds_it() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {cache}" for path in PACKAGE.rglob("*.py") for cache in caches(path.read_text())
    }
    assert found == {REGISTRY}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("@cache\ndef f(a): ...", ["f: say what bounds the cache"], id="a cache"),
        pytest.param("@cache  # one value for each kind\ndef f(a): ...", [], id="a cache with its bound"),
        pytest.param("@lru_cache\ndef f(a): ...", ["f: the cache has no size"], id="a cache of texts"),
        pytest.param("K: Final = {}\ndef f(a): K[a] = 1", ["K"], id="a mapping that a function changes"),
        pytest.param("K = []\ndef f(a): K.append(a)", ["K"], id="a list that a function changes"),
        pytest.param("K: Final = {'a': 1}\ndef f(a): return K[a]", [], id="a table"),
        pytest.param("K: Final = Memory()\ndef f(a): K.keep(a, 1)", [], id="a memory"),
        pytest.param("def f():\n    global K\n    K = 1", ["global K"], id="a global statement"),
    ],
)
def test_a_cache_without_a_bound_is_found(source: str, expected: list[str]) -> None:
    assert list(caches(source)) == expected


def changed(tree: Any) -> None:
    """Change all values of a tree, as a caller may do with the objects of a result."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        changed(tree[key])
        tree[key] = "changed"


def in_threads(count: int, run: Callable[[int, Barrier], set[str]]) -> list[set[str]]:
    """Return the results of a function of an index in as many threads, which switch as often as possible."""
    barrier, interval = Barrier(count), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(lambda index: run(index, barrier), range(count)))
    finally:
        sys.setswitchinterval(interval)


def test_two_compilations_at_once_share_no_tree() -> None:
    """Two threads compile similar projects, and each changes the objects of its results."""
    paths = [str(GOLDEN / name / "input.yaml") for name in ("llm-finetune-4x8", "cpu-ranks")]
    expected = [json.dumps(trainc.compile(path).objects) for path in paths]

    def compiled(index: int, barrier: Barrier) -> set[str]:
        found = set()
        for _ in range(12):
            barrier.wait(60)
            result = trainc.compile(paths[index])
            found.add(json.dumps(result.objects))
            for each in result.objects:
                changed(each)
        return found

    assert in_threads(len(paths), compiled) == [{text} for text in expected]


SETTINGS = (
    """\
environments: {prod: {namespace: ml, images: [{name: acme/train, newTag: v2}]}}
trainerVersion: "2.3"
patches: [{target: {kind: JobSet}, patch: {spec: {failurePolicy: {maxRestarts: 3}}}}]
""",
    """\
environments: {prod: {namespace: nlp, images: [{name: acme/train, newTag: v9}]}}
trainerVersion: "2.1"
fieldValidation: warn
lint: {disable: [no-gang]}
namePrefix: team-
""",
)
FAULTY = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: mnist}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
    image: acme/train:v1
    unknown: 1
    resourcesPerNode: {requests: {nvidia.com/gpu: 4}, limits: {nvidia.com/gpu: 8}}
"""
FAULTLESS = FAULTY.replace("    unknown: 1\n", "").replace("requests: {nvidia.com/gpu: 4}, ", "")


@pytest.mark.parametrize("job", [FAULTLESS, FAULTY], ids=["objects", "diagnostics"])
def test_two_projects_at_once_have_their_own_settings(job: str, tmp_path: Path) -> None:
    """One text in two folders, with other settings, releases and patches: a thread each, 50 times."""
    for index, settings in enumerate(SETTINGS):
        write(tmp_path / f"{index}" / "trainc.yaml", settings)
        write(tmp_path / f"{index}" / "mnist.yaml", job)

    def outputs(index: int, times: int, barrier: Barrier) -> set[str]:
        found = set()
        for _ in range(times):
            barrier.wait(60)
            result = trainc.compile(tmp_path / f"{index}", environment="prod")
            found.add(json.dumps([result.objects, [str(each) for each in result.diagnostics]]))
        return found

    expected = [outputs(index, 1, Barrier(1)) for index in range(len(SETTINGS))]
    assert expected[0] != expected[1]
    assert in_threads(len(SETTINGS), lambda index, barrier: outputs(index, 50, barrier)) == expected
