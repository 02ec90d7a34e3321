"""Text that others wrote, on one line of a terminal."""


def printable_line(text: str) -> str:
    """Return text from a run with line breaks and control characters replaced, safe to print on one line."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
