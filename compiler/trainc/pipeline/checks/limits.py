"""Size limits of the components that store an object or pass it on.

Reads    the JobSet as it is stored; the ConfigMaps of a plan.
Returns  violations; findings; and the sizes of host lists by arithmetic, because a count may be much larger than a list
         that fits in memory. A run calls these checks only if something may be large.
Source   etcd's request limit (1.5 MiB), compared with the JSON in which the API server stores a custom resource; the
         API server's limits for a ConfigMap and for annotations (Kubernetes 1.36); Linux's limit for one string of a
         program's arguments or environment (MAX_ARG_STRLEN, which includes the terminating zero). Names are not
         checked here: JobSet's webhook checks those of Jobs, pods and Services (`checks.jobset`), and a PodGroup has
         the TrainJob's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBS_OF_JOBSET, POD
from trainc.diagnostics import Diagnostic, Finding
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import Violation, field_of, shortened
from trainc.pipeline.checks import Check, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import ObjectId, Place
    from trainc.kubernetes.trees import Path, Tree
    from trainc.pipeline.plan import Plan


OBJECT_TOO_LARGE: Final = Declaration("object-too-large", ("jobset",), trainc_only=True)
ARGUMENT_TOO_LONG: Final = Declaration("argument-too-long", ("job",), trainc_only=True)

MAX_STORED: Final = 3 * 512 * 1024
MAX_DATA: Final = 1024 * 1024
MAX_ARGUMENT: Final = 128 * 1024 - 1
_ESCAPED: Final = "<>&\u2028\u2029"
"""The characters that Go escapes in JSON, with six bytes each."""


def stored(jobset: Tree) -> Iterator[Violation]:
    """Check the size of the whole JobSet; the violation is at its largest part."""
    size = _json_size(jobset)
    if size > MAX_STORED:
        path, largest = _largest_part(jobset, size)
        yield Violation.at(
            path,
            OBJECT_TOO_LARGE,
            f"the stored JobSet takes {size} bytes; the limit is {MAX_STORED}, and "
            f"{field_of(path)} accounts for {largest}",
            "move large data to a ConfigMap or a volume, and mount it",
        )


@check("config-map-too-large", phase="build")
def config_maps(plan: Plan) -> Iterator[Finding]:
    """Check that a ConfigMap's values take at most 1 MiB in total; its keys do not count."""
    for tree in plan.others:
        size = sum(map(_size, tree["data"].values())) if tree["kind"] == "ConfigMap" else 0
        if size > MAX_DATA:
            yield config_map(plan, tree["metadata"]["name"], size)


def config_map(plan: Plan, name: str, size: int) -> Finding:
    """Return the finding about a ConfigMap that is too large."""
    return Finding(
        message=f'ConfigMap "{name}" has {size} bytes; the limit is {MAX_DATA}',
        help="use fewer nodes or a shorter name, or call a script in the image; the ConfigMap contains all node names "
        "or the whole command",
        field="",
        place=plan.job.at("spec", "trainer", "numNodes"),
    )


def long_variable(subject: ObjectId, name: str, size: int, help: str, place: Place) -> Iterator[Diagnostic]:
    """Yield an error if a variable with the host names of all pods is too long for a process.

    size   the length of its value, in bytes, by arithmetic: a list may be too large to be written
    """
    size += len(f"{name}=")
    if size > MAX_ARGUMENT:
        message = too_long(f"variable {name}, including its name,", size)
        yield Diagnostic.declared(ARGUMENT_TOO_LONG, message, help, object=subject, field=place.field, place=place)


def too_long(subject: str, size: int) -> str:
    """Return the message about a string that is too long for a process."""
    return f"{subject} takes {size} bytes; Linux limits each argument and variable to {MAX_ARGUMENT}"


def strings(jobset: Tree) -> Iterator[Violation]:
    """Check each string that a container is started with; the fields are those of the Job."""
    for j, job in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        for key in ("initContainers", "containers"):
            for c, container in enumerate(get(job, (*POD, key), ())):
                for path, subject, size in _strings(container):
                    job_path = (*POD, key, c, *path)
                    yield Violation.at(
                        (*JOBS_OF_JOBSET, j, *job_path),
                        ARGUMENT_TOO_LONG,
                        too_long(subject, size),
                        "move the text to a file in a mounted ConfigMap, Secret or volume",
                        field=field_of(job_path[1:]),
                    )


def _strings(container: Tree) -> Iterator[tuple[Path, str, int]]:
    """Yield the strings of a container that are too long: path, description and size."""
    for index, variable in enumerate(container.get("env") or ()):
        size = _size(variable["name"]) + 1 + _size(variable.get("value") or "")
        if size > MAX_ARGUMENT:
            yield ("env", index, "value"), f"variable {shortened(variable['name'])}, including its name,", size
    for key in ("command", "args"):
        for index, word in enumerate(container.get(key) or ()):
            if (size := _size(word)) > MAX_ARGUMENT:
                yield (key, index), f"{key}[{index}]", size


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _json_size(tree: Any) -> int:
    import json

    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return _size(text) + sum(text.count(character) * (6 - _size(character)) for character in _ESCAPED)


def _largest_part(tree: Any, size: int) -> tuple[Path, int]:
    """Return the smallest part of a tree that makes up most of it, and its size."""
    path: Path = ()
    while isinstance(tree, dict | list) and tree:
        pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
        sizes = {key: _json_size(value) for key, value in pairs}
        key = max(sizes, key=lambda key: sizes[key])
        if sizes[key] * 2 < size:
            break
        path, tree, size = (*path, key), tree[key], sizes[key]
    return path, size


CHECKS: Final[tuple[Check[[Plan]], ...]] = (config_maps,)


def job_count(plan: Plan, job: int) -> int:
    """Return the number of Jobs of a replicated job."""
    return max(0, int(plan.jobs[job].get("replicas", 1)))


def host_names_length(plan: Plan, job: int, *, short: bool = False) -> int:
    """Return the total length of the host names of a replicated job's pods, in bytes; `short` is without the domain.

    A name is the same in all pods, except for the index of the Job and the index of the pod in its Job.
    """
    jobs, pods = job_count(plan, job), max(0, plan.counts[job])
    name = plan.host(job, "", "")
    own = len((name.partition(".")[0] if short else name).encode("utf-8", "surrogatepass"))
    return jobs * pods * own + pods * digits(jobs) + jobs * digits(pods)


def digits(count: int) -> int:
    """Return the number of digits of all numbers from 0 to `count` - 1.

    >>> [digits(count) for count in (0, 1, 10, 12, 100)] == [0, 1, 10, 14, 190]
    True
    """
    total, first, long = 0, 0, 1
    while first < count:
        last = min(count, 10**long)
        total += (last - first) * long
        first, long = last, long + 1
    return total
