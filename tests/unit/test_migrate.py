"""`trainc migrate`: the forms of a job, the documents and files that it writes, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from files import write
from running import Done, run
from syrupy.assertion import SnapshotAssertion

from trainc.rewriting import migration
from trainc.rewriting.migration import report

pytestmark = pytest.mark.usefixtures("empty_folder")

JOB = """\
# The first job.
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: NAME  # unique
spec:
  pytorchReplicaSpecs:
    # One master.
    Master:
      replicas: 1
      template:
        spec:
          containers:
          - name: pytorch
            # Pinned.
            image: "acme/train:v1"
            command: [python, train.py]  # the entry point
            env:
            # For the log.
            - {name: LOG, value: 'yes'}
            resources: {limits: {cpu: 8, memory: 8Gi}}  # the whole node
          # A node pool.
          nodeSelector: {pool: gpu}
"""
TORCHRUN = JOB.replace("[python, train.py]", "[torchrun, train.py]").replace(
    "spec:\n  pytorch", 'spec:\n  nprocPerNode: "8"\n  pytorch', 1
)
WORKERS = """\
    Worker:
      replicas: 3
      template:
        spec:
          containers:
          - name: pytorch
            image: "acme/train:v1"
            command: [python, train.py]
            env: [{name: LOG, value: 'yes'}]
            resources: {limits: {cpu: 8, memory: 8Gi}}
          nodeSelector: {pool: gpu}
"""
OF_IMAGE = JOB.replace("command: [python, train.py]  # the entry point\n", "args: [--epochs=1]\n")
NEVER = "replicas: 1\n      restartPolicy: Never"
MPI_V1 = "apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: {name: pi}\nspec: {}\n"
MPI = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: pi, namespace: hpc}
spec:
  sshAuthMountPath: /home/mpiuser/.ssh
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: main, image: "acme/pi:v1", command: [mpirun, pi]}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: main, image: "acme/pi:v1"}]}}}
"""
ROLE = '{template: {spec: {containers: [{name: mxnet, image: "acme/mx:v1", command: [python, train.py]}]}}}'
MXNET = f"""\
apiVersion: kubeflow.org/v1
kind: MXJob
metadata: {{name: mnist}}
spec:
  jobMode: MXTrain
  mxReplicaSpecs:
    Scheduler: {ROLE}
    Server: {ROLE}
    Worker: {ROLE}
"""
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
        - {name: tensorflow, image: "acme/tf:v1", command: [python, train.py], resources: {limits: {cpu: 1}}}
  - {name: worker, replicas: 2, template: *template}
"""
JAX = """\
apiVersion: kubeflow.org/v1
kind: JAXJob
metadata: {name: mnist}
spec:
  jaxReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: jax
            image: acme/jax:v2
            command: [python, train.py]
            ports: [{name: jaxjob-port, containerPort: 1234}]
            env: [{name: AT, value: $(COORDINATOR_ADDRESS)}]
"""
ELASTIC = "spec:\n  elasticPolicy: {minReplicas: 1, maxReplicas: 4}\n  pytorch"


def named(name: str = "mnist", text: str = JOB) -> str:
    return text.replace("NAME", name)


def migrated(text: str, *options: str) -> list[dict[str, object]]:
    done = run("migrate", "-", *options, stdin=text.encode())
    assert done.code == 0, done.err
    return list(yaml.safe_load_all(done.out))


def forms(*options: str, code: int = 0) -> dict[str, str]:
    done = run("migrate", "--diff", "--format", "json", *options)
    assert done.code == code, done.err
    return {each["job"]["name"]: each["form"] for each in json.loads(done.out)["jobs"]}


def errors(done: Done) -> list[str]:
    return [line for line in done.err.splitlines() if ": error[" in line]


# Forms


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (named(text=TORCHRUN), "policy"),
        (named(), "policy"),
        (named(text=OF_IMAGE), "variables"),
        (named(text=TORCHRUN.replace("[torchrun,", "[sh, -c, 'torchrun --node_rank=$RANK train.py'] #")), "policy"),
        (named() + WORKERS, "policy"),
        (named(text=re.sub("replicas: .", NEVER, JOB + WORKERS)), "policy"),
        (named() + WORKERS.replace("pool: gpu", "pool: cpu"), "exact"),
        (JAX, "policy"),
    ],
    ids=[
        "torchrun",
        "python",
        "the program of an image",
        "a text that passes RANK on",
        "equal roles",
        "equal roles that do not restart",
        "roles that differ",
        "a variable of the user that reads one of the operator",
    ],
)
def test_the_first_form_that_keeps_behavior(text: str, form: str) -> None:
    Path("job.yaml").write_text(text)
    assert forms("job.yaml") == {"mnist": form}


def test_a_policy_has_no_variables_of_the_operator_but_constants() -> None:
    job, runtime = migrated(named(text=TORCHRUN))
    assert job["spec"] == {
        "runtimeRef": {"name": runtime["metadata"]["name"]},  # type: ignore[index]
        "trainer": {
            "numNodes": 1,
            "numProcPerNode": 8,
            "image": "acme/train:v1",
            "command": ["torchrun", "train.py"],
            "env": [{"name": "LOG", "value": "yes"}],
            "resourcesPerNode": {"limits": {"cpu": 8, "memory": "8Gi"}},
        },
    }
    text = json.dumps(runtime)
    assert '"mlPolicy": {"numNodes": 1, "torch": {}}' in text
    assert '"env": [{"name": "PYTHONUNBUFFERED", "value": "1"}]' in text
    assert "pytorchjob-port" not in text


def test_a_form_is_an_error_where_it_does_not_keep_behavior() -> None:
    Path("job.yaml").write_text(named(text=OF_IMAGE))
    done = run("migrate", "job.yaml", "--form", "policy")
    assert (done.code, done.out) == (1, "")
    assert 'env[PET_NPROC_PER_NODE].value of container pytorch: auto -> "8"' in errors(done)[0]
    assert "job.yaml:6:1: the field" not in done.err  # a default, which no line has


def test_extensions_can_be_left_out() -> None:
    elastic = TORCHRUN.replace("Master:", "Worker:").replace('spec:\n  nprocPerNode: "8"\n  pytorch', ELASTIC, 1)
    Path("job.yaml").write_text(named(text=elastic.replace("{cpu: 8, memory: 8Gi}", "{nvidia.com/gpu: 8}")))
    assert forms("job.yaml") == {"mnist": "policy"}
    assert forms("job.yaml", "--no-extensions") == {"mnist": "variables"}
    done = run("migrate", "job.yaml", "--diff")
    assert "only trainc reads: spec.mlPolicy.torch.elasticPolicy" in done.out
    assert "only trainc reads spec.mlPolicy.torch.elasticPolicy, which Trainer" in run("migrate", "job.yaml").err


def test_jobs_that_differ_in_fields_of_the_trainjob_share_a_runtime() -> None:
    other = named("other", JOB + WORKERS).replace("acme/train:v1", "acme/eval:v2").replace("train.py", "eval.py")
    other = other.replace("'yes'", "'no'").replace("cpu: 8", "cpu: 4")
    documents = migrated(f"{named('mnist', JOB + WORKERS.replace('3', '7'))}---\n{other}")
    assert [each["kind"] for each in documents] == ["TrainJob", "TrainJob", "ClusterTrainingRuntime"]
    assert [each["spec"]["trainer"]["numNodes"] for each in documents[:2]] == [8, 4]  # type: ignore[index]


def test_the_form_of_a_job_does_not_depend_on_another_that_shares_its_runtime() -> None:
    other = re.sub(" +(resources|command): .*\n", "", named("other", JOB + WORKERS))
    Path("job.yaml").write_text(f"{named(text=TORCHRUN + WORKERS.replace('python', 'torchrun'))}---\n{other}")
    assert forms("job.yaml") == {"mnist": "policy", "other": "variables"}


def test_the_choices_of_a_policy_are_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not their combinations: where variables are written, the ports, two ways to keep those of the operator."""
    tried: list[str] = []
    compiled = migration._Project.compile

    def counted(project: Any, trials: Any) -> Any:
        tried.extend(each.form for each in trials.values())
        return compiled(project, trials)

    monkeypatch.setattr(migration._Project, "compile", counted)
    Path("job.yaml").write_text(named(text=OF_IMAGE).replace("--epochs=1", "--rank=$RANK"))
    assert forms("job.yaml") == {"mnist": "variables"}
    built_in = ["policy"] * 2
    assert tried == [*built_in, *["policy"] * (1 + 4), "variables"]


def test_a_release_without_the_policy() -> None:
    Path("job.yaml").write_text(JAX)
    assert forms("job.yaml") == {"mnist": "policy"}
    [job] = json.loads(run("migrate", "--diff", "--format", "json", "--trainer-version", "2.1", "job.yaml").out)["jobs"]
    assert job["form"] == "variables"
    assert job["rejected"][0]["reasons"] == ["Trainer 2.1 has no mlPolicy.jax"]


def test_a_variable_that_would_be_expanded_stays_in_the_runtime() -> None:
    """In the old pod the operator's variables follow those of the job, so that the reference stays as it is."""
    job, runtime = migrated(named().replace("{name: LOG, value: 'yes'}", "{name: LOG, value: 'rank $(RANK)'}"))
    assert "LOG" not in json.dumps(job)
    assert "rank $(RANK)" in json.dumps(runtime)


def test_a_generated_name_stays() -> None:
    job, _ = migrated(named().replace("name: mnist ", "generateName: mnist- "))
    assert job["metadata"] == {"generateName": "mnist-"}


def test_fields_of_the_server_are_left_out() -> None:
    annotations = "annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}"
    job, _ = migrated(named().replace("# unique", f"\n  uid: a\n  resourceVersion: '1'\n  {annotations}"))
    assert job["metadata"] == {"name": "mnist"}


# Texts


def test_comments_and_quotes_travel_with_their_fields() -> None:
    done = run("migrate", "-", stdin=named().encode())
    job, _, runtime = done.out.partition("---\n")
    assert (
        job
        == """\
# The first job.
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: mnist  # unique
spec:
  runtimeRef:
    name: mnist-torch
  trainer:
    numNodes: 1
    # Pinned.
    image: "acme/train:v1"
    command: [python, train.py]  # the entry point
    env:
    # For the log.
    - {name: LOG, value: 'yes'}
    - name: WORLD_SIZE
      value: "1"  # repeats numNodes
    resourcesPerNode: {limits: {cpu: 8, memory: 8Gi}}  # the whole node
"""
    )
    assert "      # One master.\n      - name: node\n" in runtime
    assert "                # A node pool.\n                nodeSelector: {pool: gpu}\n" in runtime


def test_write_replaces_only_the_legacy_documents() -> None:
    before = "# Other.\r\nkind: ConfigMap\r\napiVersion: v1\r\nmetadata: {name: c}   \r\n---\r\n"
    after = "---\r\n# The end.\r\nkind: Service\r\napiVersion: v1\r\nmetadata: {name: s}"
    Path("all.yaml").write_bytes((before + named().replace("\n", "\r\n") + after).encode())
    done = run("migrate", "all.yaml", "--write")
    assert done.code == 0, done.err
    new = Path("all.yaml").read_bytes().decode()
    assert new.startswith(before)
    assert new.endswith(after)
    assert "kind: TrainJob\r\n" in new
    assert [path.name for path in Path("runtimes").iterdir()] == ["mnist-torch.yaml"]
    again = run("migrate", "all.yaml", "--write")
    assert (again.code, again.err) == (0, "nothing to migrate\n")
    assert Path("all.yaml").read_bytes().decode() == new


def test_items_of_a_list_and_json() -> None:
    first, second = (yaml.safe_load(named(name)) for name in ("one", "two"))
    whole = {"apiVersion": "v1", "kind": "List", "items": [first, {"kind": "Secret", "apiVersion": "v1"}, second]}
    Path("list.json").write_text(json.dumps(whole))
    Path("list.yaml").write_text(
        "apiVersion: v1\nkind: List\nitems:\n- " + named("three").replace("\n", "\n  ").rstrip() + "\n"
    )
    assert run("migrate", "list.json", "list.yaml", "--write").code == 0
    kinds = [item["kind"] for item in json.loads(Path("list.json").read_text())["items"]]
    assert kinds == ["TrainJob", "Secret", "TrainJob"]
    assert [item["kind"] for item in yaml.safe_load(Path("list.yaml").read_text())["items"]] == ["TrainJob"]
    assert run("validate", ".").code == 0


ONLY_TRAINC_READS = JOB.replace("NAME", "mnist").replace("'yes'", r'"it\'s"')
"""A job with an escape that libyaml rejects."""


def test_a_text_that_only_trainc_reads_loses_its_comments() -> None:
    done = run("migrate", "-", stdin=ONLY_TRAINC_READS.encode())
    assert done.out.startswith("# The first job.\n")
    assert "the comment <stdin>:5:16 is dropped: # unique\n" in done.err
    comments = re.findall("# .*", ONLY_TRAINC_READS)
    assert [each for each in comments if each not in done.out and f" is dropped: {each}\n" not in done.err] == []


def test_a_list_that_only_trainc_reads_stays(snapshot: SnapshotAssertion) -> None:
    whole = "kind: List\nitems:\n- " + ONLY_TRAINC_READS.replace("\n", "\n  ").rstrip() + "\n"
    Path("list.yaml").write_text(whole)
    done = run("migrate", "list.yaml", "--write")
    assert (done.code, Path("list.yaml").read_text(), Path("runtimes").exists()) == (1, whole, False)
    assert done.reported == snapshot
    assert run("migrate", "list.yaml", "-o", "new").code == 0


def test_output_has_the_names_of_the_sources() -> None:
    for name in ("jobs/a/one.yaml", "jobs/two.yaml"):
        write(name, named(Path(name).stem))
    assert run("migrate", "jobs", "-o", "new").code == 0
    found = sorted(str(path.relative_to("new")) for path in Path("new").rglob("*.yaml"))
    assert found == ["a/one.yaml", "runtimes/one-torch.yaml", "two.yaml"]
    done = run("migrate", "jobs", "-o", "new")
    assert (done.code, done.err) == (0, "")


# Files that are not written


def test_an_existing_file_is_replaced_only_by_force() -> None:
    Path("job.yaml").write_text(named())
    Path("new").mkdir()
    Path("new/job.yaml").write_text("mine\n")
    done = run("migrate", "job.yaml", "-o", "new")
    assert done.code == 1
    assert errors(done) == ["new/job.yaml: error[target-exists]: exists, with another content"]
    assert Path("new/job.yaml").read_text() == "mine\n"
    assert run("migrate", "job.yaml", "-o", "new", "--force").code == 0
    assert "kind: TrainJob" in Path("new/job.yaml").read_text()


def test_two_sources_with_one_name() -> None:
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "job.yaml").write_text(named(folder))
    done = run("migrate", "a", "b", "-o", "new")
    assert errors(done) == ["new/job.yaml: error[target-exists]: would have the documents of two sources"]


def test_a_source_behind_a_link_leaves_no_runtime() -> None:
    """The source stays, so nothing would use the runtime; the other source is written."""
    Path(".git").mkdir()
    Path("target").mkdir()
    Path("target/job.yaml").write_text(named())
    Path("job.yaml").symlink_to("target/job.yaml")
    done = run("migrate", "job.yaml", "--write")
    assert done.code == 1
    assert errors(done) == ["job.yaml: error[output-unwritable]: cannot be written: it is a link or unreadable"]
    assert not Path("runtimes").exists()
    assert run("migrate", ".", "--write").code == 0
    assert "kind: TrainJob" in Path("target/job.yaml").read_text()


def test_a_link_in_the_path() -> None:
    Path("target").mkdir()
    Path("runtimes").symlink_to("target")
    Path(".git").mkdir()
    Path("job.yaml").write_text(named())
    done = run("migrate", "job.yaml", "--write")
    assert done.code == 1
    assert len(errors(done)) == 1
    assert Path("job.yaml").read_text() == named()
    assert [*Path("target").iterdir()] == []


def test_a_file_with_an_error_stays_and_the_others_go_on() -> None:
    wrong = named("wrong").replace("name: pytorch", "name: main")
    Path("two.yaml").write_text(f"{named()}---\n{wrong}")
    Path("other.yaml").write_text(named("other"))
    done = run("migrate", ".", "--write")
    assert done.code == 1
    assert [line.partition(":")[0] for line in errors(done)] == ["two.yaml"]
    assert Path("two.yaml").read_text() == f"{named()}---\n{wrong}"
    assert "kind: TrainJob" in Path("other.yaml").read_text()


def test_strict_writes_nothing() -> None:
    Path("job.yaml").write_text(named().replace("replicas: 1\n", "replicas: 1\n      restartPolicy: ExitCode\n"))
    done = run("migrate", "job.yaml", "--write", "--strict")
    assert (done.code, len(errors(done))) == (1, 1)
    assert "error[legacy-losses]" in done.err
    assert "kind: PyTorchJob" in Path("job.yaml").read_text()
    assert run("migrate", "job.yaml", "--write").code == 0


@pytest.mark.parametrize(
    ("settings", "is_left_out"),
    [
        ("trainerVersion: '2.3'\noutput: none\n", True),
        ("trainerVersion: '2.4'\noutput: none\n", False),
        ("trainerVersion: '2.3'\noutput: rendered\n", False),
    ],
)
def test_a_time_to_live_that_repeats_the_training_is_left_out(settings: str, is_left_out: bool) -> None:
    policy = "  runPolicy: {ttlSecondsAfterFinished: 60}\n  pytorchReplicaSpecs:"
    Path("job.yaml").write_text(named().replace("  pytorchReplicaSpecs:", policy))
    Path("trainc.yaml").write_text(settings)
    done = run("migrate", "job.yaml")
    assert done.code == 0
    assert ("ttlSecondsAfterFinished: 60" in done.out, "`ttlSecondsAfterFinished` is left out" in done.err) == (
        not is_left_out,
        is_left_out,
    )


def test_check_fails_if_a_legacy_job_is_left() -> None:
    Path("job.yaml").write_text(named())
    done = run("migrate", ".", "--check")
    assert (done.code, done.out, done.err) == (3, "", "job.yaml:1: a legacy job is left\n")
    assert run("migrate", "job.yaml", "--write").code == 0
    assert run("migrate", ".", "--check").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "--write"), "- must be the only PATH and cannot be combined with --write."),
        (("--write", "--check"), "--write cannot be combined with --check."),
        (("-o", "new", "--diff"), "--output cannot be combined with --diff."),
        (("--force",), "--force requires --write or --output."),
    ],
)
def test_contradictory_options(arguments: tuple[str, ...], message: str) -> None:
    done = run("migrate", *arguments)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (MPI_V1, "unknown-version"),
        (MPI_V1.replace("kubeflow.org/v1", "acme.kubeflow.org/v1"), "not-migratable"),
        (named().replace("name: mnist", "name: {{ .Release.Name }}"), "template-not-rendered"),
        (f"{named()}---\n{named()}", "duplicate-trainjob"),
        (named().replace("name: pytorch", "name: main"), "required"),
    ],
    ids=[
        "an unsupported version",
        "an unsupported group",
        "a template",
        "two jobs with one name",
        "a job that does not compile",
    ],
)
def test_one_error_each(text: str, id: str) -> None:
    Path("job.yaml").write_text(text)
    done = run("migrate", "job.yaml")
    assert done.code == 1
    assert [line.partition("error[")[2].partition("]")[0] for line in errors(done)] == [id]
    assert done.out == ""


# Files


@pytest.mark.parametrize("form", [None, "exact"])
def test_the_hosts_of_a_volcano_job_are_in_a_config_map_beside_its_trainjob(form: str | None) -> None:
    options = () if form is None else ("--form", form)
    job, file, runtime = migrated(VOLCANO, *options)
    assert job["spec"] == {"runtimeRef": {"name": runtime["metadata"]["name"]}}  # type: ignore[index]
    assert (file["kind"], file["metadata"]) == ("ConfigMap", {"name": "dlrm-volcano-hosts"})
    assert file["data"] == {
        "VC_PS_HOSTS": "dlrm-ps-0-0.dlrm",
        "VC_PS_NUM": "1",
        "VC_WORKER_HOSTS": "dlrm-worker-0-0.dlrm,dlrm-worker-0-1.dlrm",
        "VC_WORKER_NUM": "2",
        "ps.host": "dlrm-ps-0-0.dlrm",
        "worker.host": "dlrm-worker-0-0.dlrm\ndlrm-worker-0-1.dlrm",
    }
    text = json.dumps(runtime)
    assert '"configMap": {"name": "dlrm-volcano-hosts"}' in text
    assert "$(JOBSET_NAME)" not in text


def test_the_hosts_are_in_the_namespace_that_the_job_names() -> None:
    _, file, _ = migrated(VOLCANO.replace("{name: dlrm}", "{name: dlrm, namespace: ads}"))
    assert file["metadata"] == {"name": "dlrm-volcano-hosts", "namespace": "ads"}


def test_the_new_documents_of_a_volcano_job_are_compiled_to_the_same_objects() -> None:
    Path("job.yaml").write_text(VOLCANO)
    before = run("build", "--legacy", "job.yaml")
    assert run("migrate", "job.yaml", "--write").code == 0
    assert run("migrate", "job.yaml", "--check").code == 0
    after = run("build", "job.yaml", "-r", "runtimes", "--passthrough")
    assert after.code == 0, after.err
    kinds = [[each["kind"] for each in yaml.safe_load_all(done.out)] for done in (before, after)]
    assert [sorted(each) for each in kinds] == [["ConfigMap", "JobSet", "PodGroup"]] * 2


@pytest.mark.parametrize("form", [json.dumps, yaml.safe_dump])
def test_the_files_of_an_item_are_items_too(form: Callable[[object], str]) -> None:
    whole = {"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(VOLCANO), {"kind": "Other"}]}
    Path("list.yaml").write_text(form(whole))
    assert run("migrate", "list.yaml", "--write").code == 0
    items = yaml.safe_load(Path("list.yaml").read_text())["items"]
    assert [each["kind"] for each in items] == ["TrainJob", "ConfigMap", "Other"]


def test_the_files_of_a_job_in_json_follow_it() -> None:
    Path("job.json").write_text(json.dumps(yaml.safe_load(VOLCANO)))
    assert run("migrate", "job.json", "--write").code == 0
    text = Path("job.json").read_text()
    _, end = json.JSONDecoder().raw_decode(text)
    assert json.loads(text[end:])["kind"] == "ConfigMap"
    assert run("validate", "job.json", "-r", "runtimes").code == 0


def test_a_gang_that_trainer_cannot_make_is_an_error() -> None:
    Path("job.yaml").write_text(VOLCANO.replace("plugins:", "minAvailable: 1\n  plugins:"))
    done = run("migrate", "job.yaml")
    assert "exact: spec.minMember: 1 -> 3)" in errors(done)[0]


def test_keys_of_root_are_in_the_volume_that_the_operator_mounts() -> None:
    """ssh of root ignores those of Trainer's volume, which others may read."""
    wait = "initContainers: [{name: wait, image: a/b:1, volumeMounts: [{name: V, mountPath: /etc/x}]}], "
    text = MPI.replace("/home/mpiuser/.ssh", "/root/.ssh")
    for volume, new in (("ssh-auth", "ssh-auth"), ("mpi-job-config", "mpi-hostfile")):
        Path("job.yaml").write_text(text.replace("{spec: {", "{spec: {" + wait.replace("V", volume), 1))
        _, runtime = migrated(Path("job.yaml").read_text())
        launcher, node = job_of(runtime, 0), job_of(runtime, 1)
        assert launcher["initContainers"][0]["volumeMounts"][0]["name"] == new
        assert "initContainers" not in node
        for pod in (launcher, node):
            secret = pod["volumes"][0]["secret"]
            assert (secret["secretName"], secret["defaultMode"]) == ("pi-mpi-ssh-auth", 0o600)
            assert pod["containers"][0]["volumeMounts"] == [{"name": "ssh-auth", "mountPath": "/root/.ssh"}]
    done = run("migrate", "job.yaml", "--write")
    assert done.code == 0, done.err
    assert "ssh-key-mode" not in run("validate", "job.yaml", "-r", "runtimes").err


@pytest.mark.parametrize("setting", ["namePrefix: a-", "delivery: {nameSuffixHash: true}"])
def test_the_secret_of_root_does_not_follow_the_names_of_a_project(setting: str) -> None:
    Path("job.yaml").write_text(MPI.replace("/home/mpiuser/.ssh", "/root/.ssh"))
    Path("trainc.yaml").write_text(f"{setting}\n")
    (error,) = errors(run("migrate", "job.yaml"))
    assert f'the names in Secret "pi-mpi-ssh-auth" do not follow {setting.partition(":")[0]}' in error


def job_of(runtime: dict[str, object], index: int) -> dict[str, Any]:
    """Return the pod spec of a replicated job."""
    jobs: Any = runtime["spec"]
    pod: dict[str, Any] = jobs["template"]["spec"]["replicatedJobs"][index]["template"]["spec"]["template"]["spec"]
    return pod


@pytest.mark.parametrize(
    ("context", "volumes", "group"),
    [
        pytest.param("{runAsUser: 1000}", "[]", "fsGroup: 1000", id="the number of the user"),
        pytest.param("{runAsUser: 1000, runAsGroup: 3000}", "[]", "fsGroup: 3000", id="its group"),
        pytest.param("{runAsUser: 1000, runAsGroup: 0}", "[]", "", id="a group that can read the key"),
        pytest.param("{runAsUser: 1000, fsGroup: 5}", "[]", "fsGroup: 5", id="that of the job"),
        pytest.param("{}", "[]", "", id="the user of the image"),
        pytest.param("{runAsUser: 1000}", "[{name: a, emptyDir: {}}]", "fsGroup: 1000", id="a folder of the pod"),
        pytest.param("{runAsUser: 1000}", "[{name: a, persistentVolumeClaim: {claimName: a}}]", None, id="a claim"),
    ],
)
def test_the_group_that_reads_the_ssh_key(context: str, volumes: str, group: str | None) -> None:
    of_pod = f"{{spec: {{securityContext: {context}, volumes: {volumes}, "
    Path("job.yaml").write_text(MPI.replace("{spec: {", of_pod))
    done = run("migrate", "job.yaml")
    assert done.code == (1 if group is None else 0)
    assert group is None or ("fsGroup" in done.out) is bool(group)
    assert not group or done.out.count(group) == 2


def test_keys_that_no_exact_form_has() -> None:
    Path("job.yaml").write_text(MPI)
    assert run("migrate", "job.yaml").code == 0
    done = run("migrate", "job.yaml", "--form", "exact")
    assert errors(done)[0].endswith(
        'does (exact: `trainc secret` creates Secret "pi-mpi-ssh-auth" only for mlPolicy.mpi)'
    )


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ("namePrefix: a-", "namePrefix"),
        ("nameSuffix: -a", "nameSuffix"),
        ("namespace: ml", "namespace"),
        ("delivery: {nameSuffixHash: true}", "delivery.nameSuffixHash"),
        (
            "environments: {dev: {namespace: dev}, prod: {namePrefix: a-, nameSuffix: -a}}",
            "namespace of environment dev, namePrefix of environment prod and nameSuffix of environment prod",
        ),
    ],
)
def test_a_file_with_names_does_not_follow_a_project(settings: str, names: str) -> None:
    Path("job.yaml").write_text(VOLCANO)
    Path("mnist.yaml").write_text(named())
    Path("trainc.yaml").write_text(f"{settings}\n")
    done = run("migrate", "job.yaml", "mnist.yaml", "--write")
    assert done.code == 1
    why = f'exact: the names in ConfigMap "dlrm-volcano-hosts" do not follow {names}'
    assert [line.rpartition(". ")[2] for line in errors(done)] == [f"{why})"]
    assert Path("job.yaml").read_text() == VOLCANO
    assert "kind: TrainJob" in Path("mnist.yaml").read_text()


def test_a_file_with_names_in_a_project_that_keeps_them() -> None:
    Path("job.yaml").write_text(VOLCANO)
    Path("trainc.yaml").write_text("labels: {team: ml}\nenvironments: {dev: {}, prod: {annotations: {a: b}}}\n")
    assert forms("job.yaml") == {"dlrm": "exact"}


@pytest.mark.parametrize(
    ("field", "code"), [("namePrefix: a-", 1), ("nameSuffix: -a", 1), ("namespace: ml", 0), ("labels: []", 0)]
)
def test_a_file_with_names_does_not_follow_a_kustomization(field: str, code: int) -> None:
    Path("job.yaml").write_text(VOLCANO)
    Path("kustomization.yaml").write_text(f"resources: [job.yaml]\n{field}\n")
    done = run("migrate", ".", "--diff")
    assert done.code == code
    assert (f"do not follow {field.partition(':')[0]} of kustomization.yaml" in done.err) == bool(code)


def test_a_file_with_names_does_not_follow_a_generated_name() -> None:
    Path("job.yaml").write_text(VOLCANO.replace("name: dlrm", "generateName: dlrm-"))
    assert "do not follow metadata.generateName)" in errors(run("migrate", "job.yaml"))[0]


def test_an_mxjob_follows_the_names_of_a_project() -> None:
    """Its host names are in variables only."""
    Path("job.yaml").write_text(MXNET)
    Path("trainc.yaml").write_text("namePrefix: a-\ndelivery: {nameSuffixHash: true}\n")
    assert run("migrate", "job.yaml", "--write").code == 0
    built = run("build", "job.yaml", "-r", "runtimes").out
    assert "value: $(JOBSET_NAME)-scheduler-0-0.$(JOBSET_NAME)" in built
    assert forms("job.yaml", "-r", "runtimes") == {}


# Projects


def test_the_comparison_runs_in_every_environment() -> None:
    """A patch for all TrainJobs would change the new job in one environment."""
    Path("jobs").mkdir()
    Path("jobs/job.yaml").write_text(named())
    patch = "{target: {kind: TrainJob}, patch: {spec: {trainer: {image: other}}}}"
    Path("trainc.yaml").write_text(
        f"sources: [jobs]\nenvironments:\n  dev: {{nameSuffix: -dev}}\n  prod: {{patches: [{patch}]}}\n"
    )
    done = run("migrate")
    assert done.code == 1
    assert "image of container pytorch: acme/train:v1 -> other" in errors(done)[0]


def test_environments_that_keep_the_behavior() -> None:
    Path("jobs").mkdir()
    Path("platform").mkdir()
    Path("jobs/job.yaml").write_text(named())
    Path("trainc.yaml").write_text(
        "sources: [jobs]\nruntimes: {paths: [platform]}\noutput: rendered\nenvironments:\n"
        "  dev: {nameSuffix: -dev, namespace: dev}\n"
        "  prod: {namespace: ml, images: [{name: acme/train, newTag: v2}]}\n"
    )
    assert run("migrate", "--write").code == 0
    assert [path.name for path in Path("platform").iterdir()] == ["mnist-torch.yaml"]
    assert run("build").code == 0
    built = (Path("rendered") / "prod" / "ml" / "mnist.yaml").read_text()
    assert "image: acme/train:v2" in built


def test_a_patch_of_the_settings(snapshot: SnapshotAssertion) -> None:
    Path("job.yaml").write_text(named())
    Path("trainc.yaml").write_text(
        "patches:\n"
        "- {target: {kind: PyTorchJob, name: mnist}, patch: {metadata: {labels: {a: b}}}}\n"
        "- {target: {kind: PyTorchJob, name: other}, patch: {metadata: {labels: {a: b}}}}\n"
        "- {target: {kind: JobSet, name: mnist}, patch: {metadata: {labels: {a: b}}}}\n"
    )
    done = run("migrate", "job.yaml")
    assert done.code == 1
    assert done.reported == snapshot


def test_a_patch_of_a_kustomization() -> None:
    Path("job.yaml").write_text(named())
    Path("kustomization.yaml").write_text(
        "resources: [job.yaml]\npatches:\n- target: {kind: PyTorchJob, name: mni.*}\n"
        "  patch: '[{op: remove, path: /metadata/labels}]'\n"
    )
    done = run("migrate", ".")
    assert done.code == 1
    assert errors(done)[0].startswith("kustomization.yaml:3:3: error[patch-of-old-kind]")


def test_a_patch_file_of_a_kustomization() -> None:
    Path("base").mkdir()
    Path("base/job.yaml").write_text(named())
    Path("patch.yaml").write_text("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: mnist}\n")
    Path("kustomization.yaml").write_text("resources: [base]\npatches: [{path: patch.yaml}]\n")
    Path("base/kustomization.yaml").write_text("resources: [job.yaml]\n")
    done = run("migrate", ".")
    assert done.code == 1
    assert errors(done)[0].startswith("patch.yaml:3:18: error[patch-of-old-kind]")


def test_a_runtime_that_exists_is_used() -> None:
    for name in ("one", "two"):
        Path(f"{name}.yaml").write_text(named(name))
    assert run("migrate", "one.yaml", "--write").code == 0
    done = run("migrate", ".", "--write")
    assert done.code == 0, done.err
    assert len([*Path("runtimes").iterdir()]) == 1
    assert "runtimes" not in done.err


# Report


def test_a_report() -> None:
    """Nothing runs in the cluster yet, so that nothing must be recreated."""
    Path("job.yaml").write_text(named())
    done = run("migrate", "job.yaml", "--diff")
    assert done.out.startswith("PyTorchJob mnist (job.yaml:1) becomes a TrainJob with the new ClusterTrainingRuntime ")
    assert "recreated" not in done.out
    assert "env[JOBSET_NAME] of container pytorch is added" not in done.out
    assert "env[JOBSET_NAME] of container pytorch is added" in run("migrate", "job.yaml", "--diff", "-v").out
    report = json.loads(run("migrate", "job.yaml", "--diff", "--format", "json").out)
    [job] = report["jobs"]
    assert job["runtime"] == {"kind": "ClusterTrainingRuntime", "name": "mnist-torch", "origin": "new"}
    assert job["ofTrainJob"] == ["numNodes", "image", "command", "env LOG WORLD_SIZE", "resourcesPerNode"]
    assert {row["id"] for row in job["differences"]} >= {"host-names", "job-name-label"}
    assert [each["text"] for each in job["droppedComments"]] == []
    assert (report["left"], len(report["runtimes"])) == (0, 1)
    assert not Path("runtimes").exists()


def test_a_runtime_of_the_installation() -> None:
    """With torchrun, a limit of restarts, and the number of processes of a GPU node, no runtime is needed."""
    text = (
        (TORCHRUN + WORKERS).replace("[python,", "[torchrun,").replace("{cpu: 8, memory: 8Gi}", "{nvidia.com/gpu: 8}")
    )
    text = text.replace("          nodeSelector: {pool: gpu}\n", "")
    limited = named(text=text.replace("spec:\n  nproc", "spec:\n  runPolicy: {backoffLimit: 6}\n  nproc", 1))
    (job,) = migrated(limited)
    assert job["spec"]["runtimeRef"] == {"name": "torch-distributed"}  # type: ignore[index]
    Path("trainc.yaml").write_text("runtimes: {builtin: forbid}\n")
    assert len(migrated(limited)) == 2
    assert len(migrated(named(text=text))) == 2  # without a limit of restarts


def test_runtimes_in_namespaces() -> None:
    text = JOB.replace("name: NAME", "name: NAME\n  namespace: SPACE")
    jobs = [named(name, text.replace("SPACE", space)) for name, space in (("a", "x"), ("b", "x"), ("a", "z"))]
    *_, first, second = migrated("---\n".join(jobs), "--runtime-kind", "TrainingRuntime")
    assert first["metadata"]["name"] == "a-torch"  # type: ignore[index]
    assert (second["metadata"]["name"], second["metadata"]["namespace"]) == ("z-a-torch", "z")  # type: ignore[index]
    *_, only = migrated("---\n".join(jobs))
    assert (only["kind"], only["metadata"]["name"]) == ("ClusterTrainingRuntime", "a-torch")  # type: ignore[index]


def test_a_job_that_is_added_renames_no_runtime() -> None:
    Path("b.yaml").write_text(named("b"))
    assert run("migrate", "b.yaml", "--write").code == 0
    Path("a.yaml").write_text(named("a"))
    assert run("migrate", ".", "--write").code == 0
    assert [path.name for path in Path("runtimes").iterdir()] == ["b-torch.yaml"]
    assert "name: b-torch" in Path("a.yaml").read_text()


def test_roles_that_differ_share_the_fields_of_the_trainjob() -> None:
    job, runtime = migrated(MXNET)
    assert job["spec"]["trainer"] == {"image": "acme/mx:v1", "command": ["python", "train.py"]}  # type: ignore[index]
    assert "acme/mx" not in json.dumps(runtime)


def test_images_of_a_kustomization_do_not_reach_a_trainjob() -> None:
    Path("job.yaml").write_text(named())
    images = "images: [{name: acme/train, newTag: v2}, {name: acme/other, newTag: v2}]\n"
    Path("kustomization.yaml").write_text(f"resources: [job.yaml]\n{images}")
    done = run("migrate", ".")
    assert done.code == 0
    assert [line for line in done.err.splitlines() if "image-of-old-kind" in line] == [
        "kustomization.yaml:2:17: warning[image-of-old-kind]: kustomization.yaml changes image acme/train of "
        'PyTorchJob "mnist", and kustomize does not change that of a TrainJob'
    ]


def test_details_that_just_fit_are_in_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("job.yaml").write_text(named())
    command = ("migrate", "job.yaml", "--diff", "--format", "markdown")
    whole = run(*command).out
    monkeypatch.setattr(report, "SPACE", len(whole.rstrip("\n").encode()))
    assert run(*command).out == whole
    monkeypatch.setattr(report, "SPACE", len(whole.rstrip("\n").encode()) - 1)
    assert "do not fit" in run(*command).out


def test_the_texts(snapshot: SnapshotAssertion) -> None:
    """What a migration says: a job that stays, images that kustomize changes, fields that only trainc reads, losses."""
    annotation = "metadata: {annotations: {kai.scheduler/topology: a}}\n        spec:\n          containers"
    elastic = TORCHRUN.replace("Master:", "Worker:").replace('spec:\n  nprocPerNode: "8"\n  pytorch', ELASTIC, 1)
    limited = "spec:\n  runPolicy: {ttlSecondsAfterFinished: 9, cleanPodPolicy: All}\n  elastic"
    write("jobs/kai.yaml", named("kai", JOB.replace("spec:\n          containers", annotation)))
    elastic = elastic.replace("spec:\n  elastic", limited).replace("{cpu: 8, memory: 8Gi}", "{nvidia.com/gpu: 8}")
    write("jobs/elastic.yaml", named("elastic", elastic))
    write("jobs/dlrm.yaml", VOLCANO)
    write("jobs/kustomization.yaml", "resources: [kai.yaml, dlrm.yaml]\nnamePrefix: a-\nimages: [{name: acme/train}]\n")
    assert run("migrate", "jobs").reported == snapshot
    assert run("migrate", "jobs", "--diff").out == snapshot
