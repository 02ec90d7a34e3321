"""A failure in recording must never change scheduling or outputs."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any


def never_raises(method: Callable[..., None]) -> Callable[..., None]:
    """Decorate a listener's method: its first failure is said once, and the listener records nothing after it.

    The listener needs ``is_broken``, which keeps every guarded method from doing anything once it is true, and
    ``let_go(sentence)``, which writes what was recorded until then and keeps the sentence in the run.
    """

    @functools.wraps(method)
    def guarded(self: Any, *args: Any) -> None:
        if self.is_broken:
            return
        try:
            method(self, *args)
        except Exception as error:
            give_up(self, method.__name__, error)

    @functools.wraps(method)
    def guarded_alone(self: Any) -> None:
        if self.is_broken:
            return
        try:
            method(self)
        except Exception as error:
            give_up(self, method.__name__, error)

    @functools.wraps(method)
    def guarded_one(self: Any, argument: Any) -> None:
        if self.is_broken:
            return
        try:
            method(self, argument)
        except Exception as error:
            give_up(self, method.__name__, error)

    # Hooks are called many times a round, and collecting arguments takes as long as what most of them do.
    if method.__code__.co_flags & inspect.CO_VARARGS:
        return guarded
    by_count: dict[int, Callable[..., None]] = {1: guarded_alone, 2: guarded_one}
    return by_count.get(method.__code__.co_argcount, guarded)


def give_up(listener: Any, where: str, error: Exception) -> None:
    """Say that a listener failed, and let it record nothing more.

    Args:
        listener: As for :func:`never_raises`.
        where: What it was doing, as a few words for the message.
        error: What went wrong.
    """
    listener.is_broken = True
    sentence = f"recording stopped in {where}: {type(error).__name__}: {error}"
    print(f"radixflow: {sentence}; the engine goes on unrecorded", file=sys.stderr, flush=True)
    listener.let_go(sentence)
