"""The version of trainc, alone in a file so that `--version` and the build read it without importing more."""

from typing import Final

__version__: Final = "0.1.0"
