"""`--review-config`: the base decides what is reported, in each environment, and the changed rules are listed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from committing import commit, git
from running import Done, run

from trainc.cli.common.options import REVIEWS

JOB = Path("jobs/first-job.yaml")
SETTINGS = """\
sources: [jobs]
runtimes: {{paths: [runtimes]}}
environments:
{environments}"""


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> None:
    assert run("init").code == 0


def settings(**environments: str) -> None:
    rows = "".join(f"  {name}: {text}\n" for name, text in environments.items())
    Path("trainc.yaml").write_text(SETTINGS.format(environments=rows))


def with_secret() -> None:
    """Add a variable that `secret-in-env` reports."""
    text = JOB.read_text()
    before = "    command:"
    assert before in text
    JOB.write_text(text.replace(before, "    env: [{name: HF_TOKEN, value: hf_123}]\n" + before))


def review(form: str = "text") -> Done:
    return run("diff", "main...HEAD", "--review-config", "main:trainc.yaml", "--format", form, "--", "jobs", "runtimes")


def on_branch() -> None:
    commit("The base")
    git("checkout", "--quiet", "-b", "branch")


@pytest.mark.parametrize("form", REVIEWS)
def test_the_strictness_of_an_environment(form: str) -> None:
    settings(dev="{}", prod="{lint: {strict: true}}")
    on_branch()
    settings(dev="{}", prod="{lint: {strict: false}}")
    commit("Not strict")
    done = review(form)
    assert done.code == 0
    assert "environments.prod.lint.strict" in re.sub("<.*?>", "", done.out)
    with_secret()
    commit("A secret")
    done = review(form)
    assert (done.code, done.out) == (1, "")
    assert "error[secret-in-env]" in done.err


def test_the_rules_of_an_environment() -> None:
    settings(dev="{lint: {disable: [no-gang]}}", prod="{lint: {disable: [no-gang, image-version]}}")
    on_branch()
    settings(dev="{lint: {disable: [secret-in-env]}}", prod="{lint: {disable: [secret-in-env]}}")
    with_secret()
    commit("Other rules")
    done = review()
    assert done.code == 0
    assert done.err.count("warning[secret-in-env]") == 1
    assert "warning[no-gang]" not in done.err
    found = json.loads(review("json").out)["settings"]
    rules = {(row["change"], row["field"], row.get("old"), row.get("new")) for row in found}
    disable = "environments.{}.lint.disable"
    assert rules == {
        ("added", disable.format("dev"), None, "secret-in-env"),
        ("removed", disable.format("dev"), "no-gang", None),
        ("added", disable.format("prod"), None, "secret-in-env"),
        ("removed", disable.format("prod"), "no-gang", None),
        ("removed", disable.format("prod"), "image-version", None),
    }
    assert done.out.count("changes which warnings and errors are reported") == 5


def test_a_new_environment_has_the_rules_of_the_file() -> None:
    settings(prod="{}\nlint: {strict: true}")
    on_branch()
    settings(prod="{}", test="{lint: {strict: false, disable: [secret-in-env]}}")
    with_secret()
    commit("An environment")
    done = review()
    assert done.code == 1
    assert "error[secret-in-env]" in done.err
    assert "test" in done.err


def test_rules_precede_other_settings() -> None:
    settings(prod="{}")
    on_branch()
    settings(prod="{labels: {a: b}, fieldValidation: warn, lint: {disable: [no-gang]}}")
    commit("Settings")
    fields = [setting["field"] for setting in json.loads(review("json").out)["settings"]]
    prod = "environments.prod"
    assert sorted(fields[:2]) == [f"{prod}.fieldValidation", f"{prod}.lint.disable"]
    assert fields[2].startswith(f"{prod}.labels")


def test_each_rule_of_an_annotation_is_listed() -> None:
    on_branch()
    text = JOB.read_text()
    ignored = "  annotations: {trainc.dev/lint-ignore: 'image-version, no-gang, secret-in-env'}\n"
    JOB.write_text(text.replace("metadata:\n", "metadata:\n" + ignored))
    commit("Rules off")
    found = json.loads(review("json").out)["settings"]
    assert sorted(setting["new"] for setting in found) == ["image-version", "no-gang", "secret-in-env"]
