"""`trainc schema`: a kind's JSON Schema, for editors and other validators."""

from __future__ import annotations

import click

from trainc.cli import OK, options

KINDS = {
    "TrainJob": "trainer-2.3",
    "TrainingRuntime": "trainer-2.3",
    "ClusterTrainingRuntime": "trainer-2.3",
    "JobSet": "jobset-0.12",
}
EPILOG = """\b
Examples:
  trainc schema TrainJob > .schemas/trainjob.json
  # then, on the first line of a manifest, for yaml-language-server:
  # yaml-language-server: $schema=../.schemas/trainjob.json
"""


@click.command(epilog=EPILOG)
@click.argument("kind", type=click.Choice(list(KINDS), case_sensitive=False))
def command(kind: str) -> int:
    """Print the JSON Schema of KIND."""
    from trainc.data import data_path

    with open(data_path("schemas", KINDS[kind], f"{kind}.json"), encoding="utf-8") as file:
        options.write(file.read())
    return OK
