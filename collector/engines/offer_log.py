"""What happened to each offered request, as the client saw it: the rows of the table ``offers``."""

from dataclasses import dataclass, field

from radixflow.collector.workloads.offered_request import OfferedRequest
from radixflow.collector.workloads.prompt_limits import Rejection
from radixflow.schema.writing.segment_writer import SegmentWriter


@dataclass(slots=True)
class Offer:
    """One offered request and what became of it. Times are ``time.monotonic_ns``, None while they are unknown."""

    request: OfferedRequest
    offered_ns: int
    sent_ns: int | None = None
    first_output_ns: int | None = None
    completed_ns: int | None = None
    first_token_id: int | None = None
    num_output_tokens: int = 0
    outcome: str = "unfinished"
    outcome_reason: str | None = None

    def row(self) -> tuple[object, ...]:
        """The row of ``offers``, in column order."""
        request = self.request
        return (
            request.request_id, request.request_group, request.branch, request.dataset, request.regime,
            request.input_order, len(request.prompt_token_ids), request.max_output_tokens, self.offered_ns,
            self.sent_ns, self.first_output_ns, self.completed_ns,
            None if self.sent_ns is None else self.num_output_tokens, self.first_token_id, self.outcome,
            self.outcome_reason,
        )  # fmt: skip


@dataclass(slots=True)
class OfferLog:
    """The offers of one arm. Each becomes a row of ``offers`` once, when it has finished, failed or been refused."""

    writer: SegmentWriter
    """Writes the table ``offers``."""
    num_ended: int = 0
    """Number of offers that have ended, in whatever way."""
    open_offers: dict[str, Offer] = field(default_factory=dict)
    """Offers that have not ended yet, by request id, in the order of sending."""

    def expect(self, requests: list[OfferedRequest], start_ns: int) -> list[Offer]:
        """Open the offers of a stream that starts at ``start_ns``."""
        offers = [Offer(request, start_ns + request.offset_ns) for request in requests]
        self.open_offers |= {offer.request.request_id: offer for offer in offers}
        return offers

    def reject(self, rejections: list[Rejection], start_ns: int) -> None:
        """Write the branches that are never sent."""
        for rejection in rejections:
            offer = Offer(rejection.request, start_ns + rejection.request.offset_ns)
            offer.outcome, offer.outcome_reason = "rejected", rejection.reason
            self.writer.append("offers", offer.row())

    def end(self, offer: Offer, outcome: str, reason: str | None = None) -> None:
        """Record how an offer ended and write its row; calling it again for the same offer does nothing."""
        if self.open_offers.pop(offer.request.request_id, None) is None:
            return
        offer.outcome, offer.outcome_reason = outcome, reason
        self.num_ended += 1
        self.writer.append("offers", offer.row())

    def end_all(self, outcome: str, reason: str | None = None) -> None:
        """Record the same end for every offer that is still open, because the arm ended before they did."""
        for offer in list(self.open_offers.values()):
            self.end(offer, outcome, reason)
