"""The plugins of a Volcano Job.

Reads    spec.plugins, a map from the names of plugins to their arguments.
Returns  the arguments of the plugin tensorflow, the violations of the rules, and the losses.
Source   volcano-sh/volcano v1.15.1: the list of plugins, and the plugins tensorflow, svc, env, ssh and hcclrank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.lowering import Loss, LossRule, without_effect
from trainc.kubernetes import gostrings
from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import ENUM, Violation
from trainc.legacy.volcano_tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

PLUGINS: Final = ("spec", "plugins")
TENSORFLOW: Final = (*PLUGINS, "tensorflow")
SVC: Final = (*PLUGINS, "svc")
ROLES: Final = ("ps", "worker", "chief", "evaluator")
"""The roles of TensorFlow, in the plugin's order. An argument of a role's name names its task."""
FLAGS: Final[dict[str, gostrings.Type]] = {**dict.fromkeys(ROLES, "string"), "port": "int"}
SVC_FLAGS: Final[dict[str, gostrings.Type]] = {"publish-not-ready-addresses": "bool", "disable-network-policy": "bool"}
PORT: Final = 2222
FRAMEWORKS: Final = ("pytorch", "mpi", "ray")
OTHER_PLUGINS: Final = ("ssh", "hcclrank")
KNOWN_PLUGINS: Final = ("tensorflow", "svc", "env", *OTHER_PLUGINS, *FRAMEWORKS)

NETWORK_POLICY: Final = LossRule(
    "spec.plugins.svc: the NetworkPolicy, of Volcano",
    "not carried",
    "other pods can connect to those of the job",
    "create a NetworkPolicy for the label volcano.sh/job-name",
    is_added=True,
)
ARGUMENT: Final = without_effect(
    "spec.plugins.svc[*], spec.plugins.env[*]",
    "a JobSet publishes the addresses of all pods; trainc creates no NetworkPolicy",
)
UNREAD: Final = LossRule(
    "spec.plugins.tensorflow[*], after an invalid argument",
    "without effect",
    "the plugin stops at the first invalid flag",
    "correct or remove the invalid argument",
)
SINGLE: Final = without_effect("spec.plugins.tensorflow[*], of a job with one pod", "such a job has no TF_CONFIG")
PLUGIN: Final = LossRule(
    "spec.plugins.ssh, spec.plugins.hcclrank",
    "not carried",
    "the pods lack what the plugin adds",
    "add it to the templates of the tasks",
)
LOSSES: Final = (NETWORK_POLICY, ARGUMENT, UNREAD, SINGLE, PLUGIN)


def flags(job: Tree) -> gostrings.Flags:
    """Return the arguments of the plugin tensorflow."""
    return gostrings.parse(get(job, TENSORFLOW), FLAGS)


def is_single(job: Tree) -> bool:
    """Return whether the plugin adds nothing: to a job with one task and one replica."""
    tasks = get(job, TASKS)
    return len(tasks) == 1 and tasks[0].get("replicas", 0) == 1


def violations(job: Tree) -> Iterator[Violation]:
    """Yield the violations of unknown plugins, and of those of other frameworks beside TensorFlow."""
    for name in get(job, PLUGINS):
        if name in FRAMEWORKS:
            message = f"the plugin {name} is the second one of a framework beside tensorflow"
            yield Violation.at((*PLUGINS, name), ENUM, message, f"remove {name} or tensorflow", key=True)
        elif name not in KNOWN_PLUGINS:
            from trainc.base.fixes import renamed_key

            there = (*PLUGINS, name)
            help = renamed_key(there, KNOWN_PLUGINS) or "remove it"
            yield Violation.at(there, ENUM, f'unknown plugin "{name}"', help, key=True)


def losses(job: Tree) -> Iterator[Loss]:
    """Yield the losses of the plugins and of their arguments."""
    plugins = get(job, PLUGINS)
    if not gostrings.parse(plugins.get("svc", ()), SVC_FLAGS).values.get("disable-network-policy"):
        yield Loss(SVC, NETWORK_POLICY)
    for name in ("svc", "env"):
        for index in range(len(plugins.get(name, ()))):
            yield Loss((*PLUGINS, name, index), ARGUMENT)
    for name in OTHER_PLUGINS:
        if name in plugins:
            yield Loss((*PLUGINS, name), PLUGIN)
    first = 0 if is_single(job) else flags(job).read
    for index in range(first, len(get(job, TENSORFLOW))):
        yield Loss((*TENSORFLOW, index), SINGLE if is_single(job) else UNREAD)
