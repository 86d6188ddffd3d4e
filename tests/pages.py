"""The documentation as data: the pages, their sections, and the examples in these.

Reads    README.md, CONTRIBUTING.md, SECURITY.md, docs/ and the READMEs of examples/, in the form below.
Returns  sections with their blocks, the files and commands of a block, and the command lines in prose.

Each section (`##`) runs from top to bottom in a new git repository.

1. A `console` block has commands after `$ ` (a trailing backslash continues a command) and all their output. A line
   `...` matches any lines, and `...` at the end of a line, but not `]...`, matches the rest of it. `$ cat FILE` shows
   a new file.
2. A block that begins with a path in a comment, such as `# jobs/finetune.yaml`, is that file. If the path is in
   `integrations/`, the block is a part of that file.
3. The `pycon` and `python` blocks of a section are one session.
4. A section starts with the files of the repository that it links to and that an example names. The sentence "Run the
   commands in [FOLDER]" starts it with a copy of the folder, and "This section continues from [HEADING]" with the
   result of another section, of this page or of another one. At the top of a page, both apply to all of its sections.
5. A `sh` block is not run. Use it only for commands that need a cluster, a registry or a package index: `NOT_RUN` in
   `contracts/test_documentation.py` lists them with the reason.

`make snapshots` writes the new output of commands whose output has no `...`, such as the options of a page of
docs/commands. `contracts/test_pages.py` checks command lines in prose, links, tables, the length of pages, and the
names of code in docs/architecture.md;
`contracts/test_reference.py` compares tables with the code.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = tuple(
    sorted(
        path.relative_to(ROOT).as_posix()
        for pattern in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "examples/*/README.md")
        for path in ROOT.glob(pattern)
    )
)
OUTPUT: Final = re.compile(r"<!-- \$ (.*) -->")
"""The comment before the output of a command that the page renders."""
END: Final = "<!-- $ -->"
RENDERED: Final = "rendered"
"""The language of such output."""
SYNOPSIS: Final = "synopsis"
"""The language of an indented block."""
FENCE: Final = re.compile(r"(```+)(\w*)")
COMMAND: Final = re.compile(r"\$ (?P<command>(?:.*\\\n)*.*\n)(?P<output>(?:(?!\$ ).*\n)*)")
"""A command of a console, with its output."""
FILE: Final = re.compile(r"(?:#|//) (?P<path>[\w./-]*[\w-]\.\w+|[\w./-]*/[\w.-]+)\n")
"""The first line of a block that shows a file."""


class Block(NamedTuple):
    """A block of a page, without its fences."""

    language: str
    text: str
    line: int

    @property
    def file(self) -> str:
        """The path of the file that the block shows; empty if it shows none."""
        shown = FILE.match(self.text)
        return shown["path"] if shown else ""

    def commands(self) -> Iterator[tuple[str, str]]:
        """Yield each command of a console, with its output."""
        for shown in COMMAND.finditer(self.text):
            yield shown["command"].rstrip("\n"), shown["output"]


class Section(NamedTuple):
    """A part of a page: from its begin, or from a heading of the second level, to the next one."""

    page: str
    title: str
    parts: tuple[Block | tuple[int, str], ...]
    """The blocks, and the lines of prose with their numbers."""

    @property
    def name(self) -> str:
        """The page and the title, for messages."""
        return f"{self.page}: {self.title}" if self.title else self.page

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks, fenced or indented."""
        return tuple(part for part in self.parts if isinstance(part, Block))

    @property
    def prose(self) -> tuple[tuple[int, str], ...]:
        """The lines of prose with their numbers; an empty one in place of each block."""
        return tuple((part.line, "") if isinstance(part, Block) else part for part in self.parts)


def sections(page: str) -> Iterator[Section]:
    """Yield the sections of a page; the first one has no title."""
    title, parts = "", list[Block | tuple[int, str]]()
    for part in _parts((ROOT / page).read_text(encoding="utf-8")):
        if not isinstance(part, Block) and part[1].startswith("## "):
            yield Section(page, title, tuple(parts))
            title, parts = part[1].removeprefix("## "), []
        parts.append(part)
    yield Section(page, title, tuple(parts))


def headings(page: str) -> Iterator[str]:
    """Yield the headings of a page."""
    for section in sections(page):
        for _, line in section.prose:
            if heading := re.fullmatch(r"#+ (.+)", line):
                yield heading[1]


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w -]", "", plain).replace(" ", "-")


def anchors(page: str) -> set[str]:
    """Return the anchors of a page: those of its headings, and its own."""
    own = re.findall(r'<a id="([^"]+)">', (ROOT / page).read_text(encoding="utf-8"))
    return {*own, *map(anchor, headings(page))}


def links(section: Section) -> Iterator[tuple[int, str]]:
    """Yield the targets of the links in a section's prose, each with the number of its line."""
    for number, line in section.prose:
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
            yield number, target


def linked(section: Section) -> Iterator[str]:
    """Yield the files and folders of the repository to which a section links, as paths in the repository."""
    folder = posixpath.dirname(section.page)
    for _, target in links(section):
        path = posixpath.normpath(posixpath.join(folder, target.partition("#")[0]))
        if "://" not in target and not target.startswith("#"):
            yield path


def spans(section: Section) -> Iterator[tuple[int, str]]:
    """Yield the code spans of a section's prose, each with the number of its line."""
    first = next(iter(section.prose))[0]
    lines = dict(section.prose)
    text = "\n".join(lines.get(number, "") for number in range(first, max(lines) + 1))
    for span in re.finditer(r"(?<!`)(`+)(?!`)((?:(?!\n\n).)+?)(?<!`)\1(?!`)", text, re.DOTALL):
        yield first + text.count("\n", 0, span.start()), " ".join(span[2].split())


def _parts(text: str) -> Iterator[Block | tuple[int, str]]:
    """Yield the blocks and the lines of prose."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line, begin = lines[at], at + 1
        if fence := FENCE.fullmatch(line):
            at = lines.index(fence[1], begin) + 1
            yield Block(fence[2], _text(lines[begin : at - 1]), begin)
        elif (output := OUTPUT.fullmatch(line)) and line != END:
            at = lines.index(END, begin) + 1
            yield Block(RENDERED, _text([f"$ {output[1]}", *lines[begin : at - 1]]), begin)
        elif line.startswith("    ") and not lines[at - 1]:
            inside = [*takewhile(lambda each: each.startswith("    "), lines[at:])]
            at += len(inside)
            yield Block(SYNOPSIS, _text([each[4:] for each in inside]), begin)
        else:
            at += 1
            yield begin, line


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
