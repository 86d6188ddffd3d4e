"""Queue figures: what the JobSets request from Kueue's queues after a change, beside the quotas.

Reads    a review.
Returns  a figure for each ClusterQueue and cohort of each cluster, beside that before the change. Environments of one
         cluster with the same quota have one figure with the sum of their requests. Of rendered manifests, the cluster
         is not known: each environment has its own figures. Requests beyond a quota come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainc.base.texts import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.kueue.usage import QueueUse
    from trainc.review.reviewed import Review


class QueueFigure(NamedTuple):
    """The use of one queue of one cluster, by some environments."""

    use: QueueUse
    environments: tuple[str, ...]
    cluster: str
    """The name of the cluster; empty if it has none or is not known."""

    @property
    def title(self) -> str:
        """The queue and its cluster: `ClusterQueue research in cluster lab`."""
        where = f" in cluster {self.cluster}" if self.cluster else ""
        return f"{self.use.kind} {self.use.name}{where}"

    @property
    def raised(self) -> list[str]:
        """The resources that the change raises beyond the quota, or further beyond it."""
        before = self.use.before
        return [name for name in self.use.exceeded if not before or self.use.excess(name) > before.excess(name)]

    @property
    def amounts(self) -> list[tuple[str, str]]:
        """The resources, exceeded ones first, each with its requests.

        `100 of 64 nvidia.com/gpu exceeds the quota (before: 48 of 64)`
        """
        use, before = self.use, self.use.before
        found = []
        for name in sorted(use.requested, key=lambda name: name not in use.exceeded):
            text = f"{use.shown(name)} {name}"
            if name in use.exceeded:
                old = before.shown(name) if before and name in before.requested else ""
                note = "" if not old else " (as before)" if old == use.shown(name) else f" (before: {old})"
                text = f"{text} exceeds the quota{note}"
            found.append((name, text))
        return found

    @property
    def used(self) -> str:
        """What all workloads use now, of the resources with a quota: `40 nvidia.com/gpu`; empty if it is not known."""
        from trainc.kueue.kueue_objects import text_of

        use = self.use
        shown = (f"{text_of(name, use.used[name])} {name}" for name in use.quota if use.used and name in use.used)
        return "" if use.used is None else ", ".join(shown) or "nothing"


def queue_figures(review: Review) -> list[QueueFigure]:
    """Return the figures of a review, first those with quotas that the change exceeds, then other exceeded ones."""
    found: dict[object, QueueFigure] = {}
    for pods in review.pods:
        for use in pods.queues:
            where = ("environment", pods.environment) if pods.cluster is None else ("cluster", pods.cluster)
            key = where, _quota_key(use)
            own = QueueFigure(use, tuple(filter(None, [pods.environment])), pods.cluster or "")
            known = found.get(key)
            if known is None:
                found[key] = own
            else:
                environments = tuple(dict.fromkeys((*known.environments, *own.environments)))
                found[key] = known._replace(use=known.use.with_requests_of(use), environments=environments)
    return sorted(found.values(), key=lambda figure: (not figure.raised, not figure.use.exceeded))


def summed_uses(uses: Iterable[QueueUse]) -> Iterator[QueueUse]:
    """Yield the uses of one cluster; those beside the same quota are one."""
    found: dict[object, QueueUse] = {}
    for use in uses:
        known = found.get(_quota_key(use))
        found[_quota_key(use)] = use if known is None else known.with_requests_of(use)
    yield from found.values()


def _quota_key(use: QueueUse) -> object:
    return use.kind, use.name, tuple(use.quota.items())


def lines(
    review: Review,
    most: int,
    mark: Callable[[str], str],
    escape: Callable[[str], str],
    code: Callable[[str], str] | None = None,
) -> Iterator[str]:
    """Yield the figures of a review as text, at most this many.

    `mark` shows requests that the change raises beyond a quota. `code` shows the environments, by default as text.
    """
    found = queue_figures(review)
    for figure in found[:most]:
        title = escape(figure.title)
        if figure.environments:
            title = f"{title} {(code or escape)('[' + ', '.join(figure.environments) + ']')}"
        shown = (mark(escape(text)) if name in figure.raised else escape(text) for name, text in figure.amounts)
        requests = ", ".join(shown) or "nothing"
        now = escape(f"; in use now: {figure.used}") if figure.used else ""
        yield f"{title}: requests {requests}{now}"
    if len(found) > most:
        yield f"and {plural(len(found) - most, 'queue')} more"


def as_json(review: Review) -> Tree:
    """Return the figures of a review as a field of JSON; nothing without one."""
    found = [_json(figure) for figure in queue_figures(review)]
    return {"queues": found} if found else {}


def _amounts_before(resource: str, use: QueueUse) -> Tree:
    from trainc.kueue.kueue_objects import text_of

    amounts = ("requested", use.requested), ("quota", use.quota)
    return {word: text_of(resource, found[resource]) for word, found in amounts if resource in found}


def _json(figure: QueueFigure) -> Tree:
    from trainc.kueue.kueue_objects import text_of

    use = figure.use
    found: Tree = {"kind": use.kind, "name": use.name}
    found |= {"cluster": figure.cluster} if figure.cluster else {}
    found |= {"environments": list(figure.environments)} if figure.environments else {}
    resources = [
        {
            "resource": name,
            "requested": text_of(name, amount),
            "quota": text_of(name, use.quota[name]),
            "exceeded": name in use.exceeded,
            **({"before": _amounts_before(name, use.before)} if use.before else {}),
            **({"used": text_of(name, use.used.get(name, 0))} if use.used is not None else {}),
        }
        for name, amount in use.requested.items()
    ]
    return found | {"resources": resources}
