"""Which words of a TrainJob are only carried: what stands there is written to the manifest, and nobody looks at it.

Reads    the path of a scalar, and the TrainJob around it.
Returns  of what kind its word is, or None where somebody looks at the value.

A kind is narrow: each of its spellings passes every check, and means the same string to whoever reads YAML. What is
outside (a `$`, a tag that may be `latest`, a label that looks like a number) is no word, and is compiled as always.
tests/moulds holds every place against the pipeline, with whatever literal the compiler's own code knows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.frontends import CLUSTER
from trainc.kubernetes.trees import get
from trainc.lint.signs import about
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree


class Kind(NamedTuple):
    """Words of one grammar: expressions, with `{most}` for how many characters they have at most, `{rest}` one less.

    What they take for a word may be a boolean or null of YAML: these are sorted out afterwards (`shapes`).
    """

    plain: str
    quoted: str
    """In quotes of either sort, without these."""
    strictness: int
    """A mark for several places is of the strictest kind of these."""
    mark: str
    """A long word of the kind, from a mark."""
    before: str = ""
    """An expression for what stands before the word in the same scalar, and is a constant."""


_LABEL: Final = r"[a-z][-a-z0-9]{{0,{rest}}}(?<!-)"
_IMAGE: Final = r"[a-z][a-z0-9._/-]{{0,{rest}}}:[0-9][A-Za-z0-9._-]{{0,31}}"
_QUOTED: Final = r"[ !#%&(-\[\]-~]{{1,{most}}}"  # no quotes, `$` or backslash

LABEL: Final = Kind(_LABEL, _LABEL, 3, "{}")
"""What a name, a label's value and a host may be, all at once: a label of DNS that begins with a letter."""
IMAGE: Final = Kind(_IMAGE, _IMAGE, 2, "{}:1")
"""An image with a tag that begins with a digit, and so is not `latest`."""
TEXT: Final = Kind(r"[A-Za-z/](?:[A-Za-z0-9_./=@+ -]|:(?! )){{0,{rest}}}(?<![: ])", _QUOTED, 1, "{}")
"""Any text of one line without a reference to a variable."""
OPTION: Final = Kind(r"[A-Za-z0-9_./=:@+-]{{1,{most}}}(?<!:)", _QUOTED, 1, "{}", r"--[a-z0-9][a-z0-9_-]*=")
"""What stands behind `--option=`; where the option stands before it as an argument of its own, it is a TEXT."""

ANY: Final = ""
"""Any key, or any index."""
_PATCH: Final = ("spec", "runtimePatches", ANY, "trainingRuntimeSpec", "template")
_JOB: Final = (*_PATCH, "spec", "replicatedJobs", ANY, "template")
_POD: Final = (*_JOB, "spec", "template")

NAME: Final = ("metadata", "name")
NAMESPACE: Final = ("metadata", "namespace")

PLACES: Final[dict[Path, Kind]] = {
    NAME: LABEL,
    NAMESPACE: LABEL,
    ("metadata", "labels", ANY): LABEL,
    ("metadata", "annotations", ANY): TEXT,
    ("spec", "trainer", "image"): IMAGE,
    ("spec", "trainer", "command", ANY): OPTION,
    ("spec", "trainer", "args", ANY): OPTION,
    ("spec", "trainer", "env", ANY, "value"): TEXT,
    (*_PATCH, "metadata", "labels", ANY): LABEL,
    (*_PATCH, "metadata", "annotations", ANY): TEXT,
    (*_JOB, "metadata", "labels", ANY): LABEL,
    (*_JOB, "metadata", "annotations", ANY): TEXT,
    (*_POD, "metadata", "labels", ANY): LABEL,
    (*_POD, "metadata", "annotations", ANY): TEXT,
    (*_POD, "spec", "serviceAccountName"): LABEL,
    (*_POD, "spec", "nodeSelector", ANY): LABEL,
    (*_POD, "spec", "tolerations", ANY, "value"): LABEL,
    (*_POD, "spec", "volumes", ANY, "persistentVolumeClaim", "claimName"): LABEL,
}
"""Where words stand; below, what of them is looked at after all."""

SPEAKS_TO_TOOLS: Final = re.compile(
    r"(?:.*\.)?(?:k8s\.io|kubernetes\.io|kubeflow\.org|volcano\.sh|argoproj\.io|trainc\.dev|kpt\.dev)/.*"
)
"""Keys of labels and annotations whose values somebody acts on."""
SPEAKS_TO_PEOPLE: Final = re.compile(r"app\.kubernetes\.io/.*|kueue\.x-k8s\.io/queue-name")
"""Those of them whose values nobody here does."""
READ_BY_FLUX: Final = "FLUX_"
"""How the variables begin that its framework reads."""
TUNE: Final = "tune"
"""The command whose arguments its framework takes apart."""


NUMBER: Final = r"[0-9][A-Za-z0-9.]{0,31}"
"""A number or quantity of the spec, which may differ between the jobs of a shape, but not of a mould; what other values
are does not depend on it."""
RUNTIME: Final = ("spec", "runtimeRef", "name")
RUNTIME_NAME: Final = r"[a-z][-a-z0-9]{0,62}(?<!-)"
"""And so may the runtime."""


def kind(path: Path, job: Tree) -> Kind | None:
    """Of what kind the word at a path is; None where the value may be looked at."""
    found = PLACES.get(tuple(ANY if _is_any(path, at) else step for at, step in enumerate(path)))
    if found is None or _is_looked_at(path, job):
        return None
    return TEXT if found is OPTION and _follows_option(get(job, path[:-1]), path[-1]) else found


def _is_any(path: Path, at: int) -> bool:
    """Whether a step is an index, or the key of a label or the like."""
    return isinstance(path[at], int) or path[at - 1] in {"labels", "annotations", "nodeSelector"}


def _is_looked_at(path: Path, job: Tree) -> bool:
    match path:
        case ("metadata", "namespace"):
            return bool(get(job, ("spec", "runtimeRef", "kind"), CLUSTER) != CLUSTER)  # the runtime is looked for in it
        case (*_, "labels" | "annotations", str(key)):
            return bool(SPEAKS_TO_TOOLS.fullmatch(key)) and not SPEAKS_TO_PEOPLE.fullmatch(key)
        case ("spec", "trainer", "command" | "args", _):
            command = get(job, ("spec", "trainer", "command"))
            return isinstance(command, list) and TUNE in command
        case ("spec", "trainer", "env", _, "value"):
            name = get(job, (*path[:-1], "name"))
            return not isinstance(name, str) or bool(about(name)) or name.startswith(READ_BY_FLUX)
    return False


def _follows_option(arguments: list[object], at: int | str) -> bool:
    """Whether an argument is the value of the one before it."""
    if not isinstance(at, int) or at == 0 or str(arguments[at]).startswith("-"):
        return False
    return re.fullmatch("--[a-z0-9][a-z0-9_-]*", str(arguments[at - 1])) is not None
