"""A review and `build --check` cover whatever the Argo CD plugin and kubectl deploy, for small random trees.

A tree has TrainJobs, runtimes, projects below others, patches, kustomizations, outputs, links, a submodule, pointers
of git-lfs, attributes, odd modes, parameters of Argo CD and objects of other kinds. One tree is main and one is a
branch, which may have two merge bases, and moves files. The plugin runs on a checkout of main and on one of the merge,
in each folder at or below the reviewed path, as an Application of that folder. Each JobSet that differs is in the
review, or moves, or its file is listed, or the review fails; for an object of another kind, a setting may be listed
instead. Each path that differs has a role: the review compares it, lists it, or its name says that trainc does not read
it. `build` and `build --check` fail for each manifest that is added below the output folder. `make test` runs 100 pairs
and 100 files, and `make fuzz` 2,000.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from batches import one_in
from committing import git
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st
from plugin import generate
from running import run

from trainc.review.sides import side_files
from trainc.review.sides.side_files import NotCompared, SideFiles

PARTS = 16
PAIRS = int(os.environ.get("EXAMPLES", "1000")) // 10 // PARTS
"""The pairs of trees of a part; 2,000 of `make fuzz` in all parts, whose EXAMPLES are 20,000."""
CHANGED = ": warning[checkout-attribute]"
MARK = "# Compiled by trainc from TrainJob a. Do not edit; run trainc build.\n# Source: ../a.yaml\n"
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {0}}}
spec:
  runtimeRef: {{name: plain}}
  trainer:
    image: "app:{1}"
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
    "patches: [{path: ../x.yaml, target: {kind: TrainJob}}]\n",
    "runtimes: {paths: [../../runtimes]}\nlabels: {s: c}\n",
    "environments: {dev: {namespace: d}, prod: {namespace: p}}\n",
]
SOURCE = ".argocd-source.yaml"
"""The file with which Argo CD overrides the parameters of an Application."""
PARAMETERS = "plugin: {{parameters: [{{name: environment, string: {0}}}]}}\n"
DECOYS = [f"{SOURCE}.bak", "argocd-source.yaml", ".argocd-source-.yml", ".argocd-sources.yaml"]
IDENT = JOB + '    command: [sh, -c, "train # $Id$"]\n'
QUOTED = (
    JOB
    + """\
    args:
    - "note
    - v{1}
    - the end"
"""
)
"""One argument, which is three in a checkout in UTF-7."""
ATTRIBUTES = ["*.yaml ident\n", "x.yaml ident\n", "*.yaml -ident\n", "*.yaml text eol=crlf\n", "jobs/** !ident\n"]
ATTRIBUTES += ["x.yaml working-tree-encoding=UTF-7\n", "a.yaml working-tree-encoding=UTF-8\n", "*.yaml filter=x\n"]
KUSTOMIZATIONS = ["patches: [{path: x.yaml}]\n", "patches: [{path: ../team/x.yaml}]\n", "resources: [x.yaml]\n"]
FOLDERS = ["jobs", "jobs/team", "jobs/team/out", "jobs/k"]
NAMES = ["a", "b"]
TEXTS = [JOB, IDENT, QUOTED, MARK + JOB, JOBSET, MARK + JOBSET, ROLE, f"{ROLE}---\n{JOB}", RUNTIME, PATCH, LFS]
TEXTS += ["a: [{0}\n", "- {1}\n"]
MODES = [("", ""), ("jobs/team", "40755"), ("jobs/team/link.yaml", "120777"), ("jobs/k/link.yaml", "120777")]
"""The modes of a folder and of links, which servers accept, and git reads by their type bits."""
LINKS = ["-> x.yaml", "-> ../x.yaml", "-> ../../outside.yaml", "-> nowhere"]

names, versions = st.sampled_from(NAMES), st.integers(0, 2)
manifests = st.builds(lambda text, name, version: text.format(name, version), st.sampled_from(TEXTS), names, versions)
contents = st.one_of(
    st.tuples(st.sampled_from(["a.yaml", "a.yaml", "x.yaml", "y.json", ".hidden.yaml", "z.txt"]), manifests),
    st.tuples(st.just("trainc.yaml"), st.sampled_from(SETTINGS)),
    st.tuples(st.just("kustomization.yaml"), st.sampled_from(KUSTOMIZATIONS)),
    st.tuples(st.just(".gitattributes"), st.sampled_from(ATTRIBUTES)),
    st.tuples(
        st.sampled_from([SOURCE, SOURCE, *DECOYS]), st.sampled_from(["dev", "prod", "nowhere"]).map(PARAMETERS.format)
    ),
    st.tuples(st.just("link.yaml"), st.sampled_from(LINKS)),
    st.tuples(st.just("vendor"), st.sampled_from(["module 1", "module 2"])),
)
entries = st.builds(lambda folder, content: (f"{folder}/{content[0]}", content[1]), st.sampled_from(FOLDERS), contents)


class Trees(NamedTuple):
    """The trees of main, of a branch and of a commit before both, and how they are committed."""

    first: dict[str, str]
    main: dict[str, str]
    branch: dict[str, str]
    is_criss_cross: bool
    """Whether main has merged the branch before, and the branch main."""
    mode: tuple[str, str]
    """An entry of the branch, and its mode."""


@st.composite
def histories(draw: st.DrawFn) -> Trees:
    """Return trees that differ in a few entries."""
    base = {"trainc.yaml": draw(st.sampled_from(SETTINGS[:7])), "jobs/a.yaml": JOB.format("first", 0)}
    base |= {"jobs/team/a.yaml": IDENT.format("team", 0), "runtimes/r.yaml": RUNTIME.format("", 0)}
    base["x.yaml"] = PATCH.format("", 0)
    first = base | dict(draw(st.lists(entries, max_size=4)))
    main = first | dict(draw(st.lists(entries, max_size=1)))
    branch = first | dict(draw(st.lists(entries, min_size=1, max_size=3)))
    for path in draw(st.lists(st.sampled_from([*first]), max_size=1)):
        branch.pop(path, None)
    for path, folder in draw(st.lists(st.tuples(st.sampled_from([*first]), st.sampled_from(FOLDERS)), max_size=1)):
        if path in branch:
            branch[f"{folder}/{os.path.basename(path)}"] = branch.pop(path)
    mode = draw(st.sampled_from(MODES))
    if mode[0].endswith("link.yaml"):
        branch[mode[0]] = draw(st.sampled_from(LINKS))
    return Trees(first, main, branch, draw(st.booleans()), mode)


def written(files: dict[str, str]) -> str:
    """Replace the working tree by files, and return their git tree."""
    empty()
    git("rm", "-rq", "--cached", "--ignore-unmatch", ".")
    modules = {path: content[-1] for path, content in files.items() if content.startswith("module ")}
    attributes = [path for path in files if path.endswith(".gitattributes")]
    for path, content in sorted(files.items(), key=lambda file: file[0] in attributes):
        if path in attributes[:1]:
            git("add", "--all")  # as another client of git does, which ignores the attributes
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            Path(path).symlink_to(content[3:])
        elif path not in modules:
            Path(path).write_text(content)
    git("add", *(["--", *attributes] if attributes else ["--all"]))
    for path, number in modules.items():
        git("update-index", "--add", "--cacheinfo", f"160000,{number * 40},{path}")
    return git("write-tree")


def empty() -> None:
    for entry in Path().iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def checked_out(tree: str) -> dict[str, str]:
    """Replace the working tree by a checkout of a git tree; return the modes and objects by path."""
    empty()
    git("read-tree", tree)
    git("checkout-index", "--all", "--force")
    found = {}
    for line in git("ls-tree", "-r", tree).splitlines():
        facts, _, path = line.partition("\t")
        found[path] = facts
        if facts.startswith("160000"):
            # The checkout of a submodule, as Argo CD makes it.
            Path(path).mkdir(exist_ok=True)
            Path(path, "job.yaml").write_text(JOB.format("vendor", facts[-1]))
    return found


def with_mode(tree: str, path: str, mode: str) -> str:
    """Return a git tree in which an entry has another mode of its type."""
    first, _, rest = path.partition("/")
    data = b""
    for line in git("ls-tree", tree).splitlines():
        facts, _, name = line.partition("\t")
        old, _, id = facts.split()
        if name == first and rest and old == "040000":
            id = with_mode(id, rest, mode)
        elif name == first and not rest and old[:3] == f"{mode:0>6}"[:3]:
            old = mode
        data += b"%s %s\0%s" % (old.lstrip("0").encode(), os.fsencode(name), bytes.fromhex(id))
    return git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)


def committed(trees: Trees) -> None:
    """Commit the trees as main and as branch."""
    first = git("commit-tree", written(trees.first), "-m", "first")
    changed = [written(trees.main), with_mode(written(trees.branch), *trees.mode)]
    tips = [git("commit-tree", tree, "-p", first, "-m", "change") for tree in changed]
    if trees.is_criss_cross:
        pairs = zip(changed, (tips, tips[::-1]), strict=True)
        tips = [git("commit-tree", tree, "-p", one, "-p", other, "-m", "merge") for tree, (one, other) in pairs]
    for branch, tip in zip(("main", "branch"), tips, strict=True):
        git("update-ref", f"refs/heads/{branch}", tip)


def merged() -> str:
    """Return the tree that git makes of both; empty if they conflict."""
    with contextlib.suppress(subprocess.CalledProcessError):
        return git("merge-tree", "--write-tree", "main", "branch")
    return ""


Objects = dict[tuple[str, ...], Any]


def deployed() -> dict[str, Objects]:
    """Return the objects that the plugin deploys in each folder; a folder in which it fails is missing."""
    found: dict[str, Objects] = {}
    for folder in sorted({str(path.parent) for path in Path("jobs").rglob("*")}):
        if any(part.startswith(".") for part in Path(folder).parts):
            continue
        done = generate(folder, environment_of(folder), runtimes="runtimes")
        if done.code == 0:
            found[folder] = {identity(each): each for each in yaml.safe_load_all(done.out) if each}
    return found


def environment_of(folder: str) -> str:
    """Return the environment that Argo CD gives to the plugin in a folder; empty for none."""
    path = Path(folder, SOURCE)
    if not path.is_file():
        return ""
    value = yaml.safe_load(path.read_text())
    return value["plugin"]["parameters"][0]["string"] if isinstance(value, dict) and "plugin" in value else ""


def identity(tree: Any) -> tuple[str, ...]:
    metadata = tree.get("metadata") or {}
    return tree["kind"], metadata.get("namespace", ""), metadata.get("name", "")


def check(trees: Trees, compared: set[str]) -> int:
    """Check that each object that differs is in the review, or that its file is listed, or that the review fails.

    Return the number of objects that differ. `compared` are the paths of the files that the last review has compared or
    listed.
    """
    compared.clear()
    committed(trees)
    old = checked_out("main")
    before = deployed()
    merge = merged()
    done = run("diff", "main...branch", "-r", "runtimes", "--format", "json", "--", "jobs", "runtimes")
    assert done.code in {0, 1}, done.err
    assert merge or done.code == 1
    if done.code == 1:
        return 0
    number = 0
    new = checked_out(merge)
    after = deployed()
    review = json.loads(done.out)
    ids = [id for each in review["objects"] for id in (each, each.get("renamedFrom")) if id]
    objects = {(each["kind"], each["name"]) for each in ids}
    objects |= {
        (each["object"]["kind"], each["object"].get("name", "")) for each in review["notCompared"] if "object" in each
    }
    moved = [id for move in review.get("moves", ()) for id in move["objects"]]
    objects |= {("JobSet" if id["kind"] == "TrainJob" else id["kind"], id["name"]) for id in moved}
    for path in old.keys() | new.keys():
        if old.get(path) != new.get(path) and path.startswith(("jobs/", "runtimes/")):
            note(f"{path} differs\n{done.out}")
            # The settings of each project are compared key by key, whatever file they are in.
            is_setting = os.path.basename(path) == "trainc.yaml"
            assert path in compared or is_setting or is_never_read(path), path
    files = {each["file"] for each in review["notCompared"]}
    # A checkout of the old commit can have other bytes than the commit, which a warning says.
    files |= {
        file
        for file, warning, _ in (line.removeprefix("main:").partition(CHANGED) for line in done.err.splitlines())
        if warning
    }
    listed = files | {each["file"] for each in review["settings"]}
    # A submodule that does not change is not compared, also if a runtime or a setting changes its objects.
    unchanged = {path for path in old if old[path].startswith("160000") and new.get(path) == old[path]}
    # If the plugin fails, Argo CD leaves the cluster as it is.
    for folder in after:
        if folder not in before and any(path.startswith(f"{folder}/") for path in old):
            continue
        ours, theirs = before.get(folder, {}), after[folder]
        for key in ours.keys() | theirs.keys():
            number += ours.get(key) != theirs.get(key)
            if ours.get(key) == theirs.get(key) or (key[0], key[2]) in objects:
                continue
            if unchanged and "vendor" in key[2]:
                continue
            note(f"{folder}: {key} differs\n{done.out}")
            assert any(is_of(file, folder) for file in (files if key[0] == "JobSet" else listed)), (folder, key)
    return number


def is_never_read(path: str) -> bool:
    """Return whether trainc never reads a path: a hidden one, or a file that is no YAML, JSON or settings of git."""
    return any(part.startswith(".") for part in path.split("/")) or not path.endswith((".yaml", ".json"))


def is_of(file: str, folder: str) -> bool:
    """Return whether a listed file can be the cause of a difference in a folder: it is above, in or below it."""
    at = os.path.dirname(file)
    return at == "" or f"{folder}/".startswith(f"{at}/") or file.startswith(f"{folder}/")


@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_a_mutated_tree_is_reviewed(part: int, empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty_folder / "repository").mkdir()
    (empty_folder / "outside.yaml").write_text(JOB.format("outside", 0))
    monkeypatch.chdir("repository")
    git("init", "--quiet")
    compared, differing = set[str](), list[int]()
    not_compared = side_files.not_compared

    def recording(old: SideFiles, new: SideFiles, *others: Any) -> list[NotCompared]:
        found = (file.path for side, other in ((old, new), (new, old)) for file in side.by_path(other).values())
        compared.update(found)
        return not_compared(old, new, *others)

    monkeypatch.setattr(side_files, "not_compared", recording)

    @given(histories())
    @seed(part)
    @settings(max_examples=PAIRS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check_trees(trees: Trees) -> None:
        differing.append(check(trees, compared))

    check_trees()
    assert sum(map(bool, differing)) >= PAIRS // 10


MANIFESTS = ("evil.yaml", "evil.yml", ".evil.json", "kustomization.yaml", "Kustomization", "trainc.yaml", ".yaml")
OTHERS = ("README.md", ".gitkeep", "evil.yaml.txt")
BELOW = ("", "prod", "prod/ml", "staging", ".x", "prod/.x/y", "dev")
files = st.tuples(st.sampled_from(BELOW), st.sampled_from(MANIFESTS + OTHERS), manifests)


@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_a_mutated_output_folder_is_checked(part: int, empty_repository: Path) -> None:
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
