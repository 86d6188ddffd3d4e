"""Collect the inputs of same.py from three kinds of folders, as copies in a temporary folder.

golden       golden/<case>/input.yaml, with the other files of the case. The second line may hold the command, as in
             `# $ trainc build input.yaml --suspend`.
conformance  recorded cases: whole jobs in trainer-2.3/ and older/; and in *.jsonl files legacy jobs, YAML texts,
             templates of Jobs and pods. A template becomes a TrainingRuntime with a TrainJob.
corpus       *.jsonl files with a public manifest in each line (`name`, `text`).
"""

from __future__ import annotations

import base64
import json
import shlex
import shutil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WHOLE_JOBS: Final = ("trainer-2.3/*/*.yaml", "older/*/*/*.yaml")
COMMAND: Final = ["#", "$", "trainc", "build", "input.yaml"]


class Input(NamedTuple):
    """A manifest that both revisions compile."""

    name: str
    """Its source, for reports."""
    folder: Path
    """The working folder of the commands."""
    file: str
    """The manifest, relative to `folder`."""
    options: tuple[str, ...] = ()
    """Options of `build` that the input needs."""


def golden(source: Path, target: Path) -> Iterator[Input]:
    """Yield the golden cases."""
    for file in sorted(source.glob("*/input.yaml")):
        case = file.parent.name
        copy = shutil.copytree(file.parent, target / case)
        yield Input(f"golden/{case}", copy, file.name, _options(file.read_text("utf-8")))


def _options(text: str) -> tuple[str, ...]:
    """Return the options of the command in the second line of a golden input.

    >>> _options("# A story.\\n# $ trainc build input.yaml --suspend\\nkind: TrainJob\\n")
    ('--suspend',)
    """
    second = (text.splitlines() + [""] * 2)[1]
    words = shlex.split(second) if second.startswith("# $ ") else []
    return tuple(words[len(COMMAND) :]) if words[: len(COMMAND)] == COMMAND else ()


def conformance(source: Path, target: Path) -> Iterator[Input]:
    """Yield the recorded cases."""
    for pattern in WHOLE_JOBS:
        for file in sorted(source.glob(pattern)):
            path = file.relative_to(source)
            yield _written(f"conformance/{path}", target / path, file.read_bytes())
    for lines in sorted(source.rglob("*.jsonl")):
        path = lines.relative_to(source)
        for number, case in _cases(lines):
            if (text := _recorded(case)) is not None:
                name = f"conformance/{path}:{number}:{case['name']}"
                yield _written(name, target / path / f"{number}.yaml", text)


def corpus(source: Path, target: Path) -> Iterator[Input]:
    """Yield the public manifests."""
    for lines in sorted(source.rglob("*.jsonl")):
        path = lines.relative_to(source)
        for number, case in _cases(lines):
            text = _encoded(case["text"])
            yield _written(f"corpus/{path}:{number}:{case['name']}", target / path / f"{number}.yaml", text)


SOURCES: Final[dict[str, Callable[[Path, Path], Iterator[Input]]]] = {
    "golden": golden,
    "conformance": conformance,
    "corpus": corpus,
}


def _cases(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON Lines file with their line numbers.

    Recordings may contain unescaped control characters. After an unescaped line feed, an object continues on the next
    line. Raise ValueError if the file ends within an object.
    """
    pending, first = "", 0
    for number, line in enumerate(file.read_bytes().decode().split("\n"), start=1):
        first = first if pending else number
        pending += f"\n{line}" if pending else line
        try:
            case = json.loads(pending, strict=False)
        except ValueError:
            continue
        pending = ""
        yield first, case
    if pending.strip():
        raise ValueError(f"{file}:{first} is not JSON")


def _written(name: str, file: Path, text: bytes) -> Input:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text)
    return Input(name, file.parent, file.name)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _recorded(case: dict[str, Any]) -> bytes | None:
    """Return the manifest of a recorded case; None if the case has none."""
    given = case.get("input")
    if not isinstance(given, dict):
        return None
    if "text" in given:
        return _encoded(given["text"])
    if "base64" in given:
        return base64.b64decode(given["base64"])
    if "kind" in given:
        return _encoded(json.dumps(given))
    if "podSpec" in given:
        return _job({"spec": {"template": {"spec": given["podSpec"]}}}, {})
    if "spec" in given:
        return _job(given, case.get("jobsetSpec", {}))
    return None


def _job(template: dict[str, Any], jobset: dict[str, Any]) -> bytes:
    """Return a TrainingRuntime with one replicated job of this template, and a TrainJob that refers to it."""
    trainer = "trainer.kubeflow.org/v1alpha1"
    replicated = [{"name": "node", "replicas": 1, "template": template}]
    runtime = {
        "apiVersion": trainer,
        "kind": "TrainingRuntime",
        "metadata": {"name": "recorded", "namespace": "default"},
        "spec": {"template": {"spec": {"replicatedJobs": replicated, **jobset}}},
    }
    job = {
        "apiVersion": trainer,
        "kind": "TrainJob",
        "metadata": {"name": "js", "namespace": "default"},
        "spec": {"runtimeRef": {"name": "recorded", "kind": "TrainingRuntime"}},
    }
    return _encoded("\n---\n".join(json.dumps(document, indent=2) for document in (runtime, job)))
