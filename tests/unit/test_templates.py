"""Templates that are not rendered: one diagnostic per document, and no error for text that another program expands."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml
from files import write
from running import NO_LINT, run

import trainc
from trainc.base.kinds import COMPILED
from trainc.compilation import compile_documents
from trainc.compilation.run import Options, start
from trainc.diagnostics import Diagnostic, Document
from trainc.frontends.reading import Reading

pytestmark = pytest.mark.usefixtures("empty_folder")

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    numNodes: {nodes}
    image: {image}
    command: {command}
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: team}
spec:
  mlPolicy: {torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: "gcr.io/<project>/train:1"}]}}}
"""


def job_text(name: str = "a", nodes: str = "1", image: str = "a:1", command: str = "[torchrun]") -> str:
    return JOB.format(name=name, nodes=nodes, image=image, command=command)


def errors(path: str = ".") -> list[Diagnostic]:
    return [
        found
        for found in trainc.compile([path], options=Options(settings=NO_LINT)).diagnostics
        if found.severity == "error"
    ]


def reported() -> list[tuple[str, str]]:
    return [(found.id, str(found.locate())) for found in errors()]


@pytest.mark.parametrize(
    ("text", "column", "placeholder"),
    [
        pytest.param(job_text(nodes="{{ nodes }}"), "8:15", "{{ nodes }}", id="jinja, not YAML"),
        pytest.param(job_text(nodes='"{{ nodes }}"'), "8:16", "{{ nodes }}", id="jinja, a string"),
        pytest.param(job_text(nodes="${NODES}"), "8:15", "${NODES}", id="a number"),
        pytest.param(job_text(nodes="$NODES"), "8:15", "$NODES", id="without braces"),
        pytest.param(job_text(name="train-${NAME}"), "4:15", "${NAME}", id="in a name"),
        pytest.param(job_text(name="train-{{ name }}"), "4:15", "{{ name }}", id="jinja in a name"),
        pytest.param(job_text(image="gcr.io/<project>/train:1"), "9:19", "<project>", id="in an image"),
        pytest.param(job_text(image="'{{ image }}:1'"), "9:13", "{{ image }}", id="jinja in an image"),
        pytest.param(job_text(image="${IMAGE}"), "9:12", "${IMAGE}", id="an image"),
        pytest.param(job_text() + "{% if gpu %}\n", "11:1", "{% if gpu %}", id="a statement"),
        pytest.param("{{- /*\nLicense\n*/ -}}\n" + job_text(), "1:1", "{{- /*", id="a comment of several lines"),
        pytest.param("{{- /* License */ -}}\n" + job_text(), "1:1", "{{- /* License */ -}}", id="a comment"),
        pytest.param(job_text() + "    ${LIMITS}\n", "11:5", "${LIMITS}", id="a line"),
        pytest.param(
            job_text().replace("  name: a\n", "  {name: a, namespace: ${NS}}\n"), "4:24", "${NS}", id="in braces"
        ),
    ],
)
def test_a_placeholder_that_breaks_a_field_is_one_error(text: str, column: str, placeholder: str) -> None:
    write("x.yaml", text)
    assert reported() == [("template-not-rendered", f"./x.yaml:{column}".removeprefix("./"))]
    assert f"`{placeholder}`" in errors()[0].message


@pytest.mark.parametrize(
    "command",
    [
        '[sh, -c, "torchrun $SCRIPT ${ARGS} <input"]',
        '["{{ item }}", "{% for m in messages %}", "{{ .Values.x }}"]',
        "['<pad>']\n    env: [{name: A, value: '${TOKEN} {{ x }}'}]",
    ],
)
def test_commands_arguments_and_variables_are_not_templates(command: str) -> None:
    write("x.yaml", job_text(command=command))
    assert reported() == []


def test_text_that_a_field_accepts_is_not_a_template() -> None:
    write(
        "x.yaml",
        job_text().replace("  name: a\n", "  name: a\n  annotations: {note: '{{ x }} ${Y} <z>'}\n") + "# {{ x }}\n",
    )
    assert reported() == []


def test_a_directive_of_a_patch_is_not_a_template() -> None:
    write("x.yaml", job_text().replace("trainer:", "trainer:\n    $patch: replace\n    ${A}: b"))
    assert {id for id, _ in reported()} == {"unknown-field"}


def test_an_object_of_helm_is_an_error_in_any_other_field() -> None:
    write("x.yaml", job_text().replace("  name: a\n", "  name: a\n  annotations: {note: '{{ .Release.Name }}'}\n"))
    assert reported() == [("template-not-rendered", "x.yaml:5:24")]
    assert errors()[0].help == "render the chart: `helm template CHART | trainc build -`"


def test_other_faults_stay() -> None:
    write("x.yaml", job_text(nodes="${NODES}", image="${IMAGE}").replace("trainer:", "trainer:\n    numProcPerNod: 2"))
    assert [id for id, _ in reported()] == ["unknown-field", "template-not-rendered"]


def test_the_summary_names_the_error_of_the_report() -> None:
    write("x.yaml", job_text().replace("torch-distributed", "'{{ runtime }}'"))
    lines = run("validate", "x.yaml").out.splitlines()
    assert [line.partition("[")[2].partition("]")[0] for line in lines if "error[" in line] == ["template-not-rendered"]
    assert "Jobs and pods of a were not checked because of template-not-rendered" in lines


def test_a_syntax_error_beside_a_placeholder_stays() -> None:
    write("x.yaml", job_text(nodes="1\n\timage: b", command='["{{ item }}"]'))
    assert [id for id, _ in reported()] == ["yaml"]


def test_each_document_is_reported_once() -> None:
    write("x.yaml", job_text(name="$A", nodes="$B"), job_text(nodes="{{ a }}", image="{{ b }}"), job_text(name="c"))
    assert reported() == [("template-not-rendered", "x.yaml:19:15"), ("template-not-rendered", "x.yaml:4:9")]


def test_the_help_lists_the_variables_outside_of_the_command() -> None:
    write("a b.yaml", job_text(name="${NAME}", nodes="$NODES", image="${IMAGE}:1", command="[sh, -c, 'echo $HOME']"))
    (found,) = errors()
    command = "envsubst '$NAME $NODES $IMAGE' < 'a b.yaml' | trainc build -"
    assert found.help == f"set the variables and render the file: `{command}`"
    assert found.message.endswith("(and 2 more)")


@pytest.mark.parametrize(
    ("nodes", "help"),
    [
        ("{{ cookiecutter.nodes }}", "create the project with cookiecutter, and compile its files"),
        ("{{ nodes }}", "render it with its tool, for example `jinja2 x.yaml | trainc build -`"),
        ("{{- .Values.nodes }}", "render the chart: `helm template CHART | trainc build -`"),
        *[
            (text, "render it with the program that fills in its Go templates, and give the result to `trainc build -`")
            for text in ("{{.Nodes}}", "{{- .Nodes }}", "{{ if $n }}1{{ end }}", '{{ printf "%d" .Nodes }}')
        ],
        ("{{ job.nodes }}", "render it with its tool, for example `jinja2 x.yaml | trainc build -`"),
        ("<nodes>", "replace it with a value"),
        ("${trial.nodes}", "replace it with a value"),
    ],
)
def test_the_help_names_the_tool(nodes: str, help: str) -> None:
    write("x.yaml", job_text(nodes=nodes))
    assert errors()[0].help == help


def test_a_template_of_a_chart_is_reported_once_per_file() -> None:
    service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n"
    write(
        "chart/templates/jobs.yaml",
        service,
        job_text(name="{{ .Release.Name }}"),
        job_text(name="'{{ .Release.Name }}'"),
    )
    write("chart/templates/more.yaml", job_text(name="{{ .Release.Name }}"))
    assert reported() == [
        ("template-not-rendered", "chart/templates/jobs.yaml:9:9"),
        ("template-not-rendered", "chart/templates/more.yaml:4:9"),
    ]
    assert {found.help for found in errors()} == {"render the chart: `helm template chart | trainc build -`"}


def test_a_document_of_another_kind_has_its_syntax_error() -> None:
    write("x.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ name }}\n")
    assert [found.id for found in errors("x.yaml")] == ["yaml"]


def test_a_runtime_is_reported_once_at_its_own_line() -> None:
    names = [
        job_text(name=name, image="").replace("    image: \n", "").replace("torch-distributed", "team") for name in "ab"
    ]
    write("x.yaml", RUNTIME, *names)
    assert reported() == [("template-not-rendered", "x.yaml:12:77")]


@pytest.mark.parametrize("part", ["{{", "{{ ", "{%", "${", "<a", "{{ .Values", "{{ x }}", "$A"])
def test_a_hostile_text_takes_little_time(part: str) -> None:
    write("x.yaml", job_text(name="'" + part * 20_000 + "'"), job_text(nodes=part * 20_000))
    started = time.process_time()
    assert run("validate").code == 1
    assert time.process_time() - started < 4


def chart(*files: str) -> None:
    Path("chart").mkdir()
    for name in ("Chart.yaml", *files):
        write(
            f"chart/{name}",
            job_text(name="'{{ .Release.Name }}'") if "files" in name else job_text(name="{{ .Release.Name }}"),
        )
    write("chart/Chart.yaml", "name: chart\n")
    write("job.yaml", job_text())


NOTE = "the templates of the chart are not checked: `{{ .Release.Name }}` is a placeholder"


@pytest.mark.parametrize("name", ["templates/a.yaml", "files/a.yaml", "files/deep/a.yaml"])
def test_a_chart_of_a_folder_has_one_note(name: str) -> None:
    chart(name, "templates/b.yaml")
    notes = trainc.compile(["."], options=Options(settings=NO_LINT)).diagnostics
    assert [(found.severity, found.id, found.message) for found in notes] == [("note", "template-not-rendered", NOTE)]
    assert notes[0].help == "render the chart: `helm template chart | trainc validate -`"
    for command in ("validate", "build", "graph", "upgrade", "validate --among . chart"):
        assert run(*command.split()).code == 0


@pytest.mark.parametrize("name", ["templates/a.yaml", "files/a.yaml"])
def test_a_template_of_a_chart_is_an_error_as_a_path_and_where_nothing_is_skipped(name: str) -> None:
    chart(name)
    for command in (f"validate chart/{name}", "build --passthrough"):
        done = run(*command.split())
        assert (done.code, "error[template-not-rendered]" in done.out + done.reported) == (1, True)


def test_a_chart_above_the_path() -> None:
    chart("templates/a.yaml")
    done = run("validate", "chart/templates")
    assert (done.code, "`helm template chart | trainc validate -`" in done.out) == (0, True)


def test_a_variable_in_a_chart_is_part_of_the_note() -> None:
    chart("files/a.yaml", "files/b.yaml")
    write("chart/files/b.yaml", job_text(name="${NAME}"))
    assert run("validate").code == 0


def test_a_complete_job_in_a_chart_is_compiled() -> None:
    chart()
    write("chart/examples/b.yaml", job_text(name="b", command="['{{ item }}']"))
    assert sorted(found.name for found in trainc.compile(["."]).jobs) == ["a", "b"]


@pytest.mark.parametrize("namespace", ["<your-ns>", "${NS}", "{{ ns }}"])
def test_equal_placeholders_are_equal_namespaces(namespace: str) -> None:
    metadata = f"metadata: {{name: team, namespace: '{namespace}'}}"
    runtime = RUNTIME.replace("metadata: {name: team}", metadata).replace("ClusterT", "T").replace("<project>", "a")
    write(
        "x.yaml",
        job_text()
        .replace("  name: a\n", f"  name: a\n  namespace: '{namespace}'\n")
        .replace("{name: torch-distributed}", "{name: team, kind: TrainingRuntime}"),
        runtime,
    )
    assert [id for id, _ in reported()] == ["template-not-rendered"] * 2


@pytest.mark.parametrize("name", ["team", "{{ name }}"])
def test_an_unreadable_runtime_is_not_missing(name: str) -> None:
    write("r.yaml", RUNTIME.replace("name: team", f"name: {name}").replace("{torch: {}}", "{{ policy }}"))
    write("x.yaml", job_text().replace("torch-distributed", "team"))
    assert reported()[0][0] == "template-not-rendered"
    assert len(reported()) == 1


def test_another_runtime_is_missing() -> None:
    write("r.yaml", RUNTIME.replace("{torch: {}}", "{{ policy }}"))
    write("x.yaml", job_text().replace("torch-distributed", "other"))
    assert {id for id, _ in reported()} == {"template-not-rendered", "runtime-not-found"}


class SearchedText(str):
    """A text that counts how often a part of it is searched."""

    __slots__ = ("searches",)

    def __contains__(self, part: object) -> bool:
        self.searches = getattr(self, "searches", 0) + 1
        return super().__contains__(part)  # type: ignore[operator]


def test_the_text_of_a_list_is_not_searched_for_each_item() -> None:
    job = yaml.safe_load(JOB.format(name="train", nodes=1, image="a/b:1", command="[x]"))
    searches = []
    for count in (200, 400):
        jobs = [{**job, "metadata": {"name": f"train-{index}"}} for index in range(count)]
        value = {"apiVersion": "v1", "kind": "List", "items": jobs}
        text = SearchedText(json.dumps(value))
        reading = Reading(kinds=COMPILED)
        reading.take(Document(file="list.json", line=1, text=text, value=value))
        compilation = compile_documents(reading, start(Options(settings=NO_LINT)))
        assert len(compilation.jobs) == count
        searches.append(text.searches)
    assert searches[0] == searches[1]


PRIVATE = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {spec: {template: {spec: {containers: [{name: node, image: "a:1"}]}}}}
"""


@pytest.mark.parametrize(("name", "namespace"), [("team", "YOUR_NAMESPACE"), ('"${NAME}"', "ml")])
def test_a_runtime_with_a_placeholder_in_its_name_is_not_missing(name: str, namespace: str) -> None:
    write("runtime.yaml", PRIVATE.replace("NAMESPACE", namespace).replace("NAME", name, 1))
    own = job_text().replace("{name: torch-distributed}", "{kind: TrainingRuntime, name: team}")
    write("job.yaml", own.replace("  name: a\n", "  name: a\n  namespace: ml\n"))
    assert [id for id, _ in reported()] == ["template-not-rendered"]
    listed = run("runtimes", "list")
    assert "error[template-not-rendered]" in listed.err
    assert "invalid-n" not in listed.err


@pytest.mark.parametrize("namespace", ['"{{ namespace }}"', '"${NAMESPACE}"', "YOUR_NAMESPACE"])
def test_a_runtime_in_a_namespace_that_is_a_placeholder_is_not_missing(namespace: str) -> None:
    own = job_text().replace("{name: torch-distributed}", "{kind: TrainingRuntime, name: team}")
    write("job.yaml", own.replace("  name: a\n", f"  name: a\n  namespace: {namespace}\n"))
    assert [id for id, _ in reported()] == ["template-not-rendered"]


def test_a_runtime_of_another_name_is_missing() -> None:
    write("runtime.yaml", PRIVATE.replace("NAMESPACE", "YOUR_NAMESPACE").replace("NAME", "other", 1))
    write("job.yaml", job_text().replace("{name: torch-distributed}", "{kind: TrainingRuntime, name: team}"))
    assert sorted(id for id, _ in reported()) == ["runtime-not-found", "template-not-rendered"]
