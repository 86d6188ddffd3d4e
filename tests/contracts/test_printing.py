"""No command prints a control character, a bidirectional mark or a workflow command of its input, in any format.

A canary is put into every key and value of a job, a runtime and other documents, one at a time, and into names of
files, folders and arguments. Each command runs on each of these inputs, in each format, and the test reads all that it
prints.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml
from committing import commit
from running import Done, run

from trainc.base.texts import escape, escape_at, escape_line
from trainc.files.output_marks import MARK
from trainc.source.file_diffs import unified_diff

pytestmark = pytest.mark.slow
CANARY: Final = "x\r\n::error title=canary::y\u202e\x1b[31m\x9b2J\u2028##[error]z\u200b"
"""A line break and a workflow command, an override of the text's direction, terminal sequences, hidden characters."""
JOB: Final = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: job
  namespace: team
  labels: {kueue.x-k8s.io/queue-name: queue}
  annotations: {note: text}
spec:
  runtimeRef: {name: runtime, kind: TrainingRuntime}
  suspend: false
  initializer:
    model: {storageUri: "hf://org/model", secretRef: {name: token}}
  trainer:
    image: registry.example.com/train:1
    command: [python, train.py]
    args: [--steps, "10"]
    numNodes: 2
    env: [{name: MODE, value: fast}]
    resourcesPerNode: {limits: {cpu: "1"}}
  runtimePatches:
  - manager: example.com/manager
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template: {spec: {template: {spec: {nodeSelector: {pool: a}}}}}
"""
RUNTIME: Final = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata:
  name: runtime
  namespace: team
  labels: {trainer.kubeflow.org/framework: torch}
spec:
  mlPolicy: {numNodes: 1, torch: {numProcPerNode: 1}}
  template:
    spec:
      replicatedJobs:
      - name: model-initializer
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: model-initializer}}
          spec: {template: {spec: {containers: [{name: model-initializer, image: "init:1"}]}}}
      - name: node
        dependsOn: [{name: model-initializer, status: Complete}]
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                containers:
                - {name: node, image: "torch:1", volumeMounts: [{name: data, mountPath: /data}]}
                volumes: [{name: data, persistentVolumeClaim: {claimName: claim}}]
"""
OTHERS: Final = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: team}
data: {key: value}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: older, namespace: team}
spec: {}
"""
OWN: Final = re.compile(r"::(?:error|warning|notice) (?:[a-zA-Z]+=[^:]*,)*title=trainc \([a-z-]+\)::")
"""A workflow command of `--format github`, without a colon in its properties."""
DOCUMENTS: Final = tuple(yaml.safe_load_all(f"{JOB}---\n{RUNTIME}---\n{OTHERS}"))
OLDER: Final = JOB.replace("  runtimePatches:", "  unused:").replace(
    "spec:\n  runtimeRef", "spec:\n  podSpecOverrides: []\n  runtimeRef"
)


class Command(NamedTuple):
    """A command line; `manifest` if standard output is a manifest, and `annotates` if it has workflow commands."""

    words: str
    manifest: bool = False
    annotates: bool = False


LINES: Final = (
    Command("build in", manifest=True),
    Command("build in --format json", manifest=True),
    Command("build in --passthrough --format json", manifest=True),
    Command("build in -o rendered --check"),
    Command("build in --passthrough -o rendered --check"),
    Command("validate in -v"),
    Command("validate in --format json"),
    Command("validate in --format junit"),
    Command("validate in --format sarif"),
    Command("validate in --format github", annotates=True),
    Command("validate in --format gitlab"),
    Command("pods in"),
    Command("pods in --format json"),
    Command("explain in"),
    Command("explain in --format json"),
    Command("graph in"),
    Command("graph in --format mermaid"),
    Command("diff plain in"),
    Command("diff plain in --format markdown"),
    Command("diff plain in --format json"),
    Command("diff plain in --format html"),
    Command("diff in plain"),
    Command("diff in plain --format markdown"),
    Command("upgrade in --check"),
    Command("secret job in"),
    Command("runtimes list in"),
    Command("runtimes list in --wide"),
    Command("runtimes list in --format json"),
)


def test_the_escape_function() -> None:
    assert escape("plain text: a::b # c") == "plain text: a::b # c"
    assert escape(CANARY) == (r"x\r\n::error title=canary::y\u202e\x1b[31m\x9b2J\u2028\x23#[error]z\u200b")
    assert escape(" \t::error::x") == r" \t::error::x"
    assert escape("  ::error::x") == r"  \x3a:error::x"
    assert escape("##vso[task.complete]") == r"\x23#vso[task.complete]"
    assert escape_line("\t::error::x\n") == "\t\\x3a:error::x\n"
    assert escape_line("a\tb\x1b\n") == "a\tb\\x1b\n"
    assert [escape_at("a##[b", index) for index in range(5)] == ["a", r"\x23", "#", "[", "b"]


def test_a_diff_has_no_line_of_its_texts_at_the_start_of_a_line() -> None:
    old, new = "a\r::error::1\n  ::error::2\nb", "a\n  ::error::2\nb\n"
    assert list(unified_diff(old, new, "x\n::error::3", "y")) == [
        "--- x\\n::error::3\n",
        "+++ y\n",
        "@@ -1,3 +1,3 @@\n",
        "-a\\r::error::1\n",
        "+a\n",
        "   \\x3a:error::2\n",
        "-b\n",
        "\\ No newline at end of file\n",
        "+b\n",
    ]


def faults(text: str, command: Command, *, stdout: bool) -> list[str]:
    """Return the printed lines that a terminal or a runner would obey."""
    found = []
    for line in text.split("\n"):
        if not line.replace("\t", "").isprintable():
            found.append(f"unprintable: {line!r}")
        if stdout and command.manifest:
            continue
        own = stdout and command.annotates and OWN.match(line)
        if re.match(r"\s*::\S.*?::", line) and not own:
            found.append(f"workflow command: {line!r}")
        if re.search(r"##\w*\[", line):
            found.append(f"workflow command: {line!r}")
    return found


def paths(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all keys and scalars; that of a key ends with None."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield (*at, key, None)
            yield from paths(value, (*at, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from paths(value, (*at, index))
    else:
        yield at


def with_canary(documents: list[Any], path: tuple[Any, ...], canary: str = CANARY) -> list[Any]:
    """Return documents with the canary at the end of a key or value; one that is a command precedes it."""
    changed = copy.deepcopy(documents)
    *above, last = path[:-1] if path[-1] is None else path
    parent: Any = functools.reduce(lambda tree, step: tree[step], above, changed)
    if path[-1] is None:
        parent[_with(canary, last)] = parent.pop(last)
    else:
        parent[last] = _with(canary, parent[last])
    return changed


def _with(canary: str, text: object) -> str:
    return f"{canary}{text}" if canary.startswith(("::", "##")) else f"{text}{canary}"


def texts() -> Iterator[str]:
    """Yield a stream for each canary, with a namespace of its own, so that one folder can have them all."""
    number = 0
    for documents in (list(DOCUMENTS), [yaml.safe_load(OLDER), DOCUMENTS[1]]):
        for path in paths(documents):
            number += 1
            changed = with_canary(documents, path)
            yield yaml.safe_dump_all(changed).replace("namespace: team", f"namespace: team-{number}")


@pytest.fixture(scope="module")
def streams() -> list[str]:
    return list(texts())


@pytest.fixture(scope="module")
def valid(streams: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the streams that compile: other texts are only in diagnostics."""
    file = tmp_path_factory.mktemp("valid") / "a.yaml"
    found = []
    for stream in streams:
        file.write_text(stream)
        if run("build", str(file)).code == 0:
            found.append(stream)
    return found


def check(done: Done, command: Command) -> None:
    assert done.code != 70, done.err
    assert faults(done.out, command, stdout=True) == []
    assert faults(done.err, command, stdout=False) == []


@pytest.mark.parametrize("command", LINES, ids=lambda line: line.words)
def test_fields(
    command: Command, streams: list[str], valid: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The canary is in each key and each value of each document: first in one folder, then without the faulty ones."""
    monkeypatch.chdir(tmp_path)
    for folder in ("in", "plain", "rendered/team"):
        Path(folder).mkdir(parents=True)
    Path("plain/a.yaml").write_text(f"{JOB}---\n{RUNTIME}")
    Path("rendered/team/job.yaml").write_text(f"# {CANARY}\nold: |\n  ::error title=canary::z\n")
    printed = ""
    for selected in (streams, valid):
        for number, stream in enumerate(selected):
            Path(f"in/{number}.yaml").write_text(stream)
        done = run(*command.words.split())
        check(done, command)
        printed += done.out + done.err
        for file in Path("in").iterdir():
            file.unlink()
    assert "canary" in printed


SETTINGS: Final = """\
sources: [in]
output: rendered
exclude: [a]
runtimes: {paths: [in]}
cluster: gpu
trainerVersion: "2.3"
namespace: team
labels: {owner: research}
annotations: {note: text}
images: [{name: "torch", newTag: "2"}]
patches:
- target: {kind: TrainJob, labelSelector: a=b}
  patch: {metadata: {annotations: {note: text, list: [text]}}}
- target: {kind: JobSet}
  patch: [{op: add, path: /metadata/annotations/note, value: {text: text}}]
- target: {kind: JobSet}
  patch: "metadata: {annotations: {note: text}}"
environments:
  prod: {namespace: prod, cluster: gpu, patches: [{patch: {metadata: {labels: {text: text}}}}]}
"""


OF_SETTINGS: Final = (Command("settings"), Command("settings --format json"))


@pytest.mark.parametrize("command", OF_SETTINGS, ids=lambda line: line.words)
def test_settings(command: Command, empty_folder: Path) -> None:
    """The canary is in each key and each value of trainc.yaml, at the start and at the end."""
    Path("in").mkdir()
    shown = 0
    settings = [yaml.safe_load(SETTINGS)]
    for path in paths(settings):
        for canary in (CANARY, f"::error title=canary::{CANARY}", "##vso[task.complete]canary"):
            Path("trainc.yaml").write_text(yaml.safe_dump_all(with_canary(settings, path, canary)))
            done = run(*command.words.split())
            check(done, command)
            if done.code == 0:
                text = yaml.safe_load(done.out) if "---" not in done.out else list(yaml.safe_load_all(done.out))
                shown += canary in f"{flat(text)}"
    assert shown > 30


def flat(tree: Any) -> str:
    """Return all keys and scalars of a tree."""
    if isinstance(tree, dict):
        return "\0".join(f"{key}\0{flat(value)}" for key, value in tree.items())
    return "\0".join(map(flat, tree)) if isinstance(tree, list) else str(tree)


NAME: Final = f"::error title=canary::{CANARY}"
ARGUMENTS: Final = (
    (NAME,),
    ("build", NAME),
    ("build", "in", f"--{NAME}"),
    ("build", "in", "--only", NAME),
    ("build", "in", "--namespace", NAME),
    ("build", "in", "--format", NAME),
    ("build", "in", "-o", NAME),
    ("build", "in", "-o", NAME, "--check"),
    ("build", "in", "--report", f"{NAME}=x"),
    ("build", "in", "--report", f"junit=none/{NAME}"),
    ("build", "in", "--exclude", f"{NAME}\\"),
    ("build", "in", "--config", NAME),
    ("build", "in", "-r", NAME),
    ("validate", NAME),
    ("validate", "in", "--among", NAME),
    ("pods", "in", "--job", NAME),
    ("pods", "in", "--index", NAME),
    ("explain", "in", NAME),
    ("explain", NAME),
    ("graph", NAME),
    ("diff", NAME, "in"),
    ("diff", f"{NAME}..HEAD"),
    ("upgrade", NAME),
    ("secret", NAME, "in"),
    ("settings", NAME),
    ("settings", "in", "--env", NAME),
    ("settings", "in", "--namespace", NAME),
    ("secret", "job", NAME),
    ("runtimes", NAME),
    ("runtimes", "show", NAME),
    ("runtimes", "export", NAME),
    ("runtimes", "export", "-o", NAME),
    ("runtimes", "import", NAME),
    ("runtimes", "list", NAME),
    ("schema", NAME),
    ("completion", NAME),
    ("init", f"{NAME}/a"),
)


@pytest.fixture
def project(empty_repository: Path) -> Path:
    """Return a git repository with files, folders and a branch whose names are canaries; it is the current folder."""
    for folder in (Path("in"), Path("in", NAME), Path("plain")):
        folder.mkdir()
        (folder / f"{NAME}.yaml").write_text(f"{JOB}---\n{RUNTIME}".replace("team", f"team-{len(str(folder))}"))
    Path("in", f"{NAME}-broken.yaml").write_text("a: [")
    Path("in", f"{NAME}-other.yaml").write_text("a: b")
    Path("in", f"{NAME}-link.yaml").symlink_to(f"/none/{NAME}")
    Path("in", "older.yaml").write_text(OLDER.replace("team", "older"))
    Path("rendered").mkdir()
    Path("rendered", f"{NAME}.yaml").write_text(NAME)
    Path("rendered", f"{NAME}-stale.yaml").write_text(f"{MARK}{NAME}\n# Source: {json.dumps(f'../{NAME}')}\n")
    commit()
    return empty_repository


@pytest.mark.parametrize("command", LINES, ids=lambda line: line.words)
@pytest.mark.usefixtures("project")
def test_names_of_files(command: Command) -> None:
    check(run(*command.words.split()), command)
    Path("in", f"{NAME}-broken.yaml").unlink()
    check(run(*command.words.split()), command)


@pytest.mark.parametrize("words", ARGUMENTS, ids=lambda words: " ".join(words).replace(NAME, "NAME"))
@pytest.mark.usefixtures("project")
def test_arguments(words: tuple[str, ...]) -> None:
    check(run(*words), Command("", manifest=False))


SECRETS: Final = (
    "--password=hunter2",
    "PASSWORD=hunter2;run",
    "OPENAI_KEY=hunter2",
    "https://example.com/a?sig=hunter2",
    "https://ada:hunter2@example.com/a",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\n",
    "machine example.com login ada password hunter2",
    "curl -u ada:hunter2 https://example.com",
    "mysql -phunter2 db",
)


CODE: Final = ("PASSWORD=", "OPENAI_KEY=", "machine ", "curl ", "mysql ")
"""The beginnings of those that are visible as words of args, which are programs (docs/reports.md)."""


def patches_with_secrets() -> list[Any]:
    """Return a patch for each way to write a secret."""
    words = [secret for secret in SECRETS if not secret.startswith(CODE)]
    arguments = [{"op": "add", "path": "/spec/trainer/args", "value": words}]
    variable = [{"op": "replace", "path": "/spec/trainer/env/0/value", "value": "hunter2"}]
    merged = {"spec": {"trainer": {"env": [{"name": "KAGGLE_KEY", "value": "hunter2"}], "args": words}}}
    patches: list[Any] = [arguments, variable, merged, *map(yaml.safe_dump, (arguments, variable, merged))]
    return [{"target": {"kind": "TrainJob"}, "patch": patch} for patch in patches]


POLICIES: Final = ("torch: {numProcPerNode: 1}", "flux: {numProcPerNode: 1}", "mpi: {numProcPerNode: 1}")


@pytest.mark.parametrize(
    "command", [*(line for line in LINES if not line.manifest), *OF_SETTINGS], ids=lambda line: line.words
)
def test_no_command_prints_a_secret(command: Command, empty_folder: Path) -> None:
    """Everything but manifests is masked, in valid jobs and in diagnostics of faulty ones."""
    Path("in").mkdir()
    Path("plain").mkdir()
    Path("plain/a.yaml").write_text(f"{JOB}---\n{RUNTIME}")
    for number, (policy, fault) in enumerate(itertools.product(POLICIES, ({}, {"numNodes": "x"}))):
        job, runtime = copy.deepcopy(DOCUMENTS[:2])
        job["spec"]["trainer"] |= {
            "image": "ada:hunter2@registry.example.com/a:1" if fault else "a:1",
            "args": list(SECRETS),
            "env": [{"name": f"V{index}", "value": value} for index, value in enumerate(SECRETS)]
            + [{"name": "KAGGLE_KEY", "value": "hunter2"}],
            **fault,
        }
        text = yaml.safe_dump_all([job, runtime]).replace("torch:\n      numProcPerNode: 1", policy)
        Path(f"in/{number}.yaml").write_text(text.replace("namespace: team", f"namespace: team-{number}"))
    if "settings" in command.words:
        Path("trainc.yaml").write_text(yaml.safe_dump({"patches": patches_with_secrets()}))
    for _ in range(2):
        done = run(*command.words.split())
        assert done.code != 70, done.err
        if "rendered" not in command.words and not command.words.startswith("upgrade"):  # these print manifests
            assert [line for line in (done.out + done.err).splitlines() if "hunter2" in line] == []
        for number in range(1, 2 * len(POLICIES), 2):  # without the faulty jobs
            Path(f"in/{number}.yaml").unlink(missing_ok=True)
