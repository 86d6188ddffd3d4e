"""The back end: manifests as deterministic bytes that every parser reads alike.

Each format is a module, named after its `--format` key: `yaml`, `json`. It has `render(objects) -> str`. All formats
share the order of objects and fields: `order`.
"""
