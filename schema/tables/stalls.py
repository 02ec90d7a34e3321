"""One row for a stretch of equal steps that scheduled nothing while work waited."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

STALLS = table(
    "stalls",
    "One stall: consecutive schedule() calls that selected nothing although requests waited or ran, and that agree in all columns but the times. It ends with a step that differs, with a round, or with the recording. Steps while nothing waits and nothing runs are idle, and no stall.",
    [
        column("start_ns", pa.int64(), "ns", "Monotonic time at which the first of the steps began."),
        column("end_ns", pa.int64(), "ns", "Monotonic time at which the last of the steps ended."),
        column("num_steps", pa.int64(), "steps", "How many schedule() calls."),
        column("round_before", pa.int64(), "", "Round before it; NULL before the first round.", joins="rounds.round", nullable=True),
        column("num_waiting", pa.int32(), "requests", "Waiting requests, without sessions that wait for their client's next input."),
        column("num_running", pa.int32(), "requests", "Running requests, none of which got a token."),
        column("num_rounds_in_flight", pa.int32(), "rounds", "Rounds whose output had not been processed. Above 0, as under asynchronous scheduling, the steps waited for an output: that is no standstill."),
        column("num_free_blocks", pa.int32(), "blocks", "Free KV cache blocks when schedule() ended."),
        column("head_request", pa.int32(), "", "First request of the waiting queue; NULL when only running requests are there.", joins="requests.request", nullable=True),
        column("stop_request", pa.int32(), "", "Request at which the scan stopped; NULL unless a request stopped it.", joins="requests.request", nullable=True),
        column("stop_reason", NAME, "", "What ended the scan, as in rounds."),
        column("stop_cause", NAME, "", "More about the stop: being_written or marked_again of a blocked one; larger_than_pool (refused while every block was free) or pool_in_use of one for blocks; parked_sessions of one at the row limit while sessions without input hold rows; of a queue seen to its end, why its first request was passed over (held, blocked, or a reason of an OTHER outcome).", nullable=True),
    ],
    sorted_by=("start_ns",),
)
