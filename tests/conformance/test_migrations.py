"""Migrated legacy jobs: the pods of each recorded job are the same after `trainc migrate`, in each of its forms.

The objects of the new documents differ from those of the job only in rows of one table, and each row is needed by a
case. Host names are not literals: with a suffix, each pod finds the first pod of its own JobSet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from conformance.recordings import DATA, or_skip

import trainc
from trainc.compilation import Compilation, Options, compile_documents
from trainc.files.inputs import File, fault
from trainc.frontends.reading import Reading
from trainc.kubernetes import structural
from trainc.kubernetes.container_environment import Unknown
from trainc.pipeline.delivery import Delivery
from trainc.pods import jobs_of
from trainc.rewriting.migration import migrate
from trainc.rewriting.migration.accepted_differences import TABLE, compare
from trainc.rewriting.migration.migrated import FORMS, Form, Migrated, Migration
from trainc.rewriting.migration.output_files import documents

OPTIONS: Final = Options(legacy=True, no_config=True)
WITHOUT_A_FORM: Final = {
    "v0.8.0/workers-before-the-launcher": "the hostfile has the launcher first; Trainer lists the hosts in the order "
    "of the jobs, which dependsOn decides",
    "v0.8.0/slots-zero": "a TrainJob with no process on each node breaks the rule process-count",
}
"""The jobs that no TrainJob replaces."""
ADDRESS: Final = re.compile(r"^(?:.*_)?(?:MASTER_ADDR|COORDINATOR_ADDRESS|MASTER)$")
"""The variables with the address of the first pod."""


def cases() -> list[Any]:
    """Return the recorded jobs that compile."""
    found = []
    for path in sorted((DATA / "legacy").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            case = json.loads(line)
            if not case["refused"] and not trainc.compile(text=json.dumps(case["input"]), options=OPTIONS).failed:
                found.append(pytest.param(case["name"], json.dumps(case["input"]), id=f"{path.stem}/{case['name']}"))
    return or_skip(found)


CASES: Final = cases()


@cache
def migrated(text: str, form: Form | None = None) -> Migration:
    """Return the migration of one job."""
    return migrate(["-"], OPTIONS, form=form, stdin=text.encode())


@cache
def new_text(text: str, form: Form | None = None) -> str:
    """Return the documents that replace one job."""
    new = documents(migrated(text, form))
    return "---\n".join((*(text for _, text in new.jobs), *new.runtimes.values()))


def compiled(text: str, options: Options = OPTIONS) -> Compilation:
    return trainc.compile(text=text, options=options)


def jobs() -> Iterator[tuple[str, Migrated, Migration]]:
    for case in CASES:
        name, text = case.values
        if name not in WITHOUT_A_FORM:
            migration = migrated(text)
            yield name, migration.jobs[0], migration


@pytest.mark.parametrize(("name", "text"), CASES, scope="module")
def test_the_objects_differ_only_in_rows_of_the_table(name: str, text: str) -> None:
    before = compiled(text).jobs[0].objects
    if name in WITHOUT_A_FORM:
        assert migrated(text).jobs == ()
        assert [each.id for each in migrated(text).diagnostics if each.severity == "error"] == ["not-migratable"]
        return
    for form in (None, *FORMS):
        migration = migrated(text, form)
        if migration.jobs:
            after = compiled(new_text(text, form))
            assert [each.message for each in after.diagnostics if each.severity == "error"] == []
            comparison = compare(before, (*after.jobs[0].objects, *(each.value for each in after.others)))
            assert [each.field for each in comparison.others] == []
            assert comparison.rows == migration.jobs[0].rows
        else:
            assert form is not None, migration.diagnostics
            assert [each.id for each in migration.diagnostics if each.severity == "error"] == ["not-migratable"]


def test_each_row_is_needed() -> None:
    rows = {row.id for _, job, _ in jobs() for row in job.rows}
    assert [row.id for row in TABLE if row.id not in rows] == []


@pytest.mark.parametrize(("name", "text"), CASES, scope="module")
def test_each_pod_finds_the_first_pod_of_its_own_jobset(name: str, text: str) -> None:
    if name in WITHOUT_A_FORM:
        return
    settings = load_settings("nameSuffix: -dev\n")
    delivery = Delivery(name_suffix_hash=True)
    options = OPTIONS._replace(settings=settings._replace(delivery=delivery))
    reading = Reading(kinds=settings.kinds)
    reading.add(File("jobs.yaml", new_text(text).encode()))
    result = compile_documents(reading, options)
    [jobset, *_] = result.jobs[0].objects
    assert re.search(r"-dev-[a-z0-9]{8}$", jobset["metadata"]["name"])
    pods = [pod for job in jobs_of(jobset, {}) for pod in job.pods()]
    hosts = {pod.address for pod in pods}
    for pod in pods:
        for container in pod.containers:
            for variable, value in container.env.items():
                if ADDRESS.match(variable) and not isinstance(value, Unknown) and "$(" not in value:
                    host = value.split("://")[-1].split(":")[0]
                    assert not host.startswith(jobset["metadata"]["name"]) or host in hosts
                    assert host in {*hosts, "localhost", *foreign_hosts(text)}, (variable, value)


@pytest.mark.parametrize(("name", "text"), CASES, scope="module")
def test_a_result_breaks_only_the_rules_that_the_job_breaks(name: str, text: str) -> None:
    """The losses of a job are no rule of its TrainJob."""
    if name not in WITHOUT_A_FORM:
        before, after = (
            {each.id for each in compiled(found).diagnostics if each.severity != "note"}
            for found in (text, new_text(text))
        )
        assert after - before == set()


@pytest.mark.parametrize(("name", "text"), CASES, scope="module")
def test_trainer_accepts_a_result_without_extensions(name: str, text: str) -> None:
    if name not in WITHOUT_A_FORM:
        for job in migrated(text).jobs:
            for tree in (job.candidate.job, job.candidate.runtime):
                admitted = structural.load(tree["kind"], "trainer-2.3").admit(tree)
                is_accepted = not admitted.violations and not admitted.unknown
                assert is_accepted == (tree["kind"] == "TrainJob" or not job.candidate.extensions)


@pytest.mark.parametrize(("name", "text"), CASES, scope="module")
def test_a_result_has_nothing_to_migrate(name: str, text: str) -> None:
    if name not in WITHOUT_A_FORM:
        again = migrated(new_text(text))
        assert (again.jobs, again.legacy, again.diagnostics) == ((), (), ())


def foreign_hosts(text: str) -> set[str]:
    """Return the addresses that the author of a job wrote."""
    return set(re.findall(r"[\w.-]+", text))


def load_settings(text: str) -> Any:
    from trainc.settings import load_file
    from trainc.settings.extending import FileSource

    nowhere = FileSource(lambda path: fault(path, "is not read"), lambda path: path)
    folder = Path.cwd()
    return load_file(File("trainc.yaml", text.encode()), str(folder / "trainc.yaml"), nowhere, root=str(folder))
