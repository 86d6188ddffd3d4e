"""An environment transforms TrainJobs and runtimes as kustomize does.

For generated documents, `kustomize build | trainc build -` and trainc with the same settings give the same objects.
kustomize learns the field of a TrainJob's image from `configurations`, and renames only the TrainJobs, because they are
in a kustomization of their own. Requires `kustomize` or `kubectl` on the PATH; otherwise the tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from environments import settings_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running import run

import trainc
from trainc.base.kinds import LEGACY
from trainc.compilation.run import Options
from trainc.diagnostics import Place
from trainc.edits.environment import Image
from trainc.edits.transforming.image_overrides import changed
from trainc.frontends.extensions import configurations
from trainc.kubernetes.trees import get

BUILD = ["kustomize", "build"] if shutil.which("kustomize") else ["kubectl", "kustomize"]
GENERATED = settings(
    max_examples=int(os.environ.get("EXAMPLES", "10")),
    deadline=None,
    derandomize="EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
    database=None,
)
PIPELINES = max(5, GENERATED.max_examples // 20)
"""The projects that the command lines build."""

pytestmark = pytest.mark.skipif(shutil.which(BUILD[0]) is None, reason="kustomize or kubectl on the PATH")

V1 = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
ANCESTOR = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
DIGESTS = [f"sha256:{digit * 64}" for digit in "01"]
NAMES = ["acme/trainer", "acme/trainer2", "reg.io:5000/acme/trainer", "localhost/fetch", "fetch"]
FIELDS = configurations()

words = st.sampled_from(["a", "b2", "ml-dev"])
pairs = st.dictionaries(st.sampled_from(["team", "env", "acme.io/x"]), words, max_size=2)
tags = st.sampled_from(["", ":v1", ":1.0-rc.1", f"@{DIGESTS[0]}", f":v1@{DIGESTS[0]}"])
images = st.builds(str.__add__, st.sampled_from(NAMES), tags)
items = st.fixed_dictionaries(
    {"name": st.sampled_from([*NAMES, "other"])},
    optional={
        "newName": st.sampled_from([*NAMES, "mirror.io/trainer"]),
        "newTag": st.sampled_from(["v2", "latest"]),
        "digest": st.sampled_from(DIGESTS),
    },
)
environments = st.fixed_dictionaries(
    {},
    optional={
        "namespace": words,
        "namePrefix": st.sampled_from(["x-", "p"]),
        "nameSuffix": st.sampled_from(["-dev", "9"]),
        "labels": pairs,
        "annotations": pairs,
        "images": st.lists(items, max_size=3),
    },
)


def metadata(draw: st.DrawFn, name: str, namespaces: list[str | None]) -> dict[str, Any]:
    namespace, labels, annotations = draw(st.sampled_from(namespaces)), draw(pairs), draw(pairs)
    found = {"namespace": namespace, "labels": labels, "annotations": annotations}
    return {"name": name, **{key: value for key, value in found.items() if value}}


def drawn_container(draw: st.DrawFn, name: str) -> dict[str, Any]:
    return {"name": name, "image": draw(images)}


@st.composite
def projects(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the keys of an environment, TrainJobs, and the runtimes that they refer to."""
    environment = draw(environments)
    # Without one namespace for all, a TrainJob could not refer to every TrainingRuntime.
    namespaces = [None, "own"] if "namespace" in environment else [draw(st.sampled_from([None, "own"]))]
    runtimes: list[dict[str, Any]] = []
    for index in range(draw(st.integers(1, 2))):
        containers = {"containers": [drawn_container(draw, "node"), drawn_container(draw, "other")]}
        if draw(st.booleans()):
            containers["initContainers"] = [drawn_container(draw, "fetch")]
        template = {"metadata": {"labels": ANCESTOR}, "spec": {"template": {"spec": containers}}}
        runtimes.append(
            {
                **V1,
                "kind": "TrainingRuntime",
                "metadata": metadata(draw, f"runtime{index}", namespaces),
                "spec": {"template": {"spec": {"replicatedJobs": [{"name": "node", "template": template}]}}},
            }
        )
    jobs = []
    for index in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from([runtime["metadata"]["name"] for runtime in runtimes]))
        spec: dict[str, Any] = {"runtimeRef": {"name": name, "kind": "TrainingRuntime"}}
        if draw(st.booleans()):
            spec["trainer"] = {"image": draw(images)}
        jobs.append({**V1, "kind": "TrainJob", "metadata": metadata(draw, f"job{index}", namespaces), "spec": spec})
    return environment, jobs, runtimes


def write_kustomization(folder: Path, documents: list[dict[str, Any]], **kustomization: Any) -> None:
    folder.mkdir()
    (folder / "all.yaml").write_text(yaml.safe_dump_all(documents))
    (folder / "kustomization.yaml").write_text(json.dumps({"resources": ["all.yaml"], **kustomization}))


def kustomized(folder: Path) -> str:
    done = subprocess.run([*BUILD, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def overlay(
    folder: Path, environment: dict[str, Any], jobs: list[dict[str, Any]], runtimes: list[dict[str, Any]]
) -> None:
    """Write the kustomization of an environment: names are changed in that of the TrainJobs."""
    names = {key: environment[key] for key in ("namePrefix", "nameSuffix") if key in environment}
    write_kustomization(folder / "jobs", jobs, **names)
    write_kustomization(folder / "runtimes", runtimes)
    (folder / "fields.yaml").write_text(json.dumps(FIELDS))
    kustomization = {
        "resources": ["jobs", "runtimes"],
        "configurations": ["fields.yaml"],
        "images": environment.get("images", []),
        "labels": [{"pairs": environment.get("labels", {})}],
        "commonAnnotations": environment.get("annotations", {}),
        **({"namespace": environment["namespace"]} if "namespace" in environment else {}),
    }
    (folder / "kustomization.yaml").write_text(json.dumps(kustomization))


@GENERATED
@given(projects())
def test_the_objects_are_those_of_kustomize(
    project: tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    environment, jobs, _ = project
    with TemporaryDirectory() as name:
        folder = Path(name)
        overlay(folder, *project)
        (folder / "built").mkdir()
        built = folder / "built" / "all.yaml"
        built.write_text(kustomized(folder))
        sources = [str(folder / each / "all.yaml") for each in ("jobs", "runtimes")]
        plain = settings_of("{}")
        expected = trainc.compile([str(built)], options=Options(settings=plain))
        found = trainc.compile(sources, options=Options(settings=settings_of(json.dumps(environment))))
    assert not expected.failed
    assert len(expected.objects) == len(jobs)
    assert found.objects == expected.objects
    assert {diagnostic.id for diagnostic in found.diagnostics} <= {"unmatched-image"}


@settings(GENERATED, max_examples=PIPELINES)
@given(projects())
def test_the_output_is_that_of_the_pipeline(
    project: tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    """`kustomize build . | trainc build -` and `trainc build --env prod` print the same objects."""
    environment, jobs, runtimes = project
    # trainc.yaml rejects an item that changes nothing.
    images = [item for item in environment.get("images", []) if len(item) > 1]
    environment = environment | {"images": images}
    with TemporaryDirectory() as name:
        folder = Path(name)
        overlay(folder, environment, jobs, runtimes)
        expected = printed(["build", "-"], folder, stdin=kustomized(folder))
        sources = ["jobs/all.yaml", "runtimes/all.yaml"]
        (folder / "trainc.yaml").write_text(json.dumps({"sources": sources, "environments": {"prod": environment}}))
        assert printed(["build", "--env", "prod"], folder) == expected


def printed(arguments: list[str], folder: Path, stdin: str = "") -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-m", "trainc", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


@GENERATED
@given(st.lists(images, min_size=1, max_size=8), items)
def test_an_image_is_that_of_kustomize(given_images: list[str], item: dict[str, str]) -> None:
    containers = [{"name": f"c{index}", "image": image} for index, image in enumerate(given_images)]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers}}
    with TemporaryDirectory() as name:
        write_kustomization(Path(name) / "pod", [pod], images=[item])
        (built,) = yaml.safe_load_all(kustomized(Path(name) / "pod"))
    place: Any = Place(None)  # type: ignore[arg-type]
    ours = Image(item["name"], place, item.get("newName", ""), item.get("newTag", ""), item.get("digest", ""))
    expected = [each["image"] for each in get(built, ("spec", "containers"))]
    assert [changed(image, ours) or image for image in given_images] == expected


POD = {
    "containers": [{"name": "node", "image": "acme/app:1"}],
    "initContainers": [{"name": "data", "image": "acme/app:1"}],
}
VOLUMES = {"volumes": [{"name": "model", "image": {"reference": "acme/app:1"}}]}
JOBS = [{"name": "node", "template": {"spec": {"template": {"spec": POD | VOLUMES}}}}]
PATCH = [{"name": "node", "template": {"spec": {"template": {"spec": VOLUMES}}}}]


def test_the_printed_fields_let_kustomize_change_images_and_names(tmp_path: Path) -> None:
    """All images of the documents change, and the TrainJobs refer to the renamed runtimes."""
    documents: list[dict[str, Any]] = [
        {**V1, "kind": kind, "metadata": {"name": name}, "spec": {"template": {"spec": {"replicatedJobs": JOBS}}}}
        for kind, name in (("TrainingRuntime", "own"), ("ClusterTrainingRuntime", "shared"))
    ]
    documents += [
        {
            **V1,
            "kind": "TrainJob",
            "metadata": {"name": f"of-{name}"},
            "spec": {
                "runtimeRef": {"name": name, "kind": kind},
                "trainer": {"image": "acme/app:1"},
                "runtimePatches": [
                    {
                        "manager": "acme.io/a",
                        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": PATCH}}},
                    }
                ],
            },
        }
        for kind, name in (("TrainingRuntime", "own"), ("ClusterTrainingRuntime", "shared"))
    ]
    documents += [
        {
            "apiVersion": row.versions[0],
            "kind": row.kind,
            "metadata": {"name": row.kind.lower()},
            "spec": {row.pods[0][1]: {"Worker": {"template": {"spec": POD}}}},
        }
        for row in LEGACY
        if row.pods[0][2:3] == ("*",) and row.pods[0][-1] == "template" and len(row.pods[0]) == 4
    ]
    fields = run("schema", "--kustomize")
    assert (fields.code, fields.err) == (0, "")
    (tmp_path / "fields.yaml").write_text(fields.out)
    images = [{"name": "acme/app", "newName": "mirror/app", "newTag": "2"}]
    write_kustomization(tmp_path / "all", documents)
    (tmp_path / "kustomization.yaml").write_text(
        json.dumps({"resources": ["all"], "configurations": ["fields.yaml"], "images": images, "namePrefix": "team-"})
    )
    built = kustomized(tmp_path)
    assert built.count("mirror/app:2") == json.dumps(documents).count("acme/app:1") > 10
    assert "acme/app" not in built
    refs = [tree["spec"]["runtimeRef"]["name"] for tree in yaml.safe_load_all(built) if tree["kind"] == "TrainJob"]
    assert sorted(refs) == ["team-own", "team-shared"]


def test_the_option_excludes_others() -> None:
    for words in (("schema", "TrainJob", "--kustomize"), ("schema", "--kustomize", "--dialect", "v2.1")):
        done = run(*words)
        assert (done.code, "--kustomize cannot be combined with KIND or another option." in done.err) == (2, True)
    assert run("schema").code == 2
