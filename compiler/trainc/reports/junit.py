"""JUnit's XML, for Jenkins, GitLab and whoever else counts tests: each TrainJob and runtime is a test case.

Reads    diagnostics, and what was checked.
Returns  one suite. A case with errors has one failure, which tells of all of them; warnings and notes are its output.
         What speaks of no object is a case of its file, and without a file of the run. No times: the same input gives
         the same bytes. What does not print is escaped, secrets are hidden.
Source   Jenkins' junit-10.xsd; GitLab's Junit parser, which reads one failure a case, and takes the attribute `type`
         for the type of the text (`yaml` there ends the reading), so that there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

from trainc.diagnostics import Checked, Diagnostic, Location, ObjectId
from trainc.records import NamedTuple
from trainc.reports import OF_MADE, in_order
from trainc.reports.text import EXCERPTS, block, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITE: Final = "trainc"
SKIPPED: Final = "nothing was made of it: what it refers to is wrong"


ATTACHMENT: Final = "[[ATTACHMENT|"
"""What GitLab and a plug-in of Jenkins take for the path of a file to publish."""


class Case(NamedTuple):
    """What a test is of; as Jenkins has it, `suite.class` and a name."""

    kind: str
    name: str
    file: str = ""
    """Of an object without a name."""


RUN: Final = Case("Run", "the given paths")


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """The cases in the order of what was checked, then the others by place."""
    skipped = {_case(one) for one in checked if one.skipped}
    said: dict[Case, list[tuple[Diagnostic, str]]] = {_case(one): [] for one in checked}
    for number, diagnostic in enumerate(in_order(diagnostics)):
        text = block(diagnostic, shown=number < EXCERPTS).replace(ATTACHMENT, ATTACHMENT.replace("|", r"\x7c"))
        said.setdefault(_case(diagnostic), []).append((diagnostic, text))
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite")
    for case, blocks in said.items():
        _add(suite, case, blocks, skipped=case in skipped)
    counts = {
        "tests": str(len(said)),
        "failures": str(len(suite.findall("testcase/failure"))),
        "errors": "0",
    }
    suites.attrib.update(counts)
    suite.attrib.update({"name": SUITE, **counts, "skipped": str(len(suite.findall("testcase/skipped")))})
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _case(said: Checked | Diagnostic) -> Case:
    about = said.object
    if isinstance(said, Diagnostic) and said.stage in OF_MADE:
        about = _written(about, said)
    file = said.file if isinstance(said, Checked) else said.place.file if isinstance(said.place, Location) else ""
    if not about.kind:
        return Case("File", "<stdin>" if file == "-" else file) if file else RUN
    name = f"{about.namespace}/{about.name}" if about.namespace else about.name
    return Case(about.kind, name) if about.name else Case(about.kind, "(no name)", file)


def _written(about: ObjectId, said: Diagnostic) -> ObjectId:
    """The TrainJob that an object was made of: it has failed. A namespace may be given on the command line."""
    at = said.place
    written = ObjectId.of(at.source.value) if isinstance(at, Location) and at.source else about
    return written._replace(namespace=about.namespace)


def _add(suite: ElementTree.Element, case: Case, said: list[tuple[Diagnostic, str]], *, skipped: bool) -> None:
    name = f"{case.name} in {case.file}" if case.file else case.name
    test = ElementTree.SubElement(suite, "testcase", classname=f"{SUITE}.{escape(case.kind)}", name=escape(name))
    errors = [(diagnostic, block) for diagnostic, block in said if diagnostic.severity == "error"]
    if errors:
        first = f"{errors[0][0].id}: {escape(errors[0][0].message)}"
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        failure = ElementTree.SubElement(test, "failure", message=first + more)
        failure.text = "\n\n".join(block for _, block in errors)
    elif skipped:
        ElementTree.SubElement(test, "skipped", message=SKIPPED)
    rest = [block for diagnostic, block in said if diagnostic.severity != "error"]
    if rest:
        ElementTree.SubElement(test, "system-out").text = "\n\n".join(rest)
