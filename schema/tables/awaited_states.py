"""One row for each state that refused somebody in a round."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

AWAITED_STATES = table(
    "awaited_states",
    "One recurrent state for which a round refused waiting requests: who marked it, and how many waited.",
    [
        column("round", pa.int64(), "", "Round.", joins="rounds.round"),
        column("awaited_hash", pa.uint64(), "", "Hash of the state."),
        column("cause", NAME, "", "being_written or marked_again; NULL if nobody was seen to mark it.", nullable=True),
        column("producer", pa.int32(), "", "Request that marked the state in this round.", joins="requests.request", nullable=True),
        column("published_round", pa.int64(), "", "Round in which a state that is marked again was really published.", joins="rounds.round", nullable=True),
        column("num_visits", pa.int32(), "visits", "BLOCKED visits of the scan that waited for it in this round."),
        column("num_probe_visits", pa.int32(), "visits", "BLOCKED visits of the probe that did."),
        column("publisher", pa.int32(), "", "Request that really published a state that is marked again.", joins="requests.request", nullable=True),
        column("completed_ns", pa.int64(), "ns", "Monotonic time at which the output of published_round had been processed; NULL if it was in flight when this round was scheduled.", nullable=True),
    ],
    sorted_by=("round",),
)
