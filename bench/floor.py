"""What no compiler can go below: reads every file below a folder, and writes as many bytes as a compiler would.

    floor.py INPUT BYTES

It looks at nothing that it reads, in the interpreter that trainc runs in.
"""

from __future__ import annotations

import os
import sys

CHUNK = 1 << 16


def main(source: str, size: str) -> None:
    """Read, and write to standard output."""
    for at, _, names in os.walk(source):
        for name in names:
            with open(f"{at}/{name}", "rb") as opened:
                opened.read()
    written = b"x" * int(size)
    for start in range(0, len(written), CHUNK):
        os.write(1, written[start : start + CHUNK])


main(*sys.argv[1:])
