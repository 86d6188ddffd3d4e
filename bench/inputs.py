"""Generate the benchmark's inputs: TrainJobs of realistic size, and the runtimes that they refer to.

Returns  texts, and folders of them: one file per job in its team's folder, or one file with all jobs, and the runtimes.
         All inputs derive from one seed, so that runs on any machine measure the same work.
A job has labels, resources, four to eight variables and a platform patch; half of the jobs mount their own data through
a second patch. A compiled job has about 3.5 KB of YAML.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SEED = 20261121
BUILT_IN = "torch-distributed-shm"
"""A built-in runtime."""
POLICIES = ("torch", "jax", "xgboost", "plain")
"""The frameworks of the generated runtimes, in turn."""

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: {team}
  labels:
    app.kubernetes.io/name: {model}
    app.kubernetes.io/part-of: experiments
    acme.example.com/cost-center: cc-{team}
  annotations:
    acme.example.com/owner: {owner}@acme.example.com
spec:
  runtimeRef:
    name: {runtime}
  trainer:
    numNodes: {nodes}
    image: registry.acme.example.com/train/{model}:{tag}
    command: [python, -m, acme.train]
    args: [--model={model}, --learning-rate={rate}, --seed={seed}, --output=/cache/{name}]
    env:
{env}    resourcesPerNode:
      requests:
        cpu: "{cpu}"
        memory: {memory}Gi
      limits:
        memory: {memory}Gi
        nvidia.com/gpu: {gpus}
  runtimePatches:
  - manager: acme.example.com/pools
    trainingRuntimeSpec:
      template:
        metadata:
          labels:
            acme.example.com/team: {team}
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  metadata:
                    labels:
                      acme.example.com/pool: {pool}
                  spec:
                    serviceAccountName: {team}-train
                    nodeSelector:
                      acme.example.com/pool: {pool}
                    tolerations:
                    - key: acme.example.com/pool
                      operator: Equal
                      value: {pool}
                      effect: NoSchedule
"""
DATA = """\
  - manager: acme.example.com/data
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  spec:
                    volumes:
                    - name: data
                      persistentVolumeClaim:
                        claimName: {claim}
                        readOnly: true
                    containers:
                    - name: node
                      volumeMounts:
                      - name: data
                        mountPath: /data
                        readOnly: true
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: {name}
  labels:
    acme.example.com/platform: training
spec:
  mlPolicy:
    numNodes: 1
{policy}  template:
    metadata:
      labels:
        acme.example.com/platform: training
    spec:
      failurePolicy:
        maxRestarts: {restarts}
      replicatedJobs:
      - name: node
        template:
          metadata:
            labels:
              trainer.kubeflow.org/trainjob-ancestor-step: trainer
          spec:
            backoffLimit: 0
            template:
              spec:
                priorityClassName: training
                imagePullSecrets:
                - name: acme-registry
                securityContext:
                  runAsNonRoot: true
                  runAsUser: 1000
                  fsGroup: 2000
                containers:
                - name: node
                  image: registry.acme.example.com/base/{key}:{tag}
                  env:
                  - name: NCCL_SOCKET_IFNAME
                    value: eth0
                  resources:
                    requests:
                      cpu: "4"
                      memory: 16Gi
                  volumeMounts:
                  - name: shm
                    mountPath: /dev/shm
                  - name: cache
                    mountPath: /cache
                volumes:
                - name: shm
                  emptyDir:
                    medium: Memory
                    sizeLimit: {shared}Gi
                - name: cache
                  persistentVolumeClaim:
                    claimName: training-cache
"""
PROJECT = """\
namespace: training
nameSuffix: -prod
labels:
  acme.example.com/stage: prod
annotations:
  acme.example.com/release: "7"
images:
- {name: registry.acme.example.com/train/bert-large, newTag: v2.1.0}
- {name: registry.acme.example.com/train/llama-8b, newName: mirror.acme.example.com/llama-8b}
"""
"""A trainc.yaml that changes every TrainJob, and the images of two in five."""
ENVIRONMENTS = """\
labels:
  acme.example.com/team: search
environments:
  a: {namespace: training-a, nameSuffix: -a}
  b: {namespace: training-b, nameSuffix: -b}
  c: {namespace: training-c, nameSuffix: -c}
"""
"""A trainc.yaml with three environments of the same size."""
PATCHES = """\
patches:
- patch:
    spec:
      trainer:
        env:
        - {name: HTTPS_PROXY, value: "http://proxy.acme.example.com:3128"}
- target: {kind: JobSet}
  patch:
  - {op: add, path: /spec/ttlSecondsAfterFinished, value: 86400}
"""
"""A trainc.yaml with a merge patch of every TrainJob and a JSON patch of every JobSet."""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: {team}
  labels: &labels
    app.kubernetes.io/name: {name}
    app.kubernetes.io/part-of: shop
spec:
  replicas: {count}
  selector:
    matchLabels: *labels
  template:
    metadata:
      labels: *labels
    spec:
      containers:
      - name: {name}
        image: registry.acme.example.com/shop/{name}:1.{count}
        ports:
        - name: http
          containerPort: 8080
        env:
        - name: DATABASE
          value: postgres://{name}.{team}.svc:5432/{name}
        readinessProbe:
          httpGet:
            path: /healthz
            port: http
        resources:
          requests:
            cpu: 100m
            memory: 256Mi
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
  namespace: {team}
spec:
  selector: *labels
  ports:
  - name: http
    port: 80
    targetPort: http
"""
TEMPLATE = """\
{{{{- if .Values.{team}.enabled }}}}
apiVersion: {{{{ include "shop.apiVersion" . }}}}
kind: Deployment
metadata:
  name: {{{{ .Release.Name }}}}-{name}
  labels:
    {{{{- include "shop.labels" . | nindent 4 }}}}
spec:
  {{{{- if not .Values.autoscaling.enabled }}}}
  replicas: {{{{ .Values.replicas | default {count} }}}}
  {{{{- end }}}}
  template:
    spec:
      containers:
        - name: {name}
          image: "{{{{ .Values.image.repository }}}}:{{{{ .Values.image.tag | default .Chart.AppVersion }}}}"
          args:
            {{{{- range $key, $value := .Values.{team}.flags }}}}
            - {{{{ printf "--%s=%v" $key $value | quote }}}}
            {{{{- end }}}}
          {{{{- with .Values.resources }}}}
          resources:
            {{{{- toYaml . | nindent 12 }}}}
          {{{{- end }}}}
{{{{- end }}}}
"""
SCRIPT = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: {team}
data:
  backup.sh: |
    #!/bin/sh
    set -eu
    for table in $(psql --tuples-only --command "\\dt" {name} | cut -d'|' -f2); do
      test "$table" != "migrations" || continue
      pg_dump --host {name}.{team}.svc --table "$table" {name} \\
        | gzip > "/backup/$(date +%Y-%m-%d)-$table.sql.gz"
    done
    find /backup -mtime +{count} -name '*.gz' -delete
"""
VALUES = """\
# Values of {name}.
replicas: {count}
image: {{repository: registry.acme.example.com/shop/{name}, tag: "1.{count}", pullPolicy: IfNotPresent}}
ingress:
  enabled: true
  hosts:
  - host: {name}.{team}.example.com
    paths: [{{path: /, pathType: Prefix}}]
autoscaling: {{enabled: false, minReplicas: 1, maxReplicas: {count}}}
resources: {{}}
"""
FOREIGN = (
    ("manifests", DEPLOYMENT),
    ("chart/templates", TEMPLATE),
    ("scripts", SCRIPT),
    ("values", VALUES),
)
"""The folders and texts of files without TrainJobs. YAML cannot read the templates."""
VARIABLES = (
    ("RUN_ID", "{name}"),
    ("LOG_LEVEL", "info"),
    ("BATCH_SIZE", "{batch}"),
    ("TRACKING_URI", "http://tracking.{team}.svc:5000"),
    ("CHECKPOINT_EVERY", "{seed}"),
    ("DATASET", "s3://acme-datasets/{model}/v{batch}"),
    ("NOTES", "rate {rate}: compare with the last run"),
    ("RESUME", "true"),
)


class Job(NamedTuple):
    """The values in which a TrainJob differs from the others."""

    name: str
    team: str
    owner: str
    model: str
    runtime: str
    tag: str
    rate: str
    seed: str
    pool: str
    claim: str
    """The claim of the job's own data; empty if it has none."""
    nodes: int
    gpus: int
    cpu: int
    memory: int
    env: tuple[tuple[str, str], ...]


def jobs(count: int, runtimes: Iterable[str] = (BUILT_IN,)) -> list[Job]:
    """Return the first `count` jobs, on the runtimes in turn; a smaller count is a prefix of a larger one."""
    dice = random.Random(SEED)
    names = list(runtimes)
    return [_job(dice, number, names[number % len(names)]) for number in range(count)]


def _job(dice: random.Random, number: int, runtime: str) -> Job:
    gpus = dice.choice([1, 2, 4, 8])
    job = Job(
        name=f"job-{number:05}",
        team=f"team-{dice.randrange(1, 21):02}",
        owner=dice.choice(["ada", "barbara", "edsger", "grace", "niklaus"]),
        model=dice.choice(["bert-large", "llama-8b", "resnet50", "whisper-small", "vit-huge"]),
        runtime=runtime,
        tag=f"{dice.randrange(1, 5)}.{dice.randrange(20)}.{dice.randrange(10)}",
        rate=dice.choice(["1e-3", "3e-4", "1e-4", "0.05"]),
        seed=str(dice.randrange(1, 10000)),
        pool=dice.choice(["a100", "h100", "l40s"]),
        claim=f"data-{dice.randrange(50):02}" if dice.random() < 0.5 else "",
        nodes=dice.choice([2, 4, 8, 16]),
        gpus=gpus,
        cpu=8 * gpus,
        memory=96 * gpus,
        env=(),
    )
    given = {**job._asdict(), "batch": dice.choice([16, 32, 64])}
    chosen = VARIABLES[: dice.randrange(4, len(VARIABLES) + 1)]
    return job._replace(env=tuple((name, value.format(**given)) for name, value in chosen))


def text_of(job: Job) -> str:
    """Return the TrainJob's manifest in a typical handwritten style."""
    env = "".join(f'    - name: {name}\n      value: "{value}"\n' for name, value in job.env)
    text = JOB.format(**{**job._asdict(), "env": env})
    return text + DATA.format(claim=job.claim) if job.claim else text


def runtime_names(count: int) -> list[str]:
    """Return the names of the first `count` generated runtimes."""
    return [f"acme-{number:02}-{POLICIES[number % len(POLICIES)]}" for number in range(count)]


def runtime(name: str) -> str:
    """Return the generated runtime with a name."""
    dice = random.Random(f"{SEED} {name}")
    key = name.rpartition("-")[2]
    return RUNTIME.format(
        name=name,
        key=key,
        policy="" if key == "plain" else f"    {key}: {{}}\n",
        tag=f"2026.{dice.randrange(1, 12)}",
        restarts=dice.randrange(1, 6),
        shared=dice.choice([8, 16, 32]),
    )


def folder_of_runtimes(folder: Path, names: Iterable[str]) -> Path:
    """Write the generated runtimes, one file each."""
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"{name}.yaml").write_text(runtime(name))
    return folder


def folder_of_jobs(folder: Path, made: Iterable[Job]) -> Path:
    """Write one file per job, in its team's folder."""
    for job in made:
        (folder / job.team).mkdir(parents=True, exist_ok=True)
        (folder / job.team / f"{job.name}.yaml").write_text(text_of(job))
    return folder


def file_of_jobs(file: Path, made: Iterable[Job]) -> Path:
    """Write all jobs to one file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("---\n".join(map(text_of, made)))
    return file


def folder_of_foreign(folder: Path, count: int) -> Path:
    """Write files without TrainJobs, of each kind in turn, in the folders of as many teams as the jobs have."""
    for number in range(count):
        where, text = FOREIGN[number % len(FOREIGN)]
        name, team = f"shop-{number:05}", f"team_{number % 20 + 1:02}"
        below = folder / team / where
        below.mkdir(parents=True, exist_ok=True)
        (below / f"{name}.yaml").write_text(text.format(name=name, team=team, count=number % 7 + 1))
    return folder
