"""Inputs that need more than a run may take end with one diagnostic, within 512 MiB of memory and a minute of work."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEMORY = 512 * 2**20
SECONDS = 60
"""Processor time."""
HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
MOST = 2**31 - 1


def job(runtime: str, more: str = "", name: str = "a") -> str:
    return f"---\n{HEAD}kind: TrainJob\nmetadata: {{name: {name}}}\nspec: {{runtimeRef: {{name: {runtime}}}{more}}}\n"


def nodes(runtime: str, count: int = MOST) -> Callable[[], str]:
    return lambda: job(runtime, f", trainer: {{numNodes: {count}}}")


def runtime(jobs: str, policy: str = "") -> str:
    return (
        f"{HEAD}kind: ClusterTrainingRuntime\nmetadata: {{name: r}}\n"
        f"spec: {{{policy}template: {{spec: {{replicatedJobs: [{jobs}]}}}}}}\n"
    )


def part(name: str, more: str = "", container: str = "") -> str:
    containers = f"containers: [{{name: node, image: a/b:1{container}}}]"
    return f"{{name: {name}{more}, template: {{spec: {{template: {{spec: {{{containers}}}}}}}}}}}"


def replicas() -> str:
    return runtime(part("a", f", replicas: {MOST}")) + job("r")


def replicas_of_a_role() -> str:
    policy = "mlPolicy: {tensorflow: {}}, "
    return runtime(f"{part('worker')}, {part('ps', f', replicas: {MOST}')}", policy) + job("r")


def doubled_variables() -> str:
    env = ["{name: A0, value: xxxxxxxx}", *(f'{{name: A{i}, value: "$(A{i - 1})$(A{i - 1})"}}' for i in range(1, 25))]
    return runtime(part("a", container=f", env: [{', '.join(env)}]")) + job("r")


def spaces() -> str:
    return job("torch-distributed", f', trainer: {{args: ["token: a<{" " * 30_000}>b"], numNodes: x}}')


def addresses() -> str:
    return job("torch-distributed", f', trainer: {{args: ["{"://a:b" * 20_000} @"], numNodes: x}}')


def long_name() -> str:
    return job("torch-distributed", f", trainer: {{env: [{{name: {'A' * 135_000}, value: b}}]}}")


def many_replicated_jobs() -> str:
    parts = ", ".join(part(f"j{index}") for index in range(400))
    return runtime(parts) + "".join(job("r", name=f"a{index}") for index in range(300))


def large_output() -> str:
    text = "x" * 100_000
    return runtime(part("a", container=f', args: ["{text}"]')) + "".join(job("r", name=f"a{i}") for i in range(1500))


def broken_documents() -> str:
    return "a: b: c\n---\n" * 50_000


def missing_runtimes() -> str:
    return "".join(job(f"m{index}", name=f"a{index}") for index in range(45_000))


OVER = "error[over-budget]: more than "
ROWS: dict[str, tuple[str, Callable[[], str], int, str]] = {
    **{
        f"{count} nodes, {name}": ("validate", nodes(f"{name}-distributed", count), 1, id)
        for name, id in (
            ("openmpi", "config-map-too-large"),
            ("deepspeed", "config-map-too-large"),
            ("mpich", "config-map-too-large"),
            ("intelmpi", "config-map-too-large"),
            ("tensorflow", "argument-too-long"),
        )
        for count in (99_999, 10**6, MOST)
    },
    "replicas": ("validate", replicas, 0, "no problems found"),
    "replicas of a role": ("validate", replicas_of_a_role, 1, "argument-too-long"),
    "pods of many replicas": ("pods", replicas, 1, f"{OVER}10000 pods"),
    "pods as JSON": ("pods --format json", nodes("plain-distributed", 100_000), 1, f"{OVER}10000 pods"),
    "pods as JSON, within the budget": ("pods --format json", nodes("plain-distributed", 5000), 0, '"a-node-0-4999"'),
    "variables that double": ("pods", doubled_variables, 0, "it is longer than 131071 bytes"),
    "graph of many replicas": ("graph", replicas, 0, ""),
    "a text with spaces": ("validate", spaces, 1, "error[wrong-type]"),
    "many addresses": ("validate", addresses, 1, "error[wrong-type]"),
    "a long name of a variable": ("validate", long_name, 1, "error[argument-too-long]"),
    "many replicated jobs": ("build", many_replicated_jobs, 1, f"{OVER}50000 replicated jobs"),
    "many replicated jobs in CI": ("validate --budget ci", many_replicated_jobs, 1, f"{OVER}10000 replicated jobs"),
    "a large output": ("build", large_output, 1, f"{OVER}134217728 output bytes"),
    "broken documents": ("validate", broken_documents, 1, f"{OVER}10000 errors and warnings"),
    "missing runtimes": ("validate", missing_runtimes, 1, f"{OVER}10000 errors and warnings"),
}


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@pytest.mark.parametrize(("command", "text", "code", "expected"), ROWS.values(), ids=ROWS)
def test_a_large_input(command: str, text: Callable[[], str], code: int, expected: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(text())
    done = subprocess.run(
        [sys.executable, "-m", "trainc", *command.split(), "x.yaml"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
        preexec_fn=limit,
        check=False,
    )
    output = done.stdout + done.stderr
    assert (done.returncode, expected in output) == (code, True), output[:2000]
    if code:
        assert command.startswith("validate") or not done.stdout
        assert len(output) < 200_000
