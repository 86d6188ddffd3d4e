"""The benchmark's workloads, each with a title and the commands that it compares.

Reads    the inputs that it generates (`inputs`, `peers`). Before the measurement, it verifies that the peers print the
         same objects as trainc, and ends the run if they do not.
Returns  `WORKS`, by their names for `--only`.
A peer that is not on the PATH is left out.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import inputs
import peers
from racing import Contestant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BARE: Final = "python -c pass"
FLOOR: Final = "python, reading and writing as much"
OURS: Final = "trainc build"
TENTH: Final = "trainc build, a tenth"
ONE_FILE: Final = "trainc build, all jobs in one file"
KUBECTL: Final = "kubectl kustomize"
KUSTOMIZE: Final = "kustomize build"
HELM: Final = "helm template, kubeconform"
REVIEW: Final = "trainc diff main..HEAD"
BOTH: Final = "trainc build of both sides"
WHOLE: Final = "trainc build of all environments to a folder"
DIFF: Final = "trainc diff"
EXPLAIN: Final = "trainc explain"
ERRORS: Final = "trainc validate, an error in each job"
FORMATS: Final = ("text", "markdown", "html", "json")
ENVIRONMENTS: Final = ("dev", "staging", "prod")
SETTINGS: Final = """\
sources: [jobs]
runtimes: {paths: [runtimes]}
environments:
  dev: {namespaceSuffix: -dev}
  staging: {namespaceSuffix: -staging}
  prod: {}
"""


class Work(NamedTuple):
    """A workload with its contestants."""

    title: str
    reference: str
    """The name of the contestant with ratio 1."""
    contestants: list[Contestant]


class Set(NamedTuple):
    """Jobs in a folder, and trainc's output for them."""

    jobs: list[inputs.Job]
    folder: Path
    options: list[str]
    printed: str

    @property
    def command(self) -> list[str]:
        """The command that prints the objects of all jobs."""
        return [peers.TRAINC, "build", str(self.folder), *self.options]

    @property
    def contestant(self) -> Contestant:
        """The command as a contestant."""
        return Contestant(OURS, self.command, size_of(self.folder), len(self.printed))

    def to_one_file(self, folder: Path) -> Contestant:
        """Return the contestant that compiles the same jobs from one file."""
        file = inputs.file_of_jobs(folder / "one-file" / "jobs.yaml", self.jobs)
        command = [peers.TRAINC, "build", str(file), *self.options]
        if peers.printed(command) != self.printed:
            raise SystemExit("the same jobs in one file compile to other objects")
        return Contestant(ONE_FILE, command, size_of(file), len(self.printed))

    def floor(self) -> Contestant:
        """Return the contestant that reads and writes the same number of bytes."""
        script = str(Path(__file__).with_name("floor.py"))
        command = [sys.executable, script, str(self.folder), str(len(self.printed))]
        return Contestant(FLOOR, command, size_of(self.folder), len(self.printed))


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def jobs(count: int) -> str:
    """Return a number of jobs as text."""
    return "One TrainJob" if count == 1 else f"{count:,} TrainJobs"


def made_jobs(folder: Path, count: int, runtimes: int) -> Set:
    """Return jobs on a number of generated runtimes; 0 selects the built-in runtime."""
    names, options = [inputs.BUILT_IN], []
    if runtimes:
        names = inputs.runtime_names(runtimes)
        options = ["--runtimes", str(inputs.folder_of_runtimes(folder / "runtimes", names))]
    chosen = inputs.jobs(count, names)
    below = inputs.folder_of_jobs(folder / "jobs", chosen)
    return Set(chosen, below, options, peers.printed([peers.TRAINC, "build", str(below), *options]))


def kustomizations(folder: Path, given: Set) -> list[Contestant]:
    """Return the installed ones of kustomize and kubectl as contestants."""
    tools = [(KUBECTL, "kubectl", "kustomize"), (KUSTOMIZE, "kustomize", "build")]
    ours = peers.objects(given.printed)
    bases = peers.bases_of(folder / "bases", given.jobs, given.options)
    root = peers.overlays(folder / "kustomize", given.jobs, ours, bases)
    found = []
    for name, tool, verb in tools:
        if path := shutil.which(tool):
            command = [path, verb, str(root)]
            text = peers.printed(command)
            peers.same_objects(ours, peers.objects(text), name)
            found.append(Contestant(name, command, size_of(root), len(text)))
    return found


def cold_start(folder: Path, count: int) -> Work:
    """A cold start on a built-in runtime."""
    given = made_jobs(folder, count, 0)
    bare = Contestant(BARE, [sys.executable, "-c", "pass"])
    return Work(
        f"{jobs(count)} on a built-in runtime, cold", KUBECTL, [bare, given.contestant, *kustomizations(folder, given)]
    )


def hundred(folder: Path, count: int) -> Work:
    """The folder of a typical team."""
    given = made_jobs(folder, count, 1)
    return Work(f"{jobs(count)}, one runtime", KUBECTL, [given.contestant, *kustomizations(folder, given)])


def thousand(folder: Path, count: int) -> Work:
    """A thousand jobs, one file each, like the overlays."""
    given = made_jobs(folder, count, 1)
    ours = [given.floor(), given.contestant, given.to_one_file(folder)]
    return Work(f"{jobs(count)}, one runtime, one file each", KUBECTL, [*ours, *kustomizations(folder, given)])


def runtimes(folder: Path, count: int) -> Work:
    """A thousand jobs on 20 runtimes."""
    given = made_jobs(folder, count, 20)
    ours = [given.floor(), given.contestant]
    return Work(f"{jobs(count)}, 20 runtimes, one file each", KUBECTL, [*ours, *kustomizations(folder, given)])


def validated(folder: Path, count: int) -> Work:
    """`trainc build`, which runs every check, compared with Helm piped into kubeconform with JobSet's schema."""
    given = made_jobs(folder, count, 1)
    contestants = [given.contestant, given.to_one_file(folder)]
    helm, kubeconform, bash = map(shutil.which, ("helm", "kubeconform", "bash"))
    if helm and kubeconform and bash:
        chart = peers.chart(folder / "chart", given.jobs, given.options)
        render = [helm, "template", "jobs", str(chart)]
        text = peers.printed(render)
        peers.same_objects(peers.objects(given.printed), peers.objects(text), "helm")
        check = f"'{kubeconform}' -strict -summary -schema-location '{peers.schemas(folder / 'schemas')}' -"
        command = [bash, "-o", "pipefail", "-c", f"'{helm}' template jobs '{chart}' | {check}"]
        if f"Valid: {len(given.jobs)}, Invalid: 0, Errors: 0, Skipped: 0" not in (summary := peers.printed(command)):
            raise SystemExit(f"kubeconform did not check every object: {summary}")
        contestants.append(Contestant(HELM, command, size_of(chart) + size_of(folder / "schemas"), len(text)))
    return Work(f"{jobs(count)}, built and validated", HELM, contestants)


def growth(folder: Path, count: int) -> Work:
    """Ten times as many jobs."""
    small, large = made_jobs(folder / "small", count // 10, 1), made_jobs(folder / "large", count, 1)
    contestants = [small.contestant._replace(name=TENTH), large.contestant, large.floor()]
    return Work(f"{jobs(count)} compared with a tenth of them", TENTH, contestants)


def foreign(folder: Path, count: int) -> Work:
    """Jobs in a repository with twenty times as many files of other tools; the peers have only the jobs."""
    given = made_jobs(folder, count, 1)
    inputs.folder_of_foreign(given.folder, 20 * count)
    reported = f"{20 * count:,} files without TrainJobs or runtimes were skipped\n"
    if peers.printed(given.command, reported=reported) != given.printed:
        raise SystemExit("the jobs compile to other objects among foreign files")
    ours = [given.floor(), given.contestant]
    title = f"{jobs(count)} among {20 * count:,} foreign YAML files"
    return Work(title, KUBECTL, [*ours, *kustomizations(folder, given)])


def review(folder: Path, count: int) -> Work:
    """A review of one edit to one of five runtimes, compared with building both sides from checkouts."""
    names = inputs.runtime_names(5)
    new = folder / "new"
    runtimes = inputs.folder_of_runtimes(new / "runtimes", names)
    inputs.folder_of_jobs(new / "jobs", inputs.jobs(count, names))
    git = ("git", "-C", str(new), "-c", "user.name=bench", "-c", "user.email=bench@example.com")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "old"), ("checkout", "-qb", "new")):
        peers.printed([*git, *arguments])
    old = Path(shutil.copytree(new, folder / "old", ignore=shutil.ignore_patterns(".git")))
    edited = runtimes / f"{names[0]}.yaml"
    edited.write_text(edited.read_text().replace("sizeLimit: ", "sizeLimit: 1", 1))
    peers.printed([*git, "commit", "-qam", "new"])
    revisions = ["/usr/bin/env", "-C", str(new), peers.TRAINC, "diff", "main..HEAD"]
    if " to change" not in (text := peers.printed(revisions)):
        raise SystemExit(f"the edit of a runtime changes no JobSet: {text}")
    build = " && ".join(f"'{peers.TRAINC}' build '{side}'" for side in (old, new))
    contestants = [
        Contestant(BOTH, ["/bin/sh", "-c", build], size_of(old) * 2),
        Contestant(REVIEW, revisions, size_of(old) * 2, len(text)),
    ]
    return Work(f"A review of {jobs(count)} after one edit of a runtime", BOTH, contestants)


def formats(folder: Path, count: int) -> Work:
    """A review of one edit of a runtime that changes every job in three environments, in each format."""
    old, new = folder / "old", folder / "new"
    for side in (old, new):
        runtimes = inputs.folder_of_runtimes(side / "runtimes", names := inputs.runtime_names(1))
        inputs.folder_of_jobs(side / "jobs", inputs.jobs(count, names))
        (side / "trainc.yaml").write_text(SETTINGS)
    edited = runtimes / f"{names[0]}.yaml"
    edited.write_text(edited.read_text().replace("sizeLimit: ", "sizeLimit: 1", 1))
    command = [peers.TRAINC, "diff", str(old), str(new)]
    builds = (f"'{peers.TRAINC}' build '{side}' --env {name}" for side in (old, new) for name in ENVIRONMENTS)
    size = size_of(old) + size_of(new)
    shutil.copytree(new, whole := folder / "whole")
    (whole / "trainc.yaml").write_text(f"{SETTINGS}output: rendered\n")
    contestants = [
        Contestant(BOTH, ["/bin/sh", "-c", " && ".join(builds)], size),
        Contestant(WHOLE, ["/usr/bin/env", "-C", str(whole), peers.TRAINC, "build"], size_of(new)),
    ]
    for form in FORMATS:
        text = peers.printed([*command, "--format", form])
        if form == FORMATS[0] and f"{3 * count:,} JobSets must be recreated" not in text:
            raise SystemExit(f"the edit of a runtime does not change every JobSet: {text[:200]}")
        contestants.append(Contestant(f"{DIFF} --format {form}", [*command, "--format", form], size, len(text)))
    return Work(f"A review of {jobs(count)} in three environments after one edit of a runtime", BOTH, contestants)


def edited(folder: Path, count: int) -> Work:
    """A review of two folders in which each job has two edits, whose effects `trainc diff` finds by experiment."""
    old = inputs.jobs(count)
    new = [job._replace(tag=f"{job.tag}-1", nodes=2 * job.nodes) for job in old]
    sides = [str(inputs.folder_of_jobs(folder / name, made)) for name, made in (("old", old), ("new", new))]
    command = [peers.TRAINC, "diff", *sides]
    if f"{count:,} to change" not in (text := peers.printed(command)):
        raise SystemExit(f"the edits do not change every JobSet: {text.partition(chr(10))[0]}")
    build = " && ".join(f"'{peers.TRAINC}' build '{side}'" for side in sides)
    size = sum(size_of(Path(side)) for side in sides)
    contestants = [
        Contestant(BOTH, ["/bin/sh", "-c", build], size),
        Contestant(DIFF, command, size, len(text)),
    ]
    return Work(f"A review of {jobs(count)}, each edited twice", BOTH, contestants)


def explained(folder: Path, count: int) -> Work:
    """The source of every field of all jobs, compared with building them."""
    given = made_jobs(folder, count, 1)
    command = [peers.TRAINC, "explain", str(given.folder), *given.options]
    text = peers.printed(command)
    explain = Contestant(EXPLAIN, command, size_of(given.folder), len(text))
    return Work(f"{jobs(count)}, every field explained", OURS, [given.contestant, explain])


def field(folder: Path, count: int) -> Work:
    """The source of one field, compared with building the job."""
    given = made_jobs(folder, count, 1)
    command = [peers.TRAINC, "explain", str(given.folder), "**.env[PET_NNODES].value", *given.options]
    if "spec.trainer.numNodes" not in (text := peers.printed(command)):
        raise SystemExit(f"the field has another source:\n{text}")
    explain = Contestant(EXPLAIN, command, size_of(given.folder), len(text))
    return Work(f"{jobs(count)}, one field explained", OURS, [given.contestant, explain])


def errors(folder: Path, count: int) -> Work:
    """Jobs with an error in a field of the pod, whose line `explain` finds, compared with building correct jobs."""
    given = made_jobs(folder, count, 1)
    wrong = [job._replace(env=(*job.env, ("A=B", ""))) for job in given.jobs]
    below = inputs.folder_of_jobs(folder / "wrong", wrong)
    command = ["/bin/sh", "-c", f"'{peers.TRAINC}' validate '{below}' --runtimes '{given.options[1]}' || test $? = 1"]
    if f"\n{count} errors" not in (text := peers.printed(command)):
        raise SystemExit(f"the jobs have other errors:\n{text}")
    validate = Contestant(ERRORS, command, size_of(below), len(text))
    return Work(f"{jobs(count)} with errors", OURS, [given.contestant, validate])


class Entry(NamedTuple):
    """A workload on the command line."""

    make: Callable[[Path, int], Work]
    """Return the workload for an empty folder and a number of jobs."""
    size: int
    """The number of jobs."""
    heavy: bool = False
    """Whether a run takes seconds."""


WORKS: Final[dict[str, Entry]] = {
    "one": Entry(cold_start, 1),
    "hundred": Entry(hundred, 100),
    "thousand": Entry(thousand, 1000, heavy=True),
    "runtimes": Entry(runtimes, 1000, heavy=True),
    "validated": Entry(validated, 1000, heavy=True),
    "growth": Entry(growth, 10000, heavy=True),
    "foreign": Entry(foreign, 1000, heavy=True),
    "review": Entry(review, 200),
    "formats": Entry(formats, 1000, heavy=True),
    "edited": Entry(edited, 1000, heavy=True),
    "field": Entry(field, 1),
    "errors": Entry(errors, 100),
    "explained": Entry(explained, 1000, heavy=True),
}


class Goal(NamedTuple):
    """A limit on the ratio of two measurements of the same run, of processor time or memory, or on seconds."""

    what: str
    against: str
    at_most: float
    measured: tuple[str, str]
    """The workload and the contestant."""
    reference: tuple[str, str] | None = None
    """None for a limit in seconds of wall time."""
    memory: bool = False


GOALS: Final[Sequence[Goal]] = (
    Goal("one TrainJob, cold", "`kubectl kustomize`", 1.0, ("one", OURS), ("one", KUBECTL)),
    Goal("100 TrainJobs, 1 runtime", "`kubectl kustomize`", 0.20, ("hundred", OURS), ("hundred", KUBECTL)),
    Goal("1,000 TrainJobs, 1 runtime", "`kubectl kustomize`", 0.10, ("thousand", OURS), ("thousand", KUBECTL)),
    Goal("1,000 TrainJobs, 20 runtimes", "`kubectl kustomize`", 0.12, ("runtimes", OURS), ("runtimes", KUBECTL)),
    Goal("1,000, built and validated", "`helm template`, `kubeconform`", 0.5, ("validated", OURS), ("validated", HELM)),
    Goal("10,000 TrainJobs", "its own 1,000", 10.5, ("growth", OURS), ("growth", TENTH)),
    Goal("memory at 10,000", "`kubectl kustomize` at 1,000", 1.5, ("growth", OURS), ("thousand", KUBECTL), memory=True),
    Goal(
        "1,000 among 20,000 foreign YAML files",
        "`kubectl kustomize` on the 1,000",
        0.35,
        ("foreign", OURS),
        ("foreign", KUBECTL),
    ),
    Goal("a review of 200 after one edit", "`trainc build` of both sides", 1.5, ("review", REVIEW), ("review", BOTH)),
    *(
        goal
        for form in FORMATS
        for name, ours in [(f"1,000 in three environments, {form}", ("formats", f"{DIFF} --format {form}"))]
        for goal in (
            Goal(name, "`trainc build` of both sides", 2.2, ours, ("formats", BOTH)),
            Goal(f"memory of {name}", "`trainc build` of one side", 3.0, ours, ("formats", WHOLE), memory=True),
        )
    ),
    Goal("1,000, each edited twice", "`trainc build` of both sides", 2.0, ("edited", DIFF), ("edited", BOTH)),
    Goal("one TrainJob, one field explained", "seconds", 0.3, ("field", EXPLAIN)),
    Goal("100 TrainJobs with errors", "seconds", 2.0, ("errors", ERRORS)),
)
