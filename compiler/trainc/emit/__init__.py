"""The back end: manifests as bytes that are the same everywhere, and that every reader understands alike.

A format is a file here, and its name is the key of `--format`: `yaml`, `json`. Each has `render(objects) -> str`.
In which order objects and fields stand is the same for all of them: `order`.
"""
