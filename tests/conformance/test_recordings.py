"""No recording is missing: `test_trainer` and others run the cases that they find in a folder."""

from __future__ import annotations

import pytest
from conformance.recordings import DATA, IS_OTHER

FILES = {"k8s": 12, "kueue": 2, "legacy": 8, "older": 608, "targets": 1196, "trainer-2.3": 978}


@pytest.mark.skipif(IS_OTHER, reason="the recordings of the repository: unset TRAINC_CONFORMANCE")
def test_every_recording_is_there() -> None:
    assert {
        folder.name: sum(path.is_file() for path in folder.rglob("*")) for folder in DATA.iterdir() if folder.is_dir()
    } == FILES
