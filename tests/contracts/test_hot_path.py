"""What a build imports: each module costs every start a quarter of a millisecond, and some of Python's own much more.

The lists are exact: a module that a good torch job can do without is imported by whoever needs it. What joins a list
needs a reason in its commit.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PYTHONIOENCODING": "utf-8"}
PROGRAM = """
import os, sys
from trainc.cli import entry
os._exit = lambda code: print(code, *sys.modules, file=sys.stderr)
entry()
"""
OTHERS = {
    *(
        "__future__",
        "collections",
        "contextlib",
        "copyreg",
        "enum",
        "functools",
        "gc",
        "importlib",
        "itertools",
        "json",
    ),
    *("keyword", "math", "operator", "re", "reprlib", "types", "typing", "warnings"),
    *("cython_runtime", "yaml"),
}
"""Packages and modules of others, on any Python: private ones apart, and those that Python itself starts with."""
OF_YAML = {
    *("yaml._yaml", "yaml.error", "yaml.events", "yaml.nodes", "yaml.tokens"),
    *("yaml.composer", "yaml.constructor", "yaml.emitter", "yaml.parser", "yaml.reader", "yaml.representer"),
    *("yaml.scanner", "yaml.serializer"),
}
"""The parts of PyYAML; those of the last two lines are stand-ins."""
OURS = {
    "trainc": (
        "compilation confine data declarations delivery diagnostics extensions inputs library listings objects "
        "pipeline plan reading records settings version"
    ),
    "trainc.checks": "job jobset rules runtime trainjob",
    "trainc.cli": "arguments build codes options",
    "trainc.emit": "order yaml",
    "trainc.frontends": "dialects",
    "trainc.kubernetes": "formats gostructs gotypes libyaml names objectmeta quantity resources trees violations",
    "trainc.kubernetes.documents": "aliases composer events refusals scalars streams yamlerror",
    "trainc.kubernetes.merge": "order",
    "trainc.kubernetes.structural": "nodes",
    "trainc.kubernetes.validation": "bare container env files findings job metadata mounts pod ports resources volumes",
    "trainc.passes": (
        "accelerate admit carry conform deliver framework gang initialize "
        "lint override resolve size store trainer verify"
    ),
    "trainc.lint": "signs",
    "trainc.frameworks": "",
    "trainc.frameworks.torch": "torchrun",
}
"""The modules of trainc, by package, which is one of them itself."""


def modules(program: str, *arguments: str) -> list[str]:
    """What a process has imported in the end."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=60)
    return done.stderr.split()


def test_what_a_build_imports() -> None:
    code, *imported = modules(PROGRAM, "build", "golden/llm-finetune-4x8/input.yaml")
    of_python = modules("import sys; print(*sys.modules, file=sys.stderr)")
    assert code == "0"
    ours = {f"{package}.{name}" for package, names in OURS.items() for name in names.split()}
    assert {name for name in imported if name.split(".")[0] == "trainc"} == ours | OURS.keys()
    assert {name for name in imported if name.startswith("yaml.")} == OF_YAML
    roots = {name.split(".")[0] for name in set(imported) - set(of_python)}
    assert {name for name in roots if not name.startswith("_") or name == "__future__"} - OTHERS == {"trainc"}
