"""A failure in recording must never change scheduling or outputs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def never_raises(method: Callable[..., None]) -> Callable[..., None]:
    """Decorate a listener's method: its first failure is said once, and the listener lets go for good.

    The listener needs ``is_broken`` and ``let_go(error)``.
    """

    @functools.wraps(method)
    def guarded(self: Any, *args: Any) -> None:
        if self.is_broken:
            return
        try:
            method(self, *args)
        except Exception as error:
            self.is_broken = True
            sentence = f"recording stopped in {method.__name__}: {type(error).__name__}: {error}"
            print(f"radixflow: {sentence}; the engine goes on unrecorded", file=sys.stderr, flush=True)
            self.let_go(sentence)

    return guarded
