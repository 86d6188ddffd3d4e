"""Two environments of one cluster: a tool that applies one of them and prunes by label deletes nothing of the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import two_environments
from cluster.server import Cluster

Tree = dict[str, Any]
Id = tuple[str, str, str]

LABEL = "acme.io/environment"
KINDS = "jobsets.jobset.x-k8s.io,persistentvolumeclaims,rolebindings,namespaces"
WITHOUT_TEAM = "environments: {{dev: {{namespaceSuffix: -dev, exclude: [{}.yaml]}}, prod: {{}}}}\n"


def test_nothing_of_another_environment_is_pruned(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nlp, vis = teams = cluster.namespace("nlp"), cluster.namespace("vis")
    two_environments.write_teams(tmp_path, *teams)
    try:
        assert _apply(cluster, tmp_path, nlp) == {"dev": set(), "prod": set()}

        two_environments.exclude_job(tmp_path, nlp)
        assert _apply(cluster, tmp_path, nlp) == {"dev": {("JobSet", f"{nlp}-dev", "train")}, "prod": set()}

        (tmp_path / f"{nlp}-job.yaml").unlink()
        assert _apply(cluster, tmp_path, nlp) == {"dev": set(), "prod": {("JobSet", nlp, "train")}}

        settings = two_environments.SETTINGS.replace(two_environments.ENVIRONMENTS, WITHOUT_TEAM.format(nlp))
        (tmp_path / "trainc.yaml").write_text(settings)
        of_team = {
            ("Namespace", "", f"{nlp}-dev"),
            ("PersistentVolumeClaim", f"{nlp}-dev", "data"),
            ("RoleBinding", f"{nlp}-dev", "run"),
        }
        assert _apply(cluster, tmp_path, nlp) == {"dev": of_team, "prod": set()}

        claims = {id for id in _labelled(cluster, f"{nlp}-prod") if id[0] == "PersistentVolumeClaim"}
        assert claims == {("PersistentVolumeClaim", team, "data") for team in teams}
        assert ("PersistentVolumeClaim", f"{vis}-dev", "data") in _labelled(cluster, f"{nlp}-dev")
    finally:
        for team in teams:
            cluster.ask("DELETE", f"api/v1/namespaces/{team}-dev")


def _apply(cluster: Cluster, folder: Path, run: str) -> dict[str, set[Id]]:
    """Build the project, apply each environment and prune by its label; return what is pruned.

    `run` is the first part of the labels' values, so that nothing of another run is pruned.
    """
    pruned = {}
    for environment, objects in two_environments.rendered(folder).items():
        for tree in objects:
            tree["metadata"].setdefault("labels", {})[LABEL] = f"{run}-{environment}"
        cluster.apply(objects)
        pruned[environment] = _labelled(cluster, f"{run}-{environment}") - set(map(_id, objects))
        for kind, namespace, name in pruned[environment]:
            words = ("delete", kind, name, "--wait=false", *([f"--namespace={namespace}"] if namespace else ()))
            done = cluster.kubectl(*words)
            assert done.code == 0, done.err
    return pruned


def _labelled(cluster: Cluster, value: str) -> set[Id]:
    """Return the objects with a value of the label that are not being deleted."""
    selector = f"--selector={LABEL}={value}"
    done = cluster.kubectl("get", KINDS, "--all-namespaces", selector, "--output=json")
    assert done.code == 0, done.err
    return {_id(tree) for tree in json.loads(done.out)["items"] if "deletionTimestamp" not in tree["metadata"]}


def _id(tree: Tree) -> Id:
    return tree["kind"], tree["metadata"].get("namespace", ""), tree["metadata"]["name"]
