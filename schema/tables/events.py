"""One row a change in the life of a request."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

EVENTS = table(
    "events",
    "One lifecycle event of a request, or a reset of the prefix cache.",
    [
        column("time_ns", pa.int64(), "ns", "Monotonic time."),
        column("request", pa.int32(), "", "Request; NULL for an event of the whole scheduler.", joins="requests.request", nullable=True),
        column("event", NAME, "", "arrived, held (by admission), released, blocked, recovered, selected, deferred (by the fragmentation guard), overtaken (once, by the first later arrival), preempted, resumed, finished or aborted; of the whole scheduler: prefix_cache_reset."),
        column("round", pa.int64(), "", "Round in which it happened; NULL outside rounds.", joins="rounds.round", nullable=True),
        column("other_request", pa.int32(), "", "The other party: the producer of a block, the overtaker.", joins="requests.request", nullable=True),
        column("detail", NAME, "", "More about the event: the cause of a block, the reason of a release or a preemption, whether a reset was done or refused.", nullable=True),
        column("num_rounds", pa.int32(), "rounds", "Rounds that a recovered request spent blocked.", nullable=True),
    ],
    sorted_by=("time_ns",),
)
