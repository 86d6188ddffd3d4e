"""`make fuzz`: mutated command lines and repositories cause no traceback and no hang, and touch nothing outside.

A repository has jobs, runtimes, a rendered folder and a commit. Some of its files and folders are replaced by links,
pipes, closed folders, and names that are revisions or options. Then a command runs in its own process, without the
capabilities of root. An audit hook and the descriptors of the process show which files it opened: all of them are below
the root, or belong to Python, trainc or git. `make test` runs only a few examples.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from batches import one_in_four
from committing import commit, git
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from trainc.files.output_marks import MARK

ROOT = Path(__file__).parents[2]
PARTS = 4
EXAMPLES = int(os.environ.get("EXAMPLES") or 40) // 4 // PARTS
"""Examples per part: a quarter of the golden inputs', because each one is a process."""
SECONDS = 60
SECRET = "s3cret"
JOB = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
    "metadata: {{name: {}}}\nspec: {{runtimeRef: {{name: {}}}}}\n"
)
PROGRAM = """
import os, sys
log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND)
if sys.platform == "linux":
    import ctypes
    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capset(header, none)
def record(path):
    os.write(log, os.fsencode(path) + b"\\0")
def hook(event, args):
    if event == "open" and isinstance(args[0], (str, bytes)) and os.path.isabs(os.fsdecode(args[0])):
        record(os.path.realpath(os.fsdecode(args[0])))
real = os.open
def watched(*arguments, **options):
    opened = real(*arguments, **options)
    if os.path.exists(f"/proc/self/fd/{opened}"):
        record(os.readlink(f"/proc/self/fd/{opened}"))
    return opened
os.open = watched
from trainc.cli import entry
sys.addaudithook(hook)
entry()
"""
NAMES = ["jobs", "jobs/a.yaml", "jobs/c", "runtimes", "rendered", "rendered/a.yaml"]
NAMES += [
    "trainc.yaml",
    "main",
    "main..HEAD",
    "HEAD",
    "--",
    "-",
    "--help",
    "jobs/link.yaml",
    "r.sarif",
    "new",
    "--strict",
]
TARGETS = [
    "../outside",
    "../outside/job.yaml",
    "../../outside",
    "jobs",
    "a.yaml",
    "..",
    ".",
    "/etc",
    "nowhere",
    "/dev/zero",
]
PATHS = ["", ".", "..", "../outside", "/nowhere", "jobs/../../outside", "main:jobs", "HEAD~1..HEAD", ":jobs", *NAMES]
OPTIONS = [
    "-o=rendered",
    "-o=new",
    "-o=jobs",
    "--check",
    "--passthrough",
    "--report=sarif=r.sarif",
    "--report=junit=new/x",
]
OPTIONS += [
    "-r=runtimes",
    "--among=.",
    "--only=a",
    "--no-config",
    "--config=trainc.yaml",
    "--write",
    "--diff",
    "--export=new",
]
COMMANDS = ["build", "build", "build", "validate", "validate", "diff", "diff", "upgrade", "pods", "graph", "explain"]
COMMANDS += ["runtimes", "secret", "init", "cmp generate", "cmp discover", "krm"]

mutations = st.lists(
    st.tuples(
        st.sampled_from(["link", "link", "pipe", "folder", "file", "closed", "named-only", "remove"]),
        st.sampled_from(NAMES),
        st.sampled_from(TARGETS),
    ),
    max_size=5,
)
lines = st.tuples(
    st.sampled_from(COMMANDS),
    st.lists(st.one_of(st.sampled_from(PATHS), st.sampled_from(OPTIONS)), max_size=5),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a repository with two commits and a folder beside it."""
    world = tmp_path_factory.mktemp("world")
    (world / "outside").mkdir()
    (world / "outside" / "job.yaml").write_text(JOB.format(SECRET, "plain"))
    start = world / "start"
    for folder in ("jobs/c", "runtimes", "rendered"):
        (start / folder).mkdir(parents=True)
    for name in "ab":
        (start / "jobs" / f"{name}.yaml").write_text(JOB.format(name, "plain"))
    shutil.copy(ROOT / "runtimes" / "plain.yaml", start / "runtimes" / "ours.yaml")
    (start / "jobs" / "c" / "claim.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    git("init", "--quiet", at=start)
    commit(at=start)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    build = [sys.executable, "-m", "trainc", "build", "jobs", "-o", "rendered"]
    subprocess.run(build, cwd=start, check=True, env=environment, capture_output=True)
    commit(at=start)
    return world


def mutate(repository: Path, what: str, name: str, target: str) -> None:
    """Mutate a path."""
    path = repository / name
    if what == "named-only":
        path = repository / "rendered" / "stale.yaml"
        if path.parent.is_dir() and not path.parent.is_symlink():
            path.write_text(f"{MARK}TrainJob stale.\n# Source: ../jobs/stale.yaml\n# Source: ../{target}\n")
        return
    if what == "closed":
        if path.exists() and not path.is_symlink():
            path.chmod(0)
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "link":
        path.symlink_to(target)
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
        (path / "x.yaml").write_text(JOB.format("x", "plain"))
    elif what == "file":
        path.write_text(JOB.format("y", "ours"))


def is_allowed(path: str, repository: Path) -> bool:
    """Return whether a file is below the root, or belongs to Python, trainc or the system."""
    own = {
        str(repository),
        str(ROOT / "compiler"),
        str(ROOT / "runtimes"),
        str(ROOT / "schemas"),
        str(ROOT / "templates"),
    }
    own |= {str(ROOT / "diagnostics"), sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), "/usr/lib", "/lib"}
    roots = {os.path.realpath(folder) for folder in own} | {"/usr/share/zoneinfo"}
    if path == "/dev/null" or path.startswith(("/proc/self/", "pipe:", "anon_inode:")):
        return True
    return any(path == root or path.startswith(f"{root}/") for root in roots)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux")
@pytest.mark.parametrize("part", one_in_four(range(PARTS)))
def test_golden_repositories(part: int, world: Path) -> None:
    repository, log = world / "repository", world / "log"

    @given(mutations, lines)
    @settings(
        max_examples=max(EXAMPLES, 1),
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        database=None,
    )
    def judged(mutated: list[tuple[str, str, str]], line: tuple[str, list[str]]) -> None:
        remove(repository)
        shutil.copytree(world / "start", repository, symlinks=True)
        for what, name, target in mutated:
            try:
                mutate(repository, what, name, target)
            except OSError:
                continue  # an earlier mutation makes this one impossible
        if line[0] == "init":  # it writes to any folder that is given
            line = "init", [word for word in line[1] if word.startswith("-") or word in NAMES]
        before = files_outside(world)
        judge([*line[0].split(), *(word for option in line[1] for word in split(option))], repository, log)
        assert files_outside(world) == before

    judged()


def split(option: str) -> list[str]:
    """Return the words of an option; `-o=DIR` is two words."""
    return option.split("=", 1) if option.startswith(("-o=", "-r=")) else [option]


def remove(folder: Path) -> None:
    for above, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(os.path.join(above, name)):
                os.chmod(os.path.join(above, name), 0o755)
    shutil.rmtree(folder, ignore_errors=True)


def files_outside(world: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (world / "outside").rglob("*") if path.is_file()}


def judge(words: list[str], repository: Path, log: Path) -> None:
    """Run a command, and check its output and the files that it opened."""
    note(f"trainc {words}")
    log.write_bytes(b"")
    named = any(word.startswith(("..", "/nowhere", "jobs/..")) for word in words)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(log), *words],
        cwd=repository,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert done.returncode in {0, 1, 2, 3}, done.stderr.decode()
    if named:
        return  # the command line names a path outside
    opened = {os.fsdecode(path) for path in log.read_bytes().split(b"\0") if path}
    assert [path for path in sorted(opened) if not is_allowed(path, repository)] == []
    assert SECRET.encode() not in done.stdout + done.stderr
