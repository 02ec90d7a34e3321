"""The pages of the app as ``app/main.py`` lists them, so that a new page is tested without being named again."""

import ast
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MAIN = ROOT / "app" / "main.py"
_HEADINGS = {"timeline": "Execution-bubble timeline"}
"""Pages whose heading is not their name in the list."""


class ListedPage(NamedTuple):
    """One page: its name in the list, and its heading."""

    link: str
    heading: str


def listed_pages() -> dict[str, ListedPage]:
    """Read the page list: name of the file without ending, in the order of the list, to link and heading."""
    pages = {}
    for node in ast.walk(ast.parse(MAIN.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.Page":
            name = Path(ast.literal_eval(node.args[0])).stem
            (link,) = (ast.literal_eval(each.value) for each in node.keywords if each.arg == "title")
            pages[name] = ListedPage(link, _HEADINGS.get(name, link))
    return pages
