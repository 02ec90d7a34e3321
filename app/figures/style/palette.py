"""One meaning, one colour (Okabe-Ito), the same in the app, the reports and the exports.

Every colour is readable on a white and on a near-black page, and no meaning hangs on colour alone: each class of unused
row also has its own hatch on a paler ground, except the avoidable bubble, which is solid and full, so that it is the
loudest thing on a page.
"""

from typing import Any, NamedTuple

from radixflow.app.arms import is_state_ready


class SlotStyle(NamedTuple):
    """How one class of row slot is drawn.

    Attributes:
        label: Name in legends.
        fill: Fill colour.
        outline: Colour of the outline and of the hatch.
        hatch: Plotly pattern shape; empty for solid.
    """

    label: str
    fill: str
    outline: str
    hatch: str


AVOIDABLE = "#D55E00"
DEPENDENCY_WAIT = "#F0E442"
MARKED_AGAIN = "#CC79A7"
HELD = "#009E73"
TOKEN_LIMITED = "#9A9A9A"
OTHER = "#5C5C5C"
USED = "#0072B2"
GUIDE = "#8A8A8A"
"""Colour of capacity and budget lines and of other lines that are not data."""
SELECTION = "#D81B9A"
"""Outline of what a person has selected; no meaning of a slot has this colour."""

GROUP_SHADES = ("#0072B2", "#7CC4EE", "#2C93CF", "#A9D8F4", "#005B8F", "#56B4E9")
"""Shades of used rows; neighbouring request groups differ strongly in lightness."""

SLOT_STYLES: dict[str, SlotStyle] = {
    "used": SlotStyle("Used row", USED, USED, ""),
    "avoidable": SlotStyle("Avoidable bubble", AVOIDABLE, AVOIDABLE, ""),
    "dependency_wait": SlotStyle("Waiting on a producer", "rgba(240,228,66,0.6)", "#CDBB00", "/"),
    "marked_again": SlotStyle("State marked again", "rgba(204,121,167,0.5)", "#C9699F", "x"),
    "held": SlotStyle("Held by admission", "rgba(0,158,115,0.5)", HELD, "."),
    "token_limited": SlotStyle("Token limited", "rgba(154,154,154,0.35)", TOKEN_LIMITED, "\\"),
    "other": SlotStyle("Other stop", "rgba(92,92,92,0.75)", "#8A8A8A", "|"),
    "no_work": SlotStyle("No work", "rgba(0,0,0,0)", "rgba(138,138,138,0.6)", ""),
}
"""Slot class to its style, in the order of the slot ledger. ``no_work`` is never drawn: empty means empty."""

STALL = SlotStyle("Stall: steps without work", "rgba(132,94,194,0.30)", "#845EC2", "+")
"""A stretch of time in which steps scheduled nothing while work waited; no slot of a round has this colour or hatch."""


def slot_marker(look: SlotStyle) -> dict[str, Any]:
    """Give the Plotly marker of a bar in one class: its fill, and for a hatched class outline and hatch."""
    marker: dict[str, Any] = {
        "color": look.fill,
        "line": {"width": 0 if look.fill == look.outline else 1, "color": look.outline},
    }
    if look.hatch:
        marker["pattern"] = {
            "shape": look.hatch,
            "fgcolor": look.outline,
            "size": 7,
            "solidity": 0.2,
            "fillmode": "overlay",
        }
    return marker


CAUSE_STYLES: dict[str, SlotStyle] = {
    "being_written": SLOT_STYLES["dependency_wait"]._replace(label="State being written"),
    "marked_again": SLOT_STYLES["marked_again"],
}
"""Cause of a BLOCKED visit to its style."""

PHASE_STYLES: dict[str, SlotStyle] = {
    "sending": SlotStyle("On the way to the scheduler", "rgba(0,0,0,0)", "#8A8A8A", ""),
    "waiting": SlotStyle("Waiting", "rgba(138,138,138,0.35)", "#8A8A8A", "/"),
    "executing": SlotStyle("First selection to completion", USED, USED, ""),
}
"""Part of a latency to its style."""

COST_STYLES: dict[str, SlotStyle] = {
    "saves": SlotStyle("Saves", "#56B4E9", "#56B4E9", ""),
    "costs": SlotStyle("Costs", "rgba(138,138,138,0.45)", "#8A8A8A", "/"),
}
"""Direction of a step from one cost to another to its style."""

TOKEN_STYLES: dict[str, SlotStyle] = {
    "reused": SlotStyle("Reused from the cache", "rgba(86,180,233,0.55)", "#56B4E9", "-"),
    "computed": SlotStyle("Computed", USED, USED, ""),
    "unexplained": SlotStyle("Unexplained", "rgba(92,92,92,0.75)", "#8A8A8A", "|"),
    "repeated": SlotStyle("Computed again after a preemption", "rgba(138,138,138,0.35)", "#8A8A8A", "x"),
    "output": SlotStyle("Output", "#A9D8F4", USED, ""),
}
"""Part of the token ledger to its style, in the order of the ledger."""

REPEAT_STYLES: dict[str, SlotStyle] = {
    "preemption": TOKEN_STYLES["repeated"]._replace(label="Again after a preemption"),
    "side_by_side": SlotStyle("Two requests in one round", "rgba(138,138,138,0.35)", "#8A8A8A", "/"),
    "computed_before": SlotStyle("Computed in an earlier round", "rgba(138,138,138,0.75)", "#8A8A8A", "."),
}
"""Cause of a repeated interval to its style."""


CLOCK_STYLES: dict[str, SlotStyle] = {
    "host": SlotStyle("Host clock", "rgba(138,138,138,0.55)", "#8A8A8A", ""),
    "device": SlotStyle("Device clock (CUDA events)", "rgba(86,180,233,0.6)", "#56B4E9", "/"),
}
"""Clock of a span to its style."""


class ArmStyle(NamedTuple):
    """How one arm is drawn everywhere: colour, line dash and marker."""

    colour: str
    dash: str
    symbol: str


_ARMS: dict[str, ArmStyle] = {
    "radix": ArmStyle("#7A7A7A", "solid", "circle"),
    "stock": ArmStyle("#A0A0A0", "dot", "circle-open"),
    "radix+flex": ArmStyle("#7A7A7A", "dash", "square"),
    "radix+timer5": ArmStyle("#9A9A9A", "dashdot", "diamond"),
    "radix+timer10": ArmStyle("#9A9A9A", "longdash", "diamond-open"),
    "radix+precise": ArmStyle("#8C8C8C", "longdashdot", "square-open"),
    "radixflow": ArmStyle("#0072B2", "solid", "circle"),
    "radixflow-immediate": ArmStyle("#E69F00", "solid", "circle"),
    "radixflow+frag": ArmStyle("#56B4E9", "dash", "square"),
    "radixflow+precise": ArmStyle("#C98A00", "dash", "square-open"),
}


def arm_style(policy: str) -> ArmStyle:
    """Colour of an arm: greys for the prefix-stop family, orange and blue for the state-ready family."""
    if policy in _ARMS:
        return _ARMS[policy]
    return ArmStyle("#56B4E9", "dot", "x") if is_state_ready(policy) else ArmStyle("#9A9A9A", "dot", "x")


def group_shade(request_group: int | None) -> str:
    """Shade of blue of a request group; the first shade where the group is unknown."""
    return GROUP_SHADES[(request_group or 0) % len(GROUP_SHADES)]


def slot_style_key(slot_class: str, cause: str | None) -> str:
    """Key into ``SLOT_STYLES`` of one cell: a wait on a state that was only marked again has a style of its own."""
    return "marked_again" if slot_class == "dependency_wait" and cause == "marked_again" else slot_class
