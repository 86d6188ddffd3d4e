"""The examples of all pages run and print what the pages show. `pages` describes their form.

Each section runs from top to bottom in a new git repository: it writes the files that it shows, runs the commands of
its consoles, and compares their output. With --snapshot-update, the new output replaces an old one without `...`.
"""

from __future__ import annotations

import doctest
import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml
from pages import PAGES, RENDERED, ROOT, SYNOPSIS, Block, Section, anchor, linked, sections
from running import run_in_terminal

SECTIONS: Final = {section.name: section for page in PAGES for section in sections(page)}
RUN: Final = ("console", "pycon", "python", RENDERED)
"""The languages of the blocks that are run."""
READ: Final[dict[str, Callable[[str], Any]]] = {"yaml": yaml.safe_load_all, "json": json.loads, "toml": tomllib.loads}
"""The languages of the blocks that a parser must accept."""
SHOWN: Final = ("sh", "text", "groovy", "mermaid", SYNOPSIS)
"""The languages of all other blocks."""
SETTINGS: Final = jsonschema.Draft202012Validator(json.loads((ROOT / "schemas/trainc/Settings.json").read_text()))
NOT_RUN: Final = {
    "code": "needs VS Code; make test-vscode starts the packed extension in Node",
    "docker": "needs a registry",
    "flux": "needs a cluster",
    "gh": "downloads a release",
    "helm": "needs a chart; test_kubectl.py runs the pipeline with a recorded answer",
    "kubectl": "needs a cluster; tests/cluster and test_kubectl.py run the commands of the pages",
    "pip": "needs a package index; tests/release installs the packages",
    "trainc diff --live": "starts kubectl, which needs a cluster; tests/cluster runs it",
    "uvx": "needs a package index; tests/release runs it with the wheel",
    "yq": "is not installed; the expression is jq's",
    "trainc runtimes pull": "starts kubectl, which needs a cluster; tests/cluster and test_kubectl.py run it",
}
"""The commands that are not run, each with the reason. A `sh` block has one of them; any other block is a console."""
MAY_BE_MISSING: Final = ("kustomize", "kpt")
"""The programs without which the sections that use them are skipped."""
IN: Final = re.compile(r"\b[Rr]un\b[^.:;]{0,80}? in(?: a git repository of)? \[[^\]]*\]\((?P<folder>[^)#]+)\)")
"""The sentence that names the folder whose files a section starts with."""
AFTER: Final = re.compile(r"\b[Cc]ontinues? from \[[^\]]*\]\((?P<page>[^)#]*)#?(?P<anchor>[^)]*)\)")
"""The sentence that names the section from which a section continues; without an anchor, the begin of a page."""
ANY: Final = re.compile(r"(?<!\])\.\.\.$", re.M)
"""The end of a line that matches any text; that of the synopsis `[PATH]...` is itself."""
SPECIAL: Final = re.compile(r"[|<>&;$`*?(){}~!\\#\[\n]")
"""Unquoted characters that need a shell."""


class Shell:
    """A terminal in a new git repository. Each command starts in the folder where the previous one ended."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = home / "repository"
        self.monkeypatch = monkeypatch
        self.last = home / "last"
        variables = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "GIT_CONFIG_GLOBAL": os.devnull,
        } | {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        self.folder.mkdir()
        self.run("git init --quiet --initial-branch=main")

    def run(self, command: str) -> str:
        """Return the output of a command: of trainc itself in this process, of anything else in bash."""
        if not SPECIAL.search(re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", command)):
            name, *words = shlex.split(command)
            if name == "trainc":
                self.monkeypatch.chdir(self.folder)
                return run_in_terminal(*words)
        script = f"trap 'pwd > {self.last}' EXIT\n{command}\n"
        bash = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        self.folder = Path(self.last.read_text().strip())
        # kustomize writes trailing spaces, which no page contains.
        return re.sub(r"[ \t]+$", "", bash.stdout, flags=re.M)

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def copy(self, source: Path, path: str = ".") -> None:
        # Copy with new times: git treats files of the same size and time as unchanged.
        if source.is_dir():
            shutil.copytree(source, self.folder / path, dirs_exist_ok=True, copy_function=shutil.copyfile)
        else:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, self.folder / path)


class Example:
    """The examples of a section, with the state that they share."""

    def __init__(self, shell: Shell, *, update: bool) -> None:
        self.shell = shell
        self.update = update
        self.names: dict[str, Any] = {}
        """The variables of Python examples."""

    def run(self, section: Section) -> None:
        """Prepare the folder of a section, and run its examples."""
        previous, folder = start(section)
        if previous:
            self.run(previous)
        elif folder:
            copy_to(self.shell, folder)
        for path in used(section):
            self.shell.copy(ROOT / path, path)
        for block in section.blocks:
            self.run_block(section.page, block)

    def run_block(self, page: str, block: Block) -> None:
        """Run a block, or write the file that it shows."""
        if block.language in ("console", RENDERED):
            for command, expected in block.commands():
                self.run_command(page, command, expected)
        elif block.file and not block.file.startswith("integrations/"):
            self.shell.write(block.file, block.text)
        elif block.language in ("pycon", "python"):
            self.shell.monkeypatch.chdir(self.shell.folder)
            run_python(block, page, self.names)

    def run_command(self, page: str, command: str, expected: str) -> None:
        """Run a command and compare its output. `cat FILE` of a file that does not exist shows a new file."""
        words = command.split()
        if words[0] == "cat" and not (self.shell.folder / words[1]).exists():
            self.shell.write(words[1], expected.removesuffix("\n") + "\n" * (expected[-2:] != "\n\n"))
            return
        printed = self.shell.run(command)
        if re.fullmatch(pattern(expected), printed):
            return
        if self.update and not ANY.search(expected):
            shown = (ROOT / page).read_text()
            line = f"$ {command}\n" if f"$ {command}\n{expected}" in shown else f"$ {command} -->\n"
            replace(ROOT / page, line + expected, line + printed)
            return
        pytest.fail(f"{page}\n$ {command}\n{printed}", pytrace=False)


def pattern(expected: str) -> str:
    """Return a pattern for expected output, in which `...` is any lines or the rest of a line."""
    lines = []
    for line in expected.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        elif ANY.search(line):
            lines.append(re.escape(line.removesuffix("...")) + r".*\n")
        else:
            lines.append(re.escape(line) + r"\n")
    return "".join(lines)


def start(section: Section) -> tuple[Section | None, str]:
    """Return the section from which a section continues, and the folder in whose copy it runs.

    The begin of the page has the defaults of all sections.
    """
    first, *_ = sections(section.page)
    for stated in (section, first):
        prose = " ".join(line for _, line in stated.prose)
        if found := IN.search(prose):
            return None, os.path.normpath(os.path.join(os.path.dirname(section.page), found["folder"]))
        if found := AFTER.search(prose):
            page = (
                os.path.normpath(os.path.join(os.path.dirname(section.page), found["page"]))
                if found["page"]
                else section.page
            )
            (previous,) = [each for each in sections(page) if anchor(each.title) == found["anchor"]]
            return (None if previous == section else previous), ""
    return None, ""


def copy_to(shell: Shell, folder: str) -> None:
    """Copy a folder of the repository. With the folders `before` and `after`, these are the branches of a change."""
    if not (ROOT / folder / "before").is_dir():
        shell.copy(ROOT / folder)
        return
    for branch, files in (("main", "before"), ("branch", "after")):
        shell.run(f"git checkout --quiet -B {branch}; rm -rf ./*")
        shell.copy(ROOT / folder / files)
        shell.run(f"git add --all; git commit --quiet --message {branch}; git update-ref refs/remotes/origin/main main")


def used(section: Section) -> Iterator[str]:
    """Yield the paths of the repository to which the section or the page's begin links and that an example contains."""
    texts = " ".join(block.text for block in section.blocks if block.language in RUN)
    first, *_ = sections(section.page)
    for path in {*linked(section), *linked(first)}:
        if re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w-])", texts):
            yield path


def run_python(block: Block, page: str, names: dict[str, Any]) -> None:
    """Run a Python example."""
    if block.language == "python":
        exec(compile(block.text, page, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
    names |= test.globs
    if report:
        pytest.fail("".join(report), pytrace=False)


def replace(page: Path, old: str, new: str) -> None:
    """Replace a part of a page; other processes may update other parts."""
    with page.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        text = file.read()
        if new in text:
            return
        assert text.count(old) == 1, f"{page}: the example occurs {text.count(old)} times"
        file.seek(0)
        file.write(text.replace(old, new))
        file.truncate()


def has_example(section: Section) -> bool:
    return any(block.language in RUN for block in section.blocks)


@pytest.mark.parametrize("name", [name for name, section in SECTIONS.items() if has_example(section)])
def test_a_section(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    section = SECTIONS[name]
    words = {word for block in section.blocks if block.language == "console" for word in block.text.split()}
    for tool in MAY_BE_MISSING:
        if tool in words and shutil.which(tool) is None:
            pytest.skip(f"{tool} on the PATH")
    Example(Shell(tmp_path, monkeypatch), update=request.config.option.update_snapshots).run(section)


BLOCKS: Final = [(section, block) for section in SECTIONS.values() for block in section.blocks]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_checked(page: str) -> None:
    known = {*RUN, *READ, *SHOWN}
    assert [f"{page}:{b.line}: {b.language}" for s, b in BLOCKS if s.page == page and b.language not in known] == []
    for section, block in BLOCKS:
        if section.page == page and block.language in READ:
            list(READ[block.language](block.text))
        if section.page == page and block.file.startswith("integrations/"):
            part = block.text.partition("\n")[2]
            assert part in (ROOT / block.file).read_text(), f"{page}:{block.line}"
        if section.page == page and block.file == "trainc.yaml":
            assert [error.message for error in SETTINGS.iter_errors(yaml.safe_load(block.text))] == []


def not_run(script: str) -> set[str]:
    """Return the entries of NOT_RUN that a script starts."""
    commands = re.split(r"\n|&&|\|\|?|;", script.replace("\\\n", " "))
    return {entry for entry in NOT_RUN for command in commands if f"{command.strip()} ".startswith(f"{entry} ")}


@pytest.mark.parametrize(
    ("section", "block"),
    [pytest.param(s, b, id=f"{s.page}:{b.line}") for s, b in BLOCKS if b.language == "sh"],
)
def test_a_script_is_not_run_for_a_listed_reason(section: Section, block: Block) -> None:
    subprocess.run(["bash", "-n", "-c", block.text], check=True, timeout=10)
    assert [path for path in re.findall(r"integrations/\S+", block.text) if not (ROOT / path).is_file()] == []
    assert not_run(block.text), "this script needs nothing that is missing: make it a console"


def test_every_listed_reason_is_needed() -> None:
    scripts = [block.text for _, block in BLOCKS if block.language in ("sh", SYNOPSIS)]
    assert {entry for script in scripts for entry in not_run(script)} == NOT_RUN.keys()
