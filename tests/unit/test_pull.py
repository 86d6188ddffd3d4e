"""`trainc runtimes pull` and `import`: a fake kubectl replays the answers of a real server, errors included.

`kubectl/list.json`, `list.yaml` and `managed-fields.json` (`--show-managed-fields`) are answers of kubectl v1.32 and
Kubernetes v1.36 with Trainer v2.3.0: two runtimes were applied by clients, `vision/jax.v0.9` by the server.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import Done, run
from syrupy.assertion import SnapshotAssertion

from trainc.files import atomic, outputs
from trainc.pinning import kubectl as program
from trainc.pinning import manifests
from trainc.pinning.pinned_folder import digest

DATA = Path(__file__).parent / "kubectl"
LIST = (DATA / "list.json").read_text()
FILES = ["research/team-torch.yaml", "team-torch.yaml", "vision/jax.v0.9.yaml"]
LISTING = ".trainc-runtimes"
CONFIGMAP = Path(__file__).parents[2] / "golden" / "configmap-runtimes" / "input.yaml"

Kubectl = Callable[..., None]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository and make it the current folder."""
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


IMAGES = "registry.k8s.io/coredns/coredns:v1.12.1 ghcr.io/acme/other:v1"
"""The images of the deployments of a cluster in which the controller is somewhere else."""


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kubectl:
    """Return a function that puts a kubectl on the PATH, which prints an answer and records its arguments."""
    bin = tmp_path / "bin"
    bin.mkdir()
    monkeypatch.setenv("PATH", f"{bin}:/usr/bin:/bin")

    def install(out: str = LIST, err: str = "", status: int = 0, *, script: str = "") -> None:
        (bin / "out").write_text(out)
        (bin / "err").write_text(err)
        answer = f'cat "{bin}/out"; cat "{bin}/err" >&2; exit {status}'
        images = f'case "$*" in "get deployments"*) cat "{bin}/images"; exit; esac'
        (bin / "images").write_text(IMAGES)
        (bin / "kubectl").write_text(f'#!/bin/sh\n{images}\necho "$*" > "{bin}/asked"\n{script}\n{answer}\n')
        (bin / "kubectl").chmod(0o755)

    install()
    return install


def pull(*options: str) -> Done:
    return run("runtimes", "pull", *options)


def files(folder: str = "runtimes") -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def contents(folder: str = ".") -> dict[str, bytes]:
    return {name: (Path(folder) / name).read_bytes() for name in files(folder)}


def installed_runtime(name: Any, namespace: Any = None, **metadata: Any) -> dict[str, Any]:
    placed = {} if namespace is None else {"namespace": namespace}
    kind = "ClusterTrainingRuntime" if namespace is None else "TrainingRuntime"
    spec: dict[str, Any] = {"template": {"spec": {"replicatedJobs": []}}}
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": kind}
    return {**head, "metadata": {"name": name, **placed, **metadata}, "spec": spec}


def answer(*items: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


# The files.


def test_each_runtime_is_a_clean_file(kubectl: Kubectl, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    done = pull()
    assert (done.code, done.out, done.err) == (0, "", "runtimes: 3 written, 0 removed, 0 unchanged\n")
    assert files() == [LISTING, *FILES]
    assert (Path("runtimes") / "vision" / "jax.v0.9.yaml").read_text() == snapshot
    asked = (tmp_path / "bin" / "asked").read_text()
    assert asked == "get clustertrainingruntimes,trainingruntimes -A -o json --request-timeout=60s\n"
    assert (
        run("validate", "runtimes").out
        == "no problems found: 0 TrainJobs, 3 runtimes, checked with stand-in TrainJobs\n"
    )


def test_nothing_but_the_fields_of_the_server_is_lost(kubectl: Kubectl) -> None:
    pull()
    for item in json.loads(LIST)["items"]:
        metadata = item["metadata"]
        file = f"{metadata['name']}.yaml"
        written = yaml.safe_load(Path("runtimes", metadata.get("namespace", ""), file).read_text())
        assert written.pop("spec") == item["spec"]
        kept = {key: metadata[key] for key in ("name", "namespace", "labels") if key in metadata}
        kept["annotations"] = {"example.com/owner": "platform"}
        assert written == {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": kept}


def test_the_fields_of_the_server() -> None:
    server = {
        "annotations": {manifests.LAST_APPLIED: "{}"},
        "creationTimestamp": "2026-11-22T17:00:00Z",
        "deletionGracePeriodSeconds": 0,
        "deletionTimestamp": "2026-11-22T17:00:00Z",
        "finalizers": ["trainer.kubeflow.org/resource-in-use"],
        "generateName": "a-",
        "generation": 3,
        "managedFields": [],
        "ownerReferences": [{"uid": "1"}],
        "resourceVersion": "1",
        "selfLink": "/a",
        "uid": "1",
    }
    assert manifests.clean({**installed_runtime("a", **server), "status": {"conditions": []}}) == installed_runtime("a")
    kept = {"labels": {"team": "speech"}, "annotations": {"meta.helm.sh/release-name": "trainer"}}
    assert manifests.clean(installed_runtime("a", **kept)) == installed_runtime("a", **kept)
    assert manifests.clean(installed_runtime("a", annotations=None)) == installed_runtime("a", annotations=None)


def test_the_bytes_depend_only_on_the_runtimes(kubectl: Kubectl) -> None:
    pull()
    before = contents()
    assert pull().err == "runtimes: 0 written, 0 removed, 3 unchanged\n"
    value = json.loads(LIST)
    for item in value["items"]:
        item["metadata"] |= {"uid": "2", "resourceVersion": "2", "generation": 2}
    kubectl(json.dumps({**value, "items": value["items"][::-1]}))
    assert pull().err == "runtimes: 0 written, 0 removed, 3 unchanged\n"
    assert contents() == before


def test_a_runtime_of_training_operator(kubectl: Kubectl) -> None:
    """The names without a group are those of its CRDs too; pull writes the version that the server returns."""
    older = {**json.loads(LIST)["items"][0], "apiVersion": "kubeflow.org/v2alpha1"}
    older["spec"] = {**older["spec"], "mlPolicy": {"numNodes": 2, "torch": {"numProcPerNode": "auto"}}}
    kubectl(answer(older))
    assert pull().code == 0
    assert yaml.safe_load(Path("runtimes/team-torch.yaml").read_text())["apiVersion"] == "kubeflow.org/v2alpha1"
    Path("job.yaml").write_text(
        "apiVersion: kubeflow.org/v2alpha1\nkind: TrainJob\nmetadata: {name: a}\n"
        "spec: {runtimeRef: {name: team-torch}}\n"
    )
    done = run("build", ".")
    assert (done.code, "image: registry.example.com/ml/torch:2.9.1" in done.out) == (0, True), done.err


def test_pinned_runtimes_are_read_as_runtimes(kubectl: Kubectl) -> None:
    pull()
    Path("job.yaml").write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
        "metadata: {name: a, namespace: research}\nspec: {runtimeRef: {name: team-torch}}\n"
    )
    done = run("build", ".")
    assert (done.code, "image: registry.example.com/ml/torch:2.9.1" in done.out) == (0, True)
    listed = json.loads(run("runtimes", "list", "--format", "json").out)
    pinned = {entry["name"]: entry for entry in listed if not entry["builtIn"]}
    assert pinned["jax.v0.9"]["file"] == "./runtimes/vision/jax.v0.9.yaml".removeprefix("./")
    assert pinned["jax.v0.9"]["origin"] is None
    rows = run("runtimes", "list").out.splitlines()
    assert [row.split()[-1] for row in rows if row.startswith("vision/")] == ["runtimes/vision/jax.v0.9.yaml"]


@pytest.mark.parametrize(
    ("item", "file"),
    [
        pytest.param(installed_runtime("torch.v2.9"), "torch.v2.9.yaml", id="dots"),
        pytest.param(installed_runtime("a", "speech"), "speech/a.yaml", id="a namespace"),
        pytest.param(installed_runtime("a", ""), "trainingruntime_a.yaml", id="no namespace"),
        pytest.param(installed_runtime("trainc"), "clustertrainingruntime_trainc.yaml", id="trainc.yaml has settings"),
        pytest.param(
            installed_runtime("trainc", "a"), "a/trainingruntime_trainc.yaml", id="trainc.yaml in a folder too"
        ),
        pytest.param(
            installed_runtime("kustomization"),
            "clustertrainingruntime_kustomization.yaml",
            id="kustomization.yaml is no manifest",
        ),
        pytest.param(installed_runtime("a" * 200), f"{'a' * 200}.yaml", id="long"),
        pytest.param(installed_runtime("a" * 253), f"{'a' * 150}_32859a3ab65ac529.yaml", id="too long for a file"),
    ],
)
def test_a_name_as_a_file_name(item: dict[str, Any], file: str, kubectl: Kubectl) -> None:
    kubectl(answer(item))
    assert pull().code == 0
    assert files() == sorted([LISTING, file])
    summary = "0 TrainJobs, 1 runtime, checked with a stand-in TrainJob"
    assert run("validate", "runtimes").out == f"no problems found: {summary}\n"


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param(
            installed_runtime("../x"), 'error[invalid-name]: metadata.name "../x" is not a valid name', id="up"
        ),
        pytest.param(installed_runtime("/etc/x"), 'error[invalid-name]: metadata.name "/etc/x"', id="absolute"),
        pytest.param(installed_runtime(".."), 'error[invalid-name]: metadata.name ".."', id="dots"),
        pytest.param(installed_runtime(".hidden"), 'error[invalid-name]: metadata.name ".hidden"', id="hidden"),
        pytest.param(installed_runtime("a\x1b[2J"), 'metadata.name "a\\x1b[2J" is not', id="a control character"),
        pytest.param(installed_runtime("a" * 254), "error[invalid-name]", id="longer than a name may be"),
        pytest.param(installed_runtime(None), "the ClusterTrainingRuntime has no metadata.name", id="none"),
        pytest.param(installed_runtime(7), "the ClusterTrainingRuntime has no metadata.name", id="a number"),
        pytest.param(
            {**installed_runtime("a"), "metadata": "a"},
            "the ClusterTrainingRuntime has no metadata.name",
            id="a string",
        ),
        pytest.param(installed_runtime("a", "../.."), "error[invalid-namespace]: metadata.namespace", id="a namespace"),
        pytest.param({**installed_runtime("a"), "kind": "Runtime"}, "error[unknown-kind]", id="a kind"),
    ],
)
def test_a_name_that_no_runtime_can_have(item: dict[str, Any], message: str, kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl(answer(installed_runtime("good"), item))
    before = contents(str(tmp_path / "repository"))
    done = pull()
    assert (done.code, message in done.err) == (1, True), done.err
    assert contents(str(tmp_path / "repository")) == before
    assert not Path("runtimes").exists()


def test_two_runtimes_of_one_name(kubectl: Kubectl) -> None:
    kubectl(answer(installed_runtime("a"), installed_runtime("a", "speech"), installed_runtime("a")))
    done = pull()
    assert (done.code, 'error[duplicate-runtime]: two ClusterTrainingRuntimes are named "a"' in done.err) == (1, True)
    assert not Path("runtimes").exists()


@pytest.mark.slow
def test_ten_thousand_runtimes(kubectl: Kubectl) -> None:
    """The list has more values than a manifest may have."""
    items = json.loads(LIST)["items"]
    many = [{**items[0], "metadata": {**items[0]["metadata"], "name": f"team-{i}"}} for i in range(10_000)]
    kubectl(answer(*many))
    assert pull().err == "runtimes: 10000 written, 0 removed, 0 unchanged\n"
    assert len(files()) == 10_001


# kubectl.

REFUSED = """\
E1122 17:14:53.317906   30957 memcache.go:265] "Unhandled Error" err="couldn't get current server API group list: \
Get \\"https://127.0.0.1:40581/api?timeout=5s\\": dial tcp 127.0.0.1:40581: connect: connection refused"
The connection to the server 127.0.0.1:40581 was refused - did you specify the right host or port?
"""
FORBIDDEN = (
    'Error from server (Forbidden): clustertrainingruntimes.trainer.kubeflow.org is forbidden: User "ada" cannot list '
    'resource "clustertrainingruntimes" in API group "trainer.kubeflow.org" at the cluster scope\n'
)
FAILURES = {
    "no such context": "Error in configuration: context was not found for specified context: nope\n",
    "no such context, older": 'error: context "nope" does not exist\n',
    "no configuration": "The connection to the server localhost:8080 was refused - did you specify the right host?\n",
    "no CRD": 'error: the server doesn\'t have a resource type "clustertrainingruntimes"\n',
    "one CRD": 'error: the server doesn\'t have a resource type "trainingruntimes"\n',
    "refused": REFUSED,
    "unauthorized": "error: You must be logged in to the server (Unauthorized)\n",
    "forbidden": FORBIDDEN,
    "request timeout": "Unable to connect to the server: context deadline exceeded\n",
    "an unknown message": "\x1b[2Jerror: \x07 unknown flag\n",
    "silent": "",
}
"""The messages of kubectl v1.32; the one without permission is from its source, and one is of kubectl v1.28."""


@pytest.mark.parametrize("case", FAILURES)
def test_kubectl_fails(case: str, kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    pull()
    before = contents()
    kubectl("", FAILURES[case], 1)
    for options in ((), ("--check",), ("--force",)):
        done = pull(*options)
        assert (done.code, done.out) == (1, "")
        assert done.err == snapshot
    assert contents() == before


def test_a_list_of_one_kind_is_not_written(kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    """Without the CRD of one kind, kubectl prints the runtimes of the other and fails."""
    pull()
    before = contents()
    missing = "the server could not find the requested resource (get trainingruntimes.trainer.kubeflow.org)"
    unlisted = 'Unable to list "trainer.kubeflow.org/v1alpha1, Resource=trainingruntimes"'
    kubectl(answer(json.loads(LIST)["items"][0]), f"Error from server (NotFound): {unlisted}: {missing}\n", 1)
    done = pull()
    assert (done.code, done.out) == (1, "")
    assert done.err == snapshot
    assert contents() == before


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("<html>\x1b[31mlog in</html>", id="a page"),
        pytest.param(LIST[:-100], id="a part"),
        pytest.param(LIST + LIST, id="two lists"),
        pytest.param('{"apiVersion": "v1", "kind": "Status", "status": "Failure"}', id="another object"),
        pytest.param('{"kind": "List", "items": {}}', id="items that are no list"),
        pytest.param(LIST.replace('"numNodes": 2', '"numNodes": NaN'), id="not JSON"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"a":' * 100_000, id="deeper"),
        pytest.param('{"kind": "List", "kind": "List", "items": []}', id="a key twice"),
    ],
)
def test_an_answer_that_is_not_a_list(text: str, kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    kubectl(text)
    done = pull()
    assert (done.code, done.out) == (1, "")
    assert done.err == snapshot
    assert not Path("runtimes").exists()


def test_an_empty_list_removes_nothing(kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    """The wrong context is more likely than a cluster without runtimes."""
    pull()
    before = contents()
    kubectl(answer())
    done = pull()
    assert done.code == 1
    assert done.err == snapshot
    assert contents() == before


def test_no_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = pull()
    assert done.code == 1
    assert done.err == snapshot
    monkeypatch.delenv("PATH")
    monkeypatch.setattr(os, "defpath", str(tmp_path))
    assert pull().err == done.err


def test_a_kubectl_that_cannot_be_started(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "bin" / "kubectl").write_bytes(b"\x7fELF")
    done = pull()
    assert done.code == 1
    assert re.search(r"error\[kubectl-failed\]: \S+/bin/kubectl cannot be started: Exec format error\n", done.err)


def test_kubectl_is_stopped_after_the_timeout(
    kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setattr(program, "_GRACE", 0)
    kubectl(script=f"sh -c 'sleep 3; touch {tmp_path}/late' & sleep 60")
    done = pull("--timeout", "1")
    assert done.code == 1
    assert done.err == snapshot
    assert "--request-timeout=1s" in (tmp_path / "bin" / "asked").read_text()
    assert not Path("runtimes").exists()


def test_an_endless_answer(kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    monkeypatch.setattr(program, "LARGEST_FILE", 2**20)
    kubectl(script="yes x | head -c 1000 >&2; yes x & yes x >&2")
    done = pull()
    assert done.code == 1
    assert re.sub(r"( x)+", "", done.err) == snapshot


def test_a_helper_that_keeps_the_pipes_open(kubectl: Kubectl) -> None:
    """A credential plugin may start an agent."""
    kubectl(script="sleep 20 &")
    assert pull("--timeout", "10").err == "runtimes: 3 written, 0 removed, 0 unchanged\n"


def test_messages_without_end_are_bounded(kubectl: Kubectl) -> None:
    """The last line is shown, and the patterns of hints do not backtrack over all of it."""
    kubectl(status=1, script="yes 'context ' | head -c 3000000 | tr -d '\\n' >&2")
    started = time.monotonic()
    done = pull()
    assert (done.code, "context context context" in done.err, len(done.err) < 2000) == (1, True, True)
    assert time.monotonic() - started < 10


def test_a_kubectl_that_is_killed(kubectl: Kubectl) -> None:
    kubectl(script="kill -9 $$")
    done = pull()
    assert (done.code, "error[kubectl-failed]: kubectl was stopped by signal 9" in done.err) == (1, True)


def test_the_context_is_an_argument_and_messages_are_passed_on(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl(err="Warning: \x1b]0;title\x07 v1alpha1 is deprecated\n")
    done = pull("--context", "--token=x")
    assert done.err.splitlines()[0] == "kubectl: Warning: \\x1b]0;title\\x07 v1alpha1 is deprecated"
    assert (tmp_path / "bin" / "asked").read_text().endswith(" --context=--token=x\n")


# The folder.


def test_the_file_of_a_runtime_that_is_gone_is_removed(kubectl: Kubectl) -> None:
    Path("runtimes/vision").mkdir(parents=True)
    Path("runtimes/ours.yaml").write_text("ours\n")
    pull()
    kubectl(answer(json.loads(LIST)["items"][0]))
    assert pull().err == "runtimes: 0 written, 2 removed, 1 unchanged\n"
    assert files() == [LISTING, "ours.yaml", "team-torch.yaml"]
    assert not Path("runtimes/vision").exists()


def test_a_file_that_was_edited_by_hand(kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    pull()
    pulled = contents()
    edited = Path("runtimes/team-torch.yaml")
    edited.write_text(edited.read_text().replace("numNodes: 2", "numNodes: 3"))
    for _ in range(2):
        done = pull()
        assert done.code == 0
        assert done.err == snapshot
        assert "numNodes: 3" in edited.read_text()
    done = pull("--check")
    assert done.code == 3
    assert done.out == snapshot
    assert pull("--force").err == "runtimes: 1 written, 0 removed, 2 unchanged\n"
    assert contents() == pulled


def test_an_edited_file_of_a_runtime_that_is_gone(kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    pull()
    edited = Path("runtimes/vision/jax.v0.9.yaml")
    edited.write_text(edited.read_text() + "# Ours.\n")
    kubectl(answer(*json.loads(LIST)["items"][:2]))
    for _ in range(2):
        done = pull()
        assert done.code == 0
        assert done.err == snapshot
        assert edited.exists()
    assert pull("--force").err == "runtimes: 0 written, 1 removed, 2 unchanged\n"
    assert not edited.exists()


def test_an_edit_that_the_cluster_has_too_is_no_edit(kubectl: Kubectl) -> None:
    pull()
    edited = Path("runtimes/team-torch.yaml")
    edited.write_text(edited.read_text().replace("numNodes: 2", "numNodes: 3"))
    value = json.loads(LIST)
    value["items"][0]["spec"]["mlPolicy"]["numNodes"] = 3
    kubectl(json.dumps(value))
    assert pull().err == "runtimes: 0 written, 0 removed, 3 unchanged\n"
    kubectl()
    assert pull().err == "runtimes: 1 written, 0 removed, 2 unchanged\n"


def test_a_removed_file_is_written_again(kubectl: Kubectl) -> None:
    pull()
    Path("runtimes/team-torch.yaml").unlink()
    assert pull().err == "runtimes: 1 written, 0 removed, 2 unchanged\n"


def test_line_endings_of_a_checkout_are_no_edit(kubectl: Kubectl) -> None:
    pull()
    for name in FILES:
        path = Path("runtimes") / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert pull("--check").code == 0
    assert pull().err == "runtimes: 0 written, 0 removed, 3 unchanged\n"
    kubectl(answer(*json.loads(LIST)["items"][:2]))
    assert pull().err == "runtimes: 0 written, 1 removed, 2 unchanged\n"


@pytest.mark.parametrize("content", ["ours\n", f"{manifests.MARK}ours\n"], ids=["ours", "of another listing"])
def test_a_file_that_trainc_did_not_pull(content: str, kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    Path("runtimes").mkdir()
    Path("runtimes/team-torch.yaml").write_text(content)
    before = contents()
    done = pull()
    assert done.code == 1
    assert done.err == snapshot(name="error")
    assert contents() == before
    assert pull("--check").code == 3
    assert contents() == before
    assert pull("--force").err == "runtimes: 3 written, 0 removed, 0 unchanged\n"


def test_a_link_is_not_written_through_even_with_force(kubectl: Kubectl, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("secret\n")
    Path("runtimes").mkdir()
    Path("runtimes/vision").symlink_to(outside)
    Path("runtimes/team-torch.yaml").symlink_to(outside / "file")
    Path("runtimes/research").write_text("a file\n")
    for options in ((), ("--force",), ("--check",)):
        done = pull(*options)
        assert (done.code, done.err.count("error[pinned-runtime-taken]")) == (1, 3)
        assert "secret" not in done.out + done.err
    assert contents(str(outside)) == {"file": b"secret\n"}
    Path("elsewhere").symlink_to(outside)
    done = pull("-o", "elsewhere")
    assert (done.code, "error[output-unwritable]: cannot be written: the path contains a link" in done.err) == (1, True)
    assert contents(str(outside)) == {"file": b"secret\n"}


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param("<<<<<<< HEAD\n", id="a conflict"),
        pytest.param("[]", id="a list"),
        pytest.param('{"runtimes": {"../precious.yaml": "sha256:0"}}', id="a path that leads out"),
        pytest.param('{"runtimes": {"a.yaml": [1]}}', id="a digest that is no string"),
        pytest.param('{"runtimes": {"a.yaml": []}}', id="no digest"),
    ],
)
def test_a_broken_listing(listing: str, kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    pull()
    pulled = contents()
    Path("precious.yaml").write_text("precious\n")
    Path("runtimes", LISTING).write_text(listing)
    before = contents()
    done = pull()
    assert done.code == 1
    assert done.err == snapshot(name="error")
    assert contents() == before
    assert pull("--force").code == 0
    assert contents() == {**pulled, "precious.yaml": b"precious\n"}


def test_a_listed_file_without_the_first_line_is_not_removed(kubectl: Kubectl) -> None:
    """A listing is untrusted: it must not make trainc remove other files of the folder."""
    Path("runtimes").mkdir()
    Path("runtimes/job.yaml").write_text("kind: TrainJob\n")
    Path("runtimes", LISTING).write_text(json.dumps({"runtimes": {"job.yaml": digest(b"kind: TrainJob\n")}}))
    done = pull()
    assert (done.code, "runtimes/job.yaml: warning[pinned-runtime-edited]: is not removed" in done.err) == (0, True)
    assert Path("runtimes/job.yaml").exists()


class KilledError(BaseException):
    """A signal."""


def test_a_pull_that_is_killed(kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is complete, old or new, and the next pull takes none of them for an edit."""
    pull()
    value = json.loads(LIST)
    for item in value["items"]:
        item["spec"]["mlPolicy"]["numNodes"] = 5
    value["items"].append(installed_runtime("new"))

    replaced: list[str] = []

    def killed(at: int, name: str, data: bytes) -> None:
        if len(replaced) == 2:
            raise KilledError
        replaced.append(name)
        atomic.replace_at(at, name, data)

    kubectl(json.dumps(value))
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "replace_at", killed)
        with pytest.raises(KilledError):
            pull()
    Path("runtimes/.team-torch.yaml.4711.trainc-part").write_text(manifests.MARK)
    numbers = [yaml.safe_load((Path("runtimes") / name).read_text())["spec"]["mlPolicy"]["numNodes"] for name in FILES]
    assert sorted(numbers) == [2, 5, 5]
    kubectl()
    assert pull().err == "runtimes: 2 written, 0 removed, 1 unchanged\n"
    assert files() == [LISTING, *FILES]


def test_check_writes_nothing(kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
    done = pull("--check")
    assert (done.code, done.out.count("--- /dev/null")) == (3, 3)
    assert done.err == "runtimes is out of date: run the command without --check\n"
    assert not Path("runtimes").exists()
    pull()
    before = contents()
    value = json.loads(LIST)
    value["items"][0]["spec"]["mlPolicy"]["numNodes"] = 8
    value["items"][2] = installed_runtime("new", "vision")
    kubectl(json.dumps(value))
    done = pull("--check")
    assert done.code == 3
    assert done.out == snapshot
    assert contents() == before
    pull()
    assert pull("--check") == Done(0, "", "")


def test_check_and_force_contradict_each_other() -> None:
    done = pull("--check", "--force")
    assert (done.code, "--check cannot be combined with --force" in done.err) == (2, True)


def test_the_default_folder_is_in_the_settings(kubectl: Kubectl) -> None:
    Path("trainc.yaml").write_text("runtimes: {paths: [one.yaml, platform/runtimes]}\n")
    assert pull().err == "platform/runtimes: 3 written, 0 removed, 0 unchanged\n"
    assert run("runtimes", "export", "plain").err == "platform/runtimes/plain.yaml: written\n"
    Path("trainc.yaml").write_text("runtimes: {paths: [/etc]}\n")
    done = pull()
    assert (done.code, "trainc.yaml has errors" in done.err) == (2, True)
    assert pull("-o", "platform/runtimes", "--check").code == 0


def test_a_build_into_the_folder_is_an_error(kubectl: Kubectl) -> None:
    """No runtime is in an output folder, whose other manifests kubectl applies."""
    pull()
    Path("job.yaml").write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
        "metadata: {name: a, namespace: research}\nspec: {runtimeRef: {name: team-torch}}\n"
    )
    before = contents()
    for check in ((), ("--check",)):
        done = run("build", "job.yaml", "-r", "runtimes", "-o", "runtimes", *check)
        assert (done.code, done.out) == (1, "")
        assert "runtimes/team-torch.yaml:3:7: error[source-in-output]" in done.err
    assert contents() == before


# import.


@pytest.mark.parametrize("file", ["list.json", "list.yaml", "managed-fields.json"])
def test_an_import_writes_the_same_bytes_as_a_pull(file: str, kubectl: Kubectl) -> None:
    pull()
    assert run("runtimes", "import", str(DATA / file), "--check") == Done(0, "", "")
    done = run("runtimes", "import", "-", "-o", "copy", stdin=(DATA / file).read_bytes())
    assert done == Done(0, "", "copy: 3 written, 0 removed, 0 unchanged\n")
    assert contents("copy") == contents("runtimes")


def test_a_rendered_chart(snapshot: SnapshotAssertion) -> None:
    """Its runtimes are documents of their own or in a ConfigMap; documents of other kinds are not pinned."""
    documents = [CONFIGMAP.read_text(), json.dumps(installed_runtime("own")), "kind: Service\napiVersion: v1\n"]
    Path("chart.yaml").write_text("\n---\n".join(documents))
    assert run("runtimes", "import", "chart.yaml").err == "runtimes: 2 written, 0 removed, 0 unchanged\n"
    assert contents("runtimes")["vision.yaml"].decode() == snapshot
    assert files() == [LISTING, "own.yaml", "vision.yaml"]


def test_the_namespace_of_a_chart() -> None:
    Path("chart.yaml").write_text(json.dumps(installed_runtime("a", "")))
    assert run("runtimes", "import", "chart.yaml", "-n", "speech").code == 0
    assert files() == [LISTING, "speech/a.yaml"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("kind: Service\napiVersion: v1\n", "file.yaml: error[no-runtimes]: has no", id="none"),
        pytest.param("", "error[no-runtimes]", id="empty"),
        pytest.param("a: [\n", "error[yaml]", id="syntax"),
        pytest.param(LIST.replace("v1alpha1", "v9"), "error[unknown-version]", id="version"),
        pytest.param(LIST[:-9], "error[yaml]", id="a part of a list"),
        pytest.param(answer(installed_runtime("../x")), "file.yaml:1:", id="a name, with its place"),
    ],
)
def test_an_import_that_fails(text: str, message: str, kubectl: Kubectl) -> None:
    pull()
    before = contents("runtimes")
    Path("file.yaml").write_text(text)
    done = run("runtimes", "import", "file.yaml")
    assert (done.code, message in done.err) == (1, True), done.err
    assert contents("runtimes") == before


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("missing.json", "error[unreadable]: cannot be read: No such file", id="missing"),
        pytest.param(".", ".: error[unreadable]: is a folder", id="a folder"),
        pytest.param("out.json", "error[link-out]", id="a link"),
    ],
)
def test_a_file_that_cannot_be_imported(path: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(LIST)
    Path("out.json").symlink_to(tmp_path / "answer.json")
    done = run("runtimes", "import", path)
    assert (done.code, message in done.err) == (1, True), done.err
    assert not Path("runtimes").exists()


# The other subcommands.


def test_the_subcommands(kubectl: Kubectl) -> None:
    pull()
    shown = run("runtimes", "show", "jax.v0.9")
    assert (shown.code, shown.out) == (0, Path("runtimes/vision/jax.v0.9.yaml").read_text())
    for subcommand in ("list", "show", "export", "pull", "import"):
        usage = run("runtimes", subcommand, "--help")
        assert (usage.code, usage.out.split(" [")[0]) == (0, f"Usage: trainc runtimes {subcommand}")


def test_a_runtime_is_exported_by_name() -> None:
    done = run("runtimes", "export", "plain", "torch-distributed", "plain")
    assert (done.code, files()) == (0, ["plain.yaml", "torch-distributed.yaml"])
    assert run("runtimes", "export", "plain").err == "runtimes/plain.yaml: exists, kept\n"
    done = run("runtimes", "export", "plane", "torch-distributed")
    assert (done.code, 'No built-in runtime "plane". Did you mean "plain"?' in done.err) == (2, True)


def test_the_origin_of_a_built_in_runtime() -> None:
    rows = {row.split()[0]: re.split(r"  +", row)[-1] for row in run("runtimes", "list").out.splitlines()}
    assert rows["torch-distributed"] == "Trainer v2.3.0"
    assert rows["plain"].startswith("trainc v")
    listed = {entry["name"]: entry for entry in json.loads(run("runtimes", "list", "--format", "json").out)}
    assert listed["torch-distributed"]["origin"] == {"owner": "Trainer", "release": "v2.3.0"}


def test_the_runtimes_of_the_settings_are_listed() -> None:
    Path("platform").mkdir()
    Path("platform/a.yaml").write_text(json.dumps(installed_runtime("a")))
    Path("jobs").mkdir()
    Path("trainc.yaml").write_text("runtimes: {paths: [platform], builtin: forbid}\n")
    names = [row.split()[0] for row in run("runtimes", "list", "jobs").out.splitlines()]
    assert names == ["NAME", "a"]
    assert run("runtimes", "show", "plain", "jobs").code == 0


# The release of Trainer in the cluster.

CONTROLLER = f"{IMAGES} ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.0"


def installed(tmp_path: Path, images: str = CONTROLLER) -> None:
    (tmp_path / "bin" / "images").write_text(images)


def test_a_pinned_file_records_the_release(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl(answer(installed_runtime("a")))
    installed(tmp_path)
    done = pull()
    assert 'the cluster runs Trainer v2.2.0: set trainerVersion: "2.2" in trainc.yaml\n' in done.err
    assert "# The cluster runs Trainer v2.2.0.\n" in Path("runtimes/a.yaml").read_text()


def test_the_setting_is_written_once(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl(answer(installed_runtime("a")))
    installed(tmp_path)
    Path("trainc.yaml").write_text("# ours\nsources: [jobs]\n")
    assert pull("--check").code == 3
    assert Path("trainc.yaml").read_text() == "# ours\nsources: [jobs]\n"
    assert 'trainc.yaml: trainerVersion: "2.2"\n' in pull().err
    assert Path("trainc.yaml").read_text() == '# ours\ntrainerVersion: "2.2"\nsources: [jobs]\n'
    assert "trainerVersion" not in pull().err


def test_a_settings_file_keeps_its_permissions_and_a_link_stays(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl(answer(installed_runtime("a")))
    installed(tmp_path)
    Path("trainc.yaml").write_text("sources: [jobs]\n")
    Path("trainc.yaml").chmod(0o640)
    pull()
    assert Path("trainc.yaml").stat().st_mode & 0o777 == 0o640
    Path("trainc.yaml").write_text("sources: [jobs]\n")
    Path("trainc.yaml").rename("ours.yaml")
    Path("trainc.yaml").symlink_to("ours.yaml")
    assert 'ours.yaml: trainerVersion: "2.2"\n' in pull().err
    assert Path("trainc.yaml").is_symlink()


def test_another_setting_is_reported_and_kept(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl(answer(installed_runtime("a")))
    installed(tmp_path)
    Path("trainc.yaml").write_text('trainerVersion: "2.1"\n')
    assert 'set trainerVersion: "2.2"' in pull().err
    assert Path("trainc.yaml").read_text() == 'trainerVersion: "2.1"\n'


@pytest.mark.parametrize(
    "images", ["", IMAGES, f"{CONTROLLER} a/trainer-controller-manager:v2.3.0", f"{CONTROLLER}-rc.1"]
)
def test_without_one_release_nothing_is_recorded(images: str, kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl(answer(installed_runtime("a")))
    installed(tmp_path, images)
    pull()
    assert "The cluster runs" not in Path("runtimes/a.yaml").read_text()


def test_a_release_that_trainc_does_not_compile_for(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl(answer(installed_runtime("a")))
    installed(tmp_path, "a/trainer-controller-manager:v9.1.0")
    assert "the cluster runs Trainer v9.1.0, for which trainc does not compile\n" in pull().err
