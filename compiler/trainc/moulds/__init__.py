"""Moulds: jobs that are alike but for words which are only carried are compiled once, and poured from then on.

Reads    the texts of TrainJobs, as a run finds them, and what the pipeline makes of the first ones of a kind.
Returns  the manifests of the others, byte for byte as the pipeline would make them, for a twentieth of its time.

A thousand TrainJobs in git are a few, copied: other names, images, arguments, data, numbers of nodes. A *shape*
(`shapes`) is the text of a TrainJob with groups for such values. Some are words, which no stage and no check looks at:
`places` says where these stand, and lets only spellings of them pass that are beyond doubt. The others are numbers.

The first job with its numbers is compiled as always, and beside it a probe, the same job with a long mark for each
word; the probe's manifest with gaps for the marks is the *mould* of these numbers (`casts`), from which further jobs
are poured. Where the shape has a mould for other numbers, and what was made of the job differs from that in lines
without gaps or words alone, its mould is made without a probe. Probes are made on credit: where few jobs are alike,
they end.

A mould is kept only if it pours its first job as the pipeline has made it, and if there was nothing to be said of that
job and of the probe. Whatever has no shape or no mould goes through the pipeline. Nothing outlives the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Document, ObjectId
from trainc.emit.yaml import Writer
from trainc.frontends import VERSION
from trainc.kubernetes.documents import parse
from trainc.moulds.casts import DIGITS, Mould, Spelled, cast, is_silent, marks, text_of
from trainc.moulds.shapes import Shape, shape_of, signature
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.inputs import File
    from trainc.kubernetes.documents import Chunk
    from trainc.moulds.shapes import Groups
    from trainc.plan import Plan

    Compile = Callable[[Document], Plan]
    """A document through the whole pipeline."""
    Key = tuple[Shape, Groups, tuple[int, ...]]
    """What the jobs of a mould have in common: shape, numbers, and which words are equal (for each, the first such)."""

KIND: Final = "kind: TrainJob"
"""In a text without this there is nothing to look at."""
LONGEST: Final = 16 * 1024
"""Characters of a text. What is longer is rare, and its expression would take long."""
MOST: Final = 16
"""Shapes of so many lines: one after the other is tried on a text."""
LENT: Final = 16
"""The time of one in so many jobs may be spent on probes before jobs have been poured; then what these have saved."""
OF_A_PROBE: Final = 2
"""How many jobs' time a probe takes."""
BARREN: Final = 2
"""After so many probes that were in vain, a shape gets no more."""
RECENT: Final = 8
"""So many moulds for other numbers are tried on what was made of a job."""
ALIKE: Final = 3
"""So many texts that may be of one shape are read before it is made."""


class Blank(NamedTuple):
    """A TrainJob that has a shape. Its text has not been read any further."""

    shape: Shape
    words: Groups
    numbers: Groups
    comments: Groups
    namespace: str
    name: str
    file: str
    line: int

    def document(self, words: Groups | None = None) -> Document:
        """The document after all; with other words, where they are given."""
        text = self.shape.text(words or self.words, self.numbers, self.comments)
        return Document(file=self.file, line=self.line, text=text, value=parse(text))


class Manifest(NamedTuple):
    """What is written of a TrainJob of which there is nothing to be said."""

    namespace: str
    name: str
    file: str
    text: str
    """Its objects, separated by `---`."""

    @property
    def id(self) -> ObjectId:
        """Which TrainJob it is made of."""
        return ObjectId(VERSION, "TrainJob", self.namespace, self.name)


class Moulds:
    """The shapes and moulds of one run."""

    def __init__(self, namespace: str | None = None) -> None:
        """`namespace` is that of TrainJobs which name none."""
        self._namespace = namespace or ""
        self._shapes: dict[int, list[Shape]] = {}
        """By their number of lines."""
        self._seen: dict[int, int] = {}
        """How many texts without a shape have the signature of that hash."""
        self._moulds: dict[Key, Mould] = {}
        self._spelled = Spelled()
        self._writer = Writer()
        self._credit = 0
        """How many jobs' time may be spent on probes."""

    def whole(self, file: File) -> Blank | None:
        """A file that is nothing but a job of a shape that is known: it need not be cut into documents."""
        data = file.data
        if len(data) > LONGEST or not data.isascii():
            return None
        return self._of_a_shape(file.path, str(data, "ascii"), 1)

    def fit(self, file: str, chunk: Chunk) -> Blank | None:
        """A text as a blank; None where it has no shape yet, which it gets when there have been enough like it."""
        text = chunk.text
        if len(text) > LONGEST:
            return None
        blank = self._of_a_shape(file, text, chunk.line)
        if blank is None and KIND in text:
            self._count(text)
        return blank

    def _of_a_shape(self, file: str, text: str, line: int) -> Blank | None:
        shapes = self._shapes.get(text.count("\n"), [])
        for at, shape in enumerate(shapes):
            values = shape.values(text)
            if values is not None:
                if at:  # what comes often comes first
                    shapes[at - 1 : at + 1] = shape, shapes[at - 1]
                words = shape.words_of(values)
                namespace = shape.said_namespace if shape.namespace is None else words[shape.namespace]
                return Blank(
                    shape,
                    words,
                    shape.numbers_of(values),
                    shape.comments_of(values),
                    namespace or self._namespace,
                    words[shape.name],
                    file,
                    line,
                )
        return None

    def _count(self, text: str) -> None:
        """Count the texts of a signature, and make their shape when there are enough."""
        shapes = self._shapes.setdefault(text.count("\n"), [])
        if len(shapes) < MOST:
            sign = hash(signature(text))
            self._seen[sign] = self._seen.get(sign, 0) + 1
            if self._seen[sign] % ALIKE == 0 and (made := shape_of(text)) is not None:
                shapes.insert(0, made)

    def expect(self, jobs: int) -> None:
        """How many jobs are to be made."""
        self._credit = max(jobs // LENT, OF_A_PROBE)

    def made(self, job: Document | Blank, compile: Compile) -> Manifest | Plan:
        """What becomes of a job: poured where there is a mould for it. A plan where there is something to be said."""
        if isinstance(job, Document):
            plan = compile(job)
            return self._written(plan) if is_silent(plan) else plan
        return self._of_blank(job, compile)

    def _of_blank(self, blank: Blank, compile: Compile) -> Manifest | Plan:
        """As `made`: of a blank, whose first job makes the mould."""
        words = blank.words
        key = (blank.shape, blank.numbers, tuple(map(words.index, words)))
        mould = self._moulds.get(key)
        if mould is not None:
            self._credit += 1
            return Manifest(blank.namespace, blank.name, blank.file, mould.pour(words, self._spelled))
        plan = compile(blank.document())
        if not is_silent(plan):
            return plan
        written = self._written(plan)
        if mould := self._like_another(blank, written.text) or self._probed(blank, written.text, compile):
            self._moulds[key] = mould
        return written

    def _written(self, plan: Plan) -> Manifest:
        """No more of a plan than its text."""
        job = plan.job
        return Manifest(job.namespace, job.name, job.document.file, text_of(plan, self._writer))

    def _like_another(self, blank: Blank, text: str) -> Mould | None:
        """The mould of the blank's key that is a probed one of the shape, but for numbers."""
        for numbers, mould in reversed(blank.shape.moulds[-RECENT:]):
            if stands_for(numbers, blank.numbers) and (alike := mould.with_numbers(blank.words, self._spelled, text)):
                return alike
        return None

    def _probed(self, blank: Blank, text: str, compile: Compile) -> Mould | None:
        """The mould of the blank's key, by a probe; None where that is too dear, or in vain."""
        shape = blank.shape
        if self._credit < OF_A_PROBE or shape.failures >= BARREN:
            return None
        self._credit -= OF_A_PROBE
        marked = marks(blank.words, shape.words)
        if is_silent(probe := compile(blank.document(marked))):
            mould = cast(probe, shape.words, marked)
            if mould is not None and mould.pour(blank.words, self._spelled) == text:
                shape.moulds.append((blank.numbers, mould))
                return mould
        shape.failures += 1
        return None


def stands_for(probed: Groups, numbers: Groups) -> bool:
    """Whether what a probe has shown holds for other numbers: names are made of words and numbers, and have limits.

    So they have hardly more digits than the probe's. Of another runtime nothing is known.
    """
    pairs = [(one, other) for one, other in zip(numbers, probed, strict=True) if one != other]
    return all(one[0].isdigit() for one, _ in pairs) and sum(len(one) - len(other) for one, other in pairs) <= DIGITS
