"""Probes, the hooks that run when a container starts and stops, and its restarts.

Only a probe can call a gRPC server, and only a hook can sleep. A container restarts by
its own restart rules, or after a change of its resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import At, path_of
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
from trainc.kubernetes.violations import DUPLICATE_ITEM, INVALID_NAME, OUT_OF_RANGE, TOO_MANY_ITEMS, listed, shown

if TYPE_CHECKING:
    from collections.abc import Sized

    from trainc.kubernetes.trees import Tree

HOOK_SLEEP: Final = Declaration("hook-sleep", ("job",))
ONE_HANDLER: Final = Declaration("one-handler", ("job",))
PROBE_GRACE_PERIOD: Final = Declaration("probe-grace-period", ("job",), fix="unsafe")
GRACE_PERIOD: Final = 30
"""The default of terminationGracePeriodSeconds."""
PROBE: Final[dict[str, FieldRule]] = dict.fromkeys(
    ("failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds"), at_least(0)
) | {"terminationGracePeriodSeconds": at_least(1)}
_fields: Final = fields(PROBE)
_scheme: Final = one_of("HTTP", "HTTPS")
RESIZE_RESTART: Final = Declaration("resize-restart", ("job",))
RESTART_RULES: Final = Declaration("restart-rules", ("job",))
ACTIONS: Final = ("Restart", "RestartAllContainers")
OPERATORS: Final = ("In", "NotIn")
MAX_RULES: Final = 20
MAX_CODES: Final = 255
RESIZED: Final = ("cpu", "memory")
RESIZES: Final = ("NotRequired", "RestartContainer")


def liveness(violations: PodViolations, at: At, probe: Tree) -> None:
    """Check a liveness or startup probe, whose successThreshold must be 1."""
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
    from trainc.kubernetes import names

    why = names.fault(name, "A-Za-z0-9-", len(name))
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


def rules(violations: PodViolations, at: At, container: Tree) -> None:
    """Check a container's restart rules by exit code.

    The exit codes are not checked, nor are the rules of an init container without a restart policy.
    """
    here, restart_rules = (at, "restartPolicyRules"), container["restartPolicyRules"]
    if "restartPolicy" not in container:
        violations.report(
            RESTART_RULES,
            here,
            "restartPolicyRules requires a restartPolicy on the container",
            "add a restartPolicy to the container, such as Never",
            field=field_of((at, "restartPolicy")),
        )
        if at is not None and at[0] is not None and at[0][1] == "initContainers":
            return
    _not_too_many(violations, here, restart_rules, MAX_RULES)
    for index, rule in enumerate(restart_rules):
        _enum(violations, ((here, index), "action"), rule.get("action"), ACTIONS)
        codes = rule.get("exitCodes")
        if codes is None:
            violations.report_missing(
                ((here, index), "exitCodes"),
                "set the exit codes, for example exitCodes: {operator: In, values: [42]}",
            )
        else:
            _enum(violations, (((here, index), "exitCodes"), "operator"), codes.get("operator"), OPERATORS)
            _not_too_many(violations, (((here, index), "exitCodes"), "values"), codes.get("values") or (), MAX_CODES)


def resize_policy(violations: PodViolations, at: At, policies: list[Tree]) -> None:
    """Check resizePolicy. The API server's errors have no index, except for duplicate resources."""
    field, named = field_of(at), dict[str, At]()
    for index, policy in enumerate(policies):
        here, resource, restart = (at, index), policy.get("resourceName", ""), policy.get("restartPolicy")
        if resource in named:
            violations.report(
                DUPLICATE_ITEM,
                here,
                f'two items of resizePolicy are for resource "{resource}"',
                "remove one of them",
                related=(("the first item", named[resource]),),
            )
        named.setdefault(resource, here)
        _enum(violations, (here, "resourceName"), resource, RESIZED, field)
        _enum(violations, (here, "restartPolicy"), restart, RESIZES, field)
        if restart == "RestartContainer" and violations.pod.get("restartPolicy") == "Never":
            violations.report(
                RESIZE_RESTART,
                (here, "restartPolicy"),
                "restartPolicy RestartContainer is not allowed in a pod with restartPolicy Never",
                "use NotRequired, or set restartPolicy: OnFailure on the pod",
                field=field,
            )


def resize_policy_of_init(violations: PodViolations, at: At, policies: list[Tree]) -> None:
    """Check resizePolicy of an init container that is not a sidecar: it is not restarted after a resize."""
    resize_policy(violations, at, policies)
    for index, policy in enumerate(policies):
        if policy.get("restartPolicy") == "RestartContainer":
            violations.report(
                RESIZE_RESTART,
                ((at, index), "restartPolicy"),
                "restartPolicy RestartContainer is not allowed in an init container that is not a sidecar",
                "use NotRequired",
            )


def _enum(violations: PodViolations, at: At, value: str | None, allowed: tuple[str, ...], field: str = "") -> None:
    """Check a required enum."""
    if not value:
        violations.report_missing(at, f"set it to {listed(list(allowed), 'or')}", field=field)
    elif value not in allowed:
        violations.not_allowed(at, value, allowed, field=field)


def _not_too_many(violations: PodViolations, at: At, items: Sized, maximum: int) -> None:
    if len(items) > maximum:
        violations.report(
            TOO_MANY_ITEMS,
            at,
            f"{called(at)} has {len(items)} items; the limit is {maximum}",
            f"remove {len(items) - maximum} of them",
        )
