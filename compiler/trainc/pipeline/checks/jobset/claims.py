"""The rules of JobSet's webhook for volume claim templates.

Reads    the JobSet as the API server stores it.
Returns  violations, with the fields that the webhook names (it spells the list of templates `template`).
Source   JobSet v0.12.0; see the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBS_OF_JOBSET, POD
from trainc.kubernetes import names
from trainc.kubernetes.names import LONGEST_LABEL
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import Violation, shortened, shown
from trainc.pipeline.checks.jobset.jobset_messages import too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree

CLAIM_NAME: Final = Declaration("claim-name", ("jobset",))
CLAIM_NOT_MOUNTED: Final = Declaration("claim-not-mounted", ("jobset",))
CLAIM_VOLUME_CONFLICT: Final = Declaration("claim-volume-conflict", ("jobset",), fix="unsafe")


def violations(jobset: Tree) -> Iterator[Violation]:
    """Yield the violations of each template: its name, conflicting volumes, and missing mounts."""
    owner, jobs = jobset["metadata"]["name"], jobset["spec"].get("replicatedJobs") or []
    first: dict[str, Path] = {}
    for p, policy in enumerate(jobset["spec"]["volumeClaimPolicies"]):
        for t, template in enumerate(policy.get("templates") or ()):
            path: Path = ("spec", "volumeClaimPolicies", p, "templates", t, "metadata", "name")
            at = f"spec.volumeClaimPolicies[{p}].template[{t}].name"
            name = get(template, ("metadata", "name"), "")
            if name in first:
                yield Violation.at(
                    path,
                    CLAIM_NAME,
                    f'two volume claim templates are named "{shortened(name)}"'
                    if name
                    else "two volume claim templates have no name",
                    "give each template a unique name",
                    field=at,
                    related=(("the first one", first[name]),),
                )
                continue
            first[name] = path
            yield from _name(owner, name, path, at)
            yield from _volumes(jobs, name, path)
            yield from _mounts(jobs, name, path)


def _name(owner: str, name: str, path: Path, at: str) -> Iterator[Violation]:
    """Check the template name, and the claim name that JobSet makes from it and the JobSet name."""
    if names.dns1123_subdomain_errors(name):
        message = (
            f"{shown(name)} is not a valid name of a volume claim template: it "
            f"{names.fault(name, names.SUBDOMAIN, LONGEST_LABEL)}"
            if name
            else "the volume claim template has no name"
        )
        yield Violation.at(
            path,
            CLAIM_NAME,
            message,
            "use lowercase letters, digits and `-`" + names.example(name),
            field=at,
        )
    made = f"{name}-{owner}"
    if len(made) > LONGEST_LABEL:
        part = (f'the name of template "{shortened(name)}"', path, name)
        yield too_long(owner, "the name of a volume claim is", made, at, part=part)


def _volumes(jobs: list[Tree], name: str, path: Path) -> Iterator[Violation]:
    """Check that no volume has the template's name: JobSet adds a volume of that name to the pods."""
    for index, job in enumerate(jobs):
        for number, volume in enumerate(get(job, (*POD, "volumes"), ())):
            if volume.get("name") == name:
                from trainc.base.fixes import removal

                there = (*JOBS_OF_JOBSET, index, *POD, "volumes", number, "name")
                yield Violation.at(
                    there,
                    CLAIM_VOLUME_CONFLICT,
                    f'volume "{name}" of job "{job["name"]}" has the name of a volume claim template',
                    removal(there[:-1], "remove the volume: JobSet adds it to the pods that mount it"),
                    related=(("the template", path),),
                )


def _mounts(jobs: list[Tree], name: str, path: Path) -> Iterator[Violation]:
    containers = (
        container for job in jobs for key in ("initContainers", "containers") for container in get(job, (*POD, key), ())
    )
    template = f'volume claim template "{shortened(name)}"' if name else "a volume claim template without a name"
    if all(mount.get("name") != name for container in containers for mount in container.get("volumeMounts") or ()):
        yield Violation.at(
            path,
            CLAIM_NOT_MOUNTED,
            f"no container mounts {template}",
            "add its name to a container's volumeMounts, or remove the template",
            field="spec.replicatedJobs",
        )
