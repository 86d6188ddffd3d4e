#!/usr/bin/env python3
"""Generate docs/gallery.md from the first line of every golden case.

    make_gallery.py [--check]

Reads    golden/<case>/input.yaml: its first line describes the case.
Writes   docs/gallery.md. With --check it writes nothing and exits 1 if the page is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from generated_files import write_or_check

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = Path("docs", "gallery.md")
HEAD: Final = """# Gallery

Each case contains an input and trainc's output. The cases are the documentation's examples and the snapshot tests. A
case for an older Trainer version also has `upgraded.yaml`, the output of `trainc upgrade`.
"""
SECTIONS: Final = (("Valid inputs", False), ("Errors", True))


def page() -> str:
    """Return the page's text."""
    descriptions = {
        path.parent.name: path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        for path in sorted(ROOT.glob("golden/*/input.yaml"))
    }
    parts = [HEAD]
    for title, wrong in SECTIONS:
        rows = [
            f"| [{case}](../golden/{case}) | {description} |\n"
            for case, description in descriptions.items()
            if case.startswith("wrong-") == wrong
        ]
        parts.append(f"\n## {title}\n\n| case | description |\n|---|---|\n{''.join(rows)}")
    return "".join(parts)


def main() -> int:
    """Write the page, or report that it is out of date."""
    return write_or_check(Path(__file__).name, ROOT, [(PAGE, page())], check="--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
