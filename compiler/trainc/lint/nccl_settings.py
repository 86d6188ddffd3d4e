"""Settings of NCCL and Gloo that contradict one another, or the job.

Source: NCCL 2.28, its environment variables: NCCL_SOCKET_IFNAME is a list of prefixes, `=` before it makes them whole
names, `^` excludes them. PyTorch 2.9: GLOO_SOCKET_IFNAME is a list of whole names, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.lint import containers, pod_at
from trainc.plan import pod_spec
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.plan import Plan

NCCL: Final = "NCCL_SOCKET_IFNAME"
GLOO: Final = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
UNREAD: Final = (
    ("NCCL_IB_DISABLE", "NCCL_IB_HCA", "InfiniBand and RoCE"),
    ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "direct access between GPUs"),
)
"""What turns a transport off, what has a meaning only with it, and what it is."""
WITHOUT: Final = frozenset({"LOC", "0"})
"""The levels of NCCL_P2P_LEVEL that mean the same as NCCL_P2P_DISABLE."""


class Fault(NamedTuple):
    """Two settings, or one and the job, that do not go together."""

    variable: str
    message: str
    help: str


class Interfaces(NamedTuple):
    """What NCCL_SOCKET_IFNAME says."""

    names: tuple[str, ...]
    whole: bool
    """Whether they are whole names, not prefixes."""
    excluded: bool

    @classmethod
    def of(cls, text: str) -> Interfaces:
        """Read it.

        >>> Interfaces.of("^=docker0,lo")
        Interfaces(names=('docker0', 'lo'), whole=True, excluded=True)
        """
        excluded, text = text.startswith("^"), text.removeprefix("^")
        whole, text = text.startswith("="), text.removeprefix("=")
        return cls(tuple(filter(None, text.split(","))), whole, excluded)

    def admit(self, name: str) -> bool:
        """Whether NCCL would take an interface of that name."""
        named = name in self.names or (not self.whole and name.startswith(self.names))
        return named is not self.excluded


def find(plan: Plan) -> Iterator[Regret]:
    """The faults of every container, each at a variable of its own."""
    for path, container in containers(plan):
        env = [variable for variable in container.get("env") or () if "value" in variable]
        last = {variable["name"]: index for index, variable in enumerate(container.get("env") or ())}
        said = {variable["name"]: variable["value"].strip() for variable in env}
        for fault in faults(said, several=sum(plan.counts) > 1, one_network=one_network(plan, int(path[1]))):
            yield Regret("nccl-settings", (*path, "env", last[fault.variable]), fault)


def faults(said: Mapping[str, str], *, several: bool, one_network: bool) -> Iterator[Fault]:
    """What is wrong with the variables of a container.

    Args:
        said: the variables with their values.
        several: whether there are several pods.
        one_network: whether a pod has one interface beside `lo`, as far as the manifest says.
    """
    for switch, setting, transport in UNREAD:
        if said.get(switch) == "1" and said.get(setting) and said[setting] not in WITHOUT:
            message = f"{switch}=1 turns {transport} off, and {setting}={said[setting]} is then not read"
            yield Fault(setting, message, f"leave out one of {switch} and {setting}")
    nccl = Interfaces.of(said.get(NCCL, ""))
    if several and nccl.names and set(nccl.names) == {"lo"} and not nccl.excluded:
        yield Fault(NCCL, f"{NCCL}={said[NCCL]} is the loopback: no other pod can be reached over it", OF_THE_POD)
    for name in GLOO:
        names = [part for part in said.get(name, "").split(",") if part]
        if names and names[0][0] in "^=":
            message = f"{name}={said[name]}: only NCCL reads ^ and =; here an interface of that very name is looked for"
            yield Fault(name, message, "name the interface itself, as in eth0")
        elif several and names and set(names) == {"lo"}:
            yield Fault(name, f"{name}={said[name]} is the loopback: no other pod can be reached over it", OF_THE_POD)
        elif one_network and nccl.names and names and not any(map(nccl.admit, names)):
            message = f"{NCCL}={said[NCCL]} and {name}={said[name]} leave no interface to both, and the pod has one"
            yield Fault(name, message, OF_THE_POD)


OF_THE_POD: Final = "name the interface of the pods, usually eth0, or leave the variable out"


def one_network(plan: Plan, job: int) -> bool:
    """Whether a pod has its own network and no second one, be it of its node, by an annotation or by a claim."""
    pod = pod_at(plan, job)
    annotations = get(plan.spec, (*pod_spec(job)[:-1], "metadata", "annotations"), {})
    return (
        not pod.get("hostNetwork") and "resourceClaims" not in pod and not any("network" in key for key in annotations)
    )


@check(
    "nccl-settings", stage="lint", severity="warning", title="Settings of NCCL or Gloo contradict each other", own=True
)
def nccl_settings(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """One of the settings is not read, or leaves no interface over which the nodes can reach one another."""
    fault = Fault(*regret.what)
    yield Finding(message=fault.message, help=fault.help, field=field_of(("spec", *regret.path)))


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (nccl_settings,)
