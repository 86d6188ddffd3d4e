"""trainc's version, in its own file so that the build and `--version` read it without other imports."""

__version__ = "0.1.0"
