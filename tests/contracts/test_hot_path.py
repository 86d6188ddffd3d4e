"""The imports of a build. Each module costs a quarter of a millisecond per start, and some of Python's own much more.

The lists are exact: a module that a valid torch job does not need must be imported lazily. State the reason for each
addition in the commit message.
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
"""Modules outside of trainc, on every Python version, except private ones and those that Python imports itself."""
OF_YAML = {
    *("yaml._yaml", "yaml.error", "yaml.events", "yaml.nodes", "yaml.tokens"),
    *("yaml.composer", "yaml.constructor", "yaml.emitter", "yaml.parser", "yaml.reader", "yaml.representer"),
    *("yaml.scanner", "yaml.serializer"),
}
"""The modules of PyYAML; those in the last two lines are replacements."""
OURS = {
    "trainc": "budget compilation diagnostics emit files frontends kubernetes pipeline settings",
    "trainc.base": "data declarations kinds kueue_releases option_rows records releases trainjob_dialects",
    "trainc.pipeline": "checks frameworks library lint objects passes plan stages",
    "trainc.pipeline.checks": "cel created_jobs jobset runtime trainjob",
    "trainc.compilation": "plans projects results run sources",
    "trainc.cli": "build common",
    "trainc.cli.common": "arguments options printing",
    "trainc.emit": "yaml",
    "trainc.files": "confine inputs output_marks selection walk",
    "trainc.frontends": "extensions reading",
    "trainc.kubernetes": ("string_formats gotypes libyaml merge names objectmeta quantity trees violations"),
    "trainc.kubernetes.documents": "composer events scalars streams yamlerror",
    "trainc.kubernetes.structural": "nodes",
    "trainc.kubernetes.validation": (
        "combinators container env volume_files job metadata mounts pod ports resource_rules volumes"
    ),
    "trainc.pipeline.passes": (
        "accelerate admit carry conform deliver framework gang initialize "
        "lint override patch resolve size store trainer verify"
    ),
    "trainc.pipeline.lint": "triggers",
    "trainc.pipeline.frameworks": "",
    "trainc.pipeline.frameworks.torch": "torchrun",
    "trainc.settings": "model nested_projects",
}
"""The modules of trainc by package; the package itself is one of them."""
OF_THE_NOTE = {
    "trainc.compilation.built_in",
    "trainc.pipeline.runtime_owners",
    "trainc.base.texts",
    "trainc.reports.repeated",
    "trainc.reports",
    "trainc.reports.text",
}
"""The further modules of a build with a built-in runtime."""
PINNED = "runtimes/trainer-2.3/torch-distributed.yaml"


def modules(program: str, *arguments: str) -> list[str]:
    """Return the modules that a process has imported at its end."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=60)
    return done.stderr.splitlines()[-1].split()


def test_the_note_about_a_built_in_runtime_imports_the_text_report() -> None:
    job = "golden/llm-finetune-4x8/input.yaml"
    pinned = modules(PROGRAM, "build", job, "-r", PINNED)
    more = {name for name in set(modules(PROGRAM, "build", job)) - set(pinned) if name.startswith("trainc.")}
    assert more == OF_THE_NOTE


def test_a_project_imports_the_merge_of_layers_only_with_two_of_them(tmp_path: Path) -> None:
    golden = ROOT / "golden" / "llm-finetune-4x8" / "input.yaml"
    (tmp_path / "trainc.yaml").write_text("lint: {disable: [no-gang]}\n")
    (tmp_path / "job.yaml").write_text(golden.read_text())
    without = modules(PROGRAM, "build", str(golden), "--strict")
    one = modules(PROGRAM, "build", str(tmp_path))
    two = modules(PROGRAM, "build", str(tmp_path), "--strict")
    assert [any(name == "trainc.settings.effective" for name in each) for each in (without, one)] == [False, True]
    assert ["deepmerge" in each for each in (without, one, two)] == [False, False, True]


def test_a_good_job_imports_no_lint_rule(tmp_path: Path) -> None:
    """Also with limits of restarts, as the built-in runtimes have: a trigger tells them from those that multiply."""
    job = "kind: TrainJob\napiVersion: trainer.kubeflow.org/v1alpha1\nmetadata: {name: mnist}\n"
    (tmp_path / "job.yaml").write_text(f"{job}spec: {{runtimeRef: {{name: torch-distributed-shm}}}}\n")
    imported = modules(PROGRAM, "build", str(tmp_path / "job.yaml"))
    rules = {name for name in imported if name.startswith("trainc.pipeline.lint.")}
    assert rules == {"trainc.pipeline.lint.triggers"}


def test_what_a_build_imports() -> None:
    code, *imported = modules(PROGRAM, "build", "golden/llm-finetune-4x8/input.yaml", "-r", PINNED)
    of_python = modules("import sys; print(*sys.modules, file=sys.stderr)")
    assert code == "0"
    ours = {f"{package}.{name}" for package, names in OURS.items() for name in names.split()}
    assert {name for name in imported if name.split(".")[0] == "trainc"} == ours | OURS.keys()
    assert {name for name in imported if name.startswith("yaml.")} == OF_YAML
    roots = {name.split(".")[0] for name in set(imported) - set(of_python)}
    assert {name for name in roots if not name.startswith("_") or name == "__future__"} - OTHERS == {"trainc"}
