"""`trainc graph`: trees and diagrams of golden cases, Mermaid's limits, and escaping of hostile names.

There is no Mermaid parser for Python. `Flowchart` parses only the part of its syntax that trainc writes; any other line
fails.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from batches import one_in_four
from manifests import GOLDEN_CASES, cluster_runtime, replicated_job, train_job
from running import run
from syrupy.assertion import SnapshotAssertion

from trainc.explain.graph.mermaid import LONGEST, MOST, MOST_CHARACTERS, MOST_EDGES, WIDTH, encoded

pytestmark = pytest.mark.usefixtures("empty_root")

GOLDEN = Path(__file__).parents[2] / "golden"
SHOWN = (
    "elastic-gang",
    "env-sources",
    "fetch-then-train",
    "flux-lammps",
    "gang-mpi",
    "gang-volcano",
    "kueue-queue",
    "mpi-solver",
    "mxnet-roles",
    "sweep",
    "torchtune-70b-4x8",
)
HOSTILE = '"]; end\n```\n</div><script>&#quot;#34;`*_%%{init}%%\x1b[31m www.a.de é'

LABEL = r'"([A-Za-z0-9 .,/=()-]|<br/>|#[0-9]+;)*"'
ID = r"[rt][0-9]+(?:[jgn][0-9]+|m)?"
LINES = {
    "begin": re.compile(rf"  subgraph s[0-9]+\[{LABEL}\]"),
    "end": re.compile(r"  end"),
    "box": re.compile(rf" {{2,4}}({ID})(?:\[{LABEL}\]|\[\({LABEL}\)\]|\(\[{LABEL}\]\)|\{{\{{{LABEL}\}}\}})"),
    "class": re.compile(rf"    class ({ID}) expected"),
    "edge": re.compile(rf" {{2,4}}({ID}) (?:-->|-\.-|-->\|{LABEL}\|) ({ID})"),
    "style": re.compile(r"  classDef expected stroke-dasharray: 4 3"),
}


class Flowchart(NamedTuple):
    """A parsed Mermaid block."""

    boxes: dict[str, str]
    edges: list[tuple[str, str]]
    subgraphs: int
    size: int

    @classmethod
    def read(cls, block: str) -> Flowchart:
        first, *lines = block.splitlines()
        assert first == "flowchart LR"
        kinds = [next(kind for kind, pattern in LINES.items() if pattern.fullmatch(line)) for line in lines]
        boxes = {m[1]: text(line) for line in lines if (m := LINES["box"].fullmatch(line))}
        edges = [(m[1], m[m.re.groups]) for line in lines if (m := LINES["edge"].fullmatch(line))]
        # Mermaid rewrites `style…:…#…;` in a line before parsing, so no line may have both a colon and a code.
        assert not [line for line in lines if ":" in line and "#" in line]
        assert kinds.count("begin") == kinds.count("end")
        assert {id for edge in edges for id in edge} <= boxes.keys()
        return cls(boxes, edges, kinds.count("begin"), len(block))


def text(line: str) -> str:
    """Return the text of a box, with codes decoded."""
    label = line[line.index('"') + 1 : line.rindex('"')].replace("<br/>", "\n")
    assert max(map(len, re.sub(r"#[0-9]+;", "x", label).splitlines())) <= (LONGEST if line.startswith("  s") else WIDTH)
    return re.sub(r"#([0-9]+);", lambda match: chr(int(match[1])), label)


def diagrams(markdown: str) -> list[Flowchart]:
    blocks = re.split(r"^```(?:mermaid)?\n", markdown, flags=re.MULTILINE)
    return [Flowchart.read(block) for block in blocks[1::2]]


def named_job(name: str, *, pod: Any = None, **fields: Any) -> Any:
    """Return a replicated job of one container with its name."""
    return replicated_job(name, {"name": name, "resources": {"requests": {"cpu": 1}}}, pod=pod, **fields)


def documents(*jobs: Any, names: tuple[str, ...] = ("j",), spec: Any = None, **of_runtime: Any) -> list[Any]:
    """Return a runtime with these jobs, and TrainJobs that use it."""
    train_jobs = [train_job(name=name, metadata={"namespace": "ns"}) for name in names]
    return [cluster_runtime(*jobs, jobset=spec, **of_runtime), *train_jobs]


def shown(*found: Any, form: str = "text", file: str = "jobs.json") -> str:
    Path(file).write_text("\n".join(map(json.dumps, found)))
    done = run("graph", file, "--format", form)
    assert done.code == 0, done.err
    return done.out


@pytest.mark.parametrize("case", SHOWN)
@pytest.mark.parametrize("form", ["text", "mermaid"])
def test_a_golden_case(case: str, form: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    assert run("graph", "input.yaml", "--format", form).out == snapshot


@pytest.mark.parametrize("case", one_in_four(GOLDEN_CASES))
def test_the_diagram_of_a_golden_case_is_valid(case: str) -> None:
    done = run("graph", str(GOLDEN / case / "input.yaml"), "--format", "mermaid")
    assert (done.code, len(diagrams(done.out))) == (0, 1), done.err


def test_a_job_waits_for_others_or_for_the_previous_one() -> None:
    waits = named_job("node", dependsOn=[{"name": "a", "status": "Complete"}, {"name": "b", "status": "Ready"}])
    assert "node  1 pod  cpu=1  after a is Complete and b is Ready" in shown(
        *documents(named_job("a"), named_job("b"), waits)
    )
    in_order = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}
    assert "node  1 pod  cpu=1  after a is Ready" in shown(*documents(named_job("a"), named_job("node"), spec=in_order))


@pytest.mark.parametrize(
    ("other", "origin"),
    [
        pytest.param([], "must exist", id="expected"),
        pytest.param([{"namespace": "ns"}], "found in jobs.json", id="given"),
        pytest.param([{}], "found in jobs.json", id="given without a namespace"),
        pytest.param([{"namespace": "other"}], "must exist", id="of another namespace"),
        pytest.param([{"name": 7}], "must exist", id="without a name"),
    ],
)
def test_the_origin_of_an_object(other: list[Any], origin: str) -> None:
    node = named_job("node", pod={"volumes": [{"name": "v", "configMap": {"name": "c"}}]})
    others = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", **metadata}} for metadata in other]
    assert f"   └─ ConfigMap  c  {origin}  for node\n" in shown(*documents(node), *others)


@pytest.mark.parametrize(
    ("kind", "name", "spec", "origin"),
    [
        pytest.param("ExternalSecret", "c", {}, "from ExternalSecret in jobs.json", id="an ExternalSecret"),
        pytest.param(
            "ExternalSecret", "a", {"target": {"name": "c"}}, "from ExternalSecret in jobs.json", id="by its target"
        ),
        pytest.param("ExternalSecret", "c", {"target": {"name": "a"}}, "must exist", id="another target"),
        pytest.param("SealedSecret", "c", {}, "from SealedSecret in jobs.json", id="a SealedSecret"),
        pytest.param("TopSecret", "c", {}, "must exist", id="another kind"),
    ],
)
def test_a_secret_that_a_controller_makes(kind: str, name: str, spec: Any, origin: str) -> None:
    node = named_job("node", pod={"volumes": [{"name": "v", "secret": {"secretName": "c"}}]})
    maker = {"apiVersion": "example.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    assert f"   └─ Secret  c  {origin}  for node\n" in shown(*documents(node), maker)


def test_several_jobs_on_one_runtime_share_its_box() -> None:
    (chart,) = diagrams(shown(*documents(named_job("node"), names=("a", "b")), form="mermaid"))
    assert (chart.subgraphs, [id for id in chart.boxes if id.startswith("r")]) == (2, ["r1"])
    assert [edge for edge in chart.edges if "r1" in edge] == [("r1", "t1"), ("r1", "t2")]
    assert next(iter(chart.boxes)) == "r1"


def hostile(count: int = 1) -> list[Any]:
    """Return a TrainJob whose endpoint, files and Secrets have hostile names."""
    refs = [{"name": f"v{n}", "secret": {"secretName": f"{HOSTILE}{n}" * 9}} for n in range(count)]
    node = named_job("node", pod={"volumes": refs})
    return documents(
        node, mlPolicy={"numNodes": 2, "torch": {"elasticPolicy": {"minNodes": 1, "maxNodes": 2, "rdzvHost": HOSTILE}}},
        podGroupPolicy={"volcano": {}},
    )  # fmt: skip


def test_hostile_names_stay_in_their_boxes() -> None:
    file = '"]; click [a](b) `c.json'
    (chart,) = diagrams(shown(*hostile(), form="mermaid", file=file))
    escaped = HOSTILE.replace("\n", "\\n").replace("\x1b", "\\x1b")
    assert chart.boxes["t1"].splitlines()[-1] == "queue default"
    unwrapped = {id: re.sub(r"\s", "", box) for id, box in chart.boxes.items()}
    assert unwrapped["t1m"].startswith("rendezvous" + escaped[:60].replace(" ", ""))
    assert unwrapped["t1n1"].startswith((f"Secret {escaped}"[: LONGEST - 1] + "…").replace(" ", ""))
    assert unwrapped["r1"].endswith(f"torch, in {file}".replace(" ", ""))
    assert (len(chart.boxes), chart.subgraphs) == (6, 1)


def test_hostile_names_on_a_terminal() -> None:
    lines = shown(*hostile()).splitlines()
    assert len(lines) == 9
    assert all(line.isprintable() for line in lines)


def test_a_label_is_letters_and_codes() -> None:
    assert encoded("a.b/c-d=1, (x)") == "a.b/c-d=1, (x)"
    assert encoded("node_" * 6) == "node#95;node#95;node#95;node#95;node<br/>#95;node#95;"
    assert encoded("WWW.a style: _b_ #1;") == "WWW#46;a style#58; #95;b#95; #35;1#59;"
    assert encoded("🙂\udc80") == "#128578;#92;udc80"


def test_the_largest_trainjob_is_drawn_in_part() -> None:
    spec = hostile(40)
    template = spec[0]["spec"]["template"]["spec"]
    volumes = template["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["volumes"]
    template["replicatedJobs"] += [named_job(f"j{n}", pod={"volumes": volumes}) for n in range(30)]
    (chart,) = diagrams(shown(*spec, form="mermaid"))
    assert (chart.boxes["t1j0"], chart.boxes["t1n0"]) == ("and 21 more jobs", "and 30 more objects")
    assert [id for id in chart.boxes if re.fullmatch("t1j[0-9]+", id)] == [f"t1j{n}" for n in (*range(1, MOST + 1), 0)]
    assert (chart.size <= MOST_CHARACTERS, len(chart.edges) < MOST_EDGES) == (True, True)


@pytest.mark.parametrize(
    ("jobs", "needs", "count", "drawn"),
    [
        pytest.param(2, 0, 400, [166, 166, 68], id="edges"),
        pytest.param(1, 10, 90, [28, 28, 28, 6], id="characters"),
    ],
)
def test_a_diagram_beyond_the_limits_is_split(jobs: int, needs: int, count: int, drawn: list[int]) -> None:
    volumes = [{"name": f"v{n}", "secret": {"secretName": f"{n}{'s' * 60}"}} for n in range(needs)]
    replicated = [named_job(f"j{n}", pod={"volumes": volumes}) for n in range(jobs)]
    names = [f"job-{n:03}" for n in range(count)]
    markdown = shown(*documents(*replicated, names=tuple(names)), form="mermaid")
    charts = diagrams(markdown)
    assert [chart.subgraphs for chart in charts] == drawn
    assert [chart for chart in charts if chart.size > MOST_CHARACTERS or len(chart.edges) >= MOST_EDGES] == []
    first = markdown.splitlines()[0]
    assert first == f"Diagram 1 of {len(drawn)}: ns/{names[0]} to ns/{names[drawn[0] - 1]}"


def test_only_one_of_them_in_another_namespace() -> None:
    found = documents(named_job("node"), names=("a", "b"))
    for document in found[1:]:
        del document["metadata"]["namespace"]
    Path("jobs.json").write_text("\n".join(map(json.dumps, found)))
    done = run("graph", "jobs.json", "--only", "b", "-n", "team")
    assert re.findall("TrainJob .*", done.out) == ["TrainJob b in namespace team (jobs.json)"]


def test_errors_are_those_of_build() -> None:
    graph, build = (run(command, str(GOLDEN / "wrong-types" / "input.yaml")) for command in ("graph", "build"))
    assert (graph.code, graph.out, graph.err) == (1, "", build.err)


def test_nothing_to_show_is_an_error() -> None:
    done = run("graph", str(GOLDEN.parent / "runtimes"))
    assert (done.code, done.out, "no-trainjob" in done.err) == (1, "", True)
