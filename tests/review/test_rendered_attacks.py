"""Rendered folders in a review: whatever kubectl would apply is compared, or the review fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from committing import commit, copy_repository, git
from environments import JOB
from files import write
from running import run

from trainc.cli.common.options import REVIEWS

SETTINGS = "sources: [jobs]\noutput: rendered\nenvironments: {prod: {namespace: ml}}\n"
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: evil, namespace: ml}
spec:
  replicatedJobs:
  - name: node
    template: {spec: {template: {spec: {containers: [{name: node, image: "evil/x:1"}]}}}}
"""
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: evil}\n"
MARK = "# Compiled by trainc from TrainJob a. Do not edit; run trainc build.\n"


@pytest.fixture(autouse=True)
def project(empty_folder: Path) -> None:
    copy_repository(rendered_project, empty_folder)


def rendered_project() -> None:
    """Create a project with its outputs on the branch main."""
    write("trainc.yaml", SETTINGS)
    write("jobs/a.yaml", JOB.format(name="a"))
    assert run("build").code == 0
    commit()


def added_objects(*more: str) -> list[tuple[str, str]]:
    """Return the kinds and names of the objects that the review of rendered/ lists as added."""
    done = run("diff", "main..HEAD", "--format", "json", *more, "--", "rendered")
    assert done.code == 0, done.err
    return [(each["kind"], each["name"]) for each in json.loads(done.out)["objects"] if each["status"] == "added"]


READ_BY_KUBECTL = {
    "rendered/evil.yaml": "a",
    "rendered/prod/evil.json": "b",
    "rendered/prod/trainc.yaml": "c",
    "rendered/prod/.x.yaml": "d",
    "rendered/prod/.x/e.yaml": "e",
    "rendered/.x/y/e.yml": "f",
    "rendered/staging/e.yaml": "g",
}
"""Files, and the ends of the names of their objects."""


@pytest.mark.parametrize("more", [(), ("--passthrough",)], ids=["", "passthrough"])
@pytest.mark.parametrize("text", [JOBSET, MARK + JOBSET, ROLE], ids=["JobSet", "marked JobSet", "ClusterRoleBinding"])
def test_every_file_that_kubectl_reads_is_compared(text: str, more: tuple[str, ...]) -> None:
    git("switch", "--quiet", "--create", "pr")
    for path, name in READ_BY_KUBECTL.items():
        write(path, text.replace("name: evil", f"name: evil-{name}"))
    commit()
    kind = "ClusterRoleBinding" if text == ROLE else "JobSet"
    assert sorted(added_objects(*more)) == [(kind, f"evil-{name}") for name in READ_BY_KUBECTL.values()]
    for form in REVIEWS:
        shown = run("diff", "main..HEAD", "--format", form, *more, "--", "rendered").out
        assert [name for name in READ_BY_KUBECTL.values() if f"evil-{name}" not in shown.replace("<wbr>", "")] == []


@pytest.mark.parametrize("kinds", ["exclude: ['*']\n", "exclude: [rendered/]\nlegacy: {kinds: [PyTorchJob]}\n"])
def test_patterns_of_the_branch_hide_no_rendered_file(kinds: str) -> None:
    git("switch", "--quiet", "--create", "pr")
    write("trainc.yaml", SETTINGS + kinds)
    write("rendered/prod/evil.yaml", JOBSET)
    commit()
    assert added_objects() == [("JobSet", "evil")]


def test_a_patch_of_a_kustomization_in_a_rendered_folder_is_an_object() -> None:
    git("switch", "--quiet", "--create", "pr")
    write("rendered/prod/kustomization.yaml", "patches: [{path: evil.yaml}]\n")
    write("rendered/prod/evil.yaml", JOBSET)
    commit()
    assert added_objects() == [("JobSet", "evil")]


def test_objects_with_only_a_generated_name_are_compared() -> None:
    git("switch", "--quiet", "--create", "pr")
    text = JOBSET.replace("name: evil,", "generateName: evil-,")
    write("rendered/prod/evil.yaml", f"{text}---\n{text.replace('evil/x:1', 'evil/x:2')}")
    commit()
    assert added_objects() == [("JobSet", "evil-"), ("JobSet", "evil- (2)")]
    write("rendered/prod/evil.yaml", f"{text}---\n{text}")
    commit()
    done = run("diff", "HEAD~1..HEAD", "--", "rendered")
    assert "evil/x:2 -> evil/x:1" in done.out


def test_the_last_jobset_in_a_hidden_file_is_compared() -> None:
    git("rm", "-rq", "rendered/prod")
    write("rendered/.x.yaml", JOBSET)
    commit()
    git("switch", "--quiet", "--create", "pr")
    write("rendered/.x.yaml", JOBSET.replace("evil/x:1", "evil/x:2"))
    write("plain/.x.yaml", JOBSET)
    write("plain/trainc.yaml", "lint: {}\n")
    commit()
    write("plain/.x.yaml", JOBSET.replace("evil/x:1", "evil/x:2"))
    for words in (("main..HEAD", "--", "rendered"), ("HEAD", "--", "plain")):
        assert "1 to change" in run("diff", *words).out, run("diff", *words).err


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("rendered/prod/ml/a.yaml", None, id="a key twice"),
        pytest.param("rendered/prod/x.yaml", "a: [", id="broken"),
        pytest.param("rendered/prod/.x.json", "{", id="broken and hidden"),
        pytest.param("rendered/x.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", id="git-lfs"),
        pytest.param("rendered/x.yaml", MARK + "- a\n", id="a list"),
        pytest.param("rendered/prod/job.yaml", JOB.format(name="b"), id="a TrainJob"),
    ],
)
def test_an_unreadable_file_of_the_new_side_is_an_error(path: str, text: str | None) -> None:
    git("switch", "--quiet", "--create", "pr")
    if text is None:
        text = Path(path).read_text().replace("image:", "image: a\n                image:", 1)
    write(path, text)
    commit()
    for form in REVIEWS:
        done = run("diff", "main..HEAD", "--format", form, "--", "rendered")
        assert (done.code, done.out) == (1, "")
        assert f"HEAD:{path}" in done.err
    # The change that repairs it can be reviewed.
    assert run("diff", "HEAD..main", "--", "rendered").code == 0


def test_two_versions_of_a_kind_are_one_object() -> None:
    git("switch", "--quiet", "--create", "pr")
    write("rendered/prod/evil.yaml", JOBSET + "---\n" + JOBSET.replace("v1alpha2", "v1alpha1"))
    commit()
    done = run("diff", "main..HEAD", "--", "rendered")
    assert (done.code, 'error[duplicate-object]: duplicate JobSet "evil"' in done.err) == (1, True)
