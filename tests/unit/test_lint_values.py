"""Lint rules for values that the API server accepts and that do not work: inputs with and without findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from linting import clean_container, fires, pytorchjob, replicated, runtime_of, silent, trainjob, warnings
from manifests import write_json
from purposes import compile_for
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.compilation.run import BUILD, NO_OPTIONS, Options
from trainc.pipeline.lint.triggers import IGNORE

LEGACY = Options(legacy=True, gang="volcano")
FIELD = {"fieldRef": {"fieldPath": "metadata.name"}}
KUEUE = "kueue.x-k8s.io/queue-name"
INJECT = "sidecar.istio.io/inject"
RESTARTS = {"failurePolicy": {"maxRestarts": 3}}
MORE_PODS = {"numNodes": 2, "labels": {KUEUE: "q"}}


def cpu(amount: Any) -> Any:
    return trainjob(resourcesPerNode={"requests": {"cpu": amount}})


def elastic(least: int, most: int) -> Any:
    job = pytorchjob()
    job["spec"]["elasticPolicy"] = {"minReplicas": least, "maxReplicas": most, "rdzvBackend": "c10d"}
    return job


def on_medium(medium: str) -> Any:
    return runtime_of(replicated(pod={"volumes": [{"name": "v", "emptyDir": {"medium": medium}}]}))


def rdma(name: str = "rdma/hca", **context: Any) -> Any:
    resources = {"limits": {name: 1}, "requests": {"cpu": 1, name: 1}}
    return runtime_of(replicated(clean_container(resources=resources, securityContext=context)))


def variables(*items: Any) -> Any:
    return trainjob(env=[{"name": f"V{index}", **item} for index, item in enumerate(items)])


def retried(
    retries: int | None = None, policy: str = "Never", of_jobset: Any = None, runtime_policy: Any = None
) -> Any:
    job = replicated(pod={"restartPolicy": policy})
    job["template"]["spec"] |= {} if retries is None else {"backoffLimit": retries}
    return runtime_of(job, policy=runtime_policy, of_jobset=RESTARTS if of_jobset is None else of_jobset)


def on_claim(*modes: str, namespace: str = "", name: str = "data") -> tuple[Any, Any]:
    """Return a runtime whose pods mount the claim `data`, and a claim."""
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {"accessModes": [*modes]},
    }
    return runtime_of(replicated(pod={"volumes": [volume]})), claim


def words(*command: str, args: tuple[str, ...] = ()) -> Any:
    return trainjob(command=[*command], args=[*args])


def labelled(**metadata: Any) -> Any:
    return runtime_of(replicated(of_pods=metadata))


ROWS = [
    fires("cpu-unit", runtime_of(), cpu("500M"), id="millions"),
    fires("cpu-unit", runtime_of(), cpu(4000), id="thousandths without m"),
    fires("cpu-unit", runtime_of(), cpu("4Gi"), id="a unit for bytes"),
    fires("cpu-unit", runtime_of(), cpu(2049), id="more than the largest machines"),
    silent("cpu-unit", runtime_of(), cpu("500m"), id="thousandths"),
    silent("cpu-unit", runtime_of(), cpu("1500m"), id="more than a thousand thousandths"),
    silent("cpu-unit", runtime_of(), cpu(1920), id="the largest machines"),
    silent("cpu-unit", runtime_of(), cpu("0.5"), id="a fraction"),
    fires("volume-medium", on_medium("memory"), trainjob(), id="lower case"),
    fires("volume-medium", on_medium("RAM"), trainjob(), id="another word"),
    silent("volume-medium", on_medium("Memory"), trainjob(), id="Memory"),
    silent("volume-medium", on_medium("HugePages"), trainjob(), id="huge pages"),
    silent("volume-medium", on_medium(""), trainjob(), id="the disk"),
    fires("rdma-memory-lock", rdma(), trainjob(), id="no capability"),
    fires("rdma-memory-lock", rdma(capabilities={"add": ["SYS_PTRACE"]}), trainjob(), id="another capability"),
    silent("rdma-memory-lock", rdma(capabilities={"add": ["IPC_LOCK"]}), trainjob(), id="IPC_LOCK"),
    fires("rdma-memory-lock", rdma("rdma/hca_shared_devices_a"), trainjob(), id="a shared device"),
    silent("rdma-memory-lock", rdma(privileged=True), trainjob(), id="privileged"),
    silent("rdma-memory-lock", rdma("vpc.amazonaws.com/efa"), trainjob(), id="EFA"),
    fires("elastic-range", elastic(4, 2), id="the minimum is larger"),
    silent("elastic-range", elastic(2, 4), id="the maximum is larger"),
    silent("elastic-range", elastic(2, 2), id="the same"),
    silent("elastic-range", runtime_of(), variables({"name": "OTHER", "value": "4:2"}), id="another variable"),
    fires("value-beside-source", runtime_of(), variables({"value": "a", "valueFrom": FIELD}), id="both"),
    silent("value-beside-source", runtime_of(), variables({"valueFrom": FIELD}), id="a source"),
    silent("value-beside-source", runtime_of(), variables({"value": "", "valueFrom": FIELD}), id="an empty value"),
    silent("value-beside-source", runtime_of(), variables({"value": "a"}, {"valueFrom": FIELD}), id="two variables"),
    fires("restarts-multiply", retried(2), trainjob(), id="retries"),
    fires("restarts-multiply", retried(policy="OnFailure"), trainjob(), id="restarts of containers"),
    silent("restarts-multiply", retried(0, "OnFailure"), trainjob(), id="no retries"),
    silent("restarts-multiply", retried(), trainjob(), id="neither is set"),
    silent("restarts-multiply", retried(2, of_jobset={}), trainjob(), id="no restarts of the JobSet"),
    silent("restarts-multiply", retried(2, runtime_policy={}), trainjob(), id="independent nodes"),
    silent("restarts-multiply", retried(2, of_jobset={"failurePolicy": {"maxRestarts": 0}}), trainjob(), id="none"),
    silent("restarts-multiply", pytorchjob(restart="OnFailure", backoffLimit=3), id="a legacy job"),
    fires("claim-on-several-nodes", *on_claim("ReadWriteOnce"), trainjob(**MORE_PODS), id="ReadWriteOnce"),
    fires("claim-on-several-nodes", *on_claim("ReadWriteOncePod"), trainjob(**MORE_PODS), id="ReadWriteOncePod"),
    silent("claim-on-several-nodes", *on_claim("ReadWriteOnce"), trainjob(), id="one pod"),
    silent("claim-on-several-nodes", *on_claim("ReadWriteMany"), trainjob(**MORE_PODS), id="several nodes"),
    silent(
        "claim-on-several-nodes",
        *on_claim("ReadWriteOnce", "ReadOnlyMany"),
        trainjob(**MORE_PODS),
        id="another mode, too",
    ),
    silent("claim-on-several-nodes", *on_claim("ReadWriteOnce", name="a"), trainjob(**MORE_PODS), id="another claim"),
    silent("claim-on-several-nodes", *on_claim(), trainjob(**MORE_PODS), id="unknown modes"),
    fires("command-words", runtime_of(), words("bash", "-c", "torchrun", "train.py"), id="a script in several words"),
    fires("command-words", runtime_of(), words("sh", "-ec", "./run.sh", args=("--lr", "1")), id="two arguments"),
    silent("command-words", runtime_of(), words("bash", "-c", "torchrun train.py"), id="a script in one word"),
    silent("command-words", runtime_of(), words("sh", "-c", 'python "$@"', "sh", "a.py"), id="it reads all parameters"),
    silent("command-words", runtime_of(), words("sh", "-c", "python $0", "a.py"), id="it reads $0"),
    silent("command-words", runtime_of(), words("sh", "-c", "make", "--"), id="a name alone"),
    silent("command-words", runtime_of(), words("sh", "-c", "$(AWS_SCRIPT)", "a", "b"), id="an unknown script"),
    silent("command-words", runtime_of(), words("bash", "train.sh", "a", "b"), id="a script in a file"),
    fires("no-shared-memory", runtime_of(), words("torchrun", "train.py", "--num_workers", "4"), id="workers"),
    fires("no-shared-memory", runtime_of(), words("torchrun", "a.py", "--dataloader_num_workers=1"), id="one worker"),
    fires("no-shared-memory", runtime_of(), words("sh", "-c", "torchrun a.py data.num_workers=8"), id="in a script"),
    silent("no-shared-memory", runtime_of(), words("torchrun", "a.py", "--num_workers", "0"), id="no workers"),
    silent("no-shared-memory", runtime_of(), words("torchrun", "a.py", "--ray_num_workers=4"), id="other workers"),
    silent("no-shared-memory", runtime_of(), words("torchrun", "a.py", "--num_workers=$(AWS_N)"), id="unknown workers"),
    silent(
        "no-shared-memory",
        runtime_of(replicated(pod={"hostIPC": True})),
        words("torchrun", "a.py", "--num_workers=4"),
        id="shared memory of the node",
    ),
    fires("key-not-read", labelled(labels={KUEUE: "q"}), trainjob(), id="a queue of the pods"),
    silent("key-not-read", labelled(labels={KUEUE: "q"}), trainjob(labels={KUEUE: "q"}), id="a queue of both"),
    fires("key-not-read", runtime_of(labels={KUEUE: "q"}), trainjob(), id="a queue of the runtime"),
    silent("key-not-read", runtime_of(labels={KUEUE: "q"}), trainjob(labels={KUEUE: "q"}), id="and of the TrainJob"),
    fires("key-not-read", runtime_of(), trainjob(annotations={INJECT: "false"}), id="an injector"),
    silent("key-not-read", labelled(annotations={INJECT: "false"}), trainjob(), id="an injector of pods"),
    silent(
        "key-not-read",
        labelled(annotations={INJECT: "false"}),
        trainjob(annotations={INJECT: "false"}),
        id="an injector of both",
    ),
]


@pytest.mark.parametrize(("documents", "rules"), ROWS)
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    found = warnings(tmp_path, *documents, options=LEGACY)
    assert [d.id for d in found] == rules
    assert not rules or texts(found) == snapshot


@pytest.mark.parametrize(("documents", "rules"), [row for row in ROWS if row.values[1]])
def test_an_annotation_turns_a_rule_off(tmp_path: Path, documents: tuple[Any, ...], rules: list[str]) -> None:
    *others, job = documents
    job["metadata"]["annotations"] = job["metadata"].get("annotations", {}) | {IGNORE: ",".join(rules)}
    assert warnings(tmp_path, *others, job, options=LEGACY) == []


def test_a_claim_in_a_file_without_trainjobs(tmp_path: Path) -> None:
    runtime, claim = on_claim("ReadWriteOnce")
    write_json(tmp_path, runtime, trainjob(**MORE_PODS))
    (tmp_path / "claim.json").write_text(json.dumps(claim))
    done = compile_for(BUILD, [str(tmp_path)], NO_OPTIONS)
    assert [d.id for d in done.diagnostics] == ["claim-on-several-nodes"]
