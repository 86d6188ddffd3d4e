#!/usr/bin/env python3
"""Compare two revisions of this repository: the output of `build` and the diagnostics of `validate`.

    same.py OLD NEW [--golden DIR] [--conformance DIR] [--corpus DIR]
            [--old-options=OPTIONS] [--new-options=OPTIONS] [--timeout SECONDS] [--show N] [--repository DIR]

Reads    the two revisions from git, and the inputs (same_inputs.py). Golden inputs come from NEW unless a folder is
         given. Both revisions get the same files.
Does     builds a wheel of each revision and unpacks it in a temporary folder. Dependencies come from the environment of
         this interpreter. A worker for each revision (same_worker.py) runs `build` and `validate --format json`.
Compares exit statuses, the standard output of `build`, and the diagnostics of `validate`. It ignores the order of the
         diagnostics and the keys `message`, `help` and `file`, also in related places.
Prints   the number of compared inputs, and each difference.
Exits    with 0 without differences, 1 with differences, 2 if the revisions cannot be compared.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from same_inputs import SOURCES, Input

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
SHARED: Final = ROOT.parent / "shared"
MESSAGE_FIELDS: Final = {"message", "help", "file"}
"""Ignored keys of a diagnostic."""
BUILD_ONLY: Final = {"--argocd-replace", "--suspend"}
"""Options of golden inputs that `validate` does not have."""
DIFFERENT, UNCOMPARED = 1, 2
LINES, WIDTH = 24, 400
"""Limits of one printed diff: lines, and characters per line."""


class Answer(NamedTuple):
    """One revision's results for one input."""

    built: int
    """The exit status of `build`."""
    output: str
    validated: int
    """The exit status of `validate`."""
    diagnostics: list[str]
    """The text of each diagnostic, without the ignored keys."""


class Difference(NamedTuple):
    """One difference between the results for one input."""

    what: str
    diff: Sequence[str] = ()


def stop(message: str) -> NoReturn:
    """End without a comparison."""
    print(f"same.py: {message}", file=sys.stderr)
    raise SystemExit(UNCOMPARED)


def run(command: Sequence[str | Path], **options: Any) -> bytes:
    """Return the standard output of a command; end the program if the command fails."""
    done = subprocess.run(command, capture_output=True, check=False, **options)
    if done.returncode:
        stop(f"{shlex.join(map(str, command))} failed:\n{done.stderr.decode(errors='replace').strip()}")
    return bytes(done.stdout)


def export(repository: Path, revision: str, folder: Path) -> Path:
    """Write the files of a revision into a new folder named after its commit, and return the folder."""
    git = ("git", "-C", repository)
    commit = run([*git, "rev-parse", "--verify", f"{revision}^{{commit}}"]).decode().strip()
    target = folder / commit
    if not target.exists():
        packed = run([*git, "archive", "--format=tar", commit])
        target.mkdir(parents=True)
        run(["tar", "-x", "-f", "-", "-C", target], input=packed)
    return target


def install(tree: Path) -> Path:
    """Build a wheel of the tree, unpack it, which installs a pure wheel, and return the folder."""
    built, packages = (tree.with_name(f"{tree.name}-{what}") for what in ("wheel", "packages"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run([*pip, "wheel", "--no-deps", "--wheel-dir", built, tree])
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return packages


def collect(args: argparse.Namespace, tree: Path, folder: Path) -> list[Input]:
    """Return the inputs of all sources; print the number of inputs of each source."""
    defaults = {"golden": tree / "golden", "conformance": SHARED / "conformance", "corpus": SHARED / "corpus"}
    inputs: list[Input] = []
    for source, find in SOURCES.items():
        given: Path | None = getattr(args, source)
        chosen = given or defaults[source]
        if chosen.is_dir():
            found = list(find(chosen, folder / source))
            print(f"{source}: {len(found)} inputs")
            inputs += found
        elif given is not None:
            stop(f"--{source} {given} is not a folder")
        else:
            print(f"{source}: skipped, there is no folder {chosen}")
    if not inputs:
        stop("there are no inputs")
    return inputs


def answers(packages: Path, inputs: Sequence[Input], more: Sequence[str], seconds: int) -> list[Answer]:
    """Return the installed revision's answers to the inputs, in their order."""
    tasks = [
        {
            "folder": str(given.folder),
            "seconds": seconds,
            "commands": [
                ["build", given.file, *given.options, *more],
                ["validate", given.file, "--format", "json", *_validate_output(given.options), *more],
            ],
        }
        for given in inputs
    ]
    # -P keeps this script's folder off the path; a fixed hash seed makes both runs comparable.
    variables = {**os.environ, "PYTHONPATH": str(packages), "PYTHONHASHSEED": "0"}
    worker = Path(__file__).with_name("same_worker.py")
    lines = run([sys.executable, "-P", worker, packages], input=json.dumps(tasks).encode(), env=variables)
    return [
        Answer(built, output, validated, diagnostics(report))
        for (built, output), (validated, report) in map(json.loads, lines.splitlines())
    ]


def _validate_output(given: Sequence[str]) -> list[str]:
    return [option for option in given if option not in BUILD_ONLY]


def diagnostics(report: str) -> list[str]:
    """Return the sorted diagnostics of a JSON report without the ignored keys; the lines of any other report.

    >>> diagnostics('[{"id": "wrong-type", "line": 3, "message": "replicas is a number"}]')
    ['{"id": "wrong-type", "line": 3}']
    """
    try:
        entries = json.loads(report)
    except ValueError:
        return report.splitlines()
    return sorted(json.dumps(_without_messages(entry), sort_keys=True) for entry in entries)


def _without_messages(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_messages(item) for key, item in value.items() if key not in MESSAGE_FIELDS}
    return [_without_messages(item) for item in value] if isinstance(value, list) else value


def differences(old: Answer, new: Answer) -> Iterator[Difference]:
    """Yield the differences between two answers to one input."""
    for command, before, after in (("build", old.built, new.built), ("validate", old.validated, new.validated)):
        if before != after:
            yield Difference(f"exit status of {command}: {status(before)} before, {status(after)} after")
    if old.output != new.output:
        yield Difference("output of build", shortened(old.output.splitlines(), new.output.splitlines()))
    if old.diagnostics != new.diagnostics:
        yield Difference("diagnostics of validate", shortened(old.diagnostics, new.diagnostics, context=0))


def shortened(old: Sequence[str], new: Sequence[str], context: int = 3) -> list[str]:
    """Return a unified diff without its header, cut to LINES lines of WIDTH characters."""
    diff = list(difflib.unified_diff(old, new, n=context, lineterm=""))[2:]
    shown = [line if len(line) <= WIDTH else f"{line[:WIDTH]}..." for line in diff[:LINES]]
    return [*shown, f"... {len(diff) - LINES} more lines"] if len(diff) > LINES else shown


def status(code: int) -> str:
    """Return an exit status as text: a number, or the signal that ended the command."""
    return str(code) if code >= 0 else signal.Signals(-code).name


def statuses(codes: Sequence[int]) -> str:
    """Return the number of occurrences of each exit status, as text.

    >>> statuses([0, 1, 0])
    '2 exit with 0, 1 with 1'
    """
    counted = [f"{count:,} with {status(code)}" for code, count in sorted(Counter(codes).items())]
    return ", ".join(counted).replace(" with", " exit with", 1)


def compare(inputs: Sequence[Input], old: Sequence[Answer], new: Sequence[Answer], show: int) -> int:
    """Print the comparison and the differences; return the number of inputs that differ."""
    found = 0
    for given, before, after in zip(inputs, old, new, strict=True):
        listed = list(differences(before, after))
        found += bool(listed)
        for difference in listed if found <= show else ():
            print(f"\n{given.name}: {difference.what}")
            print("".join(f"  {line}\n" for line in difference.diff), end="")
    if found > show:
        print(f"\n... and {found - show} more inputs")
    lines = sum(answer.output.count("\n") for answer in new)
    print(f"\nbuild: {statuses([answer.built for answer in new])}; {lines:,} lines of output")
    reported = sum(len(answer.diagnostics) for answer in new)
    print(f"validate: {statuses([answer.validated for answer in new])}; {reported:,} diagnostics")
    print(f"{found} of {len(inputs)} inputs differ" if found else f"no difference in {len(inputs)} inputs")
    return found


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", help="a git revision")
    parser.add_argument("new", metavar="NEW", help="a git revision")
    parser.add_argument("--golden", type=Path, metavar="DIR", help="by default the golden inputs of NEW")
    parser.add_argument("--conformance", type=Path, metavar="DIR", help="by default ../shared/conformance")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="by default ../shared/corpus")
    for side in ("old", "new"):
        parser.add_argument(
            f"--{side}-options",
            default="",
            metavar="OPTIONS",
            help=f"additional options for {side.upper()}'s commands, as one argument: --{side}-options='--strict'",
        )
    parser.add_argument(
        "--timeout", type=int, default=60, metavar="SECONDS", help="time limit of one command; by default 60"
    )
    parser.add_argument("--show", type=int, default=20, metavar="N", help="show the first N inputs that differ")
    parser.add_argument("--repository", type=Path, default=ROOT, metavar="DIR", help="by default this repository")
    return parser.parse_args()


def main() -> int:
    """Compare the two revisions and return the exit status."""
    args = options()
    with tempfile.TemporaryDirectory(prefix="same-") as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name).resolve()
        old, new = (export(args.repository, revision, folder) for revision in (args.old, args.new))
        inputs = collect(args, new, folder / "inputs")
        trees = list(dict.fromkeys((old, new)))
        packages = dict(zip(trees, pool.map(install, trees), strict=True))
        more = [shlex.split(words) for words in (args.old_options, args.new_options)]
        sides = ((packages[tree], inputs, words, args.timeout) for tree, words in zip((old, new), more, strict=True))
        before, after = pool.map(lambda side: answers(*side), sides)
        return DIFFERENT if compare(inputs, before, after, args.show) else 0


if __name__ == "__main__":
    sys.exit(main())
