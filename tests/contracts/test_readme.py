"""The claims of the README, each with the test that shows it.

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
from make_picture import EDITS
from running import run

from trainc.base.releases import RELEASES
from trainc.reports.catalogue import page

ROOT: Final = Path(__file__).parents[2]
CLAIMS: Final = {
    "It runs offline: no cluster, no network.": "contracts/test_offline.py::test_a_command_starts_no_program",
    "every error that the API server, Trainer, JobSet and Kueue would return, at its line, with a fix": (
        "contracts/test_readme.py::test_an_error_in_a_manifest_has_a_place_and_a_hint"
    ),
    "all at once": "unit/test_pairs_of_mistakes.py::test_two_mistakes_are_two_errors",
    "the JobSets, nodes and GPUs of each environment, and the line that causes each change": (
        "review/test_golden.py::test_"
    ),
    "which jobs must be recreated if they run": "contracts/test_jobset_changes.py::test_",
    "which requests exceed the quota of their Kueue queue": "review/test_queue_figures.py::test_",
    "![A review: numNodes of one TrainJob changes from 2 to 8, and three JobSets must be recreated](docs/review.png)": (
        "contracts/test_readme.py::test_the_picture"
    ),
    "installs nothing outside uv's cache, and writes nothing to the clone": "release/test_runners.py::test_uvx",
    "reports these errors only in the events of the JobSet": "cluster/test_refusals.py::test_refused_jobs",
    "--fix makes the safe fixes": "fixes/test_rows.py::test_row",
    "the same input gives the same bytes": "contracts/test_determinism.py::test_the_same_bytes_whatever_the_machine",
    "TrainJobs of Trainer v2.0 to v2.4 and of earlier versions": "conformance/test_trainer.py::test_case",
    "[JobSets](docs/jobsets.md) that you write yourself": "conformance/test_plain_jobsets.py::test_",
    "PyTorchJobs, TFJobs, MPIJobs and other [legacy jobs](docs/legacy.md)": (
        "conformance/test_legacy_jobs.py::test_the_pods_have_the_recorded_processes"
    ),
    "[GitHub](docs/github.md) and [GitLab](docs/gitlab.md) pipelines": (
        "contracts/test_pipelines.py::test_the_steps_of_a_good_repository"
    ),
    "[pre-commit](docs/pre-commit.md)": "contracts/test_pre_commit.py::test_",
    "[Argo CD](docs/argo-cd.md)": "argocd/test_generate.py::test_",
    "[Flux](docs/flux.md)": "contracts/test_kubectl.py::test_flux_has_the_flags",
    "[kustomize](docs/kustomize.md)": "contracts/test_kustomize.py::test_",
    "[kpt](docs/kpt.md)": "contracts/test_kpt.py::test_",
    "agrees with the Go code of Kubernetes on over 2,900 [recorded inputs](tests/conformance/data/k8s)": (
        "contracts/test_readme.py::test_the_number_of_recorded_results"
    ),
    "with Trainer v2.1, v2.2 and v2.3 on recorded jobs for every feature": "conformance/test_trainer.py::test_case",
    "v2.4 follows its release notes and its source of 2026-08-21.": (
        "contracts/test_readme.py::test_the_evidence_of_the_releases"
    ),
    "compares it with the objects of the Trainer controller": "cluster/test_controller.py::test_the_same_objects",
    "in the listed cases only": "cluster/test_controller.py::test_",
    "`make e2e` runs torchrun, JAX, TensorFlow, Open MPI, MPICH and XGBoost": "e2e/test_xgboost.py::test_two_workers",
    "a thousand TrainJobs in about a tenth of the time that `kubectl kustomize` needs": (
        "contracts/test_readme.py::test_the_time_of_a_thousand_trainjobs"
    ),
    "It runs with Python 3.11 or later on Linux and macOS, and on Windows in WSL.": ("unit/test_systems.py::test_"),
    "a project with three teams and three environments": "repositories/test_examples.py::test_",
}
"""The claims of the README, and a test that shows each of them; or the beginning of the names of several tests."""
README: Final = (ROOT / "README.md").read_text()
WRONG: Final = re.compile(r"^Wrong:\n\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_has_its_test(claim: str) -> None:
    assert claim in " ".join(README.split())
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


def test_the_picture() -> None:
    """`scripts/make_picture.py` draws it; its edit gives the numbers that the README names."""
    picture = (ROOT / "docs" / "review.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) <= 150_000
    job = (ROOT / "examples" / "teams" / "jobs" / "vision" / "detector.yaml").read_text()
    assert ("jobs/vision/detector.yaml", "numNodes: 2", "numNodes: 8") in EDITS
    assert "numNodes: 2" in job


def test_the_evidence_of_the_releases() -> None:
    assert [release.name for release in RELEASES] == ["2.1", "2.2", "2.3", "2.4"]
    recorded = {path.name[1:4] for path in (ROOT / "tests" / "conformance" / "data" / "targets").iterdir()}
    assert {"2.1", "2.2"} <= recorded
    rows = (ROOT / "docs" / "releases.md").read_text()
    assert "| `2.4` | Trainer v2.4.0 | v0.12.0 | release notes |" in rows


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
