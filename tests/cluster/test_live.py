"""Drift: `trainc diff --live` shows how a real API server differs from the sources, and requests only reads."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import pytest
import yaml
from cluster.server import Cluster, load, until
from cluster.versions import JOBSET, PODGROUP, RUNTIME, TRAINJOB, version_difference
from running import Done, run

Tree = dict[str, Any]

CRDS = (JOBSET, PODGROUP)
SETTINGS = "sources: [jobs]\npassthrough: true\nlabels: {{app.kubernetes.io/managed-by: {owner}}}\n"
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: {namespace}, labels: {{team: speech}}}}
spec:
  runtimeRef: {{name: {runtime}}}
  trainer:
    image: ghcr.io/acme/app:v1
    numNodes: 2
    resourcesPerNode: {{requests: {{cpu: 1, memory: 1Gi}}}}
"""
TABLE = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: table, namespace: {namespace}}}
data: {{a: "1"}}
"""
OWN = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: own, namespace: {namespace}}}
spec:
  replicatedJobs:
  - name: worker
    template:
      spec:
        template: {{spec: {{restartPolicy: Never, containers: [{{name: worker, image: "ghcr.io/acme/app:v1"}}]}}}}
"""
RUNTIME_OF_TEAM = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {{name: team, namespace: {namespace}, labels: {{trainer.kubeflow.org/framework: torch}}}}
spec:
  mlPolicy: {{numNodes: 1, torch: {{}}}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {{template: {{spec: {{containers: [{{name: node, image: "ghcr.io/acme/app:v0"}}]}}}}}}
"""
FORBIDDEN = 'User "ada" cannot list resource "jobsets" in API group "jobset.x-k8s.io"'


@pytest.fixture
def namespaces(cluster: Cluster, empty_repository: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Return two namespaces of a project, whose output is applied."""
    monkeypatch.setenv("KUBECONFIG", cluster.kubeconfig)
    one, other = cluster.namespace("live"), cluster.namespace("live")
    Path("jobs").mkdir()
    Path("trainc.yaml").write_text(SETTINGS.format(owner=one))
    for name, namespace, runtime in (
        ("train", one, "torch-distributed"),
        ("tune", one, "torch-distributed-coscheduling"),
        ("detect", other, "torch-distributed"),
    ):
        Path(f"jobs/{name}.yaml").write_text(JOB.format(name=name, namespace=namespace, runtime=runtime))
    Path("jobs/table.yaml").write_text(TABLE.format(namespace=one))
    cluster.apply(built())
    return one, other


def built(*options: str) -> list[Tree]:
    """Return the objects of a build."""
    done = run("build", "--format", "yaml", *options)
    assert done.code == 0, done.err
    return load(done.out)


def live(*options: str) -> Done:
    return run("diff", "--live", *options)


def review(*options: str) -> Tree:
    done = live("--format", "json", *options)
    assert done.code == 0, done.err
    found: Tree = json.loads(done.out)
    return found


def without_managers() -> list[Tree]:
    """Return the objects of a review without those who wrote the fields."""
    found: list[Tree] = review()["objects"]
    for each in found:
        for change in each.get("changes", ()):
            change.pop("managers", None)
    return found


def statuses(reviewed: Tree) -> dict[tuple[str, str], str]:
    return {(each["kind"], each["name"]): each["status"] for each in reviewed["objects"]}


def test_no_change_after_an_apply(namespaces: tuple[str, str]) -> None:
    done = live("--exit-code")
    assert (done.code, done.out) == (0, "the cluster -> the working tree\nnothing changes: 5 objects are unchanged\n")


def test_no_change_after_a_server_side_apply(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    cluster.apply(built(), "--server-side", "--force-conflicts")
    assert live("--exit-code").code == 0


def test_drift(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    """One edited label, one missing JobSet, an edited ConfigMap, one JobSet that no file renders, and one of others."""
    one, _ = namespaces
    old = _copy(cluster, one, "train", "old")
    other = _copy(cluster, one, "train", "other") | {"metadata": {"name": "other", "namespace": one}}
    cluster.apply([old, other])
    for words in (
        ("label", "--overwrite", "jobset", "train", "team=vision"),
        ("delete", "jobset", "tune"),
        ("patch", "configmap", "table", "--patch", '{"data": {"a": "2"}}'),
    ):
        done = cluster.kubectl(*words, "--namespace", one)
        assert done.code == 0, done.err
    until(lambda: True if cluster.get("JobSet", one, "tune") is None else None, "the end of the JobSet")
    found = review()
    assert statuses(found) == {
        ("JobSet", "train"): "changed",
        ("JobSet", "tune"): "added",
        ("JobSet", "old"): "removed",
        ("ConfigMap", "table"): "changed",
    }
    changes = {each["name"]: each["changes"] for each in found["objects"] if each["status"] == "changed"}
    assert [(each["field"], each["old"], each["new"]) for each in changes["train"]] == [
        ("metadata.labels.team", "vision", "speech")
    ]
    assert [each["name"] for each in changes["train"][0]["managers"]] == ["kubectl-label"]
    assert [each["name"] for each in changes["table"][0]["managers"]] == ["kubectl-patch"]
    assert "  last written by kubectl-label at 20" in live().out
    assert live("--exit-code").code == 3


def test_a_change_that_is_not_applied(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    file = Path("jobs/train.yaml")
    file.write_text(file.read_text().replace("team: speech", "team: vision"))
    [found] = review()["objects"]
    assert [each["name"] for each in found["changes"][0]["managers"]] == ["kubectl-client-side-apply"]


def test_a_namespace_that_does_not_exist(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    file = Path("jobs/detect.yaml")
    file.write_text(file.read_text().replace(namespaces[1], f"{namespaces[1]}-absent"))
    out = live().out
    assert f"namespace {namespaces[1]}-absent does not exist\n" in out
    assert f"namespace {namespaces[0]} does" not in out


def test_jobsets_of_the_user(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    """The defaults of the API server are no drift."""
    for file in Path("jobs").iterdir():
        file.unlink()
    Path("trainc.yaml").write_text("sources: [jobs]\n")
    Path("jobs/own.yaml").write_text(OWN.format(namespace=namespaces[0]))
    cluster.apply(load(Path("jobs/own.yaml").read_text()))
    done = live("--exit-code")
    assert (done.code, done.out.splitlines()[1]) == (0, "nothing changes: 1 object is unchanged"), done.out
    assert cluster.kubectl("label", "jobset", "own", "team=vision", "--namespace", namespaces[0]).code == 0
    assert live("--exit-code").code == 3


def test_jobsets_of_trainjobs(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    """What Trainer's controller writes differently is no drift."""
    if reason := version_difference(cluster, (TRAINJOB, RUNTIME)):
        pytest.skip(f"a cluster with Trainer: {reason}")
    one = cluster.namespace("live")
    for file in Path("jobs").iterdir():
        file.unlink()
    Path("trainc.yaml").write_text(f"output: none\n{SETTINGS.format(owner=one)}")
    Path("jobs/runtime.yaml").write_text(RUNTIME_OF_TEAM.format(namespace=one))
    text = JOB.format(name="train", namespace=one, runtime="team")
    Path("jobs/train.yaml").write_text(text.replace("team}", "team, kind: TrainingRuntime}"))
    until(lambda: _applied(cluster), "an accepted TrainJob")
    until(lambda: cluster.get("JobSet", one, "train"), "the JobSet")
    done = live("--exit-code")
    assert (done.code, done.out.splitlines()[1]) == (0, "nothing changes: 1 object is unchanged"), done.out
    file = Path("jobs/train.yaml")
    file.write_text(file.read_text().replace("app:v1", "app:v2"))
    assert "TrainJob must be recreated" in live("--exit-code").out


def test_a_change_that_the_cluster_rejects(alive: Cluster, namespaces: tuple[str, str]) -> None:
    """The job runs, as its status says, and the API server indeed rejects the change."""
    one, other = namespaces
    until(lambda: _ready(alive, one, "train"), "ready Jobs")
    for name in ("train", "detect"):
        file = Path(f"jobs/{name}.yaml")
        file.write_text(file.read_text().replace("app:v1", "app:v2"))
    alive.apply([_suspended(alive, other, "detect")])
    until(lambda: None if _ready(alive, other, "detect") else True, "the end of the pods")
    found = {each["name"]: each for each in review()["objects"]}
    assert (found["train"]["effect"], found["train"].get("running")) == ("new-object", True)
    assert (found["train"]["allowed"], found["detect"]["running"]) == (False, False)
    assert "1 is running and loses its training" in live().out
    assert "ml/train (running)" not in live().out
    assert f"{one}/train (running)" in live().out
    for tree in built("--only", "train"):
        if tree["kind"] == "JobSet":
            stored = alive.get("JobSet", one, "train")
            assert stored is not None
            tree["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
            assert alive.try_update(tree).code == 422


def test_a_part_of_the_project(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    one, _ = namespaces
    cluster.apply([_copy(cluster, one, "train", "old")])
    done = cluster.kubectl("label", "jobset", "train", "--overwrite", "team=vision", "--namespace", one)
    assert done.code == 0, done.err
    assert statuses(review("jobs/tune.yaml")) == {}
    assert statuses(review("--only", "train")) == {("JobSet", "train"): "changed"}


def test_the_pipe_and_the_live_review_agree(cluster: Cluster, namespaces: tuple[str, str]) -> None:
    one, _ = namespaces
    done = cluster.kubectl("label", "jobset", "train", "--overwrite", "team=vision", "--namespace", one)
    assert done.code == 0, done.err
    lists = [yaml.safe_load(cluster.kubectl("get", "jobset", "-o", "yaml", "-n", each).out) for each in namespaces]
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [i for each in lists for i in each["items"]]})
    piped = json.loads(run("diff", "-", "jobs", "--format", "json", stdin=text.encode()).out)
    assert [each for each in piped["objects"] if each["status"] == "changed"] == [
        {key: value for key, value in each.items() if key != "running"} for each in without_managers()
    ]


def test_a_context_that_does_not_exist(namespaces: tuple[str, str]) -> None:
    done = live("--context", "nope")
    assert (done.code, done.out) == (1, "")
    assert 'error[kubectl-failed]: kubectl failed with exit status 1: error: context "nope" does not exist' in done.err
    assert "help: use a context of `kubectl config get-contexts`" in done.err


def test_no_kubectl(namespaces: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = live()
    assert (done.code, done.out) == (1, "")
    assert "error[kubectl-failed]: kubectl is not on the PATH" in done.err


def test_no_right_to_list_in_a_namespace(
    cluster: Cluster, namespaces: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API server of a test allows everything, so a relay between kubectl and it refuses one request."""
    one, other = namespaces
    refused = f"/namespaces/{other}/jobsets"
    done = cluster.kubectl("label", "jobset", "train", "--overwrite", "team=vision", "--namespace", one)
    assert done.code == 0, done.err
    with relay(cluster, lambda path: 403 if refused in path else 0) as (address, requests):
        monkeypatch.setenv("KUBECONFIG", _kubeconfig(tmp_path, address))
        found = live()
    assert found.code == 1
    assert f"namespace {other} is not compared: kubectl failed with exit status 1: Error from server" in found.out
    assert FORBIDDEN in found.err
    assert found.out.splitlines()[1] == "1 to change"
    assert {method for method, _ in requests} == {"GET"}


def test_a_server_that_answers_too_late(
    cluster: Cluster, namespaces: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delayed_code(path: str) -> int:
        time.sleep(3 if "/jobsets" in path else 0)
        return 0

    with relay(cluster, delayed_code) as (address, _):
        monkeypatch.setenv("KUBECONFIG", _kubeconfig(tmp_path, address))
        done = live("--timeout", "1")
    assert (done.code, done.out) == (1, "")
    assert "error[kubectl-failed]: kubectl " in done.err
    assert "increase --timeout" in done.err


def test_only_reads_are_requested(
    cluster: Cluster, namespaces: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with relay(cluster, lambda path: 0) as (address, requests):
        monkeypatch.setenv("KUBECONFIG", _kubeconfig(tmp_path, address))
        assert live().code == 0
    assert {method for method, _ in requests} == {"GET"}
    assert len([path for _, path in requests if "/jobsets" in path]) == 2


@contextmanager
def relay(cluster: Cluster, code_of: Callable[[str], int]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Pass requests on to the API server, except those with a code of their own; yield the address and the requests."""
    lock, requests = Lock(), list[tuple[str, str]]()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer("GET")

        def do_POST(self) -> None:
            self.answer("POST")

        def do_PATCH(self) -> None:
            self.answer("PATCH")

        def do_DELETE(self) -> None:
            self.answer("DELETE")

        def answer(self, method: str) -> None:
            requests.append((method, self.path))
            if code_of(self.path):
                code, body = 403, _forbidden()
            else:
                with lock:
                    code, body = cluster.ask(method, self.path.removeprefix("/"))
            data = json.dumps(body).encode()
            try:
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except BrokenPipeError:
                return  # kubectl has given up

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _forbidden() -> Tree:
    message = f"jobsets.jobset.x-k8s.io is forbidden: {FORBIDDEN}"
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}
    return {**status, "message": message, "details": {"group": "jobset.x-k8s.io", "kind": "jobsets"}}


def _kubeconfig(folder: Path, address: str) -> str:
    file = folder / "kubeconfig"
    file.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "relay", "cluster": {"server": address}}],
                "contexts": [{"name": "relay", "context": {"cluster": "relay", "user": "ada"}}],
                "users": [{"name": "ada", "user": {}}],
                "current-context": "relay",
            }
        )
    )
    return str(file)


def _applied(cluster: Cluster) -> bool | None:
    """Apply the sources; None until Trainer's webhook has seen the runtime."""
    done = cluster.kubectl("apply", "--filename=jobs")
    return True if done.code == 0 else None


def _copy(cluster: Cluster, namespace: str, name: str, other: str) -> Tree:
    """Return a JobSet under another name, suspended, as a client would apply it."""
    tree = cluster.get("JobSet", namespace, name)
    assert tree is not None
    labels = tree["metadata"]["labels"]
    metadata = {"name": other, "namespace": namespace, "labels": labels}
    return {key: tree[key] for key in ("apiVersion", "kind")} | {
        "metadata": metadata,
        "spec": tree["spec"] | {"suspend": True},
    }


def _suspended(cluster: Cluster, namespace: str, name: str) -> Tree:
    (tree,) = [each for each in built() if _is(each, namespace, name)]
    image = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    image["image"] = "ghcr.io/acme/app:v1"
    return tree | {"spec": tree["spec"] | {"suspend": True}}


def _is(tree: Tree, namespace: str, name: str) -> bool:
    metadata = tree["metadata"]
    return bool((tree["kind"], metadata.get("namespace"), metadata["name"]) == ("JobSet", namespace, name))


def _ready(cluster: Cluster, namespace: str, name: str) -> bool | None:
    tree = cluster.get("JobSet", namespace, name)
    assert tree is not None
    jobs = tree.get("status", {}).get("replicatedJobsStatus", [])
    return True if any(job.get("ready") for job in jobs) else None
