#!/usr/bin/env python3
"""Make docs/gallery.md from the first line of every golden case.

    make_gallery.py [--check]

Reads    golden/<case>/input.yaml: its first line is the case's story.
Writes   docs/gallery.md; with --check it writes nothing and exits 1 when the page is not what it would write.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "gallery.md"
HEAD: Final = """# Gallery

Each case is an input and what trainc makes of it, side by side: the documentation's examples, and the snapshot tests. A
case written for an older Trainer also has `upgraded.yaml`, which `trainc upgrade` makes of it.
"""
SECTIONS: Final = (("What compiles", False), ("What does not, and what trainc says", True))


def page() -> str:
    """The text of the page."""
    stories = {
        path.parent.name: path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        for path in sorted(ROOT.glob("golden/*/input.yaml"))
    }
    parts = [HEAD]
    for title, wrong in SECTIONS:
        rows = [
            f"| [{case}](../golden/{case}) | {story} |\n"
            for case, story in stories.items()
            if case.startswith("wrong-") == wrong
        ]
        parts.append(f"\n## {title}\n\n| case | story |\n|---|---|\n{''.join(rows)}")
    return "".join(parts)


def main() -> int:
    """Write the page, or say that it is old."""
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    elif PAGE.read_text(encoding="utf-8") != text:
        print("docs/gallery.md is not what scripts/make_gallery.py makes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
