"""HTML objects: the objects of a review as HTML, collapsed, each with both sides side by side.

Reads    the objects; the groups, for their causes.
Returns  lines of HTML for the page of `html.py`. Unchanged lines that are not near a difference are collapsed, because
         a browser does little work for them until they are expanded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.texts import plural
from trainc.compilation.lost_data import DELETED
from trainc.emit import yaml
from trainc.kubernetes.trees import put
from trainc.provenance.tracing.correspondence import value_at
from trainc.review.consequences import WORDS
from trainc.review.escaping import path, text
from trainc.review.formats import meaning, name_in_namespace, origin
from trainc.review.side_by_side import Stretch, side_by_side
from trainc.source.masking import MASK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.kubernetes.trees import Tree
    from trainc.review.consequences import Effect
    from trainc.review.reviewed import CauseGroup, Line, Review, Reviewed
    from trainc.review.side_by_side import LinePart, LineRow

CHANGED: Final = "\N{SQUARED ASTERISK}"
"""The last character of the mask of a changed value, so that its line differs; shown as that of each mask."""
SIGNS: Final = {"added": "+", "removed": "−", "changed": "±"}


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
        yield f"<li>renamed from <code>{text(name_in_namespace(reviewed.renamed))}</code>"
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
        yield (_stretch(row) if isinstance(row, Stretch) else _row(row)).replace(CHANGED, MASK[-1])
    yield "</table>"


def _with_changed_masks(reviewed: Reviewed) -> Tree | None:
    """Return the whole object after, without secrets: with CHANGED for the mask of a value that changes."""
    tree = reviewed.masked_after
    for change in (line.change for line in reviewed.lines):
        is_hidden = isinstance(change.new, str) and change.new == change.old and MASK in change.new
        if tree is not None and is_hidden and value_at(tree, change.new_path) == change.new:
            tree = put(tree, change.new_path, change.new.replace(MASK, MASK[:-1] + CHANGED))
    return tree


def _stretch(stretch: Stretch) -> str:
    lines = "\n".join(map(text, stretch.lines))
    return (
        f'<tr class="fold"><td colspan="4"><details><summary>{plural(len(stretch.lines), "unchanged line")}</summary>'
        f"<pre>{lines}</pre></details>"
    )


def _row(row: LineRow) -> str:
    if row.same:
        return f"<tr><td>{row.old}<td>{_parts(row.left)}<td>{row.new}<td>{_parts(row.right)}"
    left = f'<td class="o">{row.old}<td class="o">{_parts(row.left, "del")}' if row.old else "<td><td>"
    right = f'<td class="n">{row.new}<td class="n">{_parts(row.right, "ins")}' if row.new else "<td><td>"
    return f'<tr class="d">{left}{right}'


def _parts(parts: Sequence[LinePart], tag: str = "") -> str:
    return "".join(f"<{tag}>{text(part.text)}</{tag}>" if part.differs else text(part.text) for part in parts)
