#!/usr/bin/env python3
"""Make docs/diagnostics.md from the catalogue and the pages in diagnostics/.

    make_diagnostics.py [--check]

Reads    every declaration (trainc.catalogue), and diagnostics/<id>.md.
Writes   docs/diagnostics.md: a table of contents by the stage at which the cluster would have refused, then every page.
         With --check it writes nothing and exits 1 when the file is not what it would write. Without the page of an
         id it writes nothing, says which page is missing, and exits 1.

The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trainc.catalogue import by, entries, page
from trainc.data import data_path
from trainc.declarations import PHASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.declarations import Declaration, Phase

TARGET: Final = Path(__file__).resolve().parent.parent / "docs" / "diagnostics.md"
INTRODUCTION: Final = """\
# Diagnostics

<!-- Made by scripts/make_diagnostics.py from the checks and diagnostics/; change those, not this. -->

A message of trainc has an id in brackets: `error[wrong-type]`. Here is what each one means, why the cluster minds, and
an example of both ways; `trainc validate --explain wrong-type` prints the same. They stand in the order in which the
cluster would have come upon them: what fails early fails at `kubectl apply`, what fails late fails while nobody looks.
"""
HEADINGS: Final[dict[Phase, tuple[str, str]]] = {
    "read": ("Reading the text", "kubectl fails before it asks the cluster"),
    "schema": ("The schema of the kind", "`kubectl apply` fails, and nothing is stored"),
    "runtime": ("The webhook of runtimes", "`kubectl apply` of the runtime fails"),
    "trainjob": ("The webhook of TrainJobs", "`kubectl apply` of the TrainJob fails"),
    "build": ("The controller", "`kubectl apply` succeeds, and no JobSet comes of it"),
    "jobset-schema": ("The schema of the JobSet", "`kubectl apply` succeeds, and no JobSet comes of it"),
    "jobset": ("The webhook of JobSets", "`kubectl apply` succeeds, and no JobSet comes of it"),
    "job": ("Jobs and pods", "the JobSet is there, and its pods never come"),
    "lint": ("Advice", "the cluster takes it"),
}
"""What fails at a stage, and how that looks to whoever applies it."""
ALONE: Final = ("trainc alone", "the cluster never meets it, or takes it")
INTERNAL: Final = re.compile(r"`([a-z0-9-]+)`")


def text_of(known: dict[str, Declaration]) -> str:
    """The whole file."""
    contents, pages = [INTRODUCTION], []
    for heading, looks, ids in sections(known.values()):
        contents.append(f"**{heading}**: {looks}.\n\n| id | |\n|---|---|\n" + "".join(row_of(known[id]) for id in ids))
        pages.append(f"## {heading}\n")
        pages += [entry_of(known[id], known) for id in ids]
    return "\n".join([*contents, *pages])


def sections(known: Iterable[Declaration]) -> Iterator[tuple[str, str, list[str]]]:
    """Heading, how it looks, and the ids of each stage that has any; what trainc alone says comes last."""
    ids: dict[Phase | None, list[str]] = {}
    for declared in known:
        ids.setdefault(None if declared.own else declared.phases[0], []).append(declared.id)
    for stage in PHASES:
        if stage in ids:
            yield *HEADINGS[stage], ids[stage]
    yield *ALONE, ids[None]


def row_of(declared: Declaration) -> str:
    """One line of the contents."""
    id, warning = declared.id, " (a warning)" if declared.severity == "warning" else ""
    return f"| [`{id}`](#{id}) | {declared.title}{warning} |\n"


def entry_of(declared: Declaration, known: dict[str, Declaration]) -> str:
    """One page under its heading; the ids that its last line names are links."""
    id, title, severity = declared.id, declared.title, declared.severity
    text, mark, related = page(id).partition("\nSee also: ")
    related = INTERNAL.sub(lambda found: f"[{found[0]}](#{found[1]})" if found[1] in known else found[0], related)
    verb = "refused" if severity == "error" else "said"
    return f"### {id}\n\n**{title}** ({severity}; {verb} by {by(declared)})\n\n{text}{mark}{related}"


def main(argv: list[str] | None = None) -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description="Make docs/diagnostics.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file would change")
    args = parser.parse_args(argv)
    known = entries()
    missing = [f"diagnostics/{id}.md" for id in known if not os.path.exists(data_path("diagnostics", f"{id}.md"))]
    if missing:
        for path in missing:
            print(f"{path} is missing: write it, see CONTRIBUTING.md", file=sys.stderr)
        return 1
    text = text_of(known)
    if not args.check:
        TARGET.write_text(text, encoding="utf-8", newline="\n")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET} is not what scripts/make_diagnostics.py makes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
