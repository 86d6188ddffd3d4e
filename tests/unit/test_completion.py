"""`trainc completion`: the scripts, and the completions that a shell gets."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from committing import commit, git
from files import write
from running import run

from trainc.cli.common import click_classes
from trainc.cli.common.group import COMMANDS
from trainc.cli.common.options import REPORTS
from trainc.cli.completion import SHELLS, kubectl
from trainc.cli.runtimes import SUBCOMMANDS

ROOT = Path(__file__).parents[2]
JOB = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: job-{}}}
spec: {{runtimeRef: {{name: plain}}}}
"""
CHECKED_BY = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_for_the_installed_command(shell: str) -> None:
    done = run("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert f"_TRAINC_COMPLETE={shell}_complete" in done.out
    assert done.out.endswith("\n")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_its_script(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(shell)
    (tmp_path / "script").write_text(run("completion", shell).out)
    subprocess.run([*CHECKED_BY[shell], tmp_path / "script"], check=True, timeout=60)


def test_an_unknown_shell_is_named_with_those_that_are_known() -> None:
    done = run("completion", "tcsh")
    assert (done.code, done.out) == (2, "")
    assert all(shell in done.err for shell in SHELLS)


def completed(words: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the completions that bash gets for a line's last word: `type,value`."""
    monkeypatch.setenv("_TRAINC_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    done = run()
    assert (done.code, done.err) == (0, "")
    return set(done.out.splitlines())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("trainc ", {f"plain,{command}" for command in COMMANDS}),
        ("trainc va", {"plain,validate"}),
        ("trainc build --f", {"plain,--format", "plain,--field-validation", "plain,--follow-links"}),
        ("trainc build --format ", {"plain,yaml", "plain,json"}),
        ("trainc build jo", {"file,jo"}),
        ("trainc build -r run", {"file,run"}),
        ("trainc build -o ren", {"dir,ren"}),
        ("trainc validate jobs/", {"file,jobs/"}),
        ("trainc pods --format ", {"plain,table", "plain,json"}),
        ("trainc pods jo", {"file,jo"}),
        ("trainc runtimes ", {f"plain,{name}" for name in SUBCOMMANDS}),
        ("trainc runtimes pu", {"plain,pull"}),
        ("trainc runtimes show plain-", {"plain,plain-distributed"}),
        ("trainc runtimes show plain jo", {"file,jo"}),
        ("trainc runtimes export plain-", {"plain,plain-distributed"}),
        ("trainc runtimes pull --c", {"plain,--context", "plain,--check"}),
        ("trainc runtimes pull -o ru", {"dir,ru"}),
        ("trainc runtimes import an", {"file,an"}),
        ("trainc runtimes list jo", {"file,jo"}),
        (
            "trainc runtimes show torch-d",
            {f"plain,torch-distributed{which}" for which in ("", "-coscheduling", "-shm", "-volcano", "-with-cache")},
        ),
        ("trainc runtimes show ./", {"file,./"}),
        ("trainc build golden/sweep --only ", {"plain,baseline", "plain,lr-1e-3", "plain,lr-1e-4"}),
        ("trainc pods golden/sweep --only lr-1e-4", {"plain,lr-1e-4"}),
        ("trainc graph golden/none --only deno", {"plain,denoise"}),
        ("trainc diff examples/teams --env ", {"plain,dev", "plain,staging", "plain,prod"}),
        ("trainc diff examples/teams --env staging..", {"plain,staging..dev", "plain,staging..prod"}),
        ("trainc diff examples/teams --env staging..p", {"plain,staging..prod"}),
        ("trainc runtimes export -o ", {"dir,"}),
        ("trainc validate --format ", {f"plain,{form}" for form in REPORTS}),
        ("trainc validate --report ", {f"plain,{form}=" for form in REPORTS}),
        ("trainc build --report g", {"plain,github=", "plain,gitlab="}),
        ("trainc build --report junit=re", {"file,junit=re"}),
        (
            "trainc explain unknown-",
            {
                f"plain,unknown-{what}"
                for what in ("environment", "field", "kind", "priority-class", "queue-object", "rule", "version")
            },
        ),
        ("trainc build examples/teams --env ", {"plain,dev", "plain,staging", "plain,prod"}),
        ("trainc pods examples/teams --env p", {"plain,prod"}),
        ("trainc init ne", {"dir,ne"}),
        ("trainc completion ", {f"plain,{shell}" for shell in SHELLS}),
        ("trainc nonsense ", {f"plain,{command}" for command in COMMANDS}),
    ],
)
def test_what_is_offered(words: str, offered: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert completed(words, monkeypatch) == offered


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["va"], ["validate", ":4"]),
        (["build", "jobs/"], [":0"]),
        (["build", "-o", "ren"], [":16"]),
        (["build", "golden/sweep", "--only", "lr"], ["lr-1e-3", "lr-1e-4", ":4"]),
        ([], [*COMMANDS, ":4"]),
    ],
)
def test_kubectl_gets_the_words_and_cobras_directive(
    words: list[str], lines: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-trainc", *words])
    kubectl()
    assert capfd.readouterr() == ("".join(f"{line}\n" for line in lines), "")


def test_names_are_read_from_a_bounded_number_of_files(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click_classes, "FILES", 20)
    for number in range(25):
        (empty_folder / f"{number:04}.yaml").write_text(JOB.format(number))
    assert len(completed("trainc build --only ", monkeypatch)) == 20
    (empty_folder / "0000.yaml").write_text(JOB.format("big") + "#" * click_classes.SIZE)
    assert completed("trainc build --only ", monkeypatch) == {""}


def test_other_files_do_not_hide_the_jobs(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages of another program, as in node_modules, are many files, and some of them are large."""
    (empty_folder / "build").mkdir()
    for number in range(300):
        (empty_folder / "build" / f"{number:04}.json").write_text("{}")
    (empty_folder / "build" / "index.json").write_text("{}" + " " * click_classes.SIZE)
    (empty_folder / "mnist.yaml").write_text(JOB.format("mnist"))
    assert completed("trainc build --only ", monkeypatch) == {"plain,job-mnist"}


def test_the_names_are_those_of_the_files_that_a_build_reads(empty_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(empty_root / "trainc.yaml", "sources: [jobs]\nexclude: [vendor/]\noutput: jobs/rendered\n")
    for path in ("jobs/mnist", "jobs/vendor/other", "jobs/rendered/old", "another"):
        write(empty_root / f"{path}.yaml", JOB.format(Path(path).name))
    assert completed("trainc build --only ", monkeypatch) == {"plain,job-mnist"}
    assert completed("trainc build another.yaml --only ", monkeypatch) == {"plain,job-another"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("trainc diff ", {"file,", "plain,HEAD", "plain,main", "plain,v1"}),
        ("trainc diff ma", {"file,ma", "plain,main"}),
        ("trainc diff v1..ma", {"file,v1..ma", "plain,v1..main"}),
        ("trainc diff v1...HEA", {"file,v1...HEA", "plain,v1...HEAD"}),
        ("trainc diff main -- ma", {"file,ma"}),
    ],
)
def test_revisions(words: str, offered: set[str], empty_repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit()
    git("tag", "v1")
    assert completed(words, monkeypatch) == offered


def test_outside_of_a_repository_there_are_no_revisions(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed("trainc diff HEA", monkeypatch) == {"file,HEA"}


def test_pinned_runtimes_are_offered(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty_folder / "runtimes").mkdir()
    for name in ("team-torch.yaml", "trainingruntime_team-x.yaml", "team.txt", ".trainc-runtimes"):
        (empty_folder / "runtimes" / name).touch()
    assert completed("trainc runtimes show team", monkeypatch) == {"plain,team-torch"}


def test_no_compiler_is_imported_for_a_completion() -> None:
    """The user waits for it."""
    program = (
        "import os, sys\n"
        "os.environ |= {'_TRAINC_COMPLETE': 'bash_complete', 'COMP_WORDS': 'trainc ', 'COMP_CWORD': '1'}\n"
        "sys.argv = ['trainc']\n"
        "from trainc.cli import run\n"
        "run()\n"
        "print(*(name for name in sys.modules if name.startswith(('trainc.', 'yaml', 'json'))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "compiler", capture_output=True, text=True, check=True, timeout=60
    )
    loaded = done.stdout.splitlines()[-1].split()
    others = {name for name in loaded if not name.startswith("trainc.cli")}
    names = ("declarations", "kinds", "kueue_releases", "option_rows", "records", "releases", "trainjob_dialects")
    assert others == {"trainc.base", *(f"trainc.base.{name}" for name in names), "trainc.emit"}
