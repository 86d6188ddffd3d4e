"""Casts: what becomes of the marks in a probe's objects, and what makes them no mould."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from trainc import pipeline
from trainc.compilation import library
from trainc.diagnostics import Document
from trainc.kubernetes.documents import parse
from trainc.kubernetes.documents.streams import Chunk
from trainc.moulds import Manifest, Moulds, stands_for
from trainc.moulds.casts import DIGITS, Spelled, cast, marks
from trainc.moulds.places import LABEL, TEXT
from trainc.moulds.shapes import Word
from trainc.objects import TrainJob
from trainc.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: # {name}
  name: {name}
spec:
  runtimeRef:
    name: plain
"""
WORDS = (Word(("metadata", "name"), LABEL, 16, ""), Word(("spec",), TEXT, 24, ""), Word(("spec",), TEXT, 16, "--x="))
(NAME, SAID, OPTION) = MARKED = marks(("name", "said", "option"), WORDS)


def compiled(document: Document) -> Plan:
    """Through the whole pipeline."""
    job = TrainJob(document=document, value=document.value)
    return pipeline.run(Plan(job=job, library=library(())[0]))


def document(name: str) -> Document:
    text = JOB.format(name=name)
    return Document(file="job.yaml", line=1, text=text, value=parse(text))


def plan(*data: dict[str, Any], kinds: tuple[str, ...] = ("A", "B")) -> Plan:
    """A plan with these objects."""
    objects = tuple(
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": NAME}, "data": said}
        for kind, said in zip(kinds, data, strict=False)
    )
    return compiled(document("a"))._replace(objects=objects)


def test_marks_are_as_long_as_their_places_allow_and_equal_where_the_words_are() -> None:
    assert [len(mark) for mark in MARKED] == [16 + DIGITS, 24, 16]
    assert len(set(MARKED)) == 3
    one, other, third = marks(("same", "same", "other"), WORDS)
    assert one == other != third
    assert len(one) == 16 + DIGITS


def test_gaps_are_filled_with_words_as_they_are_spelled() -> None:
    probe = plan(
        {
            "name": NAME,
            "host": f"{NAME}-0.{NAME}",
            "dot": f".{NAME}",
            "no": f"n{NAME}",
            "said": SAID,
            "args": ["100%", f"--x={OPTION}"],
        },
        {"hosts": f"{NAME}-0 50%\n{NAME}-1\n"},
    )
    mould = cast(probe, WORDS, MARKED)
    assert mould is not None
    spelled = Spelled()
    assert '  dot: ".inf"\n' in mould.pour(("inf", "", ""), spelled)
    assert '  "no": "no"\n' in mould.pour(("o", "", ""), spelled)
    assert mould.pour(("blue", "a: b", "1"), spelled).splitlines() == [
        "apiVersion: v1",
        "kind: A",
        "metadata:",
        "  name: blue",
        "data:",
        "  name: blue",
        "  args:",
        "  - 100%",
        "  - --x=1",
        "  dot: .blue",
        "  host: blue-0.blue",
        '  "no": nblue',
        "  said: 'a: b'",
        "---",
        "apiVersion: v1",
        "kind: B",
        "metadata:",
        "  name: blue",
        "data:",
        "  hosts: |",
        "    blue-0 50%",
        "    blue-1",
    ]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({NAME: "x"}, id="a word is a key"),
        pytest.param({"x": f"{SAID} and more"}, id="a text is a part of another"),
        pytest.param({"x": f"{SAID}\n{NAME}\n"}, id="a text is a line of a block"),
        pytest.param({"x": OPTION}, id="what stands before the word is lost"),
        pytest.param({"x": NAME[:-1]}, id="a word is cut short"),
        pytest.param({"x": NAME.upper().lower()[:12]}, id="a word is shortened"),
    ],
)
def test_what_becomes_of_a_mark_besides_makes_no_mould(data: dict[str, Any]) -> None:
    assert cast(plan(data), WORDS, MARKED) is None


def test_objects_whose_order_may_be_that_of_their_names_make_no_mould() -> None:
    assert cast(plan({}, {}, kinds=("A", "A")), WORDS, MARKED) is None


def poured(names: list[str], compile: Callable[[Document], Plan]) -> list[str]:
    """The names of the jobs that the compiler has not seen."""
    moulds, seen = Moulds(), []

    def watched(document: Document) -> Plan:
        seen.append(document.value["metadata"]["name"])
        return compile(document)

    moulds.expect(100)
    blanks = [moulds.fit("job.yaml", Chunk(JOB.format(name=name))) for name in names]
    made = [moulds.made(blank, watched) for blank in blanks if blank is not None]
    return [manifest.name for manifest in made if isinstance(manifest, Manifest) and manifest.name not in seen]


def changed(change: Callable[[str], str]) -> Callable[[Document], Plan]:
    """A compiler that says something else of the name."""

    def compile(document: Document) -> Plan:
        plan = compiled(document)
        (tree,) = plan.objects
        metadata = tree["metadata"] | {"annotations": {"of-the-name": change(plan.name)}}
        return plan._replace(objects=(tree | {"metadata": metadata},))

    return compile


@pytest.mark.parametrize(
    ("change", "count"),
    [
        pytest.param(lambda name: f"it is {name}", 4, id="it is carried"),
        pytest.param(lambda _: "a constant", 4, id="it is not looked at"),
        pytest.param(lambda name: str(len(name)), 0, id="it is counted"),
        pytest.param(lambda name: name.upper(), 0, id="it is changed"),
        pytest.param(lambda name: name[:3], 0, id="it is cut"),
        pytest.param(lambda name: "yes" if "o" in name else "no", 0, id="it is looked at"),
    ],
)
def test_a_mould_pours_its_first_job_or_none(change: Callable[[str], str], count: int) -> None:
    names = ["one", "two", "three", "four", "foo", "boo", "zoo", "moo"]
    assert len(poured(names, changed(change))) == count


def test_probes_end_where_few_jobs_are_alike() -> None:
    """Each job has a number of its own, and something made of it and the name."""
    seen: list[str] = []

    def compile(document: Document) -> Plan:
        seen.append(document.value["metadata"]["name"])
        numbers = document.value["spec"]["activeDeadlineSeconds"]
        return changed(lambda name: f"{name}-{numbers}")(document)

    moulds = Moulds()
    moulds.expect(100)
    for number in range(100, 200):
        text = JOB.format(name=f"job-{number}") + f"  activeDeadlineSeconds: {number}\n"
        if blank := moulds.fit("job.yaml", Chunk(text)):
            assert isinstance(moulds.made(blank, compile), Manifest)
    probes = [name for name in seen if name.startswith("zq")]
    assert len(probes) == 3
    assert len(seen) == len(probes) + 97


@pytest.mark.parametrize(
    ("probed", "numbers", "stands"),
    [
        (("plain", "2", "4Gi"), ("plain", "9", "8Gi"), True),
        (("plain", "2", "4Gi"), ("plain", "16", "128Gi"), True),
        (("plain", "2", "4Gi"), ("plain", "1000000000", "4Gi"), False),
        (("plain", "1000000000", "4Gi"), ("plain", "2", "4Gi"), True),
        (("plain", "2", "4Gi"), ("short", "2", "4Gi"), False),
    ],
)
def test_a_probe_stands_for_hardly_more_digits_and_for_its_own_runtime(
    probed: tuple[str, ...], numbers: tuple[str, ...], stands: bool
) -> None:
    assert stands_for(probed, numbers) is stands


def test_a_word_that_stands_there_with_other_numbers_only_is_no_constant() -> None:
    """As a host does that is `localhost` for one node, and made of the name for several."""

    def compile(document: Document) -> Plan:
        several = document.value["spec"]["activeDeadlineSeconds"] > 1
        return changed(lambda name: f"{name}-0.{name}" if several else "localhost")(document)

    moulds = Moulds()
    moulds.expect(100)
    made: dict[str, str] = {}
    for number in range(20):
        text = JOB.format(name=f"job-{number}") + f"  activeDeadlineSeconds: {1 if number < 8 else 2}\n"
        if blank := moulds.fit("job.yaml", Chunk(text)):
            manifest = moulds.made(blank, compile)
            assert isinstance(manifest, Manifest)
            made[manifest.name] = manifest.text
    for name, text in made.items():
        host = f"{name}-0.{name}" if int(name[4:]) >= 8 else "localhost"
        assert f"of-the-name: {host}\n" in text
