"""One meaning, one colour, visible in both themes, and never colour alone."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from radixflow.app.figures.style import palette
from radixflow.schema.tables.rounds import SLOT_CLASSES

CONFIG = tomllib.loads((Path(__file__).resolve().parents[2] / "app" / ".streamlit" / "config.toml").read_text())
GROUNDS = {theme: CONFIG["theme"][theme]["backgroundColor"] for theme in ("light", "dark")}


def channels(colour: str, ground: str) -> list[float]:
    """Red, green and blue from 0 to 1 of a colour as seen on a ground."""
    if colour.startswith("#"):
        return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue, alpha = (float(text) for text in re.findall(r"[\d.]+", colour))
    below = channels(ground, ground)
    return [alpha * each / 255 + (1 - alpha) * under for each, under in zip((red, green, blue), below, strict=True)]


def contrast(colour: str, ground: str) -> float:
    """Contrast ratio as the Web Content Accessibility Guidelines define it."""

    def luminance(values: list[float]) -> float:
        linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in values]
        return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    high, low = sorted((luminance(channels(colour, ground)), luminance(channels(ground, ground))), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_right():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#F0E442", "#FFFFFF") < 1.4  # the yellow of Okabe and Ito alone: why it needs an outline


@pytest.mark.parametrize("theme", GROUNDS)
def test_the_loudest_colours_stand_out_on_both_pages(theme):
    for colour in (palette.AVOIDABLE, palette.USED):
        assert contrast(colour, GROUNDS[theme]) >= 3
    for policy in ("radix", "stock", "radix+timer5", "radixflow", "radixflow-immediate"):
        assert contrast(palette.arm_style(policy).colour, GROUNDS[theme]) >= 2.2


def test_every_class_of_the_slot_ledger_has_a_style_in_its_order():
    classes = [name.removeprefix("rows_") for name in SLOT_CLASSES]
    assert [style for style in palette.SLOT_STYLES if style != "marked_again"] == classes


def test_no_two_classes_differ_by_colour_alone():
    looks = {(style.hatch, style.fill == style.outline, style.fill) for style in palette.SLOT_STYLES.values()}
    assert len(looks) == len(palette.SLOT_STYLES)
    hatches = [style.hatch for style in palette.SLOT_STYLES.values() if style.hatch]
    assert len(set(hatches)) == len(hatches)
    assert palette.SLOT_STYLES["avoidable"].hatch == ""
    assert palette.SLOT_STYLES["avoidable"].fill == "#D55E00"


def test_a_state_that_is_marked_again_is_never_drawn_as_one_being_written():
    assert palette.slot_style_key("dependency_wait", "marked_again") == "marked_again"
    assert palette.slot_style_key("dependency_wait", "being_written") == "dependency_wait"
    assert palette.slot_style_key("dependency_wait", None) == "dependency_wait"
    assert palette.CAUSE_STYLES["being_written"].fill != palette.CAUSE_STYLES["marked_again"].fill


def test_each_family_of_arms_keeps_its_colours():
    grey = re.compile(r"#(..)\1\1")
    assert all(
        grey.fullmatch(palette.arm_style(policy).colour) for policy in ("radix", "radix+flex", "radix+unheard-of")
    )
    assert not any(grey.fullmatch(palette.arm_style(p).colour) for p in ("radixflow", "radixflow-unheard-of"))
    assert palette.arm_style("radixflow").colour == "#0072B2"
    assert palette.arm_style("radixflow-immediate").colour == "#E69F00"


def test_neighbouring_request_groups_differ_in_shade():
    shades = [palette.group_shade(group) for group in range(12)]
    assert all(first != second for first, second in pairwise(shades))
    assert palette.group_shade(None) == palette.GROUP_SHADES[0]
