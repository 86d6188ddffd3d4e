"""MPIJobs: their names, hostfile and keys, how they end, and the jobs that the operator refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run
from unit.legacy_specs import compiled_legacy

import trainc
from trainc.compilation.run import Options
from trainc.diagnostics import Diagnostic, Place
from trainc.kubernetes.trees import Tree
from trainc.legacy import mpijob

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
GLOBAL_INDEX = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"
REPLICA_INDEX = {"fieldRef": {"fieldPath": "metadata.labels['training.kubeflow.org/replica-index']"}}
MOST = 2147483647
HOSTFILE = "/etc/mpi/hostfile"


def solver_container(name: str = "main", **fields: Any) -> Tree:
    return {"name": name, "image": "acme/solver:v1", **fields}


def mpi_role(replicas: int | None = 1, *containers: Tree, metadata: Any = None, restart: str = "", **pod: Any) -> Any:
    template = {"spec": {"containers": [*containers] or [solver_container()], **pod}}
    found: Tree = {"template": template | ({"metadata": metadata} if metadata else {})}
    return (
        found | ({} if replicas is None else {"replicas": replicas}) | ({"restartPolicy": restart} if restart else {})
    )


MPIRUN = solver_container(command=["mpirun", "solver"])


def mpi_job(spec: Any | None = None, metadata: Any | None = None, **roles: Any) -> Tree:
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "tide", "namespace": "hpc"} | (metadata or {}),
        "spec": (spec or {}) | {"mpiReplicaSpecs": roles},
    }


def two(spec: Any | None = None, *, launcher: Any = None, worker: Any = None, metadata: Any | None = None) -> Tree:
    return mpi_job(spec, metadata, Launcher=launcher or mpi_role(1, MPIRUN), Worker=worker or mpi_role(2))


OPTIONS = Options(legacy=True, no_config=True)


def checked(tree: Tree) -> tuple[Diagnostic, ...]:
    return trainc.check(text=yaml.safe_dump(tree), options=OPTIONS).diagnostics


def errors(tree: Tree) -> list[Diagnostic]:
    return [found for found in compiled_legacy(tree).diagnostics if found.severity == "error"]


def objects(tree: Tree, **options: Any) -> tuple[Any, Any]:
    result = compiled_legacy(tree, **options)
    assert [str(found) for found in result.diagnostics if found.severity == "error"] == []
    jobset, hostfile = result.objects
    return jobset, hostfile


def jobs(tree: Tree) -> dict[str, Any]:
    return {each["name"]: each for each in objects(tree)[0]["spec"]["replicatedJobs"]}


def pod(replicated: Any) -> Any:
    return replicated["template"]["spec"]["template"]["spec"]


def env(container: Any) -> dict[str, Any]:
    return {
        each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"] if "valueFrom" in each else each.get("value", "")
        for each in container.get("env", [])
    }


def hosts(tree: Tree) -> list[str]:
    found: list[str] = objects(tree)[1]["data"]["hostfile"].splitlines()
    return found


def test_jobs_and_containers_keep_their_names() -> None:
    found = jobs(
        two(
            launcher=mpi_role(1, solver_container("first"), solver_container("node")),
            worker=mpi_role(2, solver_container("sshd")),
        )
    )
    assert {name: [each["name"] for each in pod(found[name])["containers"]] for name in found} == {
        "launcher": ["first", "node"],
        "worker": ["sshd"],
    }
    main, other = pod(found["launcher"])["containers"]
    assert [each["mountPath"] for each in main["volumeMounts"]] == ["/root/.ssh", "/etc/mpi"]
    assert (other.get("env"), other.get("volumeMounts")) == (None, None)


@pytest.mark.parametrize(
    ("implementation", "variables", "line"),
    [
        (
            "OpenMPI",
            {
                "OMPI_MCA_orte_default_hostfile": HOSTFILE,
                "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
                "OMPI_MCA_orte_set_default_slots": "4",
                "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
                "PRTE_MCA_prte_default_hostfile": HOSTFILE,
                "PRTE_MCA_prte_keep_fqdn_hostnames": "false",
                "PRTE_MCA_prte_set_default_slots": "4",
                "PRTE_MCA_plm_ssh_args": "-o ConnectionAttempts=10",
            },
            "tide-worker-0-0.tide slots=4",
        ),
        (
            "Intel",
            {
                "I_MPI_HYDRA_HOST_FILE": HOSTFILE,
                "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "-o ConnectionAttempts=10",
                "I_MPI_PERHOST": "4",
            },
            "tide-worker-0-0.tide:4",
        ),
        (
            "MPICH",
            {
                "HYDRA_HOST_FILE": HOSTFILE,
                "HYDRA_LAUNCH_EXTRA_ARGS": "-o ConnectionAttempts=10",
                "HYDRA_LAUNCHER_EXTRA_ARGS": "-o ConnectionAttempts=10",
            },
            "tide-worker-0-0.tide:4",
        ),
    ],
)
@pytest.mark.parametrize("as_worker", [False, True])
def test_implementations(implementation: str, variables: dict[str, str], line: str, as_worker: bool) -> None:
    tree = two({"mpiImplementation": implementation, "slotsPerWorker": 4, "runLauncherAsWorker": as_worker})
    found = jobs(tree)
    hidden = {} if as_worker else {"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""}
    (launcher,), (worker,) = (pod(found[name])["containers"] for name in ("launcher", "worker"))
    assert env(launcher) == {"K_MPI_JOB_ROLE": "launcher"} | variables | hidden
    assert env(worker) == {"K_MPI_JOB_ROLE": "worker"}
    assert line in hosts(tree)


@pytest.mark.parametrize("implementation", ["OpenMPI", "Intel", "MPICH"])
@pytest.mark.parametrize("creation", ["AtStartup", "WaitForWorkersReady"])
def test_a_launcher_that_is_a_worker_is_the_first_host(implementation: str, creation: str) -> None:
    tree = two(
        {"runLauncherAsWorker": True, "mpiImplementation": implementation, "launcherCreationPolicy": creation},
        worker=mpi_role(1),
    )
    launcher, worker = hosts(tree)
    assert launcher.startswith("tide-launcher-0-0")
    assert worker.startswith("tide-worker-0-0.tide")


def test_the_number_of_slots_is_never_that_of_gpus() -> None:
    resources = {"limits": {"nvidia.com/gpu": 8}}
    assert hosts(two(worker=mpi_role(1, solver_container(resources=resources)))) == ["tide-worker-0-0.tide slots=1"]
    assert hosts(two({"slotsPerWorker": 0}, worker=mpi_role(1))) == ["tide-worker-0-0.tide slots=0"]


@pytest.mark.parametrize(("path", "mode"), [(None, 0o600), ("/root/.ssh", 0o600), ("/home/mpiuser/.ssh", None)])
def test_keys(path: str | None, mode: int | None) -> None:
    for each in jobs(two({} if path is None else {"sshAuthMountPath": path})).values():
        (secret,) = [volume["secret"] for volume in pod(each)["volumes"] if volume["name"] == "ssh-auth"]
        assert (secret["secretName"], secret.get("defaultMode")) == ("tide-mpi-ssh-auth", mode)
        assert {item["path"]: item.get("mode") for item in secret["items"]} == dict.fromkeys(
            ("id_rsa", "id_rsa.pub", "authorized_keys")
        )
        (mount,) = [m for m in pod(each)["containers"][0]["volumeMounts"] if m["name"] == "ssh-auth"]
        assert mount["mountPath"] == (path or "/root/.ssh")


@pytest.mark.parametrize(
    ("fields", "command"),
    [
        ({}, ["/usr/sbin/sshd", "-De"]),
        ({"command": [], "args": []}, ["/usr/sbin/sshd", "-De"]),
        ({"args": ["-De"]}, None),
        ({"command": ["start"]}, ["start"]),
    ],
)
def test_the_command_of_a_worker(fields: Any, command: list[str] | None) -> None:
    (worker,) = pod(jobs(two(worker=mpi_role(1, solver_container(**fields))))["worker"])["containers"]
    assert worker.get("command") == command


@pytest.mark.parametrize(
    ("spec", "launcher", "worker", "replicas"),
    [
        ({}, REPLICA_INDEX["fieldRef"]["fieldPath"], INDEX, 1),
        ({"runLauncherAsWorker": True}, INDEX, GLOBAL_INDEX, 3),
        ({"runLauncherAsWorker": True, "launcherCreationPolicy": "WaitForWorkersReady"}, INDEX, INDEX, 1),
    ],
)
def test_the_index_of_a_pod(spec: Any, launcher: str, worker: str, replicas: int) -> None:
    reads = solver_container(env=[{"name": "INDEX", "valueFrom": REPLICA_INDEX}])
    found = jobs(two(spec, launcher=mpi_role(1, reads), worker=mpi_role(3, reads)))
    assert {name: env(pod(found[name])["containers"][0])["INDEX"] for name in found} == {
        "launcher": launcher,
        "worker": worker,
    }
    assert found["worker"]["replicas"] == replicas


def test_a_launcher_alone_has_no_index() -> None:
    reads = solver_container(env=[{"name": "INDEX", "valueFrom": REPLICA_INDEX}])
    for spec, field in (({}, REPLICA_INDEX["fieldRef"]["fieldPath"]), ({"runLauncherAsWorker": True}, INDEX)):
        (launcher,) = jobs(mpi_job(spec, Launcher=mpi_role(1, reads))).values()
        assert env(pod(launcher)["containers"][0])["INDEX"] == field


def test_a_dns_policy_without_host_network_is_that_of_the_job() -> None:
    (found,) = [
        each
        for each in compiled_legacy(two(launcher=mpi_role(1, MPIRUN, dnsPolicy="Default"))).diagnostics
        if each.id == "rendezvous-host"
    ]
    assert isinstance(found.place, Place)
    path = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec", "dnsPolicy")
    assert found.place.in_text().written_path == path


def test_the_rule_of_the_clean_policy_depends_on_the_workers() -> None:
    reads = mpi_role(2, solver_container(env=[{"name": "INDEX", "valueFrom": REPLICA_INDEX}]))

    def rule(policy: str, *roles: str, worker: Any = None, **spec: Any) -> str:
        tree = two({"runPolicy": {"cleanPodPolicy": policy}} | spec, worker=worker)
        tree["spec"]["mpiReplicaSpecs"] = {name: tree["spec"]["mpiReplicaSpecs"][name] for name in roles}
        (found,) = [loss.rule for loss in mpijob.lower(tree, None).losses if loss.path[-1] == "cleanPodPolicy"]
        return found.field.removeprefix("spec.runPolicy.cleanPodPolicy")

    both = ("Launcher", "Worker")
    assert [rule(policy, *both) for policy in ("None", "Running", "All")] == [
        ": None",
        ": Running, of workers",
        ": All, of workers",
    ]
    assert rule("All", "Launcher") == ", without the role Worker"
    assert rule("All", *both, worker=reads, runLauncherAsWorker=True) == ": All"


def test_the_last_variable_of_a_name_applies() -> None:
    variables = [{"name": "OMPI_MCA_plm_rsh_args", "value": "-p 9"}, {"name": "A", "value": "$(OMPI_MCA_plm_rsh_args)"}]
    (main,) = pod(jobs(two(launcher=mpi_role(1, solver_container(env=variables))))["launcher"])["containers"]
    assert [*env(main)][:2] == ["A", "K_MPI_JOB_ROLE"]
    assert (env(main)["A"], env(main)["OMPI_MCA_plm_rsh_args"]) == ("-p 9", "-o ConnectionAttempts=10")


def test_variables_of_another_release_stay() -> None:
    variables = [{"name": "PRTE_MCA_plm_ssh_args", "value": "-p 9"}]
    (main,) = pod(jobs(two(launcher=mpi_role(1, solver_container(env=variables))))["launcher"])["containers"]
    assert env(main)["PRTE_MCA_plm_ssh_args"] == "-p 9"


CARRIED = {
    "host namespaces": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", "hostIPC": True, "hostPID": True},
    "scheduling gates": {"schedulingGates": [{"name": "acme.io/quota"}]},
    "scheduler": {"schedulerName": "kai-scheduler", "priorityClassName": "high"},
    "claims": {"resourceClaims": [{"name": "imex", "resourceClaimTemplateName": "channel"}]},
    "init containers": {
        "initContainers": [
            solver_container("keys", volumeMounts=[{"name": "ssh-auth", "mountPath": "/keys"}]),
        ]
    },
}


@pytest.mark.parametrize("fields", [pytest.param(fields, id=name) for name, fields in CARRIED.items()])
def test_fields_of_the_workers_stay(fields: Any) -> None:
    found = jobs(two(worker=mpi_role(2, **fields)))
    assert {key: pod(found["worker"])[key] for key in fields} == fields
    assert not fields.keys() & pod(found["launcher"]).keys() - {"schedulerName"}


def test_labels_and_annotations_of_a_role_stay() -> None:
    metadata = {
        "labels": {"kai.scheduler/queue": "research", "training.kubeflow.org/job-role": "mine"},
        "annotations": {"kai.scheduler/topology": "racks"},
    }
    template = jobs(two(worker=mpi_role(2, metadata=metadata)))["worker"]["template"]["spec"]["template"]
    assert template["metadata"]["annotations"] == metadata["annotations"]
    assert template["metadata"]["labels"] == {
        "kai.scheduler/queue": "research",
        "training.kubeflow.org/job-name": "tide",
        "training.kubeflow.org/job-role": "worker",
    }


def test_a_probe_and_claims_of_a_container_stay() -> None:
    fields: Tree = {
        "readinessProbe": {"tcpSocket": {"port": 2222}},
        "resources": {"limits": {"nvidia.com/gpu": "4"}, "claims": [{"name": "imex"}]},
    }
    claims = [{"name": "imex", "resourceClaimTemplateName": "channel"}]
    (main,) = pod(jobs(two(worker=mpi_role(2, solver_container(**fields), resourceClaims=claims)))["worker"])[
        "containers"
    ]
    assert {key: main[key] for key in fields} == fields


def test_pods_with_host_network_resolve_cluster_names() -> None:
    found = jobs(two(worker=mpi_role(2, hostNetwork=True, dnsPolicy="Default", hostname="a", subdomain="b")))
    assert pod(found["worker"])["dnsPolicy"] == "ClusterFirstWithHostNet"
    assert not {"hostname", "subdomain"} & pod(found["worker"]).keys()
    assert "dnsPolicy" not in pod(found["launcher"])


def test_the_search_domain_follows_those_of_the_job() -> None:
    config = {"nameservers": ["1.1.1.1"], "searches": ["acme.io"]}
    found = jobs(two(worker=mpi_role(2, dnsConfig=config)))
    assert pod(found["worker"])["dnsConfig"] == config | {"searches": ["acme.io", "tide.hpc.svc.cluster.local"]}
    assert "dnsConfig" not in pod(found["launcher"])


@pytest.mark.parametrize(("implementation", "notes"), [("OpenMPI", 0), ("Intel", 1), ("MPICH", 1)])
def test_without_a_namespace_there_is_no_search_domain(implementation: str, notes: int) -> None:
    tree = two({"mpiImplementation": implementation})
    del tree["metadata"]["namespace"]
    result = compiled_legacy(tree)
    assert "dnsConfig" not in pod(result.objects[0]["spec"]["replicatedJobs"][1])
    assert [found.id for found in result.diagnostics].count("mpi-search-domain") == notes


def test_the_launcher_decides() -> None:
    policy = {"backoffLimit": 3, "activeDeadlineSeconds": 600, "ttlSecondsAfterFinished": 60}
    jobset, _ = objects(two({"runPolicy": policy}))
    assert jobset["spec"]["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    assert "failurePolicy" not in jobset["spec"]
    assert jobset["spec"]["ttlSecondsAfterFinished"] == 60
    specs = [each["template"]["spec"] for each in jobset["spec"]["replicatedJobs"]]
    assert [each["backoffLimit"] for each in specs] == [3, MOST]
    assert [each["activeDeadlineSeconds"] for each in specs] == [600, 600]


@pytest.mark.parametrize("restart", ["", "Never", "OnFailure"])
def test_restart_policies(restart: str) -> None:
    found = jobs(
        two(launcher=mpi_role(1, restart=restart, restartPolicy="Always"), worker=mpi_role(2, restart=restart))
    )
    assert {name: pod(found[name])["restartPolicy"] for name in found} == {
        "launcher": restart or "OnFailure",
        "worker": restart or "Never",
    }
    assert "backoffLimit" not in found["launcher"]["template"]["spec"]


@pytest.mark.parametrize(
    ("policy", "workers", "order"),
    [
        ("AtStartup", True, [("launcher", None), ("worker", None)]),
        ("WaitForWorkersReady", True, [("worker", None), ("launcher", [{"name": "worker", "status": "Ready"}])]),
        ("WaitForWorkersReady", False, [("launcher", None)]),
    ],
)
def test_the_creation_of_the_launcher(policy: str, workers: bool, order: Any) -> None:
    roles = {"Launcher": mpi_role(1, MPIRUN)} | ({"Worker": mpi_role(2)} if workers else {})
    found = jobs(mpi_job({"launcherCreationPolicy": policy}, **roles))
    assert [(name, each.get("dependsOn")) for name, each in found.items()] == order


def test_a_launcher_alone() -> None:
    jobset, hostfile = objects(mpi_job(Launcher=mpi_role(1, MPIRUN)))
    assert jobset["spec"]["successPolicy"] == {"operator": "All"}
    assert hostfile["data"]["hostfile"] == ""
    assert hosts(mpi_job({"runLauncherAsWorker": True}, Launcher=mpi_role(1, MPIRUN))) == [
        "tide-launcher-0-0.tide slots=1"
    ]


def test_the_manager() -> None:
    def manager(name: str) -> Any:
        return objects(two({"runPolicy": {"managedBy": name}}))[0]["spec"].get("managedBy")

    assert manager("kubeflow.org/mpi-operator") is None
    assert manager("kueue.x-k8s.io/multikueue") == "kueue.x-k8s.io/multikueue"


def test_a_queue_and_its_priority_move_to_the_jobset() -> None:
    labels = {"kueue.x-k8s.io/queue-name": "cpu", "kueue.x-k8s.io/priority-class": "high"}
    jobset, _ = objects(two({"runPolicy": {"suspend": True}}, metadata={"labels": labels}))
    assert jobset["metadata"]["labels"] == labels
    assert "suspend" not in jobset["spec"]
    assert objects(two({"runPolicy": {"suspend": True}}))[0]["spec"]["suspend"] is True


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("tide-worker-0,tide-worker-1:4", "tide-worker-0-0.tide,tide-worker-0-1.tide:4"),
        ("tide-worker-1.tide", "tide-worker-0-1.tide"),
        ("tide-worker-1.tide.hpc.svc:22", "tide-worker-0-1.tide.hpc.svc:22"),
        ("http://tide-launcher:80/x", "http://tide-launcher-0-0.tide:80/x"),
        ("ssh tide-launcher.tide.hpc.svc", "ssh tide-launcher-0-0.tide.hpc.svc"),
        *(
            (text, text)
            for text in (
                *("tide-worker", "tide-worker-2", "my-tide-worker-0", "tide-worker-0-cache", "tide-launcher-0"),
                *("/logs/tide-launcher", "registry.acme.io/tide-launcher:v1", "tide-launchers"),
            )
        ),
    ],
)
def test_old_host_names_are_replaced(text: str, changed: str) -> None:
    written = solver_container("tide-launcher", command=["mpirun", text], env=[{"name": "A", "value": text}])
    (main,) = pod(jobs(two(launcher=mpi_role(1, written)))["launcher"])["containers"]
    assert (main["name"], main["command"], env(main)["A"]) == ("tide-launcher", ["mpirun", changed], changed)


def test_names_follow_a_suffix(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(two({"mpiImplementation": "Intel"})))
    settings = tmp_path / "trainc.yaml"
    for text, options, name, secret in (
        ("{}", (), "tide", "tide-mpi-ssh-auth"),
        ("nameSuffix: -v2", (), "tide-v2", "tide-v2-mpi-ssh-auth"),
        ("{}", ("--name-suffix-hash",), "", "tide-mpi-ssh-auth"),
        ("nameSuffix: -v2", ("--name-suffix-hash",), "", "tide-v2-mpi-ssh-auth"),
    ):
        settings.write_text(f"{text}\n")
        done = run("build", "--legacy", "--config", str(settings), *options, str(tmp_path / "job.yaml"))
        assert f'the pods wait for Secret "{secret}"' in done.err
        jobset, hostfile = yaml.safe_load_all(done.out)
        found = jobset["metadata"]["name"]
        assert found == name or (not name and len(found) > len(secret.removesuffix("-mpi-ssh-auth")))
        assert hostfile["metadata"]["name"] == f"{found}-mpi-hostfile"
        assert hostfile["data"]["hostfile"].splitlines()[0] == f"{found}-worker-0-0.{found}:1"
        _, worker = jobset["spec"]["replicatedJobs"]
        assert pod(worker)["dnsConfig"]["searches"] == [f"{found}.hpc.svc.cluster.local"]
        assert [each["secret"]["secretName"] for each in pod(worker)["volumes"]] == [secret]


def test_secret_makes_the_keys(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(two()))
    secret = yaml.safe_load(run("secret", "tide", "--legacy", str(tmp_path)).out)
    assert (secret["metadata"], secret["type"]) == (
        {"name": "tide-mpi-ssh-auth", "namespace": "hpc"},
        "kubernetes.io/ssh-auth",
    )


def test_the_note_names_the_job(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump(two()))
    done = run("build", "--legacy", str(path))
    assert f"create it once: trainc secret tide {path} --legacy | kubectl apply -f -" in done.err
    assert run("secret", "tide", str(path), "--legacy").code == 0


ALWAYS = mpi_role(1, restart="Always")


@pytest.mark.parametrize(
    ("tree", "field", "message"),
    [
        pytest.param(mpi_job(Worker=mpi_role()), "", "the job has no role Launcher", id="no launcher"),
        pytest.param(mpi_job(), "", "the job has no role Launcher", id="no roles"),
        pytest.param(mpi_job(Launcher=None), "", "the job has no role Launcher", id="null"),
        pytest.param(
            two(launcher=mpi_role(2)), "Launcher.replicas", "the Launcher must have 1 replica, not 2", id="launchers"
        ),
        pytest.param(two(worker=mpi_role(None)), "Worker.replicas", "the Worker has no replicas",
            id="replicas missing"),
        pytest.param(
            two(worker=mpi_role(0)), "Worker.replicas", "the Worker must have at least 1 replica, not 0",
            id="no workers"
        ),
        pytest.param(
            two(worker=mpi_role(MOST)), "Worker.replicas",
            f"Worker has {MOST} replicas; an indexed Job has at most 100000 pods", id="too many workers",
        ),
        pytest.param(
            two(launcher=ALWAYS), "Launcher.restartPolicy", 'unsupported restartPolicy "Always" of the Launcher',
            id="launcher always",
        ),
        pytest.param(
            two(worker=mpi_role(1, restart="ExitCode")), "Worker.restartPolicy",
            'unsupported restartPolicy "ExitCode" of the Worker', id="exit code",
        ),
        pytest.param(
            two({"mpiImplementation": "MVAPICH"}), "spec.mpiImplementation",
            'mpiImplementation has the unsupported value "MVAPICH"', id="implementation",
        ),
        pytest.param(
            two({"slotsPerWorker": -1}), "spec.slotsPerWorker", "slotsPerWorker must not be negative, but is -1",
            id="slots",
        ),
        pytest.param(
            two({"runPolicy": {"backoffLimit": -1}}), "spec.runPolicy.backoffLimit",
            "backoffLimit must not be negative, but is -1", id="limit",
        ),
        pytest.param(
            two({"runPolicy": {"cleanPodPolicy": "Some"}}), "spec.runPolicy.cleanPodPolicy",
            'unsupported cleanPodPolicy "Some"', id="clean policy",
        ),
        pytest.param(
            two({"runPolicy": {"managedBy": "kubeflow.org/training-operator"}}), "spec.runPolicy.managedBy",
            '"kubeflow.org/training-operator" cannot manage the job', id="manager",
        ),
        pytest.param(
            two(worker=mpi_role(11), metadata={"name": "a" * 54}), "metadata.name",
            f'the host name "{"a" * 54}-worker-10" has 64 characters; the limit is 63', id="long host name",
        ),
        pytest.param(
            two(metadata={"name": "7-seas"}), "metadata.name", '"7-seas" is not a valid name: it starts with a digit',
            id="digit",
        ),
        pytest.param(
            two(metadata={"name": "a.b"}), "metadata.name", '"a.b" is not a valid name: it contains "."', id="dot"
        ),
        pytest.param(
            mpi_job(Launcher={"replicas": 1}), "Launcher.template.spec.containers", "the Launcher has no container",
            id="no template",
        ),
    ],
)  # fmt: skip
def test_refused_jobs(tree: Tree, field: str, message: str) -> None:
    (found,) = errors(tree)
    assert (found.message, (found.field or "").endswith(field)) == (message, True)
    assert found.help
    assert isinstance(found.place, Place)


def test_a_role_that_the_operator_ignores_is_a_warning() -> None:
    result = compiled_legacy(mpi_job(Launcher=mpi_role(1, MPIRUN), Workers=mpi_role(2)))
    (found,) = [each for each in result.diagnostics if each.severity == "warning" and each.id == "enum"]
    assert (found.message, found.help) == ('unknown role "Workers", which the operator ignores', "did you mean Worker?")
    assert len(result.objects) == 2


def test_the_size_of_the_hostfile_is_computed() -> None:
    (found,) = errors(two(worker=mpi_role(100_000)))
    assert (found.id, found.place is not None) == ("config-map-too-large", True)
    assert isinstance(found.place, Place)
    assert found.place.field == "spec.mpiReplicaSpecs.Worker.replicas"
    assert len(hosts(two(worker=mpi_role(20_000)))) == 20_000


@pytest.mark.parametrize("version", ["v1", "v1alpha2"])
def test_versions_with_exec_are_counted(version: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(json.dumps(two() | {"apiVersion": f"kubeflow.org/{version}"}))
    done = run("validate", str(tmp_path))
    sentence = "; 1 MPIJob is not compiled (only kubeflow.org/v2beta1 is supported)\n"
    assert (done.code, sentence in done.out) == (0, True)


@pytest.mark.parametrize("version", ["v1", "v1alpha2"])
def test_versions_with_exec_have_one_diagnostic(version: str) -> None:
    (found,) = compiled_legacy(
        {"apiVersion": f"kubeflow.org/{version}", "kind": "MPIJob", "metadata": {"name": "a"}}
    ).diagnostics
    assert (found.id, found.field) == ("unknown-version", "apiVersion")
    for text in ("needs sshd", "trainc writes no Role", "spec.runPolicy", "mainContainer is gone", "other fields stay"):
        assert text in found.help


def test_the_first_version_has_one_diagnostic() -> None:
    tree = two() | {"apiVersion": "kubeflow.org/v1alpha1", "spec": {"gpus": 16, "template": {}}}
    (found,) = compiled_legacy(tree).diagnostics
    assert (found.id, found.message) == ("unknown-version", "unknown version kubeflow.org/v1alpha1 of MPIJob")
    for name in ("template is spec.mpiReplicaSpecs", "replicas is Worker.replicas", "gpus is", "slotsPerWorker"):
        assert name in found.help


OTHER = solver_container(image="acme/solver:v2")
SHELL = solver_container(command=["mpirun", "-n", "$NODES", "solver"])
PORT = solver_container(ports=[{"containerPort": 2222}])


@pytest.mark.parametrize(
    ("rule", "tree", "path"),
    [
        (
            "mpi-image",
            two(worker=mpi_role(2, OTHER)),
            ("spec", "mpiReplicaSpecs", "Worker", "template", "spec", "containers", 0, "image"),
        ),
        (
            "shell-words",
            two(launcher=mpi_role(1, SHELL)),
            ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec", "containers", 0, "command", 2),
        ),
        (
            "host-network-port",
            two(worker=mpi_role(2, PORT, hostNetwork=True)),
            ("spec", "mpiReplicaSpecs", "Worker", "template", "spec", "hostNetwork"),
        ),
        ("no-gang", two(), ("spec", "mpiReplicaSpecs")),
        (
            "no-resources",
            two(),
            ("spec", "mpiReplicaSpecs", "Worker", "template", "spec", "containers", 0),
        ),
    ],
)
def test_lint_rules(rule: str, tree: Tree, path: tuple[Any, ...]) -> None:
    (found,) = [each for each in checked(tree) if each.id == rule]
    assert isinstance(found.place, Place)
    assert found.object.kind == "MPIJob"
    assert found.place.in_text().written_path == path


OWN_PORT = solver_container(command=["/usr/sbin/sshd", "-De", "-p", "2222"])
QUEUE = {"labels": {"kueue.x-k8s.io/queue-name": "cpu"}}


@pytest.mark.parametrize(
    ("rule", "tree"),
    [
        ("mpi-image", two()),
        ("mpi-image", mpi_job(Launcher=mpi_role(1, OTHER))),
        ("shell-words", two(launcher=mpi_role(1, solver_container(command=["sh", "-c", "mpirun -n $NODES solver"])))),
        ("shell-words", two(launcher=mpi_role(1, solver_container(), solver_container("b", command=["a", "$B"])))),
        ("host-network-port", two(worker=mpi_role(2, OWN_PORT, hostNetwork=True))),
        ("no-gang", two(worker=mpi_role(1))),
        ("no-gang", two(metadata=QUEUE)),
        ("no-resources", two(worker=mpi_role(2, solver_container(resources={"requests": {"cpu": 1}})))),
        ("one-process", two(worker=mpi_role(2, solver_container(resources={"limits": {"nvidia.com/gpu": 8}})))),
    ],
)
def test_correct_jobs_have_no_lint_findings(rule: str, tree: Tree) -> None:
    assert [str(each) for each in checked(tree) if each.id == rule] == []


def test_nodes_are_the_pods_with_processes(tmp_path: Path) -> None:
    for spec, nodes in (({}, "2 nodes"), ({"runLauncherAsWorker": True}, "3 nodes")):
        (tmp_path / "job.yaml").write_text(yaml.safe_dump(two(spec)))
        assert nodes in run("graph", "--legacy", str(tmp_path)).out


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("spec.replicatedJobs[worker].template.spec.completions", "replicas: 2"),
        ("spec.replicatedJobs[worker].template.spec.template.spec.containers[sshd].image", "image: acme/solver:v2"),
        ("spec.replicatedJobs[launcher].template.spec.backoffLimit", "backoffLimit: 3"),
        ("spec.successPolicy.targetReplicatedJobs", "Launcher:"),
    ],
)
def test_explain_shows_the_lines_of_the_job(field: str, line: str, tmp_path: Path) -> None:
    tree = two({"runPolicy": {"backoffLimit": 3}}, worker=mpi_role(2, OTHER | {"name": "sshd"}))
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(tree, sort_keys=False))
    done = run("explain", str(tmp_path / "job.yaml"), field)
    assert line in done.out, done.out + done.err


def test_a_patch_of_the_job_merges_containers_by_name(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(two(worker=mpi_role(2, solver_container("sshd")))))
    (tmp_path / "trainc.yaml").write_text(
        "legacy: {kinds: [MPIJob]}\n"
        "patches:\n"
        "- target: {kind: MPIJob}\n"
        "  patch:\n"
        "    spec: {mpiReplicaSpecs: {Worker: {template: {spec: {containers: [{name: sshd, workingDir: /w}]}}}}}\n"
    )
    done = run("build", str(tmp_path))
    jobset, _ = yaml.safe_load_all(done.out)
    (main,) = pod(jobset["spec"]["replicatedJobs"][1])["containers"]
    assert (main["image"], main["workingDir"]) == ("acme/solver:v1", "/w")


def losses(tree: Tree) -> dict[str, str]:
    found: dict[str, str] = {}
    for loss in mpijob.lower(tree, None).losses:
        path = ".".join(map(str, loss.path)).removeprefix("spec.").replace("mpiReplicaSpecs.", "")
        found[path.replace("template.metadata.labels.training.kubeflow.org/", "")] = loss.rule.effect
    return found


APPROXIMATED, NOT_CARRIED, WITHOUT_EFFECT = "approximated", "not carried", "without effect"
OF_EVERY_JOB = {
    "runPolicy.cleanPodPolicy": NOT_CARRIED,
    "runPolicy.suspend": APPROXIMATED,
    "sshAuthMountPath": NOT_CARRIED,
    "Launcher.template.spec.volumes": NOT_CARRIED,
    "Launcher.operator-name": NOT_CARRIED,
    "Worker.restartPolicy": APPROXIMATED,
    "Worker.operator-name": NOT_CARRIED,
    "Worker.replica-index": NOT_CARRIED,
}


@pytest.mark.parametrize(
    ("tree", "changed"),
    [
        (two(), {}),
        (two({"runPolicy": {"cleanPodPolicy": "Running"}}), {"runPolicy.cleanPodPolicy": WITHOUT_EFFECT}),
        (
            two({"runPolicy": {"activeDeadlineSeconds": 9, "ttlSecondsAfterFinished": 9}}),
            {
                "runPolicy.activeDeadlineSeconds": APPROXIMATED,
                "runPolicy.ttlSecondsAfterFinished": APPROXIMATED,
            },
        ),
        (two({"runPolicy": {"backoffLimit": 2}}), {}),
        (two({"runPolicy": {"schedulingPolicy": {"queue": "a"}}}), {"runPolicy.schedulingPolicy.queue": NOT_CARRIED}),
        (two({"runLauncherAsWorker": True}), {"Launcher.replica-index": NOT_CARRIED}),
        (two(worker=mpi_role(2, restart="OnFailure")), {"Worker.restartPolicy": None}),
        (
            two(launcher=mpi_role(1, restartPolicy="OnFailure", hostname="a", hostNetwork=True, dnsPolicy="Default")),
            {
                "Launcher.template.spec.restartPolicy": WITHOUT_EFFECT,
                "Launcher.template.spec.hostname": WITHOUT_EFFECT,
                "Launcher.template.spec.dnsPolicy": WITHOUT_EFFECT,
            },
        ),
        (two() | {"spec": two()["spec"] | {"mpiReplicaSpecs": two()["spec"]["mpiReplicaSpecs"] | {"PS": mpi_role()}}},
         {"PS": WITHOUT_EFFECT}),
        (
            two(
                {"runLauncherAsWorker": True, "launcherCreationPolicy": "WaitForWorkersReady"},
                worker=mpi_role(2, solver_container(env=[{"name": "INDEX", "valueFrom": REPLICA_INDEX}])),
            ),
            {"Launcher.replica-index": NOT_CARRIED, "Worker.template.spec.containers": APPROXIMATED},
        ),
    ],
)  # fmt: skip
def test_losses(tree: Tree, changed: dict[str, Any]) -> None:
    wanted = OF_EVERY_JOB | changed
    assert losses(tree) == {path: effect for path, effect in wanted.items() if effect is not None}
