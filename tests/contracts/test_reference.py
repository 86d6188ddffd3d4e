"""The tables and lists of the reference agree with the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pages import ROOT, Section, sections
from running import run

from trainc.argocd.parameters import PARAMETERS
from trainc.base.option_rows import ROWS
from trainc.budget import CI, DEFAULT
from trainc.cli import common as codes
from trainc.pipeline.stages import STAGES

WRITE_NOTHING: Final = {"resolve", "admit", "verify", "lint"}
"""The stages that change no field of an object."""


def section(page: str, title: str) -> Section:
    (found,) = (each for each in sections(page) if each.title == title)
    return found


def rows(page: str, title: str, header: str) -> Iterator[list[str]]:
    """Yield the cells of the rows below a header."""
    lines = [line for _, line in section(page, title).prose]
    for line in lines[lines.index(header) + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_exit_codes() -> None:
    listed = [int(code) for code, _ in rows("docs/commands/README.md", "Exit codes", "| code | meaning |")]
    assert listed == sorted(value for value in vars(codes).values() if isinstance(value, int))


def test_the_stages_of_explain() -> None:
    text = " ".join(line.strip() for _, line in section("docs/commands/explain.md", "Fields and stages").prose)
    sentence = text.partition("The stages are, in order, ")[2].partition("cluster sets).")[0]
    listed = names(re.sub(r"\([^)]*\)", "", sentence))
    assert listed == [stage.__name__ for stage in STAGES if stage.__name__ not in WRITE_NOTHING]


def number(text: str) -> int:
    digits, _, unit = text.replace(",", "").partition(" ")
    return int(digits) * {"": 1, "MiB": 2**20}[unit]


def test_the_budgets() -> None:
    cells = [*rows("docs/budgets.md", "", "| unit | `ci` | `default` | counts |")]
    assert {unit: number(most) for unit, most, _, _ in cells} == CI.limits
    assert {unit: number(most) for unit, _, most, _ in cells} == DEFAULT.limits


def test_the_fields_of_the_krm_function() -> None:
    schema = json.loads((ROOT / "schemas" / "trainc" / "TrainJobCompiler.json").read_text())
    listed = [name for cell, _ in rows("docs/commands/krm.md", "", "| field | meaning |") for name in names(cell)]
    fields = schema["properties"]["spec"]["properties"]
    assert sorted(listed) == sorted(fields)
    assert sorted(fields) == sorted(["paths", *(row.field for row in ROWS if row.field)])


def test_the_parameters_of_the_plugin() -> None:
    listed = [names(cell)[0] for cell, *_ in rows("docs/argo-cd.md", "Parameters", "| name | value | effect |")]
    assert sorted(listed) == sorted(PARAMETERS)


RUNTIMES: Final = {
    name: (owner, image, rest)
    for cell, owner, image, *rest in rows("docs/runtimes.md", "", "| name | owner | image | differences | use it for |")
    for name in names(cell)
}


def test_every_built_in_runtime_has_a_row() -> None:
    missing = {
        path.stem for path in [*ROOT.glob("runtimes/*.yaml"), *ROOT.glob("runtimes/trainer-2.3/*.yaml")]
    } - RUNTIMES.keys()
    assert missing == set(), "add the runtime to the table in docs/runtimes.md"


def test_the_rows_of_the_built_in_runtimes(empty_folder: Path) -> None:
    """A row has the owner and the image, and requests other than the default ones."""
    wrong = []
    for found in json.loads(run("runtimes", "list", "--format", "json").out):
        owner, image, rest = RUNTIMES[found["name"]]
        as_in = re.match(r"as `([\w-]+)`", image)
        shown = RUNTIMES[as_in[1]][1] if as_in else image
        requests = {"cpu": "4", "memory": "16Gi"} | found["requests"]
        numbers = {f"{requests['cpu']} CPU", f"{requests['memory'].removesuffix('Gi')} GiB"} - {"4 CPU", "16 GiB"}
        if found["image"] not in shown.split(", ") or owner.partition(" ")[0] != found["origin"]["owner"]:
            wrong.append(f"{found['name']}: {found['image']}, {found['origin']['owner']}")
        wrong += [f"{found['name']}: {number}" for number in numbers if number not in " ".join(rest)]
    assert wrong == []
