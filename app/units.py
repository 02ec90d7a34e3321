"""How numbers are written for a person: units, three significant digits, and a word for what was not measured."""

import math

NOT_MEASURED = "not measured"
"""Written where a value is NULL. An undefined value is never shown as 0."""

_DURATION_UNITS = (("s", 1e3), ("ms", 1.0), ("µs", 1e-3), ("ns", 1e-6))


def number(value: float | None) -> str:
    """Write a plain number: whole numbers in full, others with three significant digits."""
    if value is None or math.isnan(value):
        return NOT_MEASURED
    if float(value).is_integer():
        return f"{int(value):,}".replace("-", "−")
    return _three_digits(float(value))


def duration(milliseconds: float | None) -> str:
    """Write a duration given in ms, in ns, µs, ms or s by its size."""
    if milliseconds is None or math.isnan(milliseconds):
        return NOT_MEASURED
    if milliseconds == 0:
        return "0 ms"
    for unit, size in _DURATION_UNITS:
        scaled = milliseconds / size
        # 999.6 ms would be written "1,000 ms": compare what is written, not what is stored.
        if float(f"{abs(scaled):.3g}") >= 1 or unit == "ns":
            return f"{_three_digits(scaled)} {unit}"
    raise AssertionError("the last unit takes everything")


def fraction(value: float | None) -> str:
    """Write a share 0..1 as a percentage."""
    if value is None or math.isnan(value):
        return NOT_MEASURED
    return f"{_three_digits(100 * value)} %" if value not in (0, 1) else f"{100 * value + 0:.0f} %"


def signed(text: str) -> str:
    """Put a plus before a written positive number, so that a difference shows its direction."""
    return text if text == NOT_MEASURED or text.startswith(("−", "0 ")) or text == "0" else f"+{text}"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Write a count with its noun: ``1 round``, ``1,200 rounds``, ``no rounds``."""
    noun = singular if count == 1 else (plural or f"{singular}s")
    return f"{'no' if count == 0 else number(count)} {noun}"


def _three_digits(value: float) -> str:
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    rounded = round(value, 2 - math.floor(math.log10(abs(value))))
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}".replace("-", "−")
