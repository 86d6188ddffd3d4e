#!/usr/bin/env python3
"""Build the site: `make site`.

    make_site.py ZENSICAL FOLDER

Reads    README.md, docs/, diagnostics/ and the other pages of `PAGES`; the configuration, overrides and npm packages in
         site/; ZENSICAL, the program.
Writes   FOLDER/source, the pages in the form that Zensical reads and the playground, and FOLDER/site, the site.

The pages are written for GitHub. On the site, a link to a file or a folder of the repository leads to a page that shows
it. Zensical reports links and anchors that do not exist, and `--strict` makes them errors.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import make_playground
import yaml
from make_picture import edited

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = (
    "*.md",
    "docs/**/*.md",
    "diagnostics/*.md",
    "golden/README.md",
    "bench/*.md",
    "examples/*/README.md",
)
INDEX: Final = "docs/README.md"
"""The page whose sections are the navigation."""
REVIEW: Final = "example-review.html"
"""The review of an edit of examples/teams, as `trainc diff --format html` writes it."""
PICTURE: Final = re.compile(r"!\[([^\]]*)\]\((docs/review\.png)\)")
"""The picture of that review, which links to it on the site."""
PLAYGROUND: Final = "playground/index.html"
LISTS: Final = "\n- **Failures**"
"""The start of the list of the home page, above which the site links to the playground."""
GALLERY: Final = re.compile(r"docs/gallery/(?P<case>[^/]+)\.md")
"""The pages with an input beside its output, in a table, as GitHub shows it."""
TABLE: Final = re.compile(r"<(table|tr|td valign=\"top\")>")
WIDE: Final = "---\nhide: [navigation, toc]\n---\n"
"""The metadata of a page that needs the whole width."""
LINK: Final = re.compile(r"\]\((?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
"""A link to a file of the repository."""
ITEM: Final = re.compile(r"[-*] |\d+\. ")
FENCE: Final = re.compile(r"`{3,}")
NOT_SEARCHED: Final = "---\nsearch: {exclude: true}\n---\n"
"""The metadata of a page that no search finds: the files would hide the documentation."""
LANGUAGES: Final = {".json": "json", ".lua": "lua", ".py": "python", ".yaml": "yaml", ".yml": "yaml"}
Nav = list[dict[str, Any]]


def pages() -> dict[str, str]:
    """Return the text of each page of the repository, by its path."""
    paths = sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def converted(name: str, text: str, known: dict[str, str]) -> tuple[str, set[str]]:
    """Return a page as Zensical reads it, and the files and folders that it links to and that are no pages.

    Args:
        name: the path of the page.
        text: its text, in GitHub's form.
        known: the pages, by path.
    """
    found: set[str] = set()

    def page_of(link: re.Match[str]) -> str:
        target, anchor = link["target"], link["anchor"] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
        if path in known or path.endswith(".png"):
            return link[0]
        if f"{path}/README.md" in known:
            return f"]({target.rstrip('/')}/README.md{anchor})"
        found.add(path)
        return f"]({posixpath.relpath(page_that_shows(path), posixpath.dirname(name) or '.')}{anchor})"

    lines = [LINK.sub(page_of, line) if prose else line for line, prose in _separated(text)]
    return "\n".join(lines) + "\n", found


def page_that_shows(path: str) -> str:
    """Return the path of the page for a file or a folder. Zensical skips names that begin with a dot."""
    if (ROOT / path).is_dir():
        return f"files/{path}/README.md"
    folder, _, name = path.rpartition("/")
    return posixpath.join("files", folder, f"{name.lstrip('.')}.md")


def _separated(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines, each with whether it is prose, and a blank line before a list that follows a paragraph.

    Markdown of GitHub needs no such line, Python-Markdown does.
    """
    fence, in_list, previous = "", False, ""
    for line in text.splitlines():
        marks = FENCE.match(line.lstrip())
        if fence:
            yield line, False
            fence = "" if line.strip() == fence else fence
        elif marks:
            fence = marks[0]
            yield line, False
        else:
            starts = bool(ITEM.match(line))
            if starts and not in_list and previous.strip():
                yield "", True
            in_list = starts or (in_list and bool(line.strip()))
            yield line, True
        previous = line


def shown(path: str) -> str:
    """Return a page that shows a file of the repository, or the files of a folder."""
    place = ROOT / path
    if place.is_file():
        return f"{NOT_SEARCHED}# `{path}`\n\n{_block(place)}"
    files = [each for each in sorted(place.rglob("*")) if each.is_file() and "__pycache__" not in each.parts]
    parts = [f"## `{each.relative_to(place).as_posix()}`\n\n{_block(each)}" for each in files]
    return "\n".join([f"{NOT_SEARCHED}# `{path}`\n", *parts])


def _block(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    longest = max(map(len, FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def navigation(text: str) -> Nav:
    """Return the sections of the index with the pages that they link to, each with the text of its first link."""
    nav: Nav = [{"Home": "README.md"}]
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        links: dict[str, str] = {}
        for label, target in re.findall(r"\[([^\]]+)\]\(([^)#\s]+)\)", body):
            links.setdefault(posixpath.normpath(posixpath.join("docs", target)), label)
        nav.append({title: [{label[0].upper() + label[1:]: _with_folder(path)} for path, label in links.items()]})
    nav[1:1] = [{"Playground": PLAYGROUND}, {"Documentation": INDEX}]
    return nav


def _with_folder(path: str) -> str | list[str]:
    """Return a page, or the index of a folder with the pages of the folder."""
    if not path.endswith("/README.md"):
        return path
    return [path, *(each for each in pages() if posixpath.dirname(each) == posixpath.dirname(path) and each != path)]


def write_source(source: Path) -> None:
    """Write the pages, the picture, and the files of other projects."""
    known = pages()
    pending: set[str] = set()
    for name, text in known.items():
        if name == "README.md":
            text = _home(text)  # noqa: PLW2901
        if gallery := GALLERY.fullmatch(name):
            text = _with_example(text, gallery["case"])  # noqa: PLW2901
        page, found = converted(name, text, known | {REVIEW: "", PLAYGROUND: ""})
        pending |= found
        _write(source / name, page)
    for path in sorted(pending):
        _write(source / page_that_shows(path), shown(path))
    shutil.copyfile(ROOT / "docs" / "review.png", source / "docs" / "review.png")
    assets = source / "assets"
    assets.mkdir()
    shutil.copyfile(ROOT / "site" / "site.css", assets / "site.css")
    shutil.copyfile(ROOT / "site/node_modules/mermaid/dist/mermaid.min.js", assets / "mermaid.min.js")
    _write(source / REVIEW, review())


def _home(text: str) -> str:
    """Return the home page with links to the review that it shows, and to the playground."""
    links = (
        f"[Try it in your browser]({PLAYGROUND}){{ .md-button .md-button--primary }}",
        "[Your first project](docs/first-project.md){ .md-button }",
        f"[See a review]({REVIEW}){{ .md-button }}",
    )
    linked = PICTURE.sub(rf"[![\1](\2)]({REVIEW})", text)
    before, start, after = linked.partition(LISTS)
    if linked == text or not start:
        raise SystemExit("README.md has no picture of the review or no list of failures: change PICTURE and LISTS")
    return f"{WIDE}{before}\n{' '.join(links)}\n{start}{after}"


def _with_example(text: str, case: str) -> str:
    """Return a page of the gallery with a link to the playground, and a table whose cells are read as Markdown."""
    link = f"[Open it in the playground](../../{PLAYGROUND}#example={case}){{ .md-button }}"
    before, start, after = text.partition("<table>")
    table = TABLE.sub(r"<\1 markdown>", start + after)
    return f"{WIDE}{before}{link}\n\n{table}"


def review() -> str:
    """Return the review of an edit of examples/teams."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "teams")
        edited(folder)
        command = [sys.executable, "-m", "trainc", "diff", "--format", "html"]
        return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(words: list[str]) -> int:
    """Build the site, and return the exit code of Zensical."""
    zensical, folder = words[0], Path(words[1]).resolve()
    source = folder / "source"
    shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    write_source(source)
    make_playground.main([str(source / "playground")])
    shutil.copytree(ROOT / "site" / "overrides", folder / "overrides")
    text = (ROOT / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    nav = yaml.safe_dump({"nav": navigation((ROOT / INDEX).read_text(encoding="utf-8"))}, sort_keys=False)
    config = folder / "mkdocs.yml"
    config.write_text(text + nav, encoding="utf-8")
    command: list[str | Path] = [zensical, "build", "--strict", "--config-file", config]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
