"""The syntax of templates in manifests, as regular expressions: placeholders, statements and comments."""

from __future__ import annotations

from typing import Final

BLOCK: Final = r"\{\{[^{}\n]{0,500}\}\}|\{%[^{}\n]{0,500}%\}"
"""A placeholder or a statement of Go templates and Jinja; the bound keeps the search linear."""
COMMENT: Final = r"\{\{-?\s*/\*(?:[^*{]|\{(?!\{)|\*(?!/))*\*/\s*-?\}\}"
"""A comment of Go templates, which can have several lines; without `{{` in it, the search is linear."""
