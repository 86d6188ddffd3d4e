"""Public documents of every kind: read by role, in their own dialect; no document of another kind makes an error.

TRAINC_CORPUS is a folder with <Kind>.jsonl, as in test_dialects.py.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from trainc.base.kinds import COMPILED, LEGACY, VOLCANO_JOB
from trainc.base.trainjob_dialects import DIALECTS, detect, newest
from trainc.compilation import Compilation, compile_documents
from trainc.compilation.run import PLAIN
from trainc.files.inputs import File
from trainc.frontends.reading import Reading
from trainc.frontends.training_jobs import training_job
from trainc.kubernetes.validation.container import is_reference

CORPUS = os.environ.get("TRAINC_CORPUS", "")
OURS = tuple(row.kind for row in COMPILED)
OF_DIALECTS = {
    "mixed-dialects",
    "no-api-version",
    "not-an-object",
    "override-target-twice",
    "processes-per-node",
    "runtime-processes",
    "unknown-kind",
    "unknown-version",
}
"""Errors that mean: trainc has not understood the version of a document."""
DUPLICATE = "is already set"
"""A part of the one message for a document that kubectl reads by dropping one of two equal keys."""
PLACEHOLDER = re.compile(r"\$\{?\w|<[^<>]+>|\{\{|^\{image\}$")

NO_DOCUMENT = [] if CORPUS else [("", "none")]
pytestmark = pytest.mark.skipif(not CORPUS, reason="TRAINC_CORPUS=DIR")


def documents(*kinds: str) -> list[Any]:
    """Return the documents of some kinds; of all kinds if none is given."""
    found = [(entry["text"], entry["name"]) for entry in entries() if not kinds or kind_of(entry) in kinds]
    return [pytest.param(text, id=name) for text, name in found or NO_DOCUMENT]


@cache
def entries() -> list[dict[str, str]]:
    files = sorted(Path(CORPUS).glob("*.jsonl")) if CORPUS else []
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def kind_of(entry: dict[str, str]) -> str:
    return entry["name"].partition("/")[0]


def other_documents() -> list[Any]:
    return documents(*{kind_of(entry) for entry in entries()} - {*OURS})


def read(text: str) -> Reading:
    reading = Reading(kinds=COMPILED)
    reading.add(File("corpus.yaml", text.encode()))
    return reading


def documents_of(text: str) -> Compilation:
    return compile_documents(read(text), PLAIN)


def errors(result: Compilation | Reading) -> list[tuple[str, str]]:
    return [(d.id, d.message) for d in result.diagnostics if d.severity == "error"]


@pytest.mark.parametrize("text", documents())
def test_every_document_is_read(text: str) -> None:
    reading = read(text)
    assert all(id == "yaml" and DUPLICATE in message for id, message in errors(reading))
    assert sum(map(len, reading.documents.values())) == 1 or errors(reading)


@pytest.mark.parametrize("text", documents(*OURS))
def test_a_document_of_ours_has_its_role_and_its_own_dialect(text: str) -> None:
    reading = read(text)
    assert reading.documents["other"] == []
    for job in reading.documents["job"]:
        assert detect(job.value, newest()).key in DIALECTS
    assert not OF_DIALECTS & {id for id, _ in errors(documents_of(text))}


@pytest.mark.parametrize("text", other_documents())
def test_a_document_of_another_kind_makes_no_error(text: str) -> None:
    result = documents_of(text)
    assert errors(result) == []
    assert len(result.others) == 1


@pytest.mark.parametrize("text", documents(*(row.name for row in LEGACY if row is not VOLCANO_JOB)))
def test_a_job_of_training_operator_is_named(text: str) -> None:
    (document,) = read(text).documents["other"]
    row = training_job(document)
    assert row is not None
    assert row.kind == document.value["kind"]


@pytest.mark.parametrize("text", documents("VolcanoJob"))
def test_a_volcano_job_is_named(text: str) -> None:
    assert [training_job(document) for document in read(text).documents["other"]] == [VOLCANO_JOB]


def images(tree: object) -> Iterator[str]:
    """Yield the images of a document's containers."""
    if isinstance(tree, dict):
        if isinstance(image := tree.get("image"), str):
            yield image
        tree = list(tree.values())
    for below in tree if isinstance(tree, list) else ():
        yield from images(below)


@pytest.mark.parametrize("text", documents())
def test_every_image_without_a_placeholder_is_an_image_reference(text: str) -> None:
    trees = [document.value for found in read(text).documents.values() for document in found]
    assert [image for image in images(trees) if not (is_reference(image) or PLACEHOLDER.search(image))] == []


@pytest.mark.parametrize("text", documents(*OURS))
def test_a_template_is_reported_as_one(text: str) -> None:
    found = [id for id, _ in errors(documents_of(text))]
    assert found.count("template-not-rendered") == any(PLACEHOLDER.search(line) for line in names(text))


def names(text: str) -> list[str]:
    """Return the lines of a document that set a name, a namespace or an image."""
    return re.findall(r"^\s*(?:- )?(?:name|namespace|image): .*$", text, re.MULTILINE)
