"""A storage URI with a scheme that Trainer's initializer cannot read.

Source: kubeflow/trainer v2.1.0 to v2.3.0, pkg/initializers: the images of the initializers read STORAGE_URI and fail
for other schemes. As Python's urlparse, they ignore the case of the scheme.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import containers, lint_rule, stored
from trainc.pipeline.lint.triggers import STORAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

SCHEMES: Final = {
    "kubeflow/trainer/model-initializer": ("hf", "s3"),
    "kubeflow/trainer/dataset-initializer": ("hf", "s3", "cache"),
}
"""The schemes that each image reads, by the end of the image's name."""
SCHEME: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]{0,31}):")
PAGE: Final = re.compile(r"https?://(?:www\.)?huggingface\.co/(?:datasets/)?([\w.-]{1,96}/[\w.-]{1,96})/?", re.ASCII)
"""The page of a model or a dataset."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the storage URIs of containers with Trainer's images whose scheme the image does not read."""
    for path, container in containers(plan):
        schemes = readable(container.get("image") or "")
        for index, variable in enumerate(container.get("env") or () if schemes else ()):
            uri = variable.get("value") or ""
            if variable["name"] == STORAGE and uri and "$(" not in uri and scheme_of(uri) not in schemes:
                yield LintFinding("initializer-scheme", (*path, "env", index, "value"), (scheme_of(uri), *schemes))


def readable(image: str) -> tuple[str, ...]:
    """Return the schemes that an image reads; none for an image that is not Trainer's.

    >>> readable("ghcr.io/kubeflow/trainer/model-initializer:v2.3.0"), readable("acme.io/model-initializer:1")
    (('hf', 's3'), ())
    """
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    name = head + slash + last.partition(":")[0]
    return next((schemes for end, schemes in SCHEMES.items() if name.endswith(f"/{end}")), ())


def scheme_of(uri: str) -> str:
    """Return the scheme of a URI in lower case; empty without one."""
    found = SCHEME.match(uri)
    return found[1].lower() if found else ""


@lint_rule("initializer-scheme", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The initializer fails, and the training waits for it forever."""
    from trainc.base.fixes import Fix, Replacement

    scheme, *schemes = finding.what
    variable: Tree = get(stored(plan), finding.path[:-1], {})
    page = PAGE.fullmatch(str(variable.get("value")).strip())
    *most, last = (f"{known}://" for known in schemes)
    image: str = get(stored(plan), (*finding.path[:-3], "image"))
    name = next(end.rpartition("/")[2] for end in SCHEMES if f"/{end}" in image)
    has = f"the scheme {scheme}" if scheme else "a URI without a scheme"
    return Finding(
        message=f"Trainer's {name} does not read {has}: it fails, and the training never starts",
        help=Fix((Replacement(finding.path, f"hf://{page[1]}"),), "use ", f"hf://{page[1]}", "name", "", "unsafe")
        if page
        else f"use {', '.join(most)} or {last}, or the image of an own initializer",
    )
