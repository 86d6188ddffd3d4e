"""The report formats: snapshots of whole reports, and each report parsed like the real consumer.

`formats/faults.yaml` has errors of all kinds; diagnostics that no manifest can cause are created here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from email.message import Message
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pytest
from batches import one_in_four
from declared import ENTRIES
from reports import consumers
from running import run
from snapshots import TextFile, parameter
from syrupy.assertion import SnapshotAssertion
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

import trainc
from trainc.cli.common.options import REPORTS
from trainc.compilation import compile_paths
from trainc.compilation.run import PLAIN
from trainc.diagnostics import Checked, Diagnostic, Location, ObjectId, Related
from trainc.reports import catalogue, load, sarif
from trainc.reports.text import escape

HERE = Path(__file__).parent
READERS = {
    "github": consumers.github,
    "gitlab": consumers.gitlab,
    "rdjson": consumers.rdjson,
    "sarif": consumers.sarif,
}
"""The consumers of the formats with one entry per diagnostic."""

BREAKOUTS = (
    "]]></failure></testcase><testcase name='x'/>",
    "</system-out>&lt;&amp;\"'",
    "\n::error file=other.yaml::made up\n##[error]made up",
    "\r::add-mask::x",
    "%0A::error::x%3A%2C%25",
    '", "severity": "info"}, {',
    "[a link](https://example.com) [one](1) {0} {{1}}",
    "\x00\x07\x1b[31mred\x1b]0;title\x07\x7f\x9b",
    "\u202egnol\u2066 \u2028\u2029\ufeff\ufffe\uffff\U000e0001",
    "\ud800\udfff\udcff",
    "[[ATTACHMENT|/etc/passwd]]",
)
"""Texts that are syntax in one of the formats."""
HOSTILE = "".join(BREAKOUTS)
COMPILED = {f"trainc.{kind}" for kind in ("Job", "Pod", "PersistentVolumeClaim", "PodGroup")}
"""The cases that a JUnit report must not have: the TrainJob fails."""
FILE = 'jobs/a,b: ]]>"<&%0A\n::error::\x1b[31m\u202e#?é\udcff.yaml'
PLACE = Location(file=FILE, line=3, column=5, end_line=3, end_column=9)


def diagnostic(message: str = "m", **fields: Any) -> Diagnostic:
    return Diagnostic(**({"id": "wrong-type", "severity": "error", "stage": "schema", "message": message} | fields))


ATTACKS = [
    diagnostic(
        HOSTILE,
        help=HOSTILE,
        object=ObjectId("v1", f"TrainJob{HOSTILE}", HOSTILE, HOSTILE),
        field=HOSTILE,
        place=PLACE,
        related=(Related(HOSTILE, PLACE),),
    ),
    diagnostic(HOSTILE, severity="warning", object=ObjectId("v1", "TrainJob", "", HOSTILE), place=PLACE),
    diagnostic(HOSTILE, id="only-not-found", stage="read"),
]
CHECKED = [Checked(ObjectId("v1", "TrainJob", HOSTILE, HOSTILE), FILE, skipped=True)]


class InFormats(TextFile):
    """A whole report, stored beside its input."""

    folder = HERE / "formats"

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        case = test_location.methodname.removeprefix("test_the_report_of_").replace("_", "-")
        return f"{parameter(test_location)}-{case}"

    def serialize(self, data: Any, **_: Any) -> str:
        return str(data).replace(f'"version": "{trainc.__version__}"', '"version": "THIS"')


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository with its folder `jobs` as the current folder."""
    jobs = tmp_path / "repository" / "jobs"
    jobs.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    shutil.copy(HERE / "formats" / "faults.yaml", jobs)
    monkeypatch.chdir(jobs)
    return tmp_path / "repository"


@pytest.mark.parametrize("form", REPORTS)
def test_the_report_of_faults(form: str, snapshot: SnapshotAssertion) -> None:
    done = run("validate", "faults.yaml", "missing.yaml", "--format", form)
    assert done.code == 1
    assert done.out == snapshot(extension_class=InFormats)


@pytest.mark.parametrize("form", REPORTS)
def test_the_report_of_what_is_in_order(form: str, snapshot: SnapshotAssertion) -> None:
    Path("faults.yaml").write_text("---\n".join(Path("faults.yaml").read_text().split("---\n")[:2]))
    done = run("validate", "faults.yaml", "--format", form)
    assert done.code == 0
    assert done.out == snapshot(extension_class=InFormats)


@pytest.mark.parametrize("form", REPORTS)
def test_the_report_of_attacks(form: str, snapshot: SnapshotAssertion) -> None:
    assert render(form, ATTACKS, checked=CHECKED) == snapshot(extension_class=InFormats)


def render(form: str, diagnostics: list[Diagnostic], *, checked: list[Checked] | None = None) -> str:
    return load(form).render(diagnostics, summary="", color=False, checked=checked or [])


def samples() -> Iterator[Diagnostic]:
    """Yield diagnostics with all combinations of severity and location."""
    for severity in ("error", "warning", "note"):
        for line in (0, 3):
            for end in {0, line, line and line + 1}:
                at = Location("a.yaml", line, int(line > 0), end, int(end > 0))
                yield diagnostic(f"{severity} {line} {end}", severity=severity, place=at)
    yield diagnostic("input", place=Location("-", 4, 1))
    yield diagnostic("built-in", place=Location("<built-in>/plain.yaml", 4, 1))
    yield diagnostic("none at all")


# Readers


@pytest.mark.parametrize("form", READERS)
def test_a_reader_sees_every_diagnostic_once(form: str) -> None:
    given = list(samples())
    seen = list(READERS[form](render(form, given)))
    assert len(seen) == len(given)
    for one in given:
        at = one.place if isinstance(one.place, Location) else Location("")
        (shown,) = [shown for shown in seen if one.message in shown.text]
        assert (shown.severity, max(shown.line, 1) if at.file != "-" else 4) == (one.severity, max(at.line, 1))


INPUTS = sorted([*HERE.glob("*.yaml"), *HERE.parents[1].glob("golden/*/input.yaml")])


@pytest.mark.parametrize(
    "path", one_in_four(pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in INPUTS)
)
def test_every_format_has_the_same_diagnostics(path: Path) -> None:
    result = compile_paths([str(path)], PLAIN)
    listed = {  # a value that is invalid in several fields is an entry for each of them only in this format
        (one["id"], one["file"], one["line"], one["column"], one["message"].replace(one["field"] or "-", "")): one
        for one in json.loads(render("json", [*result.diagnostics]))
    }
    expected = sorted((one["severity"], max(one["line"], 1)) for one in listed.values())
    for form, reader in READERS.items():
        seen = reader(render(form, [*result.diagnostics], checked=[*result.checked]))
        assert sorted((shown.severity, max(shown.line, 1)) for shown in seen) == expected, form
    cases = consumers.junit(render("junit", [*result.diagnostics], checked=[*result.checked]))
    assert any(case.status == "failed" for case in cases) == result.failed
    assert not {case.classname for case in cases} & COMPILED
    assert sum(case.status == "passed" for case in cases if case.classname == "trainc.TrainJob") <= len(result.jobs)


@pytest.mark.parametrize(
    ("form", "input", "built_in", "nothing"),
    [
        pytest.param("github", "", "<built-in>/plain.yaml", "", id="github"),
        pytest.param("gitlab", "stdin", "<built-in>/plain.yaml", ".", id="gitlab"),
        pytest.param("rdjson", "stdin", "<built-in>/plain.yaml", ".", id="rdjson"),
        pytest.param("sarif", "stdin", "<built-in>/plain.yaml", "", id="sarif"),
    ],
)
def test_diagnostics_outside_of_the_repositorys_files(form: str, input: str, built_in: str, nothing: str) -> None:
    seen = list(READERS[form](render(form, list(samples())[-3:])))
    assert {shown.file for shown in seen} == {input, built_in, nothing}


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize(
    ("given", "known"),
    [
        pytest.param("a.yaml", "jobs/a.yaml", id="here"),
        pytest.param("./x/../a.yaml", "jobs/a.yaml", id="not normalized"),
        pytest.param("../a.yaml", "a.yaml", id="above"),
        pytest.param("{root}/b/a.yaml", "b/a.yaml", id="whole"),
        pytest.param("link/a.yaml", "a.yaml", id="through a link"),
        pytest.param("../../a.yaml", "{outside}/a.yaml", id="outside"),
    ],
)
def test_a_path_is_the_repositorys(form: str, given: str, known: str, project: Path) -> None:
    root = os.path.realpath(project)
    os.symlink("..", "link")
    at = Location(given.format(root=root), 1, 1)
    (shown,) = READERS[form](render(form, [diagnostic(place=at)]))
    assert shown.file.removeprefix("file://") == known.format(outside=os.path.dirname(root))


# Attacks


@pytest.mark.parametrize("form", REPORTS)
def test_nothing_breaks_out(form: str) -> None:
    report = render(form, ATTACKS, checked=CHECKED)
    assert report.encode("ascii" if form == "json" else "utf-8")
    assert not re.search(r"[^\n -~é]", report if form != "json" else ""), "unprintable characters must be escaped"
    assert "made up" in report


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("text", BREAKOUTS)
def test_a_reader_sees_an_attack_as_text(form: str, text: str) -> None:
    given = [diagnostic(f"<{text}>", help=f"<{text}>", object=ObjectId("v1", text, text, text), place=PLACE)] * 2
    seen = list(READERS[form](render(form, given)))
    assert [shown.severity for shown in seen] == ["error", "error"]
    for shown in seen:
        assert shown.line == 3
        assert re.sub(r"[^a-z ]", "", escape(text)) in re.sub(r"[^a-z ]", "", shown.text)


def test_a_file_reaches_its_reader_whole() -> None:
    (annotated,) = consumers.github(render("github", [diagnostic(place=PLACE)]))
    (alert,) = consumers.sarif(render("sarif", [diagnostic(place=PLACE)]))
    assert alert.file == f"jobs/{FILE}"
    assert annotated.file == escape(f"jobs/{FILE}")


@pytest.mark.parametrize("text", BREAKOUTS)
def test_junit_shows_an_attack_as_text(text: str) -> None:
    given = [
        diagnostic(text, object=ObjectId("v1", text, text, text), place=PLACE),
        diagnostic(text, severity="warning", place=PLACE),
    ]
    first, second = consumers.junit(render("junit", given))
    assert (first.status, second.status) == ("failed", "passed")
    assert first.text.count("wrong-type") == second.text.count("wrong-type") == 1
    assert "[[ATTACHMENT|" not in first.text + second.text, "GitLab and Jenkins would publish the file"


@pytest.mark.parametrize("form", REPORTS)
def test_a_long_message_is_whole(form: str) -> None:
    report = render(form, [diagnostic("x" * 100_000, object=ObjectId("v1", "TrainJob", "", "a"), place=PLACE)])
    assert "x" * 100_000 in report
    for shown in READERS[form](report) if form in READERS else ():
        assert "x" * 100_000 in shown.text


@pytest.mark.parametrize("form", REPORTS)
def test_secrets_are_masked(form: str) -> None:
    assert "12345678" not in run("validate", "faults.yaml", "--format", form).out


# JUnit


def test_each_checked_object_is_a_case() -> None:
    cases = consumers.junit(run("validate", "faults.yaml", "missing.yaml", "--format", "junit").out)
    assert [(case.classname, case.name, case.status) for case in cases] == [
        ("trainc.TrainJob", "research/in-order", "failed"),  # there are two of them
        ("trainc.TrainJob", "research/waits-for-its-runtime", "skipped"),
        ("trainc.TrainJob", "research/wrong", "failed"),
        ("trainc.TrainingRuntime", "research/team", "passed"),
        ("trainc.TrainingRuntime", "research/broken", "failed"),
        ("trainc.File", "faults.yaml", "failed"),
        ("trainc.File", "missing.yaml", "failed"),
    ]


def test_objects_without_a_name_are_distinguished_by_file() -> None:
    nameless = ObjectId("v1", "TrainJob")
    diagnostics = [diagnostic(object=nameless, place=Location(file)) for file in ("a.yaml", "b.yaml", "b.yaml")]
    cases = consumers.junit(render("junit", diagnostics))
    assert [case.name for case in cases] == ["(no name) in a.yaml", "(no name) in b.yaml"]


def test_a_warning_is_the_output_of_a_case_that_passed() -> None:
    (case,) = consumers.junit(render("junit", [diagnostic("careful", severity="warning")]))
    assert (case.classname, case.name, case.status, case.text) == (
        "trainc.Run",
        "the given paths",
        "passed",
        "warning[wrong-type]: careful",
    )


# SARIF and GitLab


def names(form: str, text: str, *, file: str = "job.yaml") -> list[str]:
    """Return the fingerprints of a report."""
    Path(file).write_text(text)
    report = json.loads(run("validate", file, "--format", form).out)
    if form == "gitlab":
        return [entry["fingerprint"] for entry in report]
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in report["runs"][0]["results"]]


@pytest.mark.parametrize("form", ["sarif", "gitlab"])
def test_a_fingerprint_stays_when_lines_move_and_nothing_else_does(form: str) -> None:
    text = (HERE / "formats" / "faults.yaml").read_text()
    before = names(form, text)
    assert len(set(before)) == 6
    assert names(form, "# Moved.\n" * 7 + text) == before
    assert set(names(form, text.replace("name: wrong", "name: another"))) & set(before) == set(before[3:])
    assert not set(names(form, text, file="another.yaml")) & set(before)


def test_columns_are_code_points() -> None:
    line = 'spec: {runtimeRef: {name: plain}, trainer: {args: [日本e\u0301\U0001f600], numNodes: "4"}}'
    Path("job.yaml").write_text(
        f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {{name: a}}\n{line}"
    )
    (run_,) = json.loads(run("validate", "job.yaml", "--format", "sarif").out)["runs"]
    region = run_["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert run_["columnKind"] == "unicodeCodePoints"
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == '"4"'


def test_the_schema_is_the_official_one() -> None:
    assert sha256(consumers.SARIF_SCHEMA_FILE.read_bytes()).hexdigest() == consumers.SARIF_SCHEMA_DIGEST


def test_a_log_has_at_most_as_many_results_as_github_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sarif.MOST == 25_000
    monkeypatch.setattr(sarif, "MOST", 3)
    notes = [diagnostic(f"note {number}", severity="note", place=Location("a.yaml", number, 1)) for number in (1, 2, 3)]
    errors = [diagnostic(f"error {number}", place=Location("b.yaml", number, 1)) for number in (1, 2)]
    report = render("sarif", [*notes, *errors])
    assert [shown.text for shown in consumers.sarif(report)] == ["note 1", "error 1", "error 2"]
    (omitted,) = json.loads(report)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert omitted["message"]["text"] == "2 more omitted: a run holds at most 3 results"


def test_github_accepts_the_rule_of_every_page() -> None:
    for id in ENTRIES:
        (run_,) = json.loads(render("sarif", [diagnostic(id=id, place=PLACE)]))["runs"]
        (rule,) = run_["tool"]["driver"]["rules"]
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert "<" not in re.sub(r"```.*?```|`[^`]*`", "", rule["help"]["markdown"], flags=re.DOTALL), "no HTML"


def test_a_package_with_public_addresses_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def driver() -> dict[str, Any]:
        (run_,) = json.loads(render("sarif", [diagnostic()]))["runs"]
        return cast("dict[str, Any]", run_["tool"]["driver"])

    assert "informationUri" not in driver()
    assert "helpUri" not in driver()["rules"][0]
    metadata = Message()
    metadata["Project-URL"] = "Homepage, https://example.com/trainc"
    metadata["Project-URL"] = "Diagnostics, https://example.com/trainc/diagnostics/"
    monkeypatch.setattr("importlib.metadata.metadata", lambda _: metadata)
    catalogue.published.cache_clear()
    named = driver()
    catalogue.published.cache_clear()
    assert named["informationUri"] == "https://example.com/trainc"
    assert named["rules"][0]["helpUri"] == "https://example.com/trainc/diagnostics/wrong-type.md"


def test_a_log_has_the_field_and_the_related_locations() -> None:
    (run_,) = json.loads(run("validate", "faults.yaml", "--format", "sarif").out)["runs"]
    wrong, twice = (run_["results"][number] for number in (0, 3))
    (field,) = wrong["locations"][0]["logicalLocations"]
    assert field["fullyQualifiedName"] == "TrainJob/research/wrong/spec.trainer.numNodes"
    (first,) = twice["relatedLocations"]
    assert (first["message"]["text"], first["physicalLocation"]["region"]["startLine"]) == ("the first one", 19)
    assert [rule["id"] for rule in run_["tool"]["driver"]["rules"]] == sorted({r["ruleId"] for r in run_["results"]})
    assert [one["location"]["uri"] for one in run_["artifacts"]] == ["jobs/faults.yaml"]
