"""The gallery of reviews: golden/<case>/command is run in its folder, and its output compared with the expected files.

`command` has a description and the command; expected.txt has the output and the exit code, expected.json the review as
JSON. Update them with `make snapshots`, read the diff, and explain it in the commit message.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from batches import one_in_four
from review.test_html import Page
from running import Done, run
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

from trainc.cli.common.options import REVIEWS

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/command"))
FOR_PROGRAMS = (
    "deleted-data",
    "env-in-another-order",
    "immutable-config-map",
    "jobset-invalid",
    "jobsets",
    "name-suffix-hash",
    "nothing-changed",
    "patch-and-runtime",
    "pod-group",
    "queues",
    "release-in-settings",
    "renamed",
    "secrets",
    "settings",
    "settings-in-annotations",
    "settings-removed",
    "three-environments",
    "two-files",
    "two-patches",
)
"""The cases with an expected.json."""


FOR_COMMENTS_AND_PAGES = ("deleted-data", "jobsets", "three-environments")
"""The cases with an expected.md, and an expected.html without its style and script."""


class Printed(TextFile):
    folder = GOLDEN / "{}"
    name = "expected"


class Json(TextFile):
    folder = GOLDEN / "{}"
    name = "expected"
    file_extension = "json"


class Comment(TextFile):
    folder = GOLDEN / "{}"
    name = "expected"
    file_extension = "md"


class BarePage(Page):
    folder = GOLDEN / "{}"
    name = "expected"


def command(case: str) -> str:
    return (GOLDEN / case / "command").read_text().splitlines()[1]


def reviewed(case: str, *more: str) -> Done:
    return run(*shlex.split(command(case))[1:], *more)


@pytest.mark.parametrize("case", CASES)
def test_the_output(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    done = reviewed(case)
    assert f"$ {command(case)}\n{done.out}{done.err}exit {done.code}\n" == snapshot(extension_class=Printed)
    assert bool(done.out) == (done.code != 1)


@pytest.mark.parametrize("case", FOR_PROGRAMS)
def test_the_json_output(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    assert reviewed(case, "--format", "json").out == snapshot(extension_class=Json)


@pytest.mark.parametrize("case", FOR_COMMENTS_AND_PAGES)
def test_the_comment_and_the_page(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    assert reviewed(case, "--format", "markdown").out == snapshot(extension_class=Comment)
    assert reviewed(case, "--format", "html").out == snapshot(extension_class=BarePage)


@pytest.mark.parametrize("case", [case for case in CASES if "secret" in case])
@pytest.mark.parametrize("form", REVIEWS)
def test_no_format_shows_a_secret(case: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(f"trainc.review.formats.{form}")
    monkeypatch.chdir(GOLDEN / case)
    done = reviewed(case, "--format", form)
    assert done.code == 0
    assert "***" in done.out
    assert "hunter" not in done.out + done.err
    assert "aHVudGVy" not in done.out + done.err


@pytest.mark.parametrize("case", one_in_four(case for case in CASES if [*(GOLDEN / case).glob("old*")]))
def test_a_side_is_the_same_as_itself(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    side = next(path.name for path in (GOLDEN / case).glob("old*"))
    done = run("diff", side, side, "--format", "json", "--exit-code")
    assert done.code == (0 if done.out else 1)
    assert not done.out or json.loads(done.out)["objects"] == []
