"""Untrusted repositories: trainc reads and writes nothing outside the root, despite links, pipes and races.

The links, pipes, races and locks are real. A command that may hang, or that runs beside something else, is a process of
its own. Each test has a repository and, beside it, a folder that trainc must not read or write.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from batches import rounds
from committing import git
from files import write
from running import Done, run

ROOT = Path(__file__).parents[2]
PATIENCE = 60
"""The timeout of a process, in seconds."""
ROUNDS = int(os.environ.get("ROUNDS") or len(rounds(10)))
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}}}
spec:
  runtimeRef: {{name: plain}}
"""
OLDER = JOB.format(name="older").replace("spec:\n", "spec:\n  podSpecOverrides: []\n")
SECRET = "root:x:0:0: s3cret"


def start(*arguments: str, program: str = "from trainc.cli import entry; entry()") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
    )


def finish(process: subprocess.Popen[str]) -> Done:
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err, err
    return Done(process.returncode, out, err)


def run_apart(*arguments: str) -> Done:
    return finish(start(*arguments))


def files(folder: str) -> dict[str, bytes]:
    found = [path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(autouse=True)
def folder_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository, make it the current folder, and return the folder beside it."""
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repository")
    write("../outside/passwd.yaml", f"{SECRET}\n- {{\n")
    write("../outside/job.yaml", JOB.format(name="stolen"))
    write(
        "../outside/claim.yaml", f"apiVersion: v1\nkind: Secret\nmetadata: {{name: stolen}}\ndata: {{a: {SECRET!r}}}\n"
    )
    write("../outside/older.yaml", OLDER)
    for name in "ab":
        write(f"jobs/{name}.yaml", JOB.format(name=name))
    return tmp_path / "outside"


# 4. Files at fixed names that are links.


@pytest.mark.parametrize(
    ("target", "name"),
    [
        pytest.param("../outside/report", "trainc.sarif", id="a link to a file outside"),
        pytest.param("../outside", "reports/trainc.sarif", id="a folder that is a link"),
        pytest.param("jobs/a.yaml", "trainc.sarif", id="a link inside"),
    ],
)
def test_4_a_report_is_not_written_through_a_link(target: str, name: str) -> None:
    before = files("..")
    os.symlink(target, name.partition("/")[0])
    done = run("validate", "jobs", "--report", f"sarif={name}")
    assert (done.code, "trainc does not write through links" in done.err) == (2, True)
    assert files("..") == before


def test_4_upgrade_writes_nothing_behind_a_link(folder_outside: Path) -> None:
    before = files("..")
    os.symlink("../outside", "old")
    done = run("upgrade", "old", "--write")
    assert (done.code, "error[link-out]" in done.err) == (1, True)
    done = run("upgrade", "old/older.yaml", "--write", "--follow-links")
    assert (done.code, "trainc does not write through links" in done.err) == (1, True)
    assert files("..") == before


@pytest.mark.parametrize("folder", ["rendered", "rendered/team"])
def test_4_build_writes_nothing_into_the_target_of_a_link(folder: str) -> None:
    before = files("..")
    os.symlink("../outside", "rendered")
    done = run("build", "jobs", "-o", folder)
    assert (done.code, "error[output-unwritable]" in done.err) == (1, True)
    assert "trainc does not write through links" in done.err
    assert files("..") == before


@pytest.mark.parametrize("command", [("init", "new"), ("runtimes", "export", "-o", "new")])
def test_4_no_other_command_writes_through_a_link(command: tuple[str, ...]) -> None:
    before = files("..")
    os.symlink("../outside", "new")
    assert run(*command).code == 1
    assert files("..") == before


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("validate", "jobs", "runtimes"), id="a folder"),
        pytest.param(("validate", "jobs", "runtimes/passwd.yaml"), id="a file behind a folder"),
        pytest.param(("validate", "jobs", "-r", "runtimes"), id="runtimes"),
        pytest.param(("validate", "--among", "runtimes", "jobs/a.yaml", "runtimes/passwd.yaml"), id="a subset"),
        pytest.param(("build", "jobs", "runtimes", "--passthrough"), id="documents of other kinds"),
        pytest.param(("build", "jobs", "claim.yaml", "--passthrough"), id="a file"),
        pytest.param(("diff", "jobs", "runtimes", "--passthrough"), id="a side"),
        pytest.param(("upgrade", "runtimes/claim.yaml"), id="a file that is printed unchanged"),
        pytest.param(("runtimes", "list", "./runtimes"), id="a list of runtimes"),
        pytest.param(("validate", "jobs", "--config", "runtimes/passwd.yaml"), id="settings"),
        pytest.param(("validate", "runtimes/jobs"), id="settings beside the path"),
    ],
)
def test_4_nothing_is_read_through_a_link_that_leads_out(command: tuple[str, ...]) -> None:
    os.symlink("../outside", "runtimes")
    os.symlink("../outside/claim.yaml", "claim.yaml")
    write("../outside/trainc.yaml", f"{SECRET}: 1\n")
    write("../outside/jobs/c.yaml", JOB.format(name="c"))
    done = run(*command)
    assert done.code == 1
    assert "error[link-out]" in done.out + done.err
    assert "s3cret" not in done.out + done.err


def test_4_follow_links_reads_what_a_link_leads_to() -> None:
    os.symlink("../outside/claim.yaml", "claim.yaml")
    done = run("build", "jobs", "claim.yaml", "--passthrough", "--follow-links")
    assert (done.code, "kind: Secret" in done.out) == (0, True)


@pytest.mark.parametrize("command", [("cmp", "generate", "--follow-links"), ("krm", "--follow-links")])
def test_4_the_plugins_never_follow_links_that_lead_out(command: tuple[str, ...]) -> None:
    assert run(*command).code == 2


def test_4_links_inside_the_root_and_files_elsewhere_are_read(folder_outside: Path) -> None:
    os.mkdir("app")
    os.symlink("../jobs/a.yaml", "app/a.yaml")
    done = run("build", "app", str(folder_outside / "job.yaml"))
    assert (done.code, done.out.count("kind: JobSet")) == (0, 2)


@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0"])
def test_4_a_pipe_from_a_shell_is_read(path: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trainc", "build", path],
        input=JOB.format(name="piped"),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
    )
    assert (done.returncode, "name: piped" in done.stdout) == (0, True)


# 5. Races.


def remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


@contextmanager
def swapping(path: str, *others: Callable[[str], object]) -> Iterator[None]:
    """Replace a path repeatedly, with each of the others in turn."""
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for other in others:
                other(f"{path}.next")
                with suppress(OSError):  # trainc has created it again
                    os.rename(path, f"{path}.last")
                    os.rename(f"{path}.next", path)
                remove(f"{path}.last")
                remove(f"{path}.next")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def folder_of_a_job(path: str) -> None:
    write(f"{path}/job.yaml", JOB.format(name="swapped"))


def link_out(path: str) -> None:
    os.symlink("../outside" if os.path.dirname(path) == "" else "../../outside", path)


@pytest.mark.examples
def test_5_a_folder_that_becomes_a_link_during_the_walk_leaks_nothing() -> None:
    folder_of_a_job("jobs/c")
    with swapping("jobs/c", link_out, folder_of_a_job):
        runs = [run_apart("build", "jobs", "--passthrough") for _ in range(ROUNDS)]
    assert [done for done in runs if "stolen" in done.out or "s3cret" in done.out + done.err] == []
    assert {done.code for done in runs} <= {0, 1}


@pytest.mark.examples
def test_5_an_output_folder_that_becomes_a_link_is_not_written_through() -> None:
    before = files("../outside")
    os.mkdir("rendered")
    with swapping("rendered", link_out, os.mkdir):
        runs = [run_apart("build", "jobs", "-o", "rendered") for _ in range(ROUNDS)]
    assert files("../outside") == before
    assert {done.code for done in runs} <= {0, 1}


@pytest.mark.examples
def test_5_a_file_that_becomes_a_pipe_does_not_hang() -> None:
    with swapping("jobs/c.yaml", os.mkfifo, lambda path: write(path, JOB.format(name="swapped"))):
        runs = [run_apart("build", "jobs") for _ in range(ROUNDS)]
    assert {done.code for done in runs} <= {0, 1}


@pytest.mark.parametrize("path", ["jobs", "jobs/c.yaml"])
def test_5_a_pipe_is_an_error(path: str) -> None:
    os.mkfifo("jobs/c.yaml")
    done = run_apart("validate", path)
    assert (done.code, "is not a regular file" in done.out) == (1, True)


# 6. Folders that cannot be opened, and paths that are too long.

WITHOUT_CAPABILITIES = """
import ctypes
header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capset(header, none) == 0
from trainc.cli import entry
entry()
"""
"""A command without capabilities, for which permissions apply even as root."""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux")
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_6_a_folder_that_cannot_be_entered_is_an_error_and_nothing_is_pruned(mode: int) -> None:
    write("jobs/closed/c.yaml", JOB.format(name="c"))
    assert run("build", "jobs", "-o", "rendered").code == 0
    before = files("rendered")
    os.mkdir("jobs/closed/below")
    os.chmod("jobs/closed", mode)
    done = finish(start("build", "jobs", "-o", "rendered", program=WITHOUT_CAPABILITIES))
    os.chmod("jobs/closed", 0o755)
    assert done.code == 1
    assert "jobs/closed" in done.err
    assert "error[unreadable]: cannot be read: Permission denied" in done.err
    assert files("rendered") == before


def test_6_a_path_beyond_path_max_is_an_error_and_nothing_is_pruned() -> None:
    write("jobs/deep/c.yaml", JOB.format(name="c"))
    assert run("build", "jobs", "-o", "rendered").code == 0
    before = files("rendered")
    shutil.rmtree("jobs/deep")
    at = os.open("jobs", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=at)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    with open(os.open("c.yaml", os.O_WRONLY | os.O_CREAT, dir_fd=at), "w") as file:
        file.write(JOB.format(name="c"))
    os.close(at)
    done = run("build", "jobs", "-o", "rendered")
    assert (done.code, "error[unreadable]: has a path of more than 4095 bytes" in done.err) == (1, True)
    assert files("rendered") == before


# 7. Two builds into one folder.


@pytest.mark.examples
def test_7_two_builds_into_one_folder_lose_track_of_nothing() -> None:
    for number in range(30):
        write(f"one/{number}.yaml", JOB.format(name=f"one-{number}"))
        write(f"two/{number}.yaml", JOB.format(name=f"two-{number}"))
    for _ in range(ROUNDS):
        processes = [start("build", folder, "-o", "rendered") for folder in ("one", "two")]
        assert [finish(process).code for process in processes] == [0, 0]
        assert len(files("rendered")) == 60
        shutil.rmtree("rendered")


def test_7_a_build_reports_that_it_waits_and_gives_up() -> None:
    os.mkdir("rendered")
    program = "from trainc.files import outputs; outputs.PATIENCE = 0.5; from trainc.cli import entry; entry()"
    at = os.open("rendered", os.O_RDONLY)
    fcntl.flock(at, fcntl.LOCK_EX)
    done = finish(start("build", "jobs", "-o", "rendered", program=program))
    assert done.code == 1
    assert "rendered: another build writes to this folder; waiting" in done.err
    assert "rendered: error[output-unwritable]: cannot be written: another build has locked the folder" in done.err
    assert files("rendered") == {}
    os.close(at)


def test_7_a_build_that_waited_plans_after_the_other_one() -> None:
    os.mkdir("rendered")
    at = os.open("rendered", os.O_RDONLY)
    fcntl.flock(at, fcntl.LOCK_EX)
    process = start("build", "jobs", "-o", "rendered")
    assert process.stderr is not None
    assert "another build writes" in process.stderr.readline()
    time.sleep(0.2)
    write("rendered/a.yaml", "by hand\n")
    os.close(at)
    done = finish(process)
    assert (done.code, "error[output-not-ours]" in done.err) == (1, True)


# 8. Documents with a hidden kind.

HIDDEN = {
    "an escape": r'{"apiVersion": "trainer.k\u0075beflow.org/v1alpha1", "kind": "Train\u004aob", "metadata": {}}',
    "a folded string": 'apiVersion: "trainer.kube\\\n  flow.org/v1alpha1"\nkind: "Train\\\n  Job"\nmetadata: {}\n',
    "a tag": "apiVersion: !!binary dHJhaW5lci5rdWJlZmxvdy5vcmcvdjFhbHBoYTE=\nkind: !!binary VHJhaW5Kb2I=\n",
    "UTF-16": JOB.replace("plain", "plane").format(name="x").encode("utf-16"),
    "UTF-16 of the other order": b"\xfe\xff" + JOB.replace("plain", "plane").format(name="x").encode("utf-16-be"),
}  # fmt: skip


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HIDDEN.items()])
def test_8_a_file_is_ours_by_its_documents_where_its_bytes_may_hide_it(text: str | bytes) -> None:
    Path("jobs/x.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    whole = run("validate", "jobs")
    done = run("validate", "--among", "jobs", "jobs/x.yaml")
    assert (whole.code, done.code) == (1, 1), done.out
    assert "jobs/x.yaml" in done.out


@pytest.mark.parametrize("text", ["a: {{ .Values.x }} & !x\n", "on: '*'\na: &a [*a\n", "\\ [", "- !Ref x\n"])
def test_8_a_file_of_another_tool_is_still_not_parsed(text: str) -> None:
    write("jobs/x.yaml", text)
    done = run("validate", "--among", "jobs", "jobs/x.yaml")
    assert (done.code, done.out) == (0, "no problems found: 0 TrainJobs, 0 runtimes\n")


# 9. A build of a part.


def test_9_a_build_of_one_file_prunes_nothing_and_names_what_it_keeps() -> None:
    assert run("build", "jobs", "-o", "rendered").code == 0
    os.unlink("jobs/b.yaml")
    before = files("rendered").keys()
    done = run("build", "jobs/a.yaml", "-o", "rendered")
    assert (done.code, files("rendered").keys()) == (0, before)
    assert "rendered/b.yaml: kept" in done.err
    assert "nothing is pruned: the given paths do not cover jobs/b.yaml" in done.err
    checked = run("build", "jobs/a.yaml", "-o", "rendered", "--check")
    assert (checked.code, "rendered/b.yaml: kept" in checked.err) == (0, True)
    assert run("build", "jobs", "-o", "rendered", "--check").code == 3
    assert run("build", "jobs", "-o", "rendered").code == 0
    assert "b.yaml" not in files("rendered")


def test_9_a_folder_that_was_renamed_is_covered() -> None:
    assert run("build", "jobs", "-o", "rendered").code == 0
    os.rename("jobs", "training")
    os.unlink("training/b.yaml")
    assert run("build", "training", "-o", "rendered").code == 0
    assert files("rendered").keys() == {"a.yaml"}


def test_9_the_folders_of_all_sources_cover_the_current_folder() -> None:
    assert run("build", "-o", "rendered").code == 0
    os.unlink("jobs/b.yaml")
    assert run("build", "jobs", "-o", "rendered", "--check").code == 3
    assert run("build", "jobs", "-o", "rendered").code == 0
    assert files("rendered").keys() == {"a.yaml"}


def test_9_only_prunes_nothing_and_is_not_the_whole() -> None:
    assert run("build", "jobs", "-o", "rendered").code == 0
    assert run("build", "jobs", "-o", "rendered", "--only", "a").code == 0
    assert "b.yaml" in files("rendered")
    os.unlink("jobs/b.yaml")
    assert run("build", "jobs", "-o", "rendered").code == 0
    assert "b.yaml" not in files("rendered")


def test_9_two_folders_built_one_after_the_other_keep_each_other() -> None:
    write("more/c.yaml", JOB.format(name="c"))
    for folder in ("jobs", "more", "jobs", "more"):
        assert run("build", folder, "-o", "rendered").code == 0
        assert (folder == "jobs" and "c.yaml" not in files("rendered")) or len(files("rendered")) == 3
    os.unlink("jobs/b.yaml")
    assert run("build", "jobs", "more", "-o", "rendered").code == 0
    assert files("rendered").keys() == {"a.yaml", "c.yaml"}


def test_9_documents_of_other_paths_are_not_overwritten() -> None:
    write("jobs/b.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n")
    write("jobs/c.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: more}\n")
    assert run("build", "jobs", "-o", "rendered", "--passthrough").code == 0
    before = files("rendered")
    done = run("build", "jobs/a.yaml", "jobs/b.yaml", "-o", "rendered", "--passthrough")
    assert (done.code, "rendered/_passthrough.yaml: error[passthrough-partial]" in done.err) == (1, True)
    assert files("rendered") == before


# 10. Rendered folders as input.


def test_10_outputs_are_no_input() -> None:
    assert run("build", "-o", "rendered").code == 0
    write("rendered/by-hand.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: by-hand}\n")
    text = Path("rendered/a.yaml").read_text().partition("\n")[2].replace("name: a", "name: unmarked")
    write("rendered/unmarked.yaml", text)
    done = run("build", "--passthrough")
    assert done.code == 0
    assert (done.out.count("kind: JobSet"), done.out.count("kind: ConfigMap")) == (3, 1)


def test_10_outputs_are_skipped_and_counted() -> None:
    assert run("build", "-o", "rendered").code == 0
    for arguments in ((".",), ("rendered",), ("--among", ".", "rendered/a.yaml")):
        done = run("validate", *arguments)
        assert (done.code, "without TrainJobs or runtimes w" in done.err) == (0, True), done.err
    assert "rendered/a.yaml: skipped\n" in run("validate", "-v").err


@pytest.mark.parametrize("arguments", [(".", "rendered/a.yaml"), ("rendered/a.yaml", ".")])
def test_10_an_output_that_is_given_is_read(arguments: tuple[str, ...]) -> None:
    assert run("build", "-o", "rendered").code == 0
    done = run("build", *arguments, "--passthrough")
    assert (done.code, 'error[duplicate-object]: duplicate JobSet "a"' in done.err) == (1, True)


@pytest.mark.parametrize("kind", ["TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"])
def test_10_a_source_with_the_mark_of_an_output_is_an_error(kind: str) -> None:
    assert run("build", "-o", "rendered").code == 0
    header = "".join(Path("rendered/a.yaml").read_text().splitlines(keepends=True)[:2])
    write("jobs/a.yaml", header + JOB.format(name="a").replace("kind: TrainJob", f"kind: {kind}"))
    write("runtimes/x.yaml", header + JOB.format(name="a").replace("kind: TrainJob", f"kind: {kind}"))
    before = files("rendered")
    for arguments in (
        ("validate", "jobs"),
        ("validate", "."),
        ("build",),
        ("build", "-o", "rendered"),
        ("build", "jobs/b.yaml", "-r", "runtimes"),
        ("diff", "jobs/b.yaml", "jobs"),
        ("cmp", "generate"),
        ("upgrade", "jobs"),
    ):
        done = run(*arguments)
        assert done.code != 0, arguments
        assert f"error[marked-source]: {kind} in a file with trainc's marker" in done.out + done.err, arguments
    assert files("rendered") == before
    assert "marked-source" not in (done := run("validate", "jobs/a.yaml")).out + done.err


def test_10_a_mention_of_a_source_in_an_output_is_none() -> None:
    write("jobs/policy.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: policy}\ndata: {kind: TrainJob}\n")
    assert run("build", "jobs", "-o", "rendered", "--passthrough").code == 0
    assert run("validate", ".").code == 0


def test_10_the_plugin_emits_no_stale_copy() -> None:
    assert run("build", "-o", "rendered").code == 0
    write("jobs/b.yaml", JOB.format(name="b-renamed"))
    done = run("cmp", "generate")
    assert (done.code, done.out.count("kind: JobSet"), "name: b\n" in done.out) == (0, 2, False)


def test_10_diff_works_in_the_layout_of_init() -> None:
    os.rmdir(".git")
    git("init", "--quiet", "--initial-branch=main")
    shutil.rmtree("jobs")  # they use a built-in runtime, which the new project forbids
    assert run("init").code == 0
    assert run("build", "-o", "rendered").code == 0
    git("add", "--all")
    git("commit", "--quiet", "--message=one")
    path = Path("jobs/first-job.yaml")
    path.write_text(path.read_text() + "  suspend: true\n")
    for arguments in ((), ("HEAD", ".")):
        done = run("diff", *arguments)
        assert (done.code, "spec.suspend" in done.out) == (0, True), done.err
    assert run("build", "-o", "rendered").code == 0
    git("commit", "--quiet", "--all", "--message=two")
    done = run("diff", "HEAD~1..HEAD")
    assert (done.code, "spec.suspend" in done.out) == (0, True), done.err
    done = run("diff", "HEAD~1..HEAD", "rendered")
    assert (done.code, "spec.suspend" in done.out) == (0, True), done.err


def test_10_two_objects_of_one_identity_are_an_error() -> None:
    write("jobs/other.yaml", "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\n")
    assert run("build", "jobs").code == 0
    for more in ((), ("-o", "rendered"), ("--format", "json")):
        done = run("build", "jobs", "--passthrough", *more)
        assert (done.code, 'jobs/other.yaml:3:18: error[duplicate-object]: duplicate JobSet "a"' in done.err) == (
            1,
            True,
        )


@pytest.mark.parametrize("target", [".git/config", ".hidden/a.yaml"])
@pytest.mark.parametrize("given", [".", "link.yaml"])
def test_a_visible_link_to_a_hidden_file_is_not_read(target: str, given: str) -> None:
    """A report with an excerpt of the file would publish it."""
    write(target, SECRET)
    os.symlink(target, "link.yaml")
    done = run("validate", given)
    assert done.code == 1
    assert "is a link to a hidden file or folder" in done.out + done.err
    assert "s3cret" not in done.out + done.err


def test_a_mounted_config_map_is_read() -> None:
    write("mounted/..data/a.yaml", JOB.format(name="a"))
    os.symlink("..data/a.yaml", "mounted/a.yaml")
    assert run("validate", "mounted").code == 0
