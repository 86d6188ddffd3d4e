#!/usr/bin/env python3
"""Build the playground, trainc in a browser: `make playground`.

    make_playground.py FOLDER

Reads    playground/ with its npm packages, trainc, the packages that it needs, as they are installed here, and golden/.
Writes   FOLDER: the page, its scripts, Python for browsers, and app.zip, trainc with its dependencies. PyYAML is there
         without libyaml, whose extension a browser cannot load.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from importlib import metadata
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from make_gallery import PAIRS
from packaging.requirements import Requirement

from trainc.base.releases import RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "playground"
PYTHON: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
LOADED: Final = ("app.zip", "pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip", "pyodide/pyodide.asm.mjs")
"""The files whose download the page shows."""
SHOWN: Final = ("input.yaml", "trainc.yaml", "expected.yaml", "expected.txt", "migrated.yaml")
"""The files of an example."""
PATCH: Final = re.compile(r"^( *)path: (\S+\.yaml)$", re.MULTILINE)
"""A patch file in trainc.yaml."""
DATE: Final = (1980, 1, 1, 0, 0, 0)


def packages() -> Iterator[tuple[str, Path]]:
    """Yield the files of app.zip: trainc, its data, its dependencies, and the module that answers the page."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for folder, inside in {"compiler/trainc": "trainc", **included}.items():
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{inside}/{path.relative_to(ROOT / folder).as_posix()}", path
    pending, done = [*project["project"]["dependencies"]], set[str]()
    while pending:
        requirement = Requirement(pending.pop())
        if requirement.name in done or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        done.add(requirement.name)
        pending += metadata.requires(requirement.name) or []
        for file in metadata.files(requirement.name) or ():
            if file.suffix == ".py" and ".." not in file.parts:
                yield file.as_posix(), Path(str(file.locate()))
    yield "trainc_page.py", SOURCE / "src" / "trainc_page.py"


def write_app(path: Path) -> None:
    """Write app.zip: the same files give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as app:
        for name, file in packages():
            app.writestr(zipfile.ZipInfo(name, DATE), file.read_bytes(), zipfile.ZIP_DEFLATED, 9)


def examples() -> dict[str, dict[str, Any]]:
    """Return the golden cases that the page can show, by name: those of the gallery first."""
    titles = {pair.case: pair.title for pair in PAIRS}
    names = sorted(path.parent.name for path in (ROOT / "golden").glob("*/input.yaml"))
    found = {}
    for name in sorted(names, key=lambda name: [*titles, name].index(name)):
        group = "Gallery" if name in titles else "Errors" if name.startswith("wrong-") else "Others"
        if shown := example(ROOT / "golden" / name):
            found[name] = {"group": group, "title": titles.get(name, name), **shown}
    return found


def example(folder: Path) -> dict[str, Any] | None:
    """Return a golden case; None if it has files or options that the page does not have."""
    text = (folder / "input.yaml").read_text(encoding="utf-8")
    second = [*text.splitlines(), "", ""][1]
    words = shlex.split(second.removeprefix("# $ trainc build input.yaml")) if second.startswith("# $ ") else []
    given = dict(zip_longest(words, words[1:], fillvalue=""))
    release, environment = given.pop("--trainer-version", ""), given.pop("--env", "")
    settings, output = folder / "trainc.yaml", folder / "expected.yaml"
    shown = settings.read_text(encoding="utf-8") if settings.exists() else ""
    patches = {path for _, path in PATCH.findall(shown)}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if files - {*SHOWN, *patches} or given.keys() - {"--legacy", release, environment}:
        return None
    return {
        "input": text,
        "settings": PATCH.sub(lambda field: inlined(field[1], folder / field[2]), shown),
        "output": output.read_text(encoding="utf-8") if output.exists() else "",
        "legacy": "--legacy" in given,
        "release": release,
        "environment": environment,
    }


def inlined(indent: str, patch: Path) -> str:
    """Return the field of trainc.yaml that has the content of a patch file."""
    return f"{indent}patch:\n" + textwrap.indent(patch.read_text(encoding="utf-8").rstrip(), f"{indent}  ")


def main(words: list[str]) -> None:
    """Write the playground, and print the sizes of the files."""
    folder = Path(words[0])
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pyodide").mkdir(parents=True)
    for name in PYTHON:
        shutil.copyfile(SOURCE / "node_modules" / "pyodide" / name, folder / "pyodide" / name)
    for name in ("index.html", "style.css", "worker.js"):
        shutil.copyfile(SOURCE / "src" / name, folder / name)
    output = f"--outfile={(folder / 'main.js').resolve()}"
    subprocess.run(["npm", "run", "--silent", "build", "--", output], cwd=SOURCE, check=True)
    write_app(folder / "app.zip")
    about = {"releases": [each.name for each in RELEASES], "examples": examples()}
    (folder / "examples.json").write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
    sizes = {name: (folder / name).stat().st_size for name in LOADED}
    (folder / "files.json").write_text(json.dumps(sizes), encoding="utf-8")
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(path.read_bytes())
            packed = len(gzip.compress(path.read_bytes()))
            print(f"{path.relative_to(folder)}: {path.stat().st_size:,} bytes, {packed:,} gzipped")
    worker = (SOURCE / "src" / "sw.js").read_text(encoding="utf-8")
    (folder / "sw.js").write_text(worker.replace("VERSION", digest.hexdigest()[:16]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
