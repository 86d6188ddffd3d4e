"""The claims of README's first screen, each with the test that shows it.

The examples run in `test_documentation.py`. Here are the numbers, and the sentences that no example shows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest
from batches import one_in_four
from declared import ENTRIES
from running import run

from trainc.reports.catalogue import page

ROOT: Final = Path(__file__).parents[2]
CLAIMS: Final = {
    "Offline: no cluster, no network": "contracts/test_offline.py::test_a_command_starts_no_program",
    "Deterministic: the same input gives the same bytes": (
        "contracts/test_determinism.py::test_the_same_bytes_whatever_the_machine"
    ),
    "Precise: every error in a manifest has a file, a line, a column and a hint": (
        "contracts/test_readme.py::test_an_error_in_a_manifest_has_a_place_and_a_hint"
    ),
    "`trainc validate --fix` applies the safe fixes": "fixes/test_rows.py::test_row",
    "TrainJobs of every Trainer release": "conformance/test_trainer.py::test_case",
    "PyTorchJobs, TFJobs, MPIJobs and others": (
        "conformance/test_legacy_jobs.py::test_the_pods_have_the_recorded_processes"
    ),
    "Made for GitOps: Argo CD, Flux, kustomize, kpt, pre-commit, GitHub and GitLab": (
        "contracts/test_pipelines.py::test_the_steps_of_a_good_repository"
    ),
    "trainc reports all errors at once, each with the line that caused it": (
        "unit/test_pairs_of_mistakes.py::test_two_mistakes_are_two_errors"
    ),
    "The cluster would report this only in the JobSet's events.": "cluster/test_refusals.py::test_refused_jobs",
    "trainc agrees with the Go code on over 2,900 recorded Kubernetes results": (
        "contracts/test_readme.py::test_the_number_of_recorded_results"
    ),
    "compared with the objects of the Trainer controller (`make test-cluster`)": (
        "cluster/test_controller.py::test_the_same_objects"
    ),
    "`make e2e` runs torchrun, JAX, TensorFlow, Open MPI, MPICH and XGBoost": "e2e/test_xgboost.py::test_two_workers",
    "a thousand TrainJobs in about a tenth of the time that `kubectl kustomize` takes": (
        "contracts/test_readme.py::test_the_time_of_a_thousand_trainjobs"
    ),
}
"""The sentences of the first screen, and a test that shows each of them."""
FIRST_SCREEN: Final = (ROOT / "README.md").read_text().partition("\n## ")[0]
WRONG: Final = re.compile(r"^Wrong:\n\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_has_its_test(claim: str) -> None:
    assert claim in " ".join(FIRST_SCREEN.split())
    file, _, test = CLAIMS[claim].partition("::")
    assert f"def {test}" in (ROOT / "tests" / file).read_text()


@pytest.mark.parametrize("id", one_in_four(id for id in ENTRIES if WRONG.search(page(id))))
def test_an_error_in_a_manifest_has_a_place_and_a_hint(id: str, empty_folder: Path) -> None:
    """Each id that a manifest can have, in the wrong example of its page."""
    found = WRONG.search(page(id))
    assert found
    (empty_folder / "manifest.yaml").write_text(found[1])
    reported = json.loads(run("validate", "manifest.yaml", "--legacy", "--format", "json").out)
    incomplete = [each for each in reported if not (each["file"] and each["line"] and each["column"] and each["help"])]
    assert incomplete == []


def test_the_number_of_recorded_results() -> None:
    folder = ROOT / "tests" / "conformance"
    recorded = sum(len(file.read_text().splitlines()) for file in (folder / "data" / "k8s").glob("*.jsonl"))
    failures = (folder / "known_failures.txt").read_text().splitlines()
    assert recorded - len(failures) > 2_900


def test_the_time_of_a_thousand_trainjobs() -> None:
    results = (ROOT / "bench" / "results.md").read_text()
    row = re.search(r"^\| 1,000 TrainJobs, 1 runtime \| `kubectl kustomize` \| [\d.]+ \| ([\d.]+) \|", results, re.M)
    assert row is not None
    assert float(row[1]) <= 0.1
