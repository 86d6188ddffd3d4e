"""The settings that cause changes: attacks on a review that guesses them, and the number of compilations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from committing import commit, git
from running import Done, run

from trainc import compilation
from trainc.cli.common.options import REVIEWS
from trainc.review import sides

JOB = Path("jobs/first-job.yaml")
SETTINGS = Path("trainc.yaml")
HASH = "delivery: {nameSuffixHash: true}"


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> None:
    """A project with two TrainJobs and two environments, in a repository."""
    assert run("init").code == 0
    Path("jobs/team").mkdir()
    Path("jobs/team/job.yaml").write_text(JOB.read_text().replace("first-job", "team-job"))


def with_settings(text: str) -> None:
    SETTINGS.write_text(f"sources: [jobs]\n{text}")


def without_environments(before: str, after: str) -> None:
    """Commit settings, and change them on a branch."""
    with_settings(f"runtimes: {{paths: [runtimes]}}\n{before}")
    on_branch()
    with_settings(f"runtimes: {{paths: [runtimes]}}\n{after}")
    commit("Settings")


def on_branch() -> None:
    commit("The base")
    git("checkout", "--quiet", "-b", "branch")


def review(form: str = "json") -> Done:
    done = run("diff", "main...HEAD", "--format", form, "--", "jobs", "runtimes")
    assert done.code == 0, done.err
    return done


def without_markup(form: str) -> str:
    """Return a review as text without markup."""
    return re.sub(r"<[^>]*>|[`*|\\]", "", review(form).out).replace("&quot;", '"')


def settings() -> dict[str, list[str]]:
    """Return the names of the objects that each setting changes."""
    found = json.loads(review().out)["settings"]
    return {row["field"]: [each["name"] for each in row["objects"]] for row in found}


def causes() -> dict[str, list[str]]:
    """Return the fields that each cause changes."""
    found = json.loads(review().out)["causes"]
    return {row["cause"]["field"]: row["fields"] for row in found}


@pytest.mark.parametrize(("before", "after"), [("", HASH), (HASH, "")])
def test_a_hash_in_the_names_is_a_new_object(before: str, after: str) -> None:
    without_environments(before, after)
    names = [each["name"] for each in json.loads(review().out)["objects"]]
    assert settings() == {"delivery": names}
    assert causes() == {"delivery.nameSuffixHash": ["metadata.name"]}
    found = json.loads(review().out)["objects"]
    assert {each["effect"] for each in found} == {"new-name"}
    names = [(each["renamedFrom"]["name"], each["name"]) for each in found]
    assert all(re.fullmatch(r"\w+-job-[a-z0-9]{8}", hashed) for hashed in (pair[bool(after)] for pair in names))
    for form in REVIEWS:
        shown = without_markup(form)
        assert "under a new name: pruning stops the old ones" in shown
        assert "no object" not in shown


def test_the_paths_of_runtimes() -> None:
    Path("other").mkdir()
    runtime = next(Path("runtimes").glob("*.yaml"))
    Path("other/torch.yaml").write_text(re.sub("image: .*", "image: evil/x", runtime.read_text()))
    with_settings("runtimes: {paths: [runtimes]}\n")
    on_branch()
    with_settings("runtimes: {paths: [other]}\n")
    commit("Other runtimes")
    done = run("diff", "main...HEAD", "--format", "json", "--", "jobs")
    [setting] = json.loads(done.out)["settings"]
    assert setting["field"] == "runtimes.paths[0]"
    assert setting["objects"] == []
    for form in REVIEWS:
        assert "evil/x" in run("diff", "main...HEAD", "--format", form, "--", "jobs").out


def test_each_setting_is_the_cause_of_its_own_change() -> None:
    without_environments("labels: {a: b}\ndelivery: {suspend: true}\n", "labels: {a: c}\ndelivery: {suspend: false}\n")
    both = ["first-job", "team-job"]
    assert settings() == {"delivery.suspend": both, "labels.a": both}
    assert causes() == {"delivery.suspend": ["spec.suspend"], "metadata.labels.a": ["metadata.labels.a"]}
    for form in REVIEWS:
        shown = without_markup(form)
        assert "no object" not in shown
        assert shown.index("delivery.suspend") < shown.index("labels.a")


def test_a_setting_beside_an_edit_of_the_trainjob() -> None:
    """A single edit of a TrainJob is no cause of what a setting changes."""
    with_settings("runtimes: {paths: [runtimes]}\ndelivery: {suspend: true}\n")
    on_branch()
    with_settings("runtimes: {paths: [runtimes]}\n")
    JOB.write_text(JOB.read_text().replace("metadata:\n", "metadata:\n  labels: {owner: me}\n"))
    commit("A label, and a start")
    assert causes() == {"delivery.suspend": ["spec.suspend"], "metadata.labels": ["metadata.labels"]}


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_many_labels_do_not_push_a_key_out_of_the_comment(form: str) -> None:
    labels = "".join(f"  a{number}: b\n" for number in range(60))
    added = f"{labels}delivery: {{argocdReplace: true}}\noutput: out\n"
    without_environments("labels: {c: d}\n", f"labels:\n  c: d\n{added}")
    rows = re.findall(r"(?:setting|trainc.yaml:[0-9]+) +(labels.a\d+|delivery|output)\b", without_markup(form))
    assert len({*rows}) == 62


def test_more_keys_than_rows() -> None:
    from trainc.diagnostics import Location
    from trainc.review.changes import Change
    from trainc.review.formats import shortened
    from trainc.review.reviewed import ChangedSetting

    rows = [
        ChangedSetting(Change("added", key, (key, item), (key, item)), Location("trainc.yaml"), rank=2)
        for key in ("labels", "images", "patches")
        for item in range(3)
    ]
    assert [row.change.path for row in shortened(rows, 4)] == [
        ("labels", 0),
        ("labels", 1),
        ("images", 0),
        ("patches", 0),
    ]
    assert [row.change.path[0] for row in shortened(rows, 1)] == ["labels", "images", "patches"]
    assert shortened(rows, 20) == rows


def environments(**layers: str) -> None:
    rows = "".join(f"  {name}: {text}\n" for name, text in layers.items())
    with_settings(f"runtimes: {{paths: [runtimes]}}\nenvironments:\n{rows}")


def test_rows_of_environments_with_other_values_are_not_merged() -> None:
    """One edit of a TrainJob has other values in each environment, whose images another setting changes."""
    image = next(re.findall(r"image: (\S+)", path.read_text())[0] for path in Path("runtimes").glob("*.yaml"))
    JOB.write_text(JOB.read_text().replace("trainer:\n", f"trainer:\n    image: {image}\n"))
    name = image.partition(":")[0]
    environments(
        dev="{namespace: dev}",
        prod=f"{{namespace: prod, images: [{{name: {name}, newName: registry.example.com/torch}}]}}",
    )
    on_branch()
    JOB.write_text(JOB.read_text().replace(image, f"{name}:other"))
    commit("Another image")
    found = json.loads(review().out)["causes"]
    rows = {tuple(row["environments"]): (row["cause"]["old"], row["cause"]["new"]) for row in found}
    assert rows == {
        ("dev",): (image, f"{name}:other"),
        ("prod",): (image.replace(name, "registry.example.com/torch"), "registry.example.com/torch:other"),
    }
    for form in REVIEWS:
        assert without_markup(form).count("registry.example.com/torch:other") > 1


def test_removed_rules_are_rows_of_their_own() -> None:
    environments(dev="{lint: {disable: [no-gang, image-version]}}", prod="{}")
    on_branch()
    environments(dev="{}", prod="{}")
    commit("Rules on")
    found = json.loads(review().out)["settings"]
    assert sorted(row["old"] for row in found) == ["image-version", "no-gang"]


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The environments of the compilations so far."""
    found: list[str] = []
    compile_documents: Any = compilation.compile_documents

    def counting(reading: Any, options: Any) -> Any:
        found.append(options.settings.environment_name)
        return compile_documents(reading, options)

    monkeypatch.setattr(sides, "compile_documents", counting)
    return found


def test_without_a_changed_setting_each_side_is_compiled_once(compilations: list[str]) -> None:
    environments(dev="{namespace: a}", prod="{namespace: b}")
    on_branch()
    JOB.write_text(JOB.read_text().replace("train.py", "other.py"))
    commit("Another program")
    assert json.loads(review().out)["summary"]["changed"] == 2
    assert sorted(compilations) == ["dev", "dev", "prod", "prod"]


def test_a_changed_setting_needs_no_further_compilation(compilations: list[str]) -> None:
    environments(dev="{namespace: a}", prod="{namespace: b}")
    on_branch()
    environments(dev="{namespace: a, annotations: {c: d}}", prod="{namespace: b, lint: {strict: true}}\nlabels: {e: f}")
    commit("Three settings")
    found = json.loads(review().out)["settings"]
    assert {row["field"]: row.get("environments", []) for row in found} == {
        "environments.prod.lint.strict": [],
        "environments.dev.annotations": ["dev"],
        "labels": ["dev", "prod"],
    }
    assert sorted(compilations) == ["dev", "dev", "prod", "prod"]


LEGACY = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: old-job, namespace: team, labels: {a: b}}
spec:
  runPolicy: {schedulingPolicy: {minAvailable: 2}}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: pytorch, image: "ghcr.io/acme/one:1"}]}}
"""


def test_an_object_without_a_cause_names_the_changed_settings() -> None:
    """A gang scheduler decides fields that no document has; the edit beside it does not cause them."""
    Path("jobs/old.yaml").write_text(LEGACY)
    with_settings("runtimes: {paths: [runtimes]}\nlegacy: {kinds: [PyTorchJob], gang: volcano}\n")
    on_branch()
    with_settings("runtimes: {paths: [runtimes]}\nlegacy: {kinds: [PyTorchJob], gang: scheduler-plugins}\n")
    Path("jobs/old.yaml").write_text(LEGACY.replace("a: b", "a: c"))
    commit("Another scheduler, and a label")
    found = json.loads(review().out)["causes"]
    assert [row["settings"] for row in found if row["cause"] is None] == [["legacy.gang"]]
    assert [row["fields"] for row in found if row["cause"] is not None] == [["metadata.labels.a"]]
    for form in REVIEWS:
        shown = without_markup(form)
        assert "ause unknown, the changed setting is legacy.gang" in shown or form == "json"


def test_the_same_change_by_two_patches_has_two_causes() -> None:
    """TrainJobs without edits of their own share causes only if the same patches apply to them."""

    def patches(seconds: int) -> str:
        rows = "".join(
            f"- {{target: {{kind: JobSet, name: {name}}}, patch: {{spec: {{ttlSecondsAfterFinished: {seconds}}}}}}}\n"
            for name in ("first-job", "team-job")
        )
        return f"patches:\n{rows}"

    without_environments(patches(60), patches(70))
    assert settings() == {
        "patches[0].patch.spec.ttlSecondsAfterFinished": ["first-job"],
        "patches[1].patch.spec.ttlSecondsAfterFinished": ["team-job"],
    }
