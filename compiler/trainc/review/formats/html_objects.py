"""HTML objects: the different changes of a review as HTML, collapsed, each object with both sides side by side.

Reads    the changes, with the sources that have them.
Returns  lines of HTML for the page of `html.py`: rows, each with a line of one or of both texts and, in two matched
         lines, the parts that differ. Lines of YAML are matched by their keys. Unchanged lines that are not near a
         difference are collapsed, because a browser does little work for them until they are expanded. Text of the
         input is on one line, with unprintable characters escaped, and cannot end an element.
"""

from __future__ import annotations

import html
import re
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.base.suggestions import shared_length
from trainc.base.texts import plural
from trainc.compilation.important_objects import DELETED
from trainc.emit import yaml
from trainc.kubernetes.trees import put
from trainc.masking.masked_values import CHANGED
from trainc.review.consequences import RANK, SHORT
from trainc.review.formats import SHADES, origin, printable, sentence
from trainc.review.job_entries import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trainc.kubernetes.trees import Tree
    from trainc.review.job_entries import Alike, Subject
    from trainc.review.reviewed import CauseGroup, Line, Review, Reviewed


FEW: Final = 12
"""The maximum number of sources in a list that is not collapsed."""
LINE: Final = 4000
"""The maximum length of a line of a page."""
SIGNS: Final = {"added": "+", "removed": "−", "changed": "±"}
CONTEXT: Final = 3
"""The number of unchanged lines that are shown before and after a difference."""
SHORTEST_STRETCH: Final = 3
"""The minimum number of lines in a stretch."""
LONGEST: Final = 2000
"""The limit for a full comparison: longer lines are compared by their common ends only, more lines by equality only."""
TOKENS: Final = re.compile(r"[\w.]+|\s+|.", re.DOTALL)
LEAST_SIMILARITY: Final = 0.4
"""Two lines with a lower similarity ratio are not compared word by word."""


def text(given: str) -> str:
    """Return text for a page.

    >>> text("</details>\\u202e")
    '&lt;/details&gt;\\\\u202e'
    """
    return html.escape(printable(given if len(given) <= LINE else f"{given[:LINE]}…"), quote=False)


def path(given: str) -> str:
    """Return a field path for a page, with line break opportunities between its steps."""
    return text(given).replace(".", ".<wbr>").replace("[", "<wbr>[")


def mark(reviewed: Reviewed) -> str:
    """Return the filter key of an object: its effect, or whether it was added or removed."""
    return reviewed.effect if reviewed.status == "changed" else reviewed.status


def marks(change: Alike) -> list[str]:
    """Return the filter keys of a change, the most severe first."""
    found = {mark(reviewed) for reviewed in change.objects}
    return sorted(found, key=lambda key: -RANK.get(key, len(RANK)))  # type: ignore[call-overload]


def badge(key: str, words: Mapping[Any, str] = SHORT) -> str:
    """Return a short label of an effect, or of an object that is added or removed, with the words of the review."""
    label, shade = words[key], SHADES.get(key, "") if key in SHORT else key
    shade = shade or ("plain" if key in {"unknown", "differs"} else "calm")
    return f'<span class="badge {shade}">{text(label)}</span>'


def words_of(review: Review) -> dict[Any, str]:
    """Return the short labels of effects, and the words for objects that one side has."""
    shown = {key: SHORT[key] for key in reversed(SHORT)}
    return {"removed": review.word("removed"), **shown, "added": review.word("added")}


def sections(review: Review, changes: Sequence[Alike], groups: Sequence[CauseGroup]) -> Iterator[str]:
    """Yield the different changes: the sources that have it, and the objects of the first one."""
    if not changes:
        return
    causes = {
        (key, id(each)): number
        for number, group in enumerate(groups, start=1)
        for each in group.objects
        for key in group.keys
    }
    was = f"in {text(review.old)}" if review.kind == "environments" else "renamed from"
    writer, words = yaml.Writer(), words_of(review)
    yield '<section aria-labelledby="each"><h2 id="each">Jobs</h2>'
    for number, change in enumerate(changes, start=1):
        keys = marks(change)
        yield f'<details class="item object" id="o{number}" data-is="{" ".join(keys)}">{_summary(change, keys, words)}'
        yield '<div class="body">'
        if len(change.subjects) > 1:
            yield names(change.subjects)
            yield f'<p class="note">The same change, shown for {text(change.subjects[0].title)}:</p>'
        for reviewed in change.objects:
            yield f"<h3>{text(reviewed.id.kind)} <code>{text(reviewed.id.qualified_name)}</code></h3>"
            yield f'<ul class="facts">{"".join(_facts(reviewed, causes, was))}</ul>'
            yield "".join(_sides(reviewed, review, writer))
        yield "</div></details>"
    yield "</section>"


def names(given: Sequence[Subject], numbers: Mapping[object, int] | None = None) -> str:
    """Return the list of sources, collapsed if it is long; `numbers` has the changes that they link to."""
    items = []
    for subject in given:
        number = numbers and numbers.get((subject.source, *subject.environments[:1]))
        shown = text(subject.title)
        items.append(f'<li><a href="#o{number}">{shown}</a>' if number else f"<li>{shown}")
    shown = f'<ul class="names" aria-label="Jobs">{" ".join(items)}</ul>'
    if len(given) <= FEW:
        return shown
    return f"<details><summary>{text(number_of(given))}</summary>{shown}</details>"


def _summary(change: Alike, keys: Sequence[str], words: Mapping[Any, str]) -> str:
    first, statuses = change.subjects[0], {reviewed.status for reviewed in change.objects}
    status = statuses.pop() if len(statuses) == 1 else "changed"
    fields = sum(len(reviewed.lines) for reviewed in change.objects)
    count = plural(fields, "field") if fields else ""
    kind, more = first.source.kind, len(change.subjects) - 1
    environments = f' <span class="kind">[{text(", ".join(first.environments))}]</span>' if first.environments else ""
    others = f' <span class="kind">and {more:,} more</span>' if more else ""
    word = f'<span class="kind">{text(kind)}</span> ' if kind else ""
    name = text(first._replace(source=first.source._replace(kind=""), environments=()).title)
    return (
        f'<summary><span class="what"><span class="sign {status}" aria-hidden="true">{SIGNS[status]}</span> '
        f'{word}<span class="name">{name}</span>{environments}{others}</span>'
        f'<span class="count">{count}</span>{badge(keys[0], words)}</summary>'
    )


def _facts(reviewed: Reviewed, causes: Mapping[tuple[object, int], int], was: str) -> Iterator[str]:
    """Yield the source, the causes and the effects of an object's changes; `causes` has the numbers to link to.

    was   what precedes the name of the old object, if it has another one
    """
    if reviewed.at is not None:
        yield f"<li>source: <code>{text(str(reviewed.at._replace(column=0)).removesuffix(':0'))}</code>"
    if reviewed.loses_data:
        yield f'<li><span class="effect bad">{DELETED}</span>'
    if reviewed.renamed:
        yield f"<li>{was} <code>{text(reviewed.renamed.qualified_name)}</code>"
    if reviewed.cause is not None:
        yield f"<li>{reviewed.status} by <code>{text(origin(reviewed.cause))}</code> {text(reviewed.cause.by)}"
    found: dict[tuple[object, str], list[Line]] = {}
    for line in reviewed.lines:
        found.setdefault((line.cause and line.cause.key, sentence(line, [reviewed])), []).append(line)
    for (key, shown), lines in found.items():
        cause = lines[0].cause
        link = f'<a href="#c{causes[key, id(reviewed)]}"><code>{text(origin(cause))}</code></a>: ' if cause else ""
        shade = SHADES.get(lines[0].consequence.effect, "")
        fields = "".join(f"<li><code>{path(line.change.field)}</code>" for line in lines)
        yield f'<li>{link}<span class="effect {shade}">{text(shown)}</span><ul>{fields}</ul>'


def _sides(reviewed: Reviewed, review: Review, writer: yaml.Writer) -> Iterator[str]:
    """Yield both sides of a changed object, or the whole of an added or removed one."""
    trees = reviewed.masked_before, _with_changed_masks(reviewed)
    old, new = (writer.document(tree) if tree is not None else "" for tree in trees)
    if not old or not new:
        lines = "\n".join(map(text, (old or new).splitlines()))
        yield f'<pre class="whole {reviewed.status}" tabindex="0" aria-label="{reviewed.status}">{lines}</pre>'
        return
    yield '<table class="side"><thead><tr><td><th scope="col">'
    yield f'{text(review.old)}<td><th scope="col">{text(review.new)}<tbody>'
    for row in side_by_side(old, new):
        yield _stretch(row) if isinstance(row, Stretch) else _line_row(row)
    yield "</table>"


def _with_changed_masks(reviewed: Reviewed) -> Tree | None:
    """Return the whole object after, without secrets. A secret that changes is marked."""
    tree = reviewed.masked_after
    for change in (line.change for line in reviewed.lines):
        if tree is not None and isinstance(change.new, str) and CHANGED in change.new:
            tree = put(tree, change.new_path, change.new)
    return tree


def _stretch(stretch: Stretch) -> str:
    lines = "\n".join(map(text, stretch.lines))
    return (
        f'<tr class="fold"><td colspan="4"><details><summary>{plural(len(stretch.lines), "unchanged line")}</summary>'
        f"<pre>{lines}</pre></details>"
    )


def _line_row(row: LineRow) -> str:
    if row.same:
        return f"<tr><td>{row.old}<td>{_parts(row.left)}<td>{row.new}<td>{_parts(row.right)}"
    left = f'<td class="o">{row.old}<td class="o">{_parts(row.left, "del")}' if row.old else "<td><td>"
    right = f'<td class="n">{row.new}<td class="n">{_parts(row.right, "ins")}' if row.new else "<td><td>"
    return f'<tr class="d">{left}{right}'


def _parts(parts: Sequence[LinePart], tag: str = "") -> str:
    return "".join(f"<{tag}>{text(part.text)}</{tag}>" if part.differs else text(part.text) for part in parts)


class LinePart(NamedTuple):
    """A part of a line."""

    text: str
    differs: bool = False


class LineRow(NamedTuple):
    """A line of the old text, of the new one, or one of each; the number of a missing line is 0."""

    old: int = 0
    left: tuple[LinePart, ...] = ()
    new: int = 0
    right: tuple[LinePart, ...] = ()
    same: bool = False


class Stretch(NamedTuple):
    """Unchanged lines."""

    old: int
    """The number of the first line in the old text."""
    new: int
    lines: tuple[str, ...]


def side_by_side(old: str, new: str) -> Iterator[LineRow | Stretch]:
    """Yield both texts, line by line.

    >>> for row in side_by_side("a: 1\\nb: 2\\n", "a: 1\\nb: 3\\n"):
    ...     print(row.old, [part.text for part in row.left if part.differs], [*row.right[1:]])
    1 [] []
    2 ['2'] [LinePart(text='3', differs=True)]
    """
    before, after = (text.removesuffix("\n").split("\n") for text in (old, new))
    lines = len(before) + len(after)
    for (i, j, size), (next_i, next_j, _) in pairwise(
        [(0, 0, 0), *_equal_blocks(before, after), (len(before), len(after), 0)]
    ):
        if size:
            yield from _unchanged_rows(before[i : i + size], i, j, first=i + j == 0, last=i + j + 2 * size == lines)
        yield from _changed(before[i + size : next_i], after[j + size : next_j], i + size, j + size)


def _equal_blocks(before: list[str], after: list[str]) -> list[tuple[int, int, int]]:
    """Return the blocks of equal lines: the index in each text, and the length."""
    head = shared_length(before, after)
    tail = shared_length(before[head:][::-1], after[head:][::-1])
    found = [(0, 0, head)] if head else []
    middles = before[head : len(before) - tail], after[head : len(after) - tail]
    if all(middles) and max(map(len, middles)) <= LONGEST:
        matcher = SequenceMatcher(None, *middles)
        found += [(i + head, j + head, size) for i, j, size in matcher.get_matching_blocks() if size]
    return [*found, (len(before) - tail, len(after) - tail, tail)] if tail else found


def _unchanged_rows(lines: list[str], old: int, new: int, *, first: bool, last: bool) -> Iterator[LineRow | Stretch]:
    """Yield unchanged lines: those near a difference as rows, the others as a stretch."""
    begin = 0 if first else min(CONTEXT, len(lines))
    end = len(lines) if last else max(begin, len(lines) - CONTEXT)
    if end - begin < SHORTEST_STRETCH:
        begin = end = 0
    rows = [_row(line, old + index + 1, new + index + 1) for index, line in enumerate(lines)]
    yield from rows[:begin]
    if begin < end:
        yield Stretch(old + begin + 1, new + begin + 1, tuple(lines[begin:end]))
    yield from rows[end:]


def _row(line: str, old: int, new: int) -> LineRow:
    part = (LinePart(line),)
    return LineRow(old, part, new, part, same=True)


def _changed(before: list[str], after: list[str], old: int, new: int) -> Iterator[LineRow]:
    """Yield lines that differ; lines with the same key share a row."""
    old_keys, new_keys = ([line.partition(":")[0] for line in lines] for lines in (before, after))
    blocks = SequenceMatcher(None, old_keys, new_keys).get_matching_blocks() if len(before + after) <= LONGEST else []
    ends = [(0, 0, 0), *blocks, (len(before), len(after), 0)]
    for (i, j, size), (next_i, next_j, _) in pairwise(ends):
        for index in range(size):
            yield from _compared(before[i + index], after[j + index], old + i + index + 1, new + j + index + 1)
        left = list(enumerate(before[i + size : next_i], old + i + size + 1))
        right = list(enumerate(after[j + size : next_j], new + j + size + 1))
        for one, other in zip_longest(left, right):
            if one is None or other is None:
                yield _unrelated_row(one, other)
            else:
                yield from _compared(one[1], other[1], one[0], other[0])


def _compared(before: str, after: str, old: int, new: int) -> Iterator[LineRow]:
    """Yield two lines with their differences marked, or unmarked if they have too little in common."""
    left, right = parts(before, after)
    if any(not part.differs and re.search(r"\w", part.text) for part in left):
        yield LineRow(old, left, new, right)
    else:
        yield _unrelated_row((old, before), (new, after))


def _unrelated_row(one: tuple[int, str] | None, other: tuple[int, str] | None) -> LineRow:
    """Return a row of unrelated lines."""
    old, left = (one[0], (LinePart(one[1]),)) if one else (0, ())
    new, right = (other[0], (LinePart(other[1]),)) if other else (0, ())
    return LineRow(old, left, new, right)


@lru_cache(maxsize=4096)  # one edit of a runtime changes the same line in many objects
def parts(before: str, after: str) -> tuple[tuple[LinePart, ...], tuple[LinePart, ...]]:
    """Return two lines in parts: the common ones, and those that differ."""
    if len(before) + len(after) > LONGEST:
        return _ends(before, after)
    one, other = TOKENS.findall(before), TOKENS.findall(after)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.ratio() < LEAST_SIMILARITY:
        return _ends(before, after)
    left, right = [], []
    for tag, i, to_i, j, to_j in matcher.get_opcodes():
        left.append(LinePart("".join(one[i:to_i]), tag != "equal"))
        right.append(LinePart("".join(other[j:to_j]), tag != "equal"))
    return tuple(part for part in left if part.text), tuple(part for part in right if part.text)


def _ends(before: str, after: str) -> tuple[tuple[LinePart, ...], tuple[LinePart, ...]]:
    """Return two lines in parts, by their common key or, for long lines, their common prefix."""
    key = re.match(r"[^:]*+: ", before)
    head = (
        key.end() if key and after.startswith(key[0]) else shared_length(before, after) if len(before) > LONGEST else 0
    )
    found = ((LinePart(line[:head]), LinePart(line[head:], differs=True)) for line in (before, after))
    left, right = (tuple(part for part in line if part.text) for line in found)
    return left, right
