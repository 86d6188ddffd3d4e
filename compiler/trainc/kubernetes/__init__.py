"""Kubernetes' own rules, verified against recorded answers of the Kubernetes libraries.

No module here depends on TrainJobs. Three subpackages export their API in `__init__`: `documents` (reads YAML and JSON
as the API server does, and locates values in the text), `structural` (prunes, defaults and validates by schema) and
`validation` (the rules for Jobs and pods). `merge` is the strategic merge. The modules `objectmeta`, `names` and
`quantity` hold single rules; `gotypes` describes the Go types behind a manifest; `trees` edits shared manifests;
`libyaml` loads the parser without the rest of PyYAML.
"""
