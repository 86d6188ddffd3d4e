"""The options of a run as data: one row for each option, wherever it can be set.

A row is an option of the command line. It can be a parameter of the Argo CD plugin, a field of the functionConfig of
`trainc krm`, and a key of trainc.yaml that the option overrides. `compilation.run.Options` has a field of the
same name for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from trainc.base.kueue_releases import KUEUE_RELEASES, NEWEST_KUEUE, kueue_fault
from trainc.base.records import NamedTuple
from trainc.base.releases import DEFAULT_RELEASE, RELEASES, release_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Form = Literal[
    "budget", "file", "folder", "gang", "names", "paths", "patterns", "release", "switch", "text", "validation"
]
"""The values of an option; `names` are those of environments, of which the plugin and the function take one."""


class Parameter(NamedTuple):
    """An option as a parameter of the Argo CD plugin."""

    title: str
    tooltip: str = ""
    """The text that replaces the help of the option; without a period, as Argo CD shows it."""
    name: str = ""
    """The name, if it is not that of the option with hyphens."""


class OptionRow(NamedTuple):
    """One option."""

    name: str
    """The field of `Options`."""
    form: Form
    help: str
    key: tuple[str, ...] = ()
    """The key of trainc.yaml that it overrides."""
    parameter: Parameter | None = None
    field: str = ""
    """The field of the functionConfig."""
    releases: tuple[str, ...] = ()
    """The values of the form `release`."""
    release_fault: Callable[[str], tuple[str, str] | None] | None = None
    """The function that returns the message and the help for another value of that form."""

    @property
    def default(self) -> object:
        """The value of an option that is not set."""
        if self.form == "budget":
            return "default"
        return () if self.form in {"names", "paths", "patterns"} else False if self.form == "switch" else None

    @property
    def parameter_name(self) -> str:
        """The name of the plugin's parameter; empty without one."""
        return "" if self.parameter is None else self.parameter.name or self.name.replace("_", "-")


ROWS: Final = (
    OptionRow(
        "runtimes",
        "paths",
        "Also search for runtimes here, before the built-in ones; repeatable.",
        ("runtimes", "paths"),
        Parameter(
            "Runtimes",
            "More files and folders with runtimes, relative to the application's folder and inside the repository",
        ),
        "runtimes",
    ),
    OptionRow(
        "only",
        "text",
        "Compile only TrainJobs with this name.",
        parameter=Parameter("Only this TrainJob"),
        field="only",
    ),
    OptionRow("namespace", "text", "Namespace of TrainJobs and TrainingRuntimes that have none.", field="namespace"),
    OptionRow(
        "config",
        "file",
        "Settings file for all files; default: for each file, the nearest trainc.yaml in its folder or above.",
        field="settings",
    ),
    OptionRow("no_config", "switch", "Ignore every trainc.yaml."),
    OptionRow("project", "folder", "Only the project with this folder."),
    OptionRow(
        "strict", "switch", "Turn every warning into an error.", ("lint", "strict"), Parameter("Strict"), "strict"
    ),
    OptionRow(
        "field_validation",
        "validation",
        "Unknown fields: errors (strict, the default), dropped with a warning, or dropped.",
        ("fieldValidation",),
        Parameter("Field validation", "Unknown fields: strict (errors, the default), warn or ignore (both drop them)"),
        "fieldValidation",
    ),
    OptionRow(
        "trainer_version",
        "release",
        f"Release of Trainer in the cluster; default: {DEFAULT_RELEASE.name}.",
        ("trainerVersion",),
        Parameter(
            "Trainer version",
            f"The release of Trainer in the cluster: {', '.join(release.described for release in RELEASES)}",
        ),
        "trainerVersion",
        tuple(release.name for release in RELEASES),
        release_fault,
    ),
    OptionRow(
        "kueue_version",
        "release",
        "Release of Kueue in the cluster; default: unknown.",
        ("kueueVersion",),
        Parameter(
            "Kueue version", f"The release of Kueue in the cluster: {KUEUE_RELEASES[0].name} to {NEWEST_KUEUE.name}"
        ),
        "kueueVersion",
        tuple(release.name for release in KUEUE_RELEASES),
        kueue_fault,
    ),
    OptionRow(
        "legacy",
        "switch",
        "Also compile jobs of the legacy kinds, such as PyTorchJob.",
        ("legacy", "kinds"),
        Parameter("Legacy"),
        "legacy",
    ),
    OptionRow(
        "gang",
        "gang",
        "The gang scheduler of legacy jobs: volcano, coscheduling, or a scheduler's name.",
        ("legacy", "gang"),
        Parameter("Gang"),
        "gang",
    ),
    OptionRow("passthrough", "switch", "Copy documents of other kinds to the output.", ("passthrough",)),
    OptionRow(
        "suspend",
        "switch",
        "Create every JobSet suspended, to be resumed later.",
        ("delivery", "suspend"),
        Parameter("Suspend", "Create JobSets without a Kueue queue suspended; a user resumes them"),
        "suspend",
    ),
    OptionRow(
        "name_suffix_hash",
        "switch",
        "Append a hash of the immutable fields to JobSet names, so that changing them creates a new JobSet.",
        ("delivery", "nameSuffixHash"),
        Parameter("Name suffix hash", "A change to an immutable field creates a new JobSet with a new name"),
        "nameSuffixHash",
    ),
    OptionRow(
        "argocd_replace",
        "switch",
        "Let Argo CD delete and recreate a JobSet that it cannot update.",
        ("delivery", "argocdReplace"),
        Parameter("Replace on change"),
        "argocdReplace",
    ),
    OptionRow(
        "exclude",
        "patterns",
        "Leave out files and folders that match this .gitignore pattern; repeatable.",
        ("exclude",),
    ),
    OptionRow(
        "follow_links",
        "switch",
        "Read through links that lead out of the root (the git root, or else the current folder).",
    ),
    OptionRow(
        "budget",
        "budget",
        "Limit on input size and work. Use ci for pull requests from others.",
    ),
    OptionRow(
        "environments",
        "names",
        "Environment in trainc.yaml; repeatable; default: all.",
        parameter=Parameter(
            "Environment", "The environment in trainc.yaml; required if there is one", name="environment"
        ),
        field="environment",
    ),
)
RELEASE_ROWS: Final[Mapping[str, OptionRow]] = {row.key[0]: row for row in ROWS if row.form == "release"}
"""The options for the releases in the cluster, by the key of trainc.yaml."""
BY_NAME: Final[Mapping[str, OptionRow]] = {row.name: row for row in ROWS}
