"""The JSON Schemas of all kinds that trainc reads, for editors.

Reads    schemas/, and what trainc adds to the schemas of Trainer.
Returns  the schema of a kind in a release, or in a dialect of TrainJobs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.base.data import data_path
from trainc.base.kinds import JOBSET, LEGACY, OF_TRAINC
from trainc.frontends import extensions
from trainc.kubernetes.structural import bundled

if TYPE_CHECKING:
    from trainc.base.releases import TrainerRelease


def schema_of(kind: str, release: TrainerRelease, folder: str = "") -> Any:
    """Return the schema of a kind. Raise FileNotFoundError if the folder of `schemas` has no such kind.

    Args:
        kind: one of `WITH_SCHEMA`.
        release: the release of Trainer.
        folder: the folder of another dialect; by default that of the release.
    """
    legacy = next((row for row in LEGACY if row.name == kind), None)
    if legacy is not None:
        return bundled(legacy.kind, legacy.schema)
    of_release = release.jobset if kind == JOBSET.kind else release.crds
    folder = OF_TRAINC.get(kind) or folder or of_release
    if folder == of_release and extensions.is_extended(folder, kind):
        return extensions.schema(kind, folder)
    with open(data_path("schemas", folder, f"{kind}.json"), encoding="utf-8") as file:
        return json.load(file)
