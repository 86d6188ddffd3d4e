"""trainc's version, in its own file so that the build and `--version` read it without other imports."""

__version__ = "0.1.0"
IMPLEMENTS = (
    ("Kubeflow Trainer", "v2.3.0"),
    ("JobSet", "v0.12.0"),
    ("Kueue", "v0.19.2"),
    ("Kubernetes", "v1.36 and v1.37"),
)
"""The releases whose rules trainc implements; docs/versions.md lists the details."""
