"""Differences that a review does not compare are listed with the reason, in every format."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from committing import commit, copy_repository, git
from environments import JOB
from files import write
from running import Done, run

from trainc.cli.common.options import REVIEWS

SETTINGS = "sources: [jobs]\noutput: rendered\n"
MARK = "# Compiled by trainc from TrainJob a. Do not edit; run trainc build.\n# Source: ../jobs/a.yaml\n"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: admin}\n"
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
OTHER = "trainc does not compile objects of this kind"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_repository(project_on_a_branch, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")


def project_on_a_branch() -> None:
    """Create a project on the branch main, and switch to the branch pr."""
    write("trainc.yaml", SETTINGS)
    write("jobs/a.yaml", JOB.format(name="a"))
    assert run("build").code == 0
    commit()
    git("switch", "--quiet", "--create", "pr")


def review(form: str = "json", *more: str, sides: str = "main..HEAD", paths: tuple[str, ...] = ("jobs",)) -> Done:
    return run("diff", sides, "--format", form, *more, "--", *paths)


Rows = list[tuple[str, str, str, str]]


def rows(**options: Any) -> Rows:
    """Return the file, change, reason and object of each difference that the review does not compare."""
    done = review(**options)
    assert done.code == 0, done.err
    return [
        (each["file"], each["change"], each["reason"], " ".join(each.get("object", {}).values()))
        for each in json.loads(done.out)["notCompared"]
    ]


FILES = [
    pytest.param("jobs/rb.yaml", ROLE, OTHER, id="another kind"),
    pytest.param("jobs/rb.json", json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {}}), OTHER, id="a Pod"),
    pytest.param("jobs/y/j.yaml", LFS, "it is a pointer of git-lfs, whose content is not in git", id="git-lfs"),
    pytest.param("jobs/x.yaml", "a: [", "it cannot be read: a value is missing here", id="broken"),
    pytest.param(
        "jobs/x.yaml", "- a\n", "it cannot be read: the document is a list, not a Kubernetes object", id="list"
    ),
    pytest.param("jobs/o.yaml", f"{MARK}{CLAIM}", "it is an output; compare the output folders", id="marked"),
    pytest.param(
        "jobs/kustomization.yaml",
        "resources: [a.yaml]\n",
        "it is a kustomization, which trainc does not apply",
        id="kustomization",
    ),
]


@pytest.mark.parametrize(("path", "text", "reason"), FILES)
def test_an_added_file(path: str, text: str, reason: str) -> None:
    write(path, text)
    commit()
    [(file, change, why, _)] = rows()
    assert (file, change, why) == (path, "added", reason)
    for form in REVIEWS:
        done = review(form)
        assert "1 not compared" in done.out
        assert "nothing changes" not in done.out
        assert path in done.out
        assert review(form, "--exit-code").code == 3
    [(_, change, why, _)] = rows(sides="HEAD..main")
    assert (change, why) == ("removed", reason)


@pytest.mark.parametrize(("path", "text", "reason"), FILES)
def test_an_unchanged_file_is_not_listed(path: str, text: str, reason: str) -> None:
    write(path, text)
    commit()
    git("branch", "--force", "main")
    write("jobs/b.yaml", JOB.format(name="b"))
    os.chmod(path, 0o755)
    commit()
    assert rows() == []
    assert rows(sides="main") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("templates/job.yaml", JOB.format(name="'{{ .Values.name }}'"), id="template"),
        pytest.param("values.yaml", "name: b\n", id="values"),
        pytest.param("Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.1\n", id="chart"),
    ],
)
def test_a_file_of_a_chart(path: str, text: str) -> None:
    write("jobs/chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    commit()
    git("branch", "--force", "main")
    write(f"jobs/chart/{path}", text)
    write("jobs/chart/plain.yaml", JOB.format(name="plain"))
    commit()
    for sides in ("main..HEAD", "main"):
        [(file, _, why, _)] = rows(sides=sides)
        assert (file, why) == (f"jobs/chart/{path}", "it is a file of a Helm chart, which trainc does not render")
    assert "added plain (JobSet)" in review("text").out


@pytest.mark.parametrize("form", REVIEWS)
def test_a_removed_claim_loses_its_data(form: str) -> None:
    write("jobs/claim.yaml", CLAIM)
    commit()
    shown = review(form, sides="HEAD..main").out
    assert ('"losesData": true' if form == "json" else "deleted with its data by a tool that prunes") in shown


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("jobs/.hidden.yaml", ROLE),
        ("jobs/.x/e.yaml", ROLE),
        ("jobs/values.yaml", "replicas: 1\n"),
        ("jobs/notes.txt", ROLE),
        ("jobs/kindless.json", '{"apiVersion": "v1"}'),
        ("elsewhere/rb.yaml", ROLE),
    ],
)
def test_what_stays_out(path: str, text: str) -> None:
    write(path, text)
    commit()
    assert rows() == []
    assert "nothing changes" in review("text", "--exit-code").out
    assert review("text", "--exit-code").code == 0


def test_objects_are_listed_one_by_one_and_by_identity() -> None:
    write("jobs/others.yaml", f"{ROLE}---\n{CLAIM}---\n{JOB.format(name='b')}")
    commit()
    assert rows() == [
        ("jobs/others.yaml", "added", OTHER, "rbac.authorization.k8s.io/v1 ClusterRoleBinding admin"),
        ("jobs/others.yaml", "added", OTHER, "v1 PersistentVolumeClaim data"),
    ]
    # A moved object, another comment and another order of fields change nothing.
    write("jobs/others.yaml", JOB.format(name="b"))
    write("jobs/role.yaml", "# The administrators.\n" + ROLE)
    write("jobs/claim.yaml", "metadata: {name: data}\nkind: PersistentVolumeClaim\napiVersion: v1\n")
    commit()
    assert rows(sides="HEAD~1..HEAD") == []
    write("jobs/role.yaml", ROLE + "roleRef: {kind: ClusterRole, name: cluster-admin}\n")
    commit()
    [(file, change, _, name)] = rows(sides="HEAD~1..HEAD")
    assert (file, change, name.split()[-1]) == ("jobs/role.yaml", "changed", "admin")


@pytest.mark.parametrize(("value", "listed", "compared"), [("true", 0, 1), ("false", 0, 0), ("[claims/]", 0, 0)])
def test_the_setting_passthrough_decides(value: str, listed: int, compared: int) -> None:
    write("trainc.yaml", SETTINGS + f"passthrough: {value}\n")
    commit()
    git("branch", "--force", "main")
    write("jobs/rb.yaml", ROLE)
    commit()
    done = json.loads(review().out)
    assert (len(done["notCompared"]), len(done["objects"])) == (listed, compared)


def test_other_settings_below_do_not_leave_objects_out() -> None:
    write("trainc.yaml", SETTINGS + "passthrough: false\n")
    write("jobs/team/trainc.yaml", "lint: {}\n")
    commit()
    git("branch", "--force", "main")
    write("jobs/team/rb.yaml", ROLE)
    commit()
    assert [(file, reason) for file, _, reason, _ in rows()] == [("jobs/team/rb.yaml", OTHER)]


def test_a_submodule() -> None:
    module = "jobs/vendor"
    for text in ("a", "b"):
        write(f"../module-{text}/job.yaml", JOB.format(name=text))
        git("init", "--quiet", at=f"../module-{text}")
        commit(at=f"../module-{text}")
    first, second = (git("rev-parse", "HEAD", at=f"../module-{text}") for text in ("a", "b"))
    reason = "it is a submodule, whose files are in another repository"
    for hash, change in ((first, "added"), (second, "changed")):
        git("update-index", "--add", "--cacheinfo", f"160000,{hash},{module}")
        git("commit", "--quiet", "--message", "A submodule")
        assert rows(sides="HEAD~1..HEAD") == [(module, change, reason, "")]
        assert rows(sides="HEAD..HEAD") == []
    for form in REVIEWS:
        assert "1 not compared" in review(form).out


@pytest.mark.parametrize("target", ["../../outside", "/etc/passwd", "nowhere.yaml", "link.yaml"])
def test_a_link_that_cannot_be_read_is_listed_and_does_not_fail_the_review(target: str) -> None:
    write("../outside", ROLE)
    Path("jobs/link.yaml").symlink_to(target)
    commit()
    [(file, change, reason, _)] = rows()
    assert (file, change, reason.startswith("it is a ")) == ("jobs/link.yaml", "added", True)
    assert [file for file, *_ in rows(sides="main")] == ["jobs/link.yaml"]
    assert rows(sides="HEAD") == []


def test_a_link_to_an_object_of_another_kind_has_its_content() -> None:
    write("elsewhere/rb.yaml", ROLE)
    Path("jobs/link.yaml").symlink_to("../elsewhere/rb.yaml")
    commit()
    git("branch", "--force", "main")
    write("elsewhere/rb.yaml", ROLE + "roleRef: {name: cluster-admin}\n")
    commit()
    assert [(file, change) for file, change, *_ in rows()] == [("jobs/link.yaml", "changed")]


@pytest.mark.parametrize("link", ["jobs/team/link.yaml", "jobs/.x.yaml/../0.yaml", "jobs/z"])
def test_a_link_to_a_compared_path(link: str) -> None:
    """The plugin would deploy the object in another folder, too."""
    path = Path(os.path.normpath(link))
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(os.path.relpath("jobs/a.yaml" if path.suffix else "jobs", path.parent))
    commit()
    reason = "it is a link to a path that is compared under its own name"
    assert rows() == [(str(path), "added", reason, "")]
    assert rows(sides="main") == [(str(path), "added", reason, "")]
    assert rows(sides="HEAD") == []


@pytest.mark.parametrize("sides", ["main..HEAD", "main"])
def test_excluded_files(sides: str) -> None:
    write("trainc.yaml", SETTINGS + "exclude: [vendor/, '*.tmpl.yaml']\n")
    commit()
    git("branch", "--force", "main")
    write("jobs/vendor/b.yaml", JOB.format(name="b"))
    write("jobs/vendor/README.md", "")
    write("jobs/c.tmpl.yaml", JOB.format(name="c"))
    commit()
    reason = "a pattern of exclude leaves it out"
    assert [(file, why) for file, _, why, _ in rows(sides=sides)] == [
        ("jobs/c.tmpl.yaml", reason),
        ("jobs/vendor", reason),
    ]
    commit()
    write("jobs/vendor/b.yaml", JOB.format(name="c"))
    write("jobs/vendor/d.yaml", JOB.format(name="d"))
    commit()
    paths = ["jobs/vendor/b.yaml", "jobs/vendor/d.yaml"]
    assert [file for file, *_ in rows(sides=sides.replace("main", "HEAD~1"))] == paths
    assert rows(sides="HEAD") == []


def test_a_file_that_only_one_environment_excludes_is_compared() -> None:
    write("trainc.yaml", SETTINGS + "environments: {dev: {}, prod: {namespace: ml, exclude: [jobs/b.yaml]}}\n")
    commit()
    git("branch", "--force", "main")
    write("jobs/b.yaml", JOB.format(name="b"))
    commit()
    assert rows() == []
    assert "added b [dev]" in review("text").out


def test_a_patch_is_compared_by_its_effects() -> None:
    patch = "patches: [{path: patch.yaml, target: {kind: JobSet}}]\n"
    write("trainc.yaml", SETTINGS.replace("[jobs]", "[.]") + patch)
    write("patch.yaml", "metadata: {labels: {a: b}}\n")
    commit()
    git("branch", "--force", "main")
    write("patch.yaml", "metadata: {labels: {a: c}}\n")
    commit()
    assert rows(paths=(".",)) == []
    write("trainc.yaml", SETTINGS.replace("[jobs]", "[.]") + patch.replace("JobSet", "JobSet, name: other"))
    commit()
    write("patch.yaml", "metadata: {labels: {a: d}}\n")
    commit()
    reason = "it is a patch that changes no compared object"
    assert rows(sides="HEAD~1..HEAD", paths=(".",)) == [("patch.yaml", "changed", reason, "")]


def test_outputs_below_the_paths() -> None:
    write("jobs/b.yaml", JOB.format(name="b"))
    assert run("build").code == 0
    write("rendered/evil.yaml", ROLE)
    commit()
    reason = "it is an output; compare the output folders"
    assert rows(paths=(".",)) == [
        ("rendered/b.yaml", "added", reason, ""),
        ("rendered/evil.yaml", "added", reason, ""),
    ]


def test_kept_files_are_listed_one_by_one() -> None:
    write("trainc.yaml", SETTINGS + "keep: [flux/, /kustomization.yaml]\n")
    for path in ("rendered/flux/a.yaml", "rendered/kustomization.yaml", "rendered/flux/.b.yaml", "rendered/other.yaml"):
        write(path, ROLE)
    commit()
    reason = "keep leaves it in the output folder"
    kept = ["rendered/flux/.b.yaml", "rendered/flux/a.yaml", "rendered/kustomization.yaml"]
    assert rows() == [(path, "added", reason, "") for path in kept]
    for form in REVIEWS:
        assert "3 not compared" in review(form).out
    write("trainc.yaml", SETTINGS)
    write("rendered/kustomization.yaml", CLAIM)
    commit()
    assert rows(sides="HEAD~1..HEAD") == [("rendered/kustomization.yaml", "changed", reason, "")]
    assert rows(sides="HEAD") == []


def test_the_content_of_a_document_that_is_no_object_is_compared() -> None:
    """The review lists a file whose documents differ, although it can compare neither of them."""
    write("jobs/x.yaml", "- a\n")
    commit()
    write("jobs/x.yaml", "- b\n")
    commit()
    reason = "it cannot be read: the document is a list, not a Kubernetes object"
    assert rows(sides="HEAD~1..HEAD") == [("jobs/x.yaml", "changed", reason, "")]
    write("jobs/x.yaml", "# A comment.\n- b\n")
    commit()
    assert rows(sides="HEAD~1..HEAD") == []


def test_documents_of_a_rendered_folder_that_are_no_objects() -> None:
    write("rendered/kustomization.yaml", "resources: [a.yaml]\n")
    write("rendered/Chart.yaml", "apiVersion: v2\nname: a\n")
    commit()
    reason = "a document has no apiVersion, kind or name"
    assert rows(paths=("rendered",)) == [
        ("rendered/Chart.yaml", "added", reason, ""),
        ("rendered/kustomization.yaml", "added", reason, ""),
    ]


def test_a_submodule_in_a_rendered_folder_is_an_error() -> None:
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},rendered/vendor")
    git("commit", "--quiet", "--message", "A submodule")
    for form in REVIEWS:
        done = review(form, paths=("rendered",))
        assert (done.code, done.out) == (1, "")
        assert "HEAD:rendered/vendor: error[unreadable]: is a submodule" in done.err


def test_a_folder_with_sources_before_and_rendered_manifests_after() -> None:
    text = Path("rendered/a.yaml").read_text()
    write("jobs/a.yaml", text)
    write("jobs/role.yaml", ROLE)
    write("trainc.yaml", "lint: {}\n")
    commit()
    assert [(file, name.split()[-1]) for file, _, _, name in rows()] == [("jobs/role.yaml", "admin")]
    assert "nothing changes" in run("diff", "main:jobs", "jobs").out
