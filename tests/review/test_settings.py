"""Changed settings: which ones are listed, in which order, and that every format shows them first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from review.situations import RUNTIME, SITUATIONS, TWO, ignoring, job_text, review

from trainc.cli.common.options import REVIEWS
from trainc.diagnostics import Document
from trainc.provenance.tracing.correspondence import GONE
from trainc.review.changes.changed_settings import edits
from trainc.review.formats import load
from trainc.review.reviewed import Review
from trainc.settings import DEFAULT, Settings
from trainc.settings.model import SettingsFile

pytestmark = pytest.mark.usefixtures("empty_folder")


def settings(text: str | None) -> Settings:
    if text is None:
        return DEFAULT
    document = Document(file="trainc.yaml", line=1, text=text, value=yaml.safe_load(text))
    return Settings(document=document, settings_files=(SettingsFile(document, "/repository/trainc.yaml"),))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, "lint: {disable: [a, b]}", ["+lint.disable a", "+lint.disable b"], id="a new file"),
        pytest.param("lint: {disable: [a]}", None, ["-lint.disable a"], id="a removed file"),
        pytest.param("lint: {disable: [a]}", "lint: {}", ["-lint.disable a"], id="a removed list"),
        pytest.param("{}", "lint: {strict: true}", ["+lint.strict True"], id="a new section"),
        pytest.param("lint: {strict: true}", "lint: {strict: false}", ["~lint.strict False"], id="a new value"),
        pytest.param("lint: {disable: [a, b]}", "lint: {disable: [b, c]}", ["-lint.disable a", "+lint.disable c"], id="rules are a set"),  # noqa: E501
        pytest.param("b: 1", "{a: 1, lint: {strict: true}, accelerators: {x: {}}}", ["+lint.strict True", "+a 1", "+accelerators {'x': {}}", "-b 1"], id="rules come first"),  # noqa: E501
        pytest.param("accelerators: {x: {env: [{name: A, value: a}]}}", "accelerators: {x: {env: [{name: A, value: b}]}}", ["~accelerators.x.env[A].value b"], id="a part of an accelerator"),  # noqa: E501
        pytest.param("lint: [a]", "lint: {disable: a}", ["~lint {'disable': 'a'}"], id="of another type"),
        pytest.param("- a", "lint: {strict: true}", ["+lint.strict True"], id="not an object before"),
    ],
)  # fmt: skip
def test_the_settings_that_differ(old: str | None, new: str | None, expected: list[str]) -> None:
    found = [edit.change for edit in edits(settings(old), settings(new), str)]
    signs = {"added": "+", "removed": "-", "changed": "~"}
    assert [f"{signs[c.kind]}{c.field} {c.old if c.new is GONE else c.new}" for c in found] == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(None, None, id="no file"),
        pytest.param(None, "lint: {}", id="an empty section"),
        pytest.param("lint: {disable: [a, b]}", "lint: {disable: [b, a, b]}", id="another order"),
        pytest.param("- a", "text", id="no settings"),
    ],
)
def test_the_settings_that_do_not_differ(old: str | None, new: str | None) -> None:
    assert edits(settings(old), settings(new), str) == []


@pytest.mark.parametrize("form", REVIEWS)
def test_every_format_shows_the_settings_first(form: str, tmp_path: Path) -> None:
    before, after = SITUATIONS["settings"]
    runtime = TWO["runtimes/torch.yaml"].replace("torch:2.8", "torch:2.9")
    text = load(form)(review(tmp_path, before, after | {"runtimes/torch.yaml": runtime}), color=False)
    assert "2 to change, 4 settings changed" in text
    first_object = text.index("torch:2.9")
    for word in ("no-shared-memory", "no-gang", "NCCL_NET", "strict"):
        assert 0 < text.replace("<wbr>", "").index(word) < first_object


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_fields_without_effect_do_not_push_a_rule_out_of_sight(form: str, tmp_path: Path) -> None:
    many = "sources:\n" + "".join(f"- {number}{'x' * 500}\n" for number in range(2000))
    text = load(form)(
        review(tmp_path, TWO, TWO | {"trainc.yaml": f"{many}lint: {{disable: [no-gang]}}\n"}), color=False
    )
    assert "no-gang" in "\n".join(text.splitlines()[:9])
    assert len(text) < 65_536


def test_an_object_is_listed_with_the_setting_that_changes_it(tmp_path: Path) -> None:
    found = json.loads(load("json")(review(tmp_path, *SITUATIONS["settings"]), color=False))
    named = {setting["field"]: [each["name"] for each in setting["objects"]] for setting in found["settings"]}
    assert named == {"lint.strict": [], "lint.disable": [], "accelerators": ["one", "two"]}
    assert {group["cause"]["by"] for group in found["causes"]} == {"trainc.yaml"}


def test_the_settings_of_a_rendered_side_are_not_compared(tmp_path: Path) -> None:
    jobset = {"jobset.yaml": SITUATIONS["rendered"][0]["jobset.yaml"]}
    found = review(tmp_path, jobset, TWO | {"trainc.yaml": "lint: {disable: [no-gang]}\n"})
    assert found.settings == ()


def listed(review: Review) -> list[str]:
    """Return the file, the kind of edit, the rule and the owner of each changed annotation."""
    rows = [(setting.at.file, setting.change, setting.owner) for setting in review.settings]
    assert all(owner is not None for _, _, owner in rows)
    return [
        f"{file} {change.kind} {change.old if change.new is GONE else change.new} {owner.kind} {owner.name}"
        for file, change, owner in rows
        if owner is not None
    ]


def with_rules(rules: str) -> str:
    return RUNTIME.replace("  labels:\n", f"{ignoring(rules)}  labels:\n", 1)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({}, {"jobs/one.yaml": job_text("one", metadata=ignoring("no-gang"))}, ["after/jobs/one.yaml added no-gang TrainJob one"], id="added to a TrainJob"),  # noqa: E501
        pytest.param({}, {"jobs/new.yaml": job_text("new", metadata=ignoring("no-gang"))}, ["after/jobs/new.yaml added no-gang TrainJob new"], id="of a new TrainJob"),  # noqa: E501
        pytest.param({"jobs/old.yaml": job_text("old", metadata=ignoring("no-gang"))},
            {}, [], id="of a removed TrainJob"),
        pytest.param({"jobs/one.yaml": job_text("one", metadata=ignoring("no-gang"))}, {}, ["after/jobs/one.yaml removed no-gang TrainJob one"], id="removed"),  # noqa: E501
        pytest.param({"jobs/one.yaml": job_text("one", metadata=ignoring("no-gang, no-resources"))}, {"jobs/one.yaml": job_text("one", metadata=ignoring("no-resources, no-gang, no-gang"))}, [], id="in another order"),  # noqa: E501
        pytest.param({}, {"runtimes/torch.yaml": with_rules("no-gang")}, ["after/runtimes/torch.yaml added no-gang ClusterTrainingRuntime torch"], id="a runtime, once for its TrainJobs"),  # noqa: E501
        pytest.param({"runtimes/other.yaml": with_rules("no-gang").replace("name: torch", "name: other")}, {"runtimes/other.yaml": with_rules("no-gang").replace("name: torch", "name: other"), "jobs/one.yaml": job_text("one").replace("name: torch", "name: other")}, [], id="of a runtime that is only newly used"),  # noqa: E501
        pytest.param({}, {"jobs/one.yaml": job_text("one", metadata=ignoring("nosuch, no-gang"))}, ["after/jobs/one.yaml added no-gang TrainJob one", "after/jobs/one.yaml added nosuch TrainJob one"], id="unknown rules come last"),  # noqa: E501
    ],
)  # fmt: skip
def test_the_annotations_that_differ(
    before: dict[str, str], after: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    assert listed(review(tmp_path, TWO | before, TWO | after)) == expected


def test_the_annotations_of_a_rendered_side_are_not_compared(tmp_path: Path) -> None:
    jobset = {"jobset.yaml": SITUATIONS["rendered"][0]["jobset.yaml"]}
    found = review(tmp_path, jobset, TWO | {"jobs/one.yaml": job_text("one", metadata=ignoring("no-gang"))})
    assert found.settings == ()


@pytest.mark.parametrize("form", REVIEWS)
def test_every_format_shows_the_annotations_first(form: str, tmp_path: Path) -> None:
    before, after = SITUATIONS["annotations"]
    changed = after | {"jobs/one.yaml": after["jobs/one.yaml"].replace("cpu: 16", "cpu: 32")}
    text = load(form)(review(tmp_path, before, changed), color=False).replace("<wbr>", "")
    assert "1 to change, 4 settings changed" in text
    assert 0 < text.index("trainc.dev/lint-ignore") < text.index("no-resources") < text.index("limits.cpu")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_unknown_rules_and_accelerators_do_not_push_an_annotation_out_of_sight(form: str, tmp_path: Path) -> None:
    unknown = job_text("a", metadata=ignoring(", ".join(f"rule-{number}" for number in range(200))))
    env = "".join(f"    - {{name: A{number}, value: x}}\n" for number in range(100))
    before = TWO | {"trainc.yaml": "accelerators:\n  nvidia.com/gpu:\n    env: []\n"}
    after = TWO | {
        "jobs/a.yaml": unknown,
        "jobs/two.yaml": job_text("two", metadata=ignoring("no-gang")),
        "trainc.yaml": f"accelerators:\n  nvidia.com/gpu:\n    env:\n{env}",
    }
    text = load(form)(review(tmp_path, before, after), color=False)
    assert "no-gang" in "\n".join(text.splitlines()[:11])
    assert len(text) < 65_536
