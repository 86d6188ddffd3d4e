"""`trainc diff`: the effect of an input change on the compiled objects and in the cluster."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from trainc.cli.common import DIFFERENT, OK, WRONG_INPUT, kubectl_options, options, printing
from trainc.cli.common.arguments import Argument, Command, Option
from trainc.cli.common.click_classes import GroupedCommand

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from trainc.compilation import Run
    from trainc.review.reviewed import Review
    from trainc.review.sides import SideSpec
    from trainc.settings import Settings

EPILOG = """\b
Examples:
  trainc diff                         what an edit changes
  trainc diff main...HEAD -- jobs/    what a merge changes in jobs/
  trainc diff rendered/ jobs/         two folders
  trainc diff main..HEAD --format markdown > comment.md
  trainc diff main..HEAD --format html > review.html
  trainc diff old.yaml new.yaml --exit-code
  trainc diff --trainer-version 2.2..2.3  what an upgrade changes
  trainc diff --env staging..prod     what differs between two environments
  trainc diff --live --env prod       what a cluster has, and what git renders
"""

REVISIONS: Final = 200
"""The maximum number of revisions that are offered."""


def side_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a file or folder or, before `--`, a git revision or the second one of a range."""
    from click.shell_completion import CompletionItem

    files = [CompletionItem(incomplete, type="file")]
    if "--" in (ctx.params.get("sides") or ()):
        return files
    from trainc.review.commits import names

    dots = "..." if "..." in incomplete else ".."
    first, range, start = incomplete.rpartition(dots)
    found = (name for name in names(REVISIONS) if name.startswith(start))
    return [*files, *(CompletionItem(f"{first}{range}{name}") for name in found)]


def environment_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an environment, or the second one of `A..B`."""
    from click.shell_completion import CompletionItem

    first, dots, start = incomplete.rpartition("..")
    found = (item.value for item in options.environment_names(ctx, param, start))
    return [CompletionItem(f"{first}{dots}{name}") for name in found if name != first]


def release_range(ctx: click.Context, param: click.Parameter, given: str | None) -> tuple[str, str] | None:
    """Return two releases of `A..B`, of which the default ones may be left out; ("", A) for one release."""
    if given is None:
        return None
    from trainc.base.releases import DEFAULT_RELEASE, RELEASES, release_fault

    first, dots, last = given.partition("..")
    names = (first or DEFAULT_RELEASE.name, last or RELEASES[-1].name) if dots else ("", first)
    for name in filter(None, names) if dots else (first,):
        if fault := release_fault(name):
            raise click.BadParameter(f"{fault[0]}: {fault[1]}")
    return names


def environment_range(values: dict[str, Any], *, live: bool, is_of_kubectl: bool) -> tuple[str, str] | None:
    """Take the two environments of `--env A..B` from the options. Raise UsageError for options that contradict.

    is_of_kubectl   whether an option is given that only `--live` has
    """
    given, versions = values["environments"], values.get("trainer_version")
    ranges = {
        "--live": live,
        "--env A..B": any(".." in name for name in given),
        "--trainer-version A..B": bool(versions and versions[0]),
    }
    modes = [name for name, is_given in ranges.items() if is_given]
    if len(modes) > 1:
        raise click.UsageError(f"{modes[0]} cannot be combined with {modes[1]}: each of them decides what is compared.")
    if is_of_kubectl and not live:
        raise click.UsageError("--context and --timeout require --live.")
    if "--env A..B" not in modes:
        return None
    old, _, new = given[0].partition("..")
    if len(given) > 1 or not old or not new or new.startswith(".") or ".." in new:
        raise click.UsageError("--env A..B compares two environments: give both names, and no other --env.")
    values["environments"] = ()
    return old, new


class Separated(GroupedCommand):
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


def live_review(
    arguments: tuple[str, ...],
    context: str | None,
    timeout: int | None,
    run: Run,
    reported: Callable[[SideSpec], Settings] | None,
) -> Review:
    """Return the review of a cluster. Raise KubectlError, or ValueError for arguments that are no paths."""
    from trainc.base.texts import escape
    from trainc.pinning.kubectl import Kubectl
    from trainc.review import compare_live
    from trainc.review.cluster_side import HINTS, TIMEOUT, LiveCluster
    from trainc.review.sides.side_arguments import tree_of_paths

    cluster = LiveCluster(Kubectl(context, timeout or TIMEOUT, os.environ, HINTS))
    review = compare_live(tree_of_paths(arguments, "--live"), cluster, run, reported)
    for line in dict.fromkeys(cluster.messages):
        printing.report(f"kubectl: {escape(line)}\n")
    return review


def diff(
    sides: tuple[str, ...],
    form: str,
    exit_code: bool,
    review_config: str | None,
    live: bool,
    context: str | None,
    timeout: int | None,
    **values: Any,
) -> int:
    """Compare two files, folders or git revisions. TrainJobs are compiled first; manifests are compared unchanged.

    Without an argument, the last commit is compared with the working tree. `--` separates revisions from paths.
    """
    from trainc.base.texts import terminal
    from trainc.budget import checked_output
    from trainc.compilation.run import BUILD
    from trainc.review import compare
    from trainc.review.cluster_side import KubectlError
    from trainc.review.commits import AmbiguousWordError
    from trainc.review.commits.branch_merges import MergeConflictError
    from trainc.review.commits.git_objects import RevisionError
    from trainc.review.formats import load
    from trainc.review.sides.side_arguments import parse_sides, reporting, sides_of_environments, sides_of_releases

    is_of_kubectl = context is not None or timeout is not None
    environments = environment_range(values, live=live, is_of_kubectl=is_of_kubectl)
    versions = values.get("trainer_version")
    values["trainer_version"] = versions[1] if versions and not versions[0] else None
    run = options.run_of(values)[0]._replace(purpose=BUILD)
    try:
        reported = None if review_config is None else reporting(review_config, run)
        if live:
            review = live_review(sides, context, timeout, run, reported)
        elif environments:
            review = compare(*sides_of_environments(sides, *environments), run, reported)
        elif versions and versions[0]:
            review = compare(*sides_of_releases(sides, *versions), run, reported)
        else:
            review = compare(*parse_sides(sides), run, reported)
    except AmbiguousWordError as error:
        return printing.report_ambiguous_word(error.diagnostic)
    except (KubectlError, MergeConflictError) as error:
        printing.report_text([error.diagnostic])
        return WRONG_INPUT
    except (RevisionError, ValueError) as error:
        raise click.UsageError(f"{error}.") from None
    printing.report_skipped(review.skipped, run)
    if shown := printing.audible(review.diagnostics, run):
        printing.report_text(shown)
    if review.failed:
        return WRONG_INPUT
    width = {"width": terminal()} if form == "text" else {}
    text_of_review = load(form)(review, color=form == "text" and printing.colored(sys.stdout), **width)
    printing.write(*checked_output(run.budget, [text_of_review]))
    if review.faults:
        printing.report_text(review.faults)
        return WRONG_INPUT
    return DIFFERENT if exit_code and not review.is_empty else OK


command = Command(
    diff,
    (
        Argument("sides", metavar="[OLD NEW | REV..REV [--] [PATH]... | REV [--] [PATH]...]", complete=side_names),
        options.RUNTIMES,
        options.format_option("Output format; default: text.", options.REVIEWS),
        Option(
            ("--live",),
            "Compare what a cluster has with what the project renders: PATH... are sources; reads with kubectl.",
            is_flag=True,
        ),
        kubectl_options.CONTEXT._replace(help="With --live: context of the kubeconfig; default: the current one."),
        kubectl_options.TIMEOUT._replace(
            help="With --live: stop each kubectl after this time; default: 20.", default=None, show_default=False
        ),
        Option(("--exit-code",), "Exit 3 if anything changes.", is_flag=True),
        options.ONLY,
        options.NAMESPACE,
        options.CONFIG._replace(help="Settings file for both sides."),
        options.NO_CONFIG,
        options.TRAINER_VERSION._replace(
            help="Release of Trainer on both sides; A..B: compare one tree for two releases; A..: up to the newest.",
            metavar="VERSION|A..B",
            convert=release_range,
        ),
        options.FIELD_VALIDATION,
        *options.LEGACY,
        Option(
            ("--review-config",),
            "Settings that decide which warnings are reported: a file, or each project's own of a revision.",
            metavar="REV|[REV:]FILE",
            complete=options.file_names,
        ),
        options.ENVIRONMENTS._replace(
            help="Environment in trainc.yaml; repeatable; default: all; A..B: compare two environments of one tree.",
            metavar="ENV|A..B",
            complete=environment_names,
        ),
        *options.DELIVERY,
        options.BUDGET,
        options.PASSTHROUGH._replace(help="Also compare documents of other kinds."),
        *options.READING,
    ),
    short_help="Show the effect of a change on the objects and in the cluster.",
    epilog=EPILOG,
    click_class=Separated,
)
