"""Hostile repositories: trainc reads nothing outside, ends within a second, prints no object and reports the fault.

Each row creates a repository that also has a valid TrainJob. The commands run as processes that log the files
they open.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
JOB = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
    "metadata: {name: finetune}\nspec: {runtimeRef: {name: torch-distributed}}\n"
)
SECONDS = 1
PATIENCE = 20
"""The time limit of a process, in seconds."""
PROGRAM = """
import os, sys
log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND)
FILES = ("open", "os.listdir", "os.scandir")
BANNED = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork")
def hook(event, args):
    if event in FILES and not isinstance(args[0], int):
        os.write(log, os.fsencode(os.path.realpath(args[0] or ".")) + b"\\0")
    elif event.startswith(BANNED):
        os.write(log, b"!" + event.encode() + b"\\0")
from trainc.cli import entry
sys.addaudithook(hook)
entry()
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str
    opened: list[str]
    seconds: float


def cmp(command: str, log: Path, **variables: str) -> Done:
    """Run `trainc cmp` in the current folder; return the process and every path that it opened."""
    log.write_bytes(b"")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, log, "cmp", command],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **variables},
        check=False,
        timeout=PATIENCE,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    opened = [os.fsdecode(path) for path in log.read_bytes().split(b"\0") if path]
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode(), opened, taken)


def judge(done: Done, application: Path) -> None:
    """Assert that the process opened only the repository, trainc and Python, ran no program, and was fast."""
    assert [event for event in done.opened if event.startswith("!")] == []
    strange = [path for path in done.opened if path.startswith(str(application.parent.resolve()))]
    strange += [path for path in done.opened if path.startswith(("/etc/host", "/etc/passwd", "/dev/zero", "/proc"))]
    assert [path for path in strange if not path.startswith(f"{application.resolve()}{os.sep}")] == []
    assert done.seconds < SECONDS
    assert "Traceback" not in done.err


def link(target: str, name: str = "x.yaml") -> Callable[[Path], None]:
    return lambda app: (app / name).symlink_to(target)


def text(content: str | bytes, name: str | bytes = "x.yaml") -> Callable[[Path], None]:
    def make(app: Path) -> None:
        path = os.path.join(os.fsencode(app), os.fsencode(name))
        with open(path, "wb") as opened:
            opened.write(content.encode() if isinstance(content, str) else content)

    return make


def both(*makers: Callable[[Path], None]) -> Callable[[Path], None]:
    def make(app: Path) -> None:
        for maker in makers:
            maker(app)

    return make


def listening(app: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("x.yaml")


def device(app: Path) -> None:
    try:
        os.mknod(app / "x.yaml", 0o20666, os.makedev(1, 5))
    except OSError:
        pytest.skip("root")


def sparse(app: Path) -> None:
    with (app / "x.yaml").open("wb") as opened:
        opened.truncate(300 << 20)


def many_files(app: Path) -> None:
    (app / "x").mkdir()
    for number in range(10_000):
        (app / "x" / f"{number}.yaml").touch()


def much(app: Path) -> None:
    (app / "x").mkdir()
    for number in range(250):
        (app / "x" / f"{number}.yaml").write_text(DENSE)


def huge_files(app: Path) -> None:
    for number in range(10):
        with (app / f"{number}.yaml").open("wb") as opened:
            opened.truncate(30 << 20)


def deep(app: Path) -> None:
    path = app.joinpath(*"d" * 150)
    path.mkdir(parents=True)
    (path / "x.yaml").write_text(JOB)


DENSE = f"# No TrainJob.\nx: [{'1,' * 2**19}]\n"
"""1 MiB of YAML that is slow to parse."""
BOMB = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 50))
OUT = "is a link to a target outside the repository"
OUTSIDE = "../../../outside"
"""Return the folder beside the repository, with a TrainJob, a folder of runtimes and a trainc.yaml."""
NO_OBJECT = "error[not-an-object]"
HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a link out": (link(f"{OUTSIDE}/job.yaml"), f"x.yaml: error[link-out]: {OUT}"),
    "an absolute link out": (link("/etc/hostname"), f"x.yaml: error[link-out]: {OUT}"),
    "a link to endless zeros": (link("/dev/zero"), f"x.yaml: error[link-out]: {OUT}"),
    "a link to a folder outside": (link(OUTSIDE, "x"), f"x: error[link-out]: {OUT}"),
    "a link to the folder above all": (link("../../..", "x"), f"x: error[link-out]: {OUT}"),
    "a link in a folder": (
        both(lambda app: (app / "sub").mkdir(), link(f"../{OUTSIDE}/job.yaml", "sub/x.yaml")),
        f"sub/x.yaml: error[link-out]: {OUT}",
    ),
    "a chain of links": (
        both(link("b.yaml", "a.yaml"), link("c.yaml", "b.yaml"), link(f"{OUTSIDE}/job.yaml", "c.yaml")),
        f"a.yaml: error[link-out]: {OUT}",
    ),
    "a link through a link": (
        both(link(OUTSIDE, ".hidden"), link(".hidden/job.yaml")),
        f"x.yaml: error[link-out]: {OUT}",
    ),
    "a link in a circle": (link("x.yaml"), "is a dangling or circular link"),
    "a link to nothing outside": (link("/nowhere/x.yaml"), "is a dangling or circular link"),
    "settings that are a link out": (
        link(f"{OUTSIDE}/trainc.yaml", "trainc.yaml"),
        f"trainc.yaml: error[link-out]: {OUT}",
    ),
    "settings that are a pipe": (lambda app: os.mkfifo(app / "trainc.yaml"), "trainc.yaml: error[unreadable]"),
    "settings that unfold": (text(BOMB, "trainc.yaml"), "aliases expand this document"),
    "a bomb": (text(BOMB), "aliases expand this document"),
    "a bomb that says TrainJob": (text(f"{BOMB}kind: TrainJob\n"), "aliases expand this document"),
    "itself": (text("a: &a [*a]\n"), "contains itself"),
    "brackets": (text("[" * 10**6), "nested more than 100 levels deep"),
    "a huge file": (sparse, "x.yaml: error[application-too-large]: the Application has 300.1 MiB"),
    "a huge document": (text(b"a: " + b"a" * (20 << 20)), "x.yaml: error[application-too-large]"),
    "much in many files": (much, "error[application-too-large]: the Application has 250.1 MiB of manifests"),
    "huge files": (huge_files, "error[application-too-large]: the Application has 300.1 MiB of manifests"),
    "many files": (many_files, "error[application-too-large]: the Application has more than 10,000 files"),
    "a pipe": (lambda app: os.mkfifo(app / "x.yaml"), "x.yaml: error[unreadable]: is not a regular file"),
    "a socket": (listening, "x.yaml: error[unreadable]: is not a regular file"),
    "a device": (device, "x.yaml: error[unreadable]: is not a regular file"),
    "deep folders": (deep, "is a folder more than 100 levels deep"),
    "a name with a line break": (text("a", "a\nerror: b.yaml"), rf"a\nerror: b.yaml:1:1: {NO_OBJECT}"),
    "a name that is no text": (text("a", b"\xff.yaml"), rf"\udcff.yaml:1:1: {NO_OBJECT}"),
    "a name with an escape": (text("a", "\x1b[2J.yaml"), rf"\x1b[2J.yaml:1:1: {NO_OBJECT}"),
    "a name like an option": (text("a", "--help.yaml"), f"--help.yaml:1:1: {NO_OBJECT}"),
    "a name like standard input": (text("a", "-.yaml"), f"-.yaml:1:1: {NO_OBJECT}"),
    "a TrainJob that leads upwards": (text(JOB.replace("finetune", "../../etc/passwd")), "error[invalid-name]"),
    "another TrainJob of that name": (text(JOB), "error[duplicate-trainjob]"),
    "a tag of Python's": (text("!!python/object/apply:os.system ['touch owned']\n"), "x.yaml:1:1: error["),
}  # fmt: skip


@pytest.fixture
def attacked(application: Path) -> Path:
    outside = application.parent / "outside"
    outside.mkdir()
    (outside / "job.yaml").write_text(JOB.replace("finetune", "stolen"))
    (outside / "trainc.yaml").write_text("lint: {strict: true}\n")
    (application / "apps" / "training" / "job.yaml").write_text(JOB)
    return application


@pytest.mark.parametrize(("make", "said"), [pytest.param(*row, id=name) for name, row in HOSTILE.items()])
def test_a_repository(make: Callable[[Path], None], said: str, attacked: Path, tmp_path: Path) -> None:
    make(attacked / "apps" / "training")
    log = tmp_path / "log"
    done = cmp("generate", log)
    judge(done, attacked)
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert "stolen" not in done.err
    for command in ("discover", "parameters"):
        done = cmp(command, log)
        judge(done, attacked)
        assert (done.code, done.err) == (0, "")
        assert "stolen" not in done.out


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("../../../outside", "is outside the repository", id="upwards"),
        pytest.param("/etc", "is outside the repository", id="absolute"),
        pytest.param("x/../../../../outside", "is outside the repository", id="there and back"),
        pytest.param("x", OUT, id="a link"),
        pytest.param("x/job.yaml", OUT, id="through a link"),
        pytest.param("nowhere", "No such file or directory", id="nothing"),
        pytest.param("a\nb\x1b", r"a\nb\x1b: error[unreadable]", id="a name with an escape"),
    ],
)
def test_runtimes_that_lead_out(path: str, said: str, attacked: Path, tmp_path: Path) -> None:
    (attacked / "apps" / "x").symlink_to("../../outside")
    path = f"../{path}" if path.startswith("x") and ".." not in path else path
    parameters = json.dumps([{"name": "runtimes", "array": [path]}])
    done = cmp("generate", tmp_path / "log", ARGOCD_APP_PARAMETERS=parameters)
    judge(done, attacked)
    assert (done.code, done.out) == (1, "")
    assert said in done.err


def test_a_link_inside_is_followed_once(attacked: Path, tmp_path: Path) -> None:
    (attacked / "apps" / "training" / "again").symlink_to(".")
    (attacked / "apps" / "training" / "up").symlink_to("../training")
    done = cmp("generate", tmp_path / "log")
    judge(done, attacked)
    assert (done.code, done.out.count("\nkind: JobSet\n")) == (0, 1)
    assert cmp("discover", tmp_path / "log").out == "job.yaml\n"


def test_little_is_read_as_yaml_to_find_a_trainjob(attacked: Path, tmp_path: Path) -> None:
    app = attacked / "apps" / "training"
    for number in range(9):
        (app / f"{number}.yaml").write_text(DENSE)
    for command, out in (("discover", "job.yaml\n"), ("parameters", "")):
        done = cmp(command, tmp_path / "log")
        judge(done, attacked)
        assert done.code == 0
        assert out in done.out


def test_discovery_among_five_thousand_files(application: Path, tmp_path: Path) -> None:
    app = application / "apps" / "training"
    body = "apiVersion: v1\nkind: ConfigMap\n" + "".join(f"# line {line}\n" for line in range(200))
    for folder in range(100):
        (app / str(folder)).mkdir()
        for number in range(50):
            (app / str(folder) / f"{number}.yaml").write_text(body)
    done = cmp("discover", tmp_path / "log")
    assert (done.code, done.out, done.err) == (0, "", "")
    within = [path for path in done.opened if path.startswith(str(app))]
    assert len([path for path in within if path.endswith(".yaml")]) == 5000  # each is opened once
    assert len(set(within)) == 1 + 100 + 5000
    command = [sys.executable, "-m", "trainc", "cmp", "discover"]
    assert min(seconds(command) for _ in range(5)) < 0.3


def seconds(command: list[str]) -> float:
    """Return the processor time of a process, which is independent of the machine's load."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")}, check=True, timeout=PATIENCE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
