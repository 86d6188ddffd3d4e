"""Kubernetes' own rules, exact and proved against recorded answers of the real libraries.

Nothing here knows what a TrainJob is. Three rooms of several files, each with its face in `__init__`: `documents` (YAML
and JSON as the API server reads them, and where things stand in them), `structural` (schemas: prune, default,
validate), `merge` (strategic merge). Beside them `objectmeta`, `names`, `quantity`, `resources`; `gostructs` and
`gotypes` (the Go types behind a manifest); `trees`, how a shared manifest is edited; `libyaml`, how the command gets
the parser without the rest of PyYAML.
"""
