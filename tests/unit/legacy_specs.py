"""Jobs of legacy kinds of Training Operator, and what trainc makes of them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import trainc
from trainc import Result
from trainc.base.kinds import find
from trainc.compilation.run import Options
from trainc.frontends.lowering import Loss
from trainc.kubernetes.trees import Tree
from trainc.pipeline.frameworks import front_end

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
GLOBAL_INDEX = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"
MOST = 2147483647


class LegacyKind(NamedTuple):
    kind: str
    roles: str
    container: str

    def role(self, replicas: int | None = 1, container: Any = None, **fields: Any) -> Tree:
        main = {"name": self.container, "image": "acme/train:v1"} | (container or {})
        template = {"spec": {"containers": [main]}}
        return {"template": template} | ({} if replicas is None else {"replicas": replicas}) | fields

    def job(self, fields: Any = None, version: Any = "kubeflow.org/v1", **roles: Any) -> Tree:
        spec = (fields or {}) | {self.roles: roles}
        return {"apiVersion": version, "kind": self.kind, "metadata": {"name": "mnist"}, "spec": spec}


def compiled_legacy(tree: Tree, **options: Any) -> Result:
    return trainc.compile(text=json.dumps(tree), options=Options(legacy=True, no_config=True, **options))


def spec(tree: Tree) -> Any:
    result = compiled_legacy(tree)
    assert not result.failed, [found.message for found in result.diagnostics]
    return result.objects[0]["spec"]


def env(replicated_job: Any, container: int = 0) -> dict[str, Any]:
    variables = replicated_job["template"]["spec"]["template"]["spec"]["containers"][container].get("env", [])
    return {
        each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"] if "valueFrom" in each else each.get("value", "")
        for each in variables
    }


def losses(tree: Tree) -> tuple[Loss, ...]:
    row = find(tree["apiVersion"], tree["kind"])
    assert row is not None
    return front_end(row).lower(tree, None).losses


def errors(tree: Tree) -> list[str]:
    return [found.message for found in compiled_legacy(tree).diagnostics if found.severity == "error"]
