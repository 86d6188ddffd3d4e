"""`make fuzz`: random edits of a trainc.yaml; the review has the objects that differ, each with the settings.

A project has two TrainJobs, one of them an MPI job, and two folders of runtimes. It is compiled with two random
settings files: the objects that differ are those of the review, and each change has a cause or names the changed
settings. The test pairs objects by their TrainJob. `make test` runs only a few examples.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from batches import drawn_apart, rounds
from committing import git
from files import write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainc.compilation import Compilation, compile_paths
from trainc.compilation.environment_runs import selected
from trainc.compilation.run import BUILD, NO_OPTIONS, Run, start
from trainc.diagnostics import Diagnostic
from trainc.review import compare
from trainc.review.reviewed import Review
from trainc.review.sides.side_arguments import parse_sides

EXAMPLES = int(os.environ.get("EXAMPLES") or len(rounds(1000))) // 40
"""The number of pairs of files: each one compiles the project a dozen times."""
RUN = start(NO_OPTIONS, BUILD)
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: team, labels: {{a: own}}}}
spec: {{runtimeRef: {{name: {name}}}, trainer: {{numNodes: 2, image: "ghcr.io/acme/{name}:1"}}}}
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: {name}, labels: {{trainer.kubeflow.org/framework: {framework}}}}}
spec:
  mlPolicy: {{numNodes: 1, {framework}: {{}}}}
  template:
    spec:
      replicatedJobs:
      - name: {role}
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                containers:
                - {{name: node, image: "ghcr.io/acme/runtime:{tag}", resources: {{limits: {{acme.io/gpu: 1}}}}}}
{launcher}"""
LAUNCHER = """\
      - name: launcher
        template:
          spec:
            template:
              spec:
                containers: [{name: launcher, image: "ghcr.io/acme/launcher:1"}]
"""
PATCH = {"target": {"kind": "JobSet"}, "patch": {"spec": {"ttlSecondsAfterFinished": 60}}}
HASH = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{8}(?=-|$)")


def mappings(*keys: str, values: tuple[str, ...]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(keys), st.sampled_from(values), max_size=len(keys))


LAYER: dict[str, st.SearchStrategy[Any]] = {
    "labels": mappings("a", "b", values=("v", "w")),
    "annotations": mappings("c", values=("v", "w")),
    "namePrefix": st.sampled_from(["", "p-", "q-"]),
    "nameSuffix": st.sampled_from(["", "-s"]),
    "namespace": st.sampled_from(["ml", "other"]),
    "images": st.lists(
        st.fixed_dictionaries(
            {"name": st.sampled_from(["ghcr.io/acme/one", "ghcr.io/acme/runtime"])},
            optional={"newTag": st.sampled_from(["2", "3"]), "newName": st.just("registry.example.com/x")},
        ).filter(lambda item: len(item) > 1),
        max_size=2,
        unique_by=lambda item: item["name"],
    ),
    "exclude": st.lists(st.sampled_from(["one.yaml", "two.yaml", "jobs/two.yaml", "no.yaml"]), max_size=2, unique=True),
    "delivery": st.dictionaries(st.sampled_from(["nameSuffixHash", "argocdReplace", "suspend"]), st.booleans()),
    "patches": st.lists(
        st.sampled_from([PATCH, {"patch": {"spec": {"suspend": True}}, "target": {"kind": "TrainJob", "name": "one"}}]),
        max_size=2,
    ),
    "accelerators": st.sampled_from([{}, {"acme.io/gpu": {"env": [{"name": "NET", "value": "IB"}]}}]),
    "runtimes": st.fixed_dictionaries({"paths": st.sampled_from([["runtimes"], ["other"], ["other", "runtimes"]])}),
    "trainerVersion": st.sampled_from(["2.2", "2.3"]),
    "kueueVersion": st.sampled_from(["0.18", "0.20"]),
    "lint": st.fixed_dictionaries({"strict": st.booleans(), "disable": st.sampled_from([[], ["no-gang"]])}),
    "fieldValidation": st.sampled_from(["strict", "warn", "ignore"]),
    "cluster": st.sampled_from(["east", "west"]),
}
WITH_OUTPUT = {"output": st.just("rendered"), "passthrough": st.booleans()}


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """Return the content of a settings file."""
    found = draw(some({**LAYER, **WITH_OUTPUT}))
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(["dev", "prod"]), min_size=1, unique=True))
        found["environments"] = {name: draw(some(LAYER)) for name in names}
    return found


@st.composite
def some(draw: st.DrawFn, keys: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    """Return values of at most four keys."""
    chosen = draw(st.lists(st.sampled_from(sorted(keys)), max_size=4, unique=True))
    return {key: draw(keys[key]) for key in chosen}


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two equal projects, without settings."""
    top = tmp_path_factory.mktemp("projects")
    git("init", "--quiet", at=top)
    for side in ("before", "after"):
        for name, framework, launcher in (("one", "torch", ""), ("two", "mpi", LAUNCHER)):
            files = {f"jobs/{name}.yaml": JOB.format(name=name)}
            for number, path in enumerate(("runtimes", "other"), 1):
                row = {"name": name, "framework": framework, "launcher": launcher, "tag": number, "role": "node"}
                files[f"{path}/{name}.yaml"] = RUNTIME.format(**row)
            for path, text in files.items():
                file = top / side / path
                write(file, text)
    return top


@pytest.mark.examples
@drawn_apart
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="EXAMPLES" not in os.environ,
)
@given(before=files(), after=files())
def test_the_review_of_mutated_settings_has_all_objects(
    projects: Path, before: dict[str, Any], after: dict[str, Any]
) -> None:
    check(projects, before, after)


def check(projects: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Check the review of two settings files: its objects, and that each change has a cause or names settings."""
    before, after = ({"runtimes": {"paths": ["runtimes"]}} | side for side in (before, after))
    os.chdir(projects)
    found = reviewed(before, after)
    old, new = objects_of("before", before), objects_of("after", after)
    if found.failed or old is None:
        return
    assert new is not None, "the review compiles it"
    shown = {
        (name, each.id.kind, HASH.sub("", each.id.name))
        for each in found.objects
        for name in each.environments or ("",)
    }
    assert shown == differing_objects(new, old), (before, after)
    assert all(group.cause or group.settings for group in found.groups()), (before, after)


def reviewed(before: dict[str, Any], after: dict[str, Any]) -> Review:
    for side, content in (("before", before), ("after", after)):
        Path(side, "trainc.yaml").write_text(yaml.safe_dump(content))
    return compare(*parse_sides(("before/jobs", "after/jobs")), RUN)


Objects = dict[tuple[str, str, str, int], tuple[str, str, str, Any]]


def objects_of(side: str, content: dict[str, Any]) -> Objects | None:
    """Return the environment, the kind, the name and the tree of each object by TrainJob; None for invalid settings."""
    path = Path(side, "trainc.yaml")
    path.write_text(yaml.safe_dump(content))
    project = RUN.with_project([f"{side}/jobs"])
    if any(each.severity == "error" for each in project.settings.diagnostics):
        return None
    chosen = selected(project)
    assert not isinstance(chosen, Diagnostic)
    found: Objects = {}
    for run in chosen:
        result: Compilation = compile_paths([f"{side}/jobs"], run)
        for job in result.jobs:
            for tree in job.objects:
                kind, number = tree["kind"], sum(key[2] == tree["kind"] for key in found if key[:2] == _key(run, job))
                name = HASH.sub("", tree["metadata"]["name"])
                found[*_key(run, job), kind, number] = (run.settings.environment_name, kind, name, tree)
    return found


def _key(run: Run, job: Any) -> tuple[str, str]:
    return run.settings.environment_name, job.plan.job.source_name


def differing_objects(new: Objects, old: Objects) -> set[tuple[str, str, str]]:
    """Return the environments, kinds and names of the objects that differ."""
    return {(new.get(key) or old[key])[:3] for key in {*new, *old} if new.get(key) != old.get(key)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            {"environments": {"dev": {"namePrefix": "", "exclude": []}, "prod": {"namePrefix": ""}}},
            {"namePrefix": "q-", "environments": {"dev": {}, "prod": {}}},
            id="prefixes of environments that replace the file's",
        ),
        pytest.param({"labels": {"a": "v"}}, {"environments": {"dev": {"labels": {"a": "v"}}}}, id="moved"),
        pytest.param({"environments": {"dev": {}}}, {}, id="no environments"),
        pytest.param({"delivery": {"nameSuffixHash": True}}, {"delivery": {"nameSuffixHash": True}, "labels": {"b": "v"}}, id="a mutable field"),  # noqa: E501
        pytest.param({"delivery": {"nameSuffixHash": True}}, {"delivery": {"nameSuffixHash": True}, "images": [{"name": "ghcr.io/acme/one", "newTag": "2"}]}, id="an immutable field"),  # noqa: E501
    ],
)  # fmt: skip
def test_recorded_edits(projects: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    check(projects, before, after)
