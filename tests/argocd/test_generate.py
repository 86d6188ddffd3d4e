"""The output of the plugin's commands in an application's folder: files above, standard output and error below."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from files import write_files
from running import Done, run

ROOT = Path(__file__).parents[2]
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {resourcesPerNode: {requests: {cpu: 1}}}
"""
RUNTIME = (
    (ROOT / "runtimes" / "trainer-2.3" / "torch-distributed.yaml")
    .read_text()
    .replace("name: torch-distributed", "name: ours")
)
OURS = JOB.replace("torch-distributed", "ours")
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteMany]}\n"


def generate(application: Path, files: dict[str, str]) -> Done:
    write_files(files, application / "apps" / "training")
    return run("cmp", "generate")


def objects(done: Done) -> list[tuple[str, str, str | None]]:
    """Return the objects on standard output, which has nothing else."""
    assert done.code == 0, done.err
    read = list(yaml.safe_load_all(done.out))
    return [(tree["kind"], tree["metadata"]["name"], tree["metadata"].get("namespace")) for tree in read]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set the parameters of the Application."""
    return lambda *parameters: monkeypatch.setenv("ARGOCD_APP_PARAMETERS", json.dumps(parameters))


def test_other_documents_pass_through(application: Path) -> None:
    done = generate(application, {"job.yaml": JOB, "volumes/data.yaml": CLAIM})
    assert objects(done) == [("JobSet", "finetune", None), ("PersistentVolumeClaim", "data", None)]


def test_the_items_of_a_list_pass_one_by_one_and_one_object_twice_is_an_error(application: Path) -> None:
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(CLAIM), yaml.safe_load(JOB)]})
    done = generate(application, {"list.json": listed})
    assert [name for _, name, _ in objects(done)] == ["finetune", "data"]
    done = generate(application, {"list.json": listed, "again.yaml": CLAIM})
    assert (done.code, done.out) == (1, "")
    assert 'error[duplicate-object]: duplicate PersistentVolumeClaim "data"' in done.err


def test_the_destination_is_the_namespace_of_trainjobs_that_name_none(
    application: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARGOCD_APP_NAMESPACE", "research")
    other = JOB.replace("name: finetune", "name: other, namespace: theirs")
    done = generate(application, {"job.yaml": JOB, "other.yaml": other, "data.yaml": CLAIM})
    assert objects(done) == [
        ("JobSet", "finetune", "research"),
        ("JobSet", "other", "theirs"),
        ("PersistentVolumeClaim", "data", None),  # not evaluated by trainc
    ]


def test_runtimes_of_the_repository(application: Path, given: Any) -> None:
    write_files({"platform/ours.yaml": RUNTIME}, application)
    given({"name": "runtimes", "array": ["../../platform"]})
    assert objects(generate(application, {"job.yaml": OURS})) == [("JobSet", "finetune", None)]


def test_runtimes_are_compiled_with_and_not_handed_on(application: Path) -> None:
    assert objects(generate(application, {"job.yaml": OURS, "ours.yaml": RUNTIME})) == [("JobSet", "finetune", None)]


def test_only(application: Path, given: Any) -> None:
    given({"name": "only", "string": "other"})
    done = generate(application, {"job.yaml": JOB, "other.yaml": JOB.replace("finetune", "other"), "data.yaml": CLAIM})
    assert [name for _, name, _ in objects(done)] == ["other", "data"]


def test_the_nearest_settings_of_the_repository(application: Path) -> None:
    off = "lint: {disable: [image-version]}\n"
    bare = JOB.replace("trainer: {", "trainer: {image: python, ")
    write_files({"trainc.yaml": "lint: {strict: true, disable: [nothing-of-that-name]}\n"}, application.parent)
    assert "[image-version]" in generate(application, {"job.yaml": bare}).err
    write_files({"trainc.yaml": off}, application)
    done = generate(application, {"job.yaml": bare})
    assert objects(done) == [("JobSet", "finetune", None)]
    assert done.err == ""


def test_strict(application: Path, given: Any) -> None:
    given({"name": "strict", "string": "true"}, {"name": "field-validation", "string": "warn"})
    done = generate(application, {"job.yaml": JOB + "x: 1\n"})
    assert (done.code, done.out) == (1, "")
    assert "error[unknown-field]" in done.err
    assert "turned into an error by the parameter strict" in done.err


def test_unknown_fields_are_errors(application: Path) -> None:
    done = generate(application, {"job.yaml": JOB + "x: 1\n"})
    assert (done.code, done.out) == (1, "")
    assert "unknown field x in TrainJob" in done.err


def test_warnings_go_to_the_log(application: Path, given: Any) -> None:
    given({"name": "field-validation", "string": "warn"})
    done = generate(application, {"job.yaml": JOB + "x: 1\n"})
    assert objects(done) == [("JobSet", "finetune", None)]
    assert "job.yaml:7:1: warning[unknown-field]" in done.err


def test_no_colours_ever(application: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in generate(application, {"job.yaml": JOB + "x: 1\n"}).err


@pytest.mark.parametrize(
    ("version", "said"),
    [
        pytest.param("1.36", "", id="the one whose rules are checked"),
        pytest.param("1.34", "the cluster runs Kubernetes 1.34, but trainc checks the rules of 1.36\n", id="older"),
    ],
)
def test_the_clusters_version(version: str, said: str, application: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBE_VERSION", version)
    done = generate(application, {"job.yaml": JOB})
    assert (done.code, done.err) == (0, said)


NOTHING: dict[str, dict[str, str]] = {
    "no file": {},
    "other documents": {"data.yaml": CLAIM},
    "a runtime": {"ours.yaml": RUNTIME},
    "only blanks": {"a.yaml": "---\n# TrainJob\n---\n"},
    "a TrainJob that nobody sees": {".job.yaml": JOB},
}


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in NOTHING.items()])
def test_nothing_to_compile_is_no_empty_answer(files: dict[str, str], application: Path) -> None:
    write_files({"apps/other/job.yaml": JOB}, application)
    done = generate(application, files)
    assert (done.code, done.out) == (1, "")
    assert "error[no-trainjob]: no TrainJob in the application's folder" in done.err
    discovered = run("cmp", "discover")
    assert (discovered.code, discovered.out, discovered.err) == (0, "", "")


REFUSED: dict[str, tuple[str, str]] = {
    "a key twice": ("a: 1\nkind: X\na: 2\n", 'x.yaml:3:1: error[yaml]: the key "a" is already set on line 1'),
    "bad YAML": ("a: b: c\n", "x.yaml:1:5: error[yaml]"),
    "a list": ("[]\n", "x.yaml:1:1: error[not-an-object]: the document is a list"),
    "a word": ("word\n", "x.yaml:1:1: error[not-an-object]: the document is a string"),
    "values of a chart": ("nodes: 4\n", "x.yaml:1:1: error[not-an-object]: the document has no apiVersion"),
    "no kind": ("apiVersion: v1\nmetadata: {name: a}\n", "x.yaml:1:1: error[not-an-object]: the document has no kind"),
    "a kind that is none": ("apiVersion: v1\nkind: [a]\n", "x.yaml:2:7: error[not-an-object]: the document has no"),
    "an item of a List": ("kind: List\nitems: [{kind: A}]\n", "x.yaml:2:9: error[not-an-object]: the document has no"),
    "one behind a good one": (f"{CLAIM}---\n1\n", "x.yaml:6:1: error[not-an-object]: the document is a number"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), [pytest.param(*row, id=name) for name, row in REFUSED.items()])
def test_a_document_that_cannot_pass(text: str, said: str, application: Path) -> None:
    done = generate(application, {"job.yaml": JOB, "x.yaml": text})
    assert (done.code, done.out) == (1, "")
    assert said in done.err


def test_what_kustomize_would_do_is_not_done(application: Path) -> None:
    done = generate(application, {"job.yaml": JOB, "kustomization.yaml": "resources: [job.yaml]\nnamePrefix: a-\n"})
    assert objects(done) == [("JobSet", "finetune", None)]
    assert 'note[kustomize-base]: TrainJob "finetune" is compiled without the changes of kustomization.yaml' in done.err
    assert "\nkustomization.yaml is left out: the plugin does not run kustomize\n" in done.err


@pytest.mark.parametrize("field", ["patches", "patchesStrategicMerge", "patchesJson6902"])
def test_patches_that_kustomize_would_apply(field: str, application: Path) -> None:
    files = {
        "job.yaml": JOB,
        "kustomization.yaml": f"resources: [job.yaml]\n{field}: [{{path: a.yaml}}]\n",
        "a.yaml": "- a\n",
    }
    done = generate(application, files)
    assert (done.code, done.out) == (1, "")
    assert "kustomization.yaml:2:1: error[kustomize-not-run]: the plugin does not run kustomize" in done.err
    assert "a.yaml:" not in done.err


DISCOVERED: dict[str, tuple[dict[str, str], str]] = {
    "a TrainJob": ({"job.yaml": JOB}, "job.yaml\n"),
    "the first of two": ({"b.yaml": JOB, "a/c.yaml": JOB}, "a/c.yaml\n"),
    "below other folders": ({"a/b/c/job.yml": JOB, "a/values.yaml": "a: 1\n"}, "a/b/c/job.yml\n"),
    "JSON": ({"job.json": json.dumps(yaml.safe_load(JOB))}, "job.json\n"),
    "a List": ({"a.yaml": json.dumps({"kind": "List", "items": [yaml.safe_load(JOB)]})}, "a.yaml\n"),
    "behind another": ({"a.yaml": f"{CLAIM}---\n{JOB}"}, "a.yaml\n"),
    "a wrong one": ({"a.yaml": "kind: TrainJob\n"}, "a.yaml\n"),
    "a broken one": ({"a.yaml": f"{JOB}  :x: [\n"}, "a.yaml\n"),
    "a large one": ({"a.yaml": JOB + "#" * 2**20}, "a.yaml\n"),
    "a name with a line break": ({"a\nb.yaml": JOB}, "a\\nb.yaml\n"),
    "only a runtime": ({"a.yaml": RUNTIME + "# of many a TrainJob\n"}, ""),
    "a resource of that name": (
        {"a.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {kind: TrainJob}\n"},
        "",
    ),
    "the word in a text": ({"a.yaml": "apiVersion: v1\nkind: ConfigMap\ndata: {a: 'kind: TrainJob'}\n"}, ""),
    "a large file without": ({"a.yaml": CLAIM + "#" * 2**20}, ""),
    "a large one that is broken": ({"a.yaml": f"{JOB}  :x: [\n" + "#" * 2**20}, "a.yaml\n"),
    "a large one behind another": ({"a.yaml": f"{CLAIM}---\n{JOB}" + "#" * 2**20}, "a.yaml\n"),
    "a large file of data with the word": (
        {"a.json": json.dumps({"events": [{"kind": "TrainJob", "text": "a" * 100}] * 15_000})},
        "",
    ),
    "a broken one of another kind": ({"a.yaml": "kind: Role\n# TrainJob\nrules: [\n"}, ""),
    "another kind of file": ({"README.md": JOB, "job.yaml.txt": JOB}, ""),
    "hidden": ({".job.yaml": JOB, ".github/job.yaml": JOB}, ""),
    "nothing": ({}, ""),
}


@pytest.mark.parametrize(("files", "out"), [pytest.param(*row, id=name) for name, row in DISCOVERED.items()])
def test_discovery(files: dict[str, str], out: str, application: Path) -> None:
    write_files({"apps/other/job.yaml": JOB}, application)
    write_files(files, application / "apps" / "training")
    done = run("cmp", "discover")
    assert (done.code, done.out, done.err) == (0, out, "")


def test_discovery_of_utf_16(application: Path) -> None:
    (application / "apps" / "training" / "a.yaml").write_bytes(b"\xff\xfe" + JOB.encode("utf-16-le"))
    assert run("cmp", "discover").out == "a.yaml\n"


@pytest.mark.parametrize("file", ["Chart.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_what_other_tools_render_is_theirs_until_the_application_names_a_plugin(
    file: str, application: Path, given: Any
) -> None:
    write_files({"templates/job.yaml": JOB, file: "name: a\n"}, application / "apps" / "training")
    assert run("cmp", "discover").out == ""
    given()
    assert run("cmp", "discover").out == "templates/job.yaml\n"


def test_by_hand_without_any_variable(application: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARGOCD_APP_SOURCE_PATH")
    done = generate(application, {"job.yaml": JOB})
    assert objects(done) == [("JobSet", "finetune", None)]
    assert run("cmp", "discover").out == "job.yaml\n"
    assert run("cmp", "parameters").code == 0
    assert "generate" in run("cmp").err + run("cmp").out


@pytest.mark.slow
def test_ten_thousand_passing_objects_take_less_than_argocd_has(application: Path) -> None:
    before = time.process_time()
    claims = [CLAIM.replace("name: data", f"name: data-{number}") for number in range(10_000)]
    done = generate(application, {"job.yaml": JOB, "many.yaml": "---\n".join(claims)})
    assert done.out.count("\nkind: PersistentVolumeClaim\n") == 10_000
    assert time.process_time() - before < 20


def test_the_namespace_of_the_settings(application: Path) -> None:
    claims = f"{CLAIM}---\n{CLAIM.replace('name: data', 'name: other, namespace: shared')}"
    done = generate(application, {"job.yaml": JOB, "claims.yaml": claims, "trainc.yaml": "namespace: ml\n"})
    claim = "PersistentVolumeClaim"
    assert objects(done) == [("JobSet", "finetune", "ml"), (claim, "data", "ml"), (claim, "other", "shared")]
    assert "claims.yaml:8:36: warning[other-namespace]" in done.err


PROJECT = """\
sources: [elsewhere]
output: rendered
environments:
  dev: {namespace: ml-dev, nameSuffix: -dev}
  prod: {namespace: ml, delivery: {suspend: true}}
"""


def test_the_parameter_selects_an_environment_and_the_sources_are_the_applications_folder(
    application: Path, given: Any
) -> None:
    write_files({"trainc.yaml": PROJECT}, application)
    given({"name": "environment", "string": "prod"})
    done = generate(application, {"job.yaml": JOB})
    assert objects(done) == [("JobSet", "finetune", "ml")]
    assert "suspend: true" in done.out


@pytest.mark.parametrize("only", [False, True], ids=["two environments", "one environment"])
def test_a_project_with_environments_requires_one(application: Path, only: bool) -> None:
    write_files(
        {
            "trainc.yaml": PROJECT.replace(
                "  dev: {namespace: ml-dev, nameSuffix: -dev}\n", "" if only else "  dev: {}\n"
            )
        },
        application,
    )
    done = generate(application, {"job.yaml": JOB})
    assert (done.code, done.out) == (1, "")
    names = "prod" if only else "dev or prod"
    assert "trainc.yaml:3:1: error[environment-required]: no environment is selected" in done.err
    assert f"help: set the parameter environment to {names}\n" in done.err


def test_an_unknown_environment_is_an_error(application: Path, given: Any) -> None:
    write_files({"trainc.yaml": PROJECT}, application)
    given({"name": "environment", "string": "prd"})
    done = generate(application, {"job.yaml": JOB})
    assert (done.code, done.out) == (1, "")
    assert 'error[unknown-environment]: "prd" is not an environment' in done.err
    assert "help: did you mean prod?" in done.err


def test_the_announcement_names_the_environments(application: Path) -> None:
    write_files({"trainc.yaml": PROJECT}, application)
    [found] = [entry for entry in json.loads(run("cmp", "parameters").out) if entry["name"] == "environment"]
    assert found["tooltip"] == "The environment in trainc.yaml; required if there is one: dev, prod"
