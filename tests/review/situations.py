"""Small reviews for the format tests: TrainJobs before and after, and hostile input."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from files import write

from trainc.compilation.run import NO_OPTIONS, READ, Run, start
from trainc.diagnostics import Diagnostic, Location, ObjectId
from trainc.kubernetes.quantity import Quantity
from trainc.pods.footprint import Footprint
from trainc.provenance.tracing.correspondence import GONE
from trainc.review import compare
from trainc.review.changes import Change
from trainc.review.consequences import Consequence
from trainc.review.reviewed import Cause, ChangedSetting, Line, ObjectSource, PodNumbers, Review, Reviewed
from trainc.review.sides.side_arguments import parse_sides

RUNTIME: Final = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch
  labels:
    trainer.kubeflow.org/framework: torch
spec:
  mlPolicy:
    numNodes: 2
    torch: {}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata:
            labels:
              trainer.kubeflow.org/trainjob-ancestor-step: trainer
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: registry.example.com/torch:2.8
"""


def job_text(name: str, spec: str = "", *, metadata: str = "", gpus: int = 8) -> str:
    """Return a TrainJob; `spec` is added to its trainer."""
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: ml
{metadata}spec:
  runtimeRef:
    name: torch
  trainer:
    command: [torchrun, train.py]
    resourcesPerNode:
      limits:
        cpu: 16
        memory: 64Gi
        nvidia.com/gpu: {gpus}
{spec}"""


def queued(queue: str) -> str:
    """Return the metadata of a TrainJob in a queue."""
    return f"  labels:\n    kueue.x-k8s.io/queue-name: {queue}\n"


def ignoring(rules: str) -> str:
    """Return the metadata of a TrainJob or runtime that turns off lint rules."""
    return f"  annotations:\n    trainc.dev/lint-ignore: {rules}\n"


Files = dict[str, str]
TWO: Final[Files] = {"runtimes/torch.yaml": RUNTIME, "jobs/one.yaml": job_text("one"), "jobs/two.yaml": job_text("two")}
KINDS_BEFORE: Final[Files] = TWO | {
    "jobs/three.yaml": job_text("three", metadata=queued("small")),
    "jobs/four.yaml": job_text("four", metadata=queued("small")),
    "jobs/gone.yaml": job_text("gone", metadata=queued("large")),
}
MOUNTED: Final = (
    RUNTIME.replace("torch:2.8", "torch:2.9")
    + """\
                  volumeMounts:
                  - name: shm
                    mountPath: /dev/shm
                volumes:
                - name: shm
                  emptyDir:
                    medium: Memory
"""
)
KINDS_AFTER: Final[Files] = {
    "runtimes/torch.yaml": MOUNTED,
    "jobs/one.yaml": job_text("one", "    numNodes: 4\n    args: [--lr=3e-4]\n"),
    "jobs/two.yaml": job_text("two").replace("spec:\n", "spec:\n  suspend: true\n", 1),
    "jobs/three.yaml": job_text("three", metadata=queued("large")),
    "jobs/four.yaml": job_text("four", metadata=queued("small"), gpus=4),
    "jobs/new.yaml": job_text("new", metadata=queued("large")),
}
JOBSET: Final = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: solver
  namespace: ml
  annotations:
    example.com/page: "1"
spec:
  replicatedJobs:
  - name: node
    replicas: 1
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            restartPolicy: Never
            nodeSelector:
              pool: a
            containers:
            - name: node
              image: registry.example.com/solver:1
              command: [sh, -c, "set -e\\n\\tmake | tee log\\nexit 0\\n"]
"""
SITUATIONS: Final[dict[str, tuple[Files, Files]]] = {
    "nothing": (TWO, TWO),
    "one-edit": (TWO, TWO | {"runtimes/torch.yaml": RUNTIME.replace("torch:2.8", "torch:2.9")}),
    "all-kinds": (KINDS_BEFORE, KINDS_AFTER),
    "rendered": (
        {"jobset.yaml": JOBSET},
        {
            "jobset.yaml": JOBSET.replace('page: "1"', 'page: "2"')
            .replace("pool: a", "pool: b")
            .replace("solver:1", "solver:2")
            .replace("tee log", "tee -a log")
        },
    ),
    "settings": (
        TWO | {"trainc.yaml": "lint:\n  strict: false\n"},
        TWO
        | {
            "trainc.yaml": """\
accelerators:
  nvidia.com/gpu:
    env:
    - name: NCCL_NET
      value: IB
lint:
  disable: [no-shared-memory, no-gang]
"""
        },
    ),
    "annotations": (
        TWO | {"jobs/one.yaml": job_text("one", metadata=ignoring("image-version"))},
        TWO
        | {
            "jobs/one.yaml": job_text("one", metadata=ignoring("no-gang")),
            "jobs/two.yaml": job_text("two", metadata=ignoring("no-resources")),
            "runtimes/torch.yaml": RUNTIME.replace("  labels:\n", f"{ignoring('no-shared-memory')}  labels:\n", 1),
        },
    ),
    "first-jobs": ({"runtimes/torch.yaml": RUNTIME}, TWO),
}


def review(folder: Path, before: Files, after: Files, run: Run | None = None) -> Review:
    """Return the review of two folders, which are written below the current folder."""
    for side, files in (("before", before), ("after", after)):
        for name, text in files.items():
            path = folder / side / name
            write(path, text)
    old, new = parse_sides(("before", "after"))
    return compare(old, new, run or start(NO_OPTIONS, READ))


BREAKOUTS: Final = (
    "<script>alert(1)</script>",
    "</style></title></details></pre>",
    "<img src=https://evil.example/x.png onerror=alert(1)>",
    "<!-- open",
    "]]>",
    "' \" onmouseover='alert(1)",
    "&lt;b&gt; &amp; &#60;",
    "a | b \\| c \\\\| d",
    "` `` ``` ````",
    "\n```\n~~~\n---\n# heading\n\n</details>\n",
    "[link](https://evil.example) ![image](https://evil.example/y.png) https://evil.example www.evil.example",
    "@everyone @acme/team #12 !34 ~bug %v1 &5 $6 GH-7 :tada: someone@example.com",
    "javascript:alert(1)",
    "\u202egnol \u2066 \u200b\u2028\ufeff\x00\x1b[31m\x7f",
    "\ud800",
)
"""Text that a format might interpret as markup."""
HOSTILE: Final = "".join(BREAKOUTS)


def hostile(text: str = HOSTILE) -> Review:
    """Return a review in which every text of the input is the given one."""
    id, source = ObjectId(text, text, text, text), ObjectSource(text, text, text)
    change = Change("changed", f"spec.{text}", ("spec",), ("spec",), text, {"a": [text], text: {"b": text}})
    moved = Change("moved", text, ("spec",), ("spec",), [text, "b"], ["b", text])
    cause = Cause(text, text, change, Location(text, 3, 5))
    other = cause._replace(field="b", edit=change._replace(old=GONE, new=text, kind="added"), gone=True)
    lines = (
        Line(change, Consequence("new-object", text), cause),
        Line(moved, Consequence("in-place", text), other),
        Line(change._replace(old=GONE, kind="added"), Consequence("refused", text)),
    )
    tree: dict[str, Any] = {"apiVersion": "v1", "kind": text, "metadata": {"name": text}, "data": {text: text}}
    at = Location(text, 1, 1)
    newer = tree | {"data": {text: text + "b"}}
    changed = Reviewed("changed", id, source, lines, at=at, before=tree, after=newer, renamed=id, new_name=text)
    changed = changed._replace(renamed_source=text)
    return Review(
        old=text,
        new=text,
        settings=(
            ChangedSetting(change, Location(text, 3, 5), objects=(Reviewed("changed", id, source, renamed=id),)),
            ChangedSetting(change._replace(old=GONE, new=text, kind="added"), Location(text, 4, 5)),
            ChangedSetting(change._replace(old=GONE, new=text, kind="added"), Location(text, 4, 5), owner=id),
            ChangedSetting(moved, Location(text, 5, 5), gone=True),
        ),
        objects=(
            changed,
            changed._replace(id=id._replace(name="b"), source=source._replace(name=f"{text}b"), lines=lines[:1]),
            Reviewed("added", id, source._replace(name=f"{text}c"), cause=cause, at=at, after=tree),
            Reviewed("removed", id, source._replace(name=f"{text}d"), at=at, before=tree),
        ),
        unchanged=1,
        pods=(
            PodNumbers(
                {text: Footprint(1, 1, 1, {text: Quantity(1)})},
                {text: Footprint(2, 2, 2, {text: Quantity(2)}), "": Footprint(1, 1, 1, {"cpu": Quantity(2)})},
            ),
        ),
        diagnostics=(Diagnostic("unreadable", "warning", "read", text, place=at),),
    )
