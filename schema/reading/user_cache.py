"""Where the files of a user lie that can be made again at any time."""

from pathlib import Path

import platformdirs


def user_cache(name: str) -> Path | None:
    """Return a folder of the workbench's own among the user's caches, which need not exist yet.

    Args:
        name: What is kept in it.

    Returns:
        The folder by the rules of the platform, or None where the user has no place for one.
    """
    try:
        return platformdirs.user_cache_path("radixflow") / name
    except RuntimeError:  # no home
        return None
