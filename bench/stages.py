"""`make bench-stages`: what a TrainJob costs in bulk, by stage; and what it costs where jobs are alike.

Compiles made jobs in this process, as the command would: files read, documents read and sorted, each stage of
`pipeline.STAGES`, what is left of a compilation, the manifest's text. Then the same with `trainc.moulds`, as `build`
does it: texts fitted to shapes, manifests poured, the pipeline for the first ones of a kind. Prints Markdown:
microseconds of the processor a job, medians of the runs, and the share of all. Taking the time costs about a
microsecond a row.
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

from trainc import compilation, pipeline
from trainc import inputs as paths
from trainc.diagnostics import Diagnostic
from trainc.emit import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.plan import Plan

READ: Final = "reading files"
PARSE: Final = "reading documents, sorting them"
REST: Final = "runtimes, order, the rest of compiling"
EMIT: Final = "the text of the manifest"
FIT: Final = "finding the shape"
POUR: Final = "moulds, pouring, the rest"
FIRST: Final = "the pipeline, for the first ones of a kind"


def costs(folder: Path, runtimes: Path) -> dict[str, float]:
    """Seconds of one compilation by what they went into, in the order of the work."""
    spent: dict[str, float] = defaultdict(float)
    before = time.process_time()
    files = [file for file in paths.read([str(folder)]) if not isinstance(file, Diagnostic)]
    spent[READ] = (read := time.process_time()) - before
    documents = compilation.Read()
    for file in files:
        documents.add(file)
    spent[PARSE] = (parsed := time.process_time()) - read
    with mock.patch.object(pipeline, "STAGES", tuple(_timed(stage, spent) for stage in pipeline.STAGES)):
        result = compilation.compile_documents(documents, runtimes=[str(runtimes)])
    compiled = time.process_time()
    if result.failed or not result.jobs:
        raise SystemExit(f"the jobs are not compiled: {result.diagnostics[:1]}")
    in_stages = sum(spent[stage.__name__] for stage in pipeline.STAGES)
    spent[REST] = compiled - parsed - in_stages
    yaml.render(result.objects)
    spent[EMIT] = time.process_time() - compiled
    return dict(spent)


def costs_of_moulds(folder: Path, runtimes: Path) -> dict[str, float]:
    """The same of jobs that are alike."""
    before = time.process_time()
    files = [file for file in paths.read([str(folder)]) if not isinstance(file, Diagnostic)]
    read = time.process_time()
    documents = compilation.Read(as_text=True)
    for file in files:
        documents.add(file)
    fitted = time.process_time()
    spent: dict[str, float] = defaultdict(float)
    with mock.patch.object(pipeline, "run", _timed(pipeline.run, spent)):
        result = compilation.compile_documents(documents, runtimes=[str(runtimes)])
    result.manifests()
    poured = time.process_time()
    if result.failed or not result.texts:
        raise SystemExit(f"the jobs are not poured: {result.diagnostics[:1]}")
    return {READ: read - before, FIT: fitted - read, FIRST: spent["run"], POUR: poured - fitted - spent["run"]}


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
        for costs_of, title in ((costs, "each by itself"), (costs_of_moulds, "with moulds")):
            costs_of(folder, runtimes)
            runs = [costs_of(folder, runtimes) for _ in range(args.runs)]
            medians = {stage: statistics.median(run[stage] for run in runs) for stage in runs[0]}
            total = sum(medians.values())
            print(f"{args.jobs:,} TrainJobs, {args.runtimes} runtimes, {args.runs} runs, {title}:\n")
            print(head(("stage", "us a job", "of all")))
            for stage, seconds in (*medians.items(), ("all", total)):
                print(line((stage, f"{seconds / args.jobs * 1e6:.1f}", f"{seconds / total:.1%}")))
            print()


if __name__ == "__main__":
    main()
