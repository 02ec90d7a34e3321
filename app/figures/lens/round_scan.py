"""The scan of one round in its order: what each request took of the token budget, or why it was refused."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import (
    DEPENDENCY_WAIT,
    GUIDE,
    HELD,
    MARKED_AGAIN,
    OTHER,
    SLOT_STYLES,
    TOKEN_LIMITED,
    group_shade,
    slot_marker,
    slot_style_key,
)
from radixflow.app.sentences.reasons import reason_words, refusal_words

MAX_LOOKS = 80
"""Most requests that one figure shows."""
_REFUSALS = {
    "dependency_wait": (DEPENDENCY_WAIT, "diamond"),
    "marked_again": (MARKED_AGAIN, "x"),
    "held": (HELD, "square"),
    "token_limited": (TOKEN_LIMITED, "triangle-left"),
    "other": (OTHER, "cross"),
}
"""Style of a refusal to the colour and symbol of its mark."""
_SMALL = 0.15
"""If less than this share of the token budget was used, the axis ends soon after it, so that bars can be seen."""


def round_scan(rounds: pa.Table, scan: pa.Table) -> go.Figure:
    """Draw one line a request, from the first that the round came to down to the last that the probe looked at.

    Bars add up along the token budget: blue what was scheduled, vermilion what READY requests behind the stop would
    have taken. A mark stands where a request was refused.

    Args:
        rounds: The row of ``queries.round_lens.one_round``.
        scan: Rows of ``queries.round_lens.scan``.
    """
    looks = _placed(scan.to_pylist()[:MAX_LOOKS])
    if rounds.num_rows == 0 or not looks:
        return layout.empty_figure("This round considered no request.", 160)
    (row,) = rounds.to_pylist()
    last = looks[-1]["place"]
    figure = layout.new_figure(118 + 21 * (last + 1), bargap=0.25, margin={"l": 16, "r": 16, "t": 48, "b": 48})
    for style in SLOT_STYLES:
        own = [look for look in looks if _style(look) == style]
        if own:
            figure.add_trace(_bars(style, own) if style in ("used", "avoidable") else _refusals(style, own))
    end = _axis_end(row, looks)
    figure.add_trace(_words(looks, end))
    _add_budget(figure, row, end)
    _add_stop(figure, row, looks)
    figure.update_xaxes(title_text="Tokens of the budget, taken in this order (tokens)", range=[0, end])
    figure.update_yaxes(
        range=[last + 0.6, -0.6],
        tickvals=[look["place"] for look in looks],
        ticktext=[_name(look) for look in looks],
        automargin=True,
        showgrid=False,
        ticksuffix="  ",
    )
    return figure


def _placed(looks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each look its line; one is left free for the stop where the probe went on behind it."""
    num_native = sum(look["witness"] == "native" for look in looks)
    gap = 1 if num_native else 0
    return [
        look | {"place": place + (gap if look["witness"] == "probe" else 0), "num_native": num_native}
        for place, look in enumerate(looks)
    ]


def _style(look: dict[str, Any]) -> str:
    return slot_style_key(look["slot_class"], look["cause"])


def _name(look: dict[str, Any]) -> str:
    place = "running" if look["visit"] is None else f"look {look['visit'] + 1}"
    return f"{layout.plain(look['request_id'] or 'a request')}  <i>{place}</i>"


def _end_of(look: dict[str, Any]) -> int:
    return int(look["tokens_before"] + (look["num_tokens"] or 0))


def _axis_end(row: dict[str, Any], looks: list[dict[str, Any]]) -> float:
    taken, budget = max(_end_of(look) for look in looks), row["token_budget"] or 1
    return 1.04 * budget if taken >= _SMALL * budget else max(2.5 * taken, 1)


def _bars(style: str, looks: list[dict[str, Any]]) -> go.Bar:
    look = SLOT_STYLES[style]
    shades = [group_shade(each["request_group"]) if style == "used" else look.fill for each in looks]
    return go.Bar(
        orientation="h",
        y=[each["place"] for each in looks],
        x=[each["num_tokens"] for each in looks],
        base=[each["tokens_before"] for each in looks],
        name="Selected" if style == "used" else "READY behind the stop",
        hovertext=[_hover(each) for each in looks],
        hoverinfo="text",
        customdata=[each["request_id"] for each in looks],
        marker=slot_marker(look) | {"color": shades},
    )


def _refusals(style: str, looks: list[dict[str, Any]]) -> go.Scatter:
    colour, symbol = _REFUSALS[style]
    return go.Scatter(
        x=[each["tokens_before"] for each in looks],
        y=[each["place"] for each in looks],
        mode="markers",
        name=SLOT_STYLES[style].label,
        marker={
            "symbol": [symbol if each["witness"] == "native" else f"{symbol}-open" for each in looks],
            "color": colour,
            "size": 10,
            "line": {"width": 1.5, "color": [GUIDE if each["witness"] == "native" else colour for each in looks]},
        },
        cliponaxis=False,
        hovertext=[_hover(each) for each in looks],
        hoverinfo="text",
        customdata=[each["request_id"] for each in looks],
    )


def _words(looks: list[dict[str, Any]], end: float) -> go.Scatter:
    """Write beside each mark what happened: to the right, or to the left where there is no more room."""
    left = [_end_of(look) > 0.55 * end and look["tokens_before"] > 0.35 * end for look in looks]
    return go.Scatter(
        x=[look["tokens_before"] if before else _end_of(look) for look, before in zip(looks, left, strict=True)],
        y=[look["place"] for look in looks],
        mode="text",
        text=[f"   {layout.plain(_outcome(look))}   " for look in looks],
        textposition=["middle left" if before else "middle right" for before in left],
        textfont={"size": 12},
        hoverinfo="skip",
        showlegend=False,
    )


def _outcome(look: dict[str, Any]) -> str:
    if look["outcome"] != "selected":
        return refusal_words(look)
    reused = f", after {units.number(look['num_reused_tokens'])} reused" if look["num_reused_tokens"] else ""
    return f"{units.counted(look['num_tokens'], 'token')}{reused}"


def _hover(look: dict[str, Any]) -> str:
    who = "found by the probe" if look["witness"] == "probe" else look["kind"] or "refused by the scan"
    lines = [f"<b>{layout.plain(look['request_id'] or 'a request')}</b>", layout.plain(who)]
    if look["request_group"] is not None:
        lines.append(f"request group {look['request_group']}")
    lines.append(layout.plain(_outcome(look)))
    if look["matched_tokens"] is not None:
        ready = units.number(look["ready_tokens"])
        lines.append(f"{units.counted(look['matched_tokens'], 'token')} matched, {ready} ready")
    lines.append(f"{units.counted(look['tokens_before'], 'token')} of the budget taken before it")
    return "<br>".join(lines)


def _add_budget(figure: go.Figure, row: dict[str, Any], end: float) -> None:
    budget = row["token_budget"] or 0
    if budget <= end:
        figure.add_vline(x=budget, line={"color": GUIDE, "width": 1, "dash": "dash"})
    figure.add_annotation(
        text=f"budget {units.number(budget)} tokens" + ("" if budget <= end else ", far to the right"),
        xref="x" if budget <= end else "paper",
        x=budget if budget <= end else 1,
        yref="paper",
        y=1,
        xanchor="right",
        yanchor="bottom",
        showarrow=False,
        font={"size": 11, "color": GUIDE},
    )


def _add_stop(figure: go.Figure, row: dict[str, Any], looks: list[dict[str, Any]]) -> None:
    """Draw the line below which nothing happened: only the probe looked there."""
    num_native = looks[0]["num_native"]
    if num_native == len(looks) or not num_native:
        return
    figure.add_hline(y=num_native - 0.5, line={"color": GUIDE, "width": 2})
    figure.add_annotation(
        text=f"<b>the scan stopped here:</b> {layout.plain(reason_words(row['stop_reason']))}; below is what it missed",
        xref="paper",
        x=0,
        xanchor="left",
        xshift=6,
        y=num_native,
        yanchor="middle",
        showarrow=False,
        font={"size": 12, "color": GUIDE},
    )
