"""Documents of other kinds in the output of `trainc build --passthrough`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainc.diagnostics import Document


def as_read(document: Document) -> str:
    """Return a document's own text, to follow a `---` line; an item of a List or an edited one is rendered again."""
    if document.within or document.edits:
        from trainc.emit import yaml

        return yaml.render([document.value])
    text = document.text
    if text[:4] in ("--- ", "---\t", "---\r", "---\n"):
        first, newline, rest = text.partition("\n")
        text = first[3:].strip() + newline + rest if first[3:].strip() else rest
    return text if text.endswith("\n") else text + "\n"


def with_source(document: Document, folder: str) -> str:
    """Return a document's own text below a comment with its file, relative to the output folder."""
    from trainc.files.output_marks import STDIN, relative_source
    from trainc.source.printable import escape

    source = relative_source(folder, document.file)
    return f"# Source: {'<stdin>' if source == STDIN else escape(source)}\n{as_read(document)}"
