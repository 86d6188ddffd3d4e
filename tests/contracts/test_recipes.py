"""The recipes are complete: every leaf has every step, and a forgotten step is reported.

One step at a time is left out. The steps are files, rows and texts (`steps`); other tests cover what a
leaf does.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from batches import one_in_four
from contracts import test_schemas
from contracts.recipes import LISTED, RECIPES, TEXTS, Recipe, recipes_of
from contracts.steps import Step, Tree

from trainc.base.releases import RELEASES
from trainc.pipeline.checks import cel

ROOT = Path(__file__).parents[2]
STEPS = [
    pytest.param(recipe, step, id=f"{recipe.title}: {step.named[0]}") for recipe in RECIPES for step in recipe.steps
]


EVERY_ID = next(recipe for recipe in RECIPES if recipe.title == "A diagnostic that no check yields")
"""The recipe whose leaves include the pages without a declaration."""


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_every_leaf_has_every_step(recipe: Recipe) -> None:
    tree = Tree(ROOT)
    assert recipe.leaves(tree)
    assert recipe.missing_steps(tree) == []


@pytest.mark.parametrize(("recipe", "step"), one_in_four(STEPS))
def test_a_forgotten_step_is_reported(recipe: Recipe, step: Step) -> None:
    leaf, tree = recipe.steps[step], Tree(ROOT)
    assert step.done(tree, leaf)
    changed = Tree(ROOT, step.undo(tree, leaf))
    assert recipe.missing_steps(changed) or EVERY_ID.missing_steps(changed)


@pytest.mark.parametrize(("recipe", "step"), STEPS)
def test_the_recipe_names_the_step(recipe: Recipe, step: Step) -> None:
    text = TEXTS[recipe.title] + (TEXTS["A check"] if " of a check" in TEXTS[recipe.title] else "")
    names = [name.replace("{}", recipe.placeholder) for name in step.named]
    assert [name for name in names if name.removeprefix("compiler/trainc/") not in text] == []


def test_every_recipe_is_here() -> None:
    assert sorted(TEXTS) == sorted(recipe.title for recipe in RECIPES)


def test_contributing_lists_the_recipes_of_the_packages() -> None:
    packages = {path: recipes_of(path) for path in sorted((ROOT / "compiler").rglob("__init__.py"))}
    assert {title: path for path, titles in packages.items() for title in titles}.items() <= LISTED.items()


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 150
    assert (ROOT / "docs" / "glossary.md").read_text().count("\n| ") <= 31


def check_rules(kind: str) -> None:
    for release in RELEASES:
        test_schemas.test_every_creation_rule_of_a_release_is_implemented(kind, release)
    test_schemas.test_the_rules_of_the_releases_exist()


@pytest.mark.parametrize("kind", cel.RULES)
def test_a_forgotten_crd_rule_is_reported(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for rule in (rule for rule in cel.RULES[kind] if rule.digests):
        others = tuple(other for other in cel.RULES[kind] if other is not rule)
        monkeypatch.setattr(cel, "RULES", cel.RULES | {kind: others})
        with pytest.raises(AssertionError):
            check_rules(kind)
        monkeypatch.undo()
