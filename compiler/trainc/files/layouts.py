"""Earlier layouts of an output folder: the folder of a deleted environment, and the outputs from before environments.

Reads    the listings in the output folder and in its subfolders.
Returns  the changes that remove their outputs. The rules of `outputs` apply: only listed files with trainc's marker are
         removed, and none if the paths of the command line do not cover their sources.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.files.atomic import read_current
from trainc.files.output_listing import LISTING, is_below, parse
from trainc.files.outputs import Changes, listing_of, stale_files, uncovered_sources

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trainc.files.outputs import Output


def deleted_environments(output: Output, names: Collection[str]) -> list[str]:
    """Return the subfolders with the outputs of environments that are not in `names`."""
    if output.at is None:
        return []
    return [name for name in sorted(os.listdir(output.at)) if name not in names and _is_environment(output.at, name)]


def _is_environment(at: int, name: str) -> bool:
    """Whether a subfolder has the listing of an environment with its name."""
    data = read_current(at, f"{name}/{LISTING}")
    listing = parse(data) if isinstance(data, bytes) else None
    return listing is not None and listing.environment == name


def removal(output: Output, *, keep: Collection[str], paths: Sequence[str]) -> Changes | None:
    """Return the changes that remove all outputs of a folder, and then its listing; None without a listing.

    Args:
        output: the folder.
        keep: outputs that another folder has now: in the new layout, a folder may be an environment or a namespace.
        paths: the PATHs of the command line.
    """
    if read_current(output.at, LISTING) is None:
        return None
    listing, ignored = listing_of(output)
    listed = dict.fromkeys(path for path in listing.outputs if isinstance(path, str) and is_below(path))
    others = [path for path in listed if path not in keep]
    stale, kept = stale_files(output, others)
    if missing := uncovered_sources(output.folder, listing, others, paths):
        return Changes(kept=tuple(stale), missing=tuple(missing), diagnostics=tuple(ignored))
    done = (*stale, LISTING) if not (ignored or kept) else tuple(stale)
    folders = frozenset(path.rpartition("/")[0] for path in ("", *others))
    return Changes(remove=done, folders=folders, diagnostics=(*ignored, *kept))
