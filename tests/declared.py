"""Every declaration of a diagnostic, by its id."""

from __future__ import annotations

from typing import Final

from trainc.base.data import declared_in
from trainc.reports.catalogue import entry

ENTRIES: Final = {id: entry(id) for id in declared_in()}
