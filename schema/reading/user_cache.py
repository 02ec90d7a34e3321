"""Where the files of a user lie that can be made again at any time."""

import os
from pathlib import Path


def user_cache(name: str) -> Path | None:
    """Return a folder of the workbench's own among the user's caches, which need not exist yet.

    Args:
        name: What is kept in it.

    Returns:
        The folder by the XDG rules, or None where the user has no place for one.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        parent = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
    except RuntimeError:  # no home
        return None
    return parent / "radixflow" / name
