#!/usr/bin/env python3
"""Generate the tables of docs/releases.md: the releases, and their behaviors.

    make_releases.py [--check]

Reads    base/behaviours.py and base/releases.py of trainc; scripts/upstream.json, for the patch release of a JobSet;
         and the text around the tables in docs/releases.md.
Writes   docs/releases.md. With --check it writes nothing and exits 1 if a table is out of date.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from generated_files import write_or_check

from trainc.base.behaviours import BEHAVIOURS
from trainc.base.releases import DEFAULT_RELEASE, RELEASES

if TYPE_CHECKING:
    from trainc.base.behaviours import Behaviour

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = Path("docs", "releases.md")
TABLE: Final = r"\| releases \|.*\n(?:\|.*\n)+"
"""The pattern of the table of a section."""
LIST: Final = TABLE.replace("releases", "release")
"""The pattern of the table of releases."""


def list_of_releases() -> str:
    """Return the table at the top: the releases, with their tags and JobSets."""
    tags = json.loads(Path(__file__).with_name("upstream.json").read_text(encoding="utf-8"))["kubernetes-sigs/jobset"]
    lines = ["| release | follows | JobSet | source |", "|---|---|---|---|"]
    for each in RELEASES:
        name = f"`{each.name}`, the default" if each.is_same(DEFAULT_RELEASE) else f"`{each.name}`"
        line = each.jobset.replace("jobset-", "v")
        (jobset,) = (tag for tag in tags if tag.rpartition(".")[0] == line)
        lines.append(f"| {name} | Trainer {each.tag} | {jobset} | {each.source} |")
    return "\n".join([*lines, ""])


def table(behaviour: Behaviour) -> str:
    """Return the table of a behavior: what the releases do."""
    rows: dict[str, list[str]] = {}
    for release in RELEASES:
        is_announced = release.evidence(behaviour.field) != release.read_in
        name = f"v{release.name}" + (" (release notes)" if is_announced else "")
        rows.setdefault(behaviour.sentence(release), []).append(name)
    lines = [f"| {', '.join(names)} | {sentence} |" for sentence, names in rows.items()]
    return "\n".join(["| releases | behavior |", "|---|---|", *lines, ""])


def page(text: str) -> str:
    """Return the page with its tables, from its old text."""
    text = re.sub(LIST, list_of_releases(), text, count=1)
    for behaviour in BEHAVIOURS:
        head, heading, section = text.partition(f"\n### {behaviour.title}\n")
        if not heading:
            raise SystemExit(f"{PAGE} has no section {behaviour.title}")
        text = head + heading + re.sub(TABLE, table(behaviour).replace("\\", r"\\"), section, count=1)
    return text


def main(argv: list[str]) -> int:
    """Write the page, or check it."""
    old = (ROOT / PAGE).read_text(encoding="utf-8")
    return write_or_check("make_releases.py", ROOT, [(PAGE, page(old))], check="--check" in argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
