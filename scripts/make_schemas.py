#!/usr/bin/env python3
"""Generate the JSON Schemas in schemas/ from the structure of the CRDs.

    make_schemas.py CRDS_DIR [--check]

Reads    CRDS_DIR/<release>/<Kind>.json: group, version, kind and the openAPIV3Schema of a CRD without descriptions; or
         the CRD itself, as a YAML file of that folder. The schemas of the TrainJobs of KEP-2170, which has no CRD, and
         of Training Operator v1.9 are derived from v2.0.
Writes   schemas/<dialect>/<Kind>.json: draft 2020-12, with the x-kubernetes-* keywords that the API server evaluates.
         With --check it writes nothing and exits 1 if a file is out of date.

A release without a folder in CRDS_DIR is left as it is. Repeated subschemas are written once, under $defs; those of
Training Operator's kinds in one file. The status has no subschema, because the API server drops it on creation. The
same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml
from generated_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator

Tree = dict[str, Any]

ROOT: Final = Path(__file__).resolve().parent.parent
TARGET: Final = Path("schemas")
TRAINER: Final = ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")
RELEASES: Final = {
    # dialect: (the source release, its kinds)
    "trainer-2.4": ("trainer-8c0f5059", ("OptimizationJob",)),
    "trainer-2.3": ("trainer-2.3.0", TRAINER),
    "trainer-2.2": ("trainer-2.2.1", TRAINER),
    "trainer-2.1": ("trainer-2.1.0", TRAINER),
    "trainer-2.0": ("trainer-2.0.1", TRAINER),
    "jobset-0.12": ("jobset-0.12.0", ("JobSet",)),
    "jobset-0.11": ("jobset-0.11.1", ("JobSet",)),
    "jobset-0.10": ("jobset-0.10.1", ("JobSet",)),
    "jobset-0.8": ("jobset-0.8.2", ("JobSet",)),
    "scheduler-plugins-0.35": ("scheduler-plugins-0.35.4", ("PodGroup",)),
    "mpi-operator-0.7": ("mpi-operator-0.7.0", ("MPIJob",)),
}
OPERATOR_KINDS: Final = {
    # dialect: (the source release, the kinds of it that trainc compiles)
    "training-operator-1.9": ("training-operator-1.9.3", ("PyTorchJob", "TFJob", "XGBoostJob", "JAXJob", "PaddleJob")),
    "training-operator-1.7": ("training-operator-1.7.0", ("MXJob",)),
}
"""The dialects whose kinds share the pod template: it is written once, in `definitions.json`."""
OLDER_OPERATORS: Final = "training-operator-0"
OLDER_KINDS: Final = {
    "TFJob": ("kubeflow.org", "v1beta2"),
    "XGBoostJob": ("xgboostjob.kubeflow.org", "v1"),
    "MXJob": ("kubeflow.org", "v1beta1"),
}
"""The kinds of which trainc reads earlier versions, each with the group and the version of its schema."""
TOP_FIELDS: Final = ("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "ttlSecondsAfterFinished")
"""The fields of the run policy that these versions also have in the spec."""
DERIVED: Final = {
    # dialect: its source
    "operator-1.9": "kubeflow/training-operator v1.9.2",
    "kep-2170": "kubeflow/trainer pull request 2223",
}
"""The dialects whose TrainJob `before_trainer` derives from v2.0, because most fields are the same."""
RULES: Final = "x-kubernetes-validations"
DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
LINE: Final = 110
"""The approximate line length of a schema file."""
LOCAL: Final = "#/$defs/"
DEFINITIONS: Final = "definitions"
"""The name of the file with the definitions of several kinds."""
WORTH_SHARING: Final = 120
"""The minimum size, in characters of JSON, of a repeated subschema that gets a definition."""


def text_of(schema: Tree) -> str:
    """Return a canonical text, equal for equal subschemas."""
    return json.dumps(schema, sort_keys=True, separators=(",", ":"))


def children(schema: Tree, hint: str) -> list[tuple[str, str, str | None, Tree]]:
    """Return the subschemas: keyword, suggested name, key under the keyword, subschema."""
    found: list[tuple[str, str, str | None, Tree]] = [
        ("properties", name, name, child) for name, child in schema.get("properties", {}).items()
    ]
    if "items" in schema:
        found.append(("items", hint[:-1] if hint.endswith("s") else f"{hint}Item", None, schema["items"]))
    if isinstance(schema.get("additionalProperties"), dict):
        found.append(("additionalProperties", f"{hint}Value", None, schema["additionalProperties"]))
    return found


class Sharing:
    """The repeated subschemas of a schema and the names of their definitions."""

    def __init__(self, root: Tree) -> None:
        self.uses: Counter[str] = Counter()
        self.hints: dict[str, set[str]] = {}
        self.names: dict[str, str] = {}
        self.definitions: Tree = {}
        self._count(root, "")

    def _count(self, schema: Tree, hint: str) -> None:
        # The inside of a repeated subschema counts once: a part that repeats only with it needs no name.
        text = text_of(schema)
        self.uses[text] += 1
        self.hints.setdefault(text, set()).add(hint)
        if self.uses[text] == 1:
            for _, name, _, child in children(schema, hint):
                self._count(child, name)

    def _name(self, schema: Tree, text: str) -> str:
        if schema.get("x-kubernetes-int-or-string"):
            wanted = "quantity" if "pattern" in schema else "intOrString"
        else:
            wanted = min(self.hints[text], key=lambda hint: (len(hint), hint))
        taken = set(self.names.values())
        return next(name for i in range(1, 1000) if (name := wanted if i == 1 else f"{wanted}{i}") not in taken)

    def shared(self, schema: Tree, hint: str) -> Tree:
        """Return the schema, or a reference to its definition."""
        text = text_of(schema)
        if self.uses[text] < 2 or len(text) < WORTH_SHARING:
            return self.shared_subschemas(schema, hint)
        if text not in self.names:
            self.names[text] = self._name(schema, text)
            self.definitions[self.names[text]] = self.shared_subschemas(schema, hint)
        return {"$ref": f"{LOCAL}{self.names[text]}"}

    def shared_subschemas(self, schema: Tree, hint: str) -> Tree:
        """Return the schema with its repeated subschemas replaced by references."""
        made = {keyword: value for keyword, value in schema.items() if keyword not in ("properties", RULES)}
        if RULES in schema:
            made[RULES] = [{"rule": rule["rule"]} for rule in schema[RULES]]  # without the message
        if "properties" in schema:
            made["properties"] = {}
        for keyword, name, key, child in children(schema, hint):
            if key is None:
                made[keyword] = self.shared(child, name)
            else:
                made[keyword][key] = self.shared(child, name)
        return made


def written(value: Any, indent: int = 0) -> str:
    """Return JSON in which every value that fits on one line has one line."""
    line = json.dumps(value)
    if len(line) + indent <= LINE or not isinstance(value, dict | list) or not value:
        return line
    margin = " " * (indent + 1)
    if isinstance(value, dict):
        inside = [f"{margin}{json.dumps(key)}: {written(child, indent + 1)}" for key, child in value.items()]
        return "{\n" + ",\n".join(inside) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(margin + written(child, indent + 1) for child in value) + "\n" + " " * indent + "]"


def before_trainer(job: Tree, runtime: Tree) -> dict[str, Tree]:
    """Return the TrainJob of each kubeflow.org dialect, built from v2.0's parts and from container fields."""
    spec = job["schema"]["properties"]["spec"]["properties"]
    container = runtime["schema"]["properties"]["spec"]["properties"]["template"]["properties"]["spec"]["properties"]
    for step in ("replicatedJobs", "template", "spec", "template", "spec", "containers"):
        container = container[step].get("items", container[step])["properties"]
    text: Tree = {"type": "string"}
    override = spec["podSpecOverrides"]["items"]["properties"]
    mounts = override["containers"]["items"]["properties"]["volumeMounts"]
    trainer = spec["trainer"]["properties"]
    reference = {key: value for key, value in spec["runtimeRef"].items() if key != RULES}

    def config(secret: Tree) -> Tree:
        properties = {"env": trainer["env"], "secretRef": secret, "storageUri": text}
        return {"type": "object", "properties": properties}

    def overrides(targets: str, names: Tree, mounts: Tree) -> Tree:
        fields = {key: container[key] for key in ("args", "command", "env", "envFrom", "name")}
        containers = {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": fields | {"volumeMounts": mounts}},
        }
        kept = {key: override[key] for key in ("nodeSelector", "serviceAccountName", "tolerations", "volumes")}
        properties = {"containers": containers, "initContainers": containers, **kept, targets: names}
        return {
            "type": "array",
            "x-kubernetes-list-type": "atomic",
            "items": {"type": "object", "required": [targets], "properties": properties},
        }

    def crd(reference: str, properties: Tree) -> Tree:
        schema: Tree = {"type": "object", "required": [reference], "properties": properties}
        whole = {"type": "object", "properties": {**job["schema"]["properties"], "spec": schema}}
        return {**job, "group": "kubeflow.org", "version": "v2alpha1", "schema": whole}

    def fields(config: Tree, **own: Tree) -> Tree:
        data = {
            "datasetConfig": config,
            "modelConfig": {"type": "object", "properties": {"input": config, "output": config}},
        }
        return {"annotations": spec["annotations"], "labels": spec["labels"], "suspend": spec["suspend"], **data, **own}

    namespaced = {"type": "object", "properties": {"name": text, "namespace": text}}
    names: Tree = {"type": "array", "x-kubernetes-list-type": "atomic", "items": text}
    merged = fields(
        config(namespaced),
        managedBy=text,
        podSpecOverrides=overrides("targetReplicatedJobs", names, container["volumeMounts"]),
        trainer=spec["trainer"],
        trainingRuntimeRef=reference,
    )
    group = {**reference["properties"]["apiGroup"], "default": "kubeflow.org"}
    managers = ["kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue"]  # a CEL rule in the CRD
    released = fields(
        config(spec["initializer"]["properties"]["dataset"]["properties"]["secretRef"]),
        managedBy={"type": "string", "default": managers[0], "enum": managers},
        podSpecOverrides=overrides("targetJobs", override["targetJobs"], mounts),
        runtimeRef={**reference, "properties": {**reference["properties"], "apiGroup": group}},
        trainer={**spec["trainer"], "properties": {**trainer, "numProcPerNode": text}},
    )
    return {
        "operator-1.9": crd("runtimeRef", released),
        "kep-2170": crd("trainingRuntimeRef", merged),
    }


def make(crd: Tree, release: str) -> str:
    """Return the text of a kind's schema file."""
    root = on_creation(crd)
    sharing = Sharing(root)
    body = sharing.shared_subschemas(root, "")
    return written(heading(crd, release) | {**in_order(body), "$defs": in_order(sharing.definitions)}) + "\n"


def make_together(crds: Path, dialect: str, release: str, kinds: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of the schema file of each kind, and of the file with their definitions.

    All kinds of the release count as uses of a subschema, so that another one of them changes no definition. The pod
    template has a definition, to which the schemas of kinds without a CRD can refer.
    """
    all_kinds = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((crds / release).iterdir())}
    roots = {kind: on_creation(crd) for kind, crd in all_kinds.items()}
    sharing = Sharing({"properties": roots | {"template": pod_template(roots[kinds[0]])}})
    for kind in filter(OLDER_KINDS.__contains__, kinds):
        group, version = OLDER_KINDS[kind]
        crd = before_run_policy(all_kinds[kind]) | {"group": group, "version": version}
        body = sharing.shared_subschemas(on_creation(crd), "")
        text = written(heading(crd, f"{release} and the fields of earlier versions") | in_order(body)) + "\n"
        yield f"{OLDER_OPERATORS}/{kind}", text.replace(f'"{LOCAL}', f'"../{dialect}/{DEFINITIONS}.json{LOCAL}')
    for kind in kinds:
        body = sharing.shared_subschemas(roots[kind], "")
        text = written(heading(all_kinds[kind], release) | in_order(body)) + "\n"
        yield f"{dialect}/{kind}", text.replace(f'"{LOCAL}', f'"{DEFINITIONS}.json{LOCAL}')
    comment = {"$schema": DRAFT, "$comment": made_from(release), "title": DEFINITIONS}
    yield (
        f"{dialect}/{DEFINITIONS}",
        written({**comment, "type": "object", "$defs": in_order(sharing.definitions)}) + "\n",
    )


def pod_template(schema: Tree) -> Tree:
    """Return the schema of the pod template in the roles of a kind."""
    spec = schema["properties"]["spec"]["properties"]
    roles: Tree = next(field for name, field in spec.items() if name.endswith("ReplicaSpecs"))
    template: Tree = roles["additionalProperties"]["properties"]["template"]
    return template


def before_run_policy(crd: Tree) -> Tree:
    """Return the CRD of a kind whose spec also has fields of the run policy."""
    spec = crd["schema"]["properties"]["spec"]
    policy = spec["properties"]["runPolicy"]["properties"]
    fields = spec["properties"] | {name: policy[name] for name in TOP_FIELDS}
    properties = crd["schema"]["properties"] | {"spec": spec | {"properties": fields}}
    return crd | {"schema": crd["schema"] | {"properties": properties}}


def on_creation(crd: Tree) -> Tree:
    """Return the schema of a CRD for an object that is created, whose status the API server drops."""
    schema: Tree = crd["schema"]
    properties = {name: child for name, child in schema["properties"].items() if name != "status"}
    if "status" in schema["properties"]:
        properties["status"] = {"type": "object"}
    return {**schema, "properties": properties}


def heading(crd: Tree, release: str) -> Tree:
    """Return the keywords that describe a schema file."""
    identity = {key: crd[key] for key in ("group", "kind", "version")}
    comment = {"$schema": DRAFT, "$comment": made_from(release), "title": crd["kind"]}
    return {**comment, "x-kubernetes-group-version-kind": [identity]}


def made_from(release: str) -> str:
    """Return the comment of a generated file."""
    return f"Made by scripts/make_schemas.py from {release}; change that, not this."


def in_order(tree: Tree) -> Tree:
    """Return a mapping with its keys in order."""
    return {key: tree[key] for key in sorted(tree)}


def files(crds: Path) -> Iterator[tuple[Path, str]]:
    """Yield every schema file with its text."""

    def read(release: str, kind: str) -> Tree:
        structure = crds / release / f"{kind}.json"
        if not structure.exists():
            return structure_of(crds / release, kind)
        crd: Tree = json.loads(structure.read_text(encoding="utf-8"))
        return crd

    found = {path.name for path in crds.iterdir()}
    for dialect, (release, kinds) in RELEASES.items():
        for kind in kinds if release in found else ():
            yield TARGET / dialect / f"{kind}.json", make(read(release, kind), release)
    for dialect, (release, kinds) in OPERATOR_KINDS.items():
        if release not in found:
            continue
        for name, text in make_together(crds, dialect, release, kinds):
            yield TARGET / f"{name}.json", text
    release = RELEASES["trainer-2.0"][0]
    if release not in found:
        return
    for dialect, crd in before_trainer(read(release, "TrainJob"), read(release, "TrainingRuntime")).items():
        yield TARGET / dialect / "TrainJob.json", make(crd, DERIVED[dialect])


def structure_of(folder: Path, kind: str) -> Tree:
    """Return the structure of the CRD of a kind, from the YAML files of a folder."""
    crds = (crd for path in sorted(folder.glob("*.yaml")) for crd in yaml.safe_load_all(path.read_text("utf-8")))
    spec = next(crd["spec"] for crd in crds if crd["spec"]["names"]["kind"] == kind)
    (version,) = spec["versions"]
    schema = without_descriptions(version["schema"]["openAPIV3Schema"])
    return {"group": spec["group"], "version": version["name"], "kind": kind, "schema": schema}


def without_descriptions(schema: Tree) -> Tree:
    """Return a schema without the prose of its fields."""
    kept = {key: value for key, value in schema.items() if key != "description"}
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = without_descriptions(kept[key])
    if "properties" in kept:
        kept["properties"] = {name: without_descriptions(child) for name, child in kept["properties"].items()}
    return kept


def main(argv: list[str] | None = None) -> int:
    """Write the files, or report those that are out of date."""
    parser = argparse.ArgumentParser(description="Generate schemas/ from the structure of the CRDs.")
    parser.add_argument("crds", type=Path, help="the folder with <release>/<Kind>.json")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    args = parser.parse_args(argv)
    releases = [release for release, _ in (*RELEASES.values(), *OPERATOR_KINDS.values())]
    if not any((args.crds / release).is_dir() for release in releases):
        parser.error(f"{args.crds} has no folder with the name of a release, such as {releases[0]}")
    return write_or_check(Path(__file__).name, ROOT, files(args.crds), check=args.check)


if __name__ == "__main__":
    sys.exit(main())
