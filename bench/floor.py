"""What no compiler can go below: reads every file below a folder, and writes as many bytes as a compiler would.

    floor.py INPUT BYTES           to standard output
    floor.py INPUT BYTES N FOLDER  in N files of a folder, which is made

It looks at nothing that it reads, in the interpreter that trainc runs in.
"""

from __future__ import annotations

import os
import sys

CHUNK = 1 << 16


def main(source: str, size: str, files: str = "1", folder: str = "") -> None:
    """Read, and write."""
    for at, _, names in os.walk(source):
        for name in names:
            with open(f"{at}/{name}", "rb") as opened:
                opened.read()
    each = b"x" * (int(size) // int(files))
    if folder:
        os.makedirs(folder)
        for number in range(int(files)):
            with open(f"{folder}/{number}", "wb") as made:
                made.write(each)
    else:
        for start in range(0, len(each), CHUNK):
            os.write(1, each[start : start + CHUNK])


main(*sys.argv[1:])
