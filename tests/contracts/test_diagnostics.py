"""Every id that trainc can report has a page, and the examples of every page are correct.

The wrong example of a page produces a diagnostic with its id and no other; the right example produces none. Either may
produce an unrelated note. A diagnostic that no manifest can produce has a console: its commands must print the page's
output.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from batches import in_batches
from committing import commit, git
from declared import ENTRIES
from files import write
from running import run
from snapshots import uncounted
from syrupy.assertion import SnapshotAssertion

from trainc.base.kinds import LEGACY
from trainc.files.output_marks import first_line
from trainc.reports.catalogue import page

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.stem for path in (ROOT / "diagnostics").iterdir())
BESIDE = ("no-gang", "no-resources")
"""Lint rules that are off because they apply to many examples of other diagnostics."""
NAMES = re.compile(
    r"--gang|\.gitattributes|Argo|ConfigMap|Flux|JAX|Job|JobSet|Kueue|Q?LoRA|MPI|TFJob|TensorFlow|TrainJob|Trainer|Training"
    r"|Volcano's|Windows"
)
"""The first words of titles that are not in lower case."""
EXAMPLE = re.compile(r"^(Wrong|Right):\n\n```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: torch-distributed}
"""
QUEUED = JOB.replace("finetune}", "finetune, labels: {kueue.x-k8s.io/queue-name: gpu}}")
QUEUED_LEGACY = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: resnet, labels: {kueue.x-k8s.io/queue-name: gpu}}
spec:
  pytorchReplicaSpecs:
    Master: {template: {spec: {containers: [{name: pytorch, image: acme/resnet:1.4}]}}}
"""
NLP_JOB = JOB.replace("finetune}", "finetune, namespace: nlp}")
BUILT_IN_RUNTIME = "built-in-runtime"
NOTE = re.compile(rf"(?:(?<=\n)\n)?^note\[{BUILT_IN_RUNTIME}\].*\n  help: .*\n", re.MULTILINE)
"""The note about built-in runtimes, which the consoles of other pages omit."""
MPI_JOB = JOB.replace("torch", "openmpi")
MPI_JOBS = {
    f"{side}/finetune.yaml": f"{MPI_JOB}  trainer: {{numNodes: {nodes}}}\n"
    for side, nodes in (("before", 2), ("after", 4))
}
LIST = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: finetune
  namespace: ml
spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [{name: node, image: a}]}}}}}]}
"""
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\n"
TUNNEL = "apiVersion: acme.io/v1\nkind: Tunnel\nmetadata: {name: data, namespace: nlp}\n"
CONFIG = "functionConfig:\n  apiVersion: trainc.dev/v1alpha1\n  kind: TrainJobCompiler\n  metadata: {name: compile}\n"
KUSTOMIZE = {
    "base/kustomization.yaml": "resources: [job.yaml]\n",
    "base/job.yaml": JOB,
    "overlays/prod/kustomization.yaml": "resources: [../../base]\npatches:\n- path: queue.yaml\n",
    "overlays/prod/queue.yaml": f"{JOB.partition('spec')[0]}spec: {{suspend: true}}\n",
}
RENDERED = f"{JOB}  suspend: true\n"
RUNTIME = (
    '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", '
    '"metadata": {"name": "team-torch"}, "spec": {"mlPolicy": {"torch": {}}}}'
)
TEAM_RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: team-torch}}
spec:
  mlPolicy: {{torch: {{}}}}
  template:
    spec:
      failurePolicy: {{maxRestarts: {restarts}}}
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: registry.acme.io/torch:7
                  resources: {{requests: {{cpu: 4}}}}
"""
KUBECTL = f"""\
#!/bin/sh
case "$*" in
*--context=pord) echo 'error: context "pord" does not exist' >&2; exit 1 ;;
*) echo '{{"apiVersion": "v1", "kind": "List", "items": [{RUNTIME}]}}' ;;
esac
"""
"""A kubectl of a cluster with one runtime."""
LOCAL_QUEUE = (
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: gpu}\nspec: {clusterQueue: team}\n"
)
QUEUES = (
    LOCAL_QUEUE
    + """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: any
      resources: [{name: cpu, nominalQuota: 100}, {name: memory, nominalQuota: 1Ti}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
"""
)
COHORTS = QUEUES.replace("spec:\n  namespace", "spec:\n  cohortName: vision\n  namespace") + "".join(
    f"---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n"
    for name, spec in (("vision", "parentName: science"), ("science", "parentName: vision"))
)
TRAINER_LABEL = "metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}"
TEAM_JOB = JOB.replace("torch-distributed", "team")
TUNE_JOB = JOB.replace("torch-distributed", "torchtune-llama3.2-1b") + (
    "  trainer: {command: [tune, run], numProcPerNode: 2}\n"
)


def team_runtime(policy: str) -> str:
    """Return a document with the runtime `team`, with a policy."""
    return f"""\
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: team}}
spec:
  mlPolicy: {policy}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          {TRAINER_LABEL}
          spec:
            template:
              spec:
                containers:
                - {{name: node, image: "acme/train:1", resources: {{requests: {{cpu: 4, memory: 8Gi}}}}}}
"""


VOLUME = "                volumes:\n                - {name: data, image: {}}\n"
IMAGE_VOLUME = team_runtime("{torch: {}}") + VOLUME
LABELED = f"{JOB.replace('}', ', labels: {team: nlp}}', 1)}  trainer: {{image: acme/train:1}}\n"
IMAGE = "  patch: {spec: {trainer: {image: acme/train:2}}}\n"
ELASTIC_PYTORCHJOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: pretrain}}
spec:
  nprocPerNode: "8"
  elasticPolicy: {}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers: [{{name: pytorch, image: "acme/pretrain:v1", resources: {{limits: {{cpu: 8, memory: 8Gi}}}}}}]
"""
PLAIN_PYTORCHJOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: mnist}
spec:
  runPolicy: {suspend: false}
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: &template
        spec:
          containers:
          - name: pytorch
            image: acme/mnist:v1
            command: [python, mnist.py]
            resources: {limits: {cpu: 8, memory: 8Gi}}
    Worker: {replicas: 3, template: *template}
"""
LEGACY_JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: mnist}
spec:
  runPolicy: {schedulingPolicy: {minAvailable: MEMBERS}}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: pytorch
            image: docker.io/team/torch:2.9
            command: [torchrun, train.py]
            resources: {limits: {cpu: 4, memory: 8Gi}}
"""
XGBOOSTJOB = """\
apiVersion: kubeflow.org/v1
kind: XGBoostJob
metadata: {{name: iris}}
spec:
  xgbReplicaSpecs:
    Master:
      replicas: 1
      template:
        spec:
          containers:
          - name: {}
            image: docker.io/acme/iris:v1
            resources: {{requests: {{cpu: 1}}}}
"""
"""An XGBoostJob without the name of its main container."""
TFJOB = """\
apiVersion: kubeflow.org/{}
kind: TFJob
metadata: {{name: mnist}}
spec:
{}  tfReplicaSpecs:
    Chief: &role
      template:
        spec:
          containers:
          - name: tensorflow
            image: docker.io/acme/mnist:v1
            resources: {{requests: {{cpu: 1}}}}
{}"""
"""A TFJob without its version, its first fields and its other roles."""
MISUSES = ("ambiguous-argument", "ambiguous-option", "ambiguous-revision")
"""The errors of a command line, whose exit code is 2; their consoles run in a git repository."""
CONSOLES: dict[str, dict[str, str]] = {
    "ambiguous-argument": {"jobs/finetune.yaml": JOB},
    "ambiguous-option": {"--exclude=*.yaml": JOB},
    "ambiguous-revision": {"jobs/finetune.yaml": JOB},
    "all-excluded": {"trainc.yaml": 'exclude: ["*.yaml"]\n', "jobs/finetune.yaml": JOB},
    "admission-unknown": {
        "job.yaml": JOB.replace("}", ", labels: {kueue.x-k8s.io/queue-name: gpu}}", 1),
        "queues.yaml": QUEUES,
    },
    "annotations-too-big": {
        "job.yaml": JOB.replace("}", f", annotations: {{notebook: {'A' * 300_000}}}}}", 1),
        "fixed.yaml": JOB,
    },
    "application-too-large": {"jobs/finetune.yaml": JOB, "jobs/results/losses.json": f"[{'0.25, ' * 2_000_000}0]\n"},
    "argument-too-long": {
        "job.yaml": f"{JOB}  trainer: {{env: [{{name: PROMPT, value: {'A' * 140_000}}}]}}\n",
        "fixed.yaml": JOB,
    },
    "argocd-parameter": {"finetune.yaml": JOB},
    "cohort-cycle": {"queues.yaml": COHORTS, "fixed.yaml": COHORTS.replace("parentName: vision", "")},
    "config-map-too-large": {
        "job.yaml": f"{MPI_JOB}  trainer: {{numNodes: 60000}}\n",
        "fixed.yaml": f"{MPI_JOB}  trainer: {{numNodes: 6000}}\n",
    },
    "over-budget": {
        "job.yaml": f"{JOB}  trainer: {{numNodes: 90000}}\n",
        "fixed.yaml": f"{JOB}  trainer: {{numNodes: 9}}\n",
    },
    "kubernetes-version": {
        "job.yaml": TEAM_JOB + IMAGE_VOLUME,
        "fixed.yaml": TEAM_JOB + IMAGE_VOLUME.replace("image: {}", 'image: {reference: "acme/data:1"}'),
    },
    "pinned-release": {
        "job.yaml": TEAM_JOB,
        "runtimes/team.yaml": "# Pinned by trainc.\n# The cluster runs Trainer v2.2.1.\n"
        + team_runtime("{torch: {}}").removeprefix("---\n"),
    },
    "announced-release": {"jobs/finetune.yaml": JOB},
    "trainer-upgrade": {"job.yaml": f"{MPI_JOB}  suspend: true\n"},
    "unused-runtime": {
        f"{side}/{name}": text
        for side, restarts in (("before", 1), ("after", 3))
        for name, text in (
            ("runtimes/team.yaml", TEAM_RUNTIME.format(restarts=restarts)),
            ("jobs/finetune.yaml", JOB.replace("torch-distributed", "team-torch")),
        )
    },
    "cluster-version": {
        "wrong.yaml": 'trainerVersion: "2.5"\n',
        "fixed.yaml": 'trainerVersion: "2.2"\n',
        "jobs/finetune.yaml": JOB,
    },
    "queue-never-starts": {"job.yaml": QUEUED},
    "queue-not-managed": {"job.yaml": JOB, "legacy.yaml": QUEUED_LEGACY},
    "unserved-version": {
        "job.yaml": JOB.replace("trainer.kubeflow.org/v1alpha1", "kubeflow.org/v2alpha1"),
        "fixed.yaml": JOB,
    },
    "elastic-policy-unread": {
        "job.yaml": f"{TEAM_JOB}{team_runtime('{torch: {elasticPolicy: {minNodes: 2, maxNodes: 4}}}')}",
        "fixed.yaml": f"{TEAM_JOB}{team_runtime('{torch: {}}')}",
    },
    "jax-trainer-missing": {
        "job.yaml": f"{TEAM_JOB}{team_runtime('{jax: {}}').replace(TRAINER_LABEL, '')}",
        "fixed.yaml": f"{TEAM_JOB}{team_runtime('{jax: {}}')}",
    },
    "torchtune-node-count": {
        "job.yaml": TUNE_JOB,
        "fixed.yaml": TUNE_JOB.replace("numProcPerNode: 2", "numProcPerNode: 2, numNodes: 1"),
    },
    "runtime-job-name": {
        "runtime.yaml": team_runtime("{torch: {}}").replace("- name: node", "- name: nodes-of-the-training"),
        "fixed.yaml": team_runtime("{torch: {}}"),
    },
    "minimum-count": {
        "job.yaml": f"{JOB}  trainer: {{numProcPerNode: 0}}\n",
        "fixed.yaml": f"{JOB}  trainer: {{numProcPerNode: 1}}\n",
    },
    "fixed-name": {"job.yaml": JOB.replace("name: finetune", "generateName: finetune-"), "fixed.yaml": JOB},
    "object-too-large": {
        "job.yaml": f"{JOB}  trainer:\n    env:\n"
        + "".join(f"    - {{name: PART_{part}, value: {'A' * 110_000}}}\n" for part in range(16)),
        "fixed.yaml": JOB,
    },
    "processes-twice": {
        "job.yaml": ELASTIC_PYTORCHJOB.format("{minReplicas: 1, maxReplicas: 4, nProcPerNode: 8}"),
        "fixed.yaml": ELASTIC_PYTORCHJOB.format("{minReplicas: 1, maxReplicas: 4}"),
    },
    "old-container-name": {
        "job.yaml": XGBOOSTJOB.format("xgboostjob"),
        "fixed.yaml": XGBOOSTJOB.format("xgboost"),
    },
    "several-leads": {
        "job.yaml": TFJOB.format("v1", "", "    Master: *role\n    Worker: *role\n"),
        "fixed.yaml": TFJOB.format("v1", "", "    Worker: *role\n"),
    },
    "setting-twice": {
        "job.yaml": TFJOB.format("v1beta2", "  backoffLimit: 2\n  runPolicy: {backoffLimit: 3}\n", ""),
        "fixed.yaml": TFJOB.format("v1beta2", "  backoffLimit: 3\n", ""),
    },
    "not-migratable": {"mnist.yaml": PLAIN_PYTORCHJOB.replace("command: [python, mnist.py]", "args: [--epochs=3]")},
    "image-of-old-kind": {
        "mnist.yaml": PLAIN_PYTORCHJOB.replace("acme/mnist:v1", "docker.io/acme/mnist:v1"),
        "kustomization.yaml": "resources: [mnist.yaml]\nimages:\n- name: docker.io/acme/mnist\n  newTag: v2\n",
    },
    "patch-of-old-kind": {
        "jobs/mnist.yaml": PLAIN_PYTORCHJOB,
        "trainc.yaml": "sources: [jobs]\npatches:\n- target: {kind: PyTorchJob}\n  patch: {spec: {runPolicy: "
        "{ttlSecondsAfterFinished: 60}}}\n",
    },
    "target-exists": {"mnist.yaml": PLAIN_PYTORCHJOB, "new/mnist.yaml": JOB},
    "exclude-pattern": {
        "trainc.yaml": 'exclude: [charts/, "[a-"]\n',
        "finetune.yaml": JOB,
        "charts/values.yaml": "a: 1\n",
        "backup.yaml": "a: 1\n",
    },
    "built-in-runtime": {
        "jobs/finetune.yaml": f"{JOB}  trainer: {{resourcesPerNode: {{requests: {{cpu: 4}}}}}}\n",
        "pinned/torch-distributed.yaml": (ROOT / "runtimes" / "trainer-2.3" / "torch-distributed.yaml").read_text(),
    },
    "settings-path": {
        "jobs/finetune.yaml": JOB.replace("torch-distributed", "torch-distributed-shm"),
        "outside.yaml": "runtimes: {paths: [../platform]}\n",
        "inside.yaml": "runtimes: {paths: [platform]}\n",
        "platform/ours.yaml": (ROOT / "runtimes" / "torch-distributed-shm.yaml").read_text(),
    },
    "required-version": {
        "jobs/finetune.yaml": JOB,
        "newer.yaml": 'requiredVersion: ">=1000"\n',
        "any.yaml": 'requiredVersion: ">=0.1"\n',
    },
    "environment-key": {
        "jobs/finetune.yaml": JOB,
        "wrong.yaml": "environments:\n prod:\n  output: rendered-prod\n",
        "fixed.yaml": "output: rendered\nenvironments:\n prod:\n  namespace: ml\n",
    },
    "environment-required": {
        "trainc.yaml": "environments:\n  dev: {namespace: ml-dev}\n  prod: {namespace: ml}\n",
        "jobs/finetune.yaml": JOB,
    },
    "project-required": {
        "jobs/nlp/trainc.yaml": "namespace: nlp\n",
        "jobs/nlp/finetune.yaml": JOB,
        "jobs/vision/trainc.yaml": "namespace: vision\n",
        "jobs/vision/finetune.yaml": JOB,
    },
    "settings-replaced": {
        "ci.yaml": "lint: {disable: [no-resources]}\n",
        "jobs/trainc.yaml": "namespace: nlp\n",
        "jobs/finetune.yaml": JOB,
    },
    "shared-object": {
        "wrong.yaml": "environments:\n  dev: {namespace: ml}\n  prod: {namespace: ml}\n",
        "fixed.yaml": "environments:\n  dev: {namespace: ml-dev}\n  prod: {namespace: ml}\n",
        "jobs/finetune.yaml": JOB,
    },
    "unknown-environment": {"trainc.yaml": "environments:\n  dev: {namespace: ml-dev}\n  prod: {namespace: ml}\n"},
    "image-change": {
        "jobs/finetune.yaml": f"{JOB}  trainer: {{image: acme/trainer:dev}}\n",
        "wrong.yaml": "images:\n- name: acme/trainer:dev\n  newTag: v1.4.2\n- name: acme/data\n",
        "fixed.yaml": "images:\n- name: acme/trainer\n  newName: registry.example.com/acme/trainer\n  newTag: v1.4.2\n",
    },
    "invalid-patch": {
        "jobs/finetune.yaml": LABELED,
        "wrong.yaml": f"patches:\n- target: {{labelSelector: team in nlp}}\n{IMAGE}",
        "right.yaml": f'patches:\n- target: {{labelSelector: "team in (nlp)"}}\n{IMAGE}',
    },
    "patch-failed": {
        "jobs/finetune.yaml": LABELED,
        "wrong.yaml": "patches:\n- patch:\n  - {op: replace, path: /spec/trainer/img, value: acme/train:2}\n",
        "right.yaml": "patches:\n- patch:\n  - {op: replace, path: /spec/trainer/image, value: acme/train:2}\n",
    },
    "unused-patch": {
        "jobs/finetune.yaml": LABELED,
        "wrong.yaml": f'patches:\n- target: {{name: "llama-*"}}\n{IMAGE}',
        "fixed.yaml": f'patches:\n- target: {{name: "fine*"}}\n{IMAGE}',
    },
    "field-not-found": {"jobs/finetune.yaml": f"{JOB}  suspend: true\n"},
    "duplicate-object": {"before.yaml": JOBSET, "after/finetune.yaml": JOBSET, "after/old.yaml": JOBSET},
    "function-config": {
        "list.yaml": f"{LIST}{CONFIG}  spec: {{runtimes: [../platform/runtimes]}}\n",
        "fixed.yaml": f"{LIST}{CONFIG}  spec: {{runtimes: [runtimes]}}\n",
        "runtimes/ours.yaml": "",
    },
    "kustomize-base": KUSTOMIZE | {"../rendered/prod.yaml": RENDERED},
    "kustomize-not-run": KUSTOMIZE | {"../rendered/prod.yaml": RENDERED},
    "kustomize-overlays": {
        f"overlays/{overlay}/{file}": text
        for overlay in ("dev", "prod")
        for file, text in {
            "kustomization.yaml": f"namespace: {overlay}\nresources: [job.yaml]\n",
            "job.yaml": JOB,
        }.items()
    },
    "kustomize-patch": KUSTOMIZE | {"../rendered/prod.yaml": RENDERED},
    "kubectl-failed": {"bin/kubectl": KUBECTL},
    "link-out": {"jobs/finetune.yaml": JOB, "../elsewhere/defaults.yaml": JOB.replace("finetune", "evaluate")},
    "marked-source": {"jobs/finetune.yaml": first_line("TrainJob", "", "finetune") + JOB},
    "merge-conflict": {"jobs/finetune.yaml": JOB},
    "checkout-attribute": {"jobs/finetune.yaml": f"{JOB}  # $Id$\n", ".gitattributes": "*.yaml ident\n"},
    "nothing-to-compare": {
        f"{side}/{file}": text
        for side in ("before", "after")
        for file, text in {"docs/example.yaml": "a: 1\n", "jobs/finetune.yaml": JOB}.items()
    },
    "no-runtimes": {"chart.yaml": CLAIM.format(name="data"), "chart-with-runtimes.yaml": f"{RUNTIME}\n"},
    "gang-unused": {"jobs/finetune.yaml": JOB},
    "gang-too-large": {
        "job.yaml": LEGACY_JOB.replace("MEMBERS", "4"),
        "fixed.yaml": LEGACY_JOB.replace("MEMBERS", "2"),
    },
    "no-trainjob": {"values.yaml": "nodes: 4\n", "jobs/finetune.yaml": JOB},
    "not-upgradable": {
        "job.yaml": JOB.rstrip() + "\n  labels: {team: search}\n  trainer: {numNodes: 2, numProcPerNode: gpu}\n"
    },
    "only-not-found": {"jobs/finetune.yaml": JOB},
    "conflicting-settings": {
        "jobs/finetune.yaml": NLP_JOB,
        "wrong.yaml": "namespace: ml\nnamespaceSuffix: -dev\n",
        "right.yaml": "namespaceSuffix: -dev\n",
    },
    "setting-without-effect": {
        "jobs/finetune.yaml": JOB,
        "wrong.yaml": 'output: none\nenvironments:\n  prod:\n    images: [{name: acme/train, newTag: "2.0"}]\n',
        "right.yaml": "output: none\nenvironments:\n  prod: {namespace: ml}\n",
    },
    "circular-extends": {
        "jobs/finetune.yaml": JOB,
        "wrong.yaml": "extends: platform/trainc.yaml\n",
        "platform/trainc.yaml": "extends: ../wrong.yaml\n",
        "right.yaml": "extends: platform/labels.yaml\n",
        "platform/labels.yaml": "labels: {managed: platform}\n",
    },
    "moved-namespace": {
        "dev.yaml": "namespaceSuffix: -dev\n",
        "jobs/finetune.yaml": NLP_JOB,
        "jobs/tunnel.yaml": f"{TUNNEL}spec: {{targetNamespace: nlp}}\n",
        "fixed/finetune.yaml": NLP_JOB,
        "fixed/tunnel.yaml": f"{TUNNEL}spec: {{targetNamespace: nlp-dev}}\n",
    },
    "no-namespace": {
        "dev.yaml": "namespaceSuffix: -dev\n",
        "jobs/finetune.yaml": JOB,
        "fixed/finetune.yaml": NLP_JOB,
    },
    "other-namespace": {
        "prod.yaml": "namespace: ml\n",
        "jobs/finetune.yaml": JOB,
        "jobs/claim.yaml": CLAIM.format(name="data, namespace: shared"),
        "fixed/finetune.yaml": JOB,
        "fixed/claim.yaml": CLAIM.format(name="data"),
    },
    "output-sources": {
        "jobs/finetune.yaml": JOB,
        "rendered/sweep.yaml": f"{first_line('TrainJob', 'ml', 'sweep')}{JOBSET}",
    },
    "output-not-ours": {"jobs/finetune.yaml": JOB, "rendered/finetune.yaml": "# Written by hand.\n"},
    "source-in-output": {"trainc.yaml": "sources: [.]\noutput: jobs\n", "jobs/finetune.yaml": JOB},
    "output-unexpected": {
        "trainc.yaml": "sources: [jobs]\noutput: rendered\n",
        "jobs/finetune.yaml": JOB,
        "rendered/.hidden.yaml": CLAIM.format(name="data"),
        "rendered/kustomization.yaml": "resources: [claim.yaml]\n",
    },
    "output-unwritable": {"jobs/finetune.yaml": JOB, "rendered": "A file.\n"},
    "passthrough-dropped": {
        "trainc.yaml": "sources: [jobs]\noutput: rendered\n",
        "jobs/finetune.yaml": JOB,
        "jobs/claim.yaml": CLAIM.format(name="data"),
    },
    "passthrough-partial": {
        "jobs/finetune.yaml": JOB,
        "jobs/claim.yaml": CLAIM.format(name="data"),
        "claims/claim.yaml": CLAIM.format(name="more"),
    },
    "pinned-runtime-edited": {
        "bin/kubectl": KUBECTL,
        "runtimes/team-torch.yaml": "# Edited by hand.\n",
        "runtimes/.trainc-runtimes": json.dumps({"runtimes": {"team-torch.yaml": "sha256:0"}}),
    },
    "pinned-runtime-taken": {"bin/kubectl": KUBECTL, "runtimes/team-torch.yaml": "# Written by hand.\n"},
    "resource-list": {"job.yaml": JOB, "list.yaml": LIST},
    "unmatched-image": {
        "jobs/finetune.yaml": f"{JOB}  trainer: {{image: 'acme/trainer:v1'}}\n",
        "wrong.yaml": "sources: [jobs]\nimages: [{name: acme/trainr, newTag: v1.4.2}]\n",
        "right.yaml": "sources: [jobs]\nimages: [{name: acme/trainer, newTag: v1.4.2}]\n",
    },
    "unmatched-shared": {
        "jobs/finetune.yaml": NLP_JOB,
        "jobs/ca.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca, namespace: platform}\n",
        "wrong.yaml": "sources: [jobs]\npassthrough: true\nnamespaceSuffix: -dev\nshared: [{namespace: platforms}]\n",
        "right.yaml": "sources: [jobs]\npassthrough: true\nnamespaceSuffix: -dev\nshared: [{namespace: platform}]\n",
    },
    "unreadable": {"jobs/finetune.yaml": JOB},
    "unused-setting": {
        "jobs/legacy/finetune.yaml": JOB,
        "wrong.yaml": 'sources: [jobs]\nlint: {paths: {"legacy/**": [no-gang]}}\n',
        "right.yaml": 'sources: [jobs]\nlint: {paths: {"jobs/legacy/**": [no-gang]}}\n',
    },
}
"""The files in the folder of a page's console."""


def examples(id: str) -> dict[str, tuple[str, str]]:
    """Return the language and text of the examples, by `Wrong` and `Right`."""
    return {name: (language, text) for name, language, text in EXAMPLE.findall(page(id))}


def shown_as(language: str) -> list[str]:
    return [id for id in PAGES if examples(id).get("Wrong", ("", ""))[0] == language]


def test_every_id_has_a_page_and_every_page_an_id() -> None:
    assert list(ENTRIES) == PAGES


@in_batches("id", [pytest.param(id, id=id) for id in PAGES])
def test_a_page_has_its_parts(id: str) -> None:
    text = page(id)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert text.endswith("\n")
    assert [line for line in prose.splitlines() if len(line) > 80 and not line.startswith(("# ", "See also: "))] == []
    assert list(examples(id)) == ["Wrong", "Right"]
    heading, facts, rule, _ = text.split("\n\n", 3)
    title = heading.removeprefix(f"# {id}: ")
    assert len(title) <= 64
    assert title[0].islower() or NAMES.fullmatch(title.split()[0])
    assert not re.search(r"^(the|an?) |[.!?]$|`", title)
    assert re.sub(r"\W", "", title.lower()) != id.replace("-", "")
    assert not rule.startswith("Wrong")
    declared, words = ENTRIES[id], " ".join(facts.split())
    is_lint = "lint" in declared.phases
    assert words.split()[1] == declared.severity
    assert ("only trainc reports" in words) is (declared.trainc_only or is_lint)
    assert re.findall(r"`([a-z-]+)`", words.partition("(phase ")[2].partition(")")[0]) == [*declared.phases]
    assert ("`trainc validate --fix`" in words) is (declared.fix == "safe")
    assert ("`trainc validate --fix --unsafe-fixes`" in words) is (declared.fix == "unsafe")
    assert ("Turn it off with `lint: " in words) is is_lint
    assert ("It cannot be turned off." in words) is (declared.severity == "error" and not is_lint)
    related = prose.partition("\nSee also: ")[2]
    assert [other for other in re.findall(r"`([^`]+)`", related) if other not in ENTRIES] == []


@in_batches("id", [pytest.param(id, id=id) for id in PAGES])
def test_a_page_links_to_the_pages_that_it_names(id: str) -> None:
    text = (ROOT / "diagnostics" / f"{id}.md").read_text()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"(?<!\[)`([a-z-]+)`", prose)
    related = re.findall(r"`([^`]+)`", prose.partition("\nSee also: ")[2])
    links = re.findall(r"\[`([^`]+)`\]\(([^)]*)\)", prose)
    assert [name for name in named if name in ENTRIES and ("-" in name or name in related) and name != id] == []
    assert [target for name, target in links if target != f"{name}.md" or name not in ENTRIES] == []
    assert "](" not in page(id)


@pytest.mark.parametrize("id", shown_as("yaml"))
def test_the_wrong_example(
    id: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_manifest(id, examples(id)["Wrong"][1], tmp_path, monkeypatch)
    done = run("validate", "manifest.yaml")
    said = json.loads(run("validate", "manifest.yaml", "--format", "json").out)
    severity = ENTRIES[id].severity
    beside = ("note", "warning") if severity == "error" else ("note",)  # lint rules apply beside an error
    said = [d for d in said if d["severity"] not in beside or d["id"] == id]
    assert {(d["id"], d["severity"]) for d in said} == {(id, severity)}
    assert {d["stage"] for d in said} <= set(ENTRIES[id].phases)
    assert uncounted(f"exit {done.code}\n{done.out}") == snapshot


@in_batches("id", [pytest.param(id, id=id) for id in shown_as("yaml")])
def test_the_right_example(id: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_manifest(id, examples(id)["Right"][1], tmp_path, monkeypatch)
    done = run("validate", "manifest.yaml", "--format", "json")
    assert done.code == 0
    assert [d for d in json.loads(done.out) if d["severity"] != "note" or d["id"] == id] == []


@pytest.mark.parametrize("id", [id for id in shown_as("yaml") if "lint" in ENTRIES[id].phases])
def test_a_rule_can_be_turned_off_as_its_page_says(id: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = examples(id)["Wrong"][1]
    setting, annotation = re.findall(r"`(lint: .*?|trainc\.dev/.*?)`", page(id).split("\n\n")[1])
    assert yaml.safe_load(setting) == {"lint": {"disable": [id]}}
    write_manifest(id, text, tmp_path, monkeypatch, disabled=[id])
    assert f'"{id}"' not in run("validate", "manifest.yaml", "--format", "json").out
    documents = [*yaml.safe_load_all(text)]
    for document in documents:
        given = document["metadata"].setdefault("annotations", {})
        given.update({key: f"{given.get(key, '')},{value}" for key, value in yaml.safe_load(annotation).items()})
    write_manifest(id, yaml.safe_dump_all(documents), tmp_path, monkeypatch)
    assert f'"{id}"' not in run("validate", "manifest.yaml", "--format", "json").out


def write_manifest(
    id: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, disabled: list[str] | None = None
) -> None:
    monkeypatch.chdir(folder)
    (folder / "manifest.yaml").write_text(text)
    settings = {
        "lint": {"disable": [*(disabled or ()), *(other for other in BESIDE if other != id)]},
        "legacy": {"kinds": [row.name for row in LEGACY]},
        **({"trainerVersion": "2.4"} if "kind: OptimizationJob" in text and id != "unserved-kind" else {}),
    }
    (folder / "trainc.yaml").write_text(json.dumps(settings))


@pytest.mark.parametrize("id", shown_as("console"))
def test_a_console(id: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, text in CONSOLES[id].items():
        path = tmp_path / "team" / name
        write(path, text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    monkeypatch.chdir(tmp_path / "team")
    monkeypatch.setenv("PATH", f"{tmp_path / 'team' / 'bin'}:{os.environ['PATH']}")
    if id in {*MISUSES, "checkout-attribute", "merge-conflict"}:
        git("init", "--quiet")
        commit()
        git("update-ref", "refs/remotes/origin/main", "main")
    if id == "merge-conflict":
        for branch, start in (("main", "main"), ("branch", "HEAD~1")):
            git("checkout", "--quiet", "-B", branch, start)
            Path("jobs/finetune.yaml").write_text(f"{JOB}  trainer: {{image: train:{branch}}}\n")
            commit()
    both, wrong = examples(id), 2 if id in MISUSES else int(ENTRIES[id].severity == "error")
    for name, codes in (("Wrong", {wrong}), ("Right", {0})):
        shown = both[name][1]
        printed, code = typed(shown, home=os.path.realpath(tmp_path))
        assert (printed if id == BUILT_IN_RUNTIME else NOTE.sub("", printed)) == shown
        assert {code} == codes
        assert (f"[{id}]" in printed) is (name == "Wrong")


def typed(console: str, home: str) -> tuple[str, int]:
    """Run a console's commands; return the new console and the last exit code. HOME is /home/ada."""
    shown, code = "", 0
    for command in re.findall(r"^\$ (.*)$", console, re.MULTILINE):
        if command.startswith("trainc "):
            words, _, file = command.partition(" < ")
            done = run(*words.split()[1:], stdin=Path(file).read_bytes() if file else b"")
            out, code = done.out + done.err, done.code
        else:
            # Pipes and variables need a shell, which finds trainc beside the tests' Python.
            variables = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
            shell = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, env=variables)
            out, code = shell.stdout + shell.stderr, shell.returncode
        shown += f"$ {command}\n{out}".replace(home, "/home/ada")
    return shown, code


@pytest.mark.parametrize("id", ["wrong-type", "managed-by-other", "output-not-ours"])
def test_an_explanation(id: str, snapshot: SnapshotAssertion) -> None:
    done = run("explain", id)
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["wrong-typ"], 'Unknown diagnostic "wrong-typ". Did you mean "wrong-type"?', id="a near miss"),
        pytest.param(["x-y"], 'Unknown diagnostic "x-y". Reports show the ID in brackets', id="nothing near"),
        pytest.param(["yaml", "--patches"], "ID cannot be combined with --format, --patches or --losses", id="option"),
    ],
)
def test_nothing_to_explain(arguments: list[str], message: str) -> None:
    done = run("explain", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_run_on_jobs_does_not_read_the_catalogue() -> None:
    program = "import sys; from trainc import compile; compile(sys.argv[1:]); print(*sys.modules)"
    arguments = [ROOT / "golden" / case / "input.yaml" for case in ("llm-finetune-4x8", "wrong-types")]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert "trainc.pipeline.stages" in done.stdout.split()
    assert "trainc.reports.catalogue" not in done.stdout.split()
