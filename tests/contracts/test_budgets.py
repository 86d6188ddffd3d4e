"""Inputs that need more than a run may take end with one diagnostic, within 512 MiB of memory and a minute of work."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import multiplied
import pytest
from committing import commit, git
from files import write_files
from manifests import job_text

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
MEMORY = 512 * 2**20
SECONDS = 60
"""Processor time."""
HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
MOST = 2**31 - 1


def next_job(runtime: str, trainer: str = "", name: str = "a") -> str:
    return f"---\n{job_text(f'name: {name}', f'name: {runtime}', trainer)}"


def nodes(runtime: str, count: int = MOST) -> Callable[[], str]:
    return lambda: next_job(runtime, f"numNodes: {count}")


def runtime_text(jobs: str, policy: str = "") -> str:
    return (
        f"{HEAD}kind: ClusterTrainingRuntime\nmetadata: {{name: r}}\n"
        f"spec: {{{policy}template: {{spec: {{replicatedJobs: [{jobs}]}}}}}}\n"
    )


def part(name: str, more: str = "", container: str = "") -> str:
    containers = f"containers: [{{name: node, image: a/b:1{container}}}]"
    return f"{{name: {name}{more}, template: {{spec: {{template: {{spec: {{{containers}}}}}}}}}}}"


def replicas() -> str:
    return runtime_text(part("a", f", replicas: {MOST}")) + next_job("r")


def replicas_of_a_role() -> str:
    policy = "mlPolicy: {tensorflow: {}}, "
    return runtime_text(f"{part('worker')}, {part('ps', f', replicas: {MOST}')}", policy) + next_job("r")


def doubled_variables() -> str:
    env = ["{name: A0, value: xxxxxxxx}", *(f'{{name: A{i}, value: "$(A{i - 1})$(A{i - 1})"}}' for i in range(1, 25))]
    return runtime_text(part("a", container=f", env: [{', '.join(env)}]")) + next_job("r")


def spaces() -> str:
    return next_job("torch-distributed", f'args: ["token: a<{" " * 30_000}>b"], numNodes: x')


def addresses() -> str:
    return next_job("torch-distributed", f'args: ["{"://a:b" * 20_000} @"], numNodes: x')


def long_name() -> str:
    return next_job("torch-distributed", f"env: [{{name: {'A' * 135_000}, value: b}}]")


def many_replicated_jobs() -> str:
    parts = ", ".join(part(f"j{index}") for index in range(400))
    return runtime_text(parts) + "".join(next_job("r", name=f"a{index}") for index in range(300))


def large_output() -> str:
    text = "x" * 100_000
    return runtime_text(part("a", container=f', args: ["{text}"]')) + "".join(
        next_job("r", name=f"a{i}") for i in range(1500)
    )


def many_jobs_of_a_runtime() -> str:
    return runtime_text(", ".join(part(f"j{index}") for index in range(4000))) + next_job("r")


def long_arguments() -> str:
    return runtime_text(part("a", container=f', args: ["{"x" * 100_000}"]')) + "".join(
        next_job("r", name=f"a{i}") for i in range(340)
    )


def broken_documents() -> str:
    return "a: b: c\n---\n" * 49_000


def missing_runtimes() -> str:
    return "".join(next_job(f"m{index}", name=f"a{index}") for index in range(45_000))


def some_missing_runtimes() -> str:
    return "".join(next_job(f"m{index}", name=f"a{index}") for index in range(1500))


PATCHED = next_job("torch-distributed", "env: [{name: A, value: b}]")


def doubling_copies() -> str:
    return "".join(f"  - {{op: copy, from: /spec, path: /spec/x{index}}}\n" for index in range(60))


def many_operations() -> str:
    return "  - {op: add, path: /spec/suspend, value: true}\n" * 30_000


def many_copies() -> str:
    """Return operations that copy one large value again and again to the same field."""
    large = ", ".join(f"a{index}: b" for index in range(5000))
    first = f"  - {{op: add, path: /metadata/annotations, value: {{{large}}}}}\n"
    return first + "  - {op: copy, from: /metadata/annotations, path: /spec/a}\n" * 5000


def large_patch_of_many_jobs() -> str:
    labels = ", ".join(f"a{index}: b" for index in range(20_000))
    return f"    metadata: {{annotations: {{{labels}}}}}\n"


def deep_moves() -> str:
    one = "  - {op: move, from: /spec/a, path: /spec/b}\n  - {op: add, path: /spec/a, value: {}}\n"
    return (
        "  - {op: add, path: /spec/a, value: {}}\n" + f"{one}  - {{op: move, from: /spec/b, path: /spec/a/a}}\n" * 3000
    )


PATCHES: dict[str, tuple[str, Callable[[], str], str, str]] = {
    "copies that double": ("", doubling_copies, PATCHED, "200000 values of a patch in an object"),
    "copies that double in CI": ("--budget ci", doubling_copies, PATCHED, "100000 values of a patch in an object"),
    "copies of a large value": ("", many_copies, PATCHED, "200000 values of a patch in an object"),
    "30,000 operations": ("", many_operations, PATCHED, "10000 operations of a patch"),
    "a large patch of many jobs": (
        "",
        large_patch_of_many_jobs,
        "".join(next_job("torch-distributed", name=f"a{index}") for index in range(1000)),
        "10000000 values of patches",
    ),
}


OVER = "error[over-budget]: more than "
ROWS: dict[str, tuple[str, Callable[[], str], int, str]] = {
    **{
        f"{count} nodes, {name}": ("validate", nodes(f"{name}-distributed", count), 1, id)
        for name, id in (
            ("openmpi", "config-map-too-large"),
            ("deepspeed", "config-map-too-large"),
            ("mpich", "config-map-too-large"),
            ("intelmpi", "config-map-too-large"),
            ("tensorflow", "argument-too-long"),
        )
        for count in (99_999, 10**6, MOST)
    },
    "replicas": ("validate", replicas, 0, "no problems found"),
    "replicas of a role": ("validate", replicas_of_a_role, 1, "argument-too-long"),
    "pods of many replicas": ("pods", replicas, 1, f"{OVER}10000 pods"),
    "pods as JSON": ("pods --format json", nodes("plain-distributed", 100_000), 1, f"{OVER}10000 pods"),
    "pods as JSON, within the budget": ("pods --format json", nodes("plain-distributed", 5000), 0, '"a-node-0-4999"'),
    "variables that double": ("pods", doubled_variables, 0, "it is longer than 131071 bytes"),
    "graph of many replicas": ("graph", replicas, 0, ""),
    "a text with spaces": ("validate", spaces, 1, "error[wrong-type]"),
    "many addresses": ("validate", addresses, 1, "error[wrong-type]"),
    "a long name of a variable": ("validate", long_name, 1, "error[argument-too-long]"),
    "many replicated jobs": ("build", many_replicated_jobs, 1, f"{OVER}50000 replicated jobs"),
    "many replicated jobs in CI": ("validate --budget ci", many_replicated_jobs, 1, f"{OVER}10000 replicated jobs"),
    "a large output": ("build", large_output, 1, f"{OVER}134217728 output bytes"),
    "broken documents": ("validate", broken_documents, 1, f"{OVER}10000 errors and warnings"),
    "diagnostics within the budget": ("validate", some_missing_runtimes, 1, "1400 more: 1400 runtime-not-found ("),
    "a runtime of many jobs": ("build", many_jobs_of_a_runtime, 0, "name: j3999"),
    "a large output as JSON": ("build --format json --budget ci", long_arguments, 1, f"{OVER}33554432 output bytes"),
    "a large explanation": ("explain --format json --budget ci", long_arguments, 1, f"{OVER}33554432 output bytes"),
    "a large patch": ("explain --patches --budget ci", long_arguments, 1, f"{OVER}33554432 output bytes"),
    "a large pod": ("pods --format json --budget ci", long_arguments, 1, f"{OVER}33554432 output bytes"),
    "missing runtimes": ("validate", missing_runtimes, 1, f"{OVER}10000 errors and warnings"),
}


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def limited(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trainc", *command.split()],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
        preexec_fn=limit,
        check=False,
    )


@pytest.mark.parametrize(("command", "text", "code", "expected"), ROWS.values(), ids=ROWS)
def test_a_large_input(command: str, text: Callable[[], str], code: int, expected: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(text())
    done = limited(f"{command} x.yaml", tmp_path)
    output = done.stdout + done.stderr
    assert (done.returncode, expected in output) == (code, True), output[:2000]
    assert output.count("error[over-budget]") == expected.startswith(OVER)
    if code:
        assert command.startswith("validate") or not done.stdout
        assert len(output) < 200_000


class Repository:
    """A git repository that is written object by object."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        git("init", "-q", "-b", "main", at=folder)
        file = self.blob(next_job("torch-distributed").encode())
        self.commit("old", self.tree(**{"job.yaml": file}))

    def blob(self, data: bytes, mode: str = "100644") -> str:
        return f"{mode} blob {git('hash-object', '-w', '--stdin', at=self.folder, stdin=data)}"

    def tree(self, **entries: str) -> str:
        text = "".join(f"{entry}\t{name}\n" for name, entry in entries.items())
        return f"040000 tree {git('mktree', at=self.folder, stdin=text.encode())}"

    def commit(self, branch: str, tree: str) -> None:
        commit = git("commit-tree", tree.split()[2], "-m", "A change", at=self.folder)
        git("update-ref", f"refs/heads/{branch}", commit, at=self.folder)


def repeated_trees(repository: Repository) -> str:
    file = repository.blob(b"a: 1\n")
    files = repository.tree(**{f"f{index}.yaml": file for index in range(1000)})
    return repository.tree(**{f"d{index}": files for index in range(30)})


def deep_trees(repository: Repository) -> str:
    tree = repository.tree(**{"f.yaml": repository.blob(b"a: 1\n")})
    for _ in range(10):
        tree = repository.tree(**{f"d{index}": tree for index in range(10)})
    return tree


def nested_folders(repository: Repository) -> str:
    tree = repository.tree(**{"f.yaml": repository.blob(b"a: 1\n")})
    for _ in range(120):
        tree = repository.tree(d=tree)
    return tree


def large_files(repository: Repository) -> str:
    return repository.tree(
        **{f"f{index}.yaml": repository.blob(b"#%d" % index + b" " * (6 << 20)) for index in range(3)}
    )


def one_large_file(repository: Repository) -> str:
    return repository.tree(**{"f.yaml": repository.blob(b"#" * (17 << 20))})


def chain_of_links(repository: Repository) -> str:
    links = {f"l{index}.yaml": repository.blob(b"l%d.yaml" % (index + 1), "120000") for index in range(120)}
    return repository.tree(**links, **{"l120.yaml": repository.blob(b"a: 1\n")})


def long_link(repository: Repository) -> str:
    return repository.tree(**{"l.yaml": repository.blob(b"a/../" * (5 << 20), "120000")})


OF_COMMITS: dict[str, tuple[Callable[[Repository], str], str, str]] = {
    "many files from few trees": (repeated_trees, "ci", f"{OVER}25000 entries of git trees"),
    "trees that repeat ten levels deep": (deep_trees, "ci", f"{OVER}25000 entries of git trees"),
    "folders in folders": (nested_folders, "default", "is a folder more than 100 levels deep"),
    "large files": (large_files, "ci", f"{OVER}16777216 input bytes"),
    "a large file": (one_large_file, "ci", f"{OVER}16777216 input bytes"),
    "a chain of links": (chain_of_links, "default", "is added: it is a dangling or circular link"),
    "a link with a long target": (long_link, "ci", "is added: it is a dangling or circular link"),
}


@pytest.mark.parametrize(("tree", "budget", "expected"), OF_COMMITS.values(), ids=OF_COMMITS)
def test_a_hostile_commit(tree: Callable[[Repository], str], budget: str, expected: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit("main", tree(repository))
    done = limited(f"diff old..main --budget {budget}", tmp_path)
    if expected.startswith(OVER):
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert expected in done.stderr
    else:
        assert (done.returncode, expected in done.stdout.partition("Not compared")[2]) == (0, True), done.stderr


def run_with_patches(tmp_path: Path, arguments: str, text: str, jobs: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "x.yaml").write_text(jobs)
    (tmp_path / "trainc.yaml").write_text(text)
    return limited(f"build {arguments} x.yaml", tmp_path)


@pytest.mark.parametrize(("arguments", "patch", "jobs", "most"), PATCHES.values(), ids=PATCHES)
def test_a_hostile_patch(arguments: str, patch: Callable[[], str], jobs: str, most: str, tmp_path: Path) -> None:
    done = run_with_patches(tmp_path, arguments, f"patches:\n- patch:\n{patch()}", jobs)
    assert (done.returncode, f"{OVER}{most}" in done.stderr, done.stdout) == (1, True, ""), done.stderr[:2000]
    assert len(done.stderr) < 20_000


def test_moves_that_nest_ever_deeper(tmp_path: Path) -> None:
    done = run_with_patches(tmp_path, "", f"patches:\n- patch:\n{deep_moves()}", PATCHED)
    assert (done.returncode, "more than 100 nested" in done.stderr) == (1, True), done.stderr[:2000]


@pytest.mark.parametrize("key", ["name", "namespace", "labelSelector", "annotationSelector"])
def test_a_glob_or_selector_of_a_megabyte(key: str, tmp_path: Path) -> None:
    text = f"patches:\n- target: {{{key}: '{'*a' * 2**19}'}}\n  patch: {{spec: {{suspend: true}}}}\n"
    done = run_with_patches(tmp_path, "", text, PATCHED)
    assert (done.returncode, "error[too-long]" in done.stderr) == (1, True), done.stderr[:2000]
    assert len(done.stderr) < 20_000


UNITS = 10
"""The most processor time of an input that multiplies two parts, in units of the run with 500 TrainJobs."""
GENERATE = "cmp generate"


def over(unit: str, factors: str = "") -> str:
    return f"error[over-budget]: more than {unit}{f' ({factors})' * bool(factors)}, the limit of the budget"


MULTIPLIED: dict[str, tuple[str, Callable[[], multiplied.Files], int, str]] = {
    "terms of targets": (
        GENERATE,
        multiplied.many_terms,
        1,
        over("1000000 terms of targets", "250,000 terms of targets x 400 TrainJobs"),
    ),
    "labels": (GENERATE, multiplied.labels, 1, over("1000000 labels and annotations", "20,000 labels x 300 TrainJobs")),
    "labels of environments": (
        "validate --budget ci",
        multiplied.labels_of_environments,
        1,
        over("500000 values of settings", "20,002 values x 90 environments"),
    ),
    "annotations of a runtime": (
        GENERATE,
        multiplied.annotations_of_a_runtime,
        1,
        over("1000000 labels and annotations", "20,000 annotations x 300 TrainJobs"),
    ),
    "TrainJobs of one name": (GENERATE, multiplied.jobs_of_one_name, 1, over("1000 errors and warnings")),
    "runtimes of one name": (
        GENERATE,
        multiplied.namesakes,
        1,
        over("100000 runtimes of one name", "1,000 runtimes x 1,000 TrainJobs"),
    ),
    "manifests of environments": (
        "validate --budget ci",
        multiplied.manifests_of_environments,
        1,
        "more than 8388608 bytes of environments (",
    ),
    "aliases of a large text": (GENERATE, multiplied.a_large_text, 1, over("16777216 input bytes")),
    "a large text that is not copied": (
        "validate",
        multiplied.a_large_text,
        0,
        "no problems found: 1 TrainJob",
    ),
    "aliases of many texts": (GENERATE, multiplied.many_texts, 1, over("16777216 input bytes")),
    "a pattern with sets": (GENERATE, multiplied.a_long_name, 0, "kind: JobSet"),
    "patterns of nested folders": (GENERATE, multiplied.nested_folders, 0, "kind: JobSet"),
    "a large listing": (GENERATE, multiplied.a_large_listing, 0, "kind: JobSet"),
    "many listings": (GENERATE, multiplied.many_listings, 0, "kind: JobSet"),
}


def measured(command: str, folder: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """Return the result of a command within the limits, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = limited(command, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Return the processor time of `cmp generate` on 500 TrainJobs in one file."""
    folder = tmp_path_factory.mktemp("unit")
    write_files([multiplied.jobs(500)], folder)
    done, seconds = measured(GENERATE, folder)
    assert (done.returncode, done.stdout.count("kind: JobSet")) == (0, 500), done.stderr
    return seconds


@pytest.mark.parametrize(("command", "files", "code", "expected"), MULTIPLIED.values(), ids=MULTIPLIED)
def test_an_input_that_multiplies(
    command: str, files: Callable[[], multiplied.Files], code: int, expected: str, unit: float, tmp_path: Path
) -> None:
    write_files(files(), tmp_path)
    done, seconds = measured(command, tmp_path)
    output = done.stdout + done.stderr
    assert (done.returncode, expected in output) == (code, True), output[-2000:]
    assert code == 0 or "kind: JobSet" not in done.stdout
    assert seconds < UNITS * unit


@pytest.mark.parametrize("files", [multiplied.many_listings, multiplied.a_large_listing])
def test_listings_of_a_commit(files: Callable[[], multiplied.Files], unit: float, tmp_path: Path) -> None:
    git("init", "--quiet", "-b", "main", at=tmp_path)
    write_files([multiplied.jobs(1)], tmp_path)
    commit(at=tmp_path)
    git("checkout", "--quiet", "-b", "pr", at=tmp_path)
    write_files(files(), tmp_path)
    commit(at=tmp_path)
    done, seconds = measured("diff main..pr --budget ci -- .", tmp_path)
    assert done.returncode == 0, done.stderr
    assert seconds < UNITS * unit


def test_10000_trainjobs_with_30_labels_are_within_the_budget(tmp_path: Path) -> None:
    write_files([multiplied.jobs(10_000), multiplied.settings(f"labels: {multiplied.mapping(30)}\n")], tmp_path)
    done = limited("validate --budget ci", tmp_path)
    assert (done.returncode, "no problems found: 10,000 TrainJobs" in done.stdout) == (0, True), done.stderr[-2000:]
