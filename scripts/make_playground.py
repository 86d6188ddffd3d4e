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
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from packaging.requirements import Requirement

from trainc.base.releases import RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "playground"
PYTHON: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
LOADED: Final = ("app.zip", "pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip", "pyodide/pyodide.asm.mjs")
"""The files whose download the page shows."""
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
    """Return the golden cases of one file, and perhaps a trainc.yaml, whose options the page has."""
    found = {}
    for folder in sorted((ROOT / "golden").iterdir()):
        if not folder.is_dir() or {path.name for path in folder.iterdir()} - {
            "input.yaml", "trainc.yaml", "expected.yaml", "expected.txt", "migrated.yaml",
        }:  # fmt: skip
            continue
        text = (folder / "input.yaml").read_text(encoding="utf-8")
        second = [*text.splitlines(), "", ""][1]
        words = shlex.split(second.removeprefix("# $ trainc build input.yaml")) if second.startswith("# $ ") else []
        release = words[words.index("--trainer-version") + 1] if "--trainer-version" in words else ""
        if set(words) - {"--legacy", "--trainer-version", release}:
            continue
        settings, output = folder / "trainc.yaml", folder / "expected.yaml"
        found[folder.name] = {
            "input": text,
            "settings": settings.read_text(encoding="utf-8") if settings.exists() else "",
            "output": output.read_text(encoding="utf-8") if output.exists() else "",
            "legacy": "--legacy" in words,
            "release": release,
        }
    return found


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
