"""What rewrites the documents in files: upgrades of dialects, and migrations of legacy jobs."""
