"""`trainc krm`: the items of the answer and their files, the functionConfig, and the results."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run
from syrupy.assertion import SnapshotAssertion

Tree = dict[str, Any]

PATH, INDEX = "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/index"
OLD_PATH, OLD_INDEX = "config.kubernetes.io/path", "config.kubernetes.io/index"
PACKAGE = "internal.config.kubernetes.io/package-path"
LOCAL = {"config.kubernetes.io/local-config": "true"}
CONFIG = {"apiVersion": "trainc.dev/v1alpha1", "kind": "TrainJobCompiler", "metadata": {"name": "compile"}}


def job_item(name: str = "a", runtime: str = "plain", trainer: Tree | None = None, **annotations: Any) -> Tree:
    spec: Tree = {"runtimeRef": {"name": runtime}, "trainer": {"image": "team/train:1"} | (trainer or {})}
    return thing("trainer.kubeflow.org/v1alpha1", "TrainJob", name, annotations.get("on")) | {"spec": spec}


def thing(version: str, kind: str, name: str, annotations: Tree | None = None) -> Tree:
    metadata: Tree = {"name": name} | ({"annotations": annotations} if annotations else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def at(path: str, index: int, **more: str) -> Tree:
    return {PATH: path, INDEX: str(index)} | more


RUNTIME = thing("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", "ours") | {
    "spec": yaml.safe_load(Path(__file__).parents[2].joinpath("runtimes", "plain.yaml").read_text())["spec"]
}
CLAIM = thing("v1", "PersistentVolumeClaim", "data", {INDEX: "7", "kustomize.config.k8s.io/id": "x"}) | {
    "spec": {"z": "no", "a": 1.5}
}


def listed(*items: Any, config: Tree | None = None, **fields: Any) -> bytes:
    tree = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": list(items)} | fields
    return yaml.safe_dump(tree | ({"functionConfig": config} if config else {}), sort_keys=False).encode()


def answer(*items: Any, config: Tree | None = None, code: int = 0) -> Tree:
    done = run("krm", stdin=listed(*items, config=config))
    assert done.code == code, done.err
    found: Tree = yaml.safe_load(done.out)
    return found


def names(tree: Tree) -> list[str]:
    return [f"{item['kind']} {item['metadata']['name']}" for item in tree["items"]]


JOBSET, HOSTFILE, CLAIMED = "JobSet a", "ConfigMap a-mpi-hostfile", "PersistentVolumeClaim data"


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([job_item()], [JOBSET], id="a TrainJob becomes a JobSet"),
        pytest.param([CLAIM, job_item(), CLAIM], [CLAIMED, JOBSET, CLAIMED], id="in its place"),
        pytest.param([job_item(runtime="openmpi-distributed")], [JOBSET, HOSTFILE], id="and its other objects"),
        pytest.param([RUNTIME, job_item(runtime="ours")], [JOBSET], id="a runtime is used and removed"),
        pytest.param(
            [job_item(on=LOCAL), RUNTIME | {"metadata": {"name": "ours", "annotations": LOCAL}}],
            ["TrainJob a", JOBSET, "ClusterTrainingRuntime ours"],
            id="local configuration stays",
        ),
        pytest.param(
            [thing("jobset.x-k8s.io/v1alpha2", "JobSet", "a"), job_item(on=LOCAL)],
            [JOBSET, "TrainJob a"],
            id="and replaces the objects of a previous run",
        ),
        pytest.param([{"apiVersion": "v1", "kind": "List", "items": [CLAIM, job_item()]}],
                     [JOBSET, CLAIMED], id="a List"),
        pytest.param([CLAIM], [CLAIMED], id="nothing to do"),
        pytest.param([], [], id="nothing at all"),
    ],
)  # fmt: skip
def test_the_items_of_the_answer(items: list[Tree], expected: list[str]) -> None:
    found = answer(*items)
    assert names(found) == expected


def test_other_kinds_are_unchanged() -> None:
    done = run("krm", stdin=listed(CLAIM, job_item()))
    kept = yaml.safe_dump([CLAIM], sort_keys=False).replace("'", '"')
    assert kept in done.out.replace("'", '"')


PLACES: list[Any] = [
    pytest.param([job_item(on=at("a.yaml", 0))], [("a.yaml", "0")], id="the TrainJob's"),
    pytest.param(
        [job_item(runtime="openmpi-distributed", on=at("a.yaml", 0)), thing("v1", "Pod", "p", at("a.yaml", 3))],
        [("a.yaml", "0"), ("a.yaml", "4"), ("a.yaml", "3")],
        id="then the end of its file",
    ),
    pytest.param(
        [job_item(on=at("dir/a.yaml", 2, **LOCAL))],
        [("dir/a.yaml", "2"), ("dir/a.jobset.yaml", "0")],
        id="a file beside",
    ),
    pytest.param(
        [
            job_item(runtime="openmpi-distributed", on=at("a.yaml", 0, **LOCAL)),
            thing("v1", "ConfigMap", "a-mpi-hostfile", at("a.jobset.yaml", 1)),
            thing("jobset.x-k8s.io/v1alpha2", "JobSet", "a", at("a.jobset.yaml", 0)),
        ],
        [("a.yaml", "0"), ("a.jobset.yaml", "1"), ("a.jobset.yaml", "0")],
        id="its previous location",
    ),
    pytest.param([job_item(on={OLD_PATH: "a.yaml", OLD_INDEX: 2})], [(None, None)], id="the legacy names"),
    pytest.param([job_item(on={INDEX: "3"})], [(None, None)], id="no path"),
]


@pytest.mark.parametrize(("items", "expected"), PLACES)
def test_where_the_objects_are_written(items: list[Tree], expected: list[tuple[str | None, str | None]]) -> None:
    annotations = [item["metadata"].get("annotations", {}) for item in answer(*items)["items"]]
    assert [(each.get(PATH), each.get(INDEX)) for each in annotations] == expected


def test_internal_annotations_are_not_copied_to_objects() -> None:
    annotations = {
        OLD_PATH: "a.yaml",
        OLD_INDEX: "1",
        PATH: "a.yaml",
        INDEX: "1",
        PACKAGE: "sub",
        "config.k8s.io/id": "4",
        "internal.config.kubernetes.io/id": "4",
        "internal.config.kubernetes.io/previousNames": "a,a",
        "kustomize.config.k8s.io/id": "kind: TrainJob",
        "config.kubernetes.io/origin": "path: a.yaml",
        "internal.kpt.dev/upstream-identifier": "x",
        "config.kubernetes.io/depends-on": "the user's",
        "team": "search",
    }
    jobset, hostfile = answer(job_item(runtime="openmpi-distributed", on=annotations))["items"]
    written = {"config.kubernetes.io/depends-on": "the user's", "team": "search", PACKAGE: "sub"}
    places = {OLD_PATH: "a.yaml", PATH: "a.yaml", OLD_INDEX: "1", INDEX: "1"}
    assert jobset["metadata"]["annotations"] == written | places
    assert hostfile["metadata"]["annotations"] == written | places | {OLD_INDEX: "2", INDEX: "2"}
    assert "config.k" not in str(jobset["spec"])


def config(**spec: Any) -> Tree:
    return CONFIG | {"spec": spec}


def config_map(**data: Any) -> Tree:
    return thing("v1", "ConfigMap", "f") | {"data": data}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a working directory with a TrainJob, a runtime and settings."""
    folder = tmp_path / "work"
    (folder / "jobs").mkdir(parents=True)
    (folder / "jobs" / "b.yaml").write_text(yaml.safe_dump(job_item("b")))
    (folder / "rt.yaml").write_text(yaml.safe_dump(RUNTIME))
    (folder / "trainc.yaml").write_text("lint: {strict: true}\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("items", "config", "expected"),
    [
        pytest.param([], config(paths=["jobs"]), ["JobSet b"], id="files"),
        pytest.param([job_item()], config(paths=["jobs/b.yaml"]), [JOBSET, "JobSet b"], id="files besides the items"),
        pytest.param([], config_map(paths="jobs"), ["JobSet b"], id="a ConfigMap"),
        pytest.param([job_item(runtime="ours")], config(runtimes=["./rt.yaml"]), [JOBSET], id="runtimes"),
        pytest.param([job_item(runtime="ours")], config_map(runtimes="jobs, rt.yaml"), [JOBSET], id="a list as text"),
        pytest.param([job_item(), job_item("b")], config(only="b"), ["JobSet b"], id="only one"),
        pytest.param([job_item()], config_map(strict="false"), [JOBSET], id="a boolean as text"),
        pytest.param([job_item()], CONFIG, [JOBSET], id="no spec"),
        pytest.param([job_item()], thing("v1", "ConfigMap", "f"), [JOBSET], id="no data"),
        pytest.param([CONFIG], config(paths=["jobs"]), ["TrainJobCompiler compile", "JobSet b"], id="a generator"),
    ],
)
def test_the_request_of_a_config(items: list[Tree], config: Tree, expected: list[str]) -> None:
    assert names(answer(*items, config=config)) == expected


def test_the_options_for_objects() -> None:
    options = config(namespace="team", suspend=True, argocdReplace=True, nameSuffixHash=True)
    jobset = answer(job_item(), config=options)["items"][0]
    assert jobset["metadata"]["namespace"] == "team"
    assert jobset["metadata"]["name"].startswith("a-")
    assert jobset["metadata"]["annotations"] == {"argocd.argoproj.io/sync-options": "Force=true,Replace=true"}
    assert jobset["spec"]["suspend"] is True


WRONG = {
    "an unknown field": config(runtime=["x"]),
    "an unknown field of data": config_map(stirct="true"),
    "a wrong type": config(strict="yes"),
    "a boolean that is none": config_map(strict="yes"),
    "data that is a list": thing("v1", "ConfigMap", "f") | {"data": ["x"]},
    "a path that leads out": config(paths=["jobs/../../x"]),
    "an absolute path": config(runtimes=["/etc"]),
    "a path in a list of text": config_map(paths="jobs,../x"),
    "settings elsewhere": config(settings="../trainc.yaml"),
    "a path with NUL": config(paths=["a\0b"]),
    "a hidden path": config(paths=["jobs/.git/config"]),
    "standard input": config(paths=["-"]),
    "a path that is not there": config(paths=["jibs"]),
    "paths without TrainJobs": config(paths=["rt.yaml"]),
    "another kind": thing("v1", "Secret", "s"),
    "no such TrainJob": config(only="b"),
    "strict": config(strict=True),
    "the strictness of the settings": config(settings="trainc.yaml"),
}
LATEST = job_item(trainer={"image": "team/train:latest"}, on=at("jobs/a.yaml", 1))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("config", [pytest.param(tree, id=name) for name, tree in WRONG.items()])
def test_what_is_wrong_with_a_request(config: Tree, snapshot: SnapshotAssertion) -> None:
    items = [] if config.get("spec", {}).get("paths") == ["rt.yaml"] else [LATEST]
    done = run("krm", stdin=listed(*items, config=config))
    assert done.code == 1
    found = yaml.safe_load(done.out)
    assert (found["items"], found["functionConfig"]) == (items, config)
    assert f"{yaml.safe_dump(found['results'], sort_keys=False)}\n{done.err}" == snapshot


def test_a_generator_without_paths() -> None:
    found = answer(CONFIG, config=CONFIG, code=1)
    assert [result["tags"]["id"] for result in found["results"]] == ["no-trainjob"]


def test_links_that_lead_out_are_not_followed(files: Path) -> None:
    (files / "jobs" / "out.yaml").symlink_to("../../secret.yaml")
    (files.parent / "secret.yaml").write_text(yaml.safe_dump(job_item("secret")))
    (files / "pipes").mkdir()
    os.mkfifo(files / "pipes" / "x.yaml")
    found = answer(config=config(paths=["jobs", "pipes"]), code=1)
    assert sorted(result["tags"]["id"] for result in found["results"]) == ["link-out", "unreadable"]


def test_a_whole_answer(snapshot: SnapshotAssertion) -> None:
    done = run(
        "krm", stdin=listed(job_item(runtime="openmpi-distributed", on=at("jobs/a.yaml", 1)), CLAIM, config=CONFIG)
    )
    assert done.code == 0
    assert f"{done.out}\n{done.err}" == snapshot


FAULTS = job_item(
    trainer={"numNodes": "two", "env": [{"name": "API_KEY", "value": 12345}, {"name": "B", "value": 3}]},
    on=at("jobs/a.yaml", 1),
)


def test_a_whole_answer_with_errors(snapshot: SnapshotAssertion) -> None:
    twice = [job_item("c", on={"config.kubernetes.io/origin": "path: ../c.yaml\n"}), job_item("c", on=at("d.yaml", 0))]
    done = run("krm", stdin=listed(FAULTS, *twice, RUNTIME | {"spec": {"x": 1}}))
    assert done.code == 1
    assert f"{done.out}\n{done.err}" == snapshot
    assert "12345" not in done.out.partition("results:")[2] + done.err


HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "resource-list"),
    "a scalar": (b"x", "resource-list"),
    "a list": (b"[]", "resource-list"),
    "another kind": (b"{apiVersion: v1, kind: List, items: []}", "resource-list"),
    "a kind that is no text": (b"{apiVersion: v1, kind: [ResourceList]}", "resource-list"),
    "another version": (listed(apiVersion="config.kubernetes.io/v2"), "resource-list"),
    "two documents": (listed() + b"---\n" + listed(), "resource-list"),
    "items that are no list": (listed(items={"a": 1}), "resource-list"),
    "items that are no objects": (listed(1, None, "x", [[]]), "not-an-object"),
    "a functionConfig that is a list": (listed(functionConfig=[1]), "function-config"),
    "a functionConfig that is text": (listed(functionConfig="x"), "function-config"),
    "nesting": (b"kind: " + b"[" * 1_000_000, "yaml"),
    "nesting of an item": (b"items: [" + b"{a: " * 200 + b"}" * 200 + b"]", "yaml"),
    "a duplicate key": (listed() + b"kind: ResourceList\n", "yaml"),
    "bytes": (b"\0\xff", "yaml"),
    "size": (listed() + b"#" * 17_000_000, "yaml"),
    "annotations that are a list": (listed(job_item() | {"metadata": {"name": "a", "annotations": [1]}}), "wrong-type"),
    "an annotation that is a number": (listed(job_item(on={"a": 1})), "wrong-type"),
    "metadata that is text": (listed(job_item() | {"metadata": "x"}), "wrong-type"),
    "a List of nonsense": (listed({"apiVersion": "v1", "kind": "List", "items": [1]}), "not-an-object"),
}


@pytest.mark.parametrize(("text", "id"), [pytest.param(*row, id=name) for name, row in HOSTILE.items()])
def test_a_hostile_list(text: bytes, id: str) -> None:
    done = run("krm", stdin=text)
    assert done.code == 1
    assert f"error[{id}]" in done.err
    found = yaml.safe_load(done.out)
    assert (found["apiVersion"], found["kind"]) == ("config.kubernetes.io/v1", "ResourceList")
    assert isinstance(found["items"], list)
    assert {id} <= {result["tags"]["id"] for result in found["results"]}


STRANGE: list[Any] = [
    pytest.param({PATH: 7, INDEX: "x"}, id="neither is one"),
    pytest.param({PATH: ["a"], INDEX: {"a": 1}}, id="lists and mappings"),
    pytest.param({INDEX: "9" * 5000, "config.kubernetes.io/origin": "["}, id="endless, and no YAML"),
    pytest.param({"config.kubernetes.io/origin": "- path"}, id="another form"),
    pytest.param({PATH: "../../etc/passwd", INDEX: "-1"}, id="elsewhere"),
]


@pytest.mark.parametrize("annotations", STRANGE)
def test_malformed_internal_annotations_are_ignored(annotations: Tree) -> None:
    assert names(answer(job_item(on=annotations))) == [JOBSET]


def test_the_request_selects_an_environment(empty_folder: Path) -> None:
    Path("trainc.yaml").write_text("environments: {dev: {nameSuffix: -dev}, prod: {namespace: ml}}\n")
    found = answer(job_item(), config=config(settings="trainc.yaml", environment="dev"))
    assert names(found) == ["JobSet a-dev"]
    found = answer(job_item(), config=config(settings="trainc.yaml"), code=1)
    assert names(found) == ["TrainJob a"]
    [result] = found["results"]
    assert result["message"].startswith("no environment is selected; the project has 2 environments: dev, prod")
    assert "set environment in the functionConfig to dev or prod" in result["message"]
    found = answer(job_item(), config=config(settings="trainc.yaml", environment="prd"), code=1)
    assert '"prd" is not an environment' in found["results"][0]["message"]


def test_other_items_get_the_namespace_of_the_settings_if_they_have_none(empty_folder: Path) -> None:
    Path("trainc.yaml").write_text("namespace: ml\n")
    role, own = thing("rbac.authorization.k8s.io/v1", "ClusterRole", "r"), thing("v1", "Secret", "s")
    own["metadata"]["namespace"] = "other"
    local = thing("v1", "ConfigMap", "local", LOCAL)
    several = {"apiVersion": "v1", "kind": "List", "items": [CLAIM, role]}
    given = [CLAIM, role, own, local, several, job_item()]
    found = answer(*given, config=config(settings="trainc.yaml"))
    claim = CLAIM | {"metadata": CLAIM["metadata"] | {"namespace": "ml"}}
    # trainc removes kustomize's annotations from a copy; the answer has the items as they were given.
    assert found["items"][:5] == [claim, role, own, local, several | {"items": [claim, role]}]
    assert found["items"][5]["metadata"]["namespace"] == "ml"
    [warning] = found["results"]
    assert (warning["severity"], warning["tags"]["id"]) == ("warning", "other-namespace")
    assert warning["resourceRef"]["name"] == "s"
    strict = answer(*given, config=config(settings="trainc.yaml", strict=True), code=1)
    assert strict["items"] == given


def test_an_item_that_gets_the_namespace_of_a_compiled_object_is_a_duplicate(empty_folder: Path) -> None:
    Path("trainc.yaml").write_text("namespace: ml\n")
    jobset = thing("jobset.x-k8s.io/v1alpha2", "JobSet", "a")
    found = answer(jobset, job_item(), config=config(settings="trainc.yaml"), code=1)
    assert [result["tags"]["id"] for result in found["results"]] == ["duplicate-object"]
    found = answer(jobset, job_item(on=LOCAL), config=config(settings="trainc.yaml"))
    assert names(found) == [JOBSET, "TrainJob a"]
    assert found["items"][0]["metadata"]["namespace"] == "ml"


@pytest.mark.parametrize(
    "path", [pytest.param('".git/config"', id="git"), pytest.param('"a\\0b"', id="NUL"), pytest.param('".a"', id="dot")]
)
@pytest.mark.parametrize("key", ["runtimes: {{paths: [{}]}}", "patches: [{{path: {}}}]", "sources: [{}]", "output: {}"])
def test_a_path_of_the_settings_that_is_not_allowed(key: str, path: str, empty_folder: Path) -> None:
    Path("settings.yaml").write_text(key.format(path))
    found = answer(job_item(), config=config(settings="settings.yaml"), code=1)
    assert [item["tags"]["id"] for item in found["results"]] == ["settings-path"]
    assert names(found) == ["TrainJob a"]
    Path("settings.yaml").rename("trainc.yaml")
    Path("job.yaml").write_text(yaml.safe_dump(job_item()))
    done = run("cmp", "generate")
    assert (done.code, done.out, done.err.count("error[settings-path]")) == (1, "", 1)
