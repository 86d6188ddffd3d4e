"""`trainc.diff`: the review as a value of the public API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from committing import commit, git
from running import run

import trainc
from trainc.api.reviews import ReviewFormat
from trainc.cli.common.options import REVIEWS

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: NAME, namespace: ml}
spec: {runtimeRef: {name: torch-distributed}, trainer: {numNodes: 4, env: [{name: API_TOKEN, value: hunter2}]}}
"""


def _write(jobs: dict[str, str]) -> None:
    for name, text in jobs.items():
        with open(f"{name}.yaml", "w") as file:
            file.write(text.replace("NAME", name))


pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.fixture
def repository(empty_folder: Path) -> None:
    """A repository with an edited, a removed and an added job in its working tree, in two environments."""
    git("init", "--quiet")
    with open("trainc.yaml", "w") as file:
        file.write("environments: {dev: {namespaceSuffix: -dev}, prod: {}}\n")
    _write({"a": JOB, "b": JOB})
    commit()
    git("rm", "--quiet", "b.yaml")
    _write({"a": JOB.replace("numNodes: 4", "numNodes: 8").replace("hunter2", "hunter3"), "c": JOB})


@pytest.mark.usefixtures("repository")
def test_one_entry_for_each_job() -> None:
    review = trainc.diff()
    assert [(job.name, job.status, job.environments) for job in review.jobs] == [
        ("ml/a", "changed", ("dev", "prod")),
        ("ml/b", "removed", ("dev", "prod")),
        ("ml/c", "added", ("dev", "prod")),
    ]
    assert review.summary == "2 to add, 2 to change, 2 to remove"
    assert not review.is_empty
    [changed] = review.jobs[0].objects
    fields = {field.field.rpartition(".")[2]: field for field in changed.changes}
    assert (fields["parallelism"].old, fields["parallelism"].new) == (4, 8)
    assert str(fields["parallelism"].at) == "a.yaml:4:67"
    assert fields["parallelism"].effect == changed.effect == "new-object"
    assert "hunter" not in repr(review.jobs)
    assert [job.environments for job in trainc.diff("HEAD", environment="dev").jobs] == [("dev",)] * 3


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("form", REVIEWS)
def test_the_formats_of_the_command(form: ReviewFormat) -> None:
    assert trainc.diff("HEAD", "--", "a.yaml").render(form) == run("diff", "--format", form, "HEAD", "--", "a.yaml").out
    assert get_args(ReviewFormat) == REVIEWS


@pytest.mark.usefixtures("repository")
def test_two_results_are_compared_as_two_files() -> None:
    text = JOB.replace("NAME", "one")
    _write({"old": text, "new": text.replace("numNodes: 4", "numNodes: 8")})
    results = [trainc.compile(f"{name}.yaml", environment="prod") for name in ("old", "new")]
    [job] = trainc.diff(*results).jobs
    [entry] = json.loads(run("diff", "old.yaml", "new.yaml", "--env", "prod", "--format", "json").out)["objects"]
    assert [field.field for field in job.objects[0].changes] == [change["field"] for change in entry["changes"]]
    assert trainc.diff(results[0], results[0]).is_empty


def test_an_error_of_the_new_result_prevents_the_review() -> None:
    review = trainc.diff(
        trainc.compile(text=JOB.replace("NAME", "a")),
        trainc.compile(text=JOB.replace("torch-", "no-").replace("NAME", "a")),
    )
    assert review.failed
    assert [diagnostic.id for diagnostic in review.diagnostics] == ["runtime-not-found"]
    assert review.jobs == ()


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("sides", "message"),
    [
        (("nowhere..HEAD",), 'sides: unknown revision "nowhere"'),
        (("a.yaml",), "a.yaml is only one side: add a second path, or a revision before it"),
        ((1,), "sides must be a path (str or os.PathLike) or a list of paths, not int"),
        (
            (trainc.compile(text=JOB.replace("NAME", "a")), "a.yaml"),
            "sides must be two results, or the arguments of `trainc diff`",
        ),
    ],
)
def test_wrong_sides_are_named(sides: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        trainc.diff(*sides)
    assert str(raised.value) == message


def test_an_unknown_format_is_named() -> None:
    result = trainc.compile(text=JOB.replace("NAME", "a"))
    with pytest.raises(ValueError, match="form must be one of text, markdown, json, html, not 'yaml'"):
        trainc.diff(result, result).render("yaml")  # type: ignore[arg-type]
