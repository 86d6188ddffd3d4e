"""Resource names that differ in one letter from the name of a device plugin's resource.

Source: the documentation of the device plugins, as of 2026. Names without a domain are errors (`resource-name`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.data import data_table
from trainc.base.fixes import rename
from trainc.base.suggestions import shared_length
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import containers, lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

LONGEST: Final = 64


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the resources whose names are almost a known one, unless trainc.yaml declares them."""
    for path, container in containers(plan):
        names = {name: kind for kind in ("requests", "limits") for name in get(container, ("resources", kind)) or ()}
        for name, kind in names.items():
            if (
                "/" in name
                and name not in data_table("devices")
                and name not in plan.project.accelerators
                and (near := known_name(name))
            ):
                yield LintFinding("resource-typo", (*path, "resources", kind, name), (name, near), key=True)


def known_name(name: str) -> str | None:
    """Return the known name that a name is probably meant to be.

    Digits distinguish models, and a first letter distinguishes kinds of devices (vgpu): such names are not misspelled.

    >>> [known_name(f"nvidia.com/{name}") for name in ("gpus", "GPU")]
    ['nvidia.com/gpu', 'nvidia.com/gpu']
    >>> [known_name(name) for name in ("amd.com/vgpu", "huawei.com/Ascend710")]
    [None, None]
    """
    if len(name) > LONGEST:
        return None
    devices = data_table("devices")
    near = (known for known in devices if is_one_edit(name, known))
    return next((known for known in devices if name.lower() == known.lower()), None) or min(near, default=None)


def is_one_edit(name: str, known: str) -> bool:
    """Return whether one letter is added, missing or replaced, or two neighbours are exchanged."""
    if abs(len(name) - len(known)) > 1:
        return False
    begin = shared_length(name, known)
    left, right = name[begin:], known[begin:]
    edits = (
        (left[1:] == right, left[:1]),
        (left == right[1:], right[:1]),
        (left[1:] == right[1:], left[:1] + right[:1]),
        (left[:2] == right[1::-1] and left[2:] == right[2:], left[:2]),
    )
    first_letter = begin > 0 and known[begin - 1] == "/"
    return any(same and changed.isalpha() and changed.islower() for same, changed in edits) and not first_letter


@lint_rule("resource-typo", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The API server accepts any name with a domain; without a node that has the resource, the pods stay pending."""
    name, near = finding.what
    return Finding(
        message=f'"{name}" is probably misspelled: if no node has such a resource, the pods stay pending',
        help=rename(finding.path, near, applicability="unsafe"),
    )
