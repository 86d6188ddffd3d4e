"""The foundation that every package may import: records, diagnostic ids, paths of packaged data, and plain texts."""
