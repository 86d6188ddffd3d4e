"""The module that answers the page, for each example: the output is the recorded one, or there is an error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
import trainc_page
import yaml
from make_gallery import PAIRS
from make_playground import examples

EXAMPLES: Final = examples()
COPIED: Final = ("jobset-torchrun", "jobset-tpu-queue", "wrong-jobset-only")
"""The page shows a JobSet of the manifest as it is stored, a build copies it."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ask(method: str, **given: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(trainc_page.answer(json.dumps({"method": method, **given})))
    return answer


def test_every_page_of_the_gallery_is_an_example() -> None:
    assert [name for name, example in EXAMPLES.items() if example["group"] == "Gallery"] == [
        pair.case for pair in PAIRS
    ]


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in COPIED])
def test_an_example(name: str) -> None:
    given = {key: EXAMPLES[name][key] for key in trainc_page.Options._fields}
    found = ask("compile", text=EXAMPLES[name]["input"], **given)
    assert bool(found["counts"]["error"]) == name.startswith("wrong-")
    if not found["counts"]["error"]:
        assert found["output"] == EXAMPLES[name]["output"]


def test_a_fault_in_two_environments_is_shown_once_with_an_output_of_the_chosen_one() -> None:
    given = {key: EXAMPLES["environment-prod"][key] for key in trainc_page.Options._fields}
    found = ask("compile", text=EXAMPLES["environment-prod"]["input"], **given | {"environment": "dev"})
    assert (found["environments"], found["environment"]) == (["dev", "prod"], "dev")
    assert "namespace: nlp-dev" in found["output"]


def test_the_line_of_a_runtime_leads_to_the_first_jobs_that_have_it() -> None:
    runtime, job = EXAMPLES["team-runtime"]["input"].split("---\n")
    jobs = [job.replace("metadata:\n", f"metadata:\n  generateName: a{number}-\n", 1) for number in range(30)]
    jobs = [re.sub(r"^  name: .*\n", "", each, count=1, flags=re.MULTILINE) for each in jobs]
    options = trainc_page.Options("", "", "", legacy=False)._asdict()
    output = ask("compile", text="---\n".join([runtime, *jobs]), **options)["output"].splitlines()
    line = next(at for at, text in enumerate(runtime.splitlines(), 1) if "image: " in text)
    found = ask("fields", line=line, columns=[20])["fields"]
    assert len(found) == trainc_page.MOST_EXPLAINED
    assert {output[each["line"]].strip() for each in found} == {runtime.splitlines()[line - 1].strip()}


def test_a_line_sets_what_its_first_field_sets() -> None:
    options = trainc_page.Options("", "", "", legacy=False)._asdict()
    job = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    command: [torchrun, train.py]
"""
    ask("compile", text=job, **options)
    names = [each["field"].rpartition(".")[2] for each in ask("fields", line=7, columns=[5, 25])["fields"]]
    assert names == ["command[0]", "command[1]"]
    text = json.dumps(yaml.safe_load(job))
    ask("compile", text=text, **options)
    [found] = ask("fields", line=1, columns=[1, text.index("train.py") + 1])["fields"]
    assert found["field"].endswith(".command[1]")


def test_an_unsafe_fix_is_marked() -> None:
    text = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, annotations: {kueue.x-k8s.io/elastic-job: "true"}}
spec: {runtimeRef: {name: torch-distributed}}
"""
    [found] = ask("compile", text=text, **trainc_page.Options("", "", "", legacy=False)._asdict())["diagnostics"]
    assert found["fix"]["title"].endswith(" (unsafe)")
