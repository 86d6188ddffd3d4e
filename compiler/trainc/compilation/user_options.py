"""The options of a run as a value: the rows of `base.option_rows`, and settings that replace trainc.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import LEGACY
from trainc.base.option_rows import ROWS

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from dataclasses import dataclass
    from typing import Literal

    from trainc.kubernetes.violations import FieldValidation
    from trainc.settings import Settings
    from trainc.settings.model import Flags

    StrPath = str | os.PathLike[str]
else:

    def dataclass(**_):
        """Return a decorator for a class that defines its methods itself; `dataclasses` takes 5 ms to import."""
        return lambda cls: cls


@dataclass(frozen=True, kw_only=True, repr=False)
class Options:
    """The options of a run; the names and values are those of the command line.

    Raise a TypeError for an unknown name.
    """

    runtimes: Sequence[StrPath] = ()
    """Paths to search for runtimes, after the given paths and before the built-in ones, instead of trainc.yaml's."""
    only: str | None = None
    """Compile only the TrainJobs with this name."""
    namespace: str | None = None
    """The namespace of TrainJobs and TrainingRuntimes that set none."""
    config: StrPath | None = None
    """The settings file for all files; by default, for each file, the nearest trainc.yaml."""
    no_config: bool = False
    """Whether to ignore every trainc.yaml."""
    project: str | None = None
    """The folder of the only project to run; by default all projects of the paths."""
    strict: bool = False
    """Whether warnings are errors."""
    field_validation: FieldValidation | None = None
    """How unknown fields are reported: "strict", "warn" or "ignore"."""
    trainer_version: str | None = None
    """The release of Trainer in the cluster, such as "2.2"."""
    legacy: bool = False
    """Whether to compile the jobs of all legacy kinds, such as PyTorchJob."""
    gang: str | None = None
    """The gang scheduler of legacy jobs."""
    passthrough: bool = False
    """Whether the output has all documents of other kinds."""
    suspend: bool = False
    """Whether every JobSet without a Kueue queue is created suspended."""
    name_suffix_hash: bool = False
    """Whether the names end in a hash of the immutable fields, so that a change creates new objects."""
    argocd_replace: bool = False
    """Whether Argo CD must delete and recreate objects that it cannot update."""
    exclude: tuple[str, ...] = ()
    """More patterns of files to leave out, relative to the current folder."""
    follow_links: bool = False
    """Whether links may lead out of the root."""
    budget: Literal["ci", "default", "unlimited"] = "default"
    """The most work of the run."""
    environments: tuple[str, ...] = ()
    """The environments of trainc.yaml to compile for; by default all of them."""
    settings: Settings | None = None
    """The settings that replace every trainc.yaml."""

    if not TYPE_CHECKING:

        def __init__(self, **given):
            """Set the options. Raise a TypeError for an unknown name."""
            for name in given:
                if name not in DEFAULTS:
                    raise TypeError(_message_of_unknown(name))
            self.__dict__.update(DEFAULTS | given)

        def __setattr__(self, name, value):
            """Raise an AttributeError: options do not change."""
            raise AttributeError(f"Options cannot be changed: use trainc.Options({name}=...)")

        def __eq__(self, other):
            """Return whether all options are equal."""
            return vars(self) == vars(other) if isinstance(other, Options) else NotImplemented

        __hash__ = None

    def __repr__(self) -> str:
        """Return the options that are set."""
        given = (f"{name}={value!r}" for name, value in vars(self).items() if value != DEFAULTS[name])
        return f"Options({', '.join(given)})"

    def with_values(self, **given: Any) -> Options:
        """Return the options with other values for some of them."""
        return Options(**vars(self) | given)

    @property
    def flags(self) -> Flags:
        """The options that override trainc.yaml, by the path of the key."""
        found = {row.key: value for row in ROWS if row.key and (value := getattr(self, row.name))}
        if self.legacy:
            found["legacy", "kinds"] = tuple(kind.name for kind in LEGACY)
        return found


DEFAULTS: Final[dict[str, Any]] = {**{row.name: row.default for row in ROWS}, "settings": None}
NO_OPTIONS: Final = Options()


def _message_of_unknown(name: str) -> str:
    from trainc.base.suggestions import nearest_name

    near = nearest_name(name, DEFAULTS) or next((known for known in DEFAULTS if known.startswith(name)), None)
    known = f"did you mean {near}?" if near else f"the options are {', '.join(DEFAULTS)}"
    return f"trainc.Options has no {name}: {known}"
