"""The output folder: what is written, what is removed, and what is never touched."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from files import write
from running import run

from trainc.files import outputs
from trainc.files.atomic import PART
from trainc.files.output_marks import MARK, PASSED_MARK, source_lines, sources_of

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  runtimeRef: {{name: plain}}
"""


@pytest.fixture(autouse=True)
def here(empty_folder: Path) -> Path:
    write("jobs/a.yaml", JOB.format(name="a", namespace="team"))
    write("jobs/b.yaml", JOB.format(name="b", namespace='""'))
    return empty_folder


def build(*args: str) -> int:
    return run("build", "jobs", "-o", "out", *args).code


def tree() -> set[str]:
    return {str(path.relative_to("out")) for path in Path("out").rglob("*") if path.is_file()}


def test_a_file_each_which_names_its_source() -> None:
    assert build() == 0
    assert tree() == {"team/a.yaml", "b.yaml"}
    assert (
        Path("out/b.yaml")
        .read_text()
        .startswith(
            f"{MARK}TrainJob b. Do not edit; run trainc build.\n"
            "# Source: ../jobs/b.yaml\n"
            "apiVersion: jobset.x-k8s.io/v1alpha2\n"
        )
    )
    assert "# Source: ../../jobs/a.yaml\n" in Path("out/team/a.yaml").read_text()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param('"quoted".yaml', id="a quote"),
        pytest.param(" spaces .yaml", id="spaces"),
        pytest.param("two\nlines.yaml", id="two lines"),
        pytest.param("t\u00e9l\u00e9.yaml", id="letters"),
        pytest.param("right\u202eleft.yaml", id="a letter that no line shows"),
        pytest.param("half\udc80.yaml", id="half a character"),
    ],
)
def test_the_name_of_a_source_is_read_as_it_was_written(name: str) -> None:
    lines = source_lines("out", [f"jobs/{name}"])
    assert lines.count("\n") == 1
    assert sources_of(lines.encode()) == (f"../jobs/{name}",)


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        pytest.param("# Source: a\n# Source: b\nkind: X\n# Source: c\n", ("a", "b"), id="only those at the top"),
        pytest.param("# Source: a\r\n# Source: a\r\n", ("a",), id="Windows lines, repeated"),
        pytest.param("<<<<<<< main\n# Source: a\n=======\n# Source: b\n>>>>>>> x\n", ("a", "b"), id="a conflict"),
        pytest.param("# A comment.\n# Source: a\n", (), id="another comment"),
        pytest.param('# Source: "\n# Source: "a"b\n# Source: "\\u0000"\n# Source: \n', (), id="no names"),
        pytest.param("# Source: \udcff\n", (), id="no text"),
    ],
)
def test_the_sources_at_the_top(text: str, sources: tuple[str, ...]) -> None:
    assert sources_of(text.encode("utf-8", "surrogateescape")) == sources


def test_what_is_no_longer_made_is_removed_with_its_empty_folder() -> None:
    build()
    Path("jobs/a.yaml").unlink()
    assert build() == 0
    assert tree() == {"b.yaml"}
    assert not Path("out/team").exists()


def test_the_last_job_gone_leaves_an_empty_folder() -> None:
    build()
    Path("jobs/a.yaml").unlink()
    Path("jobs/b.yaml").unlink()
    assert build() == 0
    assert tree() == set()


def test_only_removes_nothing() -> None:
    build()
    assert build("--only", "a") == 0
    assert tree() == {"team/a.yaml", "b.yaml"}


def test_unchanged_files_are_not_rewritten() -> None:
    build()
    before = {path: os.stat(f"out/{path}").st_mtime_ns for path in tree()}
    assert build() == 0
    assert {path: os.stat(f"out/{path}").st_mtime_ns for path in tree()} == before


def test_a_file_that_grows_while_it_is_compared_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    files = {"b.yaml": Path("out/b.yaml").read_text()}

    def plan() -> list[str]:
        with outputs.opened("out", make=False, notify=print) as output:
            return list(outputs.plan(output, files, paths=["jobs"], prune=False).write)

    assert plan() == []
    real = os.fstat

    def fstat(opened: int) -> os.stat_result:
        status = real(opened)
        with open("out/b.yaml", "a") as file:
            file.write("more")
        return status

    monkeypatch.setattr(os, "fstat", fstat)
    assert plan() == ["b.yaml"]


def test_a_disk_that_takes_a_piece_at_a_time_gets_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    whole = {path: Path("out", path).read_bytes() for path in tree()}
    shutil.rmtree("out")
    real = os.write
    monkeypatch.setattr(os, "write", lambda opened, data: real(opened, data[:100]))
    assert build() == 0
    assert {path: Path("out", path).read_bytes() for path in tree()} == whole


def test_a_disk_that_is_full_leaves_whole_files_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    before = {path: Path("out", path).read_bytes() for path in tree()}
    write("jobs/a.yaml", JOB.format(name="a", namespace="team") + "  suspend: true\n")
    real, space = os.write, [200]

    def until_full(opened: int, data: bytes) -> int:
        if not space:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(opened, data[: space.pop()])

    monkeypatch.setattr(os, "write", until_full)
    done = run("build", "jobs", "-o", "out")
    assert (done.code, space) == (1, [])
    assert "out/team/a.yaml: error[output-unwritable]: cannot be written: No space left on device" in done.err
    assert {path: Path("out", path).read_bytes() for path in tree()} == before


def test_an_error_leaves_everything_as_it_was() -> None:
    build()
    before = {path: Path("out", path).read_bytes() for path in tree()}
    write("jobs/a.yaml", JOB.format(name="A_", namespace="team"))
    assert build() == 1
    assert {path: Path("out", path).read_bytes() for path in tree()} == before


COPY = f"{MARK}TrainJob c. Do not edit; run trainc build.\n# Source: {{source}}\nkind: JobSet\n"


def test_every_file_with_the_mark_is_an_output() -> None:
    """A copy or a file that a bad merge brings back is pruned, whatever its name."""
    build()
    for path in ("c.yaml", "b.yaml.orig", "team/below/c", "gone/c.json"):
        write(f"out/{path}", COPY.format(source="../jobs/c.yaml"))
    checked = run("build", "jobs", "-o", "out", "--check")
    assert (checked.code, checked.out.count("+++ /dev/null")) == (3, 4)
    done = run("build", "jobs", "-o", "out")
    assert (done.code, "out: 0 written, 4 removed, 2 unchanged\n" in done.err) == (0, True)
    assert tree() == {"team/a.yaml", "b.yaml"}
    assert sorted(os.listdir("out")) == ["b.yaml", "team"]
    assert os.listdir("out/team") == ["a.yaml"]


def test_other_files_stop_a_build_and_stay() -> None:
    build()
    write("kept.yaml", COPY.format(source="../jobs/c.yaml"))
    write("elsewhere/kept.yaml", COPY.format(source="../jobs/c.yaml"))
    os.symlink("../elsewhere", "out/link")
    os.symlink("../kept.yaml", "out/linked.yaml")
    os.mkfifo("out/pipe.yaml")
    write("out/team/by-hand.yaml", "kind: ConfigMap\n")
    write("out/README.md", "Outputs of trainc.\n")
    others = ["out/link", "out/linked.yaml", "out/pipe.yaml", "out/team/by-hand.yaml"]
    for more in ((), ("--check",)):
        done = run("build", "jobs", "-o", "out", *more)
        assert done.code == 1
        assert [f"{path}: error[output-unexpected]" in done.err for path in others] == [True] * 4
        assert "README.md" not in done.err
    assert Path("kept.yaml").exists()
    assert Path("elsewhere/kept.yaml").exists()


KUBECTL_READS = [
    "evil.yaml",
    "evil.yml",
    "evil.json",
    ".evil.yaml",
    ".x/e.yaml",
    "team/e.yaml",
    "new/.y/below/e.json",
    "kustomization.yaml",
    "Kustomization",
    "trainc.yaml",
    "evil.jsonnet",
    ".github/workflows/e.yaml",
]


@pytest.mark.parametrize("path", KUBECTL_READS)
def test_a_build_fails_for_each_manifest_that_it_does_not_write(path: str) -> None:
    build()
    assert build("--check") == 0
    write(f"out/{path}", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil}\n")
    for more in ((), ("--check",)):
        done = run("build", "jobs", "-o", "out", *more)
        assert done.code == 1
        assert f"out/{path}: error[output-unexpected]: is in the output folder, but the build does not" in done.err
    assert Path("out", path).exists()


@pytest.mark.parametrize("path", KUBECTL_READS)
def test_check_fails_for_each_marked_manifest_that_the_build_does_not_write(path: str) -> None:
    build()
    folder = os.path.dirname(path)
    write(f"out/{path}", COPY.format(source=os.path.relpath("jobs/c.yaml", f"out/{folder}")))
    assert build("--check") == 3
    assert build() == 0
    assert not Path("out", path).exists()
    assert build("--check") == 0


@pytest.mark.parametrize("path", [".git/refs/heads/fix.yaml", "README.md", ".gitkeep", "new/notes.txt"])
def test_check_allows_what_kubectl_does_not_read_or_git_does_not_contain(path: str) -> None:
    build()
    write(f"out/{path}", "kind: ConfigMap\n")
    assert build("--check") == 0


@pytest.mark.parametrize(
    ("keep", "path", "code"),
    [
        pytest.param("[kustomization.yaml]", "team/kustomization.yaml", 0, id="a name at any depth"),
        pytest.param("[/kustomization.yaml]", "team/kustomization.yaml", 1, id="only at the top"),
        pytest.param("[flux/]", "flux/below/app.yaml", 0, id="a folder"),
        pytest.param("[.argocd.yaml]", ".argocd.yaml", 0, id="a hidden file"),
        pytest.param("['*.yaml', '!evil.yaml']", "evil.yaml", 1, id="an exception"),
        pytest.param("[out/evil.yaml]", "evil.yaml", 1, id="relative to the output folder"),
    ],
)
def test_the_setting_keep_names_files_that_stay(keep: str, path: str, code: int) -> None:
    write("trainc.yaml", f"sources: [jobs]\noutput: out\nkeep: {keep}\n")
    assert run("build").code == 0
    write(f"out/{path}", "kind: ConfigMap\n")
    assert run("build", "--check").code == code
    done = run("build")
    assert (done.code, "error[output-unexpected]" in done.err) == (code, bool(code))


def test_a_marked_file_that_matches_keep_stays() -> None:
    write("trainc.yaml", "sources: [jobs]\noutput: out\nkeep: [c.yaml, gone/]\n")
    write("out/c.yaml", COPY.format(source="../jobs/c.yaml"))
    write("out/gone/d.yaml", COPY.format(source="../../jobs/c.yaml"))
    assert run("build").code == 0
    assert tree() == {"c.yaml", "gone/d.yaml", "team/a.yaml", "b.yaml"}
    assert run("build", "--check").code == 0
    Path("jobs/a.yaml").unlink()
    assert run("build", "--check").code == 3


CONFLICT = "<<<<<<< main\n{}=======\n{}>>>>>>> branch\n"


@pytest.mark.parametrize("part", ["whole", "sources", "body"])
def test_an_output_with_conflict_markers_is_replaced(part: str) -> None:
    build()
    path = Path("out/team/a.yaml")
    text = path.read_text()
    first, source, body = text.split("\n", 2)
    if part == "whole":
        path.write_text(CONFLICT.format(text, text))
    elif part == "sources":
        path.write_text(first + "\n" + CONFLICT.format(source + "\n", "# Source: ../../jobs/old.yaml\n") + body)
    else:
        path.write_text(first + "\n" + source + "\n" + CONFLICT.format(body, body))
    assert run("build", "jobs", "-o", "out", "--check").code == 3
    assert build() == 0
    assert path.read_text() == text


@pytest.mark.parametrize("part", ["whole", "sources", "body"])
def test_a_stale_output_with_conflict_markers_is_removed(part: str) -> None:
    test_an_output_with_conflict_markers_is_replaced(part)
    Path("jobs/a.yaml").unlink()
    assert run("build", "jobs", "-o", "out", "--check").code == 3
    assert build() == 0
    assert tree() == {"b.yaml"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "starts with trainc's marker, but names no source file"),
        ("# Source: ../../elsewhere/b.yaml\n", "/elsewhere/b.yaml"),
        ("# Source: ../jobs/b.yaml\n# Source: /etc/passwd\n", ": /etc/passwd"),
    ],
    ids=["none", "outside", "one outside"],
)
@pytest.mark.parametrize("name", ["b", "c"])
def test_an_output_without_a_source_in_the_root_is_an_error(source: str, reason: str, name: str) -> None:
    build()
    os.unlink("jobs/a.yaml")
    write(f"out/{name}.yaml", f"{MARK}TrainJob {name}. Do not edit; run trainc build.\n{source}kind: JobSet\n")
    before = {path: Path("out", path).read_bytes() for path in tree()}
    for more in ((), ("--check",), ("--only", "b")):
        done = run("build", "jobs", "-o", "out", *more)
        assert done.code == 1
        assert f"out/{name}.yaml: error[output-sources]: " in done.err
        assert reason in done.err
        assert {path: Path("out", path).read_bytes() for path in tree()} == before


def test_a_build_of_sources_outside_the_root_follows_the_rules_for_paths(tmp_path: Path) -> None:
    os.makedirs("repository/.git")
    os.chdir("repository")
    for _ in range(2):
        assert run("build", "../jobs", "-o", "out").code == 0
    assert run("build", "../jobs/a.yaml", "-o", "out").code == 0
    assert tree() == {"team/a.yaml", "b.yaml"}
    (tmp_path / "jobs/a.yaml").unlink()
    assert run("build", "../jobs", "-o", "out").code == 0
    assert tree() == {"b.yaml"}


def test_a_stream_is_covered_by_a_stream() -> None:
    piped = JOB.format(name="piped", namespace="team").encode()
    assert run("build", "-", "-o", "out", stdin=piped).code == 0
    assert "# Source: -\n" in Path("out/team/piped.yaml").read_text()
    done = run("build", "jobs", "-o", "out")
    assert "out/team/piped.yaml: kept, not compiled from the given paths" in done.err
    assert "nothing is pruned: the given paths do not cover standard input" in done.err
    renamed = piped.replace(b"piped", b"renamed")
    assert run("build", "-", "jobs", "-o", "out", stdin=renamed).code == 0
    assert tree() == {"team/a.yaml", "team/renamed.yaml", "b.yaml"}


def test_a_build_of_a_project_covers_all_sources_in_the_root() -> None:
    write("other/c.yaml", JOB.format(name="c", namespace="team"))
    piped = JOB.format(name="piped", namespace="team").encode()
    assert run("build", "jobs", "other", "-", "-o", "out", stdin=piped).code == 0
    write("trainc.yaml", "sources: [jobs]\noutput: out\n")
    done = run("build")
    assert (done.code, tree()) == (0, {"team/a.yaml", "b.yaml"})


def test_a_folder_that_cannot_be_listed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    real = os.scandir
    seen: list[int] = []

    def scandir(at: int) -> object:
        seen.append(at)
        if len(seen) > 1:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(at)

    with monkeypatch.context() as patched:
        patched.setattr("trainc.files.output_tree.os.scandir", scandir)
        with outputs.opened("out", make=False, notify=print) as output, pytest.raises(PermissionError):
            outputs.plan(output, {}, paths=["jobs"])


def test_a_file_of_another_tool_is_never_replaced() -> None:
    write("out/b.yaml", "by hand\n")
    done = run("build", "jobs", "-o", "out")
    assert done.code == 1
    assert "error[output-not-ours]" in done.err
    assert tree() == {"b.yaml"}
    assert Path("out/b.yaml").read_text() == "by hand\n"


def test_a_link_in_the_way_is_not_followed(here: Path) -> None:
    (here / "elsewhere").mkdir()
    (here / "out").mkdir()
    os.symlink("../elsewhere", "out/team")
    done = run("build", "jobs", "-o", "out")
    assert done.code == 1
    assert list((here / "elsewhere").iterdir()) == []


def test_check_writes_nothing_and_shows_the_difference() -> None:
    done = run("build", "jobs", "-o", "out", "--check")
    assert done.code == 3
    assert "--- /dev/null\n+++ out/team/a.yaml\n" in done.out
    assert not Path("out").exists()
    build()
    assert run("build", "jobs", "-o", "out", "--check").code == 0
    write("jobs/a.yaml", JOB.format(name="a", namespace="team") + "  suspend: true\n")
    done = run("build", "jobs", "-o", "out", "--check")
    assert done.code == 3
    assert "+  suspend: true\n" in done.out
    Path("jobs/a.yaml").unlink()
    assert "+++ /dev/null" in run("build", "jobs", "-o", "out", "--check").out


def test_an_output_folder_below_the_input_is_not_read() -> None:
    assert run("build", ".", "-o", "out").code == 0
    assert run("build", ".", "-o", "out", "--passthrough").code == 0
    assert tree() == {"team/a.yaml", "b.yaml"}


def test_documents_of_other_kinds_go_to_one_file() -> None:
    write("jobs/claim.yaml", "# data\nkind: PersistentVolumeClaim\napiVersion: v1\n")
    assert build("--passthrough") == 0
    text = Path("jobs/claim.yaml").read_text()
    assert Path("out/_passthrough.yaml").read_text() == (
        f"{PASSED_MARK}\n# Source: ../jobs/claim.yaml\n---\n# Source: ../jobs/claim.yaml\n{text}"
    )
    assert run("build", "jobs", "-o", "out", "--passthrough", "--check").code == 0


def test_only_kubernetes_objects_go_to_a_folder_each_below_its_source() -> None:
    annotation = "{annotations: {config.kubernetes.io/local-config: 'true'}}"
    local = f"apiVersion: fn.example.com/v1\nkind: Prefix\nmetadata: {annotation}\n"
    write("jobs/values.yaml", "replicas: 3\n---\nkind: Values\n---\n" + local)
    write("jobs/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
    done = run("build", "jobs", "-o", "out", "--passthrough")
    assert (done.code, Path("out/_passthrough.yaml").exists()) == (0, False)
    assert "omitted 3 documents that are not Kubernetes objects\n" in done.err
    write("jobs/one.yaml", "apiVersion: v1\nkind: Secret\n---\napiVersion: v1\nkind: ConfigMap\n")
    write("jobs/two.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Service}]\n")
    assert build("--passthrough") == 0
    assert Path("out/_passthrough.yaml").read_text() == (
        f"{PASSED_MARK}\n# Source: ../jobs/one.yaml\n# Source: ../jobs/two.yaml\n"
        "---\n# Source: ../jobs/one.yaml\napiVersion: v1\nkind: Secret\n"
        "---\n# Source: ../jobs/one.yaml\napiVersion: v1\nkind: ConfigMap\n"
        "---\n# Source: ../jobs/two.yaml\napiVersion: v1\nkind: Service\n"
    )


def test_a_file_where_the_folder_should_be_is_a_diagnostic() -> None:
    write("out", "by hand\n")
    done = run("build", "jobs", "-o", "out")
    assert done.code == 1
    assert "out: error[output-unwritable]: cannot be written" in done.err
    assert Path("out").read_text() == "by hand\n"


def test_a_folder_that_cannot_be_made_is_a_diagnostic() -> None:
    write("file", "")
    done = run("build", "jobs", "-o", "file/out")
    assert done.code == 1
    assert "error[output-unwritable]" in done.err


def test_what_a_killed_build_was_writing_is_removed() -> None:
    write(f"out/team/.a.yaml.{os.getpid()}{PART}", MARK[:20])
    write(f"out/team/.gone.yaml.1{PART}", MARK + "apiVersion: jobs")
    assert build() == 0
    assert tree() == {"team/a.yaml", "b.yaml"}


def test_a_hidden_file_of_another_tool_is_kept() -> None:
    write(f"out/.a.yaml.1{PART}", "by hand\n")
    write("out/.a.yaml.1.part", MARK)
    assert build() == 0
    assert tree() == {"team/a.yaml", "b.yaml", f".a.yaml.1{PART}", ".a.yaml.1.part"}
