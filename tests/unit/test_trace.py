"""Field provenance: the input line and the source of an output field."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from batches import one_in, one_in_four
from hypothesis import given
from hypothesis import strategies as st
from manifests import GOLDEN_CASES
from purposes import internal

import trainc
from trainc.compilation import Compiled, compile_paths
from trainc.compilation.run import Options, start
from trainc.diagnostics import Location, Place
from trainc.kubernetes.gotypes import ROOT, struct
from trainc.kubernetes.violations import field_of
from trainc.pipeline.stages import STAGES
from trainc.provenance.tracing import Trace, history
from trainc.provenance.tracing.correspondence import (
    GONE,
    KEYS,
    PATCHES,
    TracedOperation,
    corresponding_path,
    leaves,
    patch,
    value_at,
)
from trainc.provenance.tracing.experiments import Experiments
from trainc.provenance.tracing.history import Writes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing.experiments import Group, InputField, OutputField

GOLDEN = Path(__file__).parents[2] / "golden"
RUN = start(Options(legacy=True, no_config=True)).with_project(())
JOB = "spec.replicatedJobs[0].template.spec"
POD = f"{JOB}.template.spec"
NODE = f"{POD}.containers[0]"
SHM = 'runtime "torch-distributed-shm"'
TORCH = "the torch framework"
DEFAULT = "a default of JobSet"


@cache
def golden_jobs(case: str) -> tuple[Compiled, ...]:
    found = compile_paths([str(GOLDEN / case / "input.yaml")], RUN)
    assert found.jobs
    return found.jobs


def file_and_line(place: Place | Location) -> str:
    """Return the file's name and the line."""
    found = place.locate() if isinstance(place, Place) else place
    return f"{Path(found.file).name}:{found.line}"


@pytest.mark.parametrize(
    ("case", "path", "line", "by", "stage"),
    [
        # Fields of the TrainJob
        ("llm-finetune-4x8", "metadata.name", "input.yaml:5", "the TrainJob", "conform"),
        ("llm-finetune-4x8", "metadata.namespace", "input.yaml:6", "the TrainJob", "conform"),
        ("kueue-queue", "metadata.labels.kueue.x-k8s.io/queue-name", "input.yaml:8", "the TrainJob", "carry"),
        ("llm-finetune-4x8", f"{NODE}.image", "input.yaml:12", "the TrainJob", "trainer"),
        ("llm-finetune-4x8", f"{NODE}.args[2]", "input.yaml:17", "the TrainJob", "trainer"),
        ("llm-finetune-4x8", f"{NODE}.env[0].name", "input.yaml:19", "the TrainJob", "framework"),
        ("llm-finetune-4x8", f"{NODE}.env[0].valueFrom.secretKeyRef.key", "input.yaml:23", "the TrainJob", "framework"),
        ("llm-finetune-4x8", f"{NODE}.env[1].value", "input.yaml:25", "the TrainJob", "framework"),
        ("llm-finetune-4x8", f"{NODE}.resources.requests.cpu", "input.yaml:28", "the TrainJob", "size"),
        ("llm-finetune-4x8", f"{NODE}.resources.limits.nvidia.com/gpu", "input.yaml:31", "the TrainJob", "size"),
        ("llm-finetune-4x8", f"{JOB}.parallelism", "input.yaml:11", "the TrainJob", "trainer"),
        ("fetch-then-train", f"{NODE}.env[0].value", "input.yaml:12", "the TrainJob", "initialize"),
        ("fetch-then-train", f"{NODE}.envFrom[0].secretRef.name", "input.yaml:14", "the TrainJob", "initialize"),
        # Patches and runtimes
        (
            "node-pool-patches",
            "metadata.labels.pool",
            "input.yaml:21",
            'patch "platform.acme.example.com/pools"',
            "override",
        ),
        (
            "node-pool-patches",
            f"{POD}.volumes[0].emptyDir.sizeLimit",
            "input.yaml:42",
            'patch "platform.acme.example.com/pools"',
            "override",
        ),
        (
            "node-pool-patches",
            f"{NODE}.securityContext.runAsUser",
            "input.yaml:61",
            'patch "security.acme.example.com/identity"',
            "override",
        ),
        ("node-pool-patches", f"{NODE}.name", "torch-distributed-shm.yaml:34", SHM, "override"),
        ("node-pool-patches", f"{NODE}.image", "torch-distributed-shm.yaml:35", SHM, "override"),
        (
            "fetch-then-train",
            "spec.replicatedJobs[2].template.spec.parallelism",
            "torch-with-initializers.yaml:19",
            'runtime "torch-with-initializers"',
            "trainer",
        ),
        # The smaller deadline wins
        ("deadline", f"{JOB}.activeDeadlineSeconds", "input.yaml:14", 'runtime "nightly"', "override"),
        (
            "deadline",
            "spec.replicatedJobs[1].template.spec.activeDeadlineSeconds",
            "input.yaml:39",
            "the TrainJob",
            "carry",
        ),
        # Frameworks
        (
            "llm-finetune-4x8",
            f"{NODE}.env[2].value",
            "input.yaml:11",
            f"{TORCH}, from spec.trainer.numNodes",
            "framework",
        ),
        (
            "team-runtime",
            f"{NODE}.env[0].value",
            "input.yaml:9",
            f"{TORCH}, from spec.mlPolicy.numNodes",
            "framework",
        ),
        ("unnamed-ports", f"{NODE}.env[0].value", "input.yaml:8", TORCH, "framework"),
        (
            "llm-finetune-4x8",
            f"{NODE}.env[3].value",
            "input.yaml:31",
            f"{TORCH}, from spec.trainer.resourcesPerNode.limits.nvidia.com/gpu",
            "framework",
        ),
        (
            "cpu-ranks",
            f"{NODE}.env[1].value",
            "input.yaml:13",
            f"{TORCH}, from spec.trainer.resourcesPerNode.requests.cpu",
            "framework",
        ),
        ("llm-finetune-4x8", f"{NODE}.env[5].value", "input.yaml:5", f"{TORCH}, from metadata.name", "framework"),
        ("llm-finetune-4x8", f"{NODE}.env[6].value", "torch-distributed.yaml:22", TORCH, "framework"),
        ("llm-finetune-4x8", f"{NODE}.ports[0].containerPort", "torch-distributed.yaml:22", TORCH, "framework"),
        ("sidecar-metrics", f"{POD}.initContainers[0].env[0].name", "input.yaml:13", TORCH, "framework"),
        (
            "jax-two-nodes",
            f"{NODE}.env[0].value",
            "input.yaml:11",
            "the jax framework, from spec.trainer.numNodes",
            "framework",
        ),
        # Fields that no input sets
        ("llm-finetune-4x8", "spec.network.enableDNSHostnames", "torch-distributed.yaml:24", DEFAULT, "store"),
        ("llm-finetune-4x8", f"{JOB}.completionMode", "torch-distributed.yaml:31", DEFAULT, "store"),
        ("llm-finetune-4x8", f"{NODE}.ports[0].protocol", "torch-distributed.yaml:22", DEFAULT, "store"),
        (
            "llm-finetune-4x8",
            "spec.replicatedJobs[0].replicas",
            "torch-distributed.yaml:26",
            'a default of runtime "torch-distributed"',
            "override",
        ),
        ("fetch-then-train", f"{JOB}.parallelism", "torch-with-initializers.yaml:38", "the controller", "trainer"),
        ("llm-finetune-4x8", "kind", "input.yaml:2", "the controller", "conform"),
    ],
)
def test_origin_of_a_field(case: str, path: str, line: str, by: str, stage: str) -> None:
    (job,) = golden_jobs(case)
    (found,) = (steps for steps in leaves(job.objects[0]) if field_of(steps) == path)
    origin = job.trace().origin(0, found)
    assert (file_and_line(origin.place), origin.by, origin.stage) == (line, by, stage)
    assert origin.value == value_at(job.objects[0], found)


@pytest.mark.parametrize(
    ("case", "path", "chain"),
    [
        pytest.param(
            "node-pool-patches",
            (*POD.split("."), "volumes", 0, "emptyDir", "sizeLimit"),
            [
                ("input.yaml:42", 'patch "platform.acme.example.com/pools"', "64Gi"),
                ("torch-distributed-shm.yaml:48", 'runtime "torch-distributed-shm"', "8Gi"),
            ],
            id="a patch over the runtime",
        ),
        pytest.param(
            "llm-finetune-4x8",
            (*NODE.split("."), "image"),
            [
                ("input.yaml:12", "the TrainJob", "ghcr.io/acme/finetune:2.4.0"),
                (
                    "torch-distributed.yaml:36",
                    'runtime "torch-distributed"',
                    "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime",
                ),
            ],
            id="the TrainJob over the runtime",
        ),
        pytest.param(
            "llm-finetune-4x8",
            (*NODE.split("."), "resources", "limits"),
            [("input.yaml:30", "the TrainJob", {"nvidia.com/gpu": "8"})],
            id="a mapping that was copied",
        ),
        pytest.param(
            "llm-finetune-4x8",
            (*NODE.split("."), "env", 1),
            [("input.yaml:24", "the TrainJob", {"name": "NCCL_DEBUG", "value": "WARN"})],
            id="an item that was copied",
        ),
        pytest.param(
            "llm-finetune-4x8",
            ("metadata", "labels", "team"),
            [("input.yaml:4", "the TrainJob", {"name": "llama-finetune", "namespace": "research"})],
            id="a field that is not there: what lacks it",
        ),
    ],
)
def test_every_writing_of_a_field(case: str, path: tuple[Any, ...], chain: list[tuple[str, str, Any]]) -> None:
    steps = [step for part in path for step in steps_of(part)]
    (job,) = golden_jobs(case)
    assert [(file_and_line(o.place), o.by, o.value) for o in job.trace().origins(0, tuple(steps))] == chain


def steps_of(part: str | int) -> list[str | int]:
    """Return a path of a field; `containers[0]` has two steps."""
    if isinstance(part, int) or not part.endswith("]"):
        return [part]
    name, _, index = part[:-1].partition("[")
    return [name, int(index)]


@pytest.mark.parametrize("case", one_in_four(GOLDEN_CASES))
def test_every_leaf_has_an_origin_in_the_input(case: str) -> None:
    for job in golden_jobs(case):
        trace = job.trace()
        inputs = {"the TrainJob": job.plan.job.document, "runtime": job.plan.runtime.document}
        for index, obj in enumerate(job.objects):
            for path in leaves(obj):
                origin = trace.origin(index, path)
                assert any(origin.place.document.identity == document.identity for document in inputs.values()), path
                said = value_at(origin.place.document.value, origin.place.path)
                assert said is not GONE, path
                if origin.by.startswith(("the TrainJob", "patch", "runtime")):
                    assert str(said) == str(origin.value) == str(value_at(obj, path)), path


@pytest.mark.parametrize("case", one_in(16, GOLDEN_CASES))
def test_halving_finds_what_every_single_experiment_finds(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for job in golden_jobs(case)[:1]:
        paths = list(leaves(job.objects[0]))
        halved = Trace(job.plan)
        found = [halved.origin(0, path) for path in paths]
        monkeypatch.setattr(Experiments, "_effective", one_by_one)
        monkeypatch.setattr(Experiments, "_copied", lambda *_: None)
        single = Trace(job.plan)
        assert [single.origin(0, path) for path in paths] == found


def test_an_item_that_moves_keeps_its_writes() -> None:
    before = {"env": [{"name": "A", "value": "1"}], "image": "a"}
    now = {"env": [{"name": "B"}, {"name": "A", "value": "1"}], "image": "b"}
    writes = Writes([([], [before]), ([before], [now])])
    found = [
        list(writes.until(1, (0, *path))) for path in (("env", 1, "value"), ("env", 0, "name"), ("env",), ("image",))
    ]
    assert found == [
        [(0, (0, "env", 0, "value"))],
        [(1, (0, "env", 0, "name"))],
        [(1, (0, "env")), (0, (0, "env"))],
        [(1, (0, "image")), (0, (0, "image"))],
    ]


def test_names_that_differ_in_a_digit_are_distinguished(tmp_path: Path) -> None:
    """A change of a digit in each name would turn V0 into V1."""
    variables = "".join(f"    - {{name: V{i}, value: a}}\n" for i in range(4))
    (tmp_path / "job.yaml").write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t}\n"
        f"spec:\n  runtimeRef: {{name: torch-distributed}}\n  trainer:\n    env:\n{variables}"
    )
    (job,) = internal(trainc.compile([str(tmp_path / "job.yaml")])).jobs
    trace = job.trace()
    steps = tuple(step for part in NODE.split(".") for step in steps_of(part))
    origins = [trace.origin(0, (*steps, "env", index, "name")) for index in range(4)]
    assert [(file_and_line(origin.place), origin.by) for origin in origins] == [
        (f"job.yaml:{line}", "the TrainJob") for line in (8, 9, 10, 11)
    ]


@pytest.mark.parametrize(
    ("metadata", "line", "by"),
    [
        ("{name: t}", "job.yaml:3", "an option of the command line"),
        ("{name: t, namespace: ml}", "job.yaml:3", "the TrainJob"),
        ("\n  namespace: ml\n  name: t", "job.yaml:4", "the TrainJob"),
    ],
)
def test_a_namespace_that_is_not_written_is_an_option_s(metadata: str, line: str, by: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {metadata}\n"
        "spec: {runtimeRef: {name: torch-distributed}}\n"
    )
    (job,) = internal(trainc.compile([str(tmp_path / "job.yaml")], options=Options(namespace="other"))).jobs
    origin = job.trace().origin(0, ("metadata", "namespace"))
    assert (file_and_line(origin.place), origin.by) == (line, by)


def one_by_one(
    self: Experiments, written: OutputField, group: Group, *, remove: bool
) -> Iterator[tuple[InputField, Any]]:
    for field in group:
        outcome = self._outcome(written, (field,), remove=remove)
        if outcome != written.value:
            yield field, outcome


@pytest.mark.parametrize("case", one_in_four(GOLDEN_CASES))
def test_the_patches_of_all_steps_make_the_objects(case: str) -> None:
    for job in golden_jobs(case):
        steps = job.trace().steps
        objects: Any = []
        for step in steps:
            for operation in step.operations():
                objects = applied(objects, operation)
        assert tuple(objects) == job.plan.objects


def test_no_stage_is_missed() -> None:
    (job,) = golden_jobs("node-pool-patches")
    steps = [step.stage for step in job.trace().steps]
    looking = {"resolve", "admit", "verify", "lint"}
    assert list(dict.fromkeys(steps)) == [s.__name__ for s in STAGES if s.__name__ not in looking]
    assert steps.count("override") == 1 + len(job.plan.job.patches)


def applied(tree: Any, operation: TracedOperation) -> Any:
    """Apply RFC 6902 operations to a copy."""
    if not operation.path:
        return operation.value
    tree = copy.deepcopy(tree)
    parent, step = value_at(tree, operation.path[:-1]), operation.path[-1]
    if operation.op == "remove":
        del parent[step]
    elif operation.op == "add" and isinstance(parent, list):
        assert isinstance(step, int)
        assert step <= len(parent)
        parent.insert(step, operation.value)
    else:
        assert (operation.op == "replace") is (value_at(parent, (step,)) is not GONE)
        parent[step] = operation.value
    return tree


ITEMS = st.fixed_dictionaries({}, optional={"name": st.sampled_from("abc"), "value": st.integers(0, 2)})
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.text("ab", max_size=2),
    lambda children: (
        st.lists(children | ITEMS, max_size=4) | st.dictionaries(st.sampled_from("abc"), children, max_size=3)
    ),
    max_leaves=12,
)


@given(TREES, TREES)
def test_a_patch_makes_the_one_of_the_other(before: Any, after: Any) -> None:
    tree = before
    for operation in patch(before, after):
        tree = applied(tree, operation)
    assert json.dumps(tree, sort_keys=True) == json.dumps(after, sort_keys=True)  # 1 and true differ
    assert list(patch(after, copy.deepcopy(after))) == []


@pytest.mark.parametrize(
    ("items", "index", "others", "expected"),
    [
        pytest.param([{"name": "a"}], 0, [{"name": "b"}, {"name": "a"}], 1, id="by name"),
        pytest.param(
            [{"name": "v", "mountPath": "/a"}],
            0,
            [{"name": "v", "mountPath": "/b"}, {"name": "v", "mountPath": "/a"}],
            1,
            id="a mount by its path",
        ),
        pytest.param([{"name": "a"}, {"name": "a"}], 1, [{"name": "a"}, {"name": "a"}], 1, id="the second of a name"),
        pytest.param([{"name": "a"}, {"name": "b"}], 0, [{"name": "x"}, {"name": "b"}], 0, id="renamed"),
        pytest.param([{"name": "a"}, {"name": "b"}], 0, [{"name": "b"}], None, id="gone"),
        pytest.param(["x", "y"], 1, ["x", "z"], 1, id="a scalar by its index"),
        pytest.param(["x", "y"], 1, ["x"], None, id="no such index"),
    ],
)
def test_the_same_item_of_another_list(items: list[Any], index: int, others: list[Any], expected: int | None) -> None:
    assert corresponding_path(items, (index,), others) == (None if expected is None else (expected,))


def test_items_are_followed_by_the_merge_keys_of_a_jobset() -> None:
    keys, waiting, seen = set(), [ROOT], set()
    while waiting:
        declared = struct(waiting.pop())
        for fields in declared.fields.values() if declared else ():
            if fields.merges and fields.kind == "slice":
                keys.add(fields.mergeKey)
            if fields.of not in seen:
                seen.add(fields.of)
                waiting.append(fields.of)
    assert (keys - {""}) | {PATCHES} == set(KEYS)


@pytest.mark.parametrize(
    ("case", "path", "lines"),
    [
        pytest.param("llm-finetune-4x8", "image", ["input.yaml:12"], id="the TrainJob's line"),
        pytest.param(
            "node-pool-patches", "image", ["input.yaml:8", "torch-distributed-shm.yaml:35"], id="the runtime's, beside"
        ),
        pytest.param("node-pool-patches", "securityContext", ["input.yaml:59"], id="a mapping of a patch"),
        pytest.param("sidecar-metrics", "lifecycle", ["input.yaml:50"], id="a missing field"),
    ],
)
def test_where_a_diagnostic_points(case: str, path: str, lines: list[str]) -> None:
    (job,) = golden_jobs(case)
    steps = (step for part in NODE.split(".") for step in steps_of(part))
    place, related = job.trace().point(0, (*steps, path))
    assert [file_and_line(place), *(file_and_line(r.place) for r in related)] == lines


def with_hosts(plan: Plan) -> Plan:
    """A stage that, like a framework, adds an object beside the JobSet."""
    hosts = "\n".join(f"{plan.job.name}-{i}" for i in range(plan.nodes))
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{plan.job.name}-hosts"}}
    return plan._replace(others=(*plan.others, {**made, "data": {"hosts": hosts}}))


@pytest.mark.parametrize(
    ("path", "line", "by"),
    [
        (("data", "hosts"), "input.yaml:5", "the controller, from metadata.name"),
        (("metadata", "name"), "input.yaml:5", "the controller, from metadata.name"),
        (("kind",), "input.yaml:2", "the controller"),
    ],
)
def test_objects_beside_the_jobset(path: tuple[str, ...], line: str, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (job,) = golden_jobs("llm-finetune-4x8")
    monkeypatch.setattr(history, "MAKERS", (*history.MAKERS, with_hosts))
    beside = with_hosts(job.plan).others[-1]
    trace = Trace(job.plan._replace(objects=(*job.plan.objects, beside)))
    origin = trace.origin(1, path)
    assert (file_and_line(origin.place), origin.by, origin.stage) == (line, by, "with_hosts")


def test_a_good_build_does_not_load_it() -> None:
    code = "import sys, trainc; assert trainc.compile(sys.argv[1:]).jobs; print(*sys.modules)"
    path = str(GOLDEN / "llm-finetune-4x8" / "input.yaml")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith("trainc.provenance.tracing")] == []
