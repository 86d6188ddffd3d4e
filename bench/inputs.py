"""Makes the benchmark's inputs: TrainJobs for trainc, and kustomizations that give objects of the same size.

Everything is made by a seeded generator, so that two runs measure the same work.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20261121
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: job-{number:05}
  namespace: team-{team}
spec:
  runtimeRef:
    name: torch-distributed
  trainer:
    numNodes: {nodes}
    image: registry.acme.example.com/train:{tag}
    command: [torchrun, train.py]
    args: [--lr={lr}, --seed={number}]
    env:
    - name: RUN
      value: run-{number}
    resourcesPerNode:
      limits:
        nvidia.com/gpu: {gpus}
"""
OVERLAY = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../base]
namespace: team-{team}
nameSuffix: "-{number:05}"
patches:
- target: {{kind: JobSet}}
  patch: |
    - {{op: replace, path: /spec/replicatedJobs/0/template/spec/parallelism, value: {nodes}}}
    - {{op: replace, path: /spec/replicatedJobs/0/template/spec/completions, value: {nodes}}}
    - op: replace
      path: /spec/replicatedJobs/0/template/spec/template/spec/containers/0/image
      value: registry.acme.example.com/train:{tag}
    - op: replace
      path: /spec/replicatedJobs/0/template/spec/template/spec/containers/0/args
      value: [--lr={lr}, --seed={number}]
"""


def choices(count: int) -> list[dict[str, object]]:
    """What the jobs differ in."""
    dice = random.Random(SEED)
    return [
        {
            "number": number,
            "team": dice.randrange(1, 21),
            "nodes": dice.choice([1, 2, 4, 8, 16]),
            "gpus": dice.choice([1, 2, 4, 8]),
            "tag": f"{dice.randrange(1, 5)}.{dice.randrange(20)}",
            "lr": dice.choice(["1e-3", "3e-4", "1e-4"]),
        }
        for number in range(count)
    ]


def trainjobs(folder: Path, count: int) -> Path:
    """One file with `count` TrainJobs on one stock runtime."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"jobs-{count}.yaml"
    file.write_text("---\n".join(JOB.format(**choice) for choice in choices(count)))
    return file


def overlays(folder: Path, jobset: str, count: int) -> Path:
    """A kustomization that lists `count` overlays of one base, which is a compiled JobSet."""
    base = folder / "base"
    base.mkdir(parents=True, exist_ok=True)
    (base / "jobset.yaml").write_text(jobset)
    (base / "kustomization.yaml").write_text("resources: [jobset.yaml]\n")
    for choice in choices(count):
        overlay = folder / "overlays" / f"{choice['number']:05}"
        overlay.mkdir(parents=True, exist_ok=True)
        (overlay / "kustomization.yaml").write_text(OVERLAY.format(**choice))
    listed = "".join(f"- overlays/{choice['number']:05}\n" for choice in choices(count))
    (folder / "kustomization.yaml").write_text(f"resources:\n{listed}")
    return folder
