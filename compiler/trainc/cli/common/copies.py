"""Documents of other kinds in the output of `trainc build --passthrough`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trainc.diagnostics import Document

KUSTOMIZE: Final = "kustomize.config.k8s.io/"
LOCAL: Final = "config.kubernetes.io/local-config"
"""The annotation of a document that only tools read, such as the configuration of a KRM function."""


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


def is_object(document: Document) -> bool:
    """Return whether a document can be applied to a cluster: it is not a values file or a kustomization."""
    tree = document.value
    version, kind = tree.get("apiVersion"), tree.get("kind")
    if not (isinstance(version, str) and isinstance(kind, str) and version and kind):
        return False
    from trainc.kubernetes.trees import get

    local = get(tree, ("metadata", "annotations", LOCAL))
    return not version.startswith(KUSTOMIZE) and local not in ("true", True)


def with_source(document: Document, folder: str) -> str:
    """Return a document's own text below a comment with its file, relative to the output folder."""
    from trainc.files.output_marks import STDIN, relative_source
    from trainc.source.printable import escape

    source = relative_source(folder, document.file)
    return f"# Source: {'<stdin>' if source == STDIN else escape(source)}\n{as_read(document)}"
