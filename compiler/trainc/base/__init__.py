"""The foundation that every package may import: records, diagnostic ids, paths of packaged data, and plain texts.

**A dialect of TrainJob**, if a release renames, moves or removes a field, or changes its type. Copy from
`golden/dialect-v2.1`.
1. Write a `Dialect` in `base/trainjob_dialects.py`: the path that each field has in `TrainJobForm`, the fields that
   it lacks, and the fields of runtimes that have another name. Hints, messages, `upgrade` and `migrate` take the
   names from it. Generate its schemas (`scripts/make_schemas.py`).
2. Add rows to `tests/unit/test_dialects.py` and `docs/dialects.md`, and a golden case with
   `golden/dialect-<key>/upgraded.yaml`, which `make golden` writes.

**A release** of Trainer, with the JobSet that it pins. Copy from `V2_3` in `base/releases.py`.
1. Read the release notes and the difference of the code to the release before. Run the release's own code on the
   inputs of `tests/conformance/data/targets`, and copy the recorded answers to
   `tests/conformance/data/targets/<tag>`.
2. Add the schemas of its CRDs to `RELEASES` in `scripts/make_schemas.py` and generate them. Write a sentence for each
   new field in `schemas/descriptions.json`, in your own words. Generate its runtimes (`scripts/make_runtimes.py`).
   `scripts/compare_models.py` lists the fields that differ between two releases'
   models on PyPI. If a release renames, moves or removes a field, follow the recipe for a dialect.
3. Write a literal in `base/releases.py`, and add it to `RELEASES`. For a difference that no field names, add a
   field to `TrainerRelease` and ask for it where the behavior is implemented, never for the release. For a rule of
   the CRDs, see the recipe above. For a release whose code is not published, set `read_in` and `announced`.
4. Describe each new value in `schemas/behaviours.json`, at the release. Add a case to `RECORDED` or `OWN` in
   `tests/unit/test_releases.py`: a test changes each behavior and expects that the case fails.
5. Add a row to `docs/versions.md`, the tag to `scripts/upstream.json`, and golden cases `release-<release>-<case>`.
   `scripts/make_releases.py` writes the tables of `docs/releases.md`. The workflow `upstream.yaml` reports new
   tags.
"""
