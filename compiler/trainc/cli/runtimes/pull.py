"""`trainc runtimes pull`: pin the runtimes of a cluster, which the user's own kubectl reads."""

from __future__ import annotations

import os
from contextlib import suppress

from trainc.cli.common import kubectl_options, printing
from trainc.cli.common.arguments import Command
from trainc.cli.runtimes import pinned
from trainc.cli.runtimes.entries import report

EPILOG = """\b
Examples:
  trainc runtimes pull                            write those of the cluster
  trainc runtimes pull --context prod -o platform/runtimes
  trainc runtimes pull --check                    exit 3 if they have changed
"""


def pull(context: str | None, folder: str | None, timeout: int, check: bool, force: bool) -> int:
    """Write each runtime of the cluster to a file in DIR, and remove the files of runtimes that are gone.

    The files have no fields of the server. trainc runs `kubectl get clustertrainingruntimes,trainingruntimes -A`
    with the kubectl on the PATH and its configuration.
    """
    pinned.refuse(check=check, force=force)
    folder = pinned.target(folder)
    from trainc.base.texts import escape
    from trainc.pinning import answers, kubectl

    program = kubectl.Kubectl(context, timeout, os.environ)
    arguments = (kubectl.RUNTIMES, "-A", "-o", "json")
    answer = program.get(*arguments)
    if isinstance(answer, kubectl.KubectlFault):
        return report([answer.diagnostic])
    for line in answer.messages:
        printing.report(f"kubectl: {escape(line)}\n")
    found = answers.parse_answer(answer.data, kubectl.SHOWN)
    if found is None:
        return report([kubectl.not_a_list(answer.data, *arguments)])
    if tag := program.controller_tag():
        _compare_release(tag, check=check)
    return pinned.write(found, folder, check=check, force=force, tag=tag)


def _compare_release(tag: str, *, check: bool) -> None:
    """Compare the release of the cluster with trainerVersion, or set it in a trainc.yaml that has none."""
    from trainc.base.releases import RELEASES
    from trainc.settings import load

    release = next((each for each in RELEASES if each.has_tag(tag)), None)
    if release is None:
        printing.report(f"the cluster runs Trainer {tag}, for which trainc does not compile\n")
        return
    settings = load((".",))
    if settings.release == release:
        return
    is_set = any("trainerVersion" in each.document.text for each in settings.settings_files)
    if settings.file and not is_set and not check:
        with suppress(OSError):  # the user must set it
            _set_release(settings.file, release.name)
            return
    printing.report(f'the cluster runs Trainer {tag}: set trainerVersion: "{release.name}" in trainc.yaml\n')


def _set_release(file: str, name: str) -> None:
    """Add trainerVersion to a settings file that does not have it, after the comments at its start."""
    from trainc.base.texts import escape
    from trainc.files.atomic import replace_file

    with open(file, encoding="utf-8") as opened:
        lines = opened.read().splitlines(keepends=True)
    at = next((index for index, line in enumerate(lines) if line.strip() and line[0] not in "#-%"), len(lines))
    lines.insert(at, f'trainerVersion: "{name}"\n')
    replace_file(file, "".join(lines).encode())
    printing.report(f'{escape(os.path.relpath(file))}: trainerVersion: "{name}"\n')


command = Command(
    pull,
    (
        kubectl_options.CONTEXT,
        pinned.OUTPUT,
        kubectl_options.TIMEOUT,
        pinned.CHECK,
        pinned.FORCE,
    ),
    short_help="Pin the runtimes of a cluster.",
    epilog=EPILOG,
)
