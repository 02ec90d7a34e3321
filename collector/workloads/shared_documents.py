"""Questions on shared documents with several candidate answers each: the traffic that prefix caches live from.

A question is one request group. Each of its branches is *document + question + one candidate*, so the branches share
all but their last few tokens, and questions on one document share the document. Each branch asks for one output token
by default, as in candidate scoring. Long and short documents are mixed: the long ones hold several thousand tokens,
the short ones often less than one cache block, so that there is work with and without anything to wait for.
"""

import random
from dataclasses import asdict, dataclass

from radixflow.collector.workloads.arrivals import poisson_offsets_ns
from radixflow.collector.workloads.offered_request import OfferedRequest, Stream
from radixflow.schema.errors import RadixflowError

NAME = "shared-documents"
REGIMES = ("cold", "mixed", "reuse")
INPUT_ORDERS = ("shuffled", "grouped")
MAXIMUM_REQUESTS = 100_000
"""Most requests of a stream. The client makes the whole stream before it sends any of it, so it must fit its memory."""
MAXIMUM_DOCUMENT_TOKENS = 1_000_000
LOWEST_RATE = 0.001
"""Lowest rate, in questions a second; anything lower would be a mistake, with hours between arrivals."""
FIRST_TOKEN_ID = 2  # 0 and 1 are the unknown and the end token of the shipped tokenizer


@dataclass(frozen=True, slots=True)
class SharedDocuments:
    """What to generate. Equal parameters give equal streams on every machine."""

    num_groups: int = 30
    """Questions."""
    num_branches: int = 4
    """Candidate answers a question."""
    regime: str = "mixed"
    """How many questions share a document: one (cold), one to four (mixed) or four (reuse)."""
    input_order: str = "shuffled"
    """Whether questions on one document follow each other (grouped) or are spread over the stream (shuffled)."""
    rate: float = 8.0
    """Mean arrivals of questions a second; 0 or infinity offers everything at once."""
    seed: int = 0
    """Seed of everything random."""
    max_output_tokens: int = 1
    """Output tokens a branch."""
    long_fraction: float = 0.4
    """Share of long documents."""
    short_document_tokens: int = 250
    """Median length of a short document."""
    long_document_tokens: int = 4000
    """Median length of a long document."""
    longest_document_tokens: int = 9000
    """No document is longer."""
    vocabulary_size: int = 512
    """Token ids are drawn below this number."""

    def __post_init__(self) -> None:
        _require(self.num_groups >= 1, "--num-groups must be at least 1.")
        _require(self.num_branches >= 1, "--branches must be at least 1.")
        _require(
            self.num_groups * self.num_branches <= MAXIMUM_REQUESTS,
            f"--num-groups times --branches must be at most {MAXIMUM_REQUESTS:,} requests.",
        )
        _require(
            self.rate == 0 or self.rate >= LOWEST_RATE,  # also refuses nan
            f"--rate must be 0, inf or at least {LOWEST_RATE:g} a second.",
        )
        _require(-(2**63) <= self.seed < 2**63, "--seed must be an integer of 64 bits.")
        _require(1 <= self.max_output_tokens < 2**31, "--max-output-tokens must be at least 1 and below 2^31.")
        _require(0 <= self.long_fraction <= 1, "--long-fraction must lie between 0 and 1.")
        lengths = (self.short_document_tokens, self.long_document_tokens, self.longest_document_tokens)
        _require(min(lengths) >= 1, "Document lengths must be at least 1 token.")
        _require(
            max(lengths) <= MAXIMUM_DOCUMENT_TOKENS, f"Document lengths are {MAXIMUM_DOCUMENT_TOKENS:,} tokens at most."
        )
        _require(
            FIRST_TOKEN_ID < self.vocabulary_size < 2**31,
            f"--vocabulary-size must be above {FIRST_TOKEN_ID} and below 2^31.",
        )
        _require(self.regime in REGIMES, f"--regime must be one of {', '.join(REGIMES)}.")
        _require(self.input_order in INPUT_ORDERS, f"--input-order must be one of {', '.join(INPUT_ORDERS)}.")


@dataclass(frozen=True, slots=True)
class _Question:
    """The part that all branches of a question share, and what tells them apart."""

    stem: tuple[int, ...]
    candidates: tuple[tuple[int, ...], ...]


def generate(parameters: SharedDocuments) -> Stream:
    """Make the stream that ``parameters`` describe."""
    # Contents, order and arrivals have a source of randomness each: changing the rate or the order keeps the questions.
    content, order, arrival = (random.Random(f"{parameters.seed}/{part}") for part in ("content", "order", "arrival"))
    questions = _questions(parameters, content)
    if parameters.input_order == "shuffled":
        order.shuffle(questions)
    offsets = poisson_offsets_ns(len(questions), parameters.rate, arrival)
    requests = tuple(
        OfferedRequest(
            request_id=f"q{group:05d}-b{branch}", request_group=group, branch=branch, dataset=NAME,
            regime=parameters.regime, input_order=parameters.input_order,
            prompt_token_ids=question.stem + candidate, max_output_tokens=parameters.max_output_tokens,
            offset_ns=offset_ns,
        )
        for group, (question, offset_ns) in enumerate(zip(questions, offsets, strict=True))
        for branch, candidate in enumerate(question.candidates)
    )  # fmt: skip
    return Stream(NAME, requests, _described(parameters))


def _questions(parameters: SharedDocuments, rng: random.Random) -> list[_Question]:
    questions: list[_Question] = []
    while len(questions) < parameters.num_groups:
        document = _tokens(_document_length(parameters, rng), parameters, rng)
        for _ in range(_questions_on_one_document(parameters.regime, rng)):
            stem = document + _tokens(rng.randint(16, 48), parameters, rng)
            candidates = tuple(_tokens(rng.randint(4, 24), parameters, rng) for _ in range(parameters.num_branches))
            questions.append(_Question(stem, candidates))
    return questions[: parameters.num_groups]


def _questions_on_one_document(regime: str, rng: random.Random) -> int:
    return {"cold": 1, "mixed": rng.randint(1, 4), "reuse": 4}[regime]


def _document_length(parameters: SharedDocuments, rng: random.Random) -> int:
    is_long = rng.random() < parameters.long_fraction
    median, spread = (parameters.long_document_tokens, 0.35) if is_long else (parameters.short_document_tokens, 0.7)
    length = round(median * rng.lognormvariate(0.0, spread))
    return max(1, min(length, parameters.longest_document_tokens))


def _tokens(count: int, parameters: SharedDocuments, rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choices(range(FIRST_TOKEN_ID, parameters.vocabulary_size), k=count))


def _described(parameters: SharedDocuments) -> dict[str, object]:
    described: dict[str, object] = asdict(parameters)
    if parameters.rate == float("inf"):
        described["rate"] = 0  # JSON knows no infinity; 0 means the same
    return described


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise RadixflowError(sentence)
