"""Unreadable documents: which texts are of our kinds, and that a folder's commands skip only the others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from batches import examples
from files import write
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from running import run

from trainc.base.kinds import COMPILED, RUNTIMES
from trainc.files.inputs import File
from trainc.frontends.reading import Reading
from trainc.frontends.unreadable import is_of_kinds
from trainc.kubernetes.documents import read_stream

GROUP = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
JOB = f"{GROUP}kind: TrainJob\nmetadata: {{name: a}}\nspec: {{runtimeRef: {{name: plain}}}}\n"
END = "spec: [\n"
OURS = {
    "a block": f"{GROUP}kind: TrainJob\n{END}",
    "a runtime": f"{GROUP}kind: ClusterTrainingRuntime\n{END}",
    "without apiVersion": f"kind: TrainJob\n{END}",
    "an old apiVersion": f"apiVersion: kubeflow.org/v2alpha1\nkind: TrainJob\n{END}",
    "a misspelt group": f"apiVersion: trainer.kubeflow.og/v1\nkind: TrainJob\n{END}",
    "quotes": f"'apiVersion': \"trainer.kubeflow.org/v1alpha1\"\n\"kind\": 'TrainJob'\n{END}",
    "CR LF": f"{GROUP}kind: TrainJob\n{END}".replace("\n", "\r\n"),
    "CR": f"{GROUP}kind: TrainJob\n{END}".replace("\n", "\r"),
    "indented": f"  {GROUP}  kind: TrainJob\n  {END}",
    "less indentation below": f"  kind: TrainJob\nspec:\n{END}",
    "the kind last": f"metadata:\n  kind: Other\n{END}kind: TrainJob\n",
    "space around": f"kind :  TrainJob  # a job\n{END}",
    "an anchor": f"kind: &kind TrainJob\n{END}",
    "an anchor at the key": f"&a kind: TrainJob\n{END}",
    "a tag at the key": f"!!str kind: TrainJob\n{END}",
    "an explicit key": f"? kind\n: TrainJob\n{END}",
    "the next line": f"kind:\n  TrainJob\n{END}",
    "a block scalar": f"kind: >-\n  TrainJob\n{END}",
    "an escape in the key": f'"k\\u0069nd": TrainJob\n{END}',
    "a separator": f"---\n{GROUP}kind: TrainJob\n{END}",
    "a directive": f"%YAML 1.1\n---\nkind: TrainJob\n{END}",
    "a byte order mark": f"\ufeffkind: TrainJob\n{END}",
    "UTF-16": f"{GROUP}kind: TrainJob\n".encode("utf-16-le").decode("latin-1"),
    "no closing quote": f'kind: "TrainJob\n{END}',
    "flow": "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, spec: [",
    "flow in lines": "# a\n{\n  # kind: Role\n  kind: TrainJob,\n  spec: [",
    "flow behind the separator": "--- {kind: TrainJob, spec: [",
    "flow, the kind last": "{metadata: {kind: Role}, kind: TrainJob, spec: [",
    "JSON": '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": [',
    "JSON without spaces": '{"kind":"TrainJob","spec":[',
    "JSON, the kind last": '{"spec": {"kind": "Role", "a": [1, "kind"]}, "kind": "TrainJob", ',
    "JSON with a quote too many": '{\n"a": "b"",\n"kind": "TrainJob"\n}',
    "in an if": f"{{{{- if .Values.job }}}}\n{GROUP}kind: TrainJob\n{END}{{{{- end }}}}\n",
    "behind an if": f"{{{{ if .Values.job }}}}kind: TrainJob\n{END}",
    "in an else": f"{{{{- if .a }}}}\nkind: Job\n{{{{- else }}}}\nkind: TrainJob\n{{{{- end }}}}\n{END}",
    "below a comment of a template": f"{{{{- /*\nkind: Role\n*/}}}}\n{GROUP}kind: TrainJob\n{END}",
    "below a statement of Jinja": f"{{% if job %}}\nkind: TrainJob\n{{% endif %}}\n{END}",
    "an apiVersion of a template": f"apiVersion: {{{{ .Values.version }}}}\nkind: TrainJob\n{END}",
    "braces of a template": '{{- $a := "b" }}\n{"kind": "TrainJob", "metadata": {{ .a }}, ',
    "an escape": f'{GROUP}kind: "Train\\u004aob"\n{END}',
    "an escape in JSON": '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "Train\\u004aob", ',
    "an escaped group": f'apiVersion: "trainer.kube\\u0066low.org/v1"\nkind: "Train\\u004aob"\n{END}',
    "a tag": f"{GROUP}kind: !!binary VHJhaW5Kb2I=\n{END}",
    "a tag of a directive": f"kind: !x!ary VHJhaW5Kb2I=\n{END}",
    "an alias": f"{GROUP}a: &a TrainJob\nkind: *a\n{END}",
    "a placeholder": f"{GROUP}kind: {{{{ .Values.kind }}}}\n{END}",
    "a variable": f"{GROUP}kind: ${{KIND}}\n{END}",
    "a List": f"apiVersion: v1\nkind: List\nitems:\n- kind: TrainJob\n  {END}",
    "a List of JSON": '{"items": [{"kind": "TrainJob"}], "kind": "List", ',
    "a TrainJobList": f"kind: TrainJobList\nitems:\n- kind: TrainJob\n  {END}",
}
OTHERS = {
    "nothing": "",
    "no kind": f"{GROUP}{END}",
    "another kind": f"apiVersion: apps/v1\nkind: Deployment\n# kind: TrainJob\n{END}",
    "another group": f"apiVersion: batch.acme.io/v1\nkind: TrainJob\n{END}",
    "another kind of the group": f"{GROUP}kind: OptimizationJob\n{END}",
    "a longer kind": f"kind: TrainJobTemplate\n{END}",
    "a nested kind": f"kind: Workflow\nspec:\n  kind: TrainJob\n{END}",
    "only a nested kind": f"job:\n  {GROUP}  kind: TrainJob\n{END}",
    "an item": f"- kind: TrainJob\n  {END}",
    "a list": '[{"kind": "TrainJob"}',
    "a list of actions": f"- {{kind: TrainJob}}\n{END}",
    "a CRD": f"kind: CustomResourceDefinition\nspec:\n  names:\n    kind: TrainJob\n{END}",
    "a role": '{{- if .Values.rbac }}\nkind: ClusterRole\nrules:\n- apiGroups: ["kubeflow.org"]\n{{- end }}\n',
    "a comment": f"# kind: TrainJob\n{END}",
    "a comment in braces": "{\n# kind: TrainJob\nkind: Role, a: [",
    "a comment of a template": f"{{{{/* kind: TrainJob */}}}}\nkind: Role\n{END}",
    "an action": f"{{{{ $kind: TrainJob }}}}\n{END}",
    "a block scalar": f"kind: ConfigMap\ndata:\n  a: |\n    kind: TrainJob\n{END}",
    "a string": 'kind: Role\na: "b\nkind: TrainJob\n',
    "a string in JSON": '{"a": "b, kind: TrainJob", "kind": "Role", ',
    "a string of JSON in JSON": r'{"a": "{\"kind\": \"TrainJob\"}", "kind": "Role", ',
    "a nested kind in JSON": '{"a": {"kind": "TrainJob"}, "b": [{"kind": "TrainJob"}], ',
    "the kind last": '{"a": {"kind": "TrainJob"}, "kind": "Role", ',
    "a key": f"TrainJob: kind\nkindness: TrainJob\n{END}",
    "an escape in another group": f'apiVersion: v1\nkind: "R\\u006fle"\n{END}',
    "a placeholder in another group": f"apiVersion: v1\nkind: {{{{ .Values.kind }}}}\n{END}",
    "a List of others": f"kind: List\nitems:\n# kind: TrainJob\n- kind: Role\n  TrainJob: a\n  {END}",
    "prose": "# TrainJob\n\nThe kind: TrainJob is below.\n",
}
READING = ("validate", "build", "pods", "explain", "graph", "upgrade", "migrate", "runtimes", "diff", "secret")
REPRODUCTIONS = {
    "chart/templates/rbac.yaml": OTHERS["a role"],
    "events.json": '[{"kind": "TrainJob"}]\n',
    "deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {labels: {volcano.sh/x: a, app: a, app: b}}\n",
}


@pytest.mark.parametrize("text", OURS.values(), ids=list(OURS))
def test_a_text_of_our_kinds(text: str) -> None:
    assert is_of_kinds(text, COMPILED)


@pytest.mark.parametrize("text", OTHERS.values(), ids=list(OTHERS))
def test_a_text_of_other_kinds(text: str) -> None:
    assert not is_of_kinds(text, COMPILED)


def test_the_kinds_are_those_of_the_run() -> None:
    assert not is_of_kinds(OURS["a block"], RUNTIMES)
    assert is_of_kinds(OURS["a runtime"], RUNTIMES)


@pytest.fixture
def project(empty_root: Path) -> Path:
    write("jobs/a.yaml", JOB)
    return empty_root


def command(name: str) -> list[str]:
    """Return a command line that reads the current folder."""
    return [name, *{"diff": ["jobs", "."], "secret": ["a"], "runtimes": ["list"]}.get(name, [])]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("path", REPRODUCTIONS)
def test_every_command_skips_and_counts_a_document_of_another_kind(path: str, name: str) -> None:
    write(path, REPRODUCTIONS[path])
    done = run(*command(name), "-v")
    assert (done.code, done.reported.splitlines()[0]) == (0, f"{path}: skipped")
    assert "1 file without TrainJobs or runtimes was skipped\n" in done.reported


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", READING)
def test_every_command_reports_an_unreadable_job(name: str) -> None:
    write("other/x.yaml", f"{GROUP}kind: TrainJob\n{END}")
    done = run(*command(name))
    assert done.code == (1 if name != "runtimes" else 0)
    assert ("error[yaml]" in done.out + done.reported) == (name != "runtimes")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("path", REPRODUCTIONS)
def test_a_subset_skips_a_document_of_another_kind(path: str) -> None:
    write(path, REPRODUCTIONS[path])
    done = run("validate", "--among", ".", path, "-v")
    assert (done.code, done.reported.splitlines()[0]) == (0, f"{path}: skipped")


@pytest.mark.usefixtures("project")
def test_the_other_documents_of_the_file_are_compiled() -> None:
    job = JOB.replace("name: a", "name: b")
    write("jobs/b.yaml", f"{REPRODUCTIONS['deployment.yaml']}---\n{job}---\n- a\n--- lost\nkind: Role\n")
    done = run("build", "-v")
    assert (done.code, done.out.count("kind: JobSet")) == (0, 2)
    assert done.reported.splitlines()[:4] == [
        "jobs/b.yaml:3: skipped",
        "jobs/b.yaml:11: skipped",
        "jobs/b.yaml:10: skipped",
        "3 documents without TrainJobs or runtimes were skipped",
    ]
    assert run("validate", "jobs/b.yaml").code == 1


@pytest.mark.usefixtures("project")
def test_a_run_that_passes_documents_through_skips_none() -> None:
    write("deployment.yaml", REPRODUCTIONS["deployment.yaml"])
    done = run("build", "--passthrough")
    assert (done.code, "error[yaml]" in done.reported) == (1, True)


@pytest.mark.usefixtures("project")
def test_a_rendered_side_has_no_unreadable_document() -> None:
    jobset = run("build").out
    for side in ("old", "new"):
        write(f"{side}/a.yaml", jobset)
    write("new/deployment.yaml", REPRODUCTIONS["deployment.yaml"])
    done = run("diff", "old", "new")
    assert (done.code, "new/deployment.yaml:3:46: error[yaml]" in done.reported) == (1, True)
    write("new/a.yaml", f"{jobset}---\n{REPRODUCTIONS['deployment.yaml']}")
    assert "new/a.yaml" in run("diff", "old", "new").reported


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("path", ["README.md", "notes", "README.md.txt"])
def test_a_path_in_another_format_is_one_error(path: str) -> None:
    write(path, f"# Jobs\n\nRun `a`: it trains: a.\n\n```yaml\n{JOB}```\n\n---\n\n```sh\n\ttrainc\n```\n")
    done = run("validate", path)
    assert done.code == 1
    assert done.out.startswith(f"{path}: error[yaml]: not YAML or JSON\n")
    assert "1 error in 1 file (checked" in done.out


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("path", ["job.yaml.tmpl", "job", "job.yaml"])
def test_a_manifest_with_another_suffix_has_its_errors(path: str) -> None:
    write(path, f"# A job\n{GROUP}kind: TrainJob\n{END}")
    assert f"{path}:5:1: error[yaml]: a value is missing here" in run("validate", path).out


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", ["validate", "build", "pods", "graph", "upgrade", "explain"])
@pytest.mark.parametrize("text", ["", "# nothing\n---\n", "---\n"])
def test_standard_input_without_a_document_is_an_error(text: str, name: str) -> None:
    done = run(name, "-", stdin=text.encode())
    assert done.code == 1
    assert "<stdin>: error[unreadable]: has no document" in done.out + done.reported


@pytest.mark.usefixtures("project")
def test_an_empty_list_and_an_empty_file_are_no_errors() -> None:
    write("jobs/empty.yaml", "")
    assert run("validate", "-", stdin=b"apiVersion: v1\nkind: List\nitems: []\n").code == 0
    assert run("validate", "jobs/empty.yaml").code == 0


@pytest.mark.usefixtures("project")
def test_graph_and_pods_keep_only_the_objects_that_pods_refer_to(monkeypatch: pytest.MonkeyPatch) -> None:
    write("data.json", json.dumps({"kind": "Dashboard", "panels": [{"kind": "Panel", "targets": ["a"] * 9}] * 999}))
    write("secret.json", json.dumps({"apiVersion": "v1", "kind": "Deployment", "a": "Secret"}))
    write("config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    for name in ("graph", "pods"):
        assert "1 file without TrainJobs or runtimes was skipped" in run(name).reported
    reading = Reading(kinds=COMPILED, others="referenced")
    reading.gather(["."])
    assert [document.file for document in reading.documents["other"]] == ["config.yaml"]
    assert [file.path for file in reading.skipped] == ["data.json"]


def jobs() -> list[str]:
    """Return the TrainJobs of the corpus, or of the golden cases without one."""
    corpus = os.environ.get("TRAINC_CORPUS", "")
    if corpus:
        lines = (Path(corpus) / "TrainJob.jsonl").read_text("utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines]
    else:
        texts = [path.read_text() for path in sorted((Path(__file__).parents[2] / "golden").glob("[a-t]*/input.yaml"))]
    return [text for text in texts if "\nkind: TrainJob\n" in text and "\n---" not in text]


BROKEN_OTHERS = [
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels: {trainer.kubeflow.org/a: b}\n  ownerReferences:\n"
    "  - apiVersion: trainer.kubeflow.org/v1alpha1\n    kind: TrainJob\n    name: a\nspec: {replicas: 1}\n",
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules:\n"
    "- apiGroups: [trainer.kubeflow.org]\n  resources: [trainjobs]\n  verbs: ['*']\n# TrainJob\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  job.yaml: |\n    "
    + JOB.replace("\n", "\n    ")
    + "\n  other: b\n",
    '{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "a"}, "spec": {"templates": [\n'
    '{"resource": {"manifest": {"kind": "TrainJob", "apiVersion": "trainer.kubeflow.org/v1alpha1"}}}]}}\n',
]
AROUND = "apiVersion: v1\nkind: Service\nmetadata: {name: trainjob}\n"
GARBAGE = [
    "[",
    "{",
    "}",
    "]",
    '"',
    "'",
    "\t",
    "\n",
    "\n\t",
    ": ",
    "\na: b\na: b\n",
    "%",
    "@",
    "{{ x }}",
    "{{",
    "*a ",
    "\x01",
]


@st.composite
def broken_streams(draw: st.DrawFn, texts: list[str]) -> str:
    """Return a text with changes below its `kind` that make it unreadable, between two other documents."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        first = (
            text.index("\n", text.index("\nkind") + 1) if "\nkind" in text else text.index(",", text.index('"kind"'))
        )
        begin = draw(st.integers(first + 1, max(first + 1, len(text))))
        end = draw(st.integers(begin, min(begin + 20, len(text))) | st.just(begin))
        text = text[:begin] + draw(st.sampled_from(GARBAGE)) + text[end:]
    stream = f"{AROUND}---\n{text.rstrip()}\n---\n{AROUND}"
    assume(len(read_stream(stream)[0]) == 2)
    return stream


def read_in_folder(stream: str) -> Reading:
    reading = Reading(kinds=COMPILED, others="skip")
    reading.add(File("x.yaml", stream.encode("utf-8", "surrogatepass"), found=True))
    return reading


@examples(500, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(broken_streams(jobs()))
def test_a_broken_job_is_always_an_error(stream: str) -> None:
    reading = read_in_folder(stream)
    assert [found.severity for found in reading.diagnostics] == ["error"]
    assert len(reading.documents["other"]) == 2


@examples(500, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(broken_streams(BROKEN_OTHERS))
def test_a_broken_document_of_another_kind_never_is(stream: str) -> None:
    reading = read_in_folder(stream)
    assert reading.diagnostics == []
    assert len(reading.documents["other"]) == (2 if reading.dropped else 0)
    assert len(reading.skipped_names()) == 1
