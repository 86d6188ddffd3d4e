"""NCCL and Gloo settings that contradict one another, or the job.

Source: NCCL 2.28, its environment variables: NCCL_SOCKET_IFNAME is a list of prefixes; a leading `=` makes them full
names, a leading `^` excludes them. PyTorch 2.9: GLOO_SOCKET_IFNAME is a list of full names, without such prefixes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import containers, lint_rule, pod_at
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.pipeline.plan import Plan

NCCL: Final = "NCCL_SOCKET_IFNAME"
GLOO: Final = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
UNREAD: Final = (
    ("NCCL_IB_DISABLE", "NCCL_IB_HCA", "InfiniBand and RoCE"),
    ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "direct access between GPUs"),
)
"""The variable that disables a transport, the variable that is ignored without the transport, and the transport."""
WITHOUT: Final = frozenset({"LOC", "0"})
"""The levels of NCCL_P2P_LEVEL that mean the same as NCCL_P2P_DISABLE."""


class NcclConflict(NamedTuple):
    """Two settings, or a setting and the job, that contradict each other."""

    variable: str
    message: str
    help: str


class Interfaces(NamedTuple):
    """The interfaces that NCCL_SOCKET_IFNAME selects."""

    names: tuple[str, ...]
    whole: bool
    """Whether they are full names, not prefixes."""
    excluded: bool

    @classmethod
    def parse(cls, text: str) -> Interfaces:
        """Parse the value.

        >>> Interfaces.parse("^=docker0,lo")
        Interfaces(names=('docker0', 'lo'), whole=True, excluded=True)
        """
        excluded, text = text.startswith("^"), text.removeprefix("^")
        whole, text = text.startswith("="), text.removeprefix("=")
        return cls(tuple(filter(None, text.split(","))), whole, excluded)

    def admit(self, name: str) -> bool:
        """Return whether NCCL uses an interface of that name."""
        named = name in self.names or (not self.whole and name.startswith(self.names))
        return named is not self.excluded


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the conflicts in every container, each at a variable."""
    for path, container in containers(plan):
        env = [variable for variable in container.get("env") or () if "value" in variable]
        last = {variable["name"]: index for index, variable in enumerate(container.get("env") or ())}
        settings = {variable["name"]: variable["value"].strip() for variable in env}
        several = sum(plan.counts) > 1
        for conflict in conflicts(settings, several=several, one_network=one_network(plan, int(path[1]))):
            yield LintFinding("nccl-settings", (*path, "env", last[conflict.variable]), conflict)


def conflicts(settings: Mapping[str, str], *, several: bool, one_network: bool) -> Iterator[NcclConflict]:
    """Yield the conflicts between the variables of a container.

    Args:
        settings: the variables with their values.
        several: whether there are several pods.
        one_network: whether a pod has only one interface besides `lo`, as far as the manifest shows.
    """
    for switch, setting, transport in UNREAD:
        if settings.get(switch) == "1" and settings.get(setting) and settings[setting] not in WITHOUT:
            message = f"{switch}=1 disables {transport}, so NCCL ignores {setting}={settings[setting]}"
            yield NcclConflict(setting, message, f"remove {switch} or {setting}")
    nccl = Interfaces.parse(settings.get(NCCL, ""))
    if several and nccl.names and set(nccl.names) == {"lo"} and not nccl.excluded:
        yield NcclConflict(
            NCCL, f"{NCCL}={settings[NCCL]} is the loopback interface, which cannot reach other pods", POD_INTERFACE
        )
    for name in GLOO:
        names = [part for part in settings.get(name, "").split(",") if part]
        if names and names[0][0] in "^=":
            message = f"{name}={settings[name]} is read as an interface name: only NCCL supports ^ and ="
            yield NcclConflict(name, message, "use the interface name, such as eth0")
        elif several and names and set(names) == {"lo"}:
            yield NcclConflict(
                name, f"{name}={settings[name]} is the loopback interface, which cannot reach other pods", POD_INTERFACE
            )
        elif one_network and nccl.names and names and not any(map(nccl.admit, names)):
            message = (
                f"{NCCL}={settings[NCCL]} and {name}={settings[name]} select different interfaces, but the pod has "
                "only one"
            )
            yield NcclConflict(name, message, POD_INTERFACE)


POD_INTERFACE: Final = "use the pods' interface, usually eth0, or remove the variable"


def one_network(plan: Plan, job: int) -> bool:
    """Return whether a pod has only its own network: no host network, no network annotation and no resource claim."""
    pod = pod_at(plan, job)
    annotations = get(plan.spec, (*pod_spec(job)[:-1], "metadata", "annotations"), {})
    return (
        not pod.get("hostNetwork") and "resourceClaims" not in pod and not any("network" in key for key in annotations)
    )


@lint_rule("nccl-settings")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """One of the settings is ignored, or leaves no interface over which the nodes can reach one another."""
    conflict = NcclConflict(*finding.what)
    return Finding(message=conflict.message, help=conflict.help)
