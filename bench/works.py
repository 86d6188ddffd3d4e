"""What is raced: the works of the benchmark, each a title and the commands that do it.

Reads    the inputs that it makes (`inputs`, `peers`), and what trainc makes of them: before anything is timed, the
         peers have printed the same objects as trainc, or the run ends.
Returns  `WORKS`, by the words that `--only` knows.
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


class Work(NamedTuple):
    """A piece of work, and who does it."""

    title: str
    reference: str
    """The name of the contestant whose median is 1 in the ratios."""
    contestants: list[Contestant]


class Set(NamedTuple):
    """Jobs in a folder, and what trainc prints for them."""

    jobs: list[inputs.Job]
    folder: Path
    options: list[str]
    printed: str

    @property
    def command(self) -> list[str]:
        """Prints the objects of all jobs."""
        return [peers.TRAINC, "build", str(self.folder), *self.options]

    @property
    def ours(self) -> Contestant:
        """The command as a contestant."""
        return Contestant(OURS, self.command, size_of(self.folder), len(self.printed))

    def to_one_file(self, folder: Path) -> Contestant:
        """The same jobs, all in one file."""
        file = inputs.file_of_jobs(folder / "one-file" / "jobs.yaml", self.jobs)
        command = [peers.TRAINC, "build", str(file), *self.options]
        if peers.printed(command) != self.printed:
            raise SystemExit("the same jobs in one file are compiled to something else")
        return Contestant(ONE_FILE, command, size_of(file), len(self.printed))

    def floor(self) -> Contestant:
        """As many bytes in and out."""
        script = str(Path(__file__).with_name("floor.py"))
        command = [sys.executable, script, str(self.folder), str(len(self.printed))]
        return Contestant(FLOOR, command, size_of(self.folder), len(self.printed))


def size_of(path: Path) -> int:
    """Bytes of a file, or of all below a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def jobs(count: int) -> str:
    """So many, in words."""
    return "One TrainJob" if count == 1 else f"{count:,} TrainJobs"


def made(folder: Path, count: int, runtimes: int) -> Set:
    """So many jobs on so many made runtimes; 0 is the stock one."""
    names, options = [inputs.STOCK], []
    if runtimes:
        names = inputs.runtime_names(runtimes)
        options = ["--runtimes", str(inputs.folder_of_runtimes(folder / "runtimes", names))]
    chosen = inputs.jobs(count, names)
    below = inputs.folder_of_jobs(folder / "jobs", chosen)
    return Set(chosen, below, options, peers.printed([peers.TRAINC, "build", str(below), *options]))


def kustomizations(folder: Path, given: Set) -> list[Contestant]:
    """kustomize, by itself and in kubectl, where they are installed."""
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


def one(folder: Path, count: int) -> Work:
    """A cold start, on a runtime that comes with trainc."""
    given = made(folder, count, 0)
    bare = Contestant(BARE, [sys.executable, "-c", "pass"])
    return Work(f"{jobs(count)} on a stock runtime, cold", KUBECTL, [bare, given.ours, *kustomizations(folder, given)])


def hundred(folder: Path, count: int) -> Work:
    """A folder as a team has it."""
    given = made(folder, count, 1)
    return Work(f"{jobs(count)}, one runtime", KUBECTL, [given.ours, *kustomizations(folder, given)])


def thousand(folder: Path, count: int) -> Work:
    """A thousand jobs, a file each, as the overlays are."""
    given = made(folder, count, 1)
    ours = [given.floor(), given.ours, given.to_one_file(folder)]
    return Work(f"{jobs(count)}, one runtime, a file each", KUBECTL, [*ours, *kustomizations(folder, given)])


def runtimes(folder: Path, count: int) -> Work:
    """As many jobs on 20 runtimes."""
    given = made(folder, count, 20)
    ours = [given.floor(), given.ours]
    return Work(f"{jobs(count)}, 20 runtimes, a file each", KUBECTL, [*ours, *kustomizations(folder, given)])


def validated(folder: Path, count: int) -> Work:
    """`trainc build` runs every check; Helm's output is checked against JobSet's schema, at the same time."""
    given = made(folder, count, 1)
    contestants = [given.ours, given.to_one_file(folder)]
    helm, kubeconform, bash = map(shutil.which, ("helm", "kubeconform", "bash"))
    if helm and kubeconform and bash:
        chart = peers.chart(folder / "chart", given.jobs, given.options)
        render = [helm, "template", "jobs", str(chart)]
        text = peers.printed(render)
        peers.same_objects(peers.objects(given.printed), peers.objects(text), "helm")
        check = f"'{kubeconform}' -strict -summary -schema-location '{peers.schemas(folder / 'schemas')}' -"
        command = [bash, "-o", "pipefail", "-c", f"'{helm}' template jobs '{chart}' | {check}"]
        if f"Valid: {len(given.jobs)}, Invalid: 0, Errors: 0, Skipped: 0" not in (said := peers.printed(command)):
            raise SystemExit(f"kubeconform has not checked every object: {said}")
        contestants.append(Contestant(HELM, command, size_of(chart) + size_of(folder / "schemas"), len(text)))
    return Work(f"{jobs(count)}, built and validated", HELM, contestants)


def growth(folder: Path, count: int) -> Work:
    """Ten times as many jobs."""
    small, large = made(folder / "small", count // 10, 1), made(folder / "large", count, 1)
    contestants = [small.ours._replace(name=TENTH), large.ours, large.floor()]
    return Work(f"{jobs(count)} beside a tenth of them", TENTH, contestants)


def review(folder: Path, count: int) -> Work:
    """One edit of one of five runtimes, from git's objects; beside that, both sides built from checkouts."""
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
    if " JobSets change; " not in (said := peers.printed(revisions)):
        raise SystemExit(f"the edit of a runtime changes nothing: {said}")
    build = " && ".join(f"'{peers.TRAINC}' build '{side}'" for side in (old, new))
    contestants = [
        Contestant(BOTH, ["/bin/sh", "-c", build], size_of(old) * 2),
        Contestant(REVIEW, revisions, size_of(old) * 2, len(said)),
    ]
    return Work(f"A review of {jobs(count)} after one edit of a runtime", BOTH, contestants)


class Entry(NamedTuple):
    """A work as the command line knows it."""

    make: Callable[[Path, int], Work]
    """From an empty folder and a number of jobs."""
    size: int
    """How many."""
    heavy: bool = False
    """Whether a run takes seconds."""


WORKS: Final[dict[str, Entry]] = {
    "one": Entry(one, 1),
    "hundred": Entry(hundred, 100),
    "thousand": Entry(thousand, 1000, heavy=True),
    "runtimes": Entry(runtimes, 1000, heavy=True),
    "validated": Entry(validated, 1000, heavy=True),
    "growth": Entry(growth, 10000, heavy=True),
    "review": Entry(review, 200),
}


class Goal(NamedTuple):
    """A limit on the ratio of two figures of the same run: of processor time, or of memory."""

    what: str
    against: str
    at_most: float
    measured: tuple[str, str]
    """Of which work the figure is, and of which contestant."""
    reference: tuple[str, str]
    memory: bool = False


GOALS: Final[Sequence[Goal]] = (
    Goal("one TrainJob, cold", "`kubectl kustomize`", 1.0, ("one", OURS), ("one", KUBECTL)),
    Goal("100 TrainJobs, 1 runtime", "`kubectl kustomize`", 0.20, ("hundred", OURS), ("hundred", KUBECTL)),
    Goal("1,000 TrainJobs, 1 runtime", "`kubectl kustomize`", 0.13, ("thousand", OURS), ("thousand", KUBECTL)),
    Goal("1,000 TrainJobs, 20 runtimes", "`kubectl kustomize`", 0.13, ("runtimes", OURS), ("runtimes", KUBECTL)),
    Goal("1,000, built and validated", "`helm template`, `kubeconform`", 1.0, ("validated", OURS), ("validated", HELM)),
    Goal("10,000 TrainJobs", "its own 1,000", 10.5, ("growth", OURS), ("growth", TENTH)),
    Goal("memory at 10,000", "`kubectl kustomize` at 1,000", 1.5, ("growth", OURS), ("thousand", KUBECTL), memory=True),
    Goal("a review of 200 after one edit", "`trainc build` of both sides", 1.5, ("review", REVIEW), ("review", BOTH)),
)
