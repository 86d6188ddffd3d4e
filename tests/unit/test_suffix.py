"""The name suffix: the changes that create a new JobSet, those that do not, and the references to the new name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from batches import one_in_four
from manifests import GOLDEN_CASES, cluster_runtime, replicated_job, train_job
from purposes import internal
from running import run

import trainc
from trainc.base.releases import DEFAULT_RELEASE
from trainc.compilation import Compiled
from trainc.compilation.run import Options
from trainc.kubernetes.trees import put
from trainc.pipeline.checks.jobset import update
from trainc.pipeline.generated_names import LETTERS, digest
from trainc.pipeline.objects import Delivery
from trainc.provenance.tracing.correspondence import leaves, value_at
from trainc.provenance.tracing.experiments import InputField, altered, substitute

GOLDEN = Path(__file__).parents[2] / "golden"
HASHED = Delivery(name_suffix_hash=True)


def mpi_runtime(**fields: Any) -> dict[str, Any]:
    image = {"image": "docker.io/team/mpi:5"}
    jobs = replicated_job("launcher", image, trainer=True), replicated_job("node", image, trainer=False)
    gang = {"coscheduling": {"scheduleTimeoutSeconds": 60}}
    return edited(cluster_runtime(*jobs, name="mpi", mlPolicy={"mpi": {}}, podGroupPolicy=gang), fields)


def mpi_train_job(**fields: Any) -> dict[str, Any]:
    trainer = {"numNodes": 2, "command": ["mpirun", "go"], "resourcesPerNode": {"requests": {"cpu": 1}}}
    return edited(train_job(trainer, name="glacier", runtime="mpi", metadata={"namespace": "climate"}), fields)


def edited(tree: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the tree with other values at paths, whose steps are separated by two underscores."""
    for path, value in fields.items():
        tree = put(tree, tuple(path.split("__")), value)
    result: dict[str, Any] = tree
    return result


def name_of(folder: Path, *documents: dict[str, Any], delivery: Delivery = HASHED) -> str:
    """Return the name of the JobSet that these documents compile to."""
    file = folder / "x.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    done = internal(trainc.compile([str(file)], options=Options(**delivery._asdict())))
    assert not done.failed, done.diagnostics
    return str(done.objects[0]["metadata"]["name"])


def test_the_name_is_the_trainjobs_with_eight_letters_behind_it(tmp_path: Path) -> None:
    assert name_of(tmp_path, mpi_runtime(), mpi_train_job(), delivery=Delivery()) == "glacier"
    assert re.fullmatch(f"glacier-[{LETTERS}]{{8}}", name_of(tmp_path, mpi_runtime(), mpi_train_job()))


@pytest.mark.parametrize(
    ("of_job", "of_runtime"),
    [
        pytest.param({"spec__suspend": True}, {}, id="suspend"),
        pytest.param({"metadata__labels": {"team": "ice"}}, {}, id="a label"),
        pytest.param({"metadata__annotations": {"owner": "a@b.c"}}, {}, id="an annotation"),
        pytest.param({}, {"spec__template__metadata": {"labels": {"team": "ice"}}}, id="a label of the runtime"),
        pytest.param({}, {"spec__template__spec__ttlSecondsAfterFinished": 600}, id="how long it stays"),
        pytest.param({}, {"spec__template__spec__coordinator": {"replicatedJob": "launcher"}}, id="the coordinator"),
        pytest.param({}, {"spec__podGroupPolicy": {"coscheduling": {"scheduleTimeoutSeconds": 90}}}, id="a PodGroup"),
        pytest.param({"spec__trainer__resourcesPerNode": {"requests": {"cpu": "1000m"}}}, {}, id="the same quantity"),
        pytest.param({"spec__trainer__env": []}, {}, id="an empty list"),
    ],
)
def test_the_same_name_where_the_jobset_can_change_in_place(
    of_job: dict[str, Any], of_runtime: dict[str, Any], tmp_path: Path
) -> None:
    changed = name_of(tmp_path, mpi_runtime(**of_runtime), mpi_train_job(**of_job))
    assert changed == name_of(tmp_path, mpi_runtime(), mpi_train_job())


@pytest.mark.parametrize(
    ("of_job", "of_runtime"),
    [
        pytest.param({"spec__trainer__image": "docker.io/team/mpi:6"}, {}, id="an image"),
        pytest.param({"spec__trainer__command": ["mpirun", "stop"]}, {}, id="a command"),
        pytest.param({"spec__trainer__env": [{"name": "A", "value": "1"}]}, {}, id="a variable"),
        pytest.param({"spec__trainer__numNodes": 3}, {}, id="how many nodes"),
        pytest.param({"spec__trainer__resourcesPerNode": {"requests": {"cpu": 2}}}, {}, id="a request"),
        pytest.param({}, {"spec__mlPolicy__mpi__mpiImplementation": "Intel"}, id="the implementation"),
        pytest.param({}, {"spec__template__spec__failurePolicy": {"maxRestarts": 1}}, id="a policy that was not there"),
        pytest.param({}, {"spec__template__spec__network": {"subdomain": "ice"}}, id="the subdomain"),
    ],
)
def test_another_name_where_it_cannot(of_job: dict[str, Any], of_runtime: dict[str, Any], tmp_path: Path) -> None:
    changed = name_of(tmp_path, mpi_runtime(**of_runtime), mpi_train_job(**of_job))
    assert changed != name_of(tmp_path, mpi_runtime(), mpi_train_job())


def test_another_name_where_only_the_hostfile_changes(tmp_path: Path) -> None:
    one, two = ({"kind": "ConfigMap", "data": {"hostfile": f"a slots={slots}\n"}} for slots in (1, 2))
    jobset = golden_jobs("name-suffix-hash")[0].objects[0]
    assert digest([jobset, one]) != digest([jobset, two])
    assert digest([jobset, one]) == digest([jobset, one | {"metadata": {"labels": {"team": "ice"}}}])


def test_the_other_options_do_not_change_the_name(tmp_path: Path) -> None:
    documents = mpi_runtime(), mpi_train_job()
    assert name_of(tmp_path, *documents, delivery=Delivery(True, True, True)) == name_of(tmp_path, *documents)


def golden_jobs(case: str, delivery: Delivery = HASHED) -> tuple[Compiled, ...]:
    return internal(trainc.compile([str(GOLDEN / case / "input.yaml")], options=Options(**delivery._asdict()))).jobs


@pytest.mark.parametrize("case", one_in_four(GOLDEN_CASES))
def test_everything_that_refers_to_a_name_follows(case: str) -> None:
    text = (GOLDEN / case / "input.yaml").read_text()
    for plain, hashed in zip(golden_jobs(case, Delivery()), golden_jobs(case), strict=True):
        name, suffix = hashed.name, hashed.plan.suffix
        without = json.dumps(hashed.objects).replace(f"{name}{suffix}", name)
        assert json.loads(without) == json.loads(json.dumps(plain.objects))
        bare = re.compile(rf"(?<![a-z0-9-]){re.escape(name)}(?![a-z0-9])(?!{suffix})")
        left = {string for tree in hashed.objects for string in strings(tree) if bare.search(string)}
        # Names that the user wrote stay, and a Secret has no suffix because it is created once.
        assert {string for string in left if string not in text} <= {f"{name}-mpi-ssh-auth", f"{name}-flux-curve"}


def strings(tree: Any) -> Iterator[str]:
    return (value for leaf in leaves(tree) if isinstance(value := value_at(tree, leaf), str))


@pytest.mark.parametrize("case", one_in_four(GOLDEN_CASES))
def test_where_the_hash_stays_nothing_is_refused(case: str) -> None:
    """Yield a JobSet for each of its fields in turn, with the field changed or removed."""
    old = golden_jobs(case)[0].objects[0]
    hash, seen = digest([old]), 0
    for path in leaves(old):
        if path[:2] in (("metadata", "name"), ("metadata", "namespace")):
            continue
        field = InputField("job", path, value := value_at(old, path), substitute(value, "1"))
        for new in (altered(old, (field,), remove=remove) for remove in (False, True)):
            refused = [
                violation for violation in update.refused(old, new, DEFAULT_RELEASE) if violation.rule == update.RULE
            ]
            assert not (refused and digest([new]) == hash), path
            seen += bool(refused)
    assert seen


def test_the_file_has_the_trainjobs_name(tmp_path: Path) -> None:
    case = str(GOLDEN / "name-suffix-hash" / "input.yaml")
    assert run("build", case, "-o", str(tmp_path / "out"), "--name-suffix-hash").code == 0
    text = (tmp_path / "out" / "climate" / "glacier.yaml").read_text()
    assert re.search(r"\n  name: glacier-\w{8}\n", text)


def test_a_suffixed_name_comes_from_the_trainjobs() -> None:
    (job,) = golden_jobs("name-suffix-hash")
    line = (GOLDEN / "name-suffix-hash" / "input.yaml").read_text().splitlines().index("  name: glacier") + 1
    volume = ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec", "volumes", 1, "configMap", "name")
    for index, path in [(0, ("metadata", "name")), (1, ("metadata", "name")), (0, volume)]:
        written, origin = job.trace().origins(index, path)
        assert (written.stage, written.is_hash, origin.is_hash) == ("deliver", True, False)
        assert written.value == str(origin.value).replace("glacier", f"glacier{job.plan.suffix}")
        assert origin.place.locate().line == line
        assert job.trace().origin(index, path) == origin


def test_validate_and_pods_know_the_names() -> None:
    case = str(GOLDEN / "wrong-name-suffix" / "input.yaml")
    assert run("validate", case).code == 0
    assert "generated-name-too-long" in run("validate", case, "--name-suffix-hash").out
    case = str(GOLDEN / "name-suffix-hash" / "input.yaml")
    assert re.search(r"glacier-\w{8}-node-0-1", run("pods", case, "--name-suffix-hash").out)


def test_without_the_option_nothing_of_it_is_loaded() -> None:
    program = "import sys; from trainc import compile; compile(sys.argv[1:]); print(*sys.modules)"
    case = str(GOLDEN / "llm-finetune-4x8" / "input.yaml")
    done = subprocess.run([sys.executable, "-c", program, case], capture_output=True, text=True, check=True)
    assert not {"trainc.pipeline.generated_names", "trainc.pipeline.checks.jobset.update", "hashlib"} & {
        *done.stdout.split()
    }
