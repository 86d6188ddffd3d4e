"""The output folder: what is written, what is removed, and what is never touched."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from running import run

from trainc.files import outputs
from trainc.files.atomic import PART
from trainc.files.output_listing import LISTING, MARK, PASSED_MARK

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  runtimeRef: {{name: plain}}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("jobs/a.yaml", JOB.format(name="a", namespace="team"))
    write("jobs/b.yaml", JOB.format(name="b", namespace='""'))
    return tmp_path


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    Path(path).write_text(text)


def build(*args: str) -> int:
    return run("build", "jobs", "-o", "out", *args).code


def tree() -> set[str]:
    return {str(path.relative_to("out")) for path in Path("out").rglob("*") if path.is_file()}


def test_a_file_each_and_the_listing() -> None:
    assert build() == 0
    assert tree() == {"team/a.yaml", "b.yaml", LISTING}
    sources = {"b.yaml": "../jobs/b.yaml", "team/a.yaml": "../jobs/a.yaml"}
    listing = {"outputs": ["b.yaml", "team/a.yaml"], "sources": sources}
    assert json.loads(Path("out", LISTING).read_text()) == listing
    assert (
        Path("out/b.yaml")
        .read_text()
        .startswith(f"{MARK}TrainJob b. Do not edit; run trainc build.\napiVersion: jobset.x-k8s.io/v1alpha2\n")
    )


def test_the_listing_is_no_manifest_to_those_who_apply_the_folder() -> None:
    assert Path(LISTING).suffix == ""


def test_what_is_no_longer_made_is_removed_with_its_empty_folder() -> None:
    build()
    Path("jobs/a.yaml").unlink()
    assert build() == 0
    assert tree() == {"b.yaml", LISTING}
    assert not Path("out/team").exists()


def test_what_is_listed_twice_is_removed_once() -> None:
    build()
    Path("jobs/a.yaml").unlink()
    write(f"out/{LISTING}", json.dumps({"outputs": ["b.yaml", "team/a.yaml", "team/a.yaml"]}))
    assert build() == 0
    assert tree() == {"b.yaml", LISTING}


def test_the_last_job_gone_leaves_an_empty_folder() -> None:
    build()
    Path("jobs/a.yaml").unlink()
    Path("jobs/b.yaml").unlink()
    assert build() == 0
    assert tree() == {LISTING}


def test_only_removes_nothing() -> None:
    build()
    assert build("--only", "a") == 0
    assert tree() == {"team/a.yaml", "b.yaml", LISTING}
    assert json.loads(Path("out", LISTING).read_text())["outputs"] == ["b.yaml", "team/a.yaml"]


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
            return list(outputs.plan(output, files, sources={}, paths=["jobs"], prune=False).write)

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


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param("/etc/hostname", id="absolute"),
        pytest.param("../kept.yaml", id="upwards"),
        pytest.param("team/../../kept.yaml", id="upwards inside"),
        pytest.param("./b.yaml", id="another name of an output"),
        pytest.param("team//a.yaml", id="a part without a name"),
        pytest.param("", id="no name"),
        pytest.param("nul\0.yaml", id="a name that no system knows"),
        pytest.param("\ud800.yaml", id="half a character"),
        pytest.param("link/kept.yaml", id="through a link"),
        pytest.param("linked.yaml", id="a link"),
        pytest.param("by-hand.yaml", id="without the mark"),
        pytest.param("pipe.yaml", id="no file"),
        pytest.param(7, id="no text"),
    ],
)
def test_a_listed_file_that_is_not_ours_is_left_alone_with_a_warning(entry: object) -> None:
    build()
    write("kept.yaml", MARK + "kept\n")
    write("elsewhere/kept.yaml", MARK + "kept\n")
    os.symlink("../elsewhere", "out/link")
    os.symlink("../kept.yaml", "out/linked.yaml")
    os.mkfifo("out/pipe.yaml")
    write("out/by-hand.yaml", "kind: ConfigMap\n")
    listing = json.loads(Path("out", LISTING).read_text())
    write(f"out/{LISTING}", json.dumps({"outputs": [*listing["outputs"], entry]}))
    done = run("build", "jobs", "-o", "out")
    assert done.code == 0
    assert "warning[output-left-alone]" in done.err
    assert Path("kept.yaml").exists()
    assert Path("elsewhere/kept.yaml").exists()
    assert Path("out/by-hand.yaml").exists()
    assert os.path.islink("out/linked.yaml")


@pytest.mark.parametrize("listing", ["", "{", "[]", '{"outputs": 1}', "\0\0"])
def test_a_broken_listing_removes_nothing(listing: str) -> None:
    build()
    write(f"out/{LISTING}", listing)
    Path("jobs/a.yaml").unlink()
    done = run("build", "jobs", "-o", "out")
    assert done.code == 0
    assert "nothing is removed" in done.err
    assert "team/a.yaml" in tree()


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
    assert tree() == {"team/a.yaml", "b.yaml", LISTING}


def test_documents_of_other_kinds_go_to_one_file() -> None:
    write("jobs/claim.yaml", "# data\nkind: PersistentVolumeClaim\napiVersion: v1\n")
    assert build("--passthrough") == 0
    text = Path("jobs/claim.yaml").read_text()
    assert Path("out/_passthrough.yaml").read_text() == f"{PASSED_MARK}# Source: ../jobs/claim.yaml\n{text}"
    assert run("build", "jobs", "-o", "out", "--passthrough", "--check").code == 0
    assert build() == 0
    assert not Path("out/_passthrough.yaml").exists()


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
        f"{PASSED_MARK}# Source: ../jobs/one.yaml\napiVersion: v1\nkind: Secret\n"
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
    write(f"out/.{LISTING}.1{PART}", '{"')
    assert build() == 0
    assert tree() == {"team/a.yaml", "b.yaml", LISTING, f".{LISTING}.1{PART}"}  # trainc writes no such list
    write(f"out/.{LISTING}.1{PART}", "{\n")
    assert build() == 0
    assert tree() == {"team/a.yaml", "b.yaml", LISTING}


def test_a_hidden_file_of_another_tool_is_kept() -> None:
    write(f"out/.a.yaml.1{PART}", "by hand\n")
    write("out/.a.yaml.1.part", MARK)
    assert build() == 0
    assert tree() == {"team/a.yaml", "b.yaml", LISTING, f".a.yaml.1{PART}", ".a.yaml.1.part"}


def test_what_is_written_is_listed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    Path("jobs/a.yaml").unlink()
    write("jobs/c.yaml", JOB.format(name="c", namespace="team"))
    real = os.rename
    renamed: list[tuple[str, set[str]]] = []

    def rename(old: str, new: str, **folders: int) -> None:
        renamed.append((new, set(json.loads(Path("out", LISTING).read_text())["outputs"])))
        real(old, new, **folders)

    monkeypatch.setattr(os, "rename", rename)
    assert build() == 0
    assert renamed == [
        (LISTING, {"b.yaml", "team/a.yaml"}),
        ("c.yaml", {"b.yaml", "team/a.yaml", "team/c.yaml"}),
        (LISTING, {"b.yaml", "team/a.yaml", "team/c.yaml"}),
    ]
