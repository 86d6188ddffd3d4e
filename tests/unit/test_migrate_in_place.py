"""`trainc migrate --write`: the new documents are where the legacy jobs were, and nothing else in the file moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from running import run

pytestmark = pytest.mark.usefixtures("empty_folder")

LIST = """\
# Everything of the team.
apiVersion: v1
kind: List   # of three
items:
  # First.
  -   {kind: Secret,   apiVersion: v1, metadata: {name: s}}

  # Trains on one node.
  - apiVersion: kubeflow.org/v1
    kind: PyTorchJob
    metadata: {name: mnist}
    spec:
      pytorchReplicaSpecs:
        Master:
          replicas: 1
          template:
            spec:
              containers:
                - name: pytorch
                  image: docker.io/acme/mnist:v1  # nightly
                  args:
                    - --lr=3
                    # - --fast
                  command: [python, mnist.py]
                  resources: {limits: {cpu: 4, memory: 8Gi}}
                  # End of the job.

  # Last.
  - "apiVersion": 'v1'
    kind: ConfigMap
    metadata:   {name: c}
    data:
        a: |
             text   \n\
# The end.
"""
ITEM = LIST[LIST.index("apiVersion: kubeflow") : LIST.index("\n\n  # Last.")]
NEW_ITEM = """\
apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata: {name: mnist}
    spec:
      runtimeRef:
        name: RUNTIME
      trainer:
        numNodes: 1
        image: docker.io/acme/mnist:v1  # nightly
        command: [python, mnist.py]
        args:
          - --lr=3
          # - --fast
        env:
          - name: WORLD_SIZE
            value: "1"  # repeats numNodes
        resourcesPerNode: {limits: {cpu: 4, memory: 8Gi}}"""
VOLCANO = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: dlrm}
spec:
  plugins: {tensorflow: []}
  tasks:
  - name: ps
    replicas: 1
    template: &template
      spec:
        restartPolicy: OnFailure
        containers:
        - name: tensorflow
          image: docker.io/acme/tf:v1
          command: [python, train.py]
          resources: {limits: {cpu: 4, memory: 8Gi}}
  - {name: worker, replicas: 2, template: *template}
"""


def item(text: str, column: int = 2) -> str:
    """Return a document as an item of a List whose fields are in a column."""
    return f"{' ' * (column - 2)}- " + text.rstrip().replace("\n", "\n" + " " * column) + "\n"


def rewritten(name: str, before: bytes) -> bytes:
    """Return the content of a file after `migrate --write`, which is compiled to the same pods."""
    Path(name).write_bytes(before)
    done = run("migrate", name, "--write")
    assert done.code == 0, done.err
    assert run("migrate", name, "--check").code == 0
    assert run("build", name, "-r", "runtimes", "-o", "out").code == 0
    return Path(name).read_bytes()


def runtime() -> str:
    """Return the name of the only runtime."""
    [path] = Path("runtimes").iterdir()
    return path.stem


def test_an_item_of_a_list() -> None:
    new = rewritten("list.yaml", LIST.encode()).decode()
    assert new == LIST.replace(ITEM, NEW_ITEM.replace("RUNTIME", runtime()))
    assert "                    # End of the job.\n" in Path(f"runtimes/{runtime()}.yaml").read_text()


def test_an_item_in_a_file_of_its_own_has_its_comments() -> None:
    Path("list.yaml").write_text(LIST.replace("- apiVersion: kubeflow", "- # On one GPU.\n    apiVersion: kubeflow"))
    assert run("migrate", "list.yaml", "-o", "new").code == 0
    head = "# Trains on one node.\n# On one GPU.\napiVersion: trainer.kubeflow.org/v1alpha1\n"
    assert Path("new/list.yaml").read_text().startswith(head)


def test_line_breaks_and_marks() -> None:
    whole = "\ufeff" + LIST.replace("\n", "\r\n").removesuffix("\r\n")
    new = rewritten("list.yaml", whole.encode()).decode()
    assert new == whole.replace(
        ITEM.replace("\n", "\r\n"), NEW_ITEM.replace("RUNTIME", runtime()).replace("\n", "\r\n")
    )


def test_the_last_item_of_a_file_without_a_line_break() -> None:
    whole = LIST[: LIST.index("\n\n  # Last.")]
    new = rewritten("list.yaml", whole.encode()).decode()
    assert new == whole.replace(ITEM, NEW_ITEM.replace("RUNTIME", runtime()))


@pytest.mark.parametrize("mark", ["", "\ufeff", "\ufeff# Ours.\n---\n", "--- # a job\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "\n# The foot.\n\n"])
def test_a_document_beside_others(mark: str, newline: str, end: str) -> None:
    job = ITEM.replace("\n    ", "\n").partition("\n                  # End")[0]
    new = NEW_ITEM.replace("\n    ", "\n")
    other = "---   \n{kind: Secret,   apiVersion: v1, metadata: {name: s}}\n...\n"
    whole = (mark + "\n# The job.\n\n" + job + end).replace("\n", newline)
    whole += (newline if not end else "") + other.replace("\n", newline)
    found = rewritten("all.yaml", whole.encode()).decode()
    assert found == whole.replace(job.replace("\n", newline), new.replace("RUNTIME", runtime()).replace("\n", newline))


def test_the_file_of_a_kustomization() -> None:
    Path("kustomization.yaml").write_text("resources: [all.yaml]\n")
    whole = (
        "# The job.\n"
        + ITEM.replace("\n    ", "\n")
        + "\n---\nkind:   ConfigMap\napiVersion: v1\nmetadata: {name: c}\n"
    )
    Path("all.yaml").write_text(whole)
    assert run("migrate", ".", "--write").code == 0
    head, _, tail = whole.partition(ITEM.replace("\n    ", "\n"))
    new = Path("all.yaml").read_text()
    assert new.startswith(head + "apiVersion: trainer.kubeflow.org")
    assert new.endswith(tail)
    assert Path("kustomization.yaml").read_text() == "resources: [all.yaml]\n"


def test_the_anchors_of_an_item_are_expanded_elsewhere() -> None:
    job = ITEM.replace("{name: mnist}", "&meta {name: mnist}").replace("{cpu: 4", "&limits {cpu: 4")
    job = job.replace("docker.io", "&image docker.io")
    other = "  - {kind: Other, metadata: *meta, data: {a: *limits, b: *image}}  # mine\n"
    merged = "  - kind: Other\n    metadata:\n      <<: *meta\n      labels: &own {a: b}\n    also: *own\n"
    whole = LIST.replace(ITEM, job).replace("  # Last.\n", f"  # Last.\n{other}{merged}")
    new = rewritten("list.yaml", whole.encode()).decode()
    values = 'metadata: {name: mnist}, data: {a: {cpu: 4, memory: 8Gi}, b: "docker.io/acme/mnist:v1"}}  # mine\n'
    expected = f"  # Last.\n  - {{kind: Other, {values}{merged.replace('*meta', '{name: mnist}')}"
    assert new == LIST.replace(ITEM, NEW_ITEM.replace("RUNTIME", runtime())).replace("  # Last.\n", expected)


def test_an_item_with_the_anchors_of_another_one() -> None:
    job = ITEM.replace("{cpu: 4, memory: 8Gi}", "*limits")
    whole = LIST.replace(ITEM, job).replace("{name: s}", "{name: s}, data: &limits {cpu: 4, memory: 8Gi}")
    new = rewritten("list.yaml", whole.encode()).decode()
    expected = NEW_ITEM.replace("RUNTIME", runtime())
    assert new == whole.replace(job.partition("\n                  # End")[0], expected).replace(
        "\n                  # End of the job.", ""
    )


def test_an_item_that_is_an_alias_stays() -> None:
    whole = LIST.replace("apiVersion: kubeflow", "&job\n    apiVersion: kubeflow").replace("  # Last.\n", "  - *job\n")
    Path("list.yaml").write_text(whole)
    done = run("migrate", "list.yaml", "--write")
    assert (done.code, Path("list.yaml").read_text()) == (1, whole)


def test_items_in_brackets() -> None:
    job = json.dumps(yaml.safe_load(ITEM.replace("\n    ", "\n")))
    whole = f"kind: List\nitems: [{{kind: Secret,   apiVersion: v1, metadata: {{name: s}}}},\n  {job}  # mine\n  ]\n"
    new = rewritten("list.yaml", whole.encode()).decode()
    head, tail = whole.split(job)
    assert new.startswith(f"{head}{{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: ")
    assert new.endswith(tail)


@pytest.mark.parametrize("indent", [None, 2, 4, "\t"])
def test_items_in_json(indent: int | str | None) -> None:
    job = yaml.safe_load(ITEM.replace("\n    ", "\n"))
    others = [{"kind": "Secret", "apiVersion": "v1"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
    whole = {"kind": "List", "items": [others[0], job, others[1]], "apiVersion": "v1"}
    new = rewritten("list.json", json.dumps(whole, indent=indent).encode()).decode()
    items = json.loads(new)["items"]
    assert [each["kind"] for each in items] == ["Secret", "TrainJob", "ConfigMap"]
    assert new == json.dumps(whole | {"items": items}, indent=indent)


@pytest.mark.parametrize("layout", [" {x}", "{x}\n", "\n\n{x}"])
def test_only_the_item_changes_in_json(layout: str) -> None:
    job = json.dumps(yaml.safe_load(ITEM.replace("\n    ", "\n")))
    whole = layout.replace("{x}", f'{{"items"  : [ {{"kind": "Secret" ,"apiVersion":"v1"}},{job} ], "kind":"List"}}')
    new = rewritten("list.json", whole.encode()).decode()
    head, tail = whole.split(job)
    assert (new.startswith(head), new.endswith(tail)) == (True, True)


@pytest.mark.parametrize("column", [2, 4, 7])
def test_the_files_of_a_volcano_job_are_the_next_items(column: int) -> None:
    other = item("kind:   Other\n# x\napiVersion: v1", column)
    whole = f"kind: List\nitems:\n{item(VOLCANO, column)}\n{other}# The end."
    new = rewritten("list.yaml", whole.encode()).decode()
    assert new.endswith(f"\n{other}# The end.")
    assert [each["kind"] for each in yaml.safe_load(new)["items"]] == ["TrainJob", "ConfigMap", "Other"]
    assert new.count("\n" + " " * (column - 2) + "- ") == 3


@pytest.mark.parametrize("form", [json.dumps, lambda tree: json.dumps(tree, indent=2)])
def test_the_files_of_a_volcano_job_are_the_next_items_in_json(form: Callable[[object], str]) -> None:
    whole = {"kind": "List", "items": [yaml.safe_load(VOLCANO), {"kind": "Other"}]}
    new = rewritten("list.json", form(whole).encode()).decode()
    assert [each["kind"] for each in json.loads(new)["items"]] == ["TrainJob", "ConfigMap", "Other"]
    assert new == form(json.loads(new))


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_wide_characters(codec: str) -> None:
    new = rewritten("list.yaml", f"\ufeff{LIST}".encode(codec)).decode(codec)
    assert new == "\ufeff" + LIST.replace(ITEM, NEW_ITEM.replace("RUNTIME", runtime()))


def test_several_items() -> None:
    names = ("one", "two", "three")
    jobs = [ITEM.replace("mnist}", f"{name}}}") for name in names]
    whole = "kind: List\nitems:\n" + "\n".join(
        f"  # {name}\n  - {job}\n" for name, job in zip(names, jobs, strict=True)
    )
    new = rewritten("list.yaml", whole.encode()).decode()
    for name, job in zip(names, jobs, strict=True):
        whole = whole.replace(job, NEW_ITEM.replace("RUNTIME", runtime()).replace("mnist}", f"{name}}}"))
    assert new == whole
