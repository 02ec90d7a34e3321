"""Files that a reader sees whole or not at all."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEMPORARY_PREFIX = ".tmp-"
"""How the name of a file begins that is still being written; readers pass over it."""


def write_atomically(path: Path, write: Callable[[Path], None], durable: bool = True) -> None:
    """Write a file under a temporary name beside ``path``, then rename it.

    Args:
        path: Final name; a file there is replaced.
        write: Writes the content to the path that it is given.
        durable: Whether content and name must survive a power cut (fsync), not only the death of the process.

    Raises:
        OSError: The folder is gone, full or not writable; nothing is left under the temporary name.
    """
    temporary = path.with_name(TEMPORARY_PREFIX + path.name)
    try:
        write(temporary)
        if durable:
            sync(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def write_json_atomically(path: Path, content: dict[str, Any], durable: bool = True) -> None:
    """Write ``content`` as indented JSON, whole or not at all; errors as in :func:`write_atomically`."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, lambda temporary: _write_text(temporary, text), durable)


def sync(path: Path) -> None:
    """Wait until a file or the names in a folder would survive a power cut.

    Raises:
        OSError: It is gone, or the disk refuses.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
