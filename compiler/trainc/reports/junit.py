"""JUnit XML report, for Jenkins, GitLab and other test dashboards: each TrainJob and runtime is a test case.

Reads    diagnostics and the checked objects.
Returns  one suite. A case with errors has one failure that contains all of them; warnings and notes are its output.
         A diagnostic without an object belongs to a case for its file, or for the run if it has no file. There are no
         times: the same input gives the same bytes. Unprintable characters are escaped and secrets are masked.
Source   Jenkins' junit-10.xsd; GitLab's Junit parser, which reads one failure per case. It takes the attribute `type`
         for the type of the text (`yaml` stops parsing), so no `type` is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

from trainc.base.kinds import RUNTIMES
from trainc.base.records import NamedTuple
from trainc.diagnostics import Checked, Diagnostic, Location, ObjectId
from trainc.reports import in_order, is_about_compiled_object, message
from trainc.reports.text import block, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITE: Final = "trainc"
SKIPPED: Final = "not compiled: an object that it refers to has errors"

EXCERPTS: Final = 500
"""The number of diagnostics that are shown with source lines, each of which takes a millisecond."""
ATTACHMENT: Final = "[[ATTACHMENT|"
"""GitLab and a Jenkins plug-in publish the file whose path follows this text."""


class Case(NamedTuple):
    """The identity of a test case; Jenkins shows it as `suite.class` and a name."""

    kind: str
    name: str
    file: str = ""
    """The file; only for an object without a name."""


RUN: Final = Case("Run", "the given paths")


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """Return the suite: the checked objects in order, then the other cases by place."""
    skipped = {_case(one) for one in checked if one.skipped}
    cases: dict[Case, list[tuple[Diagnostic, str]]] = {_case(one): [] for one in checked}
    for number, diagnostic in enumerate(in_order(diagnostics)):
        text = block(diagnostic, shown=number < EXCERPTS).replace(ATTACHMENT, ATTACHMENT.replace("|", r"\x7c"))
        cases.setdefault(_case(diagnostic), []).append((diagnostic, text))
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite")
    for case, blocks in cases.items():
        _add(suite, case, blocks, skipped=case in skipped)
    counts = {
        "tests": str(len(cases)),
        "failures": str(len(suite.findall("testcase/failure"))),
        "errors": "0",
    }
    suites.attrib.update(counts)
    suite.attrib.update({"name": SUITE, **counts, "skipped": str(len(suite.findall("testcase/skipped")))})
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _case(item: Checked | Diagnostic) -> Case:
    subject = item.object
    if isinstance(item, Diagnostic) and is_about_compiled_object(item):
        subject = _trainjob(subject, item)
    file = item.file if isinstance(item, Checked) else item.place.file if isinstance(item.place, Location) else ""
    if not subject.kind:
        return Case("File", "<stdin>" if file == "-" else file) if file else RUN
    name = subject.qualified_name
    return Case(subject.kind, name) if subject.name else Case(subject.kind, "(no name)", file)


def _trainjob(compiled: ObjectId, diagnostic: Diagnostic) -> ObjectId:
    """Return the case that fails: the TrainJob, whose namespace may be from an option, or its runtime."""
    at = diagnostic.place
    source = ObjectId.from_source(at.source.value) if isinstance(at, Location) and at.source else compiled
    return source if source.kind in {row.kind for row in RUNTIMES} else source._replace(namespace=compiled.namespace)


def _add(suite: ElementTree.Element, case: Case, blocks: list[tuple[Diagnostic, str]], *, skipped: bool) -> None:
    name = f"{case.name} in {case.file}" if case.file else case.name
    test = ElementTree.SubElement(suite, "testcase", classname=f"{SUITE}.{escape(case.kind)}", name=escape(name))
    errors = [(diagnostic, block) for diagnostic, block in blocks if diagnostic.severity == "error"]
    if errors:
        first = f"{errors[0][0].id}: {escape(message(errors[0][0]))}"
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        failure = ElementTree.SubElement(test, "failure", message=first + more)
        failure.text = "\n\n".join(block for _, block in errors)
    elif skipped:
        ElementTree.SubElement(test, "skipped", message=SKIPPED)
    rest = [block for diagnostic, block in blocks if diagnostic.severity != "error"]
    if rest:
        ElementTree.SubElement(test, "system-out").text = "\n\n".join(rest)
