"""A release of Trainer that does not exist: a copy of trainc with its rows, its schemas and its runtimes.

v2.5 renames a field of TrainJobs and one of runtimes, moves another one, gives one a default and one another type, and
removes one. Its rows are in two files of the package, and in a table of schemas/; the schemas and runtimes are those of
v2.3 and v2.4 with the changes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from running import Done

ROOT: Final = Path(__file__).parents[1]
ROWS: Final = {
    "releases.py": (
        (
            "RELEASES: Final = (V2_1, V2_2, V2_3, V2_4)",
            """V2_5: Final = V2_4._replace(
    name="2.5",
    tag="v2.5.0",
    read_in="code",
    announced=frozenset(),
    alpha=(),
    upgraded_from=frozenset({"2.3", "2.4"}),
    crds="trainer-2.5",
    runtimes="trainer-2.5",
    dialect="v2.5",
)
RELEASES: Final = (V2_1, V2_2, V2_3, V2_4, V2_5)""",
        ),
    ),
    "trainjob_dialects.py": (
        (
            """        {TrainJobForm.PROCESSES: Field(TrainJobForm.PROCESSES, rejects=_is_word)},
    ),
""",
            """        {TrainJobForm.PROCESSES: Field(TrainJobForm.PROCESSES, rejects=_is_word)},
    ),
    Dialect(
        "v2.5",
        "Trainer v2.5",
        "trainer-2.5",
        {
            ("spec", "trainer", "processesPerNode"): Field(TrainJobForm.PROCESSES),
            ("spec", "runPolicy", "suspend"): Field(("spec", "suspend")),
            TrainJobForm.DEADLINE: Field(TrainJobForm.DEADLINE, _number, str, rejects=_is_integer),
        },
        lacks=(TrainJobForm.MANAGER,),
        runtime_fields={
            ("spec", "mlPolicy", "mpi", "processesPerNode"): Field(("spec", "mlPolicy", "mpi", PROCESSES_FIELD)),
        },
    ),
""",
        ),
    ),
}
"""The rows: in each file of `trainc/base`, texts with their replacements."""
SENTENCES: Final = {
    "crds": "TrainJobs have trainer.processesPerNode; trainer.numNodes is 1 by default",
    "dialect": "TrainJobs have processesPerNode",
}
"""The behaviours that the release changes, and what it does."""


@dataclass(frozen=True)
class Release:
    """A copy of trainc that knows the release."""

    root: Path
    process: subprocess.Popen[str]
    """It has the modules of the copy, and runs each command in a process that it forks."""

    def run(self, *args: str, cwd: Path, stdin: str = "") -> Done:
        """Run `trainc ARGS`."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([args, str(cwd), stdin]) + "\n")
        self.process.stdin.flush()
        return Done(*json.loads(self.process.stdout.readline()))


def create_release(root: Path) -> Release:
    """Return the copy in an empty folder: only the files with rows are copied, all others are links."""
    package, copy = ROOT / "compiler" / "trainc", root / "compiler" / "trainc"
    _linked(package, copy, without={"base", "__pycache__"})
    _linked(package / "base", copy / "base", without={*ROWS, "__pycache__"})
    for file, rows in ROWS.items():
        text = (package / "base" / file).read_text(encoding="utf-8")
        for old, new in rows:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (copy / "base" / file).write_text(text, encoding="utf-8")
    _linked(ROOT, root, without={"compiler", "schemas", "runtimes", ".git", ".venv", "tests"})
    _linked(ROOT / "schemas", root / "schemas", without={"behaviours.json"})
    behaviours = json.loads((ROOT / "schemas" / "behaviours.json").read_text(encoding="utf-8"))
    for field, sentence in SENTENCES.items():
        behaviours[field]["sentences"]["2.5"] = sentence
    (root / "schemas" / "behaviours.json").write_text(json.dumps(behaviours), encoding="utf-8")
    _linked(ROOT / "runtimes", root / "runtimes", without=set())
    shutil.copytree(ROOT / "runtimes" / "trainer-2.4", root / "runtimes" / "trainer-2.5")
    shutil.copytree(ROOT / "schemas" / "trainer-2.3", root / "schemas" / "trainer-2.5")
    changes = {
        "TrainJob": _trainjob_schema,
        "TrainingRuntime": _runtime_schema,
        "ClusterTrainingRuntime": _runtime_schema,
    }
    for kind, change in changes.items():
        schema = root / "schemas" / "trainer-2.5" / f"{kind}.json"
        schema.write_text(json.dumps(change(json.loads(schema.read_text(encoding="utf-8")))), encoding="utf-8")
    for runtime in (root / "runtimes" / "trainer-2.5").glob("*.yaml"):
        text = runtime.read_text(encoding="utf-8")
        runtime.write_text(text.replace("numProcPerNode", "processesPerNode"), encoding="utf-8")
    return Release(root, _started(root))


FORKS = """
import json, os, sys, tempfile
import trainc.cli, trainc.cli.build, trainc.cli.validate, trainc.compilation
for line in sys.stdin:
    words, folder, text = json.loads(line)
    streams = [tempfile.TemporaryFile() for _ in range(3)]
    streams[0].write(text.encode())
    streams[0].seek(0)
    if not (process := os.fork()):
        os.chdir(folder)
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        sys.argv = ["trainc", *words]
        trainc.cli.entry()
    _, status = os.waitpid(process, 0)
    code, texts = os.waitstatus_to_exitcode(status), []
    for stream in streams[1:]:
        stream.seek(0)
        texts.append(stream.read().decode())
    print(json.dumps([code, *texts]), flush=True)
"""
"""A program that runs commands: each is a line with the arguments, the folder and the standard input."""


def _started(root: Path) -> subprocess.Popen[str]:
    # The folders of the package are links: no bytecode of the copy may be written beside the modules.
    bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(root / "bytecode")}
    environment = {**os.environ, **bytecode, "PYTHONPATH": str(root / "compiler")}
    return subprocess.Popen(
        [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def _linked(source: Path, target: Path, *, without: set[str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.name not in without:
            (target / entry.name).symlink_to(entry)


def _trainjob_schema(trainjob: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of v2.5 from that of v2.3."""
    spec = trainjob["properties"]["spec"]["properties"]
    trainer = spec["trainer"]["properties"]
    trainer["processesPerNode"] = trainer.pop("numProcPerNode")
    trainer["numNodes"]["default"] = 1
    spec["runPolicy"] = {"type": "object", "properties": {"suspend": spec.pop("suspend")}}
    spec["activeDeadlineSeconds"] = {"type": "string", "pattern": "^[0-9]+$"}
    del spec["managedBy"]
    return trainjob


def _runtime_schema(runtime: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of runtimes of v2.5 from that of v2.3."""
    mpi = runtime["properties"]["spec"]["properties"]["mlPolicy"]["properties"]["mpi"]["properties"]
    mpi["processesPerNode"] = mpi.pop("numProcPerNode")
    return runtime
