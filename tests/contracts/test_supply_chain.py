"""Everything that trainc's builds, images and pipelines download has a hash."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest
from lock import requirements
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PIPELINES = [
    *sorted((ROOT / ".github" / "workflows").iterdir()),
    ROOT / "action.yml",
    ROOT / "integrations" / "github" / "trainc.yaml",
    *sorted((ROOT / "docs").rglob("*.md")),
]
IMAGES = [
    ROOT / "integrations" / "argocd" / "Dockerfile",
    ROOT / "integrations" / "gitlab" / ".gitlab-ci.yml",
    ROOT / ".github" / "workflows" / "cluster.yaml",
    ROOT / ".github" / "workflows" / "test.yaml",
]
LOCKS = ("requirements.lock", "requirements-build.lock", "requirements-dev.lock", "requirements-site.lock")


def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """Return the packages of a lock file with their hashes."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    found: dict[str, tuple[Requirement, list[str]]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            pin, *hashes = line.split("--hash=")
            requirement = Requirement(pin.strip())
            found[canonicalize_name(requirement.name)] = requirement, [text.strip() for text in hashes]
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_has_every_declared_dependency(name: str) -> None:
    pins = locked(name)
    for line in requirements()[name]:
        declared = Requirement(line)
        pin, _ = pins[canonicalize_name(declared.name)]
        (exact,) = pin.specifier
        assert exact.operator == "=="
        assert declared.specifier.contains(exact.version), line


@pytest.mark.parametrize("name", LOCKS)
def test_every_file_of_the_lock_has_a_hash(name: str) -> None:
    for pin, hashes in locked(name).values():
        assert hashes, pin
        assert [text for text in hashes if not re.fullmatch("sha256:[0-9a-f]{64}", text)] == []


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_has_every_indirect_dependency(name: str) -> None:
    """`pip install --require-hashes` fails without one. Packages that are not installed here cannot be checked."""
    pins, checked = locked(name), 0
    for package in pins:
        try:
            declared = metadata.requires(package) or []
        except metadata.PackageNotFoundError:
            continue
        checked += 1
        wanted = map(Requirement, declared)
        assert [need for need in wanted if _applies(need) and canonicalize_name(need.name) not in pins] == []
    assert checked >= 4


def _applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


@pytest.mark.parametrize("file", PIPELINES, ids=lambda file: str(file.relative_to(ROOT)))
def test_actions_are_pinned_by_commit_with_their_tag(file: Path) -> None:
    for line in re.findall(r"^\s*-?\s*uses: (.*)$", file.read_text(), re.MULTILINE):
        if not line.startswith(("./", "<your-organization>/trainc@<commit>")):
            assert re.fullmatch(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


NAMES: Final = re.compile(
    r"pip install '?\"?trainc|(?<!--from \. )(?<!\w)(?:uvx|pipx run) trainc|OWNER/|trainc\[secret\]"
)
"""Names of packages and repositories that are not ours: an installation starts from a clone."""


def test_no_text_names_a_package_that_does_not_exist() -> None:
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "diagnostics").glob("*.md")]
    programs = [*(ROOT / "compiler").rglob("*.py"), *(ROOT / "templates").rglob("*.*")]
    programs += [file for file in (ROOT / "integrations").rglob("*") if file.is_file()]
    found = [
        f"{file.relative_to(ROOT)}: {name[0]}"
        for file in (*texts, *programs)
        for name in NAMES.finditer(file.read_text())
    ]
    assert found == []


def test_an_action_has_one_version() -> None:
    texts = [file.read_text() for file in PIPELINES]
    uses = {use for text in texts for use in re.findall(r"uses: (\S+/\S+)@([0-9a-f]{40}) # (v\S+)", text)}
    assert len(uses) == len({action for action, _, _ in uses}) >= 8


@pytest.mark.parametrize("file", IMAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_images_are_pinned_by_digest_with_their_tag(file: Path) -> None:
    names = re.findall(r"^(?:FROM| *image:| *name:| *NODE:) (\S+[:@]\S+)", file.read_text(), re.MULTILINE)
    assert names
    assert [name for name in names if not re.fullmatch(r"[\w./-]+:v?\d[\w.-]*@sha256:[0-9a-f]{64}", name)] == []
