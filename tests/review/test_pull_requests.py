"""The reviews of typical pull requests in each format; for 1,000 jobs, they are as short as for 12.

`pull_requests/` has each review of examples/teams in all formats, and of 1,000 jobs in text and Markdown. Pages are
without their style and script.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from committing import copy_repository
from review.pull_requests import PULL_REQUESTS, copy_example, generate
from review.test_html import Page, read
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

import trainc

FOLDER = Path(__file__).parent / "pull_requests"
COMMENT = 65_536
"""GitHub's maximum number of characters."""
PAGE = 300_000


class Text(TextFile):
    folder = FOLDER


class Comment(TextFile):
    folder = FOLDER
    file_extension = "md"


class Json(TextFile):
    folder = FOLDER
    file_extension = "json"


class PullRequestPage(Page):
    folder = FOLDER


def reviewed(case: str) -> trainc.ReviewResult:
    """Return the review of a pull request on the repository of the current folder."""
    PULL_REQUESTS[case]()
    found = trainc.diff(options=trainc.Options(name_suffix_hash=case == "name-suffix-hash"))
    assert not found.failed, found.diagnostics
    return found


@pytest.mark.parametrize("case", PULL_REQUESTS)
def test_in_a_repository_of_12_jobs(case: str, empty_folder: Path, snapshot: SnapshotAssertion) -> None:
    copy_repository(copy_example, empty_folder)
    review = reviewed(case)
    assert review.render() == snapshot(extension_class=Text)
    assert review.render("markdown") == snapshot(extension_class=Comment)
    assert review.render("html") == snapshot(extension_class=PullRequestPage)
    assert review.render("json") == snapshot(extension_class=Json)


class LongText(Text):
    name = "{}-of-1000-jobs"


class LongComment(Comment):
    name = "{}-of-1000-jobs"


@pytest.mark.slow
@pytest.mark.parametrize("case", PULL_REQUESTS)
def test_in_a_repository_of_1000_jobs(case: str, empty_folder: Path, snapshot: SnapshotAssertion) -> None:
    copy_repository(generate, empty_folder)
    review = reviewed(case)
    assert review.render() == snapshot(extension_class=LongText)
    comment = review.render("markdown")
    assert comment == snapshot(extension_class=LongComment)
    assert len(comment.encode()) < COMMENT
    assert "Omitted" not in comment
    page = review.render("html")
    assert len(page.encode()) < PAGE
    read(page)
    content = json.loads(review.render("json"))
    assert content["summary"]["text"] == review.summary
    assert len(content["jobs"]) == len(review.jobs)
