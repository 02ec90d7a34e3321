"""From runs to one HTML file: Plotly inside, no other file, no network."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import plotly
import plotly.graph_objects as go
from markupsafe import Markup

from radixflow.app.figures.style.interaction import plotly_config
from radixflow.app.figures.style.palette import arm_style
from radixflow.app.queries import run_facts
from radixflow.app.queries.definitions import read_definitions
from radixflow.app.report.content import report_sections
from radixflow.app.sentences.run_state import run_sentence, state_warnings
from radixflow.schema.reading.connection import open_runs

_TEMPLATES = Path(__file__).parent / "templates"
_PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def html_report(paths: Sequence[Path]) -> str:
    """Write a report over runs as the text of one HTML file.

    Args:
        paths: Run directories; the first one is what the others are compared with.

    Raises:
        RadixflowError: A path is no run, or none of the runs can be read.
    """
    with open_runs(paths) as connection:
        runs = run_facts.runs(connection)
        sections = report_sections(connection, read_definitions())
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("report.html.j2").render(
        runs=[run | {"colour": arm_style(run["policy"]).colour, "says": run_sentence(run)} for run in runs.to_pylist()],
        warnings=state_warnings(runs),
        sections=sections,
        figure_json=_figure_json,
        style=_own_text("report.css"),
        script=_own_text("report.js"),
        plotly=_script_safe(_PLOTLY.read_text(encoding="utf-8")),
    )


def _figure_json(name: str, figure: go.Figure) -> Markup:
    """Write a figure as JSON that cannot end the script element in which it stands."""
    content: dict[str, Any] = json.loads(figure.to_json()) | {"config": plotly_config(name)}
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _own_text(name: str) -> Markup:
    return _script_safe((_TEMPLATES / name).read_text(encoding="utf-8"))


def _script_safe(text: str) -> Markup:
    """Take over code of our own or of Plotly; in JavaScript strings ``<\\/script`` means the same."""
    return Markup(text.replace("</script", "<\\/script"))
