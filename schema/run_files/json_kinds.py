"""Checks that JSON read from a disk has the declared types, so that a wrong value is named where it is read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """What a JSON value must be.

    Attributes:
        word: Name of the kind, to follow "is not".
        accepts: Whether a value is of the kind.
    """

    word: str
    accepts: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)  # JSON can spell halves


def _is_integer(value: Any, bits: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63


def _is_counts(value: Any) -> bool:
    # Counts are added up, and the sum must fit 64 bits too.
    return isinstance(value, dict) and all(
        _is_text(key) and _is_integer(number, 49) and number >= 0 for key, number in value.items()
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


TEXT = Kind("text", _is_text)
TEXTS = Kind("a list of texts", _is_texts)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
INTEGER = Kind("an integer of 32 bits", lambda value: _is_integer(value, 32))
LARGE_INTEGER = Kind("an integer of 64 bits", lambda value: _is_integer(value, 64))
NUMBER = Kind("a number", _is_number)
COUNTS = Kind("an object of counts", _is_counts)
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
ARRAY = Kind("a list", lambda value: isinstance(value, list))


def misfits(content: dict[str, Any], declared: dict[str, Kind]) -> Iterator[str]:
    """Yield ``'key' is not ...`` for every value that is not of its declared kind; a missing key is no misfit.

    Args:
        content: A JSON object.
        declared: Key to kind; ``outer.inner`` is a key of an inner object, which may be null there. A key that ends in
            ``?`` may be null.
    """
    for name, kind in declared.items():
        key = name.removesuffix("?")
        value, is_there = _find(content, key)
        if is_there and not kind.accepts(value) and not (value is None and ("." in key or key != name)):
            yield f"{key!r} is not {kind.word}"


def _find(content: Any, key: str) -> tuple[Any, bool]:
    for part in key.split("."):
        if not isinstance(content, dict) or part not in content:
            return None, False
        content = content[part]
    return content, True
