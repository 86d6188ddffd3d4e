"""Host names of a legacy job's pods in its own text.

Reads    commands, arguments and variables of all containers.
Returns  the plan with the host names that the pods have in the JobSet: the old ones, such as `<job>-<role>-<index>`, do
         not resolve there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainc.kubernetes.trees import edit

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.frontends.legacy.layout import Layout
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan


def with_new_hosts(plan: Plan, layout: Layout, *, alone: str = "", in_subdomain: bool = False) -> Plan:
    """Return the plan with the new host name in place of each old one that is a word of its own.

    alone         the role whose only pod has no index in its host name; a part of a path is not this name
    in_subdomain  whether a host name can have the job's name as its domain
    """
    roles = {role.lower(): role for group in layout.groups for role, _ in group.roles}
    name = plan.job.source_name
    if not name:
        return plan
    word = re.escape(name)
    domain = rf"(?:\.{word}(?![\w-]))?" if in_subdomain else ""
    old = re.compile(rf"(?<![\w.-]){word}-({'|'.join(roles)})(?:-([0-9]{{1,10}}))?{domain}(?![\w-])")

    def new_host(match: re.Match[str]) -> str:
        role, index = roles[match[1]], match[2]
        if (index is None) != (role == alone) or (index is None and is_in_path(match)):
            return match[0]
        position = layout.position(role, int(index or 0))
        return match[0] if position is None else plan.host(*position)

    def renamed(text: object) -> object:
        return old.sub(new_host, text) if isinstance(text, str) and name in text else text

    for job in range(len(plan.jobs)):
        for slot in (*plan.containers(job), *plan.init_containers(job)):
            plan = plan._replace(spec=edit(plan.spec, slot.path, lambda container: _with_texts(container, renamed)))
    return plan


def is_in_path(match: re.Match[str]) -> bool:
    """Return whether a match follows the slash of a path, which is not that of a URL."""
    before = match.string[: match.start()]
    return before.endswith("/") and not before.endswith("//")


def _with_texts(container: Tree, renamed: Callable[[object], object]) -> Tree:
    """Return a container whose texts for a process are replaced by the results of `renamed`."""
    changed = {key: [*map(renamed, container[key])] for key in ("command", "args") if container.get(key)}
    if env := container.get("env"):
        changed["env"] = [
            variable | {"value": renamed(variable["value"])} if variable.get("value") else variable for variable in env
        ]
    return container | changed
