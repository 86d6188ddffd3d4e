#!/usr/bin/env python3
"""Make docs/diagnostics.md from the catalogue and the pages in diagnostics/.

    make_diagnostics.py [--check]

Reads    every id with its title, severity and stages (trainc.catalogue), and diagnostics/<id>.md.
Writes   docs/diagnostics.md: a table of contents by the stage at which the cluster would have refused, then every page.
         With --check it writes nothing and exits 1 when the file is not what it would write.

The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trainc.catalogue import OWN, Entry, entries, page
from trainc.declarations import PHASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.declarations import Phase

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


def text_of(known: dict[str, Entry]) -> str:
    """The whole file."""
    contents, pages = [INTRODUCTION], []
    for heading, looks, ids in sections(known.values()):
        contents.append(f"**{heading}**: {looks}.\n\n| id | |\n|---|---|\n" + "".join(row_of(known[id]) for id in ids))
        pages.append(f"## {heading}\n")
        pages += [entry_of(known[id], known) for id in ids]
    return "\n".join([*contents, *pages])


def sections(known: Iterable[Entry]) -> Iterator[tuple[str, str, list[str]]]:
    """Heading, how it looks, and the ids of each stage that has any; what trainc alone says comes last."""
    ids: dict[Phase | None, list[str]] = {}
    for entry in known:
        ids.setdefault(None if entry.id in OWN else entry.stages[0], []).append(entry.id)
    for stage in PHASES:
        if stage in ids:
            yield *HEADINGS[stage], ids[stage]
    yield *ALONE, ids[None]


def row_of(entry: Entry) -> str:
    """One line of the contents."""
    return f"| [`{entry.id}`](#{entry.id}) | {entry.title}{' (a warning)' if entry.severity == 'warning' else ''} |\n"


def entry_of(entry: Entry, known: dict[str, Entry]) -> str:
    """One page under its heading; the ids that its last line names are links."""
    text, mark, related = page(entry.id).partition("\nSee also: ")
    related = INTERNAL.sub(lambda found: f"[{found[0]}](#{found[1]})" if found[1] in known else found[0], related)
    verb = "refused" if entry.severity == "error" else "said"
    return f"### {entry.id}\n\n**{entry.title}** ({entry.severity}; {verb} by {entry.by})\n\n{text}{mark}{related}"


def main(argv: list[str] | None = None) -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description="Make docs/diagnostics.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file would change")
    args = parser.parse_args(argv)
    text = text_of(entries())
    if not args.check:
        TARGET.write_text(text, encoding="utf-8", newline="\n")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET} is not what scripts/make_diagnostics.py makes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
