"""`--report FORMAT=FILE`: which files are written, which are refused, and what the command does besides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import run

from trainc.cli.common.options import REPORTS

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\n"
GOOD = HEAD + "spec: {runtimeRef: {name: plain}}\n"
WRONG = HEAD + 'spec: {runtimeRef: {name: plain}, trainer: {numNodes: "4"}}\n'


@pytest.fixture(autouse=True)
def project(empty_folder: Path) -> Path:
    Path("job.yaml").write_text(GOOD)
    return empty_folder


@pytest.mark.parametrize("text", [GOOD, WRONG], ids=["good", "wrong"])
@pytest.mark.parametrize("form", REPORTS)
def test_a_file_holds_what_standard_output_would(form: str, text: str) -> None:
    Path("job.yaml").write_text(text)
    printed = run("validate", "job.yaml", "--format", form)
    done = run("validate", "job.yaml", "--report", f"{form}=report")
    assert Path("report").read_text() == printed.out
    assert done == run("validate", "job.yaml")
    assert done.code == printed.code


def test_several_reports_of_one_run(project: Path) -> None:
    reports = [option for form in REPORTS for option in ("--report", f"{form}=new/folder/{form}")]
    assert run("validate", *reports).code == 0
    assert sorted(os.listdir("new/folder")) == sorted(REPORTS)
    assert sorted(os.listdir(project)) == ["job.yaml", "new"]


@pytest.mark.parametrize(
    ("text", "options", "code", "failures"),
    [
        pytest.param(GOOD, [], 0, 0, id="to standard output"),
        pytest.param(GOOD, ["-o", "out"], 0, 0, id="into a folder"),
        pytest.param(GOOD, ["-o", "out", "--check"], 3, 0, id="not current"),
        pytest.param(GOOD, ["--only", "b"], 1, 1, id="no such job"),
        pytest.param("kind: ConfigMap\napiVersion: v1\n", [], 1, 1, id="no job at all"),
        pytest.param(WRONG, ["-o", "out"], 1, 1, id="wrong"),
        pytest.param(GOOD, ["-o", "job.yaml/out"], 1, 1, id="a folder that cannot be written"),
    ],
)
def test_build_writes_its_report_whatever_the_end(text: str, options: list[str], code: int, failures: int) -> None:
    Path("job.yaml").write_text(text)
    plain, done = run("build", *options), run("build", *options, "--report", "junit=../junit.xml")
    if "out" in options and not code:
        assert "1 written" in plain.err
        assert "1 unchanged" in done.err
    else:
        assert done == plain
    assert done.code == code
    assert f' failures="{failures}" ' in Path("../junit.xml").read_text()


def test_a_report_of_an_earlier_run_is_no_input() -> None:
    for form in ("json", "gitlab", "sarif"):
        for _ in range(2):
            done = run("validate", "--report", f"{form}={form}.json", "-r", ".")
            assert (done.code, done.out) == (0, "no problems found: 1 TrainJob, 1 runtime\n")
        os.unlink(f"{form}.json")


def test_a_report_replaces_a_file_but_not_a_link() -> None:
    Path("real.xml").write_text("an older one")
    os.symlink("real.xml", "link.xml")
    assert run("validate", "job.yaml", "--report", "junit=real.xml").code == 0
    assert Path("real.xml").read_text().startswith("<?xml")
    Path("real.xml").write_text("an older one")
    done = run("validate", "job.yaml", "--report", "junit=link.xml")
    assert (done.code, "trainc does not write through links" in done.err) == (2, True)
    assert Path("real.xml").read_text() == "an older one"


def test_a_pipe_is_written_to() -> None:
    read, write = os.pipe()
    assert run("validate", "job.yaml", "--report", f"gitlab=/dev/fd/{write}", "--report", "sarif=/dev/null").code == 0
    os.close(write)
    with os.fdopen(read) as pipe:
        assert [entry["check_name"] for entry in json.load(pipe)] == ["built-in-runtime"]


def test_standard_output_carries_a_report_where_it_is_free() -> None:
    done = run("build", "-o", "out", "--report", "gitlab=-")
    assert (done.code, [entry["check_name"] for entry in json.loads(done.out)]) == (0, ["built-in-runtime"])


def test_the_file_that_standard_output_goes_to_is_no_other_file() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "compiler")}
    command = [sys.executable, "-m", "trainc", "validate", "job.yaml", "--report", "json=/dev/stdout"]
    with open("out", "wb") as out:
        done = subprocess.run(command, env=environment, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, Path("out").read_text()) == (2, "")
    assert "is standard output" in done.stderr


REFUSED = [
    pytest.param(["validate", "--report", "junit"], "the file is missing: use junit=FILE", id="no file"),
    pytest.param(["validate", "--report", "junit="], "the file is missing: use junit=FILE", id="an empty file"),
    pytest.param(
        ["validate", "--report", "xml=a"], '"xml" is not a report format: use text, json, junit', id="no format"
    ),
    pytest.param(["validate", "--report", "junit=job.yaml", "job.yaml"], "job.yaml is not a report", id="a given path"),
    pytest.param(["validate", "--report", "json=./job.yaml"], "job.yaml is not a report", id="an input"),
    pytest.param(
        ["validate", "--report", "json=objects.json"], "objects.json is not a report", id="a manifest in JSON"
    ),
    pytest.param(["build", "--report", "json=text", "-r", "text"], "text is not a report", id="a runtime"),
    pytest.param(["validate", "--report", "json=a", "--report", "junit=./a"], "./a is given twice", id="twice"),
    pytest.param(["validate", "--report", "json=."], ". cannot be written: it is a folder", id="a folder"),
    pytest.param(["validate", "--report", "json=text/a"], "text/a cannot be written: ", id="below a file"),
    pytest.param(["validate", "--report", "json=\x1b[31m/\n"], r"\x1b[31m/\n cannot", id="a hostile name"),
    pytest.param(
        ["validate", "--report", "json=-"], "- is standard output, which already carries the report", id="validate, -"
    ),
    pytest.param(
        ["build", "--report", "json=-"], "standard output, which already carries the manifests", id="build, -"
    ),
    pytest.param(
        ["build", "--report", "json=-", "-o", "o", "--check"], "which already carries the diff", id="build --check, -"
    ),
]


@pytest.mark.parametrize(("arguments", "why"), REFUSED)
def test_a_file_that_cannot_be_written_is_reported_first(arguments: list[str], why: str, project: Path) -> None:
    Path("text").write_text("text")
    Path("objects.json").write_text('{"apiVersion": "v1", "kind": "ConfigMap"}')
    Path("\x1b[31m").write_text("")
    before = {path: path.read_text() for path in project.iterdir()}
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert why in " ".join(done.err.split())
    assert {path: path.read_text() for path in project.iterdir()} == before


def test_a_file_that_the_system_refuses_in_the_end_is_2() -> None:
    done = run("validate", "job.yaml", "--report", f"json={'x' * 300}")
    assert (done.code, done.out) == (2, "")
    assert "cannot be written: File name too long" in " ".join(done.err.split())


@pytest.mark.skipif(os.geteuid() == 0, reason="a user other than root")
def test_a_read_only_folder() -> None:
    os.mkdir("locked", 0o500)
    done = run("validate", "job.yaml", "--report", "json=locked/a")
    assert (done.code, done.out) == (2, "")


def test_only_the_wanted_report_is_loaded() -> None:
    run("runtimes", "export", "-o", "runtimes")
    program = (
        "import sys\n"
        "sys.argv = ['trainc', 'build', 'job.yaml', '-r', 'runtimes']\n"
        "from trainc.cli import run\n"
        "run()\n"
        "print([name for name in sys.modules if 'report' in name], file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "compiler")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stderr.replace("'", '"')) == []
