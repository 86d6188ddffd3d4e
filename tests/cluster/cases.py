"""What the tests apply: the compiled objects of the gallery and of generated jobs, moved into a test's namespaces."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

from cluster.server import Cluster
from differential import sound
from purposes import internal
from running import NO_LINT

import trainc
from trainc.compilation import Compiled, compile_paths
from trainc.compilation.run import Options, start
from trainc.kubernetes.names import dns1123_subdomain_errors

Tree = dict[str, Any]

GOLDEN: Final = Path(__file__).parents[2] / "golden"
GENERATED: Final = 300
QUARTER: Final = os.environ.get("QUARTER", "0")
"""The quarter of each sweep to check: 0 to 3, or all of them."""
T = TypeVar("T")


class Case(NamedTuple):
    """A compiled TrainJob or legacy job."""

    name: str
    compiled: Compiled

    def objects(self, namespace: str) -> list[Tree]:
        """Return the objects in a namespace."""
        objects = [deepcopy(dict(tree)) for tree in self.compiled.objects]
        for tree in objects:
            tree["metadata"]["namespace"] = namespace
        return objects

    def jobset(self, namespace: str = "default") -> Tree:
        """Return the JobSet in a namespace."""
        return next(tree for tree in self.objects(namespace) if tree["kind"] == "JobSet")


def quarter(sweep: Sequence[T]) -> Sequence[T]:
    """Return the cases of a sweep that this run checks: each fourth one."""
    return sweep if QUARTER == "all" else sweep[int(QUARTER) :: 4]


def golden() -> Iterator[Case]:
    """Yield every TrainJob and legacy job of the gallery that compiles, with the settings beside it."""
    for file in sorted(GOLDEN.glob("*/input.yaml")):
        paths = [str(file)]
        for number, compiled in enumerate(compile_paths(paths, start(Options()).with_project(paths)).jobs):
            yield Case(f"{file.parent.name}-{number}", compiled)


def generated(folder: Path, count: int, *, seed: int = 0) -> Iterator[Case]:
    """Yield generated TrainJobs that compile."""
    random, number = Random(seed), 0
    file = folder / "generated.json"
    while number < count:
        documents = sound.random_job(random)
        documents[-1]["metadata"]["name"] += f"-{number}"
        file.write_text("\n".join(map(json.dumps, documents)))
        for compiled in internal(trainc.compile([str(file)], options=Options(settings=NO_LINT))).jobs:
            yield Case(f"generated-{number}", compiled)
            number += 1


def placed(cluster: Cluster, cases: Iterable[Case]) -> list[Tree]:
    """Return the objects of all cases, in as few new namespaces as their names allow."""
    namespaces: list[tuple[str, set[str]]] = []
    objects: list[Tree] = []
    for case in cases:
        name = case.compiled.name
        free = next((one for one in namespaces if name not in one[1]), None)
        if free is None:
            namespaces.append(free := (cluster.namespace("stored"), set()))
        free[1].add(name)
        objects += case.objects(free[0])
    return objects


def prerequisites(objects: Iterable[Tree]) -> list[Tree]:
    """Return the objects without which the API server creates no pods for some JobSets; none with an invalid name."""
    found: dict[tuple[str, str, str], Tree] = {}
    for jobset in objects:
        namespace = jobset["metadata"]["namespace"]
        for replicated in jobset["spec"].get("replicatedJobs", ()) if jobset["kind"] == "JobSet" else ():
            pod = replicated["template"]["spec"]["template"].get("spec", {})
            if name := pod.get("serviceAccountName"):
                tree = {
                    "apiVersion": "v1",
                    "kind": "ServiceAccount",
                    "metadata": {"name": name, "namespace": namespace},
                }
                found["ServiceAccount", namespace, name] = tree
            name = pod.get("priorityClassName", "system-")
            if isinstance(name, str) and not name.startswith("system-"):
                tree = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
                found["PriorityClass", "", name] = tree | {"value": 1}
            if name := pod.get("runtimeClassName"):
                tree = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}}
                overhead = {"overhead": {"podFixed": pod["overhead"]}} if pod.get("overhead") else {}
                found["RuntimeClass", "", name] = tree | {"handler": "runc"} | overhead
    return [tree for tree in found.values() if not dns1123_subdomain_errors(tree["metadata"]["name"])]
