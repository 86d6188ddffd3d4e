"""The formats of a review: one module per format, with `render(review, *, color) -> str`, loaded by name.

This module has the texts that several formats share: numbers, names, values and the effects of changes.

**A review format** (`trainc diff`). Copy from `review/formats/json.py` (only `text` has color and a width) and
`tests/review/test_markdown.py`.
1. Write `review/formats/<name>.py` with `render`, add its name to `REVIEWS` in `cli/common/options.py`, and write
   an entry in `docs/review.md`. Add the name, in the same order, to the synopsis of `diff` in `docs/commands.md`.
2. Every format lists the changed settings first, and masks secrets as `***` (`tests/review/test_settings.py`,
   `test_golden.py`). Leave out there a format that has neither, and in the sentences "Every format" of both pages.
3. Write `tests/review/test_<name>.py`, which compares the complete outputs for `situations.py` and reads them with
   a third-party parser, if the format has one. Add texts that could break out of the format to `BREAKOUTS` in
   `situations.py`. `pytest --snapshot-update tests/contracts/test_documentation.py -k review` writes examples.
4. The tests of the page need Debian's Chromium (`tests/review/packages.txt`) and playwright (`make browser`). If
   either is missing, they are skipped. `TRAINC_PICTURES=DIR pytest tests/review/test_browser.py` saves screenshots.
   Look at them.
"""

from __future__ import annotations

from importlib import import_module
from json import JSONEncoder
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.base.suggestions import shared_length
from trainc.base.texts import escape, plural
from trainc.kubernetes.pod_resources import amount, order
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import Memory
from trainc.kubernetes.violations import listed
from trainc.masking.masked_values import MASK
from trainc.pipeline.lint.triggers import IGNORE
from trainc.pods.footprint import NOTHING
from trainc.provenance.tracing.correspondence import GONE
from trainc.review.changes.changed_settings import REPORTING, own_path
from trainc.review.consequences import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.pods.footprint import Footprint
    from trainc.review.changes import Change
    from trainc.review.reviewed import (
        Cause,
        CauseGroup,
        ChangedSetting,
        Line,
        PodNumbers,
        Review,
        Reviewed,
    )
    from trainc.review.sides.side_files import NotCompared

SHORT: Final = 60
"""The maximum length of a value that is shown on one line."""
SETTINGS: Final = 6
"""The maximum number of settings that are named as possible causes."""
BLOCKING: Final = frozenset({"new-object", "while-suspended", "refused", "withheld", "ahead"})
"""The effects of changes that a cluster with the old object does not accept, or accepts only in part."""
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


def counted(objects: Iterable[Reviewed]) -> str:
    """Return the number of objects of each kind: `3 JobSets and 1 ConfigMap`; of each environment, if there are any."""
    kinds: dict[str, dict[str, int]] = {}
    for found in objects:
        for environment in found.environments or ("",):
            counts = kinds.setdefault(environment, {})
            counts[found.id.kind] = counts.get(found.id.kind, 0) + 1
    names: dict[str, list[str]] = {}
    for name, counts in kinds.items():
        names.setdefault(listed(plural(count, kind) for kind, count in counts.items()), []).append(name)
    return listed(counted + _environments_text(found) for counted, found in names.items())


def _is_one(objects: Sequence[Reviewed]) -> bool:
    """Whether there is one object, or one of the same kind in each environment."""
    kinds = {found.id.kind for found in objects}
    environments = {name for found in objects for name in found.environments or ("",)}
    return len(kinds) == 1 and len(environments) == sum(found.number for found in objects)


def _environments_text(names: list[str]) -> str:
    """Return the environments with a number of objects: ` in dev`, ` in each of dev and prod`."""
    shown = [name or "no environment" for name in names]
    return "" if names == [""] else f" in {'each of ' * (len(names) > 1)}{listed(shown)}"


def marked(reviewed: Reviewed, *, kind: bool = True) -> str:
    """Return an object's name and its environments: `JobSet ml/llm [dev, prod]`, `JobSet ml/llm -> ml/llama`."""
    return _marked(_name(reviewed, kind=kind), reviewed.environments)


def names(objects: Iterable[Reviewed], *, kind: bool = False) -> list[str]:
    """Return the names of objects, each once, with the environments that have it: `ml/llm [dev, prod]`."""
    found: dict[str, dict[str, None]] = {}
    for reviewed in objects:
        found.setdefault(_name(reviewed, kind=kind), {}).update(dict.fromkeys(reviewed.environments))
    return [_marked(name, environments) for name, environments in found.items()]


def _name(reviewed: Reviewed, *, kind: bool) -> str:
    name = reviewed.id.qualified_name
    if reviewed.renamed:
        name = f"{reviewed.renamed.qualified_name} -> {name}"
    return f"{reviewed.id.kind} {name}" if kind else name


def _marked(name: str, environments: Iterable[str]) -> str:
    shown = ", ".join(environments)
    return f"{name} [{shown}]" if shown else name


def by_identity(objects: Iterable[Reviewed]) -> list[list[Reviewed]]:
    """Return objects in groups with one identity, which can differ between environments."""
    found: dict[ObjectId, list[Reviewed]] = {}
    for reviewed in objects:
        found.setdefault(reviewed.id, []).append(reviewed)
    return list(found.values())


def recreation(review: Review, most: int) -> str:
    """Return what must be recreated: `JobSet ml/llm [dev, prod]`, at most this many names; empty for nothing."""
    return _listed_names(review.recreated, most)


def loss(review: Review, most: int) -> str:
    """Return the removed objects whose deletion loses data, at most this many names; empty for nothing."""
    return _listed_names(review.lost, most)


def _listed_names(objects: Sequence[Reviewed], most: int) -> str:
    shown = names(objects, kind=True)
    return listed([*shown[:most], f"{len(shown) - most} more"] if len(shown) > most else shown) if shown else ""


def headline(review: Review) -> str:
    """Return the review in a line: `1 setting changes, 3 JobSets change; 7 objects are unchanged`."""
    parts = [
        f"{counted(found)} {one if _is_one(found) else many}"
        for found, one, many in (
            (review.with_status("changed"), "changes", "change"),
            (review.with_status("added"), "is added", "are added"),
            (review.with_status("removed"), "is removed", "are removed"),
        )
        if found
    ]
    if review.settings:
        verb = "changes" if len(review.settings) == 1 else "change"
        parts.insert(0, f"{plural(len(review.settings), 'setting')} {verb}")
    if review.not_compared:
        verb = "is" if len(review.not_compared) == 1 else "are"
        parts.append(f"{plural(len(review.not_compared), 'difference')} {verb} not compared")
    unchanged = f"{plural(review.unchanged, 'object')} {'is' if review.unchanged == 1 else 'are'} unchanged"
    if not parts:
        return f"nothing changes: {unchanged}" if review.unchanged else "nothing changes"
    return f"{', '.join(parts)}; {unchanged}" if review.unchanged else ", ".join(parts)


def changed_by(setting: ChangedSetting) -> str:
    """Return the effect of a setting: `3 JobSets`, `what is reported`; empty if no cause names it."""
    if setting.objects:
        return counted(setting.objects)
    reporting = setting.owner is not None or own_path(setting.change.path)[:1] in REPORTING
    return "what is reported" if reporting else ""


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


def difference(row: NotCompared) -> str:
    """Return a difference that is not compared, without its file: `ClusterRoleBinding admin is added: ...`."""
    subject = f"{named(row.object)} is" if row.object is not None else "is"
    return f"{subject} {row.status}: {row.reason}"


def setting_name(setting: ChangedSetting) -> str:
    """Return the name of a setting: the field of trainc.yaml, or the annotation."""
    return setting.change.field if setting.owner is None else IGNORE


def possible_causes(group: CauseGroup) -> str:
    """Return the text for a group without a known cause: `cause unknown, the changed settings are output and sources`.

    It is empty if no setting changes.
    """
    found = list(dict.fromkeys(map(setting_name, group.settings)))
    if not found:
        return ""
    shown = [*found[:SETTINGS], f"{len(found) - SETTINGS} more"] if len(found) > SETTINGS else found
    words = "the changed setting is" if len(found) == 1 else "the changed settings are"
    return f"cause unknown, {words} {listed(shown)}"


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
    if any(isinstance(part, dict | list) and part for part in (change.old, change.new)):
        return None
    old, new = value(change.old), value(change.new)
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


def meaning(line: Line, reviewed: Reviewed) -> str:
    """Return the effect of a change, with the reason."""
    effect = WORDS[line.consequence.effect]
    if line.consequence.effect == "new-object" and reviewed.new_name:
        effect += f" as {reviewed.new_name}"
    return f"{effect}: {line.consequence.why}" if line.consequence.why else effect


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
        return "total" if self.queue is None else f"queue {self.queue}" if self.queue else "no queue"

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


def printable(given: str) -> str:
    """Return a line with its unprintable characters escaped, except tabs."""
    return given if given.isprintable() else "\t".join(map(escape, given.split("\t")))
