"""`trainc validate --fix`: a fix removes its diagnostic and changes nothing else, and a file is never half-written."""

from __future__ import annotations

import codecs
import json
import os
import signal
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batches import one_in_four
from contracts.test_diagnostics import BESIDE, CONSOLES, EXAMPLE, PAGES
from contracts.test_helps import FAULTS, JOB, REFERENCE, ROWS
from declared import ENTRIES
from running import Done, run

from trainc.base.data import lint_rules

pytestmark = pytest.mark.usefixtures("empty_root")

ROOT = Path(__file__).parents[2]
CONFIG = f"lint: {{disable: [{', '.join(BESIDE)}]}}\n"
RANKS = ("", "unsafe", "safe")
"""The fixes that a declaration names, each with those before it."""
OTHER_CASES = {
    "coordinator",
    "env-field",
    "env-resource",
    "failure-reason",
    "older-runtime",
    "pod-failure-policy",
    "pod-file",
    "request-above-limit",
    "required",
    "resource-claim-missing",
}
"""The ids with a fix in other cases than their example, such as a similar name."""
ONE_EDIT = [
    name
    for name in ROWS
    if name
    in {
        "variable as a string",
        "variable as a field",
        "variable with a number",
        "variables as fields",
        "source of a variable",
        "secret of a variable",
        "GPUs beside limits",
        "GPUs by a word",
        "GPUs of the trainer",
        "resources",
        "replicas",
        "nodeSelector one level too high",
        "apiVersion of a runtime",
        "runtimeref",
    }
]
"""The rows of the table of common mistakes that one edit repairs."""


def problems(*args: str) -> list[dict[str, Any]]:
    done = run("validate", "--format", "json", *args)
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def serious(diagnostics: list[dict[str, Any]]) -> Counter[str]:
    return Counter(each["id"] for each in diagnostics if each["severity"] != "note")


def wrong_examples() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = (ROOT / "diagnostics" / f"{page}.md").read_text()
        for kind, language, example in EXAMPLE.findall(text):
            if kind == "Wrong" and language == "yaml":
                yield page, example


EXAMPLES = dict(wrong_examples())


WITH_A_FIX = [page for page in EXAMPLES if ENTRIES[page].fix]


@pytest.mark.parametrize("page", [*WITH_A_FIX, *one_in_four(page for page in EXAMPLES if page not in WITH_A_FIX)])
def test_a_fix_of_an_example_removes_its_diagnostic(page: str) -> None:
    job = Path("job.yaml")
    job.write_text(EXAMPLES[page])
    Path("trainc.yaml").write_text(CONFIG)
    before = problems("job.yaml")
    own = [each for each in before if each["id"] == page]
    fixed = [each["fix"] for each in own if "fix" in each]
    assert all(RANKS.index(fix["applicability"]) <= RANKS.index(ENTRIES[page].fix) for fix in fixed)
    assert bool(fixed) == (ENTRIES[page].fix != "" and page not in OTHER_CASES)
    old = job.read_text()
    done = run("validate", "job.yaml", "--fix", "--unsafe-fixes")
    if not fixed:
        assert (job.read_text(), "fixed" in done.err) == (old, False)
        return
    after = problems("job.yaml")
    assert not serious(after) - serious(before)
    assert serious(after)[page] < serious(before)[page]
    assert run("validate", "job.yaml", "--fix", "--unsafe-fixes").err.count("fixed") == 0
    edits = [edit for fix in fixed for edit in fix["edits"]]
    assert kept_lines(old, edits) <= Counter(job.read_text().split("\n"))


@pytest.mark.parametrize(
    ("page", "old", "new"),
    [
        ("processes-twice", ", nProcPerNode: 8", ""),
        ("old-container-name", "name: xgboostjob", "name: xgboost"),
    ],
)
def test_a_fix_of_a_legacy_job(page: str, old: str, new: str) -> None:
    wrong = CONSOLES[page]["job.yaml"]
    path = Path("job.yaml")
    path.write_text(wrong)
    assert (page in {each["id"] for each in problems("--legacy", "job.yaml")}, old in wrong) == (True, True)
    run("validate", "--legacy", "job.yaml", "--fix", "--unsafe-fixes")
    assert path.read_text() == wrong.replace(old, new)
    assert page not in {each["id"] for each in problems("--legacy", "job.yaml")}


def kept_lines(text: str, edits: list[dict[str, Any]]) -> Counter[str]:
    """Return the lines that no edit touches."""
    touched = {line for edit in edits for line in range(edit["line"], edit["endLine"] + 1)}
    return Counter(line for number, line in enumerate(text.split("\n"), 1) if number not in touched)


@pytest.mark.parametrize("name", ONE_EDIT)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_mistake_with_one_repair_is_fixed(name: str, newline: str) -> None:
    row, path = ROWS[name], Path("job.yaml")
    path.write_text(JOB + row.wrong, newline=newline)
    done = run("validate", "job.yaml", "--fix")
    assert (done.code, "fixed 1 problem in 1 file" in done.err) == (0, True)
    assert run("build", "job.yaml").out == built(JOB + row.right)
    assert "\r" not in path.read_bytes().decode().replace("\r\n", "" if newline == "\r\n" else "\r\n")


def built(text: str) -> str:
    Path("right").mkdir(exist_ok=True)
    Path("right/job.yaml").write_text(text)
    done = run("build", "right/job.yaml")
    assert done.code == 0
    return done.out.replace("right/job.yaml", "job.yaml")


@pytest.mark.parametrize("name", [name for name in FAULTS if "limit" not in name])
def test_a_patch_is_fixed_in_the_settings(name: str) -> None:
    fault = FAULTS[name]
    Path("trainc.yaml").write_text(fault.settings)
    Path("job.yaml").write_text(JOB + fault.wrong)
    assert run("validate", "job.yaml", "--fix").code == 0
    assert Path("trainc.yaml").read_text() == fault.right_settings
    assert Path("job.yaml").read_text() == JOB + fault.wrong


BLOCK = """\
# The first one.
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: "a"}   # its name
spec:
  runtimeRef:
    name: 'torch-distributed'
  # the trainer
  trainer:
    numNode:   2  # two
    args: ["--lr", '0.1']
    resourcesPerNode:
      # for each node
      nvidia.com/gpu: 8  # all of them
    env:
      - name: LR
        value: 0.10   # quoted
      - {name: B, secretKeyRef: {name: s, key: k}}
"""
FIXED = (
    BLOCK.replace("numNode:", "numNodes:")
    .replace(
        "      # for each node\n      nvidia.com/gpu: 8",
        "      limits:\n        # for each node\n        nvidia.com/gpu: 8",
    )
    .replace("0.10", '"0.10"')
    .replace("secretKeyRef: {name: s, key: k}", "valueFrom: {secretKeyRef: {name: s, key: k}}")
)


def item_of_list(text: str) -> bytes:
    lines = text[text.index("apiVersion") :].rstrip().replace("\n", "\n  ")
    return f"apiVersion: v1\nkind: List\nitems:\n- {lines}\n".encode()


COMPACT = '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "a"}, "spec": '
STYLES = {
    "block": (BLOCK.encode(), FIXED.encode()),
    "CRLF": (BLOCK.replace("\n", "\r\n").encode(), FIXED.replace("\n", "\r\n").encode()),
    "BOM": (codecs.BOM_UTF8 + BLOCK.encode(), codecs.BOM_UTF8 + FIXED.encode()),
    "UTF-16": (BLOCK.encode("utf-16"), FIXED.encode("utf-16")),
    "no final newline": (BLOCK.rstrip("\n").encode(), FIXED.rstrip("\n").encode()),
    "second document": (
        f"# é\n---\n{BLOCK}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: c}}\n".encode(),
        f"# é\n---\n{FIXED}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: c}}\n".encode(),
    ),
    "JSON": (
        (COMPACT + '{"runtimeref": {"name": "plain"}, "trainer": {"gpus": 8, "env": [{"LR": 1.50}]}}}\n').encode(),
        (
            COMPACT
            + '{"runtimeRef": {"name": "plain"}, "trainer": {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}, '
            '"env": [{"name": "LR", "value": "1.50"}]}}}\n'
        ).encode(),
    ),
    "list": (item_of_list(BLOCK), item_of_list(FIXED)),
}


@pytest.mark.parametrize("style", STYLES)
def test_the_bytes_outside_of_the_edits_stay(style: str) -> None:
    old, new = STYLES[style]
    path = Path("job.yaml")
    path.write_bytes(old)
    path.chmod(0o640)
    done = run("validate", "job.yaml", "--fix")
    assert path.read_bytes() == new
    assert ("fixed" in done.err, stat.S_IMODE(path.stat().st_mode)) == (True, 0o640)
    again = run("validate", "job.yaml", "--fix")
    assert (path.read_bytes(), "fixed" in again.err) == (new, False)


ALIASED = """\
  trainer:
    env:
    - name: A
      value: &v 1
    - {name: B, value: *v}
"""
MERGED = """\
  runtimePatches:
  - manager: example.com/me
    trainingRuntimeSpec: &t {templates: {}}
  - manager: example.com/you
    trainingRuntimeSpec: *t
  - <<: {trainingRuntimeSpec: {templates: {}}}
    manager: example.com/them
"""
UNTOUCHED = {
    "an alias": {"job.yaml": JOB + REFERENCE + ALIASED},
    "an anchor and a merge key": {"job.yaml": JOB + REFERENCE + MERGED},
    "two names": {"job.yaml": f"{JOB}{REFERENCE}  trainer: {{numNodes: 1, numNode: 2}}\n"},
    "a template": {"job.yaml": f"# {{{{ x }}}}\n{JOB}{REFERENCE}  trainer: {{numNode: 2}}\n"},
    "an output": {
        "job.yaml": f"# Compiled by trainc from TrainJob ml/a. Do not edit; run trainc build.\n{JOB}{REFERENCE}"
        "  trainer: {numNode: 2}\n"
    },
    "a ConfigMap": {
        "job.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  runtime.yaml: |\n"
        "    apiVersion: trainer.kubeflow.org/v1alpha1\n    kind: ClusterTrainingRuntime\n    metadata: {name: r}\n"
        "    spec: {templates: {}}\n",
    },
    "a request above its limit": {
        "job.yaml": f"{JOB}{REFERENCE}  trainer: {{resourcesPerNode: {{requests: {{cpu: 4}}, limits: {{cpu: 2}}}}}}\n"
    },
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_has_no_single_repair_stays(name: str) -> None:
    for path, text in UNTOUCHED[name].items():
        Path(path).write_text(text)
    done = run("validate", "job.yaml", "--fix", "--unsafe-fixes")
    assert (Path("job.yaml").read_text(), "fixed" in done.err) == (UNTOUCHED[name]["job.yaml"], False)


TYPO = f"{JOB}{REFERENCE}  trainer: {{numNode: 2}}\n"


def test_nothing_is_written_through_a_link(empty_root: Path) -> None:
    Path("other").mkdir()
    Path("other/real.yaml").write_text(TYPO)
    Path("job.yaml").symlink_to("other/real.yaml")
    assert run("validate", "job.yaml", "--fix").code == 1
    assert Path("other/real.yaml").read_text() == TYPO


def test_a_warning_is_fixed_only_on_request() -> None:
    text = JOB + REFERENCE + "  trainer: {resourcesPerNode: {limits: {nvidia.com/gpus: 8}}}\n"
    Path("job.yaml").write_text(text)
    for strict in ([], ["--strict"]):
        assert "fixed" not in run("validate", "job.yaml", "--fix", *strict).err
        assert Path("job.yaml").read_text() == text
    assert "fixed 1 problem in 1 file" in run("validate", "job.yaml", "--fix", "--unsafe-fixes").err
    assert Path("job.yaml").read_text() == text.replace("gpus", "gpu")


def test_the_summary_counts_what_can_be_fixed() -> None:
    Path("job.yaml").write_text(TYPO + "    x: 1\n".replace("    ", "  "))
    done = run("validate", "job.yaml")
    assert "\n2 errors in 1 file (checked 1 file); 1 can be fixed with --fix\n" in done.out
    done = run("validate", "job.yaml", "--fix")
    assert (done.code, "fixed 1 problem in 1 file\n" in done.err) == (1, True)
    assert done.out.splitlines()[-2].startswith("1 error")


def test_a_fix_in_each_environment_counts_once() -> None:
    Path("trainc.yaml").write_text("sources: [job.yaml]\nenvironments: {dev: {namespace: d}, prod: {namespace: p}}\n")
    Path("job.yaml").write_text(TYPO)
    done = run("validate", "--fix")
    assert (done.code, "fixed 1 problem in 1 file" in done.err) == (0, True)
    assert Path("job.yaml").read_text() == TYPO.replace("numNode:", "numNodes:")


DIFF = """\
--- job.yaml
+++ job.yaml
@@ -3,4 +3,4 @@
 metadata: {name: a, namespace: ml, labels: {team: nlp}}
 spec:
   runtimeRef: {name: torch-distributed}
-  trainer: {numNode: 2}
+  trainer: {numNodes: 2}
"""


@pytest.mark.parametrize(("option", "code"), [("--diff", 0), ("--check", 3)])
def test_a_diff_writes_nothing(option: str, code: int) -> None:
    Path("job.yaml").write_text(TYPO)
    done = run("validate", "job.yaml", "--fix", option)
    assert (done.code, done.out, Path("job.yaml").read_text()) == (code, DIFF, TYPO)
    Path("job.yaml").write_text(TYPO + "  x: 1\n")
    assert run("validate", "job.yaml", "--fix", option).code == 1
    Path("job.yaml").write_text(JOB + REFERENCE)
    clean = run("validate", "job.yaml", "--fix", option)
    assert (clean.code, clean.out) == (0, "")


@pytest.mark.parametrize(
    "words",
    [["-", "--fix"], [".", "--unsafe-fixes"], [".", "--diff"], [".", "--check"], [".", "--fix", "--diff", "--check"]],
    ids=" ".join,
)
def test_a_wrong_command_line_is_a_usage_error(words: list[str]) -> None:
    Path("job.yaml").write_text(TYPO)
    done = run("validate", *words)
    assert (done.code, done.out, Path("job.yaml").read_text()) == (2, "", TYPO)


def is_unwritable(done: Done) -> bool:
    return done.code == 1 and "job.yaml: error[output-unwritable]" in done.out + done.err


def test_a_read_only_file_stays() -> None:
    Path("job.yaml").write_text(TYPO)
    Path("job.yaml").chmod(0o444)
    assert is_unwritable(run("validate", "job.yaml", "--fix"))
    assert Path("job.yaml").read_text() == TYPO
    assert sorted(os.listdir()) == [".git", "job.yaml"]


def test_a_file_that_changes_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    from trainc.rewriting import fixing

    Path("job.yaml").write_text(TYPO)
    real = fixing.apply_fixes

    def change(*args: Any, **options: Any) -> Any:
        found = real(*args, **options)
        Path("job.yaml").write_text(TYPO + "# a comment\n")
        return found

    monkeypatch.setattr("trainc.cli.common.applied_fixes.apply_fixes", change)
    assert is_unwritable(run("validate", "job.yaml", "--fix"))
    assert Path("job.yaml").read_text() == TYPO + "# a comment\n"


def test_a_full_disk_leaves_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("job.yaml").write_text(TYPO)

    def write(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("trainc.files.atomic.os.write", write)
        done = run("validate", "job.yaml", "--fix")
    assert is_unwritable(done)
    assert (Path("job.yaml").read_text(), sorted(os.listdir())) == (TYPO, [".git", "job.yaml"])


KILLED = """
import os, signal, sys
steps = int(sys.argv.pop(1))
done = 0
def killer(real):
    def call(*arguments, **options):
        global done
        done += 1
        if done == steps:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    return call
from trainc.files import atomic
class Calls:
    def __getattr__(self, name):
        real = getattr(os, name)
        return killer(real) if name in ("open", "write", "fchmod", "close", "rename") else real
atomic.os = Calls()
from trainc.cli import entry
entry()
"""


@pytest.mark.parametrize("first", one_in_four(range(1, 5)))
def test_a_killed_fix_leaves_the_old_or_the_new_file(first: int) -> None:
    new = TYPO.replace("numNode:", "numNodes:")
    states: list[str] = []
    for steps in range(first, 40, 4):
        for name in ("job.yaml", "more.yaml"):
            Path(name).write_text(TYPO.replace("name: a,", f"name: {name[0]},"))
        words = ["validate", "job.yaml", "more.yaml", "--fix"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(steps), *words], env=environment, capture_output=True, check=False
        )
        found = [Path(name).read_text() for name in ("job.yaml", "more.yaml")]
        assert {text.replace("name: j,", "name: a,").replace("name: m,", "name: a,") for text in found} <= {TYPO, new}
        states.append("".join("n" if "numNodes" in text else "o" for text in found))
        for part in Path().glob(".*.trainc-part"):
            part.unlink()
        if done.returncode != -signal.SIGKILL:
            break
    assert {"oo", "no", "nn"} == set(states)
    assert states[-1] == "nn"


@pytest.mark.parametrize("style", ["block", "CRLF", "second document", "JSON"])
def test_the_edits_of_the_reports_give_the_fixed_file(style: str) -> None:
    old, _ = STYLES[style]
    path = Path("job.yaml")
    path.write_bytes(old)
    reports = {
        form: json.loads(run("validate", "job.yaml", "--format", form).out) for form in ("json", "sarif", "rdjson")
    }
    run("validate", "job.yaml", "--fix")
    new = path.read_bytes().decode()
    text = old.decode()
    assert applied(text, json_edits(reports["json"])) == new
    assert applied(text, sarif_edits(reports["sarif"])) == new
    assert applied(text.encode(), rdjson_edits(reports["rdjson"])) == new.encode()


Edits = list[tuple[tuple[int, int], tuple[int, int], str]]


RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: r, labels: {trainer.kubeflow.org/framework: torch}}
spec:
  mlPolicy: {numNodes: 1}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          spec:
            template:
              spec:
                containers:
                - {name: node, image: a/b:1, imagePullPolicy: always}
"""


def test_a_suggestion_of_reviewdog_is_in_the_file_of_its_location() -> None:
    """A fault that a job has from its runtime is located in the runtime, which its fix changes."""
    Path("job.yaml").write_text(f"{JOB}  runtimeRef: {{name: r}}\n")
    Path("runtime.yaml").write_text(RUNTIME)
    (found,) = json.loads(run("validate", "--format", "json").out)
    assert [edit["file"] for edit in found["fix"]["edits"]] == ["runtime.yaml"]
    (shown,) = json.loads(run("validate", "--format", "rdjson").out)["diagnostics"]
    assert shown["location"]["path"] == "runtime.yaml"
    assert len(shown["suggestions"]) == 1


def json_edits(report: list[dict[str, Any]]) -> Edits:
    return [
        ((edit["line"], edit["column"]), (edit["endLine"], edit["endColumn"]), edit["text"])
        for each in report
        for edit in each.get("fix", {}).get("edits", [])
    ]


def sarif_edits(report: dict[str, Any]) -> Edits:
    found: Edits = []
    for result in report["runs"][0]["results"]:
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                assert change["artifactLocation"]["uri"] == "job.yaml"
                for edit in change["replacements"]:
                    region = edit["deletedRegion"]
                    begin, end = (region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])
                    found.append((begin, end, edit["insertedContent"]["text"]))
    return found


def rdjson_edits(report: dict[str, Any]) -> Edits:
    found: Edits = []
    for each in report["diagnostics"]:
        assert each["location"]["path"] == "job.yaml"
        for edit in each.get("suggestions", []):
            begin, end = ((at["line"], at["column"]) for at in (edit["range"]["start"], edit["range"]["end"]))
            found.append((begin, end, edit["text"]))
    return found


def applied(text: Any, edits: Edits) -> Any:
    """Return a text with edits; columns of a text in bytes count bytes."""
    newline = "\n" if isinstance(text, str) else b"\n"
    lines = text.split(newline)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for begin, end, new in sorted(set(edits), reverse=True):
        first, last = (starts[line - 1] + column - 1 for line, column in (begin, end))
        text = text[:first] + (new if isinstance(text, str) else new.encode()) + text[last:]
    return text


def test_an_edit_with_a_secret_is_in_no_report() -> None:
    text = f"{JOB}{REFERENCE}  trainer: {{env: [HF_TOKEN=abc123def, {{name: API_KEY, value: 123456}}]}}\n"
    Path("job.yaml").write_text(text)
    for form in ("text", "json", "sarif", "rdjson", "github", "gitlab", "junit"):
        out = run("validate", "job.yaml", "--format", form).out
        assert not any(word in out for word in ("abc123def", "123456", '"fix"', '"fixes"', '"suggestions"'))
    assert run("validate", "job.yaml", "--fix").code == 0
    assert "value: abc123def}" in Path("job.yaml").read_text()


def test_a_rule_name_is_a_known_one() -> None:
    assert set(BESIDE) <= set(lint_rules())
