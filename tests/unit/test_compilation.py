"""The compiler as a function: the compiled documents, their runtimes, and the diagnostics of other documents."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from files import write
from manifests import job_text
from purposes import internal

import trainc
from trainc.compilation import Compilation
from trainc.compilation.run import Options
from trainc.kubernetes.documents import read_stream
from trainc.reports import in_order

pytestmark = pytest.mark.usefixtures("empty_folder")

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: {kind}
metadata: {{name: r{namespace}}}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {{spec: {{template: {{spec: {{containers: [{{name: node, image: {image}}}]}}}}}}}}
"""


def runtime_text(image: str = "i:1", *, kind: str = "ClusterTrainingRuntime", namespace: str = "") -> str:
    return RUNTIME.format(kind=kind, image=image, namespace=f", namespace: {namespace}" if namespace else "")


def image(compilation: Compilation) -> str:
    """Return the image of the only JobSet's only container, else the ids of the diagnostics."""
    if compilation.diagnostics:
        return ", ".join(d.id for d in compilation.diagnostics)
    (jobset,) = compilation.objects
    pod: Any = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return str(pod["containers"][0]["image"])


def test_runtimes_are_found_in_the_given_paths_then_in_each_further_one_then_built_in() -> None:
    given, first, second = job_text(), runtime_text("first:1"), runtime_text("second:1")
    write("job.yaml", given)
    write("one/r.yaml", first)
    write("two/r.yaml", second)
    assert image(internal(trainc.compile(["job.yaml"]))) == "runtime-not-found"
    assert image(internal(trainc.compile(["job.yaml"], options=Options(runtimes=["one", "two"])))) == "first:1"
    assert image(internal(trainc.compile(["job.yaml"], options=Options(runtimes=["two", "one"])))) == "second:1"
    write("job.yaml", given, runtime_text("given:1"))
    assert image(internal(trainc.compile(["job.yaml"], options=Options(runtimes=["one"])))) == "given:1"
    write("job.yaml", job_text(ref="name: plain"))
    assert image(internal(trainc.compile(["job.yaml"], options=Options(runtimes=["one"])))).startswith("python:")


@pytest.mark.parametrize(
    ("of_job", "of_runtime", "expected"),
    [
        pytest.param("name: a, namespace: ns", "ns", "i:1", id="the same namespace"),
        pytest.param("name: a, namespace: ns", "", "i:1", id="a runtime without one"),
        pytest.param("name: a", "", "i:1", id="neither has one"),
        pytest.param("name: a, namespace: ns", "other", "runtime-not-found", id="another namespace"),
        pytest.param("name: a", "ns", "runtime-not-found", id="a job without one"),
    ],
)
def test_a_training_runtime_is_found_in_the_namespace_of_the_job(of_job: str, of_runtime: str, expected: str) -> None:
    kind = "TrainingRuntime"
    write("x.yaml", job_text(of_job, f"kind: {kind}, name: r"), runtime_text(kind=kind, namespace=of_runtime))
    assert image(internal(trainc.compile(["x.yaml"]))) == expected


def test_the_namespace_of_the_command_line_is_for_those_without() -> None:
    write("x.yaml", job_text("name: a"), job_text("name: b, namespace: own"), runtime_text())
    jobs = internal(trainc.compile(["x.yaml"], options=Options(namespace="given"))).jobs
    assert [(j.namespace, j.name, j.objects[0]["metadata"]["namespace"]) for j in jobs] == [
        ("given", "a", "given"),
        ("own", "b", "own"),
    ]


def test_jobs_are_sorted_by_namespace_and_name() -> None:
    write(
        "x.yaml",
        *(job_text(f"name: {name}, namespace: {ns}") for name, ns in ("ba", "ab", "aa")),
        job_text("name: z"),
        runtime_text(),
    )
    assert [(j.namespace, j.name) for j in internal(trainc.compile(["x.yaml"])).jobs] == [
        ("", "z"),
        ("a", "a"),
        ("a", "b"),
        ("b", "a"),
    ]


def test_two_of_one_name_are_an_error_at_the_second() -> None:
    write("a.yaml", job_text(), job_text("name: a, namespace: other"), runtime_text(), runtime_text())
    write("trainc.yaml", "lint: {strict: false}\n")
    write("b.yaml", job_text())
    found = trainc.compile(["a.yaml", "b.yaml"]).diagnostics
    places = [(d.id, d.place, related.place) for d in in_order(found) for related in d.related]
    assert [(id, at and (at[0], at[1]), (of[0], of[1])) for id, at, of in places] == [
        ("duplicate-runtime", ("a.yaml", 23), ("a.yaml", 13)),
        ("duplicate-trainjob", ("b.yaml", 3), ("a.yaml", 3)),
    ]


def test_only_one_name() -> None:
    write(
        "x.yaml", job_text("name: a"), job_text("name: b"), job_text("name: wrong, labels: {a: 'b c'}"), runtime_text()
    )
    assert [j.name for j in internal(trainc.compile(["x.yaml"], options=Options(only="b"))).jobs] == ["b"]
    assert [d.id for d in trainc.compile(["x.yaml"], options=Options(only="c")).diagnostics] == ["only-not-found"]


def test_every_runtime_of_the_given_paths_is_checked_and_of_others_those_that_are_used() -> None:
    wrong = runtime_text().replace("spec:\n  template", "spec:\n  mlPolicy: {numNodes: x}\n  template")
    write("runtimes/r.yaml", wrong)
    write("job.yaml", job_text(ref="name: plain"))
    assert [d.id for d in trainc.compile(["runtimes"]).diagnostics] == ["wrong-type"]
    assert trainc.compile(["job.yaml"], options=Options(runtimes=["runtimes"])).diagnostics == ()
    write("job.yaml", job_text("name: a"), job_text("name: b"))
    assert [d.id for d in trainc.compile(["job.yaml"], options=Options(runtimes=["runtimes"])).diagnostics] == [
        "wrong-type"
    ]


def test_one_wrong_document_does_not_hide_the_errors_of_the_others() -> None:
    write("x.yaml", "a: [\n", job_text(ref="name: nowhere"), "b: {c: 1, c: 2}\n", job_text("name: B"))
    found = internal(trainc.compile(["x.yaml"]))
    assert {d.id for d in found.diagnostics} >= {"yaml", "runtime-not-found", "invalid-name"}
    assert sum(d.id == "yaml" for d in found.diagnostics) == 2


@pytest.mark.parametrize(
    ("text", "id"),
    [
        pytest.param("kind: TrainJob\n", "no-api-version", id="no apiVersion"),
        pytest.param("kind: TrainJob\napiVersion: ''\n", "no-api-version", id="an empty apiVersion"),
        pytest.param("kind: TrainJob\napiVersion: yes\n", "no-api-version", id="an apiVersion that is no string"),
        pytest.param("apiVersion: trainer.kubeflow.org/v1\nkind: TrainJob\n", "unknown-version", id="another version"),
        pytest.param("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: Trainjob\n", "unknown-kind", id="misspelt kind"),
        pytest.param("apiVersion: trainer.kubeflow.org/v1alpha1\n", "unknown-kind", id="no kind"),
        pytest.param("- a\n", "not-an-object", id="a list"),
        pytest.param("text\n", "not-an-object", id="a string"),
    ],
)
def test_a_document_with_a_misspelt_kind(text: str, id: str) -> None:
    write("x.yaml", text)
    assert [d.id for d in trainc.compile(["x.yaml"]).diagnostics] == [id]


def test_documents_of_other_kinds_are_left_out_in_order() -> None:
    write("x.yaml", "kind: B\n", job_text(), "a: 1\n", runtime_text(), "apiVersion: v1\nkind: A\n")
    assert [d.text for d in internal(trainc.compile(["x.yaml"])).others] == [
        "kind: B\n",
        "a: 1\n",
        "apiVersion: v1\nkind: A\n",
    ]


def test_nothing_that_was_read_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    golden = Path(__file__).parents[2] / "golden"
    read: list[tuple[Any, Any]] = []

    def remembering(data: bytes) -> Any:
        documents, errors = read_stream(data)
        read.extend((document.value, copy.deepcopy(document.value)) for document in documents)
        return documents, errors

    monkeypatch.setattr("trainc.kubernetes.documents.read_stream", remembering)
    internal(
        trainc.compile([str(path) for path in sorted(golden.glob("*/input.yaml"))], options=Options(no_config=True))
    )
    assert len(read) > 20
    for value, before in read:
        assert value == before
