"""Two laws of the output folder, over random histories of a project.

1. If `build --check` exits 0, `build` with the same arguments changes no byte.
2. After a build of the project, the folder has exactly the outputs of a build into an empty folder, and the files
   without trainc's marker. `--check` fails for the manifests among these.

A build that fails writes and prunes nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from batches import examples
from committing import commit, git
from environments import JOB
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from running import run

from trainc.files.output_marks import is_marked
from trainc.files.selection import is_manifest

SETTINGS = "sources: [jobs]\noutput: rendered\nnamespace: ns\n"
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\n"
EXAMPLES = int(os.environ.get("EXAMPLES") or 40)
NAMES = ["a", "b", "c"]
ENVIRONMENTS = ["dev", "prod", "ns"]

Files = dict[str, bytes]
Step = tuple[str, str, str]


def files() -> Files:
    """Return the files of the output folder."""
    return {str(path): path.read_bytes() for path in Path("rendered").rglob("*") if path.is_file()}


def outputs() -> list[Path]:
    return sorted(path for path in Path("rendered").rglob("*") if path.is_file() and is_marked(path.read_bytes()))


def add_job(name: str, other: str) -> None:
    text = JOB.format(name=name).replace("metadata: {", f"metadata: {{labels: {{x: {other}}}, ")
    Path("jobs").mkdir(exist_ok=True)
    Path(f"jobs/{name}.yaml").write_text(text)


def add_claim(name: str, other: str) -> None:
    Path("jobs").mkdir(exist_ok=True)
    Path(f"jobs/claim-{name}.yaml").write_text(CLAIM.format(name=f"{name}-{other}"))


def remove_source(name: str, other: str) -> None:
    for path in (*Path("jobs").rglob(f"{name}.yaml"), *Path("jobs").rglob(f"claim-{other}.yaml")):
        path.unlink()


def rename_source(name: str, other: str) -> None:
    for path in Path("jobs").rglob(f"{name}.yaml"):
        path.rename(path.with_name(f"{other}.yaml"))


def move_sources(name: str, other: str) -> None:
    """Move the files to a subfolder; the folder of some of them is gone afterwards."""
    folder = Path("jobs", name)
    folder.mkdir(exist_ok=True, parents=True)
    for path in (*Path("jobs").glob("*.yaml"), *Path("jobs", other).glob("*.yaml")):
        path.rename(folder / path.name)
    if other != name and Path("jobs", other).is_dir():
        Path("jobs", other).rmdir()


def set_environments(name: str, other: str) -> None:
    """Add or remove two environments. One has the name of the namespace."""
    top, _, below = Path("trainc.yaml").read_text().partition("environments:\n")
    lines = below.splitlines(keepends=True)
    for each in (ENVIRONMENTS[NAMES.index(name)], ENVIRONMENTS[NAMES.index(other)]):
        line = f"  {each}: {{cluster: {each}, nameSuffix: -{each}}}\n"
        lines = [one for one in lines if one != line] if line in lines else [*lines, line]
    Path("trainc.yaml").write_text("".join((top, *(["environments:\n", *lines] if lines else []))))


def set_passthrough(name: str, other: str) -> None:
    """Switch `passthrough`, or remove it."""
    values = {"a": "true", "b": "false", "c": "[claim-a.yaml]"}
    _, environments, below = Path("trainc.yaml").read_text().partition("environments:\n")
    line = f"passthrough: {values[name]}\n" if name >= other else ""
    Path("trainc.yaml").write_text(SETTINGS + line + environments + below)


def damage(how: str) -> Callable[[str, str], None]:
    """Return a step that damages one of the outputs."""

    def step(name: str, other: str) -> None:
        if not (found := outputs()):
            return
        path = found[(NAMES.index(name) * 3 + NAMES.index(other)) % len(found)]
        text = path.read_text()
        first, source, body = [*text.split("\n", 2), "", ""][:3]
        if how == "delete":
            path.unlink()
        elif how == "truncate":
            path.write_text(f"{first}\n{source}\n")
        elif how == "conflict":
            path.write_text(f"{first}\n<<<<<<< ours\n{source}\n{body}=======\n{source}x\n{body}>>>>>>> theirs\n")
        elif how == "copy":
            path.with_name(f"{path.name}.{other}").write_text(text)
        elif how == "copy elsewhere":
            Path(f"rendered/{name}/{other}").mkdir(parents=True, exist_ok=True)
            Path(f"rendered/{name}/{other}/x.yaml").write_text(text.replace("# Source: ../", "# Source: ../../../"))
        elif how == "unmark":
            path.write_text(body)
        elif how == "forget":
            path.write_text(f"{first}\n{body}")
        elif how == "outside":
            path.write_text(f"{first}\n# Source: ../../../../../elsewhere/x.yaml\n{body}")

    return step


def write_by_hand(name: str, other: str) -> None:
    Path(f"rendered/{other}").mkdir(parents=True, exist_ok=True)
    Path(f"rendered/{other}/{name}.md").write_text("By hand.\n")


def merge(name: str, other: str) -> None:
    """Merge two branches that change the jobs and build; conflicts stay in the files."""
    commit()
    git("checkout", "--quiet", "-B", "branch")
    add_job(name, "branch")
    run("build")
    commit()
    git("checkout", "--quiet", "main")
    add_job(other, "main")
    run("build")
    commit()
    with suppress(subprocess.CalledProcessError):  # a conflict
        git("merge", "--quiet", "--no-edit", "branch")
    commit()


STEPS: dict[str, Callable[[str, str], None]] = {
    "add job": add_job,
    "add claim": add_claim,
    "remove source": remove_source,
    "rename source": rename_source,
    "move sources": move_sources,
    "set environments": set_environments,
    "set passthrough": set_passthrough,
    "write by hand": write_by_hand,
    "merge": merge,
    **{
        f"damage: {how}": damage(how)
        for how in ("delete", "truncate", "conflict", "copy", "copy elsewhere", "unmark", "forget", "outside")
    },
    "build": lambda name, other: check("build", *(("--passthrough",) if name == other else ())),
    "build one": lambda name, other: check("build", "-o", "rendered", "jobs", "--only", f"{name}*"),
}


def check(*line: str) -> None:
    """Check both laws for one command line."""
    before = files()
    checked = run(*line, "--check")
    assert files() == before
    done = run(*line)
    after = files()
    kept = {path: data for path, data in after.items() if not is_marked(data)}
    unexpected = [path for path in kept if is_manifest(path)]
    assert (checked.code == 0) == (done.code == 0 and after == before and not unexpected), (checked, done)
    if done.code != 0:
        assert after == before
    elif "-o" not in line:
        assert run(*line, "--check").code == (1 if unexpected else 0)
        assert all(path in done.err for path in unexpected), done.err
        shutil.rmtree("rendered", ignore_errors=True)
        assert run(*line).code == 0
        assert after == files() | kept
        for path, data in kept.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(data)


steps = st.tuples(st.sampled_from(list(STEPS)), st.sampled_from(NAMES), st.sampled_from(NAMES))


@given(st.lists(steps, min_size=1, max_size=12))
@example([("add job", "a", "b"), ("merge", "a", "b"), ("merge", "a", "a"), ("remove source", "a", "b")])
@example([("add job", "a", "a"), ("build", "a", "b"), ("set environments", "a", "b"), ("build", "a", "b")])
@example([("set environments", "a", "c"), ("build", "a", "b"), ("set environments", "a", "b"), ("build", "a", "b")])
@examples(EXAMPLES, suppress_health_check=list(HealthCheck), derandomize=True)
def test_the_laws(history: list[Step]) -> None:
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        patched.chdir(folder)
        git("init", "--quiet")
        Path("jobs").mkdir()
        Path("trainc.yaml").write_text(SETTINGS)
        for name, one, other in [*history, ("build", "a", "b")]:
            STEPS[name](one, other)


def test_branches_that_add_neighbouring_jobs_merge_without_conflict(empty_repository: Path) -> None:
    Path("jobs").mkdir()
    Path("trainc.yaml").write_text(SETTINGS + "environments: {dev: {cluster: dev}, prod: {cluster: prod}}\n")
    for branch, name in (("main", "a"), ("one", "b"), ("two", "c")):
        git("checkout", "--quiet", *(("-b", branch, "main") if branch != "main" else ("-B", "main")))
        Path(f"jobs/{name}.yaml").write_text(JOB.format(name=name))
        assert run("build").code == 0
        commit()
    git("merge", "--quiet", "--no-edit", "one")
    assert run("build", "--check").code == 0
    assert len(outputs()) == 6
