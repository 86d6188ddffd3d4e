"""What trainc refuses late, the cluster refuses as well, at the same field.

A refused job has no output. The tests apply the JobSet that the pipeline had compiled when it found the error: the API
server rejects it at once for its schema or by JobSet's webhook, or the controllers cannot create its Job or its pods.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from cluster.cases import prerequisites, quarter
from cluster.server import Answer, Cluster, collection, until
from conformance.test_trainer import spelling
from differential import faults, sound
from running import NO_LINT

import trainc
from trainc.compilation.run import Options
from trainc.pipeline import stages
from trainc.pipeline.checks import created_jobs
from trainc.pipeline.passes import store
from trainc.pipeline.plan import Plan

Tree = dict[str, Any]

WANTED = 200
NO_FIELD = "<nil>: "
"""How the server's messages begin if they are about no single field."""
STAGES = ("jobset-schema", "jobset", "job")


class Refused(NamedTuple):
    """A JobSet that trainc refuses."""

    stage: str
    jobset: Tree
    fields: frozenset[str]
    """The fields of trainc's errors, as the server spells them."""


def test_refused_jobs(
    cluster: Cluster, counted: Callable[[str, int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = cluster.namespace("refusals")
    cases = quarter(list(_refused_jobs(tmp_path, monkeypatch, namespace)))
    cluster.apply([*prerequisites(case.jobset for case in cases if case.stage == "job")])
    wrong, later = [], []
    for case in cases:
        answer = cluster.try_create(case.jobset)
        if answer.code < 300:
            later.append(case)
            continue
        if not _names(answer, case.fields):
            wrong.append(f"{case.stage}: {sorted(case.fields)}, but the server says {answer.message}")
    assert {case.stage for case in later} <= {"job"}, [case for case in later if case.stage != "job"]
    wrong += _not_refused_later(cluster, later)
    cluster.ask("DELETE", collection("JobSet", namespace))  # the controllers would try again for the rest of the run
    assert not wrong, "\n".join(wrong)
    for stage, count in Counter(case.stage for case in cases).items():
        counted(f"refused jobs, stage {stage}", count)


def _names(answer: Answer, fields: frozenset[str]) -> bool:
    """Whether the server's errors are at fields that trainc names, or have no field."""
    causes = answer.body.get("details", {}).get("causes", [])
    named = {spelling(cause["field"]) for cause in causes} - {"", "<nil>"}
    return named <= fields and bool(named or NO_FIELD in answer.message)


def _not_refused_later(cluster: Cluster, cases: Sequence[Refused]) -> list[str]:
    """Create JobSets that the server accepts; return those for which no controller reports the field."""
    for case in cases:
        assert cluster.create(case.jobset).code == 201
    left = list(cases)

    def reported() -> bool | None:
        for case in left.copy():
            name = case.jobset["metadata"]["name"]
            texts = [spelling(text) for text in _warnings(cluster, case.jobset["metadata"]["namespace"], name)]
            if any(field in text for field in case.fields for text in texts):
                left.remove(case)
        return True if not left else None

    with suppress(AssertionError):
        until(reported, "every refusal", seconds=20)
    # An event has at most 1,024 characters. A Job with a long value in its error has none.
    left = [case for case in left if not any(_names(answer, case.fields) for answer in _jobs(cluster, case.jobset))]
    return [f"{case.stage}: {sorted(case.fields)}, but no event names it: {case.jobset}" for case in left]


def _jobs(cluster: Cluster, jobset: Tree) -> Iterator[Answer]:
    """Yield the server's answers to the creation of each Job of a JobSet."""
    for replicated in jobset["spec"]["replicatedJobs"]:
        yield cluster.try_create(created_jobs.make_job(jobset, replicated))


def _warnings(cluster: Cluster, namespace: str, jobset: str) -> Iterator[str]:
    """Yield the messages of the warnings about a JobSet and its Jobs."""
    for event in cluster.list("Event", namespace):
        name = event["involvedObject"]["name"]
        if event["type"] == "Warning" and (name == jobset or name.startswith(f"{jobset}-")):
            yield event["message"]


def _refused_jobs(folder: Path, monkeypatch: pytest.MonkeyPatch, namespace: str) -> Iterator[Refused]:
    """Yield generated JobSets with faults that trainc finds after the last admission of the TrainJob."""
    plans: list[Plan] = []
    run = stages.run

    def recorded(plan: Plan) -> Plan:
        plans.append(run(plan))
        return plans[-1]

    monkeypatch.setattr(stages, "run", recorded)
    random, file, number = Random(0), folder / "generated.json", 0
    while number < WANTED:
        documents = sound.random_job(random)
        faults.spoil(random, documents)
        documents[-1]["metadata"]["name"] = f"j{number}"
        file.write_text("\n".join(map(json.dumps, documents)))
        plans.clear()
        errors = [
            d
            for d in trainc.compile([str(file)], options=Options(settings=NO_LINT)).diagnostics
            if d.severity == "error"
        ]
        if not plans or not errors or any(error.stage not in STAGES for error in errors):
            continue
        jobset = deepcopy(dict(plans[0].objects[0] if plans[0].objects else store.jobset(plans[0])))
        jobset["metadata"]["namespace"] = namespace
        jobset["spec"].pop("suspend", None)  # the controllers would create nothing
        for replicated in jobset["spec"].get("replicatedJobs", ()):
            replicated.pop("dependsOn", None)  # its Job would be created after the pods of another have ended
            replicated["template"]["spec"].pop("suspend", None)
        yield Refused(errors[0].stage, jobset, frozenset(spelling(error.field) for error in errors))
        number += 1
