"""Legacy jobs: the pods of trainc's JobSets have the processes of the pods that the operators created.

The cases of each kind are in data/legacy/<kind>.jsonl: a case has the job, why admission refused it (`refused`), why
the controller failed (`error`), and the containers of each pod. Training Operator v1.7.0 accepted some jobs that v1.9.3
refuses, and dropped nprocPerNode from elastic jobs. Cases of mpi-operator and Volcano were written from their sources;
those of mpi-operator also have the search domains of the pods, the mode of the SSH keys and the hostfile.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest
from batches import in_batches, one_in_four
from conformance.recordings import marks, or_skip, recorded

import trainc
from trainc.compilation.run import Options
from trainc.kubernetes.container_environment import Known, Unknown, environment
from trainc.kubernetes.trees import get
from trainc.pods import jobs_of

KINDS: Final = ("pytorchjob", "mpijob", "tfjob", "xgboostjob", "jaxjob", "paddlejob", "mxjob", "volcanojob")
OPTIONS: Final = Options(legacy=True, no_config=True)
REFUSED_LATER: Final = frozenset(
    f"v1.7.0/{name}" for name in ("s008-zero-workers", "s038-master-nil-replicas", "s042-no-worker-all-given")
)
"""The jobs that v1.7.0 accepted, and v1.9.3 and trainc refuse."""
MADE_NO_PODS: Final = frozenset(
    {
        "v1.7.0/s043-no-replicas-at-all",
        "v1.9.3/s014-PyTorchJob-no-roles",
        "v1.9.3/s043-TFJob-no-roles",
        "v1.9.3/s129-PaddleJob-no-roles",
        "v1.9.3/s152-JAXJob-no-roles",
    }
)
"""The jobs without roles, which trainc refuses."""
DROPPED: Final = "PET_NPROC_PER_NODE"
ADDED: Final = (
    "PRTE_MCA_",  # Open MPI 5
    "HYDRA_LAUNCHER_EXTRA_ARGS",  # MPICH 4
    "JOB_COMPLETION_INDEX",  # the Job controller
    "TF_TASK_INDEX",
    "MX_TASK_INDEX",
    "POD_IP_DUMMY",  # in the first pod of PaddleJobs, of its role in JobSets
)
"""The variables that trainc's pods have in addition."""
DOMAIN: Final = r"(?:\.[\w-]+\.svc(?:\.cluster\.local)?)?"
"""The namespace and the domain of a recorded host name, which a JobSet's host names need not have."""
ENV: Final = 2
"""The index of the variables in the compared parts of a container."""
LITERAL: Final = ("image", "resources", "volumeMounts")


def cases(verdict: str) -> list[Any]:
    """Return the cases with a verdict: compiled, refused or crashed."""
    found = []
    for kind in KINDS:
        for case in recorded(f"legacy/{kind}.jsonl"):
            id = case["name"]
            if case["refused"] or id in REFUSED_LATER | MADE_NO_PODS:
                of_case = "refused"
            else:
                of_case = "crashed" if case["error"] else "compiled"
            if of_case == verdict:
                found.append(pytest.param(case, id=f"{kind}/{id}", marks=marks(f"legacy/{id}")))
    return or_skip(found)


def compiled_case(case: Any) -> Any:
    return trainc.compile(text=json.dumps(case["input"]), options=OPTIONS)


def errors(case: Any) -> list[str]:
    return [found.message for found in compiled_case(case).diagnostics if found.severity == "error"]


@in_batches("case", cases("refused"))
def test_a_refused_job_has_an_error(case: Any) -> None:
    assert errors(case)


@in_batches("case", cases("crashed"))
def test_a_job_that_crashed_the_operator_does_not_crash_trainc(case: Any) -> None:
    compiled_case(case)


@in_batches("case", one_in_four(cases("compiled")))
def test_the_pods_have_the_recorded_processes(case: Any) -> None:
    assert errors(case) == []
    jobset, *_ = compiled_case(case).objects
    policy = case["input"]["spec"].get("runPolicy") or {}
    labels = case["input"]["metadata"].get("labels") or {}
    if policy.get("suspend"):
        assert jobset["spec"].get("suspend", False) is ("kueue.x-k8s.io/queue-name" not in labels)
    elif policy.get("managedBy") == "kueue.x-k8s.io/multikueue":
        assert jobset["spec"]["managedBy"] == policy["managedBy"]
    else:
        ours = [pod for job in jobs_of(jobset, {}) for pod in job.pods()]
        hosts = dict(zip((pod["name"] for pod in case["pods"]), (pod.address for pod in ours), strict=True))
        for recorded, pod in zip(case["pods"], ours, strict=True):
            restart = {"Always": "OnFailure"}.get(recorded["restartPolicy"], recorded["restartPolicy"])
            assert pod.spec["restartPolicy"] == restart
            found = [process(container.tree, container.env) for container in pod.containers if not container.init]
            wanted = [in_jobset(container, recorded, hosts) for container in recorded["containers"]]
            for one, other in zip(found, wanted, strict=True):
                for env in (one[ENV], other[ENV]):
                    for name in [*env]:
                        if name.startswith(ADDED):
                            del env[name]
                        elif env[name].startswith("{"):
                            env[name] = json.loads(env[name])
                if DROPPED not in other[ENV]:
                    one[ENV].pop(DROPPED, None)
            assert found == wanted
            assert get(pod.spec, ("dnsConfig", "searches"), []) == recorded.get("searches", [])
            if "keyMode" in case:
                modes = [each["secret"].get("defaultMode", 0) for each in pod.spec["volumes"] if "secret" in each]
                assert modes == [case["keyMode"]]


@in_batches("case", [each for each in cases("compiled") if "hostfile" in each.values[0]])
def test_the_hostfile_has_the_recorded_lines(case: Any) -> None:
    """Trainer's policy names the hosts without the namespace, and the launcher of Hydra without the domain."""
    jobset, hostfile = compiled_case(case).objects
    ours = [pod for job in jobs_of(jobset, {}) for pod in job.pods()]
    hosts = {recorded["name"]: pod.hostname for recorded, pod in zip(case["pods"], ours, strict=True)}
    name = case["input"]["metadata"]["name"]
    wanted = [(hosts[line.partition(".")[0]], line.partition(".svc")[2]) for line in case["hostfile"].splitlines()]
    found = [
        re.fullmatch(rf"([a-z0-9-]+?)(?:\.{name})?([: ].*)", line) for line in hostfile["data"]["hostfile"].splitlines()
    ]
    assert [match and match.groups() for match in found] == wanted


def process(container: Any, env: dict[str, Any]) -> Any:
    """Return the compared parts of a container."""
    known = {name: "" if isinstance(value, Unknown) else value for name, value in env.items()}
    texts = [container.get("command"), container.get("args")]
    return [container["name"], texts, known, *(container.get(key) or None for key in LITERAL)]


def in_jobset(container: Any, recorded: Any, hosts: dict[str, Any]) -> Any:
    """Return the compared parts of a container of a recorded pod, with the host names of the JobSet's pods."""
    pod = Known(Unknown(""), Unknown(""), recorded["labels"], {}, {})
    own_address = json.dumps(container).replace("$(POD_IP_DUMMY)", recorded["name"])
    env = environment(json.loads(own_address), pod, {}).variables
    text = json.dumps(process(container, env))
    for old, new in hosts.items():
        text = re.sub(rf"(?<![\w.-]){re.escape(old)}{DOMAIN}(?![\w-])", new, text)
    return json.loads(text)
