"""`trainc pods`: the pods, their names, the environment of their containers, and the output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import pytest
import yaml
from running import run
from syrupy.assertion import SnapshotAssertion

from trainc.pods import jobs_of
from trainc.pods.table import cut

GOLDEN = Path(__file__).parents[2] / "golden"
KIND = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
INDEX = "batch.kubernetes.io/job-completion-index"
TOKEN = "hf_abcdefgh"


@pytest.fixture(autouse=True)
def project(empty_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "120")
    return empty_root


def named_job(name: str, *, pods: int = 1, replicas: int = 1, spec: Any = None, **container: Any) -> dict[str, Any]:
    """Return a replicated job whose container has its name."""
    one = {"name": name, "image": "ghcr.io/acme/it:1.0", **container}
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": {"containers": [one]}}} | (spec or {})
    return {"name": name, "replicas": replicas, "template": {"spec": spec}}


def write_job(*jobs: dict[str, Any], others: tuple[Any, ...] = (), namespace: str | None = "ml", **jobset: Any) -> None:
    runtime = {**KIND, "kind": "ClusterTrainingRuntime", "metadata": {"name": "own"}}
    runtime["spec"] = {"template": {"spec": {"replicatedJobs": list(jobs), **jobset}}}
    trainjob = {**KIND, "kind": "TrainJob", "metadata": {"name": "t"}, "spec": {"runtimeRef": {"name": "own"}}}
    if namespace:
        trainjob["metadata"]["namespace"] = namespace  # type: ignore[index]
    Path("job.yaml").write_text(yaml.safe_dump_all([runtime, trainjob, *others]))


def pods(*arguments: str) -> list[dict[str, Any]]:
    done = run("pods", "job.yaml", "--format", "json", *arguments)
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def from_fields(**fields: str) -> list[dict[str, Any]]:
    """Return variables with values from fields."""
    return [{"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()]


@pytest.mark.parametrize("case", ["accelerators", "env-sources", "flux-lammps", "llm-finetune-4x8", "mpi-solver"])
def test_the_table_of_a_golden_case(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    assert run("pods", "input.yaml").out == snapshot


def test_the_json_of_a_golden_case(snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / "llm-finetune-4x8")
    assert run("pods", "input.yaml", "--index", "2", "--format", "json").out == snapshot


def test_names_and_addresses() -> None:
    write_job(named_job("head"), named_job("node", pods=2, replicas=2), network={"subdomain": "net"})
    assert [(pod["job"], pod["index"], pod["name"], pod["hostname"], pod["fqdn"]) for pod in pods()] == [
        ("t-head-0", 0, "t-head-0-0", "t-head-0-0", "t-head-0-0.net.ml.svc.cluster.local"),
        ("t-node-0", 0, "t-node-0-0", "t-node-0-0", "t-node-0-0.net.ml.svc.cluster.local"),
        ("t-node-0", 1, "t-node-0-1", "t-node-0-1", "t-node-0-1.net.ml.svc.cluster.local"),
        ("t-node-1", 0, "t-node-1-0", "t-node-1-0", "t-node-1-0.net.ml.svc.cluster.local"),
        ("t-node-1", 1, "t-node-1-1", "t-node-1-1", "t-node-1-1.net.ml.svc.cluster.local"),
    ]


def test_a_long_name_is_truncated_for_its_suffix() -> None:
    write_job(named_job("n" * 57, spec={"completionMode": "NonIndexed"}))
    (pod,) = pods()
    assert (pod["job"], pod["name"]) == (f"t-{'n' * 57}-0", f"t-{'n' * 56}")


@pytest.mark.parametrize(
    ("network", "subdomain", "address"),
    [
        ({}, "t", "t-node-0-0.t"),
        ({"subdomain": "net"}, "net", "t-node-0-0.net"),
        ({"enableDNSHostnames": False}, None, None),
        ({"enableDNSHostnames": False, "subdomain": "net"}, None, None),
    ],
)
def test_without_a_subdomain_there_is_no_address(network: Any, subdomain: str | None, address: str | None) -> None:
    write_job(named_job("node"), network=network)
    (pod,) = pods()
    assert (pod["subdomain"], pod["address"], pod["hostname"]) == (subdomain, address, "t-node-0-0")


@pytest.mark.parametrize(
    ("spec", "indices"),
    [
        ({"completionMode": "NonIndexed", "parallelism": 2, "completions": 3}, [None, None, None]),
        ({"completionMode": "NonIndexed", "parallelism": 2, "completions": 1}, [None]),
        ({"completionMode": "NonIndexed", "parallelism": 2}, [None, None]),
        ({"completionMode": "Indexed", "parallelism": 1, "completions": 3}, [0, 1, 2]),
        ({"completionMode": "Indexed", "parallelism": 0, "completions": 3}, []),
        ({"completionMode": "Indexed", "parallelism": 3, "completions": 0}, []),
        ({}, [None]),
    ],
)
def test_how_many(spec: dict[str, Any], indices: list[int | None]) -> None:
    """Test Jobs in general: a TrainJob's pods all run at once."""
    template = {"spec": {**spec, "template": {"spec": {"containers": []}}}}
    jobset = {"metadata": {"name": "t"}, "spec": {"replicatedJobs": [{"name": "node", "template": template}]}}
    (only,) = jobs_of(jobset, {})
    assert [pod.completion for pod in only.pods()] == indices
    assert only.size == len(indices)


def test_a_job_without_indices_adds_no_variable_and_no_host_name() -> None:
    write_job(
        named_job("node", spec={"completionMode": "NonIndexed"}, env=from_fields(I=f"metadata.labels['{INDEX}']"))
    )
    (pod,) = pods()
    assert (pod["name"], pod["hostname"], pod["unknown"]["hostname"]) == ("t-node-0", None, "it is the pod's name")
    assert pod["containers"][0]["env"] == {"I": ""}


def test_the_index_is_the_last_variable() -> None:
    write_job(
        named_job(
            "node", pods=2, env=[{"name": "A", "value": "$(JOB_COMPLETION_INDEX)"}], args=["$(JOB_COMPLETION_INDEX)"]
        )
    )
    container = pods()[1]["containers"][0]
    assert container["env"] == {"A": "$(JOB_COMPLETION_INDEX)", "JOB_COMPLETION_INDEX": "1"}
    assert container["args"] == ["1"]


def test_a_variable_of_that_name_stays() -> None:
    write_job(named_job("node", env=[{"name": "JOB_COMPLETION_INDEX", "value": "own"}, {"name": "B", "value": "b"}]))
    assert pods()[0]["containers"][0]["env"] == {"JOB_COMPLETION_INDEX": "own", "B": "b"}


def test_the_labels_and_annotations_of_jobset_and_the_job_controller() -> None:
    write_job(
        {**named_job("head"), "groupName": "first"},
        {**named_job("node", pods=2, replicas=2), "groupName": "second"},
        {**named_job("tail", replicas=3), "groupName": "second"},
        coordinator={"replicatedJob": "head"},
    )
    (pod,) = pods("--job", "t-tail-1")
    key = "jobset.sigs.k8s.io"
    both = {
        f"{key}/coordinator": "t-head-0-0.t",
        f"{key}/global-replicas": "6",
        f"{key}/group-name": "second",
        f"{key}/group-replicas": "5",
        f"{key}/job-global-index": "4",
        f"{key}/job-group-index": "3",
        f"{key}/job-index": "1",
        f"{key}/job-key": "212e28e0db0a57ee23dd4103576372db1c475925",
        f"{key}/jobset-name": "t",
        f"{key}/jobset-uid": None,
        f"{key}/replicatedjob-name": "tail",
        f"{key}/replicatedjob-replicas": "3",
        f"{key}/restart-attempt": "0",
        INDEX: "0",
    }
    of_job = {"job-name": "t-tail-1", "controller-uid": None}
    priority = {f"{key}/priority": None}
    assert pod["annotations"] == both
    assert pod["labels"] == both | priority | of_job | {
        f"batch.kubernetes.io/{name}": text for name, text in of_job.items()
    }


def test_without_a_namespace_the_values_that_depend_on_it_are_unknown() -> None:
    write_job(named_job("node", env=from_fields(NS="metadata.namespace")), namespace=None)
    (pod,) = pods()
    assert (pod["namespace"], pod["address"], pod["fqdn"]) == (None, "t-node-0-0.t", None)
    assert pod["labels"]["jobset.sigs.k8s.io/job-key"] is None
    assert pod["containers"][0]["unknown"] == {"env.NS": "the manifest sets no namespace"}


def test_an_unknown_value_has_a_reason() -> None:
    refer = [{"name": "HOST", "value": "$(POD)"}]
    keys = [{"secretRef": {"name": "keys"}}]
    write_job(
        named_job(
            "node", env=[*from_fields(POD="metadata.name"), *refer], command=["run", "--on=$(HOST)"], envFrom=keys
        )
    )
    (container,) = pods()[0]["containers"]
    reason = "the API server appends five characters: t-node-0-0-?????"
    assert (container["env"]["POD"], container["env"]["HOST"], container["command"]) == (None, None, ["run", None])
    assert container["unknown"] == {
        "command[1]": f"HOST is not known: POD is not known: {reason}",
        "env.POD": reason,
        "env.HOST": f"POD is not known: {reason}",
        "envFrom[0]": 'Secret "keys" is not in the given documents',
    }


def test_configmaps_of_the_input_and_of_the_job_are_known() -> None:
    rates = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "rates"}, "data": {"LR": "0.1"}}
    write_job(
        named_job("node", envFrom=[{"configMapRef": {"name": "rates"}}], command=["train", "$(LR)"]), others=(rates,)
    )
    assert pods()[0]["containers"][0]["command"] == ["train", "0.1"]


def test_a_path_in_a_volume_is_expanded() -> None:
    mounts = [
        {"name": "v", "mountPath": "/a", "subPathExpr": "logs/$(JOB_COMPLETION_INDEX)"},
        {"name": "v", "mountPath": "/b", "subPath": "$(JOB_COMPLETION_INDEX)"},
        {"name": "v", "mountPath": "/c", "subPathExpr": "$(POD)"},
    ]
    one = named_job("node", pods=2, volumeMounts=mounts, env=from_fields(POD="metadata.uid"))
    one["template"]["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    write_job(one)
    container = pods()[1]["containers"][0]
    assert [mount["subPath"] for mount in container["volumeMounts"]] == ["logs/1", "$(JOB_COMPLETION_INDEX)", None]
    assert list(container["unknown"]) == ["volumeMounts[2].subPath", "env.POD"]


def test_resources_have_their_defaults() -> None:
    ask = {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "requests.cpu"}}}
    write_job(named_job("node", resources={"limits": {"cpu": "1500m", "nvidia.com/gpu": 2}}, env=[ask]))
    (pod,) = pods()
    assert pod["requests"] == {"cpu": "1500m", "nvidia.com/gpu": "2"}
    assert pod["containers"][0]["resources"]["requests"] == pod["requests"]
    assert pod["containers"][0]["env"]["CPUS"] == "2"


def test_a_command_runs_as_shown() -> None:
    dump = "import json, os, sys; json.dump([dict(os.environ), sys.argv[1:]], sys.stdout)"
    write_job(
        named_job("node", pods=2, command=["python", "-c", dump, "$(HOME_OF_IT)/$(JOB_COMPLETION_INDEX)"], env=HOME)
    )
    container = pods("--index", "1")[0]["containers"][0]
    command = [sys.executable, *container["command"][1:]]
    done = subprocess.run(command, env=container["env"], capture_output=True, text=True, check=True)
    env, arguments = json.loads(done.stdout)
    assert (env | container["env"], arguments) == (env, ["/data/1"])


HOME = [{"name": "HOME_OF_IT", "value": "/data"}]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), ["t-head-0-0", "t-node-0-0", "t-node-0-1", "t-node-1-0", "t-node-1-1"]),
        (("--job", "head"), ["t-head-0-0"]),
        (("--job", "t-node-1"), ["t-node-1-0", "t-node-1-1"]),
        (("--index", "1"), ["t-node-0-1", "t-node-1-1"]),
        (("--job", "node", "--index", "0"), ["t-node-0-0", "t-node-1-0"]),
        (("--only", "t", "--job", "t-node-0", "--index", "1"), ["t-node-0-1"]),
    ],
)
def test_selected_pods(arguments: tuple[str, ...], names: list[str]) -> None:
    write_job(named_job("head"), named_job("node", pods=2, replicas=2))
    assert [pod["name"] for pod in pods(*arguments)] == names


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--job", "nod"), 2, 'Unknown job "nod": did you mean node?'),
        (("--job", "launcher"), 2, 'Unknown job "launcher": the replicated jobs are head, node.'),
        (("--index", "2"), 2, "No pod has completion index 2: the indexes are 0 to 1."),
        (("--job", "head", "--index", "1"), 2, "No pod has completion index 1: the indexes are 0 to 0."),
        (("--only", "other"), 1, "error[only-not-found]"),
        (("-r", "none"), 1, "error[unreadable]"),
    ],
)
def test_selectors_without_a_match(arguments: tuple[str, ...], code: int, words: str) -> None:
    write_job(named_job("head"), named_job("node", pods=2))
    done = run("pods", "job.yaml", *arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err


def test_without_trainjobs_there_is_nothing_to_show(project: Path) -> None:
    done = run("pods")
    assert (done.code, done.out) == (1, "")
    assert "error[no-trainjob]" in done.err


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ((), ["t-node-0-0", "t-node-0-1", "t-node-0-2", "t-node-0-3", "... and 996 more"]),
        (("--index", "996"), ["t-node-0-996"]),
    ],
)
def test_many_pods_are_summed_up(arguments: tuple[str, ...], lines: list[str]) -> None:
    write_job(named_job("node", pods=1000))
    done = run("pods", "job.yaml", *arguments).out.splitlines()
    found = done[3 : done.index("", 3)]
    assert [line if line.startswith("...") else line.partition(" ")[0] for line in found] == lines


def test_so_are_many_jobs_of_one_pod() -> None:
    write_job(named_job("node", replicas=1000))
    out = run("pods", "job.yaml").out
    assert "t-node-3-0 " in out
    assert "t-node-4-0 " not in out
    assert "... and 996 more" in out


def test_a_fifth_pod_is_listed_instead_of_counted() -> None:
    write_job(named_job("node", pods=5))
    out = run("pods", "job.yaml").out
    assert "t-node-0-4 " in out
    assert "more" not in out


def test_all_pods_are_in_the_json() -> None:
    write_job(named_job("node", pods=1000))
    assert [pod["index"] for pod in pods()] == list(range(1000))


@pytest.mark.parametrize("width", [20, 41, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    wide = [{"name": "WIDE", "value": "訓練" * 100}, {"name": "LONG", "value": "x" * 300}]
    write_job(
        named_job("node", pods=7, env=wide, command=["train", "--" + "y" * 300], resources={"limits": {"cpu": 1}})
    )
    lines = run("pods", "job.yaml").out.splitlines()
    assert max(sum(1 + (east_asian_width(c) in "WF") for c in line) for line in lines) <= width


@pytest.mark.parametrize(
    ("line", "width", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("訓練", 4, "訓練"),
        ("訓練所", 4, "訓…"),
        ("ab cd", 4, "ab…"),
        ("é", 1, "é"),
    ],
)
def test_cut(line: str, width: int, shown: str) -> None:
    assert cut(line, width) == shown


def test_control_characters_are_escaped() -> None:
    write_job(named_job("node", env=[{"name": "A", "value": "a\n\x1b[2Jb"}]))
    assert "A=a\\n\\x1b[2Jb\n" in run("pods", "job.yaml").out


def test_secrets_are_masked_in_the_table_and_not_in_the_json() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "sesame-1"}}
    env = [
        {"name": "HF_TOKEN", "value": TOKEN},
        {"name": "URL", "value": "https://me:pw@host/$(HF_TOKEN)"},
        {"name": "DOOR", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ]
    command = ["run", "--token", "abc", "--door=$(DOOR)"]
    write_job(named_job("node", env=env, command=command, args=["$(HF_TOKEN)"]), others=(secret,))
    shown, whole = run("pods", "job.yaml").out, run("pods", "job.yaml", "--format", "json").out
    assert [word for word in (TOKEN, "pw@", "sesame-1", "abc") if word in shown] == []
    assert [word for word in (TOKEN, "pw@", "sesame-1", "abc") if word not in whole] == []
    assert "HF_TOKEN=***" in shown
    assert "run --token *** --door=***" in shown


def test_a_value_of_a_secret_is_masked_in_its_variable_and_not_in_other_text() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    secret |= {"stringData": {"POSTGRES_USER": "feast", "LETTER": "e"}}
    script = "from feast import Store; Store('$(POSTGRES_USER)')"
    write_job(
        named_job("node", envFrom=[{"secretRef": {"name": "s"}}], command=["python", "-c", script], args=["e"]),
        others=(secret,),
    )
    shown = run("pods", "job.yaml").out
    assert "POSTGRES_USER=***\n" in shown
    assert "LETTER=***\n" in shown
    assert "from feast import Store; Store('\"'\"'***'\"'\"')'\n" in shown
    assert "args       e\n" in shown


def test_a_variable_of_a_configmap_is_masked_by_its_name() -> None:
    rates = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "one", "b": "two"}}
    env = [
        {"name": name, "valueFrom": {"configMapKeyRef": {"name": "c", "key": key}}}
        for name, key in (("API_KEY", "a"), ("RATE", "b"))
    ]
    write_job(named_job("node", env=env, args=["$(API_KEY)/$(RATE)", "--password=$(RATE)"]), others=(rates,))
    shown = run("pods", "job.yaml").out
    assert "args       ***/two --password=***\n" in shown
    assert "API_KEY=***\n" in shown
    assert "RATE=two\n" in shown


def test_a_build_imports_nothing_of_it() -> None:
    write_job(named_job("node"))
    code = "import sys, trainc; assert trainc.compile(sys.argv[1:]).jobs; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, "job.yaml"], capture_output=True, text=True, check=True)
    parts = (
        "trainc.pods",
        "trainc.kubernetes.container_environment",
        "trainc.kubernetes.container_environment",
        "trainc.pipeline.checks.accelerators",
    )
    assert [name for name in done.stdout.split() if name.startswith(parts)] == []
