"""`make bench-stages`: the processor time of a TrainJob by stage.

Compile generated jobs in this process, as the command does: read files, read and sort documents, run each stage of
`STAGES`, do the rest of the compilation, write the manifest. Print Markdown: processor microseconds per job
(medians of the runs) and their share of the total. Measuring costs about a microsecond per row.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final
from unittest import mock

import inputs
from racing import head, line

from trainc import compilation
from trainc.base.kinds import COMPILED
from trainc.compilation.run import Options, start
from trainc.diagnostics import Diagnostic
from trainc.emit import yaml
from trainc.files import inputs as paths
from trainc.frontends.reading import Reading
from trainc.pipeline import stages

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.pipeline.plan import Plan

READ: Final = "reading files"
PARSE: Final = "reading and sorting documents"
REST: Final = "runtimes, order, rest of the compilation"
EMIT: Final = "writing the manifest"


def costs(folder: Path, runtimes: Path) -> dict[str, float]:
    """Return the processor seconds of one compilation by step, in execution order."""
    spent: dict[str, float] = defaultdict(float)
    before = time.process_time()
    files = [file for file in paths.read([str(folder)]) if not isinstance(file, Diagnostic)]
    spent[READ] = (read := time.process_time()) - before
    documents = Reading(kinds=COMPILED)
    for file in files:
        documents.add(file)
    spent[PARSE] = (parsed := time.process_time()) - read
    with mock.patch.object(stages, "STAGES", tuple(_timed(stage, spent) for stage in stages.STAGES)):
        result = compilation.compile_documents(documents, start(Options(runtimes=[str(runtimes)])))
    compiled = time.process_time()
    if result.failed or not result.jobs:
        raise SystemExit(f"the jobs do not compile: {result.diagnostics[:1]}")
    in_stages = sum(spent[stage.__name__] for stage in stages.STAGES)
    spent[REST] = compiled - parsed - in_stages
    yaml.render(result.objects)
    spent[EMIT] = time.process_time() - compiled
    return dict(spent)


def _timed(stage: Callable[[Plan], Plan], spent: dict[str, float]) -> Callable[[Plan], Plan]:
    def timed(plan: Plan) -> Plan:
        before = time.process_time()
        plan = stage(plan)
        spent[stage.__name__] += time.process_time() - before
        return plan

    return timed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--runtimes", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        names = inputs.runtime_names(args.runtimes)
        runtimes = inputs.folder_of_runtimes(Path(name) / "runtimes", names)
        folder = inputs.folder_of_jobs(Path(name) / "jobs", inputs.jobs(args.jobs, names))
        costs(folder, runtimes)
        runs = [costs(folder, runtimes) for _ in range(args.runs)]
        medians = {stage: statistics.median(run[stage] for run in runs) for stage in runs[0]}
        total = sum(medians.values())
        print(f"{args.jobs:,} TrainJobs, {args.runtimes} runtimes, {args.runs} runs:\n")
        print(head(("stage", "us per job", "share")))
        for stage, seconds in (*medians.items(), ("total", total)):
            print(line((stage, f"{seconds / args.jobs * 1e6:.1f}", f"{seconds / total:.1%}")))


if __name__ == "__main__":
    main()
