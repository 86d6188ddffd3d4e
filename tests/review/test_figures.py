"""Every figure in the review of three environments, in every format, is the sum of the objects that a build prints."""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import tinyhtml5
import yaml
from running import run

CASE = Path(__file__).parent / "golden/three-environments"
ENVIRONMENTS = {"dev": "small", "staging": "large", "prod": "large"}
"""The environments in trainc.yaml, each with its cluster."""
UNITS: dict[str, Decimal | int] = {"": 1, "m": Decimal("0.001"), "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
Figures = dict[tuple[str, str], dict[str, tuple[Decimal, Decimal]]]
"""The numbers before and after by resource, by the kind of a figure and its scope, as the text shows both."""


def number(text: Any) -> Decimal:
    found = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text))
    assert found, text
    return Decimal(found[1]) * UNITS[found[2]]


def added_up(side: str, environment: str) -> dict[str, Counter[str]]:
    """Return the pods, nodes and requests of each queue, from the output of a build; "total" has all of them."""
    done = run("build", str(CASE / side), "--env", environment)
    assert done.code == 0, done.err
    queues: dict[str, Counter[str]] = {}
    for tree in filter(None, yaml.safe_load_all(done.out)):
        if tree["kind"] != "JobSet":
            continue
        labels = tree["metadata"].get("labels", {})
        queue = labels.get("kueue.x-k8s.io/queue-name")
        name = f"queue {tree['metadata']['namespace']}/{queue}" if queue else "no queue"
        for job in tree["spec"]["replicatedJobs"]:
            pods = job["replicas"] * job["template"]["spec"]["parallelism"]
            trains = (
                job["name"] == "node" or "trainer" in job["template"].get("metadata", {}).get("labels", {}).values()
            )
            found = Counter({"pods": Decimal(pods), "nodes": Decimal(pods if trains else 0)})
            for container in job["template"]["spec"]["template"]["spec"]["containers"]:
                resources = container.get("resources", {})
                for resource, amount in (resources.get("limits", {}) | resources.get("requests", {})).items():
                    found[resource] += pods * number(amount)
            for key in (name, "total"):
                queues.setdefault(key, Counter()).update(found)
    return queues


def expected() -> Figures:
    """Return all figures: equal ones of several environments once, then the sums of the cluster that has several."""
    sides = {name: [added_up(side, name) for side in ("old", "new")] for name in ENVIRONMENTS}
    titles = sorted({title for pair in sides.values() for queues in pair for title in queues})
    found: Figures = {}
    for title in titles:
        having = [name for name, pair in sides.items() if any(title in queues for queues in pair)]
        numbers = {name: [queues.get(title, Counter()) for queues in sides[name]] for name in having}
        while having:
            alike = [name for name in having if numbers[name] == numbers[having[0]]]
            found[title, f"[{', '.join(alike)}]"] = pairs(*numbers[alike[0]])
            having = [name for name in having if name not in alike]
        large = [name for name in numbers if ENVIRONMENTS[name] == "large"]
        if len(large) > 1:
            sums = (sum((numbers[name][side] for name in large), Counter()) for side in (0, 1))
            found[title, f"in cluster large [{', '.join(large)}]"] = pairs(*sums)
    return found


def pairs(before: Counter[str], after: Counter[str]) -> dict[str, tuple[Decimal, Decimal]]:
    names = {"pods", "nodes", *before, *after}
    return {name: (Decimal(before[name]), Decimal(after[name])) for name in names}


def changed(figures: Figures) -> Figures:
    return {key: found for key, found in figures.items() if any(old != new for old, new in found.values())}


def joint(figures: Figures) -> Figures:
    """Return figures in which changed queues of different environments with the same numbers are one."""
    found: Figures = {}
    for (title, scope), numbers in figures.items():
        key = title, scope
        is_joint = title.startswith("queue") and scope.startswith("[") and key in changed(figures)
        for other in [*found] if is_joint else ():
            names = {*other[1][1:-1].split(", "), *scope[1:-1].split(", ")}
            is_alike = other[0].startswith("queue") and other[1].startswith("[") and found[other] == numbers
            if is_alike and len(names) == other[1].count(",") + scope.count(",") + 2:
                del found[other]
                key = f"{other[0]}, {title.removeprefix('queue ')}", f"{other[1][:-1]}, {scope[1:]}"
        found[key] = numbers
    return found


def nonzero(figures: Figures) -> Figures:
    return {key: {name: pair for name, pair in found.items() if any(pair)} for key, found in figures.items()}


def key_of(title: str) -> tuple[str, str]:
    """Return the kind and the scope in a title: `queue ml/gpu in cluster a [dev, prod]`."""
    plain = title.replace("`", "").replace("**", "").lower().replace("each of the queues", "queue")
    found = re.fullmatch(r"(total|no queue|queue \S+(?:, \S+)*) ((?:in cluster \S+ )?\[.*\])", plain)
    assert found, title
    return found[1], found[2]


def read_text(out: str) -> Figures:
    found: Figures = {}
    for line in out.splitlines():
        if line.startswith(("total", "queue", "no queue", "each of")):
            title, _, numbers = line.partition(": ")
            rows = re.findall(r"([^\s,]+) ([0-9.]+[A-Za-z]*)(?: -> (\S+) \((\S+)\))?", numbers)
            for _, before, after, more in rows:
                assert not more or number(after) - number(before) == Decimal(f"{more[0]}1") * number(more[1:])
            found[key_of(title)] = {name: (number(before), number(after or before)) for name, before, after, _ in rows}
    return found


def read_json(out: str) -> Figures:
    found: Figures = {}
    for figure in json.loads(out)["pods"]:
        queue = figure.get("queue")
        title = "total" if queue is None else f"queue {queue}" if queue else "no queue"
        cluster = f"in cluster {figure['sumOfCluster']} " if "sumOfCluster" in figure else ""
        sides = [
            {"pods": side["pods"], "nodes": side["nodes"]} | side["resources"]
            for side in (figure["before"], figure["after"])
        ]
        key = title, f"{cluster}[{', '.join(figure['environments'])}]"
        found[key] = {
            name: (number(sides[0].get(name, 0)), number(sides[1].get(name, 0))) for name in {*sides[0], *sides[1]}
        }
        for side in (figure["before"], figure["after"]):
            assert side["gpus"] == number(side["resources"].get("nvidia.com/gpu", 0))
    return found


def read_markdown(out: str) -> Figures:
    plain = out.replace("`", "").replace("**", "").replace("→", "->")
    return read_text("\n".join(line.removeprefix("- ") for line in plain.splitlines()))


def read_html(out: str) -> Figures:
    page = tinyhtml5.parse(out, namespace_html_elements=False)
    found: Figures = {}
    for table in page.iterfind(".//table[@class='numbers']"):
        caption = "".join(table.find("caption").itertext())
        rows = [["".join(cell.itertext()) for cell in row] for row in table.iterfind(".//tr")][1:]
        found[key_of(caption)] = {name: (number(before), number(after)) for name, before, after, _ in rows}
    return found


READERS = {"text": read_text, "json": read_json, "markdown": read_markdown, "html": read_html}


@pytest.mark.parametrize("form", READERS)
def test_each_figure_is_the_sum_of_the_objects(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASE)
    all_figures = expected()
    assert len(all_figures) > 8
    shown = READERS[form](run("diff", "old", "new", "--format", form).out)
    only_changed = form in {"text", "markdown"}
    wanted = all_figures if form == "json" else joint(all_figures)
    assert nonzero(shown) == nonzero(changed(wanted) if only_changed else wanted)
