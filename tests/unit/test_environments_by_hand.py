"""An environment gives what a repository gives in which its settings are written out by hand."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from batches import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import trainc
from trainc.compilation.run import Options
from trainc.settings import in_environment, read

Tree = dict[str, Any]
API = "trainer.kubeflow.org/v1alpha1"
TEAMS = ("nlp", "vision", "speech")
IMAGES = ("acme/app", "acme/base", "reg.io:5000/acme/app")
DIGEST = f"sha256:{'0' * 64}"

images = st.builds("{}:{}".format, st.sampled_from(IMAGES), st.sampled_from(("v1", "v2")))
items = st.fixed_dictionaries(
    {"name": st.sampled_from(IMAGES)},
    optional={
        "newName": st.sampled_from(("mirror/app", "mirror/base")),
        "newTag": st.just("v9"),
        "digest": st.just(DIGEST),
    },
).filter(lambda item: len(item) > 1)
affixes = st.fixed_dictionaries({}, optional={"namespacePrefix": st.just("a-"), "namespaceSuffix": st.just("-b")})
mappings = st.dictionaries(st.sampled_from(TEAMS), st.sampled_from((*TEAMS, "other")), min_size=1)
namespaces = st.one_of(
    st.just({}),
    affixes,
    st.builds(lambda mapping: {"namespace": mapping}, mappings),
    st.just({"namespace": "all"}),
)
patches = st.builds(
    lambda name, nodes: {"target": {"name": name}, "patch": {"spec": {"trainer": {"numNodes": nodes}}}},
    st.sampled_from(TEAMS),
    st.integers(1, 9),
)
layers = st.builds(
    lambda where, more: where | more,
    namespaces,
    st.fixed_dictionaries(
        {},
        optional={
            "images": st.lists(items, max_size=3, unique_by=lambda item: item["name"]),
            "patches": st.lists(patches, max_size=2),
        },
    ),
)


@st.composite
def repositories(draw: st.DrawFn) -> list[Tree]:
    """Draw a TrainJob with its runtime for each team; each TrainJob has the name of its team."""
    found: list[Tree] = []
    for team in TEAMS:
        container = {"name": "node", "image": draw(images), "resources": {"requests": {"cpu": 1}}}
        template = {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": {"spec": {"containers": [container]}}},
        }
        jobs = [{"name": "node", "template": template}]
        runtime = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": jobs}}}
        job: Tree = {"runtimeRef": {"name": f"of-{team}", "kind": "TrainingRuntime"}, "trainer": {}}
        if draw(st.booleans()):
            job["trainer"]["image"] = draw(images)
        for kind, name, spec in (("TrainJob", team, job), ("TrainingRuntime", f"of-{team}", runtime)):
            metadata = {"name": name, "namespace": team}
            found.append({"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec})
    return found


def by_hand(documents: list[Tree], file: Tree, environment: Tree) -> list[Tree]:
    """Return the documents as a person would write them for the environment."""
    groups = ("namespace", "namespacePrefix", "namespaceSuffix")
    where = environment if any(key in environment for key in groups) else file
    merged = {item["name"]: dict(item) for item in file.get("images", ())}
    for item in environment.get("images", ()):
        known = merged.get(item["name"], {})
        if "newTag" in item or "digest" in item:
            known = {key: value for key, value in known.items() if key not in ("newTag", "digest")}
        merged[item["name"]] = known | item
    found = deepcopy(documents)
    for tree in found:
        for patch in (*file.get("patches", ()), *environment.get("patches", ())):
            if tree["kind"] == "TrainJob" and tree["metadata"]["name"] == patch["target"]["name"]:
                tree["spec"]["trainer"] |= patch["patch"]["spec"]["trainer"]
        holder = tree["spec"].get("trainer")
        if holder is None:
            holder = tree["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
            holder = holder["containers"][0]
        for item in merged.values():
            name, _, tag = holder.get("image", "").rpartition(":")
            if name == item["name"]:
                end = f":{tag}"
                if "newTag" in item or "digest" in item:
                    end = (f":{item['newTag']}" if "newTag" in item else "") + (
                        f"@{DIGEST}" if "digest" in item else ""
                    )
                holder["image"] = item.get("newName", name) + end
                break
        own, new = tree["metadata"]["namespace"], where.get("namespace")
        affixed = f"{where.get('namespacePrefix', '')}{own}{where.get('namespaceSuffix', '')}"
        tree["metadata"]["namespace"] = new.get(own, own) if isinstance(new, dict) else new or affixed
    return found


@examples(60, suppress_health_check=[HealthCheck.too_slow])
@given(repositories(), layers, layers)
def test_an_environment_is_what_a_person_would_write(documents: list[Tree], file: Tree, environment: Tree) -> None:
    with TemporaryDirectory() as name:
        path = Path(name, "trainc.yaml")
        path.write_text(json.dumps(file | {"environments": {"prod": environment, "other": {"cluster": "other"}}}))
        found = in_environment(read(str(path)), "prod")
        assert found.diagnostics == ()
        built = trainc.compile(text=_text(documents), options=Options(settings=found))
    expected = trainc.compile(text=_text(by_hand(documents, file, environment)), options=Options(no_config=True))
    assert not expected.failed
    assert not built.failed
    assert trainc.render(built.objects) == trainc.render(expected.objects)


def _text(documents: list[Tree]) -> str:
    return "".join(f"---\n{json.dumps(tree)}\n" for tree in documents)
