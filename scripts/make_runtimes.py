#!/usr/bin/env python3
"""Generate the runtimes of each release of Trainer in runtimes/ from the manifests of kubeflow/trainer.

    make_runtimes.py TRAINER [--check]

Reads    TRAINER: a clone of kubeflow/trainer with its tags; scripts/runtimes/<name>.txt: the comment of a runtime.
Writes   runtimes/trainer-<release>/<name>.yaml: the runtimes as the overlays of the release install them, with the
         release's tag in Trainer's own images. With --check it writes nothing and exits 1 if a file is out of date.
         The runtimes of a release whose manifests are not published are those of the release before, with its tag.

Only the features of kustomize that the overlays use are implemented; another one is an error.
"""

from __future__ import annotations

import argparse
import posixpath
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml
from generated_files import write_or_check

from trainc.base.releases import DEFAULT_RELEASE, RELEASES
from trainc.emit.yaml import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.releases import TrainerRelease

Tree = dict[str, Any]

ROOT: Final = Path(__file__).resolve().parent.parent
OVERLAYS: Final = ("manifests/overlays/runtimes", "manifests/overlays/data-cache")
"""The overlays that install runtimes."""
BASES: Final = "manifests/base/runtimes"
"""The folder of the runtimes; the overlays' other resources are not read."""
KIND: Final = "ClusterTrainingRuntime"
FEATURES: Final = frozenset({"apiVersion", "kind", "resources", "images", "labels", "patches"})
"""The fields of a kustomization that are read, and the patches, which change objects of other kinds."""
OWN_IMAGES: Final = "ghcr.io/kubeflow/trainer/"


class Manifests:
    """The manifests of one tag."""

    def __init__(self, clone: Path, tag: str) -> None:
        self.clone, self.tag = clone, tag

    def read(self, path: str) -> str:
        """Return the text of a file."""
        command = ["git", "-C", str(self.clone), "show", f"{self.tag}:{path}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def built(self, folder: str) -> Iterator[Tree]:
        """Yield the runtimes of a kustomization."""
        kustomization: Tree = yaml.safe_load(self.read(f"{folder}/kustomization.yaml"))
        if unknown := kustomization.keys() - FEATURES:
            raise ValueError(f"{self.tag}: {folder} uses {sorted(unknown)}")
        for resource in kustomization["resources"]:
            path = posixpath.normpath(posixpath.join(folder, resource))
            if not path.startswith(BASES):
                continue
            runtimes = yaml.safe_load_all(self.read(path)) if path.endswith(".yaml") else self.built(path)
            for runtime in runtimes:
                if runtime["kind"] == KIND:
                    yield changed(runtime, kustomization)


def changed(runtime: Tree, kustomization: Tree) -> Tree:
    """Return a runtime with the labels and images of a kustomization."""
    for entry in kustomization.get("labels", ()):
        runtime["metadata"].setdefault("labels", {}).update(entry["pairs"])
    for image in kustomization.get("images", ()):
        for container in containers(runtime):
            if container["image"] == image["name"]:
                container["image"] = f"{image['name']}:{image['newTag']}"
    return runtime


def containers(runtime: Tree) -> Iterator[Tree]:
    """Yield the containers of a runtime."""
    for job in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        pod = job["template"]["spec"]["template"]["spec"]
        yield from (*pod.get("containers", ()), *pod.get("initContainers", ()))


def retagged(runtime: Tree, old: str, new: str) -> Tree:
    """Return a runtime with another tag in its images of Trainer."""
    for container in containers(runtime):
        if container["image"].startswith(OWN_IMAGES) and container["image"].endswith(f":{old}"):
            container["image"] = container["image"].removesuffix(old) + new
        for variable in container.get("env", ()):
            if str(variable.get("value", "")).startswith(OWN_IMAGES):
                variable["value"] = variable["value"].replace(f":{old}", f":{new}")
    return runtime


def comment(name: str, release: TrainerRelease) -> str:
    """Return the comment of a runtime: complete for the default release, else its first line."""
    text = (ROOT / "scripts" / "runtimes" / f"{name}.txt").read_text(encoding="utf-8").strip()
    equal = f"Equal to the runtime that an installation of Trainer {release.tag} has."
    if release.source != "code":
        equal = f"Assumed for Trainer {release.tag}: the runtime of {DEFAULT_RELEASE.tag} with its tag."
    if release is not DEFAULT_RELEASE:
        text = text.partition("\n")[0]
    return "".join(f"# {line}".rstrip() + "\n" for line in (*text.splitlines(), "", equal))


def files(clone: Path) -> Iterator[tuple[Path, str]]:
    """Yield every file with its text."""
    for release in RELEASES:
        published = release if release.source == "code" else DEFAULT_RELEASE
        manifests = Manifests(clone, published.tag)
        for overlay in OVERLAYS:
            for runtime in manifests.built(overlay):
                name = runtime["metadata"]["name"]
                made = retagged(runtime, published.tag, release.tag)
                yield Path("runtimes") / release.runtimes / f"{name}.yaml", comment(name, release) + render([made])


def main(argv: list[str] | None = None) -> int:
    """Write the files, or report those that are out of date."""
    parser = argparse.ArgumentParser(description="Generate the runtimes of each release of Trainer.")
    parser.add_argument("clone", type=Path, help="a clone of kubeflow/trainer")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    args = parser.parse_args(argv)
    return write_or_check(Path(__file__).name, ROOT, files(args.clone), check=args.check)


if __name__ == "__main__":
    sys.exit(main())
