"""HTML objects: the objects of a review as HTML, collapsed, each with both sides side by side.

Reads    the objects; the groups, for their causes.
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
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.suggestions import shared_length
from trainc.base.texts import plural
from trainc.compilation.lost_data import DELETED
from trainc.emit import yaml
from trainc.kubernetes.trees import put
from trainc.masking.masked_values import CHANGED
from trainc.review.consequences import WORDS
from trainc.review.formats import meaning, origin, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.kubernetes.trees import Tree
    from trainc.review.consequences import Effect
    from trainc.review.reviewed import CauseGroup, Line, Review, Reviewed


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


def badge(effect: Effect) -> str:
    """Return a short label of an effect."""
    return f'<span class="badge {effect}">{text(WORDS[effect].partition(":")[0])}</span>'


def sections(review: Review, groups: Sequence[CauseGroup]) -> Iterator[str]:
    """Yield the objects, in the order of the review."""
    if not review.objects:
        return
    numbers = {
        (group.cause.key, id(each)): number
        for number, group in enumerate(groups, start=1)
        if group.cause
        for each in group.objects
    }
    writer = yaml.Writer()
    yield '<section aria-labelledby="each"><h2 id="each">Objects</h2>'
    for number, reviewed in enumerate(review.objects, start=1):
        yield f'<details class="item object" id="o{number}" data-is="{mark(reviewed)}">{_summary(reviewed)}'
        yield f'<div class="body"><ul class="facts">{"".join(_facts(reviewed, numbers))}</ul>'
        yield "".join(_sides(reviewed, review, writer))
        yield "</div></details>"
    yield "</section>"


def _summary(reviewed: Reviewed) -> str:
    status, id = reviewed.status, reviewed.id
    if status == "changed":
        count, shown = plural(len(reviewed.lines), "field"), badge(reviewed.effect)
    else:
        count, shown = "", f'<span class="badge {status}">{status}</span>'
    namespace = f'<span class="ns">{text(id.namespace)}/</span>' if id.namespace else ""
    names = text(", ".join(reviewed.environments))
    environments = f' <span class="kind">[{names}]</span>' if names else ""
    return (
        f'<summary><span class="what"><span class="sign {status}" aria-hidden="true">{SIGNS[status]}</span> '
        f'<span class="kind">{text(id.kind)}</span> <span class="name">{namespace}{text(id.name)}</span>'
        f"{environments}</span>"
        f'<span class="count">{count}</span>{shown}</summary>'
    )


def _facts(reviewed: Reviewed, numbers: dict[tuple[object, int], int]) -> Iterator[str]:
    """Yield the source, the causes and the effects of an object's changes."""
    if reviewed.at is not None:
        yield f"<li>source: <code>{text(str(reviewed.at._replace(column=0)).removesuffix(':0'))}</code>"
    if reviewed.loses_data:
        yield f'<li><span class="effect refused">{DELETED}</span>'
    if reviewed.renamed:
        yield f"<li>renamed from <code>{text(reviewed.renamed.qualified_name)}</code>"
    if reviewed.cause is not None:
        yield f"<li>{reviewed.status} by <code>{text(origin(reviewed.cause))}</code> {text(reviewed.cause.by)}"
    found: dict[tuple[tuple[object, int] | None, str, str], list[Line]] = {}
    for line in reviewed.lines:
        key = line.cause and (line.cause.key, id(reviewed))
        found.setdefault((key, line.consequence.effect, meaning(line, reviewed)), []).append(line)
    for (key, effect, shown), lines in found.items():
        cause = lines[0].cause
        link = f'<a href="#c{numbers[key]}"><code>{text(origin(cause))}</code></a>: ' if cause and key else ""
        fields = "".join(f"<li><code>{path(line.change.field)}</code>" for line in lines)
        yield f'<li>{link}<span class="effect {effect}">{text(shown)}</span><ul>{fields}</ul>'


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
