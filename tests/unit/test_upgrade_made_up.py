"""Generated TrainJobs of every older dialect and layout: upgrades apply the moves and keep every comment."""

from __future__ import annotations

import os
import random
from typing import Any

import yaml
from batches import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from trainc.base.trainjob_dialects import DIALECTS, detect
from trainc.frontends import dialects
from trainc.frontends.lowering import moved
from trainc.kubernetes.documents import parse
from trainc.rewriting.upgrade.rewrite import rewrite

EXAMPLES = int(os.environ.get("EXAMPLES") or 60)
words = st.sampled_from(["a", "yes", "0400", "1e3", "x # y", "", "a: b", "'q'", "two\nlines\n", "ü"])
labels = st.dictionaries(st.sampled_from(["a", "b/c", "d"]), words, min_size=1, max_size=2)
pods = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": labels,
        "serviceAccountName": words,
        "tolerations": st.lists(st.fixed_dictionaries({"key": words}), max_size=2),
        "containers": st.lists(
            st.fixed_dictionaries({"name": words}, optional={"volumeMounts": st.lists(labels, max_size=2)}), max_size=2
        ),
    },
)
names = st.lists(st.sampled_from(["node", "dataset-initializer", "x"]), min_size=1, max_size=3)
trainer = st.fixed_dictionaries(
    {}, optional={"numNodes": st.just(2), "args": st.lists(words, max_size=3), "numProcPerNode": st.just("4")}
)
common: dict[str, Any] = {"labels": labels, "annotations": labels, "trainer": trainer, "suspend": st.booleans()}


def drawn_job(version: str, required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just(version),
            "kind": st.just("TrainJob"),
            "metadata": st.just({"name": "j"}),
            "spec": st.fixed_dictionaries(required, optional=common | optional),
        }
    )


def targeted(key: str, targets: st.SearchStrategy[Any], rest: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.builds(lambda names, rest: {key: names, **rest}, targets, rest), min_size=1, max_size=3)


by_name = names.map(lambda chosen: [{"name": name} for name in chosen])
reference = st.just({"name": "torch-distributed"})
config = st.fixed_dictionaries(
    {"storageUri": words}, optional={"secretRef": st.just({"name": "s", "namespace": "n"}), "env": st.just([])}
)
jobs = st.one_of(
    drawn_job(
        "kubeflow.org/v2alpha1",
        {"trainingRuntimeRef": reference},
        {
            "datasetConfig": config,
            "modelConfig": st.fixed_dictionaries({"input": config}),
            "podSpecOverrides": targeted("targetReplicatedJobs", names, pods),
        },
    ),
    drawn_job(
        "trainer.kubeflow.org/v1alpha1",
        {"runtimeRef": reference, "podSpecOverrides": targeted("targetJobs", by_name, pods)},
        {},
    ),
    drawn_job(
        "trainer.kubeflow.org/v1alpha1",
        {
            "runtimeRef": reference,
            "podTemplateOverrides": targeted("targetJobs", by_name, st.fixed_dictionaries({}, optional={"spec": pods})),
        },
        {},
    ),
)


class Layout(yaml.SafeDumper):
    """A dumper that writes lists at their key's indentation, or two spaces further."""

    further = False

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless and not self.further)


def laid_out(tree: dict[str, Any], seed: int) -> tuple[str, int]:
    """Return the tree as YAML with keys in any order, in block or partly flow style, with comments."""
    chance = random.Random(seed)
    Layout.further = chance.random() < 0.5
    flow = chance.choice([False, False, None])
    spec = list(tree["spec"].items())
    chance.shuffle(spec)
    ordered = tree | {"spec": dict(spec)}
    text = yaml.dump(
        ordered,
        Dumper=Layout,
        sort_keys=False,
        default_flow_style=flow,
        allow_unicode=True,
        width=10**6,
        indent=chance.choice([2, 2, 4]),
    )
    lines, comments = [], 0
    for line in text.splitlines():
        plain = not set("'\"|>{[") & set(line) and line.strip()[:1] not in ("", "?") and ": " in line + " "
        if plain and chance.random() < 0.3:
            comments += 1
            lines.append(" " * (len(line) - len(line.lstrip(" "))) + f"# c{comments}")
        behind = plain and "#" not in line and chance.random() < 0.3
        comments += behind
        lines.append(f"{line}  # c{comments}" if behind else line)
    return "\n".join(lines) + "\n", comments


@examples(EXAMPLES)
@given(jobs, st.integers(0, 10**6))
def test_rewritten(tree: dict[str, Any], seed: int) -> None:
    text, comments = laid_out(tree, seed)
    read = parse(text)
    assume(read == parse(yaml.safe_dump(tree)))  # a comment may have got into a text of several lines
    dialect = DIALECTS[detect(read, "v2.3").key]
    moves = tuple(dialects.moves(dialect, read))
    new = rewrite(text, (), read, moves, [str(path[1]) for path in dialect.gone])
    assert parse(new) == moved(read, moves, dialect.gone)
    assert [n for n in range(1, comments + 1) if f"# c{n}\n" not in new] == []
