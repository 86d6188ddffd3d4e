"""Field validation: unknown fields are errors, warnings or nothing, wherever a manifest has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import NO_LINT, run

import trainc
from trainc.compilation.run import Options

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: "x:1"}
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: team}
spec:
  suspended: true
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {spec: {template: {spec: {containers: [{name: node, image: "x:1"}]}}}}
"""
TYPO = JOB.replace("{image", "{shards: 4, image")
PATCH = """\
  runtimePatches:
  - manager: acme.io/kueue
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template: {spec: {template: {spec: {hostIPC: true}}}}
"""
OLDER = JOB + "  podTemplateOverrides: [{targetJobs: [{name: node}], spec: {priority: 1}}]\n"
MANIFESTS = {
    "a TrainJob": (TYPO, "6:13"),
    "metadata": (JOB.replace("{name: finetune}", "{name: finetune, team: a}"), "3:28"),
    "the top": (JOB + "x: 1\n", "7:1"),
    "a patch": (JOB + PATCH, "14:49"),
    "an older dialect": (OLDER, "7:62"),
    "a runtime": (RUNTIME + "---\n" + JOB.replace("torch-distributed", "team"), "5:3"),
}
COUNTING = ("pods", "explain", "graph", "secret")
"""The commands that only count warnings."""
COMMANDS = {
    "build": ["build", "."],
    "validate": ["validate", "."],
    "pods": ["pods", "."],
    "explain": ["explain", ".", "spec.successPolicy.operator"],
    "graph": ["graph", "."],
    "diff": ["diff", "old.txt", "job.yaml"],
    "secret": ["secret", "finetune", "."],
}


@pytest.fixture(autouse=True)
def project(empty_root: Path) -> None:
    """An empty repository to be in."""
    (empty_root / "old.txt").write_text(JOB)


def manifests(text: str, **validation: Any) -> tuple[list[Any], list[Any]]:
    """Return severity and place of each diagnostic about an unknown field, and the objects."""
    Path("job.yaml").write_text(text)
    done = trainc.compile(["job.yaml"], options=Options(settings=NO_LINT._replace(**validation)))
    found = [(d.severity, str(d.locate()).partition(":")[2]) for d in done.diagnostics if d.id == "unknown-field"]
    return found, list(done.objects)


@pytest.mark.parametrize(("text", "at"), [pytest.param(*row, id=name) for name, row in MANIFESTS.items()])
def test_strict_rejects(text: str, at: str) -> None:
    assert manifests(text) == ([("error", at)], [])


@pytest.mark.parametrize(("text", "at"), [pytest.param(*row, id=name) for name, row in MANIFESTS.items()])
def test_warn_drops_with_a_warning_and_ignore_without(text: str, at: str) -> None:
    warned, objects = manifests(text, field_validation="warn")
    assert (warned, bool(objects)) == ([("warning", at)], True)
    assert manifests(text, field_validation="ignore") == ([], objects)


def test_the_rest_of_a_rejected_trainjob_is_checked() -> None:
    Path("job.yaml").write_text(TYPO.replace('"x:1"', '"x:1", env: [{name: RANK, value: "1"}, {value: x}]'))
    done = trainc.compile(["job.yaml"])
    assert [d.id for d in done.diagnostics] == ["required", "unknown-field"]


def test_the_rest_of_a_rejected_runtime_is_checked() -> None:
    Path("job.yaml").write_text(
        RUNTIME.replace("name: node\n", "name: node\n        dependsOn: [{name: x, status: Ready}]\n")
    )
    done = trainc.compile(["job.yaml"], options=Options(settings=NO_LINT))
    warned = trainc.compile(["job.yaml"], options=Options(settings=NO_LINT._replace(field_validation="ignore")))
    assert {d.id for d in done.diagnostics} == {"unknown-field"} | {d.id for d in warned.diagnostics}


@pytest.mark.parametrize("words", [pytest.param(words, id=name) for name, words in COMMANDS.items()])
def test_every_command(words: list[str]) -> None:
    Path("job.yaml").write_text(TYPO)
    done = run(*words)
    assert (done.code, "error[unknown-field]" in done.out + done.err) == (1, True)
    assert "--field-validation" not in done.out + done.err
    Path("job.yaml").write_text(TYPO.replace("shards: 4", "resourceClaimsPerNode: []"))
    done = run(*words)
    assert "Trainer v2.4 has the field: use --field-validation=warn to drop it for v2.3" in done.out + done.err
    warned = run(*words, "--field-validation=warn")
    word = "1 warning" if words[0] in COUNTING else "warning[unknown-field]"
    assert (warned.code, word in warned.out + warned.err) == (0, True)
    ignored = run(*words, "--field-validation", "ignore")
    assert (ignored.code, "unknown-field" in ignored.out + ignored.err) == (0, False)


@pytest.mark.parametrize("words", [pytest.param(words, id=name) for name, words in COMMANDS.items()])
def test_the_option_takes_precedence_over_the_settings(words: list[str]) -> None:
    Path("job.yaml").write_text(TYPO)
    Path("trainc.yaml").write_text("fieldValidation: ignore\n")
    assert run(*words).code == 0
    done = run(*words, "--field-validation=strict")
    assert (done.code, "error[unknown-field]" in done.out + done.err) == (1, True)


def test_upgrade() -> None:
    Path("job.yaml").write_text(OLDER)
    done = run("upgrade", "job.yaml")
    assert (done.code, done.out, "error[unknown-field]" in done.err) == (1, "", True)
    upgraded = run("upgrade", "job.yaml", "--field-validation=ignore")
    assert (upgraded.code, "runtimePatches" in upgraded.out) == (0, True)


def test_runtimes() -> None:
    Path("job.yaml").write_text(RUNTIME)
    done = run("runtimes", "list")
    assert (done.code, "team" in done.out.split(), "error[unknown-field]" in done.err) == (1, False, True)
    warned = run("runtimes", "list", "--field-validation=warn")
    assert (warned.code, "team" in warned.out.split(), "warning[unknown-field]" in warned.err) == (0, True, True)


def test_the_old_side_of_a_review_has_dropped_them() -> None:
    Path("old.txt").write_text(TYPO)
    Path("job.yaml").write_text(JOB.replace("{image", "{numNodes: 2, image"))
    done = run("diff", "old.txt", "job.yaml", "--format", "json")
    assert (done.code, [entry["status"] for entry in json.loads(done.out)["objects"]]) == (0, ["changed"])


def test_a_review_takes_it_from_its_own_settings() -> None:
    Path("job.yaml").write_text(TYPO)
    Path("trainc.yaml").write_text("fieldValidation: ignore\n")
    Path("base.txt").write_text("fieldValidation: strict\n")
    done = run("diff", "old.txt", "job.yaml", "--review-config", "base.txt")
    assert (done.code, "error[unknown-field]" in done.err) == (1, True)


def test_a_changed_setting_changes_what_is_reported() -> None:
    for side in ("old", "new"):
        Path(side).mkdir()
        Path(side, "job.yaml").write_text(JOB)
    Path("new/trainc.yaml").write_text("fieldValidation: warn\n")
    assert (
        "setting fieldValidation: warn is added\n  changes which warnings and errors are reported"
        in run("diff", "old", "new").out
    )


def test_a_wrong_setting() -> None:
    Path("job.yaml").write_text(JOB)
    Path("trainc.yaml").write_text("fieldValidation: Strict\n")
    done = run("validate")
    assert (done.code, "trainc.yaml:1:18: error[enum]" in done.out, 'did you mean "strict"?' in done.out) == (
        1,
        True,
        True,
    )


def test_a_function_config(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(**config: str) -> tuple[int, str]:
        listed = {
            "apiVersion": "config.kubernetes.io/v1",
            "kind": "ResourceList",
            "items": [json.loads(json.dumps(_tree()))],
            "functionConfig": {"apiVersion": "v1", "kind": "ConfigMap", "data": config},
        }
        done = run("krm", stdin=json.dumps(listed).encode())
        return done.code, done.err

    code, said = answer()
    assert (code, "unknown field" in said) == (1, True)
    assert answer(fieldValidation="ignore") == (0, "")
    code, said = answer(fieldValidation="none")
    assert (code, "error[enum]" in said) == (1, True)


def _tree() -> Any:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "finetune"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"image": "x:1", "shards": 2}},
    }
