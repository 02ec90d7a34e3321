"""Summaries of whole runs on the disk: what a view answered for one run, or one pair, so that it is computed once.

A folder of the user, never one of a run: runs may be read-only, and are what was recorded. An entry is a Parquet file,
named by the content that it was computed from. Nothing here may fail: without the folder, everything is computed anew.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from radixflow.schema.reading.user_cache import user_cache
from radixflow.schema.run_files.atomic_files import TEMPORARY_PREFIX

MOST_KEYS = 500
"""How many runs and pairs of runs have kept summaries; beyond it the oldest entries are removed."""
MOST_ROWS = 100_000
"""Most rows of an answer that is kept; a longer one is computed anew each time."""
_KEY = b"radixflow summary"


def cache_folder() -> Path | None:
    """Return the folder of the summaries, or None where there is no place for one."""
    return user_cache("summaries")


def read_summary(key: str, view: str) -> pa.Table | None:
    """Return the kept rows of a view for the given content, or None if none are kept or their file is damaged.

    Args:
        key: Digest of the content of the run or the pair, and of the views.
        view: Name of the view.
    """
    folder = cache_folder()
    if folder is None:
        return None
    try:
        table = pq.read_table(folder / key / f"{view}.parquet", page_checksum_verification=True)
    except (OSError, ValueError, pa.ArrowException):
        return None
    return table if (table.schema.metadata or {}).get(_KEY) == _name(key, view) else None


def write_summary(key: str, view: str, table: pa.Table) -> None:
    """Keep the rows of a view for the given content. Never raises: if the file cannot be written, nothing is kept."""
    folder = cache_folder()
    if folder is None or table.num_rows > MOST_ROWS:
        return
    with suppress(OSError, pa.ArrowException):
        if not (folder / key).exists():
            _forget_oldest(folder)
            (folder / key).mkdir(parents=True, exist_ok=True)
        _write(folder / key / f"{view}.parquet", table.replace_schema_metadata({_KEY: _name(key, view)}))


def _write(path: Path, table: pa.Table) -> None:
    """Write under a name of our own, since others may write the same entry now, then rename."""
    number, temporary = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=path.parent)
    os.close(number)
    try:
        pq.write_table(table, temporary, write_page_checksum=True)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _forget_oldest(folder: Path) -> None:
    keys = sorted((entry for entry in folder.glob("*/")), key=lambda entry: entry.stat().st_mtime)
    for key in keys[: max(0, len(keys) - MOST_KEYS + 1)]:
        shutil.rmtree(key, ignore_errors=True)


def _name(key: str, view: str) -> bytes:
    return f"{view} of {key}".encode()
