"""The transformations of an environment: the documents after them, their sources, and the faults that they cause."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from environments import environment, settings_of
from manifests import job_text
from purposes import compile_for, internal

import trainc
from trainc.base.kinds import COMPILED
from trainc.cli.common.output_folder import as_read
from trainc.compilation import Compilation, compile_documents, duplicates, read, wrong_namespace
from trainc.compilation.run import Options, Purpose, Run
from trainc.diagnostics import Document, Place
from trainc.edits.environment import Image
from trainc.edits.transforming import Transformation
from trainc.edits.transforming.image_overrides import changed
from trainc.kubernetes.documents import parse
from trainc.kubernetes.trees import get
from trainc.reports import in_order
from trainc.settings import load

pytestmark = pytest.mark.usefixtures("empty_folder")

V1 = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: {kind}
metadata: {{{metadata}}}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                initContainers: [{{name: fetch, image: acme/fetch}}]
                containers: [{{name: node, image: "acme/trainer:v1"}}, {{name: other, image: "reg:5000/other"}}]
                volumes: [{{name: model, image: {{reference: "acme/model:v1"}}}}]
"""
POD = ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec")
DIGEST = f"sha256:{'0' * 64}"
NEW_DIGEST = f"sha256:{'1' * 64}"


def job_of_image(metadata: str = "name: train", *, ref: str = "name: r", image: str = "acme/trainer:v1") -> str:
    return job_text(metadata, ref, f"image: {image}")


def runtime_text(kind: str = "ClusterTrainingRuntime", metadata: str = "name: r") -> str:
    return RUNTIME.format(kind=kind, metadata=metadata)


def document(text: str, file: str = "x.yaml") -> Document:
    return Document(file=file, line=1, text=text, value=parse(text))


def transformed(*texts: str, settings: str, name: str = "", copies: bool | None = None, **options: Any) -> Compilation:
    for number, text in enumerate(texts):
        Path(f"{number}.yaml").write_text(text)
    purpose = Purpose(others="read", copies=copies)
    return compile_for(purpose, ["."], Options(settings=settings_of(settings, name), **options))


def metadata(result: Compilation) -> dict[str, Any]:
    (made,) = result.jobs
    return dict(made.objects[0]["metadata"])


def images(result: Compilation) -> list[str]:
    (made,) = result.jobs
    pod = get(made.objects[0], POD)
    return [container["image"] for container in (*pod.get("initContainers", ()), *pod["containers"])]


def lines(result: Compilation, *ids: str) -> list[str]:
    """Return the located diagnostics: place, id, message, then the labels of the related places."""
    return [
        f"{found.place}: {found.id}: {found.message}"
        + "".join(f" [{related.message}: {related.place}]" for related in found.related)
        for found in in_order(result.diagnostics)
        if not ids or found.id in ids
    ]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("namespace: ml", {"name": "train", "namespace": "ml", "labels": {"team": "a"}}),
        ("nameSuffix: -dev", {"name": "train-dev", "namespace": "own", "labels": {"team": "a"}}),
        ("namePrefix: dev-", {"name": "dev-train", "namespace": "own", "labels": {"team": "a"}}),
        ("{namePrefix: a-, nameSuffix: -b}", {"name": "a-train-b", "namespace": "own", "labels": {"team": "a"}}),
        ("labels: {team: b, x: z}", {"name": "train", "namespace": "own", "labels": {"team": "b", "x": "z"}}),
        (
            "annotations: {x: z}",
            {"name": "train", "namespace": "own", "labels": {"team": "a"}, "annotations": {"x": "z"}},
        ),
        ("{}", {"name": "train", "namespace": "own", "labels": {"team": "a"}}),
        (
            "{namespace: '', namePrefix: '', nameSuffix: ''}",
            {"name": "train", "namespace": "own", "labels": {"team": "a"}},
        ),
    ],
)
def test_the_metadata_of_a_jobset(settings: str, expected: dict[str, Any]) -> None:
    text = job_of_image("name: train, namespace: own, labels: {team: a}", ref="name: torch-distributed")
    assert metadata(transformed(text, settings=settings)) == expected


def test_an_environment_wins_over_the_option_which_fills_what_is_empty() -> None:
    text = job_of_image(ref="name: torch-distributed")
    assert metadata(transformed(text, settings="namespace: ml", namespace="other"))["namespace"] == "ml"
    assert metadata(transformed(text, settings="nameSuffix: -dev", namespace="other"))["namespace"] == "other"


@pytest.mark.parametrize(
    ("image", "item", "expected"),
    [
        ("acme/a:1", {"new_tag": "2"}, "acme/a:2"),
        ("acme/a", {"new_tag": "2"}, "acme/a:2"),
        ("acme/a:", {"new_tag": "2"}, "acme/a:2"),
        (f"acme/a@{DIGEST}", {"new_tag": "2"}, "acme/a:2"),
        (f"acme/a:1@{DIGEST}", {"new_tag": "2"}, "acme/a:2"),
        (f"acme/a:1@{DIGEST}", {"digest": NEW_DIGEST}, f"acme/a@{NEW_DIGEST}"),
        ("acme/a:1", {"new_tag": "2", "digest": NEW_DIGEST}, f"acme/a:2@{NEW_DIGEST}"),
        (f"acme/a:1@{DIGEST}", {"new_name": "b"}, f"b:1@{DIGEST}"),
        ("acme/a", {"new_name": "reg:5000/b", "new_tag": "2"}, "reg:5000/b:2"),
        ("acme/a:1", {}, "acme/a:1"),
        ("acme/ab:1", {"new_tag": "2"}, None),
        ("acme/a/b:1", {"new_tag": "2"}, None),
        ("reg:5000/acme/a:1", {"new_tag": "2"}, None),
        ("docker.io/acme/a:1", {"new_tag": "2"}, None),
        ("acmeXa:1", {"new_tag": "2"}, None),
    ],
)
def test_an_image(image: str, item: dict[str, Any], expected: str | None) -> None:
    place = Place(document("images: []"))
    assert changed(image, Image("acme/a", place, **item)) == expected


def test_the_registrys_port_is_not_a_tag() -> None:
    item = Image("reg:5000/a", Place(document("{}")), new_tag="2")
    assert changed("reg:5000/a", item) == "reg:5000/a:2"
    assert changed("reg:5000/a:1", item) == "reg:5000/a:2"


def test_items_apply_one_after_the_other() -> None:
    text = job_of_image(ref="name: torch-distributed", image="a:1")
    result = transformed(text, settings="images: [{name: a, newName: b}, {name: b, newTag: '9'}]")
    assert images(result) == ["b:9"]


def test_all_images_of_a_runtime_and_of_its_trainjobs() -> None:
    result = transformed(
        job_of_image(image="acme/trainer"),
        runtime_text(),
        settings="""
images:
- {name: acme/trainer, newTag: v2}
- {name: acme/fetch, newTag: v3}
- {name: "reg:5000/other", newName: other}
- {name: acme/model, newTag: v4}
""",
    )
    assert lines(result) == []
    assert images(result) == ["acme/fetch:v3", "acme/trainer:v2", "other"]
    (made,) = result.jobs
    assert get(made.objects[0], (*POD, "volumes", 0, "image", "reference")) == "acme/model:v4"


def test_the_image_of_a_built_in_runtime_and_of_a_searched_one() -> None:
    Path("jobs").mkdir()
    Path("jobs/a.yaml").write_text(
        V1 + "kind: TrainJob\nmetadata: {name: a}\nspec: {runtimeRef: {name: torch-distributed}}\n"
    )
    settings = settings_of("images: [{name: pytorch/pytorch, newName: mirror/pytorch, newTag: x}]")
    assert images(internal(trainc.compile(["jobs"], options=Options(settings=settings)))) == ["mirror/pytorch:x"]
    Path("runtimes").mkdir()
    Path("runtimes/r.yaml").write_text(runtime_text(metadata="name: torch-distributed"))
    settings = settings_of("images: [{name: acme/trainer, newTag: x}]")
    assert (
        images(internal(trainc.compile(["jobs"], options=Options(runtimes=["runtimes"], settings=settings))))[1]
        == "acme/trainer:x"
    )


PATCH = """\
spec:
  runtimeRef: {name: r}
  runtimePatches:
  - manager: acme.io/data
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  spec:
                    volumes: [{name: data, image: {reference: "acme/data:v1"}}]
"""


def test_the_volume_of_a_patch() -> None:
    text = f"{V1}kind: TrainJob\nmetadata: {{name: train}}\n{PATCH}"
    result = transformed(text, runtime_text(), settings="images: [{name: acme/data, newTag: v2}]")
    assert lines(result) == []
    volumes = {volume["name"]: volume["image"]["reference"] for volume in get(result.objects[0], (*POD, "volumes"))}
    assert volumes == {"model": "acme/model:v1", "data": "acme/data:v2"}


def test_a_trainjob_finds_the_trainingruntime_of_the_old_namespace() -> None:
    text = job_of_image("name: train, namespace: a", ref="kind: TrainingRuntime, name: r")
    result = transformed(text, runtime_text("TrainingRuntime", "name: r, namespace: a"), settings="namespace: ml")
    assert metadata(result)["namespace"] == "ml"


def test_a_clustertrainingruntime_gets_no_namespace() -> None:
    made = Transformation(environment("namespace: ml")).runtime(document(runtime_text()))
    assert made.value["metadata"] == {"name": "r"}


def test_labels_are_not_added_to_runtimes() -> None:
    """As with `labels:` in kustomize, the template's labels stay, which are the JobSet's."""
    edit = Transformation(environment("{labels: {a: b}, annotations: {a: b}, nameSuffix: -x}"))
    given = document(runtime_text("TrainingRuntime"))
    assert edit.runtime(given) is given


def test_two_trainjobs_with_one_name() -> None:
    result = transformed(
        job_of_image("name: train, namespace: a", ref="name: torch-distributed"),
        job_of_image("name: train, namespace: b", ref="name: torch-distributed"),
        settings="environments:\n  prod:\n    namespace: ml",
        name="prod",
    )
    assert lines(result) == [
        '1.yaml:3:18: duplicate-trainjob: two TrainJobs in namespace "ml" are named "train": a/train and b/train '
        "[the first one: 0.yaml:3:18] [the namespace: trainc.yaml:3:16]"
    ]
    assert result.diagnostics[0].help == "rename one of them: environment prod puts both into one namespace"


def test_two_trainjobs_with_one_name_in_their_files() -> None:
    text = job_of_image("name: train, namespace: a", ref="name: torch-distributed")
    result = transformed(text, text, settings="{namespace: ml, nameSuffix: -x}")
    assert lines(result) == [
        '1.yaml:3:18: duplicate-trainjob: two TrainJobs in namespace "ml" are named "train-x" '
        "[the first one: 0.yaml:3:18]"
    ]


def test_two_runtimes_with_one_name() -> None:
    result = transformed(
        runtime_text("TrainingRuntime", "name: r, namespace: a"),
        runtime_text("TrainingRuntime", "name: r"),
        settings="namespace: ml",
    )
    assert lines(result) == [
        '1.yaml:3:18: duplicate-runtime: two TrainingRuntimes are named "r" in namespace "ml": a/r and r '
        "[the first one: 0.yaml:3:18] [the namespace: trainc.yaml:1:12]"
    ]


def test_only_is_a_name_in_the_files() -> None:
    text = job_of_image(ref="name: torch-distributed")
    assert metadata(transformed(text, settings="nameSuffix: -dev", only="train"))["name"] == "train-dev"
    result = transformed(text, settings="nameSuffix: -dev", only="train-dev")
    assert (result.diagnostics[0].id, result.diagnostics[0].help) == ("only-not-found", "did you mean train?")


@pytest.mark.parametrize(
    ("settings", "line", "help"),
    [
        ("images: [{name: acme/trainr, newTag: v2}]", "trainc.yaml:1:17", "did you mean acme/trainer?"),
        ("images: [{name: 'acme/trainer:v1', newTag: v2}]", "trainc.yaml:1:17", "did you mean acme/trainer?"),
        (
            "images:\n- name: jax\n  newTag: v2",
            "trainc.yaml:2:9",
            "use one of acme/fetch, acme/model, acme/trainer, reg:5000/other; or remove the item",
        ),
    ],
)
def test_an_item_that_matches_no_image(settings: str, line: str, help: str) -> None:
    result = transformed(job_of_image(), runtime_text(), settings=settings)
    (found,) = in_order(result.diagnostics)
    assert (str(found.place), found.id, found.severity, found.help) == (line, "unmatched-image", "warning", help)


def test_an_item_that_matches_no_image_is_an_error_with_strict() -> None:
    Path("a.yaml").write_text(job_of_image(ref="name: torch-distributed"))
    settings = settings_of("images: [{name: x, newTag: v2}]", strict="--strict")
    assert [found.severity for found in trainc.compile(options=Options(settings=settings)).diagnostics] == ["error"]


@pytest.mark.parametrize("run", [Run(complete=False), Run(only="train")])
def test_a_part_of_the_project_does_not_tell_whether_an_item_matches(run: Run) -> None:
    Path("a.yaml").write_text(job_of_image(ref="name: torch-distributed"))
    run = run._replace(settings=settings_of("images: [{name: x, newTag: v2}]"))
    assert compile_documents(read(["."], run, kinds=COMPILED), run).diagnostics == ()


@pytest.mark.parametrize(
    ("sources", "paths", "expected"),
    [
        ("", (".",), 1),
        ("", ("jobs",), 0),
        ("", ("jobs/a.yaml",), 0),
        ("sources: [jobs]\n", ("jobs",), 1),
        ("sources: [jobs]\n", (".",), 1),
        ("sources: [jobs]\n", ("jobs/a.yaml",), 0),
        ("sources: [jobs, more]\n", ("jobs",), 0),
        ("sources: [jobs, more]\n", ("jobs", "more"), 1),
    ],
)
def test_only_a_run_of_the_whole_project_reports_an_item(sources: str, paths: tuple[str, ...], expected: int) -> None:
    for folder in ("jobs", "more"):
        Path(folder).mkdir()
        Path(folder, "a.yaml").write_text(job_of_image(f"name: {folder}", ref="name: torch-distributed"))
    Path("trainc.yaml").write_text(f"{sources}images: [{{name: x, newTag: v2}}]\n")
    result = internal(trainc.compile(paths, options=Options(settings=load((), file="trainc.yaml"))))
    assert [found.id for found in result.diagnostics if found.stage != "lint"] == ["unmatched-image"] * expected


def test_a_name_that_is_too_long_with_the_suffix() -> None:
    text = job_of_image(f"name: {'a' * 40}", ref="name: torch-distributed")
    assert lines(transformed(text, settings="{}")) == []
    result = transformed(text, settings="environments: {dev: {namePrefix: x, nameSuffix: -experiments}}", name="dev")
    (found,) = lines(result)
    assert found.startswith("0.yaml:3:18: ")
    assert found.endswith(
        "[namePrefix adds 1 character: trainc.yaml:1:34] [nameSuffix adds 12 characters: trainc.yaml:1:49]"
    )


def test_an_invalid_name_with_the_prefix() -> None:
    result = transformed(job_of_image(ref="name: torch-distributed"), settings="namePrefix: Dev_")
    assert {found.rpartition(" [")[2] for found in lines(result)} == {"namePrefix adds 4 characters: trainc.yaml:1:13]"}
    assert all(found.startswith("0.yaml:3:18: ") for found in lines(result))


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("namespace: Ml_", "trainc.yaml:1:12: invalid-namespace"),
        ("labels: {a b: c}", "trainc.yaml:1:10: invalid-label"),
        ("labels: {a: b c}", "trainc.yaml:1:13: invalid-label"),
        ("images: [{name: acme/trainer, newTag: 'a b'}]", "trainc.yaml:1:39: image-reference"),
        ("images: [{name: acme/trainer, newName: ACME}]", "trainc.yaml:1:40: image-reference"),
    ],
)
def test_a_fault_in_a_setting_is_reported_once_at_its_line(settings: str, line: str) -> None:
    texts = [job_of_image(f"name: {name}", ref="name: torch-distributed") for name in "abc"]
    (found,) = lines(transformed(*texts, settings=settings))
    assert found.startswith(line)
    assert "(and 2 more TrainJobs)" in found


def test_a_fault_in_the_image_of_a_runtime_is_at_the_setting() -> None:
    text = job_of_image().replace(", trainer: {image: acme/trainer:v1}", "")
    found = lines(transformed(text, runtime_text(), settings="images: [{name: acme/trainer, newTag: 'a b'}]"))
    assert [line.partition(": ")[0] for line in found] == ["trainc.yaml:1:39"]


def test_the_other_fields_keep_their_places() -> None:
    text = job_of_image(ref="name: torch-distributed").replace("spec: {", "spec: {numNodes: 1, ")
    result = transformed(text, settings="{namespace: ml, labels: {a: b}, images: [{name: acme/trainer, newTag: x}]}")
    assert [found.partition(": ")[0] for found in lines(result)] == ["0.yaml:4:8"]


def test_invalid_fields_stay_for_the_schema() -> None:
    for wrong in (
        "metadata: []",
        "metadata: {name: [], labels: []}",
        "spec: []",
        "metadata: {name: a}\nspec: {trainer: 1}",
    ):
        text = f"{V1}kind: TrainJob\n{wrong}\n"
        edited = Transformation(
            environment("{namespace: ml, nameSuffix: x, labels: {a: b}, images: [{name: a, newTag: b}]}")
        )
        assert edited.job(document(text)).unedited == parse(text)
        result = transformed(text, settings="{namespace: ml, nameSuffix: x, labels: {a: b}}")
        assert result.failed


OTHERS = {
    "a ConfigMap": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "ml"),
    "one with a namespace": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n", "b"),
    "a ClusterRole": ("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n", None),
    "a Namespace": ("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", None),
    "another project's Namespace": ("apiVersion: acme.io/v1\nkind: Namespace\nmetadata: {name: a}\n", "ml"),
    "a ClusterQueue": ("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\n", None),
    "a LocalQueue": ("apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: a}\n", "ml"),
    "no object": ("replicas: 1\n", None),
    "no name": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", None),
    "metadata of a wrong type": ("apiVersion: v1\nkind: ConfigMap\nmetadata: []\n", None),
}


@pytest.mark.parametrize("text", OTHERS)
def test_the_namespace_of_another_document(text: str) -> None:
    given, namespace = OTHERS[text]
    (made,) = Transformation(environment("namespace: ml")).other_documents([document(given)])
    assert get(made.value, ("metadata", "namespace")) == namespace


def test_a_definition_tells_the_scope_of_its_kind() -> None:
    definition = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.acme.io}\n"
    )
    definition += "spec: {group: acme.io, names: {kind: Thing}, scope: Cluster}\n"
    given = [document(definition), document("apiVersion: acme.io/v1\nkind: Thing\nmetadata: {name: a}\n")]
    assert Transformation(environment("namespace: ml")).other_documents(given) == given


def test_another_document_is_unchanged_without_a_namespace_setting() -> None:
    given = document("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert Transformation(environment("{labels: {a: b}, nameSuffix: -x}")).other_documents([given]) == [given]


def test_a_document_that_stays_in_another_namespace() -> None:
    result = transformed(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n",
        settings="namespace: ml",
        copies=True,
    )
    result = result.with_diagnostics(wrong_namespace(result, result.others))
    assert lines(result) == [
        '0.yaml:3:32: other-namespace: ConfigMap "a" stays in its own namespace "b", not in "ml" '
        "[the setting: trainc.yaml:1:12]"
    ]
    assert list(wrong_namespace(result._replace(namespaces=None), result.others)) == []


def test_the_text_of_a_document_with_a_new_namespace() -> None:
    result = transformed(
        "# a\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        "# b\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n",
        settings="namespace: ml",
        copies=True,
    )
    assert [*map(as_read, result.others)] == [
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: ml\n",
        "# b\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n",
    ]
    assert list(duplicates(result, result.others)) == []


def test_the_read_documents_stay_as_they_are() -> None:
    Path("a.yaml").write_text(job_of_image("name: train, labels: {a: b}") + "---\n" + runtime_text("TrainingRuntime"))
    Path("b.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    settings = settings_of(
        "{namespace: ml, nameSuffix: x, labels: {a: c}, annotations: {d: e}, images: [{name: acme/trainer, newTag: x}]}"
    )
    run = Run(settings=settings)
    reading = read(["."], run, kinds=COMPILED)
    given = {role: list(found) for role, found in reading.documents.items()}
    before = copy.deepcopy([document.value for found in given.values() for document in found])
    first, second = (compile_documents(reading, run) for _ in range(2))
    assert reading.documents == given
    assert [document.value for found in given.values() for document in found] == before
    assert first.objects == second.objects


def test_a_transformed_document_shares_all_other_fields() -> None:
    given = document(job_of_image("name: train, labels: {a: b}", ref="name: r, kind: TrainingRuntime"))
    made = Transformation(environment("{namespace: ml, images: [{name: acme/trainer, newTag: x}]}")).job(given)
    assert made.value["spec"]["runtimeRef"] is given.value["spec"]["runtimeRef"]
    assert made.value["metadata"]["labels"] is given.value["metadata"]["labels"]
    assert made.unedited is given.value


def origin(result: Compilation, *path: str | int) -> tuple[str, str]:
    found = result.jobs[0].trace().origin(0, path)
    return f"{found.place.locate()}", found.by


def test_the_origins_of_fields() -> None:
    settings = """\
environments:
  prod:
    namespace: ml
    nameSuffix: -prod
    labels: {env: prod}
    images:
    - name: acme/trainer
      newTag: v2
    - {name: acme/fetch, newTag: v3}
"""
    result = transformed(job_of_image("name: train, labels: {a: b}"), runtime_text(), settings=settings, name="prod")
    assert origin(result, "metadata", "namespace") == ("trainc.yaml:3:16", "environment prod")
    assert origin(result, "metadata", "labels", "env") == ("trainc.yaml:5:19", "environment prod")
    assert origin(result, "metadata", "labels", "a") == ("0.yaml:3:37", "the TrainJob")
    assert origin(result, "metadata", "name") == ("0.yaml:3:18", "the TrainJob and environment prod")
    assert origin(result, *POD, "containers", 0, "image") == ("trainc.yaml:8:15", "environment prod")
    assert origin(result, *POD, "initContainers", 0, "image") == ("trainc.yaml:9:34", "environment prod")
    assert origin(result, *POD, "containers", 1, "image") == ("1.yaml:15:91", 'runtime "r"')


def test_the_origins_of_fields_without_environments() -> None:
    result = transformed(job_of_image("name: train"), runtime_text(), settings="{namespace: ml, labels: {a: b}}")
    assert origin(result, "metadata", "namespace") == ("trainc.yaml:1:13", "trainc.yaml")
    assert origin(result, "metadata", "labels", "a") == ("trainc.yaml:1:29", "trainc.yaml")
    assert origin(result, "metadata", "name") == ("0.yaml:3:18", "the TrainJob")
