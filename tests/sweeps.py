"""A made-up kind with a front end, for tests of what every such kind can rely on.

A Sweep of lab.kubeflow.org/v1 has a number of workers and a pod template. It becomes a TrainJob with a runtime of its
own, which uses the policy of JAX.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from trainc.base import data, kinds
from trainc.base.kinds import JOBSET, RUNTIME, TRAINJOB, VERSION, Kind
from trainc.frontends.gangs import GangScheduler
from trainc.frontends.lowering import FrontEnd, Lowered, Move
from trainc.kubernetes.trees import Tree
from trainc.kubernetes.violations import Violation
from trainc.pipeline.frameworks import Framework
from trainc.settings import schema as settings_schema

SCHEMA = "acme-1"
SWEEP = Kind(
    "Sweep",
    ("lab.kubeflow.org/v1",),
    "job",
    "Sweep",
    (("spec", "template"),),
    framework="sweep",
    module="sweep",
    schema=SCHEMA,
)
SPEC = ("spec", "template", "spec")
JOB = (*SPEC, "replicatedJobs", 0)
ANCESTOR = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}


def violations(written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield nothing: a Sweep has no webhook."""
    yield from ()


def lower(job: Tree, gang: GangScheduler | None) -> Lowered:
    """Return a Sweep as a TrainJob and its runtime."""
    metadata, spec = job["metadata"], job["spec"]
    own = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    replicated = {"name": "node", "template": {"metadata": ANCESTOR, "spec": {"template": spec["template"]}}}
    template: Tree = {"spec": {"replicatedJobs": [replicated]}}
    if "keep" in spec:
        template["spec"]["ttlSecondsAfterFinished"] = spec["keep"]
    return Lowered(
        job={
            "apiVersion": VERSION,
            "kind": TRAINJOB.kind,
            "metadata": metadata,
            "spec": {"runtimeRef": {"kind": RUNTIME.kind, **own}, "trainer": {"numNodes": spec["workers"]}},
        },
        runtime={
            "apiVersion": VERSION,
            "kind": RUNTIME.kind,
            "metadata": own,
            "spec": {"mlPolicy": {"jax": {}}, "template": template},
        },
        of_job=(Move(("spec", "workers"), ("spec", "trainer", "numNodes")),),
        of_runtime=(
            Move(("spec", "template"), (*JOB, "template", "spec", "template")),
            Move(("spec", "keep"), (*SPEC, "ttlSecondsAfterFinished")),
        ),
    )


def schema() -> Any:
    """Return the schema of a Sweep, with the pod template of a Job in JobSet's schema."""
    jobset = json.loads(Path(data.data_path("schemas", "jobset-0.12", "JobSet.json")).read_text())
    replicated = jobset["properties"]["spec"]["properties"]["replicatedJobs"]["items"]["properties"]
    spec = {
        "type": "object",
        "required": ["workers", "template"],
        "properties": {
            "workers": {"type": "integer", "minimum": 1},
            "keep": {"type": "integer"},
            "template": replicated["template"]["properties"]["spec"]["properties"]["template"],
        },
    }
    strings = {key: {"type": "string"} for key in ("apiVersion", "kind")}
    properties = {**strings, "metadata": {"type": "object"}, "spec": spec}
    return {"type": "object", "required": ["spec"], "properties": properties, "$defs": jobset["$defs"]}


def install(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Add the kind to the table, with its schema in a copy of the data folder."""
    for each in ("schemas", "runtimes", "diagnostics", "templates"):
        (folder / each).mkdir()
        for path in Path(data.data_path(each)).iterdir():
            (folder / each / path.name).symlink_to(path)
    (folder / "schemas" / SCHEMA).mkdir()
    (folder / "schemas" / SCHEMA / f"{SWEEP.kind}.json").write_text(json.dumps(schema()))
    settings = Path(data.data_path("schemas", "trainc", "Settings.json")).read_text()
    (folder / "schemas" / "trainc").unlink()
    (folder / "schemas" / "trainc").mkdir()
    kinds_of_patches = f'"{JOBSET.kind}"\n'
    (folder / "schemas" / "trainc" / "Settings.json").write_text(
        settings.replace(kinds_of_patches, f'"{SWEEP.kind}", {kinds_of_patches}')
    )
    monkeypatch.setattr(data, "_ROOT", str(folder))
    monkeypatch.setattr(settings_schema, "_root", settings_schema._root.__wrapped__)
    module = ModuleType("trainc.legacy.sweep")
    framework = Framework(apply=lambda plan: plan, front_end=FrontEnd(violations, lower))
    vars(module).update(FRAMEWORKS={SWEEP.framework: framework})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    before, after = kinds.COMPILED, (*kinds.COMPILED, SWEEP)
    for module in [each for name, each in sys.modules.items() if name.startswith("trainc.")]:
        if getattr(module, "COMPILED", None) is before:
            monkeypatch.setattr(module, "COMPILED", after)
    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, SWEEP))
