"""`trainc runtimes import`: pin the runtimes of a saved answer of kubectl, or of a rendered chart."""

from __future__ import annotations

from trainc.cli.common import options
from trainc.cli.common.arguments import Argument, Command
from trainc.cli.runtimes import pinned
from trainc.cli.runtimes.entries import report

EPILOG = """\b
Examples:
  kubectl get trainingruntimes -A -o json > answer.json
  trainc runtimes import answer.json
  helm template trainer CHART --set runtimes.defaultEnabled=true > chart.yaml
  trainc runtimes import chart.yaml
"""


def import_(file: str, namespace: str | None, folder: str | None, check: bool, force: bool, follow_links: bool) -> int:
    """Write each runtime of FILE to a file in DIR, and remove the files of runtimes that are gone.

    FILE is an answer of `kubectl get -o json` or `-o yaml`, or the documents of a rendered chart.
    """
    pinned.refuse(check=check, force=force)
    folder = pinned.target(folder)
    import os

    from trainc.files import inputs
    from trainc.files.walk import fault
    from trainc.pinning import answers

    if file != inputs.STDIN and os.path.isdir(file):
        return report([fault(file, "is a folder", "use a file")])
    read = next(iter(inputs.read([file], follow_links=follow_links)))
    if not isinstance(read, inputs.File):
        return report([read])
    return pinned.write(answers.parse_file(read.data, read.path, namespace=namespace), folder, check=check, force=force)


command = Command(
    import_,
    (
        Argument("file", metavar="FILE|-", complete=options.file_names, nargs=1, required=True),
        options.NAMESPACE,
        pinned.OUTPUT,
        pinned.CHECK,
        pinned.FORCE,
        options.FOLLOW_LINKS,
    ),
    short_help="Pin the runtimes of a file.",
    epilog=EPILOG,
)
