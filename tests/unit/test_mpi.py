"""MPI: the hosts and slots in the hostfile, and the settings of each pod."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, pods_of, replicated_job

import trainc

AS_NODE = {"runLauncherAsNode": True}
ORTE = [
    ("OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile"),
    ("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
    ("OMPI_MCA_orte_set_default_slots", "1"),
    ("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10"),
]
PRRTE = [
    ("PRTE_MCA_prte_default_hostfile", "/etc/mpi/hostfile"),
    ("PRTE_MCA_prte_keep_fqdn_hostnames", "false"),
    ("PRTE_MCA_prte_set_default_slots", "1"),
    ("PRTE_MCA_plm_ssh_args", "-o ConnectionAttempts=10"),
]


def mpi_job(name: str, *, replicas: int = 1, parallelism: int | None = None, **container: Any) -> dict[str, Any]:
    """Return a replicated job; the one named `launcher` is the trainer."""
    job = {} if parallelism is None else {"parallelism": parallelism}
    return replicated_job(name, container, trainer=name == "launcher", job=job, replicas=replicas)


JOBS = (mpi_job("launcher"), mpi_job("node"))


def on_mpi(
    tmp_path: Path, trainer: Any = None, mpi: Any = None, jobs: Any = JOBS, namespace: str = "", **jobset: Any
) -> trainc.Result:
    metadata = {"namespace": namespace} if namespace else {}
    return compiled(tmp_path, jobs, trainer, metadata=metadata, jobset=jobset, mlPolicy={"mpi": mpi or {}})


def hosts(compilation: trainc.Result) -> str:
    """Return the hostfile on one line."""
    assert [d.id for d in compilation.diagnostics if d.severity != "warning"] == ["secret-expected"]
    _, config_map = compilation.objects
    assert config_map["metadata"] == {"name": "j-mpi-hostfile"}
    return ", ".join(config_map["data"]["hostfile"].splitlines())


def counts(compilation: trainc.Result) -> dict[str, int]:
    return {
        job["name"]: job["template"]["spec"]["completions"] for job in compilation.objects[0]["spec"]["replicatedJobs"]
    }


@pytest.mark.parametrize(
    ("nodes", "mpi", "hostfile", "pods_of_node"),
    [
        pytest.param({}, {}, "j-node-0-0.j slots=1", 1, id="the runtime's one"),
        pytest.param({"numNodes": 2}, {}, "j-node-0-0.j slots=1, j-node-0-1.j slots=1", 2, id="the TrainJob's"),
        pytest.param({"numNodes": 0}, {}, "", 0, id="none"),
        pytest.param(
            {"numNodes": 2}, AS_NODE, "j-launcher-0-0.j slots=1, j-node-0-0.j slots=1", 1, id="the launcher is one"
        ),
        pytest.param(
            {"numNodes": 1}, AS_NODE, "j-launcher-0-0.j slots=1, j-node-0-0.j slots=1", 1, id="and has one beside it"
        ),
    ],
)
def test_nodes(tmp_path: Path, nodes: Any, mpi: Any, hostfile: str, pods_of_node: int) -> None:
    compilation = on_mpi(tmp_path, nodes, mpi)
    assert hosts(compilation) == hostfile
    assert counts(compilation) == {"launcher": 1, "node": pods_of_node}


@pytest.mark.parametrize(
    ("jobs", "template", "hostfile"),
    [
        pytest.param(JOBS, {"network": {"subdomain": "s"}}, "j-node-0-0.s slots=1", id="subdomain"),
        pytest.param(
            [mpi_job("launcher"), mpi_job("node", replicas=2, parallelism=1)],
            {},
            "j-node-0-0.j slots=1, j-node-1-0.j slots=1",
            id="every replica",
        ),
        pytest.param([mpi_job("launcher"), mpi_job("workers")], {}, "", id="only of the job named node"),
    ],
)
def test_hosts(tmp_path: Path, jobs: Any, template: Any, hostfile: str) -> None:
    assert hosts(on_mpi(tmp_path, jobs=jobs, **template)) == hostfile


@pytest.mark.parametrize(
    ("trainer", "mpi", "slots"),
    [
        pytest.param({}, {}, 1, id="one"),
        pytest.param({}, {"numProcPerNode": 4}, 4, id="the runtime's"),
        pytest.param({"numProcPerNode": 2}, {"numProcPerNode": 4}, 2, id="the TrainJob's first"),
        pytest.param({"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}, {}, 8, id="a GPU each"),
        pytest.param(
            {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}, {"numProcPerNode": 4}, 4, id="by default"
        ),
        pytest.param(
            {"numProcPerNode": 1, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}, {}, 1, id="one, explicitly"
        ),
        pytest.param({"resourcesPerNode": {"requests": {"cpu": 8}}}, {}, 1, id="CPUs do not count"),
    ],
)
def test_slots(tmp_path: Path, trainer: Any, mpi: Any, slots: int) -> None:
    compilation = on_mpi(tmp_path, trainer, mpi)
    assert hosts(compilation) == f"j-node-0-0.j slots={slots}"
    env = {v["name"]: v["value"] for v in pods_of(compilation)["launcher"]["containers"][0]["env"]}
    assert env["OMPI_MCA_orte_set_default_slots"] == env["PRTE_MCA_prte_set_default_slots"] == str(slots)


@pytest.mark.parametrize("name", [pytest.param("launcher", id="launcher"), pytest.param("node", id="node")])
def test_the_keys_are_the_secrets_and_are_where_ssh_looks(tmp_path: Path, name: str) -> None:
    pod = pods_of(on_mpi(tmp_path, mpi={"sshAuthMountPath": "/home/mpiuser/.ssh"}))[name]
    assert pod["volumes"][0] == {
        "name": "mpi-ssh-auth",
        "secret": {
            "secretName": "j-mpi-ssh-auth",
            "defaultMode": 0o400,
            "items": [
                {"key": "ssh-privatekey", "path": "id_rsa", "mode": 0o640},
                {"key": "ssh-publickey", "path": "id_rsa.pub", "mode": 0o644},
                {"key": "ssh-publickey", "path": "authorized_keys", "mode": 0o644},
            ],
        },
    }
    assert pod["containers"][0]["volumeMounts"][0] == {"name": "mpi-ssh-auth", "mountPath": "/home/mpiuser/.ssh"}


def test_only_the_launcher_has_the_hostfile(tmp_path: Path) -> None:
    found = pods_of(on_mpi(tmp_path))
    assert [volume["name"] for volume in found["launcher"]["volumes"]] == ["mpi-ssh-auth", "mpi-hostfile"]
    assert found["launcher"]["containers"][0]["volumeMounts"][1] == {"name": "mpi-hostfile", "mountPath": "/etc/mpi"}
    assert [volume["name"] for volume in found["node"]["volumes"]] == ["mpi-ssh-auth"]
    assert "env" not in found["node"]["containers"][0]


@pytest.mark.parametrize(
    ("runtime", "job_env", "expected"),
    [
        pytest.param([], [], [*ORTE, *PRRTE], id="both runtimes' variables"),
        pytest.param([], [("A", "1")], [*ORTE, *PRRTE, ("A", "1")], id="then the TrainJob's"),
        pytest.param(
            [("OMPI_MCA_plm_rsh_args", "-p 2222"), ("A", "0")],
            [("A", "1")],
            [ORTE[3], ("A", "1"), *ORTE[:3], *PRRTE],
            id="Open MPI 4's replace the runtime's in place",
        ),
        pytest.param(
            [("PRTE_MCA_plm_ssh_args", "-p 2222")],
            [],
            [("PRTE_MCA_plm_ssh_args", "-p 2222"), *ORTE, *PRRTE[:3]],
            id="Open MPI 5's do not",
        ),
        pytest.param(
            [],
            [("PRTE_MCA_plm_ssh_args", "-p 2222")],
            [*ORTE, *PRRTE[:3], ("PRTE_MCA_plm_ssh_args", "-p 2222")],
            id="nor the TrainJob's",
        ),
    ],
)
def test_variables(tmp_path: Path, runtime: Any, job_env: Any, expected: Any) -> None:
    def env(pairs: Any) -> list[dict[str, str]]:
        return [{"name": name, "value": text} for name, text in pairs]

    compilation = on_mpi(tmp_path, {"env": env(job_env)}, jobs=[mpi_job("launcher", env=env(runtime)), mpi_job("node")])
    assert pods_of(compilation)["launcher"]["containers"][0]["env"] == env(expected)


@pytest.mark.parametrize(
    ("mpi", "node"),
    [
        pytest.param({}, {}, id="only the launcher's"),
        pytest.param(
            AS_NODE,
            {"resources": {"limits": {"nvidia.com/gpu": "8"}}, "env": [{"name": "A", "value": "1"}]},
            id="and the nodes', where the launcher is one",
        ),
    ],
)
def test_resources_and_variables_of_the_trainjob(tmp_path: Path, mpi: Any, node: dict[str, Any]) -> None:
    trainer = {
        "image": "mine:2",
        "env": [{"name": "A", "value": "1"}],
        "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}},
    }
    found = {name: pod["containers"][0] for name, pod in pods_of(on_mpi(tmp_path, trainer, mpi)).items()}
    assert found["launcher"]["resources"] == {"limits": {"nvidia.com/gpu": "8"}}
    assert found["launcher"]["image"] == "mine:2"
    assert {key: found["node"][key] for key in ("resources", "env") if key in found["node"]} == node
    assert found["node"]["image"] == "i:1"


@pytest.mark.parametrize(
    ("nodes", "jobs", "lacks"),
    [
        pytest.param(2, [mpi_job("launcher")], 'job "node"', id="no nodes"),
        pytest.param(2, [mpi_job("node")], 'job "launcher"', id="no launcher"),
        pytest.param(2, [mpi_job("work")], 'job "launcher" and no job "node"', id="neither"),
        pytest.param(2, JOBS, None, id="both"),
        pytest.param(1, [mpi_job("launcher")], None, id="one node is the launcher"),
    ],
)
def test_a_launcher_that_is_a_node_has_others(tmp_path: Path, nodes: int, jobs: Any, lacks: str | None) -> None:
    errors = [d for d in on_mpi(tmp_path, {"numNodes": nodes}, AS_NODE, jobs).diagnostics if d.severity == "error"]
    both = 'jobs "launcher" and "node"'
    message = f'{nodes} nodes with runLauncherAsNode require {both}, but runtime "r" has no {lacks}'
    assert [d.message for d in errors] == ([message] if lacks else [])
    assert {d.field for d in errors} <= {"spec.trainer.numNodes"}


@pytest.mark.parametrize(
    ("implementation", "jobs", "expected"),
    [
        pytest.param("OpenMPI", JOBS, [], id="Open MPI"),
        pytest.param("", JOBS, ["mpi-implementation"], id="none"),
        pytest.param("", [mpi_job("node")], [], id="none, and no launcher that would mind"),
        pytest.param("Intel", JOBS, [], id="Intel"),
        pytest.param("MPICH", JOBS, [], id="MPICH"),
        pytest.param("MVAPICH", JOBS, ["enum"], id="another: the schema's"),
    ],
)
def test_implementations(tmp_path: Path, implementation: str, jobs: Any, expected: list[str]) -> None:
    diagnostics = on_mpi(tmp_path, mpi={"mpiImplementation": implementation}, jobs=jobs).diagnostics
    errors = [d for d in diagnostics if d.severity == "error"]
    assert [d.id for d in errors] == expected
    assert all(f'"{implementation}"' in d.message for d in errors)


SSH = "-o ConnectionAttempts=10"


@pytest.mark.parametrize(
    ("implementation", "slots", "hostfile", "expected"),
    [
        pytest.param(
            "Intel",
            16,
            ["j-node-0-0.j:16", "j-node-0-1.j:16"],
            [
                ("I_MPI_HYDRA_HOST_FILE", "/etc/mpi/hostfile"),
                ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", SSH),
                ("I_MPI_PERHOST", "16"),
            ],
            id="Intel",
        ),
        pytest.param(
            "MPICH",
            2,
            ["j-node-0-0.j:2", "j-node-0-1.j:2"],
            [
                ("HYDRA_HOST_FILE", "/etc/mpi/hostfile"),
                ("HYDRA_LAUNCH_EXTRA_ARGS", SSH),
                ("HYDRA_LAUNCHER_EXTRA_ARGS", SSH),
            ],
            id="MPICH, by both names of ssh's options",
        ),
    ],
)
def test_the_other_implementations(
    tmp_path: Path, implementation: str, slots: int, hostfile: list[str], expected: list[tuple[str, str]]
) -> None:
    mpi = {"mpiImplementation": implementation, "numProcPerNode": slots}
    compilation = on_mpi(tmp_path, {"numNodes": 2}, mpi, namespace="n")
    assert compilation.objects[1]["data"]["hostfile"].splitlines() == hostfile
    found = pods_of(compilation)["launcher"]["containers"][0]["env"]
    assert [(variable["name"], variable["value"]) for variable in found] == expected


@pytest.mark.parametrize("implementation", ["Intel", "MPICH"])
def test_a_launcher_that_is_a_node_is_its_short_name_there(tmp_path: Path, implementation: str) -> None:
    mpi = {"mpiImplementation": implementation, **AS_NODE}
    compilation = on_mpi(tmp_path, {"numNodes": 2}, mpi, namespace="n")
    assert compilation.objects[1]["data"]["hostfile"].splitlines() == ["j-launcher-0-0:1", "j-node-0-0.j:1"]


def test_ssh_options_of_the_runtime_stay_for_mpich_4(tmp_path: Path) -> None:
    own = [{"name": "HYDRA_LAUNCHER_EXTRA_ARGS", "value": "-q"}]
    found = pods_of(
        on_mpi(tmp_path, mpi={"mpiImplementation": "MPICH"}, jobs=[mpi_job("launcher", env=own), mpi_job("node")])
    )["launcher"]["containers"][0]["env"]
    assert [(v["name"], v["value"]) for v in found] == [
        ("HYDRA_LAUNCHER_EXTRA_ARGS", "-q"),
        ("HYDRA_HOST_FILE", "/etc/mpi/hostfile"),
        ("HYDRA_LAUNCH_EXTRA_ARGS", SSH),
    ]


@pytest.mark.parametrize(
    ("implementation", "namespace", "template", "dns", "searches"),
    [
        pytest.param("OpenMPI", "n", {}, None, None, id="Open MPI gives its address"),
        pytest.param("MPICH", "n", {}, None, ["j.n.svc.cluster.local"], id="MPICH its name"),
        pytest.param("Intel", "n", {}, None, ["j.n.svc.cluster.local"], id="Intel, too"),
        pytest.param(
            "Intel", "n", {"network": {"subdomain": "s"}}, None, ["s.n.svc.cluster.local"], id="in the subdomain"
        ),
        pytest.param(
            "Intel", "n", {}, {"searches": ["a.b"]}, ["a.b", "j.n.svc.cluster.local"], id="after the runtime's own"
        ),
        pytest.param(
            "Intel",
            "n",
            {},
            {"searches": ["j.n.svc.cluster.local", "a.b"]},
            ["j.n.svc.cluster.local", "a.b"],
            id="which may be the same",
        ),
    ],
)
def test_the_nodes_find_the_launcher(
    tmp_path: Path, implementation: str, namespace: str, template: Any, dns: Any, searches: Any
) -> None:
    jobs = [mpi_job("launcher"), mpi_job("node")]
    if dns:
        jobs[1]["template"]["spec"]["template"]["spec"]["dnsConfig"] = dns
    compilation = on_mpi(tmp_path, {}, {"mpiImplementation": implementation}, jobs, namespace, **template)
    found = pods_of(compilation)
    assert found["node"].get("dnsConfig") == (searches and {"searches": searches})
    assert "dnsConfig" not in found["launcher"]
    assert [d.id for d in compilation.diagnostics] == ["secret-expected"]


@pytest.mark.parametrize(
    ("implementation", "jobs", "expected"),
    [
        pytest.param("OpenMPI", JOBS, [], id="Open MPI does not mind"),
        pytest.param("MPICH", JOBS, ["mpi-search-domain"], id="MPICH minds"),
        pytest.param("Intel", [mpi_job("launcher")], [], id="not without nodes"),
    ],
)
def test_without_a_namespace_there_is_no_domain(
    tmp_path: Path, implementation: str, jobs: Any, expected: list[str]
) -> None:
    compilation = on_mpi(tmp_path, {}, {"mpiImplementation": implementation}, jobs)
    notes = [d for d in compilation.diagnostics if d.id != "secret-expected"]
    assert [(d.id, d.severity) for d in notes] == [(id, "note") for id in expected]
    assert all("dnsConfig" not in pod for pod in pods_of(compilation).values())


@pytest.mark.parametrize(
    ("implementation", "name", "refused"),
    [
        pytest.param("Intel", "I_MPI_PERHOST", True, id="Intel's"),
        pytest.param("MPICH", "HYDRA_HOST_FILE", True, id="MPICH's"),
        pytest.param("MPICH", "HYDRA_LAUNCHER_EXTRA_ARGS", False, id="not those that give way"),
        pytest.param("MPICH", "I_MPI_PERHOST", False, id="nor another's"),
        pytest.param("OpenMPI", "HYDRA_HOST_FILE", False, id="Open MPI leaves MPICH's"),
        pytest.param("Intel", "OMPI_MCA_plm_rsh_args", False, id="and Intel Open MPI's"),
    ],
)
def test_an_implementation_reserves_its_own_variables(
    tmp_path: Path, implementation: str, name: str, refused: bool
) -> None:
    env = [{"name": name, "value": "x"}]
    diagnostics = on_mpi(tmp_path, {"env": env}, {"mpiImplementation": implementation}).diagnostics
    assert [d.id for d in diagnostics if d.severity == "error"] == (["reserved-env"] if refused else [])


@pytest.mark.parametrize("name", [name for name, _ in ORTE])
def test_open_mpi_4s_variables_are_reserved(tmp_path: Path, name: str) -> None:
    diagnostics = on_mpi(tmp_path, {"env": [{"name": name, "value": "x"}]}).diagnostics
    assert [(d.id, d.field) for d in diagnostics if d.severity == "error"] == [("reserved-env", "spec.trainer.env")]


def test_the_note_names_the_secret_and_its_command(tmp_path: Path) -> None:
    (note,) = on_mpi(tmp_path).diagnostics
    assert (note.severity, note.object.name) == ("note", "j")
    assert '"j-mpi-ssh-auth"' in note.message
    assert note.help.startswith("create it once: trainc secret j ")


def test_no_note_where_no_pod_needs_it(tmp_path: Path) -> None:
    assert on_mpi(tmp_path, jobs=[mpi_job("workers")]).diagnostics == ()
