"""Rendered sides of `trainc diff`: they have no settings, and no environment but the folder below `output`."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import yaml
from committing import commit, git
from environments import JOB
from files import write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running import run

SETTINGS = {
    "without environments": "sources: [jobs]\noutput: rendered\nnamespace: ml\n",
    "with environments": "sources: [jobs]\noutput: rendered\nenvironments:\n"
    "  dev: {namespace: ml-dev}\n  prod: {namespace: ml, nameSuffix: -prod}\n",
    "with one environment": "sources: [jobs]\noutput: rendered\nenvironments: {dev: {}}\n",
    "with a hash": "sources: [jobs]\noutput: rendered\nnamespace: ml\ndelivery: {nameSuffixHash: true}\n",
    "with clusters": "sources: [jobs]\noutput: rendered\nnamespace: ml\nenvironments:\n"
    "  dev: {cluster: dev}\n  prod: {cluster: prod}\n",
}
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
FORMS = [".", "jobs", "rendered", "HEAD", "HEAD:rendered", "HEAD:jobs"]
ONE_STREAM = ["-", "live.yaml", "../live.yaml", "../live"]
"""The forms in which two environments cannot have one object."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project" / "jobs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    git("init", "--quiet")


def make(settings: str) -> bytes:
    """Write a project and its outputs in all forms; return the content of standard input."""
    Path("trainc.yaml").write_text(settings)
    for name in ("a", "b"):
        Path(f"jobs/{name}.yaml").write_text(JOB.format(name=name))
    Path("jobs/claim.yaml").write_text(CLAIM)
    assert run("build").code == 0
    outputs = sorted(Path("rendered").rglob("*.yaml"))
    text = "---\n".join(path.read_text() for path in outputs)
    commit()
    for path in outputs:
        copy = Path("../live") / path
        write(copy, path.read_text())
    for file in ("live.yaml", "../live.yaml"):
        Path(file).write_text(text)
    return text.encode()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_side_compared_with_itself_in_every_form_changes_nothing(name: str) -> None:
    stream = make(SETTINGS[name])
    forms = FORMS if name == "with clusters" else [*FORMS, *ONE_STREAM]
    pairs = [pair for pair in itertools.product(forms, forms) if pair != ("-", "-")]

    @given(st.sampled_from(pairs))
    @settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
    def check(pair: tuple[str, str]) -> None:
        words: tuple[str, ...] = pair
        if "HEAD" in pair:  # a revision as a whole is compared with another one, or with the working tree
            words = (*(each for each in pair if each == "HEAD"), "--")
        done = run("diff", *words, stdin=stream)
        assert (done.code, "\nnothing changes: " in done.out) == (0, True), (pair, done)

    check()


def test_a_hash_is_no_part_of_the_names_of_secrets() -> None:
    job = str(Path(__file__).parents[2] / "golden" / "name-suffix-hash" / "input.yaml")
    Path("output.yaml").write_text(run("build", job, "--name-suffix-hash").out)
    assert "secretName: glacier-mpi-ssh-auth\n" in Path("output.yaml").read_text()
    done = run("diff", "output.yaml", job, "--name-suffix-hash")
    assert done.out.splitlines()[1:] == ["nothing changes: 3 objects are unchanged"]


def test_an_object_of_several_environments_needs_the_name_of_one() -> None:
    make(SETTINGS["with clusters"])
    one = "rendered/dev/ml/a.yaml"
    Path("../one.yaml").write_text(Path(one).read_text() + "---\n" + Path("rendered/dev/ml/b.yaml").read_text())
    for words in (("../one.yaml", "rendered"), ("jobs", "../one.yaml")):
        done = run("diff", *words)
        assert (done.code, "error[environment-required]" in done.err) == (1, True)
        assert "\nnothing changes: 2 objects" in run("diff", *words, "--env", "dev").out


def test_objects_without_an_environment_are_matched_by_identity() -> None:
    make(SETTINGS["with environments"])
    text = Path("rendered/dev/ml-dev/a.yaml").read_text().replace("ghcr.io/acme/app:v1", "ghcr.io/acme/app:v2")
    Path("../live.yaml").write_text(text + "---\n" + text.replace("name: a\n", "name: elsewhere\n", 1))
    done = run("diff", "../live.yaml", "rendered", "--format", "json")
    assert done.code == 0, done.err
    found = [
        (each["status"], each["name"], *each.get("environments", [None])) for each in json.loads(done.out)["objects"]
    ]
    assert sorted(found, key=str) == sorted(
        [
            ("changed", "a", "dev"),
            ("added", "b", "dev"),
            ("added", "a-prod", "prod"),
            ("added", "b-prod", "prod"),
            ("removed", "elsewhere", None),
        ],
        key=str,
    )


def test_settings_of_the_project_are_none_of_a_rendered_file() -> None:
    make(SETTINGS["with one environment"])
    text = Path("rendered/dev/a.yaml").read_text()
    Path("../live.yaml").write_text(text)
    Path("a.yaml").write_text(text)
    for words in (("../live.yaml", "a.yaml"), ("a.yaml", "../live.yaml")):
        assert run("diff", *words).out == f"{words[0]} -> {words[1]}\nnothing changes: 1 object is unchanged\n"


def test_a_range_of_revisions_covers_all_environments() -> None:
    make(SETTINGS["with clusters"])
    Path("jobs/c.yaml").write_text(JOB.format(name="c"))
    Path("jobs/b.yaml").unlink()
    text = Path("jobs/a.yaml").read_text()
    Path("jobs/a.yaml").write_text(text.replace("app:v1", "app:v2"))
    assert run("build").code == 0
    commit()
    done = run("diff", "HEAD~1..HEAD", "--", "rendered")
    assert done.code == 0, done.err
    for line in ("added JobSet ml/c [dev, prod]", "removed JobSet ml/b [dev, prod]"):
        assert line in done.out, done.out
    assert "2 to change" in done.out


def test_a_deleted_environment() -> None:
    make(SETTINGS["with environments"])
    Path("trainc.yaml").write_text(SETTINGS["with environments"].replace("  dev: {namespace: ml-dev}\n", ""))
    assert run("build").code == 0
    commit()
    done = run("diff", "HEAD~1..HEAD", "--", "rendered")
    assert "removed JobSet ml-dev/a [dev]" in done.out
    assert "prod]" not in done.out


def test_fields_that_only_the_api_server_writes_are_not_compared() -> None:
    make(SETTINGS["with environments"])
    items = []
    for path in sorted(Path("rendered").rglob("*.yaml")):
        tree = yaml.safe_load(path.read_text())
        metadata = tree["metadata"]
        metadata |= {"uid": "x", "resourceVersion": "1", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z"}
        metadata["managedFields"] = [{"manager": "kubectl"}]
        annotations = metadata.setdefault("annotations", {})
        annotations["kubectl.kubernetes.io/last-applied-configuration"] = json.dumps(tree)
        items.append(tree | {"status": {"restarts": 1}})
    live = json.dumps({"apiVersion": "v1", "kind": "List", "items": items, "metadata": {"resourceVersion": ""}})
    for words in (("-", "rendered"), ("jobs", "-")):
        done = run("diff", *words, stdin=live.encode())
        assert "\nnothing changes: 4 objects are unchanged" in done.out, done
    items[0]["metadata"]["labels"] = {"x": "y"}
    items[0]["metadata"]["ownerReferences"] = []
    live = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    assert "metadata.labels" in run("diff", "-", "rendered", stdin=live.encode()).out
