"""Text that others wrote, on one line of a terminal."""


def printable_line(text: str) -> str:
    """What a run says of itself may neither break the line nor steer the terminal."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
