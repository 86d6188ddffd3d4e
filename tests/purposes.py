"""A compilation for another purpose than that of `trainc.compile`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainc import CompiledJob, Result
from trainc.compilation import Compilation, compile_paths
from trainc.compilation.run import NO_OPTIONS, Options, Purpose, start
from trainc.pipeline.plan import Plan

ALL_RULES: Final = Purpose(others="read", all_rules=True)


def compile_for(purpose: Purpose, paths: Sequence[str], options: Options = NO_OPTIONS) -> Compilation:
    """Return the result of a run with a purpose."""
    run = start(options, purpose)
    run = run.with_project(paths) if options.settings is None else run.with_settings(options.settings)
    return compile_paths(paths, run)


def internal(result: Result) -> Compilation:
    """Return the value behind a public result, for tests of what it does not show."""
    return result._compilation


def plan_of(job: CompiledJob) -> Plan:
    """Return the plan of a compiled job."""
    return job._compiled.plan
