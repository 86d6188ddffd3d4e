"""The reports: diagnostics as text or data. A format's key is the name of its file.

A format has `render(diagnostics, *, summary, color) -> str`; it escapes what comes from the input for its own medium.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.diagnostics import Diagnostic

FORMATS: Final = ("text", "json")


class Report(Protocol):
    """What a module in this folder offers."""

    def render(self, diagnostics: Sequence[Diagnostic], *, summary: str, color: bool) -> str:
        """The whole report; an empty string where there is nothing to say."""
        ...


def load(format: str) -> Report:
    """The report of that name."""
    return cast("Report", import_module(f"{__name__}.{format}"))
