"""`trainc schema`: a kind's JSON Schema, for editors and other validators."""

from __future__ import annotations

from typing import Any

import click

from trainc.base.kinds import FOLDERS, JOBSET, KINDS, WITH_SCHEMA
from trainc.base.releases import DEFAULT_RELEASE, RELEASES, find_release
from trainc.base.trainjob_dialects import DIALECTS
from trainc.cli.common import OK, options, printing
from trainc.cli.common.arguments import Argument, Command, Option
from trainc.cli.common.click_classes import NearestChoice

ALIASES = {
    "kep": "kep-2170",
    **{key.removeprefix("v"): key for key in DIALECTS},
    **{name: release.dialect for release in RELEASES for name in (release.name, f"v{release.name}")},
}
"""Other names for the dialects: those of the releases that have them."""


class DialectChoice(NearestChoice):
    """A dialect, by its key or an alias."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the dialect's key."""
        return super().convert(ALIASES.get(value, value), param, ctx)


class KindChoice(NearestChoice):
    """A kind in any case of letters, except those that only the case distinguishes: MXJob and MxJob."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the kind."""
        return value if value in self.choices else super().convert(value, param, ctx)


EPILOG = """\b
Examples:
  trainc schema TrainJob > .schemas/trainjob.json
  # then, on the first line of a manifest, for yaml-language-server:
  # yaml-language-server: $schema=../.schemas/trainjob.json
  trainc schema TrainJob --trainer-version 2.1    for Trainer v2.1
  trainc schema --kustomize > trainjob-fields.yaml
  # then, in kustomization.yaml: configurations: [trainjob-fields.yaml]
"""


def schema(kind: str | None, dialect: str | None, trainer_version: str | None, kustomize: bool) -> int:
    """Print the JSON Schema of KIND. Settings is the schema of trainc.yaml."""
    if kustomize:
        if kind is not None or dialect or trainer_version:
            raise click.UsageError("--kustomize cannot be combined with KIND or another option.")
        from trainc.emit import yaml
        from trainc.frontends.extensions import configurations

        printing.write("# For `configurations:` of a kustomization.\n", yaml.render([configurations()]))
        return OK
    if kind is None:
        raise click.UsageError(f"Missing argument 'KIND': use one of {', '.join(WITH_SCHEMA)}.")
    import json

    from trainc.frontends.extensions import schema_of

    has_one = kind in FOLDERS or any(row.schema and row.name == kind for row in KINDS)
    if dialect and (has_one or kind == JOBSET.kind):
        raise click.UsageError(f"--dialect does not apply to {kind}: no dialect has another schema of it.")
    if trainer_version and has_one:
        raise click.UsageError(f"--trainer-version does not apply to {kind}: it has one schema.")
    if dialect and trainer_version:
        raise click.UsageError("--dialect and --trainer-version cannot be combined.")
    release = find_release(trainer_version, DEFAULT_RELEASE)
    try:
        found = schema_of(kind, release, DIALECTS[dialect].schema if dialect else "")
    except FileNotFoundError:
        raise click.UsageError(f"dialect {dialect} does not define {kind}: omit --dialect.") from None
    printing.write(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return OK


command = Command(
    schema,
    (
        Argument("kind", metavar="[KIND]", nargs=1, required=False, type=KindChoice(WITH_SCHEMA, case_sensitive=False)),
        Option(
            ("--dialect",),
            "Dialect of TrainJobs; default: that of the release.",
            type=DialectChoice([*reversed(DIALECTS)]),
        ),
        options.TRAINER_VERSION,
        Option(
            ("--kustomize",),
            "Print the fields for kustomize's transformers: images, and references to runtimes.",
            is_flag=True,
        ),
    ),
    short_help="Print the JSON Schema of a kind.",
    epilog=EPILOG,
)
