"""Migrated legacy jobs: the pods of each recorded job are the same after `trainc migrate`, in each of its forms.

The objects of the new documents differ from those of the job only in rows of one table, and each row is needed by a
case. Host names are not literals: with a suffix, each pod finds the first pod of its own JobSet.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from batches import in_batches, one_in
from conformance.recordings import DATA, or_skip
from purposes import internal

import trainc
from trainc.compilation import Compilation, compile_documents
from trainc.compilation.run import Options, Run, start
from trainc.files.inputs import File
from trainc.files.walk import fault
from trainc.frontends.reading import Reading
from trainc.kubernetes import structural
from trainc.kubernetes.container_environment import Unknown
from trainc.kubernetes.trees import get, put
from trainc.pipeline.objects import Delivery
from trainc.pods import jobs_of
from trainc.rewriting.migration import migrate
from trainc.rewriting.migration.accepted_differences import ONE_JOB, TABLE, compare
from trainc.rewriting.migration.migrated import FORMS, Form, Migration
from trainc.rewriting.migration.one_job import in_one_job
from trainc.rewriting.migration.output_files import documents
from trainc.settings import Settings, load_file
from trainc.settings.extending import FileSource

OPTIONS: Final = Options(legacy=True, no_config=True)
PUBLIC: Final = Path(__file__).parents[1] / "migration"
"""The folders of public jobs."""
WITHOUT_A_FORM: Final = {
    "v0.8.0/workers-before-the-launcher": "the hostfile has the launcher first; Trainer lists the hosts in the order "
    "of the jobs, which dependsOn decides",
    "v0.8.0/slots-zero": "a TrainJob with no process on each node breaks the rule process-count",
}
"""The jobs that no TrainJob replaces."""
OF_NO_CLUSTER: Final = {
    "v1.9.3/s050-TFJob-all-zero": "the cluster in TF_CONFIG has no hosts",
    "v1.9.3/s063-TFJob-eval-worker": "numNodes changes the number of evaluators, which are in no cluster",
}
"""The jobs whose TF_CONFIG does not depend on the number that a later edit changes."""
ADDRESS: Final = re.compile(r"^(?:.*_)?(?:MASTER_ADDR|COORDINATOR_ADDRESS|MASTER)$")
"""The variables with the address of the first pod."""


def cases() -> list[Any]:
    """Return the recorded jobs that the operators admitted. test_legacy_jobs.py tests which of them compile."""
    found = []
    for path in sorted((DATA / "legacy").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            case = json.loads(line)
            if not case["refused"]:
                found.append(pytest.param(case["name"], json.dumps(case["input"]), id=f"{path.stem}/{case['name']}"))
    return or_skip(found)


def settings_of(text: str) -> Settings:
    nowhere = FileSource(lambda path: fault(path, "is not read"), lambda path: path)
    folder = Path.cwd()
    return load_file(File("trainc.yaml", text.encode()), str(folder / "trainc.yaml"), nowhere, root=str(folder))


CASES: Final = cases()
SUFFIXED: Final = settings_of("nameSuffix: -dev\n")


@cache
def migrated(text: str, form: Form | None = None) -> Migration:
    """Return the migration of one job."""
    return migrate(["-"], start(OPTIONS), form=form, stdin=text.encode())


@cache
def new_text(text: str, form: Form | None = None) -> str:
    """Return the documents that replace one job."""
    new = documents(migrated(text, form))
    return "---\n".join((*(job.document for job in new.jobs), *new.runtimes.values()))


@cache
def compiled_text(text: str) -> Compilation:
    return internal(trainc.compile(text=text, options=OPTIONS))


@in_batches("name, text", one_in(12, CASES))
def test_a_migration(name: str, text: str) -> None:
    if compiled_text(text).failed:
        return  # the operator crashed
    if name in WITHOUT_A_FORM:
        assert migrated(text).jobs == ()
        assert [each.id for each in migrated(text).diagnostics if each.severity == "error"] == ["not-migratable"]
        return
    its_objects_differ_only_in_rows_of_the_table(text)
    each_pod_finds_the_first_pod_of_its_own_jobset(text)
    it_breaks_only_the_rules_that_the_job_breaks(text)
    trainer_accepts_it_without_extensions(text)
    it_has_nothing_to_migrate(text)
    if name not in OF_NO_CLUSTER:
        another_number_of_nodes_works_or_is_reported(text)


def its_objects_differ_only_in_rows_of_the_table(text: str) -> None:
    compiled = compiled_text(text).jobs[0]
    chosen = {each.candidate.form for each in migrated(text).jobs}
    for form in (None, *(form for form in FORMS if form not in chosen)):
        migration = migrated(text, form)
        if migration.jobs:
            after = compiled_text(new_text(text, form))
            assert [each.message for each in after.diagnostics if each.severity == "error"] == []
            is_whole = migration.jobs[0].candidate.is_one_job
            whole = in_one_job(compiled) if is_whole else compiled
            assert whole is not None
            comparison = compare(whole.objects, (*after.jobs[0].objects, *(each.value for each in after.others)))
            assert [each.field for each in comparison.others] == []
            assert ((ONE_JOB,) if is_whole else ()) + comparison.rows == migration.jobs[0].rows
        else:
            assert form is not None, migration.diagnostics
            assert [each.id for each in migration.diagnostics if each.severity == "error"] == ["not-migratable"]


def each_pod_finds_the_first_pod_of_its_own_jobset(text: str) -> None:
    settings = SUFFIXED._replace(delivery=Delivery(name_suffix_hash=True))
    reading = Reading(kinds=SUFFIXED.kinds)
    reading.add(File("jobs.yaml", new_text(text).encode()))
    result = compile_documents(reading, Run(settings=settings))
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


def it_breaks_only_the_rules_that_the_job_breaks(text: str) -> None:
    """The losses of a job are no rule of its TrainJob."""
    before, after = (
        {each.id for each in compiled_text(found).diagnostics if each.severity != "note"}
        for found in (text, new_text(text))
    )
    assert after - before == set()


def trainer_accepts_it_without_extensions(text: str) -> None:
    for job in migrated(text).jobs:
        for tree in (job.candidate.job, job.candidate.runtime):
            admitted = structural.load(tree["kind"], "trainer-2.3").admit(tree)
            is_accepted = not admitted.violations and not admitted.unknown
            assert is_accepted == (tree["kind"] == "TrainJob" or not job.candidate.extensions)


def it_has_nothing_to_migrate(text: str) -> None:
    again = migrated(new_text(text))
    assert (again.jobs, again.legacy, again.diagnostics) == ((), (), ())


def another_number_of_nodes_works_or_is_reported(text: str) -> None:
    """No variable keeps the old number without a word."""
    old, found = compiled_text(new_text(text)), migrated(text)
    candidate = found.jobs[0].candidate
    nodes: int = get(candidate.job, ("spec", "trainer", "numNodes"), 1)
    job = put(candidate.job, ("spec", "trainer"), get(candidate.job, ("spec", "trainer"), {}) | {"numNodes": nodes + 3})
    new = compiled_text(yaml.safe_dump_all([job, *candidate.files, *found.runtimes.values()]))
    if new.failed or {each.id for each in new.diagnostics} > {each.id for each in old.diagnostics}:
        return
    before, after = (numbers(each.jobs[0].objects[0], candidate.counts) for each in (old, new))
    assert [name for name in before if before[name] == after[name]] == []


def numbers(jobset: Any, counts: frozenset[str]) -> dict[str, str]:
    """Return the variables that hold a number of pods, without ranges of it."""
    jobs = [job["template"]["spec"]["template"]["spec"] for job in jobset["spec"]["replicatedJobs"]]
    env = [each for pod in jobs for container in pod["containers"] for each in container.get("env") or ()]
    found = {each["name"]: str(each.get("value")) for each in env if each["name"] in counts}
    return {name: value for name, value in found.items() if not re.fullmatch(r"\d+:\d+", value)}


def foreign_hosts(text: str) -> set[str]:
    """Return the addresses that the author of a job wrote."""
    return set(re.findall(r"[\w.-]+", text))


NEEDED_BY: Final = {
    "jaxjob/v1.9.3/s139-JAXJob-volcano": {
        "job-names", "container-names", "host-names", "job-name-label", "added-variables", "variable-order"
    },
    "mpijob/v0.8.0/openmpi-keys-of-another-user": {"volume-names", "trainer-labels", "ssh-key-modes", "search-domain"},
    "mpijob/v0.8.0/host-names-in-the-text": {"unused-ssh-keys"},
    "jaxjob/v1.9.3/s138-JAXJob-basic": {"time-to-live", "added-port"},
    "intel-mpi": {"ssh-key-group"},
    "equal-roles": {"one-job", "unread-processes"},
    "passed-on": {"passed-on", "default-limit", "end-of-all"},
    "pytorchjob/v1.7.0/s000-empty-policy": {"port-names"},
    "pytorchjob/v1.7.0/s013-host-only": {"rendezvous-port"},
    "pytorchjob/v1.7.0/s094-static-master-only": {"process-variables"},
    "volcanojob/v1.15.1/queue-and-limits": {"requests-of-limits", "queue-annotation"},
}  # fmt: skip
"""The rows of the table, by a case that needs them."""


def test_each_row_is_needed() -> None:
    texts = {case.id: case.values[1] for case in CASES}
    texts |= {path.parent.name: path.read_text() for path in PUBLIC.glob("*/input.yaml")} if texts else {}
    for case, rows in NEEDED_BY.items() if texts else ():
        assert rows <= {row.id for row in migrated(texts[case]).jobs[0].rows}, case
    assert set().union(*NEEDED_BY.values()) == {row.id for row in TABLE}
