"""The options of the commands that start kubectl. They import click, as no command of the hot path does."""

from __future__ import annotations

from typing import Final

import click

from trainc.cli.common.arguments import Option

CONTEXT: Final = Option(("--context",), "Context of the kubeconfig; the default is the current one.", metavar="NAME")
TIMEOUT: Final = Option(
    ("--timeout",),
    "Stop kubectl after this time.",
    metavar="SECONDS",
    type=click.IntRange(1, 3600),
    default=60,
    show_default=True,
)
