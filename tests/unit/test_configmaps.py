"""Runtimes in ConfigMaps: found in any kind of string, with their places in the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from purposes import internal
from running import NO_LINT, run

import trainc
from trainc.base.kinds import COMPILED
from trainc.compilation.run import Options
from trainc.diagnostics import Place
from trainc.frontends.reading import Reading
from trainc.kubernetes.documents import read_stream
from trainc.kubernetes.trees import get

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: {name}
spec:
  mlPolicy:
    numNodes: 2
    torch: {{}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata:
            labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: "ghcr.io/acme/train:1" # it's pinned
                  command:
                  - sh
                  - -c
                  - |
                    # an "indented" script

                    python train.py
"""
ONE = RUNTIME.format(name="one")
TWO = ONE + "---\n# the second\n" + RUNTIME.format(name="two")
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: one}
"""
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: installer}\ndata:\n"


def indented(text: str, by: str = "    ") -> str:
    return "".join(f"{by}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


def literal(text: str, header: str = "|") -> str:
    return f"{HEAD}  runtimes.yaml: {header}\n{indented(text)}"


def dumped(text: str, **how: Any) -> str:
    """Return the ConfigMap as PyYAML writes it."""
    scalar = str(yaml.safe_dump(text, **how))
    return HEAD + "  runtimes.yaml: " + scalar.replace("\n", "\n    ").rstrip(" ")


def objects(text: str, indent: int | None) -> str:
    """Return the documents of a text as JSON objects."""
    return "".join(json.dumps(tree, indent=indent) + "\n" for tree in yaml.safe_load_all(text))


def as_json(text: str, **how: Any) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "data": {"runtimes.yaml": text}}, **how)


WRITTEN = {
    "literal": literal(TWO),
    "literal, the chart's": literal("---\n" + TWO + "---\n"),
    "literal, stripped": literal(TWO, "|-"),
    "literal, with a tag and an anchor": literal(TWO, "!!str &it |"),
    "literal, with line breaks of Windows": literal(TWO).replace("\n", "\r\n"),
    "literal, JSON": literal(objects(TWO, 1)),
    "literal, JSON in one line each": literal(objects(TWO, None)),
    "literal, JSON in one line": literal(objects(TWO, None).replace("\n{", "{")),
    "folded": f"{HEAD}  runtimes.yaml: >\n{indented(objects(TWO, 0))}",
    "in single quotes": f"{HEAD}  runtimes.yaml: '" + indented(objects(TWO, 0)).strip().replace("'", "''") + "'\n",
    "in double quotes": dumped(TWO, default_style='"', width=80),
    "in double quotes, on one line": dumped(TWO, default_style='"', width=100_000),
    "JSON": as_json(TWO),
    "JSON on several lines": as_json(TWO, indent=2),
    "in a List": "apiVersion: v1\nkind: List\nitems:\n- " + indented(literal(TWO), "  ")[2:],
    "behind another document": "a: 1\n---\n" + literal(TWO),
}


def reading(text: str, tmp_path: Path) -> Reading:
    (tmp_path / "installer.yaml").write_bytes(text.encode())
    read = Reading(kinds=COMPILED)
    read.gather([str(tmp_path / "installer.yaml")])
    return read


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(tree, dict | list):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return [leaf for key, value in items for leaf in leaves(value, (*path, key))]
    return [path]


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in WRITTEN.items()])
def test_every_field_is_at_its_place(text: str, tmp_path: Path) -> None:
    read = reading(text, tmp_path)
    assert read.diagnostics == []
    assert len(read.documents["runtime"]) == 2
    lines = text.replace("\r\n", "\n").split("\n")
    for document in read.documents["runtime"]:
        for path in leaves(document.value):
            value = str(get(document.value, path))
            at = Place(document, path).locate()
            shown = lines[at.line - 1][at.column - 1 :].strip("\"'\\")
            if shown and "\n" not in value and value != "{}":  # nothing is left of a quote at the end of a line
                assert shown.replace("''", "'").startswith(value.split(" ", maxsplit=1)[0]), (path, at)
            if at.end_line == at.line and value.isalnum():
                assert value in lines[at.line - 1][at.column - 1 : at.end_column - 1]
            key = next(step for step in reversed(path) if isinstance(step, str))
            named = Place(document, path[: path.index(key) + 1], key=True).locate()
            assert lines[named.line - 1][named.column - 1 :].lstrip("\"'\\").startswith(key.split("/")[0]), (
                path,
                named,
            )


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in WRITTEN.items()])
def test_the_configmap_is_a_document_of_another_kind(text: str, tmp_path: Path) -> None:
    read = reading(text, tmp_path)
    (configmap,) = [document for document in read.documents["other"] if document.value.get("kind") == "ConfigMap"]
    assert configmap.value["data"] == get(read_stream(text)[0][-1].value, (*configmap.within, "data"))


NOT_OURS = {
    "a template": literal("kind: ClusterTrainingRuntime\nmetadata: {{ .Values }}\n# trainer.kubeflow.org\n"),
    "a script": literal("# trainer.kubeflow.org\nprint('TrainingRuntime')\n"),
    "a TrainJob": literal(JOB + "# TrainingRuntime\n"),
    "another group": literal(ONE.replace("trainer.kubeflow.org/v1alpha1", "acme.io/v1") + "# kubeflow.org\n"),
    "a broken runtime": literal(ONE + "  : [\n"),
    "a number": HEAD + "  replicas: 1\n",
    "no mapping": "apiVersion: v1\nkind: ConfigMap\ndata: [TrainingRuntime]\n",
    "no data": "apiVersion: v1\nkind: ConfigMap\n",
    "more than a ConfigMap can hold": literal(ONE + "# " + "x" * 2**20 + "\n"),
    "a Secret": literal(ONE).replace("ConfigMap", "Secret"),
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in NOT_OURS.items()])
def test_what_is_not_ours(text: str, tmp_path: Path) -> None:
    read = reading(text, tmp_path)
    assert (read.diagnostics, read.documents["runtime"], len(read.documents["other"])) == ([], [], 1)


FAULTS = {
    "a field, with its line": (
        literal(ONE.replace("numNodes: 2", 'numNodes: "2"')),
        """\
installer.yaml:12:19: error[wrong-type]: numNodes must be an integer, not the string "2"
  12 |         numNodes: "2"
     |                   ^^^
  help: remove the quotes: 2
""",
    ),
    "a secret is masked": (
        literal(
            ONE.replace("command:", "env: [{name: HF_TOKEN, value: hf_abcdef, valu: x}]\n                  command:")
        ),
        """\
installer.yaml:27:64: error[unknown-field]""",
    ),
    "a field in a quoted string": (
        as_json(ONE.replace("numNodes: 2", "numNodes: two")),
        """\
installer.yaml:1:201: error[wrong-type]: numNodes must be an integer, not the string "two"
""",
    ),
    "another document of the value": (
        literal(ONE + "---\na: 1\na: 2\n"),
        """\
installer.yaml:36:5: error[yaml]: the key "a" is already set on line 35
  36 |     a: 2
     |     ^
""",
    ),
    "another version": (
        literal(ONE + "---\n" + ONE.replace("v1alpha1", "v2", 1)),
        """\
installer.yaml:35:17: error[unknown-version]""",
    ),
    "a second one": (
        literal(ONE) + "---\n" + ONE.replace("train:1", "train:2") + "---\n" + JOB,
        """\
installer.yaml:68:22: error[duplicate-runtime]: 2 ClusterTrainingRuntimes with different specs are named "one", and \
none is nearer to the TrainJob: installer.yaml:9:13 and installer.yaml:38:9
  68 |   runtimeRef: {name: one}
     |                      ^^^
  installer.yaml:9:13: one of the runtimes
   9 |       name: one
     |             ---
""",
    ),
}


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*row, id=name) for name, row in FAULTS.items()])
def test_a_fault(text: str, expected: str, empty_folder: Path) -> None:
    Path("installer.yaml").write_text(text)
    done = run("validate", "installer.yaml")
    assert done.code == 1
    assert expected in done.out
    assert "hf_abcdef" not in done.out


def test_a_trainjob_refers_to_it(tmp_path: Path) -> None:
    (tmp_path / "installer.yaml").write_text(literal(ONE))
    (tmp_path / "plain.yaml").write_text(ONE)
    (tmp_path / "job.yaml").write_text(JOB)
    job, installer, plain = (str(tmp_path / name) for name in ("job.yaml", "installer.yaml", "plain.yaml"))
    done = internal(trainc.compile([job, installer], options=Options(settings=NO_LINT)))
    assert done.diagnostics == ()
    kinds = [checked.object.kind for checked in done.checked]
    assert (kinds, [document.value["kind"] for document in done.others]) == (
        ["TrainJob", "ClusterTrainingRuntime"],
        ["ConfigMap"],
    )
    assert done.objects == trainc.compile([job, plain], options=Options(settings=NO_LINT)).objects
    assert done.objects == trainc.compile([job], options=Options(runtimes=[installer], settings=NO_LINT)).objects


def test_passthrough_keeps_the_configmap(tmp_path: Path) -> None:
    text = literal(ONE)
    (tmp_path / "installer.yaml").write_text(text)
    (tmp_path / "job.yaml").write_text(JOB)
    assert run("build", str(tmp_path), "--passthrough").out.endswith("---\n" + text)


def test_the_namespace_of_those_that_have_none(tmp_path: Path) -> None:
    text = literal(ONE.replace("ClusterTrainingRuntime", "TrainingRuntime"))
    (tmp_path / "installer.yaml").write_text(text)
    (tmp_path / "job.yaml").write_text(JOB.replace("{name: one}", "{name: one, kind: TrainingRuntime}"))
    done = internal(trainc.compile([str(tmp_path)], options=Options(namespace="team", settings=NO_LINT)))
    assert [job.plan.runtime.id.namespace for job in done.jobs] == ["team"]


def test_it_is_listed_and_printed(empty_folder: Path) -> None:
    Path("installer.yaml").write_text(literal(TWO))
    listed = json.loads(run("runtimes", "list", "--format", "json").out)
    assert [(one["name"], one["line"]) for one in listed if not one["builtIn"]] == [("one", 6), ("two", 35)]
    assert run("runtimes", "show", "one").out == ONE


def test_upgrade_leaves_it_alone(empty_folder: Path) -> None:
    text = literal(ONE.replace("torch: {}", "torch: {numProcPerNode: auto}"))
    Path("installer.yaml").write_text(text)
    done = run("upgrade", "--write", "installer.yaml")
    assert (done.code, "it is a part of a string, in a ConfigMap" in done.err) == (1, True)
    assert Path("installer.yaml").read_text() == text


def test_a_krm_function_keeps_the_configmap() -> None:
    configmap, job = yaml.safe_load(literal(ONE)), yaml.safe_load(JOB)
    listed = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [configmap, job]}
    answer = yaml.safe_load(run("krm", stdin=json.dumps(listed).encode()).out)
    assert [item["kind"] for item in answer["items"]] == ["ConfigMap", "JobSet"]
    configmap["data"]["runtimes.yaml"] += "  x: 1\n"
    answer = yaml.safe_load(run("krm", stdin=json.dumps(listed).encode()).out)
    (result,) = [each for each in answer["results"] if each["severity"] == "error"]
    assert result["resourceRef"] == {"apiVersion": "v1", "kind": "ConfigMap", "name": "installer"}
    assert result["field"]["path"] == "data.runtimes.yaml"


def aliased(text: str, count: int, name: str = "installer") -> str:
    head = HEAD.replace("installer", name)
    return f"{head}  a: &x {json.dumps(text)}\n" + "".join(f"  b{index}: *x\n" for index in range(count))


def test_a_text_counts_as_often_as_aliases_repeat_it_and_is_parsed_once(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def parse(text: str) -> Any:
        parsed.append(text)
        return read_stream(text)

    monkeypatch.setattr("trainc.frontends.configmaps.read_stream", parse)
    Path("a.yaml").write_text(f"{aliased(ONE, 3)}---\n{aliased(ONE, 2, 'other')}")
    reading = Reading(kinds=COMPILED)
    reading.gather(["a.yaml"])
    runtimes = reading.documents["runtime"]
    assert (len(runtimes), parsed.count(ONE)) == (7, 1)
    assert len({document.identity for document in runtimes}) == 7
    places = [str(Place(document, ("kind",)).locate()) for document in runtimes]
    assert places == ["a.yaml:5:59"] * 4 + ["a.yaml:14:59"] * 3
    assert 7 * len(ONE) < reading.meter.used["input bytes"] < 7 * len(ONE) + Path("a.yaml").stat().st_size


@pytest.mark.parametrize(("aliases", "runtimes"), [(1, 2), (2, 0)])
def test_a_config_map_above_1_mib_is_not_searched(aliases: int, runtimes: int, empty_folder: Path) -> None:
    Path("a.yaml").write_text(aliased(ONE + f"# {'é' * 200_000}\n", aliases))
    reading = Reading(kinds=COMPILED)
    reading.gather(["a.yaml"])
    assert len(reading.documents["runtime"]) == runtimes
