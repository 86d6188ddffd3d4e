#!/usr/bin/env python3
"""Generate schemas/gotypes.json: the Go types of a JobSet, with the properties that merging and writing need.

    make_gotypes.py [SMP_SCHEMA] [--check]

Reads    SMP_SCHEMA: the fields of all types reachable from JobSetSpec, from Go's reflection; by default the recorded
         file.
Writes   schemas/gotypes.json: Go type -> field, in Go's order -> kind, of (the type of its target, items or values),
         omitempty, merge strategy and merge key. Properties that do not apply are left out. With --check it writes
         nothing and exits 1 if the file is out of date.

The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from generated_files import write_or_check

Tree = dict[str, Any]

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "tests" / "conformance" / "data" / "k8s" / "smp_schema.json"
TARGET: Final = Path("schemas", "gotypes.json")


def field_of(field: Tree) -> Tree:
    """Return the properties of a field that the file has."""
    kind = field["kind"]
    made: Tree = {"kind": kind}
    if kind == "ptr":
        made["of"] = field["type"] if field["pointsTo"] == "struct" else field["pointsTo"]
    elif kind in {"slice", "map"}:
        made["of"] = field["elem"] if field["elemKind"] == "struct" else field["elemKind"]
    elif kind == "struct":
        made["of"] = field["type"]
    if field["omitempty"]:
        made["omitempty"] = True
    if field.get("strategy"):
        made["strategy"] = field["strategy"]
    if field.get("mergeKey"):
        made["mergeKey"] = field["mergeKey"]
    return made


def text_of(source: Tree) -> str:
    """Return the file's text: one line per field, for readable diffs."""
    types = []
    for name, struct in sorted(source["types"].items()):
        fields = [f"{json.dumps(field['name'])}: {json.dumps(field_of(field))}" for field in struct.get("fields") or ()]
        body = "{\n    " + ",\n    ".join(fields) + "\n  }" if fields else "{}"
        types.append(f"  {json.dumps(name)}: {body}")
    return "{\n" + ",\n".join(types) + "\n}\n"


def main() -> int:
    """Write the file, or report that it is out of date."""
    parser = argparse.ArgumentParser(description="Generate schemas/gotypes.json.")
    parser.add_argument("source", nargs="?", type=Path, default=SOURCE, metavar="SMP_SCHEMA")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file is out of date")
    arguments = parser.parse_args()
    text = text_of(json.loads(arguments.source.read_text(encoding="utf-8")))
    return write_or_check(Path(__file__).name, ROOT, [(TARGET, text)], check=arguments.check)


if __name__ == "__main__":
    sys.exit(main())
