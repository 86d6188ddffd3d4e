"""Kubernetes' own rules, exact and proved against recorded answers of the real libraries.

Nothing here knows what a TrainJob is: YAML as the API server reads it (`documents`), strategic merge (`merge`),
the Go types behind a manifest (`gotypes`), quantities (`quantity`), names (`names`), structural schemas (`structural`).
"""
