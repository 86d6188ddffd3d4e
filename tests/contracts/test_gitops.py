"""The commands of docs/gitops.md run in order in a new repository and print the page's output.

A ```console block contains commands after `$ ` (a trailing `\\` continues the command) and all their output. A line
`...` matches any lines, and `...` at the end of a line matches the rest of it. A ```sh block needs a cluster or a
registry: this module checks its grammar and that its files exist; test_kubectl.py runs the parts that need none. A
```yaml block that starts with `# PATH` is that file: one in integrations/ must contain it, any other is written.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gitops.md"
FIRST = "Set up a repository"
"""The section that every other section starts with, unless it has its own folder here."""
BEGIN = {
    "kustomize": "integrations/kustomize",
    "kpt": "integrations/kpt",
    "Argo CD": "golden/llm-finetune-4x8/input.yaml",
}
"""The source of the folder in which a section's commands run: a file, or a folder's content."""
MAY_BE_MISSING = ("kustomize", "kpt")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    kind: str
    text: str


def sections() -> dict[str, list[Block]]:
    """Return the blocks of each section, by heading."""
    parts = (part.partition("\n") for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:])
    return {title: [Block(*found) for found in FENCE.findall(text)] for title, _, text in parts}


SECTIONS = sections()


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Return each command of a console with its output."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command = re.match(r"(?:.*\\\n)*.*\n", part)
        assert command is not None
        yield command[0].rstrip("\n"), part[command.end() :]


def pattern(printed: str) -> str:
    """Return a pattern for expected output, in which `...` is any lines or the rest of a line."""
    lines = []
    for line in printed.splitlines():
        if line == "...":
            lines.append(r"(?:.*\n)*?")
        elif line.endswith("..."):
            lines.append(re.escape(line.removesuffix("...")) + r".*\n")
        else:
            lines.append(re.escape(line) + r"\n")
    return "".join(lines)


class Shell:
    """A shell in a new folder. Each command starts in the folder where the previous one ended."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "repository"
        self.folder.mkdir()
        self.last = home / "last"
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "GIT_CONFIG_GLOBAL": os.devnull,
        } | {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def run(self, command: str) -> str:
        script = f"trap 'pwd > {self.last}' EXIT\n{command}\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        self.folder = Path(self.last.read_text().strip())
        # kustomize writes trailing spaces, which the page does not contain.
        return re.sub(r"[ \t]+$", "", done.stdout, flags=re.M)

    def carry_out(self, blocks: list[Block]) -> None:
        for block in blocks:
            if block.kind == "console":
                for command, printed in commands(block.text):
                    found = self.run(command)
                    assert re.fullmatch(pattern(printed), found), f"$ {command}\n{found}"
            elif (file := shown(block)) and not file.startswith("integrations/"):
                (self.folder / file).write_text(block.text.partition("\n")[2])


def shown(block: Block) -> str:
    """Return the file that a block shows."""
    first = re.match(r"# (\S+)\n", block.text)
    return first[1] if block.kind == "yaml" and first else ""


@pytest.mark.parametrize(
    "section", [title for title, blocks in SECTIONS.items() if any(b.kind == "console" for b in blocks)]
)
def test_the_commands_of(section: str, tmp_path: Path) -> None:
    blocks = SECTIONS[section]
    words = {word for block in blocks if block.kind == "console" for word in block.text.split()}
    for tool in MAY_BE_MISSING:
        if tool in words and shutil.which(tool) is None:
            pytest.skip(f"{tool} is not on the PATH")
    shell = Shell(tmp_path)
    if section in BEGIN:
        begin = ROOT / BEGIN[section]
        if begin.is_dir():
            shutil.copytree(begin, shell.folder, dirs_exist_ok=True)
        else:
            shutil.copy(begin, shell.folder)
    elif section != FIRST:
        shell.carry_out(SECTIONS[FIRST])
    shell.carry_out(blocks)


ALL = [block for blocks in SECTIONS.values() for block in blocks]


@pytest.mark.parametrize("block", [block for block in ALL if block.kind == "sh"])
def test_a_block_that_needs_a_cluster_is_a_shell_script_with_existing_files(block: Block) -> None:
    subprocess.run(["bash", "-n", "-c", block.text], check=True, timeout=10)
    assert [path for path in re.findall(r"integrations/\S+", block.text) if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("block", [block for block in ALL if shown(block).startswith("integrations/")])
def test_a_shown_part_of_a_file_is_in_the_file(block: Block) -> None:
    assert block.text.partition("\n")[2] in (ROOT / shown(block)).read_text()


def test_every_block_has_a_checked_kind() -> None:
    assert {block.kind for block in ALL} <= {"console", "sh", "yaml", "json"}
    assert "```" not in FENCE.sub("", PAGE.read_text())


def test_the_links_have_targets() -> None:
    text = PAGE.read_text()
    titles = re.findall(r"^##+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in anchors
        elif "://" not in target:
            assert (PAGE.parent / target.partition("#")[0]).exists(), target
