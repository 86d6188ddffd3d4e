"""The formats of a review: one module per format, with `render(review, *, color) -> str`, loaded by name.

This module has the texts that several formats share: numbers, names, values and the effects of changes.

**A review format** (`trainc diff`). Copy from `review/formats/text.py` (only `text` has color and a width), for data
from `json.py`, and from `tests/review/test_markdown.py`.
1. Write `review/formats/<name>.py` with `render`, and add its name to `REVIEWS` in `cli/common/options.py` and to
   `ReviewFormat` in `api/reviews.py`. The same object in several environments is one `Reviewed` with their names in
   `environments`, which are empty in a project without any: count `Reviewed.number`, not the items of a list.
2. Every format has the text of `numbers_of`, lists the changed settings first, shows the values of a cause and of each
   change, and masks secrets as `***`. Add the format to `FIRST_LINES` in `tests/review/test_merges.py` and to `READERS`
   in `tests/review/test_figures.py`; the other tests of `tests/review` run for all `REVIEWS`.
3. Write `tests/review/test_<name>.py`, which compares the complete outputs for `tests/review/situations.py` and reads
   them with a third-party parser, if the format has one. Add texts that could break out of every format to `BREAKOUTS`
   there, others to your own test.
4. Write an entry in `docs/review.md` and in `docs/python.md`; a format that lacks a part is an exception in the
   sentences "Every format". `pytest --snapshot-update tests/contracts/test_documentation.py -k "review or diff.md"`
   writes the examples. At the end, run `pytest tests/review`.
5. Only for `html`: the tests of the page need Debian's Chromium (`tests/review/packages.txt`) and playwright (`make
   browser`), else they are skipped. `TRAINC_PICTURES=DIR pytest tests/review/test_browser.py` saves screenshots.
   Look at them.
"""

from __future__ import annotations

from collections import Counter
from difflib import unified_diff
from importlib import import_module
from itertools import islice
from json import JSONEncoder
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from trainc.base.kinds import JOBSET
from trainc.base.suggestions import shared_length
from trainc.base.texts import escape, plural
from trainc.compilation.important_objects import DELETED, is_important
from trainc.kubernetes.pod_resources import amount, order
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import Memory
from trainc.kubernetes.violations import listed
from trainc.masking.masked_values import MASK
from trainc.pipeline.lint.triggers import IGNORE
from trainc.pods.footprint import NOTHING
from trainc.provenance.tracing.correspondence import GONE
from trainc.reports import catalogue, message
from trainc.review.changes import Change
from trainc.review.changes.changed_settings import REPORTING, own_path
from trainc.review.consequences import RANK
from trainc.review.field_managers import latest
from trainc.review.job_entries import number_of, subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.pods.footprint import Footprint
    from trainc.review.consequences import Effect
    from trainc.review.job_entries import Subject
    from trainc.review.reviewed import (
        Cause,
        CauseGroup,
        ChangedSetting,
        Line,
        PodNumbers,
        Review,
        Reviewed,
    )
    from trainc.review.sides.moves import FolderMove
    from trainc.review.sides.side_files import NotCompared

_T = TypeVar("_T")
SHORT: Final = 60
"""The maximum length of a value that is shown on one line."""
MOVED: Final = 6
"""The maximum number of ordinary objects that are named for a move."""
LONGEST: Final = 2000
"""The maximum number of lines of two values that are compared line by line."""
SETTINGS: Final = 6
"""The maximum number of settings that are named as possible causes."""
REMARKS: Final = 20
"""The maximum number of sentences about what is not compared of a cluster."""
MANAGERS: Final = 3
"""The maximum number of clients that are named for a change in a cluster."""
Shade = Literal["bad", "warn", ""]
SHADES: Final[dict[Effect, Shade]] = {
    "refused": "bad",
    "new-object": "bad",
    "restarts": "bad",
    "withheld": "warn",
    "while-suspended": "warn",
    "ahead": "warn",
    "new-name": "warn",
    "stops": "warn",
}
"""The colors of effects: "bad" for what is rejected or lost, "warn" for what is not applied as it is."""
ZERO: Final = Quantity(0)
_JSON: Final = JSONEncoder(ensure_ascii=False)


def load(name: str) -> Callable[..., str]:
    """Return the `render` function of a format."""
    render: Callable[..., str] = import_module(f"{__name__}.{name}").render
    return render


def numbers(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the number of diagnostics of each severity: `1 warning and 2 notes`."""
    counts = (
        (sum(each.severity == severity for each in diagnostics), severity) for severity in ("error", "warning", "note")
    )
    return listed(plural(count, severity) for count, severity in counts if count)


def names_of(
    given: Sequence[Subject], most: int, code: Callable[[str], str] = str, words: Callable[[str], str] = str
) -> str:
    """Return sources: `nlp/llama [dev, prod]`, `3 jobs [prod]: a, b, 2 more`; environments that all share are one.

    Args:
        given: the sources.
        most: the maximum number of names; important sources come first, and are never left out.
        code: the form of names in the format.
        words: the form of other words.
    """
    important = sum(each.is_important for each in given)
    kept = important_first(given, max(0, most + (len(given) == most + 1) - important))
    scopes = [f" {code('[' + ', '.join(each.environments) + ']')}" if each.environments else "" for each in kept]
    names = [code(each._replace(environments=()).title) for each in kept]
    if len(given) == 1:
        return names[0] + scopes[0]
    is_shared = all(each.environments == given[0].environments for each in given)
    shown = names if is_shared else [name + scope for name, scope in zip(names, scopes, strict=True)]
    more = [f"{len(given) - len(kept):,} more"] if len(given) > len(kept) else []
    return f"{words(number_of(given))}{scopes[0] if is_shared else ''}: {', '.join([*shown, *more])}"


def numbers_of(review: Review) -> str:
    """Return the review in numbers: `12 to add, 9 to change, 15 to remove`; zeros are left out."""
    counts, settings, others = review.counts, len(review.settings), len(review.not_compared)
    moves = sum(len(move.objects) for move in review.moves)
    is_change = review.kind != "environments"
    rows = (
        (counts.added, f"{counts.added:,} {'to add' if is_change else review.word('added')}"),
        (counts.changed, f"{counts.changed:,} {'to change' if is_change else 'different'}"),
        (counts.removed, f"{counts.removed:,} {'to remove' if is_change else review.word('removed')}"),
        (moves, f"{moves:,} to move"),
        (settings, f"{plural(settings, 'setting')} changed"),
        (others, f"{others:,} not compared"),
    )
    if found := ", ".join(text for number, text in rows if number):
        return found
    unchanged = f"{plural(review.unchanged, 'object')} {'is' if review.unchanged == 1 else 'are'} unchanged"
    return f"nothing changes: {unchanged}" if review.unchanged else "nothing changes"


class Lost(NamedTuple):
    """A sentence of the third line."""

    text: str
    shade: Shade


def remarks(review: Review) -> list[str]:
    """Return the sentences below the losses, first about what of a cluster could not be read."""
    return [*(message(fault) for fault in review.faults), *review.notes]


def first_remarks(review: Review) -> list[str]:
    """Return the first sentences about what is not compared, and the number of the others."""
    found = remarks(review)
    more = [f"and {len(found) - REMARKS} more"] if len(found) > REMARKS else []
    return [*found[:REMARKS], *more]


def losses(review: Review) -> list[Lost]:
    """Return what is lost, stopped or rejected: `5 JobSets must be recreated: running ones lose their training`."""
    found: list[Lost] = []
    removed = [each for each in review.with_status("removed") if each.id.kind == JOBSET.kind]
    rows = [*((review.with_effect(effect), row) for effect, row in _LOSSES.items()), (review.lost, _DELETED)]
    rows += [(removed, _REMOVED)] if review.kind != "environments" else []
    for objects, (shade, one, many, jobs) in rows:
        if kinds := _by_kind(objects):
            is_one = sum(kinds.values()) == 1
            said = listed(plural(count, kind) for kind, count in kinds.items())
            end = jobs[not is_one] if any(each.id.kind == JOBSET.kind for each in objects) else ""
            if end and review.kind == "live":
                running = sum(each.number for each in objects if each.running)
                loses = "is running and loses its" if running == 1 else "are running and lose their"
                if running:
                    end = f": {running:,} {loses} training"
                elif all(each.running is False for each in objects if each.id.kind == JOBSET.kind):
                    end = ": none is running"
            found.append(Lost(f"{said} {one if is_one else many}{end}", shade))
    return found


_DELETED: Final[tuple[Shade, str, str, tuple[str, str]]] = (
    "bad",
    "is deleted with its data",
    "are deleted with their data",
    ("", ""),
)
_REMOVED: Final[tuple[Shade, str, str, tuple[str, str]]] = (
    "warn",
    "is removed",
    "are removed",
    (": pruning stops a running one", ": pruning stops running ones"),
)
_LOSSES: Final[dict[Effect, tuple[Shade, str, str, tuple[str, str]]]] = {
    "refused": ("bad", "is rejected by the cluster", "are rejected by the cluster", ("", "")),
    "new-object": (
        "bad",
        "must be recreated",
        "must be recreated",
        (": a running one loses its training", ": running ones lose their training"),
    ),
    "restarts": (
        "bad",
        "is recreated by Argo CD",
        "are recreated by Argo CD",
        (": a running one loses its training", ": running ones lose their training"),
    ),
    "new-name": (
        "warn",
        "starts under a new name",
        "start under a new name",
        (": pruning stops the old one", ": pruning stops the old ones"),
    ),
}
"""The effects of the third line: the color, the verb for one object and for several, and the end for JobSets."""


def _by_kind(objects: Iterable[Reviewed]) -> dict[str, int]:
    """Return the numbers of objects by kind; of the objects that get a new name, JobSets only."""
    found: dict[str, int] = {}
    for each in objects:
        if each.status == "removed" or each.effect != "new-name" or each.id.kind == JOBSET.kind:
            found[each.kind] = found.get(each.kind, 0) + each.number
    return dict(sorted(found.items(), key=lambda row: row[0] != JOBSET.kind))


COLUMNS: Final[tuple[tuple[str, str], ...]] = (
    ("added", "add"),
    ("changed", "change"),
    ("recreated", "recreate"),
    ("removed", "remove"),
)


def environment_table(review: Review) -> list[list[str]]:
    """Return the numbers of each environment below a head row, without columns of zeros; empty for fewer than two."""
    rows = review.counts_of_environments
    if len(rows) < 2:
        return []
    columns = [(field, word) for field, word in COLUMNS if any(getattr(row, field) for row in rows)]
    head = ["environment", *(word for _, word in columns)]
    return [head, *([row.environment, *(f"{getattr(row, field):,}" for field, _ in columns)] for row in rows)]


def effect_on_reports(setting: ChangedSetting) -> str:
    """Return `which warnings and errors are reported` for a setting that changes only reports; else an empty string."""
    reporting = setting.owner is not None or own_path(setting.change.path)[:1] in REPORTING
    return "which warnings and errors are reported" if reporting else ""


def shortened(settings: Sequence[ChangedSetting], most: int) -> list[ChangedSetting]:
    """Return at most this many settings, but one of each key: first the first one of each key, in the given order."""
    firsts = {_settings_key(setting): index for index, setting in reversed([*enumerate(settings)])}
    kept = {*firsts.values()}
    rest = (index for index in range(len(settings)) if index not in kept)
    kept.update(index for index, _ in zip(rest, range(most - len(kept)), strict=False))
    return [settings[index] for index in sorted(kept)]


def _settings_key(setting: ChangedSetting) -> object:
    """Return what a setting has in common with those that it may represent: the key at the top of its layer."""
    if setting.owner is not None:
        return True
    return own_path(setting.change.path)[:1]


def important_first(
    given: Iterable[_T], most: int, is_first: Callable[[_T], bool] = attrgetter("is_important")
) -> list[_T]:
    """Return what is important, all of it, then at most this many of the others."""
    important, others = list[_T](), list[_T]()
    for each in given:
        (important if is_first(each) else others).append(each)
    return [*important, *others[:most]]


class ListedRows(NamedTuple):
    """The differences that are not compared, as a list that may be cut."""

    rows: list[NotCompared]
    """Those of important kinds first, which are never cut, then the others."""
    counts: str
    """All differences by kind, `3 files and 250 ConfigMaps`, if some are cut; else empty."""


def listed_rows(rows: Sequence[NotCompared], most: int) -> ListedRows:
    """Return the differences that are not compared, with at most this many of those that are not important."""

    shown = important_first(rows, most)
    if len(shown) == len(rows):
        return ListedRows(shown, "")
    found = important_first(rows, len(rows))
    return ListedRows(shown, numbers_of_kinds(row.object.kind if row.object else "file" for row in found))


def numbers_of_kinds(kinds: Iterable[str]) -> str:
    """Return the number of each kind: `3 files and 250 ConfigMaps`."""
    return listed(plural(count, kind) for kind, count in Counter(kinds).items())


def difference(row: NotCompared) -> str:
    """Return what follows the name of a file: ` is changed: ...`, `: ClusterRoleBinding admin is added: ...`."""
    subject = "" if row.object is None else f": {named(row.object)}"
    parameters = (
        f"{each.field}{edited(Change(each.status, each.field, (), (), each.old, each.new))}" for each in row.changes
    )
    return f"{subject} is {row.status}: {'; '.join((*parameters, *([DELETED] if row.loses_data else []), row.reason))}"


def moved(move: FolderMove) -> str:
    """Return the objects of a move, and its Applications: `TrainJob a; Application dev prunes it, prod deploys it`.

    Important objects come first, and are never left out.
    """
    important = sum(map(is_important, move.objects))
    kept = important_first(move.objects, max(0, MOVED - important), is_important)
    shown = listed(map(named, kept))
    if more := len(move.objects) - len(kept):
        shown = f"{numbers_of_kinds(id.kind for id in move.objects)}: {', '.join(map(named, kept))}, {more:,} more"
    pronoun = "it" if len(move.objects) == 1 else "them"
    effects = (
        f"{plural(len(names), 'Application').partition(' ')[2]} {listed(names)} "
        f"{verb if len(names) > 1 else verb + 's'} {pronoun}"
        for names, verb in ((move.pruned_by, "prune"), (move.deployed_by, "deploy"))
        if names
    )
    sets = plural(len(move.sets), "ApplicationSet").partition(" ")[2]
    unread = f"the Applications of {sets} {listed(move.sets)} are not known, and may prune or deploy {pronoun}"
    return "; ".join((shown, *effects, *([unread] if move.sets else [])))


def files_of(settings: Sequence[ChangedSetting], shown: Iterable[ChangedSetting]) -> str:
    """Return the names of the settings files that only settings beyond the shown ones name: ` in base.yaml`."""
    known = {setting.at.file for setting in shown}
    found = list(dict.fromkeys(setting.at.file for setting in settings if setting.at.file not in known))
    return f", also in {listed(found)}" if found else ""


def setting_name(setting: ChangedSetting) -> str:
    """Return the name of a setting: the field of trainc.yaml, or the annotation."""
    return setting.change.field if setting.owner is None else IGNORE


def possible_causes(group: CauseGroup) -> str:
    """Return the text for a group without a known cause: `cause unknown, the changed settings are output and sources`.

    It is empty if no setting changes. For a cluster, it names the clients that wrote the fields.
    """
    if group.is_live:
        return _managers(group) or "edited in the cluster, or not applied"
    found = list(dict.fromkeys(map(setting_name, group.settings)))
    if not found:
        return ""
    shown = [*found[:SETTINGS], f"{len(found) - SETTINGS} more"] if len(found) > SETTINGS else found
    words = "the changed setting is" if len(found) == 1 else "the changed settings are"
    return f"cause unknown, {words} {listed(shown)}"


def _managers(group: CauseGroup) -> str:
    """Return the text with the clients that wrote the changed fields: `last written by helm at 2026-11-29T12:00Z`."""
    found = latest(manager for each in group.objects for line in each.lines for manager in line.managers)
    shown = [f"{each.name} at {each.time}" if each.time else each.name for each in found[:MANAGERS]]
    more = [f"{len(found) - MANAGERS} more"] if len(found) > MANAGERS else []
    return f"last written by {listed([*shown, *more])}" if found else ""


def named(id: ObjectId) -> str:
    """Return an object's kind and name: `JobSet ml/llm`."""
    return f"{id.kind} {id.qualified_name}"


def value(given: Any) -> str:
    """Return a value on one line, as YAML or JSON."""
    if given is GONE:
        return ""
    if isinstance(given, str) and given.startswith(MASK) and given.isprintable():
        return given
    if isinstance(given, str):
        from trainc.emit.yaml import inline

        return inline(given)
    return _JSON.encode(given)


def block(given: Any) -> list[str]:
    """Return the lines of a value: mappings and lists as YAML, a text split into lines, any other value on one line."""
    if isinstance(given, dict | list) and given:
        from trainc.emit import yaml

        return yaml.Writer().part(given).splitlines()
    return given.splitlines() if isinstance(given, str) and "\n" in given else [value(given)]


def fits_one_line(change: Change) -> bool:
    """Whether a change fits on one line."""
    return change.kind == "moved" or _on_one_line(change) is not None


def _on_one_line(change: Change) -> tuple[str, str] | None:
    """Return both values of a change on one line, empty for a missing one; None if they do not fit."""
    old, new = change.old, change.new
    if (isinstance(old, dict | list) and old) or (isinstance(new, dict | list) and new):
        return None
    old, new = value(old), value(new)
    return (old, new) if max(len(old), len(new)) <= SHORT else None


def edited(change: Change) -> str:
    """Return the text that follows the name of a changed field: `: 4 -> 8`, ` is added`."""
    if change.kind == "moved":
        return f" is reordered: {_order(change.old, change.new)} -> {_order(change.new, change.old)}"
    values = _on_one_line(change)
    if values is None:
        return "" if change.kind == "changed" else f" is {change.kind}"
    old, new = values
    return f": {old} -> {new}" if change.kind == "changed" else f": {old or new} is {change.kind}"


def _order(names: list[Any], others: list[Any]) -> str:
    """Return item names without the common first and last items of both orders."""
    head = shared_length(names, others)
    tail = shared_length(names[head:][::-1], others[head:][::-1])
    shown = [str(name) for name in names[head : len(names) - tail]]
    return ", ".join(["..."] * bool(head) + shown + ["..."] * bool(tail))


def same_values(line: Line, having: Iterable[Reviewed]) -> bool:
    """Whether a change has the same values in all these objects."""
    key = line.change.field, line.change.kind
    return len(set[tuple[str, str]]().union(*(_values(reviewed).get(key, ()) for reviewed in having))) == 1


_VALUES: Final = Memory()


def _values(reviewed: Reviewed) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Return the values of each changed field of an object, by the field and the kind of the change."""
    known: tuple[Reviewed, dict[tuple[str, str], set[tuple[str, str]]]] | None = _VALUES.get(id(reviewed))
    if known is None:
        found: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for change in (line.change for line in reviewed.lines):
            found.setdefault((change.field, change.kind), set()).add((repr(change.old), repr(change.new)))
        known = _VALUES.keep(id(reviewed), (reviewed, found))
    return known[1]


def sentence(line: Line, having: Sequence[Reviewed]) -> str:
    """Return what the cluster does with a change of these objects. Several objects get several new names."""
    names = {each.new_name for each in having}
    return line.consequence.sentence(having[0].id.kind, names.pop() if len(names) == 1 else "")


def by_sentence(group: CauseGroup) -> list[Said]:
    """Return the changes of a group by what the cluster does with them, the most severe first."""
    found: dict[str, list[tuple[Line, tuple[Reviewed, ...]]]] = {}
    for line, having in group.lines:
        found.setdefault(sentence(line, having), []).append((line, having))
    rows = [Said(text, lines[0][0].consequence.effect, lines) for text, lines in found.items()]
    return sorted(rows, key=lambda row: -RANK[row.effect])


class Said(NamedTuple):
    """A sentence about the cluster, with the changes that it is about."""

    text: str
    effect: Effect
    lines: list[tuple[Line, tuple[Reviewed, ...]]]

    @property
    def shade(self) -> Shade:
        """Its color."""
        return SHADES.get(self.effect, "")

    @property
    def guide(self) -> str:
        """The address of the section about the ways to deliver such changes; empty if the package names no site."""
        is_applied = self.lines[0][0].consequence.applied not in ("", JOBSET.kind)
        section = "the-cluster-has-trainjobs" if is_applied else _SECTIONS.get(self.effect, "")
        pages = catalogue.published("Documentation") if self.effect in _SECTIONS else ""
        return f"{pages.rstrip('/')}/update-a-jobset.md#{section}" if pages else ""


_SECTIONS: Final[dict[Effect, str]] = {
    "new-object": "the-cluster-has-jobsets",
    "withheld": "the-cluster-has-jobsets",
    "while-suspended": "fields-that-may-change",
    "restarts": "replacement-by-argo-cd",
    "new-name": "name-suffix-hash",
}
GUIDE: Final = "how to deliver it"
"""The text of the link to a section."""


def field_of(line: Line, having: Sequence[Reviewed]) -> str:
    """Return a changed field, with the kind of an object that is no JobSet, unless the cause names it."""
    kind = having[0].id.kind
    is_named = kind == JOBSET.kind or (line.cause is not None and line.cause.own)
    return line.change.field if is_named else f"{kind} {line.change.field}"


def notes_of(line: Line, having: Sequence[Reviewed], whole: Sequence[Subject], most: int) -> list[str]:
    """Return which sources have a change, unless all of `whole`, and whether its values differ."""
    found = subjects(having)
    notes = [] if found == whole else [f"in {names_of(found, most)}"]
    if not same_values(line, having):
        notes.append(f"values of {subjects(having[:1])[0].title}; the others differ")
    return notes


def origin(cause: Cause | ChangedSetting) -> str:
    """Return the line of the input: `runtimes/torch.yaml:14`; a deleted line is marked as the old side's."""
    if not cause.at.line:
        return cause.at.file
    return f"{cause.at.file}:{cause.at.line}" + (" (before)" if cause.gone else "")


class NumberRow(NamedTuple):
    """A number before and after, as text."""

    name: str
    before: str
    after: str
    more: str
    """The difference with its sign; empty if the numbers are equal."""


def amounts(before: Footprint | None, after: Footprint | None) -> list[NumberRow]:
    """Return the rows for nodes, pods and resources, GPUs first."""
    one, other = before or NOTHING, after or NOTHING
    rows = [
        NumberRow(word, str(old), str(new), f"{new - old:+}" if old != new else "")
        for word, old, new in (("nodes", one.nodes, other.nodes), ("pods", one.pods, other.pods))
    ]
    for name in sorted(one.resources.keys() | other.resources.keys(), key=order):
        old, new = one.resources.get(name, ZERO), other.resources.get(name, ZERO)
        more = new.sub(old)
        sign = "+" if more.sign > 0 else ""
        changed = "" if more.is_zero else sign + amount(name, more)
        rows.append(NumberRow(name, amount(name, old), amount(name, new), changed))
    return rows


class PodFigure(NamedTuple):
    """The pods of some environments in numbers: total, or of one queue."""

    queue: str | None
    """The queue ("" for none); None for the total."""
    before: Footprint
    after: Footprint
    environments: tuple[str, ...] = ()
    """The environments that have the same numbers each, or whose sum they are."""
    cluster: str | None = None
    """For a sum, the cluster, which may have no name; None for no sum."""

    @property
    def title(self) -> str:
        """What it counts: `total`, `queue ml/gpu`, `no queue`."""
        return "total" if self.queue is None else f"{self.noun} {self.queue}" if self.queue else "no queue"

    @property
    def noun(self) -> str:
        """The noun before its queue, or before several ones with the same numbers."""
        return "each of the queues" if self.queue and ", " in self.queue else "queue"

    @property
    def scope(self) -> str:
        """Where it counts: ` [dev, prod]` for each of two environments, ` in cluster a [dev, test]` for a sum."""
        where = "" if self.cluster is None else f" in cluster {self.cluster}" if self.cluster else " in one cluster"
        return f"{where} [{', '.join(self.environments)}]" if self.environments else where


def figures(review: Review) -> list[PodFigure]:
    """Return the pods in numbers: the total, then each queue, if there are queues.

    Environments with equal numbers share a figure. The environments of one cluster also have a sum.
    """
    queues = sorted({queue for pods in review.pods for side in (pods.before, pods.after) for queue in side})
    kinds: list[str | None] = [None, *(queues if queues != [""] else [])]
    return [figure for kind in kinds if queues for figure in _figures(review.pods, kind)]


def changed_figures(review: Review) -> list[PodFigure]:
    """Return the figures that change; queues of different environments with the same numbers are one."""
    found: list[PodFigure] = []
    for each in (figure for figure in figures(review) if figure.before != figure.after):
        for number, other in enumerate(found if each.queue and each.environments and each.cluster is None else ()):
            is_alike = other.queue and other.cluster is None and other[1:3] == each[1:3]
            if is_alike and set(other.environments).isdisjoint(each.environments):
                environments = (*other.environments, *each.environments)
                found[number] = other._replace(queue=f"{other.queue}, {each.queue}", environments=environments)
                break
        else:
            found.append(each)
    return found


def _figures(pods: Iterable[PodNumbers], queue: str | None) -> list[PodFigure]:
    """Return the figures of one kind: those of the environments, then the sums of clusters."""
    found: list[PodFigure] = []
    clusters: dict[str, list[PodFigure]] = {}
    for each in pods:
        if queue is not None and queue not in each.before | each.after:
            continue
        before, after = (_footprint(side, queue) for side in (each.before, each.after))
        own = PodFigure(queue, before, after, tuple(filter(None, [each.environment])))
        if each.cluster is not None:
            clusters.setdefault(each.cluster, []).append(own)
        for number, other in enumerate(found):
            if (other.before, other.after) == (before, after):
                found[number] = other._replace(environments=(*other.environments, *own.environments))
                break
        else:
            found.append(own)
    for cluster, parts in clusters.items():
        if len(parts) > 1:
            before = sum((part.before for part in parts), NOTHING)
            after = sum((part.after for part in parts), NOTHING)
            environments = tuple(name for part in parts for name in part.environments)
            found.append(PodFigure(queue, before, after, environments, cluster))
    return found


def _footprint(queues: Mapping[str, Footprint], queue: str | None) -> Footprint:
    return sum(queues.values(), NOTHING) if queue is None else queues.get(queue, NOTHING)


def value_lines(change: Change) -> Iterator[tuple[str, str]]:
    """Yield the lines of the values with their marks; of a changed value, a diff with one line of context."""
    old, new = ([] if part is GONE else block(part) for part in (change.old, change.new))
    if old and new and len(old) + len(new) <= LONGEST:
        for line in islice(unified_diff(old, new, n=1, lineterm=""), 2, None):
            if not line.startswith("@@"):
                yield line[0], line[1:]
            elif not line.startswith(("@@ -1 ", "@@ -1,")):
                yield " ", "..."
    else:
        yield from (("-", line) for line in old)
        yield from (("+", line) for line in new)


def printable(given: str) -> str:
    """Return a line with its unprintable characters escaped, except tabs."""
    return given if given.isprintable() else "\t".join(map(escape, given.split("\t")))
