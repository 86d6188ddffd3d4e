"""Generate the peers' inputs, from which they produce the same objects as trainc in the way that is cheapest for them.

overlays  for kustomize: a base for each runtime, and an overlay for each job. A base is a compiled JobSet. An overlay
          is one JSON patch from the base to the job's JobSet, leaf by leaf; kustomize's own transformers set namespace
          and name. The patch is JSON, which kustomize reads faster than YAML or a merge patch.
chart     for Helm: one JobSet template, ranged over the jobs of values.yaml. The template is the JobSet of a job whose
          values are placeholders, with each placeholder replaced by a template action.
schemas   for kubeconform: JobSet's schema, in the folder layout that it expects.
`same_objects` verifies the printed objects.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml
from inputs import Job, folder_of_jobs

from trainc.emit.yaml import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

TRAINC: Final = str(Path(sys.executable).with_name("trainc"))
LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Key = tuple[str, str, str]

MARK: Final = Job(
    name="mark-name",
    team="mark-team",
    owner="mark-owner",
    model="mark-model",
    runtime="",
    tag="mark-tag",
    rate="mark-rate",
    seed="mark-seed",
    pool="mark-pool",
    claim="mark-claim",
    nodes=7919,
    gpus=7907,
    cpu=791,
    memory=7883,
    env=(("MARK_ENV", "mark-value"),),
)
"""A job with a unique value for each field, to find the values in its JobSet."""


def printed(command: Sequence[str], *, reported: str = "") -> str:
    """Return a command's output; raise SystemExit if it fails or writes more than `reported` and a note to stderr."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rest = done.stderr.removeprefix(reported)
    if done.returncode or not done.stderr.startswith(reported) or (rest and not rest.lstrip().startswith("note[")):
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def objects(text: str) -> dict[Key, Any]:
    """Return the objects of a manifest by kind, namespace and name; raise SystemExit for a duplicate."""
    found: dict[Key, Any] = {}
    for tree in yaml.load_all(text, LOADER):
        key = (tree["kind"], tree["metadata"].get("namespace", ""), tree["metadata"]["name"])
        if key in found:
            raise SystemExit(f"printed twice: {key}")
        found[key] = tree
    return found


def same_objects(ours: dict[Key, Any], theirs: dict[Key, Any], who: str) -> None:
    """Raise SystemExit unless the peer's objects equal trainc's after parsing."""
    if missing := ours.keys() ^ theirs.keys():
        raise SystemExit(f"{who}: {len(missing)} objects are on one side only, such as {min(missing)}")
    for key, tree in ours.items():
        if different := list(operations(tree, theirs[key])):
            raise SystemExit(f"{who} produces a different object {key}: {different[0]}")


def overlays(folder: Path, made: Sequence[Job], ours: dict[Key, Any], bases: dict[str, dict[str, Any]]) -> Path:
    """Write a kustomization with one overlay per job, based on its runtime's base."""
    for runtime, base in bases.items():
        below = folder / "bases" / runtime
        below.mkdir(parents=True)
        (below / "jobset.yaml").write_text(_dumped(base))
        (below / "kustomization.yaml").write_text("resources: [jobset.yaml]\n")
    for job in made:
        overlay = folder / "overlays" / job.name
        overlay.mkdir(parents=True)
        target = ours["JobSet", job.team, job.name]
        (overlay / "kustomization.yaml").write_text(_overlay(job, bases[job.runtime], target))
    listed = "".join(f"- overlays/{job.name}\n" for job in made)
    (folder / "kustomization.yaml").write_text(f"resources:\n{listed}")
    return folder


def bases_of(folder: Path, made: Sequence[Job], options: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the bases: the JobSet of each runtime's first job, with a name that overlays extend by a suffix."""
    firsts = {job.runtime: job for job in reversed(made)}
    return {runtime: _base(folder / runtime, job, options) for runtime, job in firsts.items()}


def _base(folder: Path, first: Job, options: Sequence[str]) -> dict[str, Any]:
    job = first._replace(name=_prefix(first.name))
    text = printed([TRAINC, "build", str(folder_of_jobs(folder, [job])), *options])
    (base,) = objects(text).values()
    del base["metadata"]["namespace"]
    return dict(base)


def _prefix(name: str) -> str:
    return name.rpartition("-")[0]


def _overlay(job: Job, base: dict[str, Any], target: dict[str, Any]) -> str:
    ours = {**target, "metadata": {**target["metadata"], "name": base["metadata"]["name"]}}
    del ours["metadata"]["namespace"]
    kustomization: dict[str, Any] = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [f"../../bases/{job.runtime}"],
        "namespace": job.team,
        "nameSuffix": job.name.removeprefix(_prefix(job.name)),
    }
    if patch := list(operations(base, ours)):
        kustomization["patches"] = [{"target": {"kind": "JobSet"}, "patch": json.dumps(patch)}]
    return _dumped(kustomization)


def operations(old: Any, new: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the RFC 6902 operations that turn one tree into another; a list whose length changes is replaced.

    >>> list(operations({"a": 1, "b": [1, 2]}, {"b": [1, 3], "c/d": 4}))
    [{'op': 'remove', 'path': '/a'}, {'op': 'replace', 'path': '/b/1', 'value': 3}, \
{'op': 'add', 'path': '/c~1d', 'value': 4}]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            at = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in new:
                yield {"op": "remove", "path": at}
            elif key not in old:
                yield {"op": "add", "path": at, "value": new[key]}
            else:
                yield from operations(old[key], new[key], at)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from operations(before, after, f"{path}/{index}")
    elif old != new or type(old) is not type(new):
        yield {"op": "replace", "path": path, "value": new}


def chart(folder: Path, made: Iterable[Job], options: Sequence[str]) -> Path:
    """Write a chart whose template renders a JobSet for each job in its values."""
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: jobs\nversion: 1.0.0\n")
    values = [{**job._asdict(), "env": [{"name": name, "value": value} for name, value in job.env]} for job in made]
    (folder / "values.yaml").write_text(_dumped({"jobs": values}))
    # All jobs have the same runtime; the job of placeholders uses it too.
    marked = MARK._replace(runtime=values[0]["runtime"])
    text = printed([TRAINC, "build", str(folder_of_jobs(folder / "marked", [marked])), *options])
    shutil.rmtree(folder / "marked")
    (folder / "templates" / "jobset.yaml").write_text(template(text))
    return folder


def template(text: str) -> str:
    """Return the JobSet of the job of placeholders as a template over `.Values.jobs`."""
    env = re.search(r"^( *)- name: MARK_ENV\n *value: mark-value\n", text, re.MULTILINE)
    mount = re.search(r"^ *- name: data\n *mountPath: .*\n *readOnly: .*\n", text, re.MULTILINE)
    volume = re.search(r"^ *- name: data\n *persistentVolumeClaim:\n(?: *\w+: .*\n){2}", text, re.MULTILINE)
    if env is None or mount is None or volume is None:
        raise SystemExit(f"the JobSet has an unexpected form for the chart:\n{text}")
    indent = env[1]
    each = f"{indent}- name: {{{{ .name }}}}\n{indent}  value: {{{{ .value | quote }}}}\n"
    text = text.replace(env[0], f"{indent}{{{{- range .env }}}}\n{each}{indent}{{{{- end }}}}\n")
    for block in (mount[0], volume[0]):
        text = text.replace(block, f"{{{{- if .claim }}}}\n{block}{{{{- end }}}}\n")
    for field, mark in MARK._asdict().items():
        if field not in ("env", "runtime"):
            text = text.replace(str(mark), f"{{{{ .{field} }}}}")
    return f"{{{{- range .Values.jobs }}}}\n---\n{text}{{{{- end }}}}\n"


def schemas(folder: Path) -> str:
    """Write trainc's JobSet schema to a folder and return kubeconform's `-schema-location` for it."""
    folder.mkdir(parents=True)
    (folder / "jobset.json").write_text(printed([TRAINC, "schema", "jobset"]))
    return f"{folder}/{{{{ .ResourceKind }}}}.json"


def _dumped(tree: dict[str, Any]) -> str:
    """Return YAML that Go parses to the same values; PyYAML would not quote 3e-4 and -00008."""
    return Writer(as_given=True).document(tree)
