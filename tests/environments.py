"""Environments from the text of a trainc.yaml, for tests of their effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from running import NO_LINT

from trainc.diagnostics import Document, Path, Place
from trainc.edits.environment import Environment, Image, Setting
from trainc.kubernetes.documents import parse
from trainc.kubernetes.trees import get
from trainc.settings import Settings

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}}}
spec:
  runtimeRef: {{name: plain}}
  trainer: {{image: "ghcr.io/acme/app:v1", command: [python]}}
"""
"""A TrainJob, for `str.format` with its name; its image can be changed by an environment."""


def environment(text: str, name: str = "", *, file: str = "trainc.yaml") -> Environment:
    """Return the transformations of an environment, or of the file itself, as it sets them."""
    document = Document(file=file, line=1, text=text, value=parse(text))
    path: Path = ("environments", name) if name else ()
    written: dict[str, Any] = get(document.value, path, {})

    def setting(*steps: str) -> Setting | None:
        value = get(written, steps)
        return None if value is None else Setting(value, Place(document, (*path, *steps)))

    def settings(key: str) -> Mapping[str, Setting]:
        return {
            each: Setting(value, Place(document, (*path, key, each))) for each, value in written.get(key, {}).items()
        }

    return Environment(
        name=name,
        namespace=setting("namespace"),
        name_prefix=setting("namePrefix"),
        name_suffix=setting("nameSuffix"),
        labels=settings("labels"),
        annotations=settings("annotations"),
        images=tuple(
            Image(
                name=item["name"],
                place=Place(document, (*path, "images", index)),
                new_name=item.get("newName", ""),
                new_tag=item.get("newTag", ""),
                digest=item.get("digest", ""),
            )
            for index, item in enumerate(written.get("images", ()))
        ),
    )


def settings_of(text: str, name: str = "", **more: Any) -> Settings:
    """Return settings with these transformations, without lint rules."""
    return NO_LINT._replace(environment=environment(text, name), **more)
