"""JSON, for programs: one object, whose fields are documented in docs/migration.md.

Reads    a report.
Returns  the text. A review is that of `trainc diff --format json`, and losses are those of `trainc explain --losses`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trainc.explain import losses
from trainc.review.formats import json as review_json
from trainc.source.printable import escape_json

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.rewriting.migration.report import JobReport, MigrationReport


def render(report: MigrationReport, *, color: bool = False) -> str:
    """Return the report."""
    content = {
        "jobs": [_job(job) for job in report.jobs],
        "runtimes": [*report.migration.runtimes],
        "left": len(report.migration.legacy) - len(report.jobs),
    }
    return escape_json(json.dumps(content, indent=2, ensure_ascii=False)) + "\n"


def _job(job: JobReport) -> Tree:
    migrated = job.migrated
    return {
        "job": migrated.id._asdict(),
        "file": migrated.document.file,
        "line": migrated.document.line,
        "form": migrated.candidate.form,
        "rejected": [{"form": each.form, "reasons": [*each.reasons]} for each in migrated.rejected],
        "runtime": migrated.candidate.runtime_name,
        "extensions": [*migrated.candidate.extensions],
        "files": [file["metadata"]["name"] for file in migrated.candidate.files],
        "differences": [{"id": row.id, "difference": row.difference, "reason": row.reason} for row in migrated.rows],
        "review": json.loads(review_json.render(job.review)),
        "losses": json.loads("".join(losses.render_json([job.losses]))),
    }
