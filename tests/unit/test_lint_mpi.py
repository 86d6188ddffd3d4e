"""Lint rules for MPI: SSH keys, sshd, ranks and slots; inputs with and without findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from linting import clean_container, env, fires, replicated, runtime_of, silent, trainjob, warnings
from manifests import ANCESTOR
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.base.releases import V2_2, V2_3
from trainc.compilation.run import Options
from trainc.pipeline.frameworks.mpi.mpirun import launch
from trainc.pipeline.lint.triggers import IGNORE
from trainc.settings import Settings

OF_USER, OF_ROOT = "/home/mpiuser/.ssh", "/root/.ssh"
SSHD = ["/usr/sbin/sshd", "-De"]
MPIRUN = ["mpirun", "solve"]


def labelled_job(main: Any, name: str, pod: Any, labels: Any) -> dict[str, Any]:
    """Return a replicated job with these labels."""
    job = replicated(main, pod=pod, name=name)
    job["template"]["metadata"] = {"labels": labels}
    return job


def runtime(
    *others: Any, launcher: Any = None, node: Any = None, labels: Any = None, of_node: Any = None, **more: Any
) -> dict[str, Any]:
    """Return an MPI runtime: `launcher` and `node` are fields of its containers, and other arguments of the policy.

    pod       fields of the launcher's pod; by default, its ssh can read the key
    of_node   fields of the pods of the nodes
    labels    the labels of job `node`
    """
    pod = more.pop("pod", {"securityContext": {"fsGroup": 1000}})
    user = {"securityContext": {"runAsUser": 1000}}
    launcher = labelled_job(
        clean_container(**{"command": MPIRUN, **user, **(launcher or {})}), "launcher", pod, ANCESTOR
    )
    nodes = labelled_job(
        clean_container(**{"command": SSHD, **user, **(node or {})}), "node", of_node or pod, labels or {}
    )
    settings = {"sshAuthMountPath": OF_USER, "runLauncherAsNode": True, **more}
    return runtime_of(launcher, nodes, *others, policy={"numNodes": 1, "mpi": settings})


def keys(*, path: str = OF_USER, pod: Any = None, **launcher: Any) -> tuple[Any, Any]:
    """Return a TrainJob whose launcher has a security context, and other fields."""
    context = launcher.pop("context", {})
    made = runtime(launcher={**launcher, "securityContext": context}, pod={"securityContext": pod or {}})
    made["spec"]["mlPolicy"]["mpi"]["sshAuthMountPath"] = path
    return made, trainjob(numNodes=2)


def mpijob(launcher: Any = None, worker: Any = None, pod: Any = None, of_workers: Any = None, **spec: Any) -> Any:
    """Return an MPIJob with two workers: `launcher` and `worker` are fields of containers, `pod` of both pods."""
    mains = (
        clean_container(**{"name": "main", **more})
        for more in ({"command": MPIRUN, **(launcher or {})}, {"command": SSHD, **(worker or {})})
    )
    roles = {
        role: {"replicas": count, "template": {"spec": {"containers": [main], **(pod or {}), **more}}}
        for role, count, main, more in zip(("Launcher", "Worker"), (1, 2), mains, ({}, of_workers or {}), strict=True)
    }
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "solve"},
        "spec": {"mpiReplicaSpecs": roles, **spec},
    }


def secured(**context: Any) -> dict[str, Any]:
    """Return the fields of a pod with a security context."""
    return {"securityContext": context}


ROOT, USER = {"runAsUser": 0}, {"runAsUser": 1000}
COPIES = ["sh", "-c", "cp /keys/id_rsa /tmp/key; mpirun solve"]

KEYS = [
    fires("ssh-key-mode", *keys(context=ROOT, path=OF_ROOT), id="root"),
    fires("ssh-key-mode", *keys(context=ROOT), id="root, in the home of another user"),
    fires("ssh-key-mode", *keys(pod=ROOT, path=OF_ROOT), id="root, by the pod"),
    fires("ssh-key-mode", *keys(context=ROOT, path=OF_ROOT, pod={"fsGroup": 1000}), id="root with fsGroup"),
    fires("ssh-key-mode", *keys(path=f"{OF_ROOT}/"), id="the user of the image, with keys of root"),
    fires("ssh-key-mode", *keys(context=USER), id="a user without fsGroup"),
    fires("ssh-key-mode", *keys(context=USER | {"runAsGroup": 3000}), id="a user of another group"),
    fires("ssh-key-mode", *keys(context=USER, pod={"supplementalGroups": [5]}), id="a user with another group"),
    silent("ssh-key-mode", *keys(context=USER, pod={"fsGroup": 1000}), id="a user with fsGroup"),
    silent("ssh-key-mode", *keys(context=USER, pod={"fsGroup": 5}), id="a user with any fsGroup"),
    silent("ssh-key-mode", *keys(context=USER | {"runAsGroup": 0}), id="a user of group 0"),
    silent("ssh-key-mode", *keys(context=USER, pod={"runAsGroup": 0}), id="a user of group 0, by the pod"),
    silent("ssh-key-mode", *keys(context=USER, pod={"supplementalGroups": [0]}), id="a user with group 0"),
    silent("ssh-key-mode", *keys(pod=ROOT, context=USER | {"runAsGroup": 0}), id="the container's user"),
    silent("ssh-key-mode", *keys(), id="the user of the image"),
    silent("ssh-key-mode", *keys(pod={"fsGroup": 1000}), id="the user of the image, with fsGroup"),
    silent("ssh-key-mode", *keys(path=OF_ROOT, context={"runAsNonRoot": True}), id="the user of the image, not root"),
    silent("ssh-key-mode", *keys(context=ROOT, path="/keys"), id="not where ssh looks"),
    silent("ssh-key-mode", *keys(context=ROOT, command=COPIES), id="a copy"),
    silent("ssh-key-mode", *keys(context=ROOT, env=env(OMPI_MCA_plm_rsh_agent="/opt/exec")), id="no ssh"),
    silent("ssh-key-mode", *keys(context=ROOT, env=env(SSH_OPTIONS="-i /keys/id_ed25519")), id="another key"),
    silent(
        "ssh-key-mode",
        runtime(
            launcher={**secured(**ROOT), "volumeMounts": [{"name": "config", "mountPath": "/etc/ssh/ssh_config.d"}]},
            pod={"volumes": [{"name": "config", "configMap": {"name": "ssh"}}]},
        ),
        trainjob(numNodes=2),
        id="a configuration of ssh",
    ),
    silent(
        "ssh-key-mode",
        runtime(launcher=secured(**ROOT), runLauncherAsNode=False),
        trainjob(numNodes=0),
        id="no nodes",
    ),
    silent("ssh-key-mode", keys(context=ROOT)[0], trainjob(annotations={IGNORE: "ssh-key-mode"}), id="turned off"),
    fires("ssh-key-mode", mpijob(pod=secured(fsGroup=5)), id="fsGroup of an MPIJob"),
    fires("ssh-key-mode", mpijob(secured(**ROOT), pod=secured(fsGroup=5)), id="fsGroup of an MPIJob of root"),
    fires("ssh-key-mode", mpijob(secured(**ROOT), sshAuthMountPath=OF_USER), id="root in another folder, MPIJob"),
    fires(
        "ssh-key-mode",
        mpijob(secured(**ROOT), pod=secured(fsGroup=5), sshAuthMountPath=OF_USER),
        id="root with fsGroup in another folder, MPIJob",
    ),
    fires("ssh-key-mode", mpijob(secured(**USER)), id="a user in the folder of root, MPIJob"),
    silent("ssh-key-mode", mpijob(), id="root, MPIJob"),
    silent("ssh-key-mode", mpijob(secured(**ROOT)), id="runAsUser of root, MPIJob"),
    silent("ssh-key-mode", mpijob(secured(**USER), sshAuthMountPath=OF_USER), id="a user, MPIJob"),
    silent(
        "ssh-key-mode",
        mpijob(secured(**USER), pod=secured(fsGroup=5), sshAuthMountPath=OF_USER),
        id="a user with fsGroup, MPIJob",
    ),
]


def launcher(*command: str, labels: Any = None, **trainer: Any) -> tuple[Any, Any]:
    """Return two nodes of two slots, one of them the launcher, which runs a command."""
    made = runtime(labels=labels, numProcPerNode=2)
    return made, trainjob(numNodes=2, **({"command": [*command]} if command else {}), **trainer)


def in_shell(text: str) -> tuple[str, str, str]:
    return "bash", "-c", text


SLOTS = [
    *(
        fires("mpi-slots", *launcher(*command), id=" ".join(command))
        for command in (
            ("mpirun", "-np", "5", "solve"),
            ("mpirun", "--np", "16", "python", "train.py"),
            ("/usr/local/bin/mpiexec", "-n", "5", "solve"),
            ("mpirun", "--allow-run-as-root", "-x", "A", "--mca", "pml", "ob1", "-n", "8", "solve", "-n", "2"),
            ("mpirun", "--hostfile", "/etc/mpi/hostfile", "-np", "5", "solve"),
            ("horovodrun", "-np", "5", "--hostfile", "/etc/mpi/hostfile", "python", "train.py"),
            in_shell("set -e\nmpirun --bind-to none -np 5 solve"),
            in_shell("cd /src && exec mpirun -np 5 \\\n  solve"),
        )
    ),
    *(
        silent("mpi-slots", *launcher(*command), id=" ".join(command))
        for command in (
            ("mpirun", "solve"),
            ("mpirun", "-np", "4", "solve"),
            ("mpirun", "-np", "2", "solve"),
            ("mpirun", "solve", "-np", "16"),
            ("mpirun", "-np", "16", "--oversubscribe", "solve"),
            ("mpirun", "-np", "16", "--map-by", ":OVERSUBSCRIBE", "solve"),
            ("mpirun", "-np", "16", "-H", "a:8,b:8", "solve"),
            ("mpirun", "-np", "16", "--hostfile", "/src/hosts", "solve"),
            ("mpirun", "-np", "16", "--some-new-option", "solve"),
            ("mpirun", "-np", "16", "solve", ":", "-np", "1", "watch"),
            ("mpirun", "-np", "$(NP)", "solve"),
            ("horovodrun", "-np", "16", "python", "train.py"),
            ("run.sh", "-np", "16"),
            in_shell("mpirun -np $NP solve"),
            in_shell("if test -e /src; then\nmpirun -np 16 solve\nfi"),
            in_shell("mpirun -np 1 hostname; mpirun -np 16 solve"),
        )
    ),
    silent(
        "mpi-slots",
        *launcher("mpirun", "-np", "16", "solve", env=env(OMPI_MCA_rmaps_base_oversubscribe="1")),
        id="a variable allows it",
    ),
    silent(
        "mpi-slots",
        *launcher("mpirun", "-np", "16", "solve", numProcPerNode=8),
        id="slots of the TrainJob",
    ),
    silent("mpi-slots", runtime(mpiImplementation="MPICH"), trainjob(command=["mpirun", "-n", "9", "a"]), id="Hydra"),
    fires("mpi-slots", mpijob({"command": ["mpirun", "-np", "3", "solve"]}), id="an MPIJob"),
    silent("mpi-slots", mpijob({"command": ["mpirun", "-np", "4", "solve"]}, slotsPerWorker=2), id="an MPIJob's slots"),
    silent("mpi-slots", mpijob({"command": ["mpirun", "-np", "3", "a"]}, runLauncherAsWorker=True), id="as a worker"),
]
SECRETS = {"valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
VARIABLES = [
    fires("mpi-ranks-env", *launcher("mpirun", "solve", env=env(A="1", B="2")), id="two variables"),
    fires("mpi-ranks-env", *launcher("mpirun", "-x", "A", "solve", env=env(A="1", B="2")), id="one of two"),
    fires("mpi-ranks-env", *launcher("mpirun", "solve", env=[{"name": "TOKEN", **SECRETS}]), id="of a Secret"),
    fires("mpi-ranks-env", *launcher(*in_shell("mpirun solve"), env=env(A="1")), id="in a shell"),
    fires(
        "mpi-ranks-env",
        runtime(runLauncherAsNode=False),
        trainjob(numNodes=2, env=env(A="1")),
        id="the launcher is no node",
    ),
    *(
        silent("mpi-ranks-env", *launcher(*command, env=env(A_1="1")), id=" ".join(command))
        for command in (
            ("mpirun", "-x", "A_1", "solve"),
            ("mpirun", "-x", "A_1=2", "solve"),
            ("mpirun", "-x", "B,A_1", "solve"),
            ("mpirun", "-x", "A_*", "solve"),
            ("mpirun", "solve", "--rate=$(A_1)"),
            ("mpirun", "--mca", "mca_base_env_list", "B;C", "solve"),
            ("mpirun", "--tune", "/src/tuned", "solve"),
            ("mpirun", "--some-new-option", "solve"),
            ("horovodrun", "-np", "4", "python", "train.py"),
            ("launch.sh",),
        )
    ),
    silent(
        "mpi-ranks-env", *launcher("mpirun", "solve", env=env(OMPI_MCA_btl="tcp", PMIX_DEBUG="1")), id="of Open MPI"
    ),
    silent("mpi-ranks-env", *launcher("mpirun", "solve"), id="none"),
    silent("mpi-ranks-env", runtime(mpiImplementation="MPICH"), trainjob(env=env(A="1")), id="Hydra sends all"),
]
CODE_AND_SLEEP = in_shell("export A=1; mkdir -p /run/sshd\nsleep 1d")
SLEEPS = {"command": ["sleep", "1d"]}
AGENT = {"command": ["mpirun", "--mca", "plm_rsh_agent", "/opt/exec", "solve"]}
NODES = [
    *(
        fires("mpi-sshd", mpijob(worker={"command": [*command]}), id=" ".join(command))
        for command in (("sleep", "infinity"), ("python", "train.py"), ("tail", "-f", "/dev/null"))
    ),
    fires("mpi-sshd", mpijob(worker={"command": [*in_shell("trap exit TERM; sleep 1d & wait")]}), id="a script"),
    fires("mpi-sshd", runtime(node={"command": ["sleep", "1d"]}), trainjob(numNodes=2), id="of the runtime"),
    fires("mpi-sshd", *launcher("mpirun", "solve", labels=ANCESTOR), id="the command of the TrainJob"),
    *(
        silent("mpi-sshd", mpijob(worker={"command": [*command]}), id=" ".join(command))
        for command in (
            ("/usr/sbin/sshd", "-De"),
            ("/entrypoint.sh",),
            ("tini", "--", "sleep", "1d"),
            in_shell("service ssh start; sleep 1d"),
            in_shell("/usr/sbin/sshd; sleep 1d"),
            in_shell("/src/start; sleep 1d"),
            in_shell("$(which server) & sleep 1d"),
            CODE_AND_SLEEP,
        )
    ),
    silent("mpi-sshd", mpijob(AGENT, SLEEPS), id="another program than ssh"),
    silent(
        "mpi-sshd",
        mpijob(worker=SLEEPS, of_workers={"containers": [clean_container(**SLEEPS), clean_container(name="server")]}),
        id="the command of another image",
    ),
    silent("mpi-sshd", mpijob(worker={"command": None}), id="the operator's sshd"),
    silent("mpi-sshd", mpijob(worker={"command": None, "args": ["worker"]}), id="the image's command"),
    silent("mpi-sshd", *launcher("mpirun", "solve"), id="only the launcher's command"),
    silent("mpi-sshd", *launcher("launch.sh", labels=ANCESTOR), id="a script for both jobs"),
    silent("mpi-sshd", *launcher(labels=ANCESTOR, image="i:2"), id="only the image of the TrainJob"),
]
MAIN = clean_container(command=SSHD)
JOBS = [
    fires("mpi-unlisted-job", runtime(labelled_job(MAIN, "more-nodes", {}, {})), trainjob(numNodes=2), id="with sshd"),
    fires(
        "mpi-unlisted-job",
        runtime(labelled_job(clean_container(command=["train"]), "trainer", {}, ANCESTOR)),
        trainjob(numNodes=2),
        id="a trainer",
    ),
    fires(
        "mpi-unlisted-job",
        runtime(labelled_job(clean_container(), "more", {}, {}), node={"command": None}),
        trainjob(numNodes=2),
        id="like the nodes",
    ),
    silent(
        "mpi-unlisted-job",
        runtime(labelled_job(clean_container(command=["evaluate"]), "evaluator", {}, {})),
        trainjob(numNodes=2),
        id="another program",
    ),
    silent("mpi-unlisted-job", runtime(), trainjob(numNodes=2), id="no other job"),
]
OF_OPERATOR = {"image": "mpioperator/mpi-pi:openmpi-4"}
HOST = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", "securityContext": {"fsGroup": 1000}}
PORTS = [
    fires("host-network-port", mpijob(of_workers=HOST), id="an MPIJob"),
    fires("host-network-port", runtime(of_node=HOST), trainjob(numNodes=2), id="a TrainJob"),
    fires("host-network-port", mpijob(worker={"ports": [{"containerPort": 22}]}, of_workers=HOST), id="port 22"),
    *(
        silent("host-network-port", mpijob(worker=worker, of_workers=HOST), id=id)
        for id, worker in {
            "an option": {"command": [*SSHD, "-p", "2222"]},
            "another configuration": {"command": [*SSHD, "-f", "/home/mpiuser/.sshd_config"]},
            "a probe of another port": {"readinessProbe": {"tcpSocket": {"port": 2222}}},
            "an own command": {"command": ["/start"]},
        }.items()
    ),
    silent(
        "host-network-port",
        mpijob({"command": ["mpirun", "--mca", "plm_rsh_args", "-p 2222", "solve"]}, of_workers=HOST),
        id="another port of ssh",
    ),
    silent("host-network-port", mpijob(OF_OPERATOR, OF_OPERATOR, of_workers=HOST), id="an image with another port"),
    silent("host-network-port", mpijob(), id="the network of pods"),
]
OTHER = {"image": "other:1"}
IMAGES = [
    fires("mpi-image", mpijob(OTHER), id="two images"),
    silent("mpi-image", mpijob({**OTHER, "command": ["/opt/mpi/bin/mpirun", "solve"]}), id="a path"),
    silent("mpi-image", mpijob({**OTHER, "command": ["mpirun", "--prefix", "/opt/mpi", "solve"]}), id="a prefix"),
]


@pytest.mark.parametrize(("documents", "rules"), [*KEYS, *SLOTS, *VARIABLES, *NODES, *JOBS, *PORTS, *IMAGES])
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    reported = warnings(tmp_path, *documents, options=Options(legacy=True))
    found = [d for d in reported if d.stage == "lint" and d.id != "env-not-expanded"]
    assert [d.id for d in found] == rules
    assert not rules or texts(found).replace(f"{tmp_path}/", "") == snapshot


@pytest.mark.parametrize(
    ("release", "context", "rules"),
    [
        pytest.param(V2_2, USER, [], id="a user reads the mode 0644"),
        pytest.param(V2_2, ROOT, ["ssh-key-mode"], id="0644 is too open for root"),
        pytest.param(V2_3, USER, ["ssh-key-mode"], id="a user does not read the mode 0640"),
        pytest.param(V2_3, ROOT, ["ssh-key-mode"], id="0640 is too open for root"),
    ],
)
def test_modes_of_the_releases(tmp_path: Path, release: Any, context: Any, rules: list[str]) -> None:
    options = Options(settings=Settings(release=release))
    found = warnings(tmp_path, *keys(context=context), options=options)
    assert [d.id for d in found if d.stage == "lint"] == rules


COMMANDS = [
    ("mpirun -np 4 ./pi", 4),
    ("mpirun -n 8 --bind-to none python train.py", 8),
    ("mpirun --np 16 -H a:8,b:8 python train.py", 16),
    ("mpirun --n 2 hostname", 2),
    ("mpirun -c 6 hostname", 6),
    ("mpiexec -n 32 --map-by ppr:8:node ./solve", 32),
    ("/opt/amazon/openmpi/bin/mpirun --allow-run-as-root --tag-output -np 72 -npernode 4 ./all_reduce_perf -b 8", 72),
    ("mpirun --allow-run-as-root -np 16 -N 8 --bind-to none -x PATH -x FI_PROVIDER=efa ./solve", 16),
    ("mpirun -mca btl_tcp_if_exclude lo -mca pml ob1 -mca btl ^openib -np 2 python train.py", 2),
    ("mpirun --prefix /opt/mpi --hostfile /etc/mpi/hostfile -np 64 lmp -in in.lj", 64),
    ("mpirun -wdir /src -x A -x B=1 -np 3 bash -c true", 3),
    ("prterun --np 5 ./a", 5),
    ("orterun -np 12 --display-map ./a", 12),
    ("horovodrun -np 16 -H server1:4,server2:4,server3:4,server4:4 python train.py", 16),
    ("horovodrun --num-proc 8 --verbose python train.py", 8),
    ("horovodrun -np 2 --min-np 1 --max-np 3 --host-discovery-script /etc/mpi/discover_hosts.sh python a.py", 2),
    ("horovodrun --num-proc=4 -hostfile hosts python train.py", 4),
    ("mpirun python train.py", None),
    ("mpirun ./solve -np 16", None),
    ("mpirun -npernode 2 python train.py", None),
    ("mpirun -np auto python train.py", None),
    ("mpirun -np 2 ./a : -np 1 ./b", None),
    ("mpirun -np 2 -np 4 ./a", None),
    ("mpirun --some-new-option 3 -np 4 ./a", None),
    ("mpirun -np", None),
    ("python -m mpirun -np 4", None),
]


@pytest.mark.parametrize(("command", "ranks"), COMMANDS)
@pytest.mark.parametrize("wrapped", ["", "bash", "sh"])
def test_the_number_of_ranks(command: str, ranks: int | None, wrapped: str) -> None:
    texts = [wrapped, "-c", f"cd /src\n{command}\n"] if wrapped else command.split()
    run = launch({"command": texts})
    found = run.ranks() if run else None
    assert (int(found.values[0]) if found else None) == ranks
