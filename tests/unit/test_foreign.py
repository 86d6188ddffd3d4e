"""Files of folders without TrainJobs and runtimes: which ones are skipped, and where nothing is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from purposes import compile_for
from running import run

from trainc.compilation.run import COMPILE, READ, Purpose
from trainc.files.foreign import is_foreign

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: torch-distributed}
"""
TEMPLATE = "{{- if .Values.enabled }}\nkind: Deployment\n{{- end }}\n"
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
MANY = "2 files without TrainJobs or runtimes were skipped\n"
READING = ("validate", "build", "pods", "explain", "graph", "upgrade", "migrate", "runtimes", "diff", "secret")
"""The commands that read folders."""


@pytest.fixture(autouse=True)
def project(empty_root: Path) -> Path:
    write_either("jobs/finetune.yaml", JOB)
    return empty_root


def write_either(path: str, text: str | bytes) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())


def command(name: str) -> list[str]:
    """Return a command line that reads the current folder."""
    return [name, *{"diff": [".", "jobs"], "secret": ["finetune"], "runtimes": ["list"]}.get(name, [])]


FOREIGN = {
    "a manifest": CLAIM,
    "a Helm template": TEMPLATE,
    "a backslash": 'a: "\\n\\t\\"\\\\" # \\d+ \\\n',
    "other escapes": r'a: "\u00e9\x41\U0001f600"',
    "a line that continues": "run: |\n  cp a \\\n    b\n",
    "a tag": "- !Ref x\n- !!python/name:a.b\n- !vault a\n- !reference [x, y]\n",
    "a script": "run: |\n  #!/bin/sh\n  ! test a != b || date +%20d\n",
    "an alias": "a: &a {b: '*'}\nc: *a\n",
    "a list": "- op: replace\n",
    "a byte order mark": "\ufeffa: b\n".encode(),
    "another case": "kind: trainjob\n",
    "invalid UTF-8": b"a: \xff\n",
    "nothing": "",
    "a string of JSON like a tag": '{"vocab": {"\u2581/*!<": 1.5e-3, "!!binary %TAG": [true, null, -1]}}\n',
}
OURS = {
    "a TrainJob": JOB,
    "a kind with an error": "kind: TrainJob\n{{ x",
    "a typo in the kind": "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJbo\n",
    "a typo in the group": "apiVersion: trainer.kubeflow.og/v1alpha1\nkind: TrainJob\n",
    "a runtime": "kind: ClusterTrainingRuntime\n",
    "a PyTorchJob": "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\n",
    "a Volcano Job": "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n",
    "an escape of JSON": r'{"kind": "Train\u004aob"}',
    "an escape of YAML": r'kind: "\x54rainJob"',
    "a long escape": r'kind: "\U00000054rainJob"',
    "an escape behind a backslash": r"""{a: '\', kind: "Train\u004aob"}""",
    "a folded string": 'kind: "Train\\\n\n   Job"',
    "a folded string with CR LF": 'kind: "Train\\\r\n   Job"',
    "base64": "kind: !!binary VHJhaW5Kb2I=\n",
    "base64 with a whole tag": "kind: !<tag:yaml.org,2002:binary> VHJhaW5Kb2I=\n",
    "base64 with a prefix": "%TAG !x! tag:yaml.org,2002:bin\n---\nkind: !x!ary VHJhaW5Kb2I=\n",
    "base64 with an escaped tag": "kind: !!b%69nary VHJhaW5Kb2I=\n",
    "base64 in braces": '{"kind":!!b%69nary VHJhaW5Kb2I=}\n',
    "base64 in JSON": '{"a": "b", "kind": !!binary VHJhaW5Kb2I=}\n',
    "base64 between quotes": '{a: b"c, kind: !!binary VHJhaW5Kb2I=, d: e"}\n',
    "base64 between quotes behind a colon": '{:"a, kind: !!binary VHJhaW5Kb2I=, ":b}\n',
    "UTF-16": JOB.encode("utf-16"),
    "UTF-16 of the other order": b"\xfe\xff" + JOB.encode("utf-16-be"),
    "UTF-16 without a byte order mark": JOB.encode("utf-16-le"),
    "UTF-32": JOB.encode("utf-32"),
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=list(FOREIGN))
def test_a_foreign_file(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    assert is_foreign(data)
    write_either("other/x.yaml", data)
    done = run("validate")
    assert (done.code, done.out) == (0, "no problems found: 1 TrainJob, 1 runtime\n")
    assert done.reported == "1 file without TrainJobs or runtimes was skipped\n"


@pytest.mark.parametrize("text", OURS.values(), ids=list(OURS))
def test_no_foreign_file(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    assert not is_foreign(data)
    write_either("other/x.yaml", data)
    assert run("validate").reported == ""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("a: [\n" + JOB, "x.yaml:3:5: error[yaml]", id="a syntax error"),
        pytest.param(JOB.replace("TrainJob", "TrainJbo"), "x.yaml:2:7: error[unknown-kind]", id="a typo"),
        pytest.param(JOB.replace("TrainJob", r'"Train\u004aob"') + "  x: 1\n", "x.yaml:6:3: error[unknown-field]", id="an escaped kind"),  # noqa: E501
        pytest.param(JOB.replace("trainer.kubeflow.org", "trainer.kubeflow.org/v9/x"), "x.yaml:1:13: error[unknown-version]", id="a version"),  # noqa: E501
    ],
)  # fmt: skip
def test_an_error_in_one_of_our_files_has_its_place(text: str, place: str) -> None:
    write_either("other/x.yaml", text.replace("finetune", "other"))
    for name in ("validate", "build"):
        done = run(name, "other")
        assert done.code == 1
        assert f"other/{place}" in done.out + done.reported


@pytest.mark.parametrize("name", READING)
def test_every_command_counts_the_skipped_files_and_lists_them_with_v(name: str) -> None:
    write_either("charts/x.yaml", TEMPLATE)
    write_either("jobs/y.yaml", TEMPLATE)
    done, verbose, long = run(*command(name)), run(*command(name), "-v"), run(*command(name), "--verbose")
    listed = "charts/x.yaml: skipped\njobs/y.yaml: skipped\n"
    assert (done.code, done.out) == (verbose.code, verbose.out) == (long.code, long.out)
    assert done.code == 0
    assert done.reported.startswith(MANY)
    assert verbose.reported == long.reported == listed + done.reported


@pytest.mark.parametrize("name", READING)
def test_a_file_on_the_command_line_is_never_skipped(name: str) -> None:
    write_either("charts/x.yaml", TEMPLATE)
    more = {
        "diff": ["jobs/finetune.yaml", "charts/x.yaml"],
        "secret": ["finetune", "charts/x.yaml"],
        "runtimes": ["list", "charts/x.yaml"],
    }
    done = run(name, *more.get(name, ["charts/x.yaml"]))
    assert done.code == 1
    assert "charts/x.yaml:1:2: error[yaml]" in done.out + done.reported
    assert "skipped" not in done.reported


def test_a_file_of_r_is_never_skipped_but_one_in_its_folder_is() -> None:
    write_either("charts/x.yaml", TEMPLATE)
    assert run("build", "jobs", "-r", "charts/x.yaml").code == 1
    done = run("build", "jobs", "-r", "charts")
    assert (done.code, done.reported) == (0, "1 file without TrainJobs or runtimes was skipped\n")


def test_a_file_of_two_paths_counts_once() -> None:
    write_either("charts/x.yaml", TEMPLATE)
    assert run("build", ".", "-r", "charts", "-r", ".").reported == "1 file without TrainJobs or runtimes was skipped\n"


def test_passthrough_skips_nothing() -> None:
    write_either("jobs/claim.yaml", CLAIM)
    done = run("build", "jobs", "--passthrough")
    assert (done.code, done.reported, "kind: PersistentVolumeClaim" in done.out) == (0, "", True)
    write_either("jobs/x.yaml", TEMPLATE)
    done = run("build", "jobs", "--passthrough")
    assert (done.code, done.out) == (1, "")
    assert "jobs/x.yaml:1:2: error[yaml]" in done.reported
    done = run("build", "jobs", "--passthrough", "--exclude", "x.yaml")
    assert (done.code, done.reported, "kind: PersistentVolumeClaim" in done.out) == (0, "", True)


def test_documents_of_other_kinds_in_our_files_are_still_counted() -> None:
    write_either("jobs/finetune.yaml", f"{JOB}---\n{CLAIM}")
    write_either("jobs/x.yaml", CLAIM)
    assert run("build", "jobs").reported.splitlines() == [
        "1 file without TrainJobs or runtimes was skipped",
        "omitted 1 document of other kinds (--passthrough includes them)",
    ]


def test_cmp_skips_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    write_either("jobs/deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a\n")
    monkeypatch.chdir("jobs")
    done = run("cmp", "generate")
    assert (done.code, done.out) == (1, "")
    assert "deployment.yaml:3:11: error[yaml]" in done.reported
    write_either("trainc.yaml", "exclude: [deployment.yaml]\n")
    assert run("cmp", "generate").code == 0


def test_krm_skips_nothing() -> None:
    write_either("jobs/x.yaml", TEMPLATE)
    request = (
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n"
        "  apiVersion: trainc.dev/v1alpha1\n  kind: TrainJobCompiler\n  metadata: {name: c}\n"
        "  spec: {paths: [jobs], settings: trainc.yaml}\n"
    )
    write_either("trainc.yaml", "{}\n")
    done = run("krm", stdin=request.encode())
    assert done.code == 1
    assert "jobs/x.yaml:1:2: error[yaml]" in done.reported
    write_either("trainc.yaml", "exclude: [x.yaml]\n")
    done = run("krm", stdin=request.encode())
    assert (done.code, done.reported, "kind: JobSet" in done.out) == (0, "", True)


def test_pods_and_graph_read_the_objects_that_a_job_refers_to() -> None:
    write_either(
        "jobs/finetune.yaml",
        f"{JOB}  trainer:\n    env:\n    - name: A\n      valueFrom: {{configMapKeyRef: {{name: c, key: a}}}}\n",
    )
    write_either("jobs/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: from the file}\n")
    write_either("jobs/x.yaml", TEMPLATE)
    pods, graph = run("pods", "jobs"), run("graph", "jobs")
    assert (pods.code, graph.code) == (0, 0)
    assert "from the file" in pods.out
    assert "jobs/config.yaml" in graph.out
    assert pods.reported == graph.reported == "1 file without TrainJobs or runtimes was skipped\n"


def test_a_rendered_side_of_a_review_must_be_readable() -> None:
    jobset = run("build", "jobs").out
    for side in ("old", "new"):
        write_either(f"{side}/finetune.yaml", jobset)
        write_either(f"{side}/claim.yaml", CLAIM)
    assert run("diff", "old", "new").out.startswith("old -> new\nnothing changes: 2 objects are unchanged")
    write_either("new/claim.yaml", TEMPLATE)
    done = run("diff", "old", "new")
    assert (done.code, "new/claim.yaml:1:2: error[yaml]" in done.reported) == (1, True)


def test_a_compilation_has_the_readable_documents_of_other_kinds() -> None:
    write_either("jobs/claim.yaml", CLAIM)
    write_either("jobs/x.yaml", TEMPLATE)
    write_either("jobs/patch.yaml", "- op: add\n")
    found = compile_for(COMPILE, ["jobs"])
    assert [document.file for document in found.others] == ["jobs/claim.yaml"]
    assert found.skipped == ("jobs/patch.yaml", "jobs/x.yaml")
    assert (found.files, found.diagnostics) == (4, ())
    assert compile_for(READ, ["jobs"]).skipped == (
        "jobs/claim.yaml",
        "jobs/patch.yaml",
        "jobs/x.yaml",
    )
    assert len(compile_for(Purpose(copies=True), ["jobs"]).diagnostics) == 2


def test_names_of_skipped_files_are_escaped() -> None:
    write_either("jobs/\x1b[31mred.yaml", TEMPLATE)
    assert run("build", "-v").err.startswith("jobs/\\x1b[31mred.yaml: skipped\n")


def test_a_subset_counts_its_own_files() -> None:
    write_either("jobs/x.yaml", TEMPLATE)
    write_either("jobs/y.yaml", TEMPLATE)
    done = run("validate", "--among", ".", "jobs/finetune.yaml", "jobs/y.yaml", "-v")
    assert (done.code, done.reported) == (0, "jobs/y.yaml: skipped\n1 file without TrainJobs or runtimes was skipped\n")


def test_skipped_files_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    from trainc.kubernetes import documents

    parsed: list[bytes | str] = []
    read_stream = documents.read_stream

    def recorded(data: bytes | str) -> object:
        parsed.append(data)
        return read_stream(data)

    monkeypatch.setattr(documents, "read_stream", recorded)
    for number in range(100):
        write_either(f"other/{number}.yaml", CLAIM)
    assert run("build").code == 0
    assert parsed == [JOB.encode()]
