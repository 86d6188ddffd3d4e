"""trainc's objects are those of the Trainer controller, but for the deliberate differences (docs/differences.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from random import Random
from typing import Any

import yaml
from cluster.cases import GOLDEN
from cluster.differences import INPUT, OUTPUT, PLACED, Pair, output, plans, with_name
from cluster.server import Answer, Cluster, until
from cluster.versions import JOBSET, PODGROUP, RUNTIME, TRAINJOB, VOLCANO
from conformance.recordings import are_equal
from differential import sound

from trainc import settings
from trainc.base import kinds
from trainc.base.kinds import VERSION
from trainc.kubernetes.trees import put
from trainc.settings import DEFAULT, Settings

Tree = dict[str, Any]

CRDS = (JOBSET, TRAINJOB, RUNTIME, PODGROUP, VOLCANO)

GENERATED = 100
KINDS = ("JobSet", "ConfigMap", "Secret", "PodGroup", "PodGroup of Volcano")
NOT_YET_SEEN = "must be created before the TrainJob"
"""The message of Trainer's webhook until it has seen a new runtime."""


def test_the_same_objects(cluster: Cluster, counted: Callable[[str, int], None], tmp_path: Path) -> None:
    """An id that changes no case fails the test: the controller has no such difference."""
    used: set[str] = set()
    pairs = [_undone(INPUT, pair, used) for pair in (*_golden(tmp_path), *_generated(tmp_path))]
    pairs = [placed for pair in _placed(cluster, pairs) if (placed := _undone(PLACED, pair, used)).ours]
    cluster.apply(tree for pair in pairs for tree in pair.prerequisites)
    wrong = list(_refused(cluster, pairs))
    assert not wrong, "\n".join(wrong)
    answers = _answers(cluster, pairs)
    for pair in pairs:
        answered = pair._replace(theirs=answers[_place(pair.job)], stored=cluster.stored)
        wrong += _different(_undone(OUTPUT, answered, used))
    assert not wrong, "\n\n".join(wrong)
    assert used == documented()
    counted("TrainJobs with the same objects as the controller's", len(pairs))


def test_generated_names(cluster: Cluster, counted: Callable[[str, int], None], tmp_path: Path) -> None:
    """But for the letters that the API server chooses, and the Secret's name, the objects are the same."""
    file, namespace = GOLDEN / "generate-name" / "input.yaml", cluster.namespace("generated")
    pairs = [_moved(pair, namespace) for pair in _pairs(file, DEFAULT, tmp_path)]
    assert {*pairs[0].runtime["spec"]["mlPolicy"], *pairs[1].runtime["spec"]["mlPolicy"]} >= {"torch", "mpi"}
    named = []
    for pair in pairs:
        assert _created(cluster, pair.runtime).code == 201
        name = _created(cluster, pair.job).body["metadata"]["name"]
        assert (name[:-5], len(name)) == (pair.plan.job.name[:-5], len(pair.plan.job.name))
        named.append(with_name(pair, name))
    answers = _answers(cluster, named)
    for pair in named:
        answered = pair._replace(theirs=answers[_place(pair.job)], stored=cluster.stored)
        assert not _different(_undone(OUTPUT, answered, set()))
    counted("TrainJobs with generateName", len(pairs))


def documented() -> set[str]:
    """Return the ids of docs/differences.md."""
    text = (GOLDEN.parent / "docs" / "differences.md").read_text()
    return set(re.findall(r"^### `([a-z-]+)`$", text, re.MULTILINE))


def _undone(functions: dict[str, Callable[[Pair], Pair]], pair: Pair, used: set[str]) -> Pair:
    """Apply each function; add the ids of those that changed something."""
    for id, function in functions.items():
        changed = function(pair)
        if changed != pair:
            used.add(id)
        pair = changed
    return pair


def _golden(folder: Path) -> Iterator[Pair]:
    """Yield each TrainJob of the gallery that has a runtime, and a Flux job without numNodes."""
    for file in sorted(GOLDEN.glob("*/input.yaml")):
        yield from _pairs(file, settings.load([str(file)]), folder)
    flux = (GOLDEN / "flux-one-node" / "input.yaml").read_text()
    (folder / "flux-without-nodes.yaml").write_text(flux.replace("    numNodes: 1\n", ""))
    yield from _pairs(folder / "flux-without-nodes.yaml", DEFAULT, folder)


def _generated(folder: Path) -> Iterator[Pair]:
    """Yield generated TrainJobs; names differ, as many TrainJobs share a namespace."""
    random = Random(2)
    for number in range(GENERATED):
        documents = sound.random_job(random)
        runtime, job = documents
        job["metadata"]["name"] += f"-{number}"
        if runtime["metadata"]["name"] == "r":  # others are in trainc's table of torchtune's runtimes
            runtime["metadata"]["name"] = job["spec"]["runtimeRef"]["name"] = f"r-{number}"
        file = folder / f"generated-{number}.json"
        file.write_text("\n".join(map(json.dumps, documents)))
        yield from _pairs(file, DEFAULT, folder)


def _pairs(file: Path, of: Settings, folder: Path) -> Iterator[Pair]:
    """Yield the TrainJobs of a file."""
    for plan in plans(file, of):
        name = f"{file.parent.name if file.name == 'input.yaml' else file.stem}/{plan.job.name}"
        if plan.runtime.value:
            written = plan.job.document.value, plan.runtime.document.value
            yield Pair(name, plan, *written, ours=output(plan), settings=of, folder=folder)


def _placed(cluster: Cluster, pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the pairs in as few new namespaces as the names of TrainJobs and runtimes allow."""
    namespaces: list[tuple[str, dict[str, Tree]]] = []
    for pair in pairs:
        spec = pair.runtime["spec"]
        runtime, job = pair.runtime["metadata"]["name"], f"TrainJob/{pair.job['metadata']['name']}"
        fits = (one for one in namespaces if job not in one[1] and one[1].get(runtime, spec) == spec)
        if (namespace := next(fits, None)) is None:
            namespaces.append(namespace := (cluster.namespace("controller"), {}))
        namespace[1].update({job: {}, runtime: spec})
        yield _moved(pair, namespace[0])


def _moved(pair: Pair, namespace: str) -> Pair:
    """Return the pair in a namespace; objects without a namespace stay as they are."""

    def moved(tree: Tree) -> Tree:
        changed: Tree = put(tree, ("metadata", "namespace"), namespace) if "namespace" in tree["metadata"] else tree
        return changed

    identity = {"name": pair.runtime["metadata"]["name"], "namespace": namespace}
    labels = pair.runtime["metadata"].get("labels", {})
    runtime = {"apiVersion": VERSION, "kind": kinds.RUNTIME.kind, "metadata": identity | {"labels": labels}}
    job = put(pair.job, ("spec", "runtimeRef"), {"name": identity["name"], "kind": kinds.RUNTIME.kind})
    metadata = {
        key: job["metadata"][key] for key in ("name", "generateName", "labels", "annotations") if key in job["metadata"]
    }
    return pair._replace(
        job=job | {"apiVersion": VERSION, "metadata": metadata | {"namespace": namespace}},
        runtime=runtime | {"spec": pair.runtime["spec"]},
        ours=[moved(tree) for tree in pair.ours],
    )


def _refused(cluster: Cluster, pairs: Iterable[Pair]) -> Iterator[str]:
    """Create the runtimes and the TrainJobs; yield the server's reason for each one that it refuses."""
    for kind in ("runtime", "job"):
        for pair in pairs:
            tree = getattr(pair, kind)
            answer = _created(cluster, tree)
            if answer.code not in {201, 409}:  # others use the same runtime
                yield f"{pair.name}: {tree['kind']}: {answer.message}"


def _created(cluster: Cluster, tree: Tree) -> Answer:
    """Return the server's answer to the creation of an object, of a TrainJob once its runtime is known."""

    def answered() -> Answer | None:
        answer = cluster.create(tree)
        return None if NOT_YET_SEEN in answer.message else answer

    return until(answered, f"the runtime of {tree['metadata']}")


def _answers(cluster: Cluster, pairs: list[Pair]) -> dict[tuple[str, str], list[Tree]]:
    """Return the objects that the controller creates, by TrainJob, once all of trainc's exist."""
    missing = {(_place(pair.job), tree["kind"], tree["metadata"]["name"]) for pair in pairs for tree in pair.ours}
    found: dict[tuple[str, str], list[Tree]] = {}

    def complete() -> bool | None:
        for namespace in {place[0] for place, _, _ in missing}:
            trees = [tree for kind in KINDS for tree in cluster.list(kind, namespace)]
            jobs = {_place(pair.job) for pair in pairs if pair.job["metadata"]["namespace"] == namespace}
            found.update({job: [tree for tree in trees if (namespace, _owner(tree)) == job] for job in jobs})
            missing.difference_update(
                (job, tree["kind"], tree["metadata"]["name"]) for job in jobs for tree in found[job]
            )
        return None if missing else True

    with suppress(AssertionError):
        until(complete, "the objects")
    assert not missing
    return found


def _place(tree: Tree) -> tuple[str, str]:
    return tree["metadata"]["namespace"], tree["metadata"]["name"]


def _owner(tree: Tree) -> str:
    owners = tree["metadata"].get("ownerReferences", ())
    return next((owner["name"] for owner in owners if owner["kind"] == "TrainJob"), "")


def _different(pair: Pair) -> list[str]:
    """Return the differing objects as text; none if there is no difference."""
    ours, theirs = ({_key(tree): _content(tree) for tree in trees} for trees in (pair.ours, pair.theirs))
    if are_equal(ours, theirs):
        return []
    old, new = (yaml.safe_dump(side).splitlines() for side in (theirs, ours))
    return [pair.name, *unified_diff(old, new, "the controller", "trainc", lineterm="")]


def _key(tree: Tree) -> str:
    return f"{tree['apiVersion']}/{tree['kind']}/{tree['metadata']['name']}"


def _content(tree: Tree) -> Tree:
    """Return what a user can set: metadata of the server and the status are left out."""
    metadata = {key: tree["metadata"].get(key) or {} for key in ("namespace", "labels", "annotations")}
    return {key: value for key, value in tree.items() if key not in {"metadata", "status"}} | {"metadata": metadata}
