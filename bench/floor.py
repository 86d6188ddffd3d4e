"""The lower limit of a compiler's time: read every file below a folder, and write a given number of bytes.

    floor.py INPUT BYTES

It runs in trainc's interpreter and does not process its input.
"""

from __future__ import annotations

import os
import sys

CHUNK = 1 << 16


def main(source: str, size: str) -> None:
    """Read the folder and write to standard output."""
    for at, _, names in os.walk(source):
        for name in names:
            with open(f"{at}/{name}", "rb") as opened:
                opened.read()
    written = b"x" * int(size)
    for start in range(0, len(written), CHUNK):
        os.write(1, written[start : start + CHUNK])


main(*sys.argv[1:])
