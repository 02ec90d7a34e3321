"""Text that comes from a run is data: it is escaped before it meets Markdown."""

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&=^])")


def plain_markdown(text: object) -> str:
    """Escape a text so that Markdown shows it as it is: no formatting, link, image, formula, icon or HTML."""
    return _SPECIAL.sub(r"\\\1", str(text).replace("\n", " "))
