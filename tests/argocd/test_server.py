"""The plugin behind Argo CD's own plugin server: the whole response to each request, as the user sees it.

The tests run `cmp-harness` from the PATH, a program around the plugin server and the repo-server of Argo CD 3.2.1, and
are skipped without it. The plugin is in the sidecar's venv. The user of the tests makes each request. If that is root,
user 999 makes it too, and the responses are the same.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from argocd.sidecar import FILES, Sidecar
from files import write_files
from snapshots import uncounted
from syrupy.assertion import SnapshotAssertion

HARNESS = shutil.which("cmp-harness")
pytestmark = pytest.mark.skipif(HARNESS is None, reason="cmp-harness on the PATH")

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {resourcesPerNode: {requests: {cpu: 1}}}
"""
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteMany]}\n"
BUILT_IN = (FILES.parents[1] / "runtimes" / "trainer-2.3" / "torch-distributed.yaml").read_text()
APPLICATION = {"job.yaml": JOB, "data.yaml": CLAIM}
MENTIONED = {"notes.yaml": f'data: {{a: "\nkind: TrainJob\n"}}\n{CLAIM}' + "#" * 2**20}
"""A large file that discovery accepts by its text, because it does not parse large files."""
APP = "apps/training"


def ask(request: str, sidecar: Sidecar, project: Path, flags: list[str]) -> Any:
    """Return the server's response, which is the same for every user."""
    assert HARNESS is not None
    answers = []
    for user in ["-1"] if sidecar.user is None else ["-1", str(sidecar.user)]:
        command = [HARNESS, "--plugin", str(FILES / "plugin.yaml"), "--repo", str(project), "--app", APP]
        command += ["--kube-version", "1.36", "--uid", user, *flags, request]
        variables = {"PATH": sidecar.path, "TMPDIR": str(sidecar.folder.parent)}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode in (0, 1), done.stderr
        answers.append(json.loads(done.stdout))
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


def shown(answer: Any) -> str:
    """Return a response as text: an error as the user reads it, everything else as YAML."""
    if "error" in answer:
        return f"error: {answer['error']}"
    return yaml.safe_dump(answer, sort_keys=False, width=1000).rstrip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a repository with a text file in the application's folder and a folder of runtimes."""
    root = tmp_path / "repository"
    write_files(
        {
            f"{APP}/README.md": "# Jobs\n",
            "platform/ours.yaml": BUILT_IN.replace("name: torch-distributed", "name: ours", 1),
        },
        root,
    )
    return root


def parameters(*given: dict[str, Any]) -> list[str]:
    """Return the flag for `spec.source.plugin.parameters`."""
    return ["--param-json", json.dumps(given)]


REQUESTS: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "a TrainJob is discovered": ("discover", APPLICATION, []),
    "no TrainJob is not discovered": ("discover", {"data.yaml": CLAIM}, []),
    "a TrainJob and a claim beside it": ("generate", APPLICATION, []),
    "parameters that are null": ("generate", APPLICATION, ["--param-json", "null"]),
    "all parameters": (
        "generate",
        {
            **APPLICATION,
            "job.yaml": JOB.replace("torch-distributed", "ours"),
            "other.yaml": JOB.replace("tune", "other"),
        },
        parameters(
            {"name": "runtimes", "array": ["../../platform"]},
            {"name": "only", "string": "finetune"},
            {"name": "strict", "string": "true"},
            {"name": "suspend", "string": "true"},
            {"name": "name-suffix-hash", "string": "true"},
            {"name": "argocd-replace", "string": "true"},
        ),
    ),
    "plugin env": ("generate", APPLICATION, ["--env", "TRAINC_SUSPEND=true", "--env", "TRAINC_ONLY=finetune"]),
    "an Application that names no plugin": ("generate", APPLICATION, ["--auto"]),
    "an unknown field": ("generate", {"job.yaml": f"{JOB}x: 1\n"}, []),
    "a warning, which nobody sees": (
        "generate",
        {"job.yaml": f"{JOB}x: 1\n"},
        parameters({"name": "field-validation", "string": "warn"}),
    ),
    "the parameters announced": ("parameters", APPLICATION, []),
    "the parameters announced, where the jobs are broken": ("parameters", {"job.yaml": f"{JOB}:x: [\n"}, []),
    "nothing to compile": ("generate", {"data.yaml": CLAIM}, []),
    "nothing to compile, and taken for ours": ("generate", MENTIONED, []),
    "a broken TrainJob": ("generate", {**APPLICATION, "job.yaml": JOB.replace("cpu: 1", "cpu: one")}, []),
    "a TrainJob that is no YAML": ("generate", {**APPLICATION, "job.yaml": f"{JOB}  image: [a\n"}, []),
    "a document that is no object": ("generate", {**APPLICATION, "values.yaml": "nodes: 4\n"}, []),
    "no runtime of that name": ("generate", {"job.yaml": JOB.replace("torch-distributed", "torch-distribute")}, []),
    "a warning with strict": (
        "generate",
        {"job.yaml": f"{JOB}x: 1\n"},
        parameters({"name": "strict", "string": "true"}, {"name": "field-validation", "string": "warn"}),
    ),
    "a value that is none": ("generate", APPLICATION, parameters({"name": "strict", "string": "1"})),
    "a value of plugin env that is none": ("generate", APPLICATION, ["--env", "TRAINC_STRICT=yes"]),
    "an unknown parameter": ("generate", APPLICATION, parameters({"name": "runtime", "array": ["../../platform"]})),
    "runtimes outside": (
        "generate",
        APPLICATION,
        parameters({"name": "runtimes", "array": ["../../../elsewhere", "/etc"]}),
    ),
    "no TrainJob of that name": ("generate", APPLICATION, parameters({"name": "only", "string": "finetine"})),
    "an older cluster, beside an error": (
        "generate",
        {"job.yaml": JOB.replace("cpu: 1", "cpu: one")},
        ["--kube-version", "1.34"],
    ),
}


@pytest.mark.parametrize(
    ("request_", "files", "flags"), [pytest.param(*row, id=name) for name, row in REQUESTS.items()]
)
def test_a_request(
    request_: str,
    files: dict[str, str],
    flags: list[str],
    sidecar: Sidecar,
    project: Path,
    snapshot: SnapshotAssertion,
) -> None:
    write_files(files, project / APP)
    assert uncounted(shown(ask(request_, sidecar, project, flags))) == snapshot


def test_argo_cd_refuses_a_link_out_before_any_plugin(
    sidecar: Sidecar, project: Path, snapshot: SnapshotAssertion
) -> None:
    write_files(APPLICATION, project / APP)
    (project / "out.yaml").symlink_to("../elsewhere.yaml")
    assert shown(ask("generate", sidecar, project, [])) == snapshot


def test_a_link_inside_is_followed(sidecar: Sidecar, project: Path) -> None:
    write_files(APPLICATION, project / APP)
    (project / APP / "ours.yaml").symlink_to("../../platform/ours.yaml")
    (project / APP / "again").symlink_to(".")
    kinds = [manifest["kind"] for manifest in ask("generate", sidecar, project, [])["manifests"]]
    assert kinds == ["JobSet", "PersistentVolumeClaim"]


NAMES = ("y", "yes", "on", "n", "no", "off", "null", "012", "1.0", "1e3", "0x1F", "2024-01-01", "12345678901234567890")
"""Valid label values that YAML 1.1 or 1.2 does not read as strings."""
TEXTS = (
    *NAMES,
    *(
        "Y",
        "True",
        "NULL",
        "~",
        "",
        " ",
        "=",
        "<<",
        "0o17",
        "0b1",
        "1_000",
        "1:30",
        ".5",
        ".inf",
        "-.INF",
        ".nan",
        "+1",
    ),
    *("2024-01-01T00:00:00Z", "- a", "a: b", "#", "a #b", "!x", "&a", "*a", "?", "|", ">", "%", "@", "`", "{}", "[]"),
    *("'", '"', "a\nb", "a\n", "\n", "\ttab", "trailing ", "ä", "\U0001f600", "\u2028", "\ufeff", "---", "..."),
)


def test_strings_arrive_as_they_were_written(sidecar: Sidecar, project: Path) -> None:
    labels = {f"l-{number}": text for number, text in enumerate(NAMES)} | {text: text for text in NAMES}
    texts = {f"example.com/t-{number}": text for number, text in enumerate(TEXTS)} | {text: text for text in NAMES}
    variables = [{"name": f"V{number}", "value": text} for number, text in enumerate(TEXTS) if text]
    trainer = {"args": list(TEXTS), "command": list(TEXTS), "env": variables}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "finetune", "labels": labels, "annotations": texts},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer},
    }
    data = {f"k{number}": text for number, text in enumerate(TEXTS)} | {text: text for text in NAMES}
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "012", "labels": labels}, "data": data}
    write_files({"job.json": json.dumps(job), "other.json": json.dumps(other)}, project / APP)
    jobset, passed = ask("generate", sidecar, project, ["--app-namespace", "1e3"])["manifests"]
    assert passed == other
    assert jobset["metadata"] == {"name": "finetune", "namespace": "1e3", "labels": labels, "annotations": texts}
    (container,) = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
    assert container["args"] == container["command"] == list(TEXTS)
    assert [entry for entry in container["env"] if entry in variables] == variables


def test_what_argo_cd_itself_loses(sidecar: Sidecar, project: Path, snapshot: SnapshotAssertion) -> None:
    """Argo CD writes the response as JSON and parses that as YAML, which allows fewer characters."""
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "a\x85b"}}
    write_files({"job.yaml": JOB, "other.json": json.dumps(other)}, project / APP)
    assert ask("generate", sidecar, project, [])["manifests"][1]["data"] == {"a": "a b"}
    write_files({"other.json": json.dumps(other).replace("0085", "007f")}, project / APP)
    assert shown(ask("generate", sidecar, project, [])) == snapshot
