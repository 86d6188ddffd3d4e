"""Probes, and the hooks that run when a container starts and stops.

Other than a hook, a probe can ask a gRPC server; other than a probe, a hook can sleep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation import ports
from trainc.kubernetes.validation.findings import Findings, Rule, at_least, field_of, fields, one_of
from trainc.kubernetes.violations import INVALID_NAME, OUT_OF_RANGE

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

HOOK_SLEEP: Final = Declaration("hook-sleep", ("job",), "A hook sleeps longer than the pod is given to stop")
ONE_HANDLER: Final = Declaration("one-handler", ("job",), "A probe or a hook does nothing, or two things")
PROBE_GRACE_PERIOD: Final = Declaration("probe-grace-period", ("job",), "A readiness probe has a grace period")
GRACE_PERIOD: Final = 30
"""Seconds that a pod is given to stop, where it does not say."""
PROBE: Final[dict[str, Rule]] = dict.fromkeys(
    ("failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds"), at_least(0)
) | {"terminationGracePeriodSeconds": at_least(1)}
_fields: Final = fields(PROBE)
_scheme: Final = one_of("HTTP", "HTTPS")


def liveness(found: Findings, at: At, probe: Tree) -> None:
    """A liveness probe: one success must be enough."""
    _probe(found, at, probe)
    _once(found, at, probe)


def startup(found: Findings, at: At, probe: Tree) -> None:
    """A startup probe: one success must be enough."""
    _probe(found, at, probe)
    _once(found, at, probe)


def readiness(found: Findings, at: At, probe: Tree) -> None:
    """A readiness probe: it stops no container, so it has no grace period."""
    _probe(found, at, probe)
    if "terminationGracePeriodSeconds" in probe:
        found.complain(
            PROBE_GRACE_PERIOD,
            (at, "terminationGracePeriodSeconds"),
            "terminationGracePeriodSeconds is for probes that stop a container, and a readiness probe stops none",
            "remove it",
        )


def lifecycle(found: Findings, at: At, hooks: Tree) -> None:
    """Both hooks."""
    for hook in ("postStart", "preStop"):
        if hook in hooks:
            _handler(found, (at, hook), hooks[hook], _OF_HOOKS)


def _probe(found: Findings, at: At, probe: Tree) -> None:
    _handler(found, at, probe, _OF_PROBES)
    _fields(found, at, probe)


def _once(found: Findings, at: At, probe: Tree) -> None:
    """Below zero, the number has been complained of already."""
    if probe.get("successThreshold", 1) > 1:
        found.complain(
            OUT_OF_RANGE,
            (at, "successThreshold"),
            f"successThreshold is {probe['successThreshold']}, and must be 1 in any but a readiness probe",
            "remove it: 1 is its default",
        )


def _handler(found: Findings, at: At, value: Tree, kinds: dict[str, Rule]) -> None:
    """What a probe or a hook does. Only the first is looked at, in the order of `kinds`."""
    given = [kind for kind in kinds if kind in value]
    if given:
        first = given[0]
        kinds[first](found, (at, first), value[first])
    if len(given) != 1:
        _not_one(found, at, given, kinds)


def _not_one(found: Findings, at: At, given: list[str], kinds: dict[str, Rule]) -> None:
    from trainc.kubernetes.structural.remedies import listed
    from trainc.kubernetes.validation import complaints

    if not given:
        found.complain(
            ONE_HANDLER,
            at,
            f"{complaints.called(at)} does not say what to do",
            f"add one of {listed(list(kinds), 'or')}",
        )
    for another in given[1:]:
        found.complain(
            ONE_HANDLER,
            (at, another),
            f"{complaints.called(at)} has {listed(given)}, and can do one thing",
            "keep one of them",
            related=((given[0], (at, given[0])),),
        )


def _exec(found: Findings, at: At, action: Tree) -> None:
    if not action.get("command"):
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "command"), "write what is run, as a list: command: [cat, /tmp/ready]")


def _http_get(found: Findings, at: At, action: Tree) -> None:
    _socket(found, at, action)
    if "scheme" in action:
        _scheme(found, (at, "scheme"), action["scheme"])
    for index, header in enumerate(action.get("httpHeaders") or ()):
        name = header.get("name", "")
        if not (name.isascii() and name.replace("-", "a").isalnum()):
            _bad_header(found, ((at, "httpHeaders"), index), name, field_of((at, "httpHeaders")))


def _bad_header(found: Findings, at: At, name: str, field: str) -> None:
    from trainc.kubernetes import misnamed
    from trainc.kubernetes.structural.remedies import shown
    from trainc.kubernetes.validation import complaints

    why = misnamed.fault(name, "A-Za-z0-9-", len(name))
    found.complain(
        INVALID_NAME,
        (at, "name"),
        f"{complaints.called((at, 'name'))} is {shown(name)}, which {why}",
        "use letters, digits and `-`, as in X-Api-Key",
        field=field,
    )


def _socket(found: Findings, at: At, action: Tree) -> None:
    ports.number_or_name(found, (at, "port"), action.get("port", 0))


def _sleep(found: Findings, at: At, action: Tree) -> None:
    """The whole action is what the cluster complains of."""
    seconds, most = action.get("seconds", 0), found.pod.get("terminationGracePeriodSeconds", GRACE_PERIOD)
    if 0 <= seconds <= most:
        return
    found.complain(
        HOOK_SLEEP,
        (at, "seconds"),
        f"seconds is {seconds}, and must be from 0 to {most}, the seconds that the pod is given to stop"
        if most > 0
        else f"seconds is {seconds}, and the pod is given no time to stop: terminationGracePeriodSeconds is {most}",
        "sleep shorter, or give the pod a longer terminationGracePeriodSeconds",
        field=field_of(at),
    )


_OF_PROBES: Final[dict[str, Rule]] = {"exec": _exec, "httpGet": _http_get, "tcpSocket": _socket, "grpc": _socket}
_OF_HOOKS: Final[dict[str, Rule]] = {"exec": _exec, "httpGet": _http_get, "tcpSocket": _socket, "sleep": _sleep}
