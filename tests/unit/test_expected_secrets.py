"""The note about a Secret that pods wait for: satisfied by the paths, disabled, and in a review."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from running import run

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: solve, namespace: ml}
spec:
  runtimeRef: {name: openmpi-distributed}
  trainer: {numNodes: 2}
"""
SECRET = "{{apiVersion: v1, kind: Secret, metadata: {{name: {}, namespace: {}}}}}\n"
EXTERNAL = "{{kind: ExternalSecret, metadata: {{name: {}, namespace: {}}}, spec: {{target: {}}}}}\n"
SEALED = (
    "{{kind: SealedSecret, metadata: {{name: a, namespace: ml}}, spec: {{template: {{metadata: {{name: {}}}}}}}}}\n"
)
NAME = "solve-mpi-ssh-auth"


@pytest.fixture(autouse=True)
def project(empty_folder: Path) -> Path:
    (empty_folder / "job.yaml").write_text(JOB)
    return empty_folder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("kind: ConfigMap\n", 1, id="no Secret"),
        pytest.param(SECRET.format(NAME, "ml"), 0, id="a Secret"),
        pytest.param(SECRET.format(NAME, '""'), 0, id="a Secret without a namespace"),
        pytest.param(SECRET.format(NAME, "other"), 1, id="a Secret of another namespace"),
        pytest.param(SECRET.format("another", "ml"), 1, id="another Secret"),
        pytest.param(EXTERNAL.format(NAME, "ml", "{}"), 0, id="an ExternalSecret"),
        pytest.param(EXTERNAL.format("keys", "ml", f"{{name: {NAME}}}"), 0, id="an ExternalSecret with a target"),
        pytest.param(EXTERNAL.format(NAME, "ml", "{name: keys}"), 1, id="an ExternalSecret with another target"),
        pytest.param(SEALED.format(NAME), 0, id="a SealedSecret"),
        pytest.param(f"{{kind: ConfigMap, metadata: {{name: {NAME}, namespace: ml}}}} # Secret\n", 1, id="a ConfigMap"),
    ],
)
@pytest.mark.parametrize("same_file", [True, False], ids=["in the file of the job", "in another file"])
def test_a_secret_of_the_paths_is_not_expected(project: Path, text: str, expected: int, same_file: bool) -> None:
    if same_file:
        (project / "job.yaml").write_text(f"{JOB}---\n{text}")
    else:
        (project / "secret.yaml").write_text(text)
    for command in ("validate", "build"):
        done = run(command, ".")
        assert (done.out + done.err).count("note[secret-expected]") == expected, command


@pytest.mark.parametrize("passthrough", ["true", "false"])
@pytest.mark.parametrize(
    ("settings", "namespace", "expected"),
    [
        pytest.param("namespaceSuffix: -dev", "ml", 0, id="a suffix moves it with the job"),
        pytest.param("namespace: {ml: nlp}", "ml", 0, id="a mapping moves it with the job"),
        pytest.param("namespaceSuffix: -dev", "ml-dev", 0, id="another tool may apply it in the namespace of its file"),
        pytest.param("namespaceSuffix: -dev", "other", 1, id="another namespace moves"),
        pytest.param("namespace: nlp", "ml", 1, id="one namespace moves only the job"),
    ],
)
def test_a_secret_moves_with_its_job(
    project: Path, settings: str, namespace: str, expected: int, passthrough: str
) -> None:
    (project / "secret.yaml").write_text(SECRET.format(NAME, namespace))
    (project / "trainc.yaml").write_text(f"passthrough: {passthrough}\nenvironments: {{dev: {{{settings}}}}}\n")
    for words in (("validate", "."), ("build", "--env", "dev", ".")):
        done = run(*words)
        assert (done.out + done.err).count("note[secret-expected]") == expected, words


def test_an_unreadable_secret_is_none(project: Path) -> None:
    (project / "secret.yaml").write_text("kind: Secret\nmetadata: {name: [\n")
    assert run("validate", ".").out.count("note[secret-expected]") == 1


@pytest.mark.parametrize("where", ["settings", "annotation"])
def test_it_can_be_disabled(project: Path, where: str) -> None:
    if where == "settings":
        (project / "trainc.yaml").write_text("lint: {disable: [secret-expected]}\n")
    else:
        text = JOB.replace("namespace: ml", "namespace: ml, annotations: {trainc.dev/lint-ignore: secret-expected}")
        (project / "job.yaml").write_text(text)
    done = run("validate", ".")
    assert (done.code, "secret-expected" in done.out) == (0, False)


def git(*arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True, text=True
    )


@pytest.mark.parametrize(("inside", "file"), [(".", "job.yaml"), ("below", "../job.yaml")])
def test_a_review_has_a_note_with_a_command_that_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch, inside: str, file: str
) -> None:
    (project / "below").mkdir()
    (project / "job.yaml").rename(project / "new.yaml")
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "a"]):
        git(*command)
    (project / "new.yaml").rename(project / "job.yaml")
    git("add", ".")
    git("commit", "-q", "-m", "b")
    monkeypatch.chdir(project / inside)
    for form, title in (("markdown", "<summary>1 note</summary>"), ("html", "<summary>1 note</summary>")):
        assert title in run("diff", "HEAD~1..HEAD", "--format", form, "--", str(project)).out
    done = run("diff", "HEAD~1..HEAD", "--", str(project))
    assert f"trainc secret solve {file} | kubectl apply -f -" in done.err
    assert NAME in run("secret", "solve", file).out
