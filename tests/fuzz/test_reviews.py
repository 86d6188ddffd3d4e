"""A review and `build --check` cover whatever the Argo CD plugin and kubectl deploy, for small random trees.

A pair of trees has TrainJobs, runtimes, projects below others, patches, kustomizations, outputs, links, a submodule,
pointers of git-lfs and objects of other kinds. The plugin runs on both trees, in each folder at or below the reviewed
path. Each JobSet that differs is in the review, or its file is listed, or the review fails; for an object of another
kind, a setting may be listed instead. `build` and `build --check` fail for each manifest that is added below the output
folder. `make test` runs 100 pairs and 100 files, and `make fuzz` 2,000.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from committing import git
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st
from plugin import generate
from running import run

PARTS = 4
PAIRS = (int(os.environ["EXAMPLES"]) // 10 if "EXAMPLES" in os.environ else 100) // PARTS
"""The pairs of trees of a part; 2,000 of `make fuzz` in all parts, whose EXAMPLES are 20,000."""
MARK = "# Compiled by trainc from TrainJob a. Do not edit; run trainc build.\n# Source: ../a.yaml\n"
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {0}}}
spec:
  runtimeRef: {{name: plain}}
  trainer: {{image: "app:{1}"}}
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: plain, labels: {{trainer.kubeflow.org/framework: plain}}}}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {{template: {{spec: {{containers: [{{name: node, image: "base:{1}"}}]}}}}}}
"""
JOBSET = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {0}, labels: {{v: v{1}}}}}\n"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: {0}, labels: {{v: v{1}}}}}\n"
PATCH = "metadata: {{labels: {{p: p{1}}}}}\n"
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:{1}\nsize 1\n"
SETTINGS = [
    "lint: {}\n",
    "labels: {s: a}\n",
    "labels: {s: b}\n",
    "namespace: locked\n",
    "output: out\n",
    "exclude: [x.yaml]\n",
    "passthrough: false\n",
    "patches: [{path: x.yaml, target: {kind: TrainJob}}]\n",
    "sources: [team]\n",
    "extends: ../trainc.yaml\n",
]
KUSTOMIZATIONS = ["patches: [{path: x.yaml}]\n", "patches: [{path: ../team/x.yaml}]\n", "resources: [x.yaml]\n"]
FOLDERS = ["jobs", "jobs/team", "jobs/team/out", "jobs/k"]
NAMES = ["a", "b"]
TEXTS = [JOB, JOB, MARK + JOB, JOBSET, MARK + JOBSET, ROLE, f"{ROLE}---\n{JOB}", RUNTIME, PATCH, LFS]
TEXTS += ["a: [{0}\n", "- {1}\n"]
LINKS = ["-> x.yaml", "-> ../x.yaml", "-> ../../outside.yaml", "-> nowhere"]

names, versions = st.sampled_from(NAMES), st.integers(0, 2)
manifests = st.builds(lambda text, name, version: text.format(name, version), st.sampled_from(TEXTS), names, versions)
contents = st.one_of(
    st.tuples(st.sampled_from(["x.yaml", "y.json", ".hidden.yaml", "z.txt"]), manifests),
    st.tuples(st.just("trainc.yaml"), st.sampled_from(SETTINGS)),
    st.tuples(st.just("kustomization.yaml"), st.sampled_from(KUSTOMIZATIONS)),
    st.tuples(st.just("link.yaml"), st.sampled_from(LINKS)),
    st.tuples(st.just("vendor"), st.sampled_from(["module 1", "module 2"])),
)
entries = st.builds(lambda folder, content: (f"{folder}/{content[0]}", content[1]), st.sampled_from(FOLDERS), contents)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, str]]:
    """Return two trees that differ in a few entries."""
    base = {"trainc.yaml": draw(st.sampled_from(SETTINGS)), "jobs/a.yaml": JOB.format("first", 0)}
    base |= {"jobs/team/a.yaml": JOB.format("team", 0), "runtimes/r.yaml": RUNTIME.format("", 0)}
    base["x.yaml"] = PATCH.format("", 0)
    old = base | dict(draw(st.lists(entries, max_size=4)))
    new = old | dict(draw(st.lists(entries, min_size=1, max_size=3)))
    for path in draw(st.lists(st.sampled_from([*old]), max_size=1)):
        new.pop(path)
    return old, new


def checkout(tree: dict[str, str], message: str) -> None:
    """Replace the working tree by another one and commit it."""
    for entry in Path().iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    git("rm", "-rq", "--cached", "--ignore-unmatch", ".")
    for path, content in tree.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            Path(path).symlink_to(content[3:])
        elif content.startswith("module "):
            # The checkout of a submodule, as Argo CD makes it.
            Path(path).mkdir(exist_ok=True)
            Path(path, "job.yaml").write_text(JOB.format("vendor", content[-1]))
        else:
            Path(path).write_text(content)
    git(
        "add",
        "--all",
        "--",
        ".",
        *(f":(exclude){path}" for path, content in tree.items() if content.startswith("module ")),
    )
    for path, content in tree.items():
        if content.startswith("module "):
            git("update-index", "--add", "--cacheinfo", f"160000,{content[-1] * 40},{path}")
    git("commit", "--quiet", "--allow-empty", "--message", message)


Objects = dict[tuple[str, ...], Any]


def deployed() -> dict[str, Objects]:
    """Return the objects that the plugin deploys in each folder; a folder in which it fails is missing."""
    found: dict[str, Objects] = {}
    for folder in sorted({str(path.parent) for path in Path("jobs").rglob("*")}):
        if any(part.startswith(".") for part in Path(folder).parts):
            continue
        done = generate(folder, runtimes="runtimes")
        if done.code == 0:
            found[folder] = {identity(each): each for each in yaml.safe_load_all(done.out) if each}
    return found


def identity(tree: Any) -> tuple[str, ...]:
    metadata = tree.get("metadata") or {}
    return tree["kind"], metadata.get("namespace", ""), metadata.get("name", "")


def check(old: dict[str, str], new: dict[str, str]) -> None:
    """Check that each object that differs is in the review, or that its file is listed, or that the review fails."""
    checkout(old, "old")
    before = deployed()
    checkout(new, "new")
    after = deployed()
    done = run("diff", "HEAD~1..HEAD", "-r", "runtimes", "--format", "json", "--", "jobs", "runtimes")
    assert done.code in {0, 1}, done.err
    if done.code == 1:
        return
    review = json.loads(done.out)
    objects = {(each["kind"], each["name"]) for each in review["objects"]}
    objects |= {
        (each["object"]["kind"], each["object"].get("name", "")) for each in review["notCompared"] if "object" in each
    }
    files = {each["file"] for each in review["notCompared"]}
    listed = files | {each["file"] for each in review["settings"]}
    # A submodule that does not change is not compared, also if a runtime or a setting changes its objects.
    unchanged = {path for path in old if old[path].startswith("module ") and new.get(path) == old[path]}
    # If the plugin fails, Argo CD leaves the cluster as it is.
    for folder in after:
        if folder not in before and any(path.startswith(f"{folder}/") for path in old):
            continue
        ours, theirs = before.get(folder, {}), after[folder]
        for key in ours.keys() | theirs.keys():
            if ours.get(key) == theirs.get(key) or (key[0], key[2]) in objects:
                continue
            if unchanged and "vendor" in key[2]:
                continue
            note(f"{folder}: {key} differs\n{done.out}")
            assert any(is_of(file, folder) for file in (files if key[0] == "JobSet" else listed)), (folder, key)


def is_of(file: str, folder: str) -> bool:
    """Return whether a listed file can be the cause of a difference in a folder: it is above, in or below it."""
    at = os.path.dirname(file)
    return at == "" or f"{folder}/".startswith(f"{at}/") or file.startswith(f"{folder}/")


@pytest.mark.parametrize("part", range(PARTS))
def test_a_mutated_tree_is_reviewed(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repository").mkdir()
    (tmp_path / "outside.yaml").write_text(JOB.format("outside", 0))
    monkeypatch.chdir("repository")
    git("init", "--quiet")

    @given(pairs())
    @seed(part)
    @settings(max_examples=PAIRS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check_pair(pair: tuple[dict[str, str], dict[str, str]]) -> None:
        check(*pair)

    check_pair()


MANIFESTS = ("evil.yaml", "evil.yml", ".evil.json", "kustomization.yaml", "Kustomization", "trainc.yaml", ".yaml")
OTHERS = ("README.md", ".gitkeep", "evil.yaml.txt")
BELOW = ("", "prod", "prod/ml", "staging", ".x", "prod/.x/y", "dev")
files = st.tuples(st.sampled_from(BELOW), st.sampled_from(MANIFESTS + OTHERS), manifests)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_mutated_output_folder_is_checked(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    Path("jobs").mkdir()
    Path("jobs/a.yaml").write_text(JOB.format("a", 1))
    text = "sources: [jobs]\noutput: rendered\nenvironments: {dev: {}, prod: {namespace: ml}}\n"
    Path("trainc.yaml").write_text(text)
    assert run("build").code == 0
    shutil.copytree("rendered", "clean")

    @given(files, st.booleans())
    @seed(part)
    @settings(max_examples=PAIRS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check_file(file: tuple[str, str, str], is_link: bool) -> None:
        folder, name, content = file
        shutil.rmtree("rendered")
        shutil.copytree("clean", "rendered")
        path = Path("rendered", folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_link:
            path.symlink_to("../elsewhere.yaml")
        else:
            path.write_text(content)
        is_marked = content.startswith(MARK) and not is_link and not name.startswith(".")
        fails = name in MANIFESTS or (is_link and not name.startswith(".")) or is_marked
        done = run("build", "--check")
        note(f"{path}: {done}")
        assert (done.code != 0) == fails
        if not (is_marked or content.startswith(MARK)):
            assert (run("build").code != 0) == fails

    check_file()
