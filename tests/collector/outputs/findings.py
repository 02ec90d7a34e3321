"""What the audit says of each arm, and where it draws the line between rounding and a wrong state."""

import dataclasses
import json
from pathlib import Path

NEAR_TIE = 0.125
"""Logits: four steps of bfloat16 between 4 and 8, where the best logits of tiny-hybrid lie. Of the ways in which a
request can be computed alone, some comes within two steps of what each arm computed, the states being right; a wrong
state is a matter of logits, not of steps."""
CLEAR = 2 * NEAR_TIE
"""Logits: a lead that no two near-ties add up to."""
WRONG = 1.0
"""Logits. One way of computing a request alone moves a logit by 1/32 from another in the median, by 1/8 in one of a
hundred and, where it turns the choice of an expert, by up to 0.8 (the arm without a prefix cache, in which no state can
be anybody else's, shows it)."""


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first token in which an arm's answer to a request differs from that of stock. Gaps are in logits."""

    seed: int
    request: str
    position: int
    tokens: tuple[int, int]
    """Of stock and of the arm."""
    gap_alone: float
    """How far the worse of the two tokens is below the best one when the request is computed alone, all at once."""
    gap_in_other_ways: float
    """The same with the request, alone, prefilled in other pieces or decoded, as suits each token best."""
    gap_in_arms: float
    """Distance of the best two tokens, the greater one of the two arms."""
    shift: float
    """How far the chosen logit of either arm is from the closest one of the request computed alone."""

    @property
    def is_explained(self) -> bool:
        """Whether it is a near-tie, which the rounding of bfloat16 can turn, and the states behind it were right."""
        return max(self.gap_in_other_ways, self.shift) <= NEAR_TIE and self.gap_in_arms <= WRONG


@dataclasses.dataclass(frozen=True)
class Finding:
    """What the audit says of one arm."""

    geometry: str
    arm: str
    num_requests: int
    num_tokens: int
    differences: list[Difference]
    num_wrong_tokens: int
    """Tokens that are no good choice when the request is computed alone: their gap is above :data:`WRONG`."""
    largest_gap_alone: float
    """Largest gap of a token, computed alone on the arm's own tokens before it."""
    largest_shift: float
    """How far a chosen logit is from that of the request computed alone, at most."""
    num_clear: int
    """Requests whose first token is clear: computed alone, the best one leads by more than :data:`CLEAR`."""
    num_clear_that_differ: int
    """Of those, the ones whose first token is not that of stock."""
    evidence: dict[str, int]

    @property
    def first_tokens(self) -> list[Difference]:
        """Differences in the first token."""
        return [difference for difference in self.differences if difference.position == 0]

    @property
    def later_flips(self) -> list[Difference]:
        """Differences that begin behind the first token."""
        return [difference for difference in self.differences if difference.position > 0]

    @property
    def unexplained(self) -> list[Difference]:
        """Differences that are no near-ties, or come from other states."""
        return [difference for difference in self.differences if not difference.is_explained]


def write_findings(path: Path, findings: list[Finding]) -> None:
    """Write findings as JSON."""
    path.write_text(json.dumps([dataclasses.asdict(finding) for finding in findings]))


def read_findings(path: Path) -> list[Finding]:
    """Read what :func:`write_findings` wrote."""
    return [
        Finding(**(entry | {"differences": [Difference(**difference) for difference in entry["differences"]]}))
        for entry in json.loads(path.read_text())
    ]
