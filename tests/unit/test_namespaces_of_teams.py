"""Namespaces per team and environment: a mapping, a prefix and a suffix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run

TEAM = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: train, namespace: {team}}}
spec: {{runtimeRef: {{kind: TrainingRuntime, name: own}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {{name: own, namespace: {team}}}
spec:
  mlPolicy: {{torch: {{}}}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                containers: [{{name: node, image: "acme/train:1", resources: {{requests: {{cpu: 1}}}}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: data, namespace: {team}}}
---
apiVersion: v1
kind: Namespace
metadata: {{name: {team}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: run, namespace: {team}}}
subjects: [{{kind: ServiceAccount, name: trainer, namespace: {team}}}]
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: run}}
"""
OTHER = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: shared, namespace: platform}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: anywhere}
"""


@pytest.fixture(autouse=True)
def project(empty_root: Path) -> Path:
    """Return a repository of two teams."""
    for team in ("nlp", "vision"):
        (empty_root / f"{team}.yaml").write_text(TEAM.format(team=team))
    (empty_root / "other.yaml").write_text(OTHER)
    return empty_root


def settings(text: str) -> None:
    Path("trainc.yaml").write_text(f"{text}\n")


def built(*arguments: str) -> list[tuple[str, str, str]]:
    """Return the kind, name and namespace of each object of `build --passthrough`."""
    done = run("build", "--passthrough", "--no-config" if not Path("trainc.yaml").exists() else "--strict", *arguments)
    assert done.code == 0, done.err
    trees: list[dict[str, Any]] = list(yaml.safe_load_all(done.out))
    found = ((tree["kind"], tree["metadata"]["name"], tree["metadata"].get("namespace", "")) for tree in trees)
    return sorted(found)


def only_kinds_of_a_team() -> None:
    """Keep the TrainJob, the runtime and the ConfigMap of each team."""
    for path in (Path("nlp.yaml"), Path("vision.yaml")):
        path.write_text("---\n".join(path.read_text().split("---\n")[:3]))


@pytest.mark.parametrize(
    ("text", "nlp", "vision", "platform"),
    [
        ("namespaceSuffix: -dev", "nlp-dev", "vision-dev", "platform-dev"),
        ("namespacePrefix: dev-", "dev-nlp", "dev-vision", "dev-platform"),
        ("namespacePrefix: a-\nnamespaceSuffix: -b", "a-nlp-b", "a-vision-b", "a-platform-b"),
        ("namespaceSuffix: -dev\nshared: [{namespace: platform}]", "nlp-dev", "vision-dev", "platform"),
        ("namespaceSuffix: -dev\nshared: [{kind: ConfigMap, name: sha*}]", "nlp-dev", "vision-dev", "platform"),
        ("namespaceSuffix: -dev\nshared: [{namespace: '*'}]", "nlp", "vision", "platform"),
        ("namespace: {nlp: text, vision: cv}", "text", "cv", "platform"),
        ("namespace: {nlp: text}", "text", "vision", "platform"),
        ("namespace: {nlp: vision, vision: nlp}", "vision", "nlp", "platform"),
        ("namespace: {platform: base}", "nlp", "vision", "base"),
    ],
)
def test_all_documents_move(text: str, nlp: str, vision: str, platform: str) -> None:
    only_kinds_of_a_team()
    settings(text)
    expected = [("ConfigMap", "anywhere", ""), ("ConfigMap", "shared", platform)]
    expected += [
        (kind, name, team) for team in (nlp, vision) for kind, name in (("ConfigMap", "data"), ("JobSet", "train"))
    ]
    assert built() == sorted(expected)


def test_an_environment_replaces_all_namespace_settings_of_the_file() -> None:
    only_kinds_of_a_team()
    settings(
        "namespaceSuffix: -x\n"
        "environments:\n"
        "  none: {namespaceSuffix: ''}\n"
        "  prefix: {namespacePrefix: p-}\n"
        "  map: {namespace: {nlp: text}}\n"
        "  inherited:"
    )
    jobsets = {
        name: [namespace for kind, _, namespace in built("--env", name) if kind == "JobSet"]
        for name in ("none", "prefix", "map", "inherited")
    }
    assert jobsets == {
        "none": ["nlp", "vision"],
        "prefix": ["p-nlp", "p-vision"],
        "map": ["text", "vision"],
        "inherited": ["nlp-x", "vision-x"],
    }


def test_two_environments_of_one_cluster() -> None:
    settings("environments: {dev: {namespaceSuffix: -dev}, prod: {namespace: {nlp: nlp-prod, vision: cv}}}")
    assert "shared-object" not in run("validate").out
    settings("environments: {dev: {namespaceSuffix: -dev}, prod: {namespace: {nlp: nlp-dev, vision: cv}}}")
    first = next(line for line in run("validate").out.splitlines() if "shared-object" in line)
    assert first.startswith("trainc.yaml:1:64: error[shared-object]: the environments dev and prod write the same ")


def reported() -> list[tuple[str, int, int, str]]:
    """Return the id, the line, the column and the message of the warnings and errors of `build --passthrough`."""
    done = run("build", "--passthrough", "-o", "rendered", "--report", "json=report.json")
    found = json.loads(Path("report.json").read_text())
    assert done.code == any(each["severity"] == "error" for each in found)
    return [(each["id"], each["line"], each["column"], each["message"]) for each in found if each["severity"] != "note"]


REFERENCES = """\
apiVersion: v1
kind: Namespace
metadata: {name: nlp, labels: {kubernetes.io/metadata.name: nlp}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: nlp}
subjects:
- {kind: ServiceAccount, name: a, namespace: nlp}
- {kind: ServiceAccount, name: b, namespace: argocd}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: nlp}
spec:
  namespaceSelector:
    matchLabels: {kubernetes.io/metadata.name: nlp, team: nlp}
    matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: In, values: [nlp, argocd]}
    - {key: team, operator: In, values: [nlp]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: nlp, namespace: nlp}
spec:
  podSelector: {}
  ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: argocd}}}]}]
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: nlp}
spec: {claimRef: {name: nlp, namespace: nlp}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: nlp, namespace: nlp}
data: {namespace: other, team: nlp}
"""


def test_references_to_a_namespace_move_with_it() -> None:
    only_kinds_of_a_team()
    Path("other.yaml").write_text(REFERENCES)
    settings("namespaceSuffix: -dev\nshared: [{namespace: argocd}]")
    done = run("build", "--passthrough", "--strict", "other.yaml", "nlp.yaml")
    assert done.code == 0, done.err
    found = [tree for tree in yaml.safe_load_all(done.out) if tree["metadata"]["name"].startswith("nlp")]
    expected = list(yaml.safe_load_all(REFERENCES))
    namespace, binding, queue, policy, volume, config = expected
    namespace["metadata"] = {"name": "nlp-dev", "labels": {"kubernetes.io/metadata.name": "nlp-dev"}}
    binding["subjects"][0]["namespace"] = "nlp-dev"
    queue["spec"]["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] = "nlp-dev"
    queue["spec"]["namespaceSelector"]["matchExpressions"][0]["values"] = ["nlp-dev", "argocd"]
    policy["metadata"]["namespace"] = config["metadata"]["namespace"] = "nlp-dev"
    volume["spec"]["claimRef"]["namespace"] = "nlp-dev"
    assert found == expected


def test_the_affinity_of_pods_moves_with_its_namespaces() -> None:
    affinity = "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [nlp]}]}}"
    text = TEAM.format(team="nlp").replace(
        "spec:\n                containers", f"spec:\n                affinity: {affinity}\n                containers"
    )
    Path("nlp.yaml").write_text(text)
    settings("namespaceSuffix: -dev")
    assert "namespaces: [nlp]" in text
    assert "- nlp-dev\n" in run("build", "nlp.yaml").out


def test_a_field_that_probably_has_a_namespace_is_a_warning() -> None:
    only_kinds_of_a_team()
    Path("other.yaml").write_text(REFERENCES.replace("namespace: other", "targetNamespace: nlp"))
    settings("namespaceSuffix: -dev")
    warning = 'ConfigMap "nlp" still names the namespace "nlp", whose documents move to "nlp-dev"'
    assert reported() == [("moved-namespace", 37, 25, warning)]
    settings("namespaceSuffix: -dev\nshared: [{kind: ConfigMap, name: nlp}]")
    assert reported() == []


@pytest.mark.parametrize(
    ("items", "column"),
    [
        ("[{namespace: platforms}, {namespace: nlp}]", 10),
        ("[{kind: ConfigMap}, {kind: ClusterQueue, name: all}]", 29),
        ("[{group: kueue.x-k8s.io}]", 10),
    ],
)
def test_an_item_of_shared_that_matches_nothing_is_an_error(items: str, column: int) -> None:
    environments = "{a: {namespaceSuffix: -a, cluster: a}, b: {cluster: b}}"
    settings(f"shared: {items}\npassthrough: true\nenvironments: {environments}")
    done = run("validate")
    assert done.code == 1
    assert f"trainc.yaml:1:{column}: error[unmatched-shared]: " in done.out
    assert "unmatched-shared" not in run("validate", "--env", "a").out
    assert "unmatched-shared" not in run("validate", "nlp.yaml").out


@pytest.mark.parametrize("text", ["[{}]", "[{namespace: ''}]", "[{labels: {a: b}}]", "platform", "[platform]"])
def test_a_wrong_item_of_shared(text: str) -> None:
    settings(f"shared: {text}")
    done = run("validate")
    assert done.code == 1
    assert "trainc.yaml:1:" in done.out


def test_a_job_without_a_namespace_has_no_suffix() -> None:
    Path("nlp.yaml").write_text(TEAM.format(team="nlp").replace(", namespace: nlp", "", 2))
    settings("\nnamespaceSuffix: -dev")
    done = run("validate")
    assert done.code == 1
    assert (
        "trainc.yaml:2:18: error[no-namespace]: namespaceSuffix needs a namespace, which TrainJob "
        '"train" does not set (and 1 more document)\n'
    ) in done.out
    assert "nlp.yaml:3:11: without a namespace" in done.out
    assert "no-namespace" not in run("validate", "-n", "nlp").out


def test_two_jobs_of_one_name_are_an_error_with_both_places() -> None:
    settings("namespace: {nlp: one, vision: one}")
    done = run("validate")
    assert done.code == 1
    assert "error[duplicate-trainjob]" in done.out
    assert "nlp/train and vision/train" in done.out
    assert "nlp.yaml:3:18: " in done.out


@pytest.mark.parametrize(
    ("text", "place", "id"),
    [
        ("namespaceSuffix: -Dev", "1:18", "invalid-name"),
        ("namespacePrefix: -dev", "1:18", "invalid-name"),
        (f"namespaceSuffix: -{'a' * 61}", "1:18", "invalid-namespace"),
        ("namespace: {Nlp: text}", "1:13", "invalid-name"),
        ("namespace: {nlp: Text}", "1:18", "invalid-namespace"),
        ("namespace: {nlp: ''}", "1:18", "too-short"),
        ("namespace: {nlp: [a]}", "1:18", "wrong-type"),
        ("namespace: [nlp]", "1:12", "wrong-type"),
        ("namespaceSuffix: {nlp: a}", "1:18", "wrong-type"),
        ("namespace: ml\nnamespaceSuffix: -dev", "2:1", "conflicting-settings"),
        ("namespace: {nlp: a}\nnamespacePrefix: dev-", "2:1", "conflicting-settings"),
        ("environments: {dev: {namespace: ml, namespacePrefix: dev-}}", "1:37", "conflicting-settings"),
    ],
)
def test_a_wrong_value_is_an_error_at_its_line(text: str, place: str, id: str) -> None:
    settings(text)
    done = run("validate")
    assert done.code == 1
    assert f"trainc.yaml:{place}: error[{id}]: " in done.out


def test_a_key_that_matches_nothing() -> None:
    settings("namespace: {nlp: text, vison: cv}")
    line = 'trainc.yaml:1:24: warning[unused-setting]: no document is in namespace "vison" or refers to it\n'
    assert line in run("validate").out
    assert "unused-setting" not in run("validate", "nlp.yaml").out
    settings("namespace: {nlp: text, vison: cv}\nenvironments: {a: {cluster: a}, b: {cluster: b, namespaceSuffix: -x}}")
    assert line.replace("to it\n", "to it [a]\n") in run("validate").out


def test_explain_shows_the_setting() -> None:
    settings("namespaceSuffix: -dev")
    done = run("explain", "nlp.yaml", "metadata.namespace")
    assert done.code == 0
    assert "trainc.yaml:1:18: " in done.out


def test_a_subset_has_the_namesakes_in_the_new_namespace() -> None:
    settings("namespace: {nlp: one, vision: one}")
    done = run("validate", "--among", ".", "nlp.yaml")
    assert "duplicate-trainjob" in done.out
    settings("namespaceSuffix: -dev")
    assert run("validate", "--among", ".", "nlp.yaml").code == 0
