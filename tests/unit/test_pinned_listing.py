"""The list of pinned runtimes: what is written is read back, and a list that leads out of its folder is none."""

from __future__ import annotations

import json

import pytest

from trainc.pinning.pinned_folder import BEGINS, parse, render

DIGEST = "sha256:0"


@pytest.mark.parametrize("path", ["a.yaml", "a/b.yaml", "a..b/.c"])
def test_a_path_in_the_folder(path: str) -> None:
    assert parse(json.dumps({"runtimes": {path: DIGEST}}).encode()) == {path: (DIGEST,)}


@pytest.mark.parametrize("path", ["", "/etc/a", "a//b", "a/", "./a", "a/./b", "..", "../a", "a/../b", "a\0", "\ud800"])
def test_a_path_that_leads_elsewhere(path: str) -> None:
    assert parse(json.dumps({"runtimes": {"a": DIGEST, path: DIGEST}}).encode()) is None


@pytest.mark.parametrize("value", ["", "md5:0", [], ["md5:0"], [DIGEST, "md5:0"], [DIGEST, 1], None, 1])
def test_a_value_that_is_no_digest(value: object) -> None:
    assert parse(json.dumps({"runtimes": {"a": value}}).encode()) is None


def test_a_list_is_read_back() -> None:
    digests = {"b": (DIGEST,), "a/c": (DIGEST, "sha256:1")}
    data = render(digests)
    assert data.startswith(BEGINS)
    assert parse(data) == digests
    assert [*json.loads(data)["runtimes"]] == ["a/c", "b"]


def test_an_empty_list_begins_alike() -> None:
    assert render({}).startswith(BEGINS)
