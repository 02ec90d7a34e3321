"""How a figure may be used in a browser: the same in the app and in the reports."""

from typing import Any

PLOTLY_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    # Plotly shows a "Share chart" button by default, which sends the figure to a server of its maker.
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "sendChartToCloud", "autoScale2d"],
}
"""Configuration of Plotly: nothing of a run leaves the machine."""


def plotly_config(name: str) -> dict[str, Any]:
    """Give the configuration of one figure.

    Args:
        name: File name of its download, without ending.
    """
    return PLOTLY_CONFIG | {"toImageButtonOptions": {"filename": f"radixflow-{name}", "format": "svg"}}
