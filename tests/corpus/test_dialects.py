"""Public TrainJobs and runtimes: trainc detects the dialect of each, and the output of `upgrade` is valid in v2.3.

TRAINC_CORPUS is a folder with <Kind>.jsonl: one object per line, with `text`, `repo` and `path`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from trainc.base.kinds import VERSION
from trainc.base.trainjob_dialects import DIALECTS, detect, newest
from trainc.diagnostics import Diagnostic
from trainc.kubernetes.documents import YamlError, parse
from trainc.rewriting.upgrade import upgrade

CORPUS = os.environ.get("TRAINC_CORPUS", "")
KINDS = ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")
OF_DIALECTS = {"mixed-dialects", "not-upgradable", "unknown-version", "unknown-kind", "no-api-version"}

NO_DOCUMENT = [] if CORPUS else [("", "none")]
pytestmark = pytest.mark.skipif(not CORPUS, reason="TRAINC_CORPUS=DIR")


def documents(*kinds: str) -> list[Any]:
    entries = [
        (f"{kind}-{number}", json.loads(line))
        for kind in kinds
        if CORPUS
        for number, line in enumerate((Path(CORPUS) / f"{kind}.jsonl").read_text("utf-8").splitlines())
    ]
    found = [(entry["text"], f"{id}-{entry['repo']}") for id, entry in entries if _is_read(entry["text"])]
    return [pytest.param(text, id=id) for text, id in found or NO_DOCUMENT]


def _is_read(text: str) -> bool:
    try:
        return isinstance(parse(text), dict)
    except YamlError:
        return False


@pytest.mark.parametrize("text", documents("TrainJob"))
def test_a_trainjob_has_one_dialect(text: str) -> None:
    assert detect(parse(text), newest()).key in DIALECTS


@pytest.mark.parametrize("text", documents(*KINDS))
def test_an_upgrade_is_valid_in_v2_3(text: str) -> None:
    changed, found = upgrade(["-"], stdin=text.encode())
    assert not OF_DIALECTS & {diagnostic.id for diagnostic in found}
    if errors(found):
        return
    new = parse(changed[0].new if changed else text)
    assert new["apiVersion"] == VERSION
    assert new["kind"] != "TrainJob" or not detect(new, newest()).mark


def errors(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
