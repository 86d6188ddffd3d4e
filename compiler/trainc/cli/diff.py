"""`trainc diff`: the effect of an input change on the compiled objects and in the cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from trainc.cli import options, printing
from trainc.cli.codes import DIFFERENT, OK, WRONG_INPUT

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from trainc.kubernetes.violations import FieldValidation

EPILOG = """\b
Examples:
  trainc diff                         changes in the working tree since the last commit
  trainc diff main...HEAD -- jobs/    changes of a branch below jobs/
  trainc diff rendered/ jobs/         rendered manifests against the current build
  trainc diff main..HEAD --format markdown > comment.md
  trainc diff main..HEAD --format html > review.html
  trainc diff old.yaml new.yaml --exit-code
"""

REVISIONS: Final = 200
"""The maximum number of revisions that are offered."""


def side_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a file or folder or, before `--`, a git revision or the second one of a range."""
    from click.shell_completion import CompletionItem

    files = [CompletionItem(incomplete, type="file")]
    if "--" in (ctx.params.get("sides") or ()):
        return files
    from trainc.review.revisions import names

    dots = "..." if "..." in incomplete else ".."
    first, range, start = incomplete.rpartition(dots)
    found = (name for name in names(REVISIONS) if name.startswith(start))
    return [*files, *(CompletionItem(f"{first}{range}{name}") for name in found)]


class Separated(click.Command):
    """A command whose argument keeps the `--` of the command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Double the `--` that ends the options, because click removes one."""
        takes = {flag for row in self.params if isinstance(row, click.Option) and not row.is_flag for flag in row.opts}
        words = iter(enumerate(args))
        for index, word in words:
            if word in takes:
                next(words, None)
            elif word == "--":
                return super().parse_args(ctx, [*args[:index], "--", *args[index:]])
        return super().parse_args(ctx, args)


@click.command(
    cls=Separated, short_help="Show the effect of a change on the objects and in the cluster.", epilog=EPILOG
)
@click.argument(
    "sides",
    nargs=-1,
    metavar="[OLD NEW | REV..REV [--] [PATH]... | REV [--] [PATH]...]",
    shell_complete=side_names,
)
@options.runtimes
@click.option(
    "--format", "form", type=click.Choice(options.REVIEWS), default="text", help="Output format; default: text."
)
@click.option("--exit-code", is_flag=True, help="Exit 3 if an object or a setting changes.")
@click.option("--only", metavar="NAME", shell_complete=options.job_names, help="Compile only TrainJobs with this name.")
@options.namespace
@click.option("--config", metavar="FILE", shell_complete=options.file_names, help="Settings file for both sides.")
@click.option("--no-config", is_flag=True, help="Ignore every trainc.yaml.")
@options.FIELD_VALIDATION.decorate
@click.option(
    "--review-config",
    metavar="[REV:]FILE",
    shell_complete=options.file_names,
    help="Settings file that decides which warnings are reported.",
)
@options.ENVIRONMENTS.decorate
@options.delivery
@options.BUDGET.decorate
@click.option("--passthrough", is_flag=True, help="Also compare documents of other kinds.")
@options.FOLLOW_LINKS.decorate
@options.EXCLUDE.decorate
@options.VERBOSE.decorate
def command(  # noqa: PLR0913, PLR0917 (one argument per option)
    sides: tuple[str, ...],
    runtimes: tuple[str, ...],
    form: str,
    exit_code: bool,
    only: str | None,
    namespace: str | None,
    config: str | None,
    no_config: bool,
    field_validation: FieldValidation | None,
    review_config: str | None,
    environments: tuple[str, ...],
    name_suffix_hash: bool,
    argocd_replace: bool,
    suspend: bool,
    budget: str | None,
    passthrough: bool,
    follow_links: bool,
    exclude: tuple[str, ...],
    verbose: bool,
) -> int:
    """Compare two files, folders or git revisions. TrainJobs are compiled first; manifests are compared unchanged.

    Without an argument, the last commit is compared with the working tree. `--` separates revisions from paths.
    """
    from trainc.budget import BUDGETS, DEFAULT, within
    from trainc.delivery import Delivery
    from trainc.review import compare
    from trainc.review.arguments import of_arguments, reporting
    from trainc.review.formats import load
    from trainc.review.git_objects import RevisionError
    from trainc.review.sides import DiffOptions

    if config is not None and no_config:
        raise click.UsageError("--config and --no-config cannot be combined.")
    try:
        old, new = of_arguments(sides)
        reported = None if review_config is None else reporting(review_config, follow_links=follow_links)
        given = DiffOptions(
            runtimes,
            only,
            namespace,
            config,
            no_config,
            Delivery(name_suffix_hash, argocd_replace, suspend),
            passthrough,
            reported,
            field_validation,
            follow_links=follow_links,
            exclude=options.patterns(exclude),
            budget=DEFAULT if budget is None else BUDGETS[budget],
            environments=environments,
        )
        review = compare(old, new, given)
    except (RevisionError, ValueError) as error:
        raise click.UsageError(f"{error}.") from None
    printing.report_skipped(review.skipped, verbose=verbose)
    if review.diagnostics:
        from trainc.reports import text

        printing.report(text.render(review.diagnostics, summary="", color=printing.colored(sys.stderr)))
    if review.failed:
        return WRONG_INPUT
    text_of_review = load(form)(review, color=form == "text" and printing.colored(sys.stdout))
    printing.write(*within(given.budget, [text_of_review]))
    return DIFFERENT if exit_code and (review.objects or review.settings) else OK
