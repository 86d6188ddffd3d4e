"""Probes, and the hooks that run when a container starts and stops.

Only a probe can call a gRPC server, and only a hook can sleep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation import ports
from trainc.kubernetes.validation.combinators import (
    FieldRule,
    PodViolations,
    at_least,
    called,
    field_of,
    fields,
    one_of,
)
from trainc.kubernetes.violations import INVALID_NAME, OUT_OF_RANGE, listed, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

HOOK_SLEEP: Final = Declaration("hook-sleep", ("job",), "Hook sleeps longer than termination grace period")
ONE_HANDLER: Final = Declaration("one-handler", ("job",), "Probe or hook without exactly one handler")
PROBE_GRACE_PERIOD: Final = Declaration("probe-grace-period", ("job",), "Grace period on readiness probe", fix="unsafe")
GRACE_PERIOD: Final = 30
"""The default of terminationGracePeriodSeconds."""
PROBE: Final[dict[str, FieldRule]] = dict.fromkeys(
    ("failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds"), at_least(0)
) | {"terminationGracePeriodSeconds": at_least(1)}
_fields: Final = fields(PROBE)
_scheme: Final = one_of("HTTP", "HTTPS")


def liveness(violations: PodViolations, at: At, probe: Tree) -> None:
    """Check a liveness probe, whose successThreshold must be 1."""
    _probe(violations, at, probe)
    _success_threshold(violations, at, probe)


def startup(violations: PodViolations, at: At, probe: Tree) -> None:
    """Check a startup probe, whose successThreshold must be 1."""
    _probe(violations, at, probe)
    _success_threshold(violations, at, probe)


def readiness(violations: PodViolations, at: At, probe: Tree) -> None:
    """Check a readiness probe: it stops no container, so it has no grace period."""
    _probe(violations, at, probe)
    if "terminationGracePeriodSeconds" in probe:
        from trainc.base.fixes import removal

        here = (at, "terminationGracePeriodSeconds")
        violations.report(
            PROBE_GRACE_PERIOD,
            here,
            "terminationGracePeriodSeconds is not allowed on a readiness probe, which does not stop the container",
            removal(path_of(here)),
        )


def lifecycle(violations: PodViolations, at: At, hooks: Tree) -> None:
    """Check both hooks."""
    for hook in ("postStart", "preStop"):
        if hook in hooks:
            _handler(violations, (at, hook), hooks[hook], _OF_HOOKS)


def _probe(violations: PodViolations, at: At, probe: Tree) -> None:
    _handler(violations, at, probe, _OF_PROBES)
    _fields(violations, at, probe)


def _success_threshold(violations: PodViolations, at: At, probe: Tree) -> None:
    """Check that one success is enough; a negative number is reported elsewhere."""
    if probe.get("successThreshold", 1) > 1:
        violations.report(
            OUT_OF_RANGE,
            (at, "successThreshold"),
            f"successThreshold is {probe['successThreshold']}, but must be 1 except in a readiness probe",
            "remove it; the default is 1",
        )


def _handler(violations: PodViolations, at: At, value: Tree, kinds: dict[str, FieldRule]) -> None:
    """Check the handler of a probe or a hook. Only the first is checked, in the order of `kinds`."""
    handlers = [kind for kind in kinds if kind in value]
    if handlers:
        first = handlers[0]
        kinds[first](violations, (at, first), value[first])
    if len(handlers) != 1:
        _handler_count(violations, at, handlers, kinds)


def _handler_count(violations: PodViolations, at: At, handlers: list[str], kinds: dict[str, FieldRule]) -> None:
    if not handlers:
        violations.report(
            ONE_HANDLER,
            at,
            f"{called(at)} has no handler",
            f"add one of {listed(list(kinds), 'or')}",
        )
    for another in handlers[1:]:
        violations.report(
            ONE_HANDLER,
            (at, another),
            f"{called(at)} sets {listed(handlers)}, but must set exactly one handler",
            "keep only one of them",
            related=((handlers[0], (at, handlers[0])),),
        )


def _exec(violations: PodViolations, at: At, action: Tree) -> None:
    if not action.get("command"):
        violations.report_missing((at, "command"), "set the command as a list, for example command: [cat, /tmp/ready]")


def _http_get(violations: PodViolations, at: At, action: Tree) -> None:
    _socket(violations, at, action)
    if "scheme" in action:
        _scheme(violations, (at, "scheme"), action["scheme"])
    for index, header in enumerate(action.get("httpHeaders") or ()):
        name = header.get("name", "")
        if not (name.isascii() and name.replace("-", "a").isalnum()):
            _bad_header(violations, ((at, "httpHeaders"), index), name, field_of((at, "httpHeaders")))


def _bad_header(violations: PodViolations, at: At, name: str, field: str) -> None:
    from trainc.kubernetes import misnamed

    why = misnamed.fault(name, "A-Za-z0-9-", len(name))
    violations.report(
        INVALID_NAME,
        (at, "name"),
        f"{called((at, 'name'))} is not a valid header name: {shown(name)} {why}",
        "use letters, digits and `-`, as in X-Api-Key",
        field=field,
    )


def _socket(violations: PodViolations, at: At, action: Tree) -> None:
    ports.number_or_name(violations, (at, "port"), action.get("port", 0))


def _sleep(violations: PodViolations, at: At, action: Tree) -> None:
    """Check a hook that sleeps; the API server's error names the whole action."""
    seconds, maximum = action.get("seconds", 0), violations.pod.get("terminationGracePeriodSeconds", GRACE_PERIOD)
    if 0 <= seconds <= maximum:
        return
    violations.report(
        HOOK_SLEEP,
        (at, "seconds"),
        f"seconds must be from 0 to {maximum} (the pod's terminationGracePeriodSeconds), not {seconds}"
        if maximum > 0
        else f"seconds is {seconds}, but the pod's terminationGracePeriodSeconds is {maximum}",
        "lower seconds, or raise the pod's terminationGracePeriodSeconds",
        field=field_of(at),
    )


_OF_PROBES: Final[dict[str, FieldRule]] = {"exec": _exec, "httpGet": _http_get, "tcpSocket": _socket, "grpc": _socket}
_OF_HOOKS: Final[dict[str, FieldRule]] = {"exec": _exec, "httpGet": _http_get, "tcpSocket": _socket, "sleep": _sleep}
