"""Moulds: what is poured is what the pipeline would have made, and what anybody looks at is never poured.

Each test compiles the same texts twice, with and without moulds, and compares manifests, diagnostics and the list of
what was checked. `make fuzz` runs the literals on every stock runtime, and many more accidents.
"""

from __future__ import annotations

import ast
import os
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trainc import compilation
from trainc.compilation import Compilation, Read, compile_documents
from trainc.inputs import File
from trainc.kubernetes.documents import blocks, split
from trainc.moulds import Manifest, Moulds, places, shapes
from trainc.moulds.places import IMAGE, LABEL, OPTION, TEXT, Kind
from trainc.reports.text import render
from trainc.settings import DEFAULT, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainc.diagnostics import Document
    from trainc.moulds import Blank
    from trainc.plan import Plan

ROOT = Path(__file__).parents[2]
MANY = "EXAMPLES" in os.environ
STOCK = sorted(path.stem for path in (ROOT / "runtimes").glob("*.yaml"))
POURING = ("torch-distributed", "torchtune-llama3.2-1b", "torch-distributed-volcano", "jax-distributed")
"""Runtimes; with EXAMPLES, those below, too."""
MORE = ("mxnet-distributed", "paddle-distributed", "plain", "torch-distributed-coscheduling", "torch-elastic",
        "torch-with-initializers", "xgboost-distributed")  # fmt: skip
NASTY = (
    *("", "true", "no", "null", "~", "1e3", "0x1f", "1_000", "2024-01-01", "-1", "a: b", "a #b", "a b", "$(JOB)", "$$"),
    *("Blue", "-x", "x-", "x" * 64, "x" * 300, "tune", "run", "é", '"x"', "'x'", '"a\\tb"', "'it''s'", '""', "|", "{}"),
    *("[a, b]", "&x y", "*x", "!x y", "latest", "acme/train:latest", "acme/train", "trainer", "hf_" + "x1" * 17),
    *("job-1", "a=b", "%s", "%(x)d", "a\\b"),
)
"""What may stand in the place of a scalar, of which some is no word anywhere."""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: {label}
  labels:
    app.kubernetes.io/name: {label}
    kueue.x-k8s.io/queue-name: {label}
    acme.example.com/team: "{label}"
  annotations:
    acme.example.com/owner: {text}
    acme.example.com/note: "{quoted}"
spec:
  runtimeRef:
    name: {runtime}
  trainer:
    numNodes: 2
    image: {image}
    command:
    - python
    - train.py
    - --rate={option}
    args:
    - --rate={option}
    - "--data={quoted}"
    - --model
    - {text}
    - --seed
    - "{quoted}"
    env:
    - name: DATASET
      value: {text}
    - name: NOTES
      value: '{quoted}'
    - name: MODEL
      value: {text}
    resourcesPerNode:
      requests:
        memory: 64Gi
  runtimePatches:
  - manager: acme.example.com/pools
    trainingRuntimeSpec:
      template:
        metadata:
          labels:
            acme.example.com/pool: {label}
          annotations:
            acme.example.com/pool: {text}
        spec:
          replicatedJobs:
          - name: node
            template:
              metadata:
                labels:
                  acme.example.com/pool: {label}
                annotations:
                  acme.example.com/pool: {text}
              spec:
                template:
                  metadata:
                    labels:
                      acme.example.com/pool: {label}
                    annotations:
                      acme.example.com/pool: "{quoted}"
                  spec:
                    serviceAccountName: {label}
                    nodeSelector:
                      acme.example.com/pool: {label}
                    tolerations:
                    - key: acme.example.com/pool
                      operator: Equal
                      value: {label}
                      effect: NoSchedule
                    volumes:
                    - name: data
                      persistentVolumeClaim:
                        claimName: {label}
"""
"""A word at each of the places."""


@pytest.fixture(autouse=True)
def poured(monkeypatch: pytest.MonkeyPatch) -> list[Manifest]:
    """What the pipeline has not seen. Shapes are looked for at once, not after some jobs."""
    monkeypatch.setattr(compilation, "FEW", 0)
    monkeypatch.setattr("trainc.moulds.ALIKE", 1)
    monkeypatch.setattr("trainc.moulds.LENT", 1)
    found: list[Manifest] = []
    made = Moulds.made

    def watched(self: Moulds, blank: Blank, compile: Callable[[Document], Plan]) -> Manifest | Plan:
        compiled: list[Document] = []

        def compiling(document: Document) -> Plan:
            compiled.append(document)
            return compile(document)

        result = made(self, blank, compiling)
        if isinstance(result, Manifest) and not compiled:
            found.append(result)
        return result

    monkeypatch.setattr(Moulds, "made", watched)
    return found


def both(files: Sequence[str], *, namespace: str | None = None, settings: Settings = DEFAULT) -> Compilation:
    """What became of the files, with moulds; without them it is the same."""
    made: list[Compilation] = []
    seen: list[tuple[object, ...]] = []
    for as_text in (False, True):
        read = Read(as_text=as_text)
        for index, text in enumerate(files):
            read.add(File(f"{index}.yaml", text.encode()), namespace=namespace)
        result = compile_documents(read, namespace=namespace, settings=settings)
        made.append(result)
        said = render(result.diagnostics, summary="", color=False)
        seen.append((result.manifests(), said, result.checked, result.others, result.runtimes, result.failed))
    assert seen[0] == seen[1]
    assert not made[0].texts
    assert len(made[1].jobs) + len(made[1].texts) == len(made[0].jobs)
    return made[1]


def filled(
    name: str, runtime: str = "torch-distributed", *, label: str = "blue", text: str = "some", quoted: str = "a b",
    option: str = "1e-3", image: str = "acme/train:1.2",
) -> str:  # fmt: skip
    """The job with these words."""
    return JOB.format(name=name, runtime=runtime, label=label, text=text, quoted=quoted, option=option, image=image)


def test_jobs_that_differ_in_words_are_poured(poured: list[Manifest]) -> None:
    jobs = [
        filled(f"job-{number}", label=f"team-{number % 3}", text=f"s3://data/{number}", quoted=f"run {number}: again")
        for number in range(20)
    ]
    result = both(jobs)
    assert len(result.jobs) <= 3
    assert not result.diagnostics
    assert "value: s3://data/7\n" in next(job.text for job in poured if job.name == "job-7")


def test_every_place_is_in_the_job_of_these_tests() -> None:
    shape = shapes.shape_of(filled("a"))
    assert shape is not None
    found = {
        tuple(places.ANY if isinstance(step, int) or "acme" in step or "/" in step else step for step in word.path)
        for word in shape.words
    }
    assert found == places.PLACES.keys()


def _literals() -> list[str]:
    """Every string of the compiler's code, and every word of the golden inputs: what a check could look for."""
    found: set[str] = set()
    for file in sorted((ROOT / "compiler").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= 64:
                found |= {node.value, *re.findall(r"[\w./:@+=-]+", node.value)}
    for file in sorted((ROOT / "golden").glob("*/input.yaml")):
        found |= set(re.findall(r"[\w./:@+=-]+", file.read_text()))
    return sorted(found)


LITERALS = _literals()


def _of(kind: Kind, *, quoted: bool = False) -> list[str]:
    """The literals that are words of a kind, in no order."""
    expression = re.compile((kind.quoted if quoted else kind.plain).format(most=63, rest=62))
    found = [literal for literal in LITERALS if expression.fullmatch(literal)]
    random.Random(kind.plain).shuffle(found)
    return found


@pytest.mark.parametrize("runtime", [*POURING, *(MORE if MANY else ())])
def test_no_literal_of_the_compiler_makes_a_difference_at_any_place(runtime: str, poured: list[Manifest]) -> None:
    """One word each at all places at once, so that every place meets every word."""
    words = {
        "label": _of(LABEL),
        "text": _of(TEXT),
        "quoted": _of(TEXT, quoted=True),
        "option": _of(OPTION),
        "image": [*_of(IMAGE), "acme/train:1", "acme/train:2.0"],
    }
    assert min(len(words[kind]) for kind in ("label", "text", "quoted", "option")) > 1000
    count = max(map(len, words.values())) if MANY else 250
    jobs = [
        filled(f"job-{number}", runtime, **{kind: some[number % len(some)] for kind, some in words.items()})
        for number in range(count)
    ]
    both([filled(f"first-{'x' * 40}", runtime, label="y" * 63, text="y" * 63, quoted="y" * 63), *jobs])
    assert len(poured) > count * 0.6


def _renamed(text: str, name: str) -> str:
    """A TrainJob's text under another name; as it is where it is not plain to read, or has no name."""
    job = blocks.read(text)
    if job is blocks.UNREAD or not isinstance(job, dict):
        return text
    paths = [path for path, leaf in shapes.leaves(job) if leaf is not None]
    if ("metadata", "name") not in paths:
        return text
    begin, end = blocks.scalars(text)[paths.index(("metadata", "name"))]
    return text[:begin] + name + text[end:]


def _after_accidents(text: str, name: str, dice: random.Random) -> str:
    """A TrainJob's text under another name, and with something else for one of its scalars."""
    job = _renamed(text, name)
    if job == text:
        return job
    begin, end = dice.choice(blocks.scalars(job))
    return job[:begin] + dice.choice((*NASTY, job[begin:end], dice.choice(LITERALS))) + job[end:]


CASES = sorted(path.parent.name for path in (ROOT / "golden").glob("*/input.yaml"))
USUAL = {"llm-finetune-4x8", "node-pool-patches", "single-gpu-script", "jax-two-nodes", "kueue-queue", "gang-volcano"}
"""Cases that pour whatever becomes of others."""


def _in_copies(file: Path, accidents: int) -> None:
    """The jobs of a file, each a few times, and with odd values: what is poured of them does not differ."""
    dice = random.Random(file.stem)
    chunks = [chunk.text for chunk in split(file.read_bytes())[0]]
    jobs = [chunk for chunk in chunks if re.search("^kind: TrainJob$", chunk, re.MULTILINE)]
    others = [chunk for chunk in chunks if chunk not in jobs]
    copies = [_renamed(job, f"same-{index}-{number}") for index, job in enumerate(jobs[:3]) for number in range(4)]
    odd = [
        _after_accidents(job, f"odd-{index}-{number}", dice)
        for index, job in enumerate(jobs[:3])
        for number in range(accidents)
    ]
    both([*others, *copies, *odd])


@pytest.mark.parametrize("case", CASES)
def test_golden_inputs_after_accidents(case: str, poured: list[Manifest]) -> None:
    _in_copies(ROOT / "golden" / case / "input.yaml", 200 if MANY else 12)
    assert poured or case not in USUAL


RECORDED = ROOT / "tests" / "conformance" / "data" / "trainer-2.3"


@pytest.mark.parametrize("area", sorted(path.name for path in RECORDED.iterdir() if path.is_dir()))
def test_recorded_cases_as_golden_ones(area: str) -> None:
    """What the real code has answered, `tests/conformance` knows; here it is the same in copies."""
    for file in sorted((RECORDED / area).glob("*.yaml")):
        _in_copies(file, 50 if MANY else 1)


def test_comments_may_differ_like_words(poured: list[Manifest]) -> None:
    jobs = [
        f"# Run {number} of `x: y`: why?\n"
        + filled(f"job-{number}", quoted=f"it is # {number}").replace("numNodes: 2", f"numNodes: 2  # {'x' * number}")
        for number in range(9)
    ]
    both(jobs)
    assert len(poured) > 5
    warned = both([job.replace("acme/train:1.2", "acme/train:latest  # 'moving'") for job in jobs])
    assert {diagnostic.id for diagnostic in warned.diagnostics} == {"image-version"}


def test_what_is_said_of_a_job_is_said_of_all(poured: list[Manifest]) -> None:
    jobs = [filled(f"job-{number}", image="acme/train:latest") for number in range(6)]
    result = both([*jobs, *(filled(f"good-{number}") for number in range(6))])
    assert {diagnostic.id for diagnostic in result.diagnostics} == {"image-version"}
    assert {job.name[:4] for job in poured} == {"good"}


def test_names_beyond_the_limit_are_refused(poured: list[Manifest]) -> None:
    result = both([filled("x" * length) for length in (1, 8, 12, 20, 30, 45, 46, 47, 48, 49, 50, 63, 64, 65)])
    assert result.failed
    assert poured


def test_what_is_within_the_limit_with_one_number_may_be_beyond_it_with_another() -> None:
    """The names of pods are made of the TrainJob's, the replicated job's, and numbers."""
    runtime = (ROOT / "runtimes" / "plain.yaml").read_text()
    runtimes = [
        runtime.replace("  name: plain\n", f"  name: {name}\n").replace("- name: node\n        template:", job)
        for name, job in (
            ("short", "- name: node\n        template:"),
            ("long", "- name: replicated-job-with-a-long-name\n        template:"),
        )
    ]
    assert runtimes[0] != runtimes[1].replace("long", "short")
    said: set[str] = set()
    for longest in range(24, 60, 2):
        lengths = (
            ("short", 2, longest),
            ("short", 2, 8),
            ("short", 2, longest),
            ("short", 1000, 8),
            ("short", 1000, longest),
        )
        jobs = [
            filled(f"x{index}".ljust(length, "x"), runtime)
            .partition("  runtimePatches:\n")[0]
            .replace("numNodes: 2", f"numNodes: {nodes}")
            for index, (runtime, nodes, length) in enumerate((*lengths, ("long", 2, 8), ("long", 2, longest)))
        ]
        said |= {diagnostic.object.name for diagnostic in both([*runtimes, *jobs]).diagnostics}
    assert {name[:2] for name in said} == {"x0", "x2", "x4", "x6"}


def test_words_that_were_equal_need_not_be(poured: list[Manifest]) -> None:
    jobs = [filled(f"same-{number}") for number in range(5)]
    others = [
        filled(f"some-{number}").replace(f"{key}: blue\n", f"{key}: red\n")
        for key in ("serviceAccountName", "claimName", "app.kubernetes.io/name", "namespace", "pool", "value")
        for number in range(3)
    ]
    others = [job.replace("some", f"other-{index}", 1) for index, job in enumerate(others)]
    both([*jobs, *others, *(job.replace("blue", "green") for job in others[::2])])
    assert len(poured) > len(jobs)


LOOKED_AT = (
    (
        "metadata:\n                labels:\n                  trainer.kubeflow.org/trainjob-ancestor-step: trainer",
        "none",
        "metadata:\n                labels:\n                  acme.example.com/pool: blue",
    ),
    ("trainc.dev/lint-ignore: some", "no-resources", "acme.example.com/owner: some"),
    ("seccomp.security.alpha.kubernetes.io/pod: unconfined", "nothing", 'acme.example.com/pool: "a b"'),
    ("argocd.argoproj.io/sync-options: Prune=false", "Replace=false", "acme.example.com/owner: some"),
    ("scheduling.volcano.sh/queue-name: blue", "green", "acme.example.com/pool: some"),
    ("name: API_TOKEN\n      value: default", "hf-zq8vlm2rk1-zq8vlm2rk1", "name: MODEL\n      value: some"),
    ("name: FLUX_VIEW_IMAGE\n      value: some", "other", "name: MODEL\n      value: some"),
    ("name: NCCL_IB_DISABLE\n      value: 'x'", "y", "name: MODEL\n      value: some"),
)
"""What somebody acts on, with another value, and what it takes the place of in the job."""


@pytest.mark.parametrize(("written", "value", "there"), LOOKED_AT, ids=[row[0].split(":")[0] for row in LOOKED_AT])
def test_what_somebody_acts_on_is_no_word(written: str, value: str, there: str) -> None:
    job = filled("name").replace(there, written)
    assert written in job
    others = job.replace(written, written.rpartition(" ")[0] + f" {value}")
    both(
        [
            text.replace("name: name", f"name: {kind}-{number}", 1)
            for kind, text in (("a", job), ("b", others))
            for number in range(4)
        ]
    )
    with_it, without = shapes.shape_of(job), shapes.shape_of(filled("name"))
    assert with_it is not None
    assert without is not None
    assert len(with_it.words) == len(without.words) - filled("name").count(there)


def test_jobs_are_poured_with_these_runtimes(poured: list[Manifest]) -> None:
    """For MPI and Flux every job has a note about a Secret of its own, and TensorFlow needs more than this job says."""
    silent = set()
    for runtime in STOCK:
        poured.clear()
        both([filled(f"job-{number}", runtime) for number in range(4)])
        silent |= {runtime} if poured else set()
    assert {*POURING, *MORE} <= silent
    assert not {runtime for runtime in silent if "flux" in runtime or "mpi" in runtime}


def test_arguments_of_torchtune_are_no_words() -> None:
    job = filled("name", "torchtune-llama3.2-1b").replace("numNodes: 2", "numNodes: 1")
    job = job.replace("    - python\n    - train.py\n    - --rate=1e-3\n    args:", "    - tune\n    - run\n    args:")
    jobs = [
        job.replace("    - some\n", f"    - {word}\n").replace("name: name", f"name: name-{number}", 1)
        for number, word in enumerate(["some", "one", "two", "three", "four", "output_dir", "five", "tokenizer.path"])
    ]
    result = both(jobs)
    assert {diagnostic.id for diagnostic in result.diagnostics} == {"torchtune-managed"}


def test_two_of_one_name_are_told_apart_by_their_files() -> None:
    result = both([filled(f"job-{number % 7}") for number in range(9)])
    assert [diagnostic.id for diagnostic in result.diagnostics] == ["duplicate-trainjob"] * 2


def test_jobs_without_a_namespace_get_that_of_the_command_line(poured: list[Manifest]) -> None:
    jobs = [filled(f"job-{number}").replace("  namespace: blue\n", "") for number in range(6)]
    both(jobs, namespace="given")
    assert {job.namespace for job in poured} == {"given"}
    assert "  namespace: given\n" in poured[0].text
    poured.clear()
    both(jobs)
    assert {job.namespace for job in poured} == {""}


def test_runtimes_of_a_namespace_are_looked_for_in_each(poured: list[Manifest]) -> None:
    runtime = (
        (ROOT / "runtimes" / "torch-distributed.yaml").read_text().replace("ClusterTrainingRuntime", "TrainingRuntime")
    )
    runtimes = [
        runtime.replace("  name: torch-distributed\n", f"  name: ours\n  namespace: {team}\n").replace("2.9.1", version)
        for team, version in (("blue", "1.1"), ("green", "2.2"))
    ]
    jobs = [
        filled(f"{team}-{number}", "ours", label=team)
        .replace("    name: ours\n", "    kind: TrainingRuntime\n    name: ours\n")
        .replace("    image: acme/train:1.2\n", "")
        for number in range(5)
        for team in ("blue", "green", "red")
    ]
    result = both([*runtimes, *jobs])
    assert {diagnostic.id for diagnostic in result.diagnostics} == {"runtime-not-found"}
    assert {("1.1" in job.text, "2.2" in job.text) for job in poured} == {(True, False), (False, True)}


def test_a_job_that_compiles_otherwise_than_its_mould_has_none(poured: list[Manifest]) -> None:
    """With other numbers there are other lines, and other hosts in one: a pod has one, or the GPUs are counted."""
    jobs = [
        filled(f"job-{number}", "paddle-distributed" if number % 2 else "torch-distributed")
        .replace("numNodes: 2", f"numNodes: {number % 4 + 1}")
        .replace("memory: 64Gi", f"memory: 64Gi\n      limits:\n        nvidia.com/gpu: {number % 3 + 1}")
        for number in range(40)
    ]
    both(jobs)
    assert poured


@pytest.mark.parametrize("namespace", ["5", "1e3", "null", "true", '""'])
def test_a_namespace_that_is_no_string_is_no_part_of_a_shape(namespace: str) -> None:
    jobs = [filled(f"job-{number}").replace("namespace: blue", f"namespace: {namespace}") for number in range(5)]
    others = [filled(f"other-{number}", label=label) for number in range(4) for label in ("a", "z")]
    both([*jobs, *others])
    both([*jobs, *others], namespace="given")
