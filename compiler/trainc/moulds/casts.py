"""A mould: the manifest of a TrainJob with gaps for its words.

Reads    what the pipeline makes of a job, and of a probe: the same job with a mark for each word.
Returns  the probe's manifest with gaps for the marks; None where a mark has become anything else than the word, or
         where the job itself, poured, is not what the pipeline has made of it.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from trainc.emit.order import objects_of_a_job
from trainc.emit.yaml import Writer, inline
from trainc.moulds.places import LABEL, NAME
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.moulds.shapes import Groups, Word
    from trainc.plan import Plan

MARK: Final = re.compile("zq[a-z]{3}q[xz]*")
PLAIN: Final = re.compile(f"{MARK.pattern}[./-][A-Za-z0-9./-]*")
"""What is spelled as it is whatever the labels in it: it begins with a letter, and is more than a word like `yes`."""
DIGITS: Final = 8
"""So much longer is the mark of a name: names of pods are made of it and of numbers, which may get more digits."""
_GAP: Final = re.compile("\0([0-9]+)\0")


class Spelled(dict[str, str]):
    """Each string as it stands in a manifest, on one line; made when it is first asked for."""

    MOST: Final = 16384

    def __missing__(self, text: str) -> str:
        if len(self) >= self.MOST:
            self.clear()
        self[text] = spelled = inline(text)
        return spelled


Making = tuple[tuple[str, "Callable[[Groups], object]"], ...]
"""Scalars that are made of words: a format, and the word or words for it."""


class Mould(NamedTuple):
    """A manifest with gaps."""

    text: str
    """With `%s` for each gap."""
    plain: Making
    """Scalars that are made of labels, and spelled as they are."""
    others: Making
    """Scalars that are made of words, and may need quotes."""
    order: Callable[[Sequence[str]], object]
    """What fills the gaps, of these: the words as they are, the words as scalars, the plain scalars, the others."""

    def pour(self, words: Groups, spelled: Spelled) -> str:
        """The manifest of a job with these words."""
        plain = [form % of(words) for form, of in self.plain]
        others = [spelled[form % of(words)] for form, of in self.others]
        return self.text % self.order((*words, *map(spelled.__getitem__, words), *plain, *others))

    def with_numbers(self, words: Groups, spelled: Spelled, made: str) -> Mould | None:
        """The mould of a manifest that differs from this one's in lines without gaps, and without words, alone.

        A word may stand in a line with some numbers only: a host that is `localhost` where there is one node. What
        looks like a word, and is a number, needs a probe, too.
        """
        ours, poured, lines = self.text.split("\n"), self.pour(words, spelled).split("\n"), made.split("\n")
        if len(ours) != len(lines) or len(poured) != len(lines):
            return None
        for at, (mine, line) in enumerate(zip(poured, lines, strict=True)):
            if mine != line:
                if _escaped(mine) != ours[at] or any(word in line for word in words):
                    return None
                ours[at] = _escaped(line)
        return self._replace(text="\n".join(ours))


def text_of(plan: Plan, writer: Writer) -> str:
    """What is written of one job."""
    return "---\n".join(map(writer.document, objects_of_a_job(plan.objects)))


def marks(words: Groups, of_shape: Sequence[Word]) -> Groups:
    """A word for each place, as long as the place allows, a name even longer; equal words get equal ones."""
    made: dict[str, str] = {}
    for word in words:
        if word not in made:
            places = [place for other, place in zip(words, of_shape, strict=True) if other == word]
            form = max((place.kind for place in places), key=lambda kind: kind.strictness).mark
            length = min(place.most for place in places) - len(form.format(""))
            length += DIGITS if any(place.path == NAME for place in places) else 0
            made[word] = form.format(f"zq{_letters(len(made))}q".ljust(length - 1, "x") + "z")
    return tuple(made[word] for word in words)


def _letters(number: int) -> str:
    """Three letters for each number: no text has as many words."""
    return "".join(chr(ord("a") + number // 26**place % 26) for place in range(3))


def cast(probe: Plan, of_shape: Sequence[Word], marked: Groups) -> Mould | None:
    """The mould that a probe's objects are, less the marks."""
    kinds = [(tree["apiVersion"], tree["kind"]) for tree in probe.objects]
    if len(set(kinds)) < len(kinds) or any(map(MARK.search, _keys(probe.objects))):
        return None  # an order may be that of words
    whole = {place.before + mark: at for at, (place, mark) in enumerate(zip(of_shape, marked, strict=True))}
    labels = {mark: at for at, (place, mark) in enumerate(zip(of_shape, marked, strict=True)) if place.kind is LABEL}
    text = text_of(probe, Writer())
    gaps: dict[str, int] = {}
    plain: dict[str, tuple[str, Callable[[Groups], object]]] = {}
    others: dict[str, tuple[str, Callable[[Groups], object]]] = {}
    for scalar in set(_marked(probe.objects)):
        found = MARK.findall(scalar)
        if scalar in whole:
            at = whole[scalar]
            if of_shape[at].before:
                others[scalar] = (_escaped(of_shape[at].before) + "%s", itemgetter(at))
            else:  # a label is written as it is
                gaps[scalar] = at if of_shape[at].kind is LABEL else len(marked) + at
        elif any(mark not in labels for mark in found):
            return None
        elif "\n" not in scalar:  # else it is a block, and what that is like besides does not depend on its labels
            made = plain if PLAIN.fullmatch(scalar) else others
            made[scalar] = (MARK.sub("%s", _escaped(scalar)), itemgetter(*(labels[mark] for mark in found)))
    gaps |= {scalar: 2 * len(marked) + index for index, scalar in enumerate((*plain, *others))}
    for scalar in sorted(gaps, key=len, reverse=True):
        text = text.replace(f" {inline(scalar)}\n", f" \0{gaps[scalar]}\0\n")
    text = MARK.sub(lambda mark: f"\0{labels[mark[0]]}\0", text)
    order = [int(gap) for gap in _GAP.findall(text)]
    return Mould(_GAP.sub("%s", _escaped(text)), (*plain.values(),), (*others.values(),), itemgetter(*order))


def _escaped(text: str) -> str:
    """For a format."""
    return text.replace("%", "%%")


def _keys(node: Any) -> Iterator[str]:
    """The keys of a tree."""
    if isinstance(node, dict):
        yield from node
    if isinstance(node, dict | list | tuple):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _keys(inner)


def _marked(node: Any) -> Iterator[str]:
    """The strings of a tree that hold a mark, keys apart."""
    if isinstance(node, dict | list | tuple):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _marked(inner)
    elif isinstance(node, str) and MARK.search(node):
        yield node


def is_silent(plan: Plan) -> bool:
    """Whether there is nothing to be said of a job, so that nothing is lost where nobody looks at it."""
    return bool(plan.objects) and not (plan.diagnostics or plan.refused or plan.regrets)
