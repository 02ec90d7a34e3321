"""One row a round: a schedule() call that selected work."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

SLOT_CLASSES = (
    "rows_used", "rows_avoidable", "rows_dependency_wait", "rows_held", "rows_token_limited", "rows_other", "rows_no_work",
)  # fmt: skip
"""The classes of the slot ledger in the order in which they are filled; they add up to ``row_capacity``."""

_ledger = [
    column("row_capacity", pa.int32(), "rows", "Rows that a round may hold (max_num_seqs)."),
    column("rows_used", pa.int32(), "rows", "Rows with a scheduled request."),
    column("rows_avoidable", pa.int32(), "rows", "Unused rows for which a READY request waited behind the stop of the scan."),
    column("rows_dependency_wait", pa.int32(), "rows", "Unused rows explained by a BLOCKED request."),
    column("rows_held", pa.int32(), "rows", "Unused rows explained by a request that admission holds."),
    column("rows_token_limited", pa.int32(), "rows", "Unused rows for want of tokens: budget used up, aligned split of 0, no chunked prefill, padded speculation."),
    column("rows_other", pa.int32(), "rows", "Unused rows explained by any other refusal."),
    column("rows_no_work", pa.int32(), "rows", "Unused rows for which no arrived request was left."),
]
_tokens = [
    column("token_budget", pa.int32(), "tokens", "Tokens that a round may hold (max_num_batched_tokens)."),
    column("tokens_scheduled", pa.int32(), "tokens", "Tokens scheduled."),
    column("tokens_avoidable", pa.int32(), "tokens", "Tokens that the READY requests behind the stop would have taken."),
]
_scan = [
    column("num_rows_new", pa.int32(), "rows", "Rows of requests selected for the first time."),
    column("num_rows_resumed", pa.int32(), "rows", "Rows of requests resumed after a preemption."),
    column("num_rows_running", pa.int32(), "rows", "Rows of requests that were running."),
    column("num_running_before", pa.int32(), "requests", "Running requests when schedule() began."),
    column("num_waiting_before", pa.int32(), "requests", "Waiting requests when schedule() began."),
    column("num_waiting_after", pa.int32(), "requests", "Waiting requests when schedule() ended."),
    column("num_held", pa.int32(), "requests", "Waiting requests that admission held back in this round."),
    column("num_visits", pa.int32(), "visits", "Waiting requests that the scan looked at."),
    column("num_blocked_visits", pa.int32(), "visits", "Visits of the scan that ended BLOCKED."),
    column("num_probed", pa.int32(), "visits", "Requests behind the stop that the counterfactual probe looked at."),
    column("num_preempted", pa.int32(), "requests", "Requests preempted in this round by schedule() itself."),
    column("stop_reason", NAME, "", "What ended the scan: end_of_queue, blocked, or a reason of an OTHER outcome."),
    column("stop_request", pa.int32(), "", "Request at which the scan stopped.", joins="requests.request", nullable=True),
    column("stop_cause", NAME, "", "Cause of a blocked stop: being_written or marked_again.", nullable=True),
    column("probe_end_reason", NAME, "", "What ended the probe, as stop_reason; NULL if it did not run.", nullable=True),
    column("num_free_blocks", pa.int32(), "blocks", "Free KV cache blocks when schedule() ended."),
    column("num_empty_steps", pa.int32(), "steps", "schedule() calls without work since the round before."),
]
_clocks = [
    column("schedule_start_ns", pa.int64(), "ns", "Monotonic time at which schedule() began."),
    column("schedule_end_ns", pa.int64(), "ns", "End of native scheduling: the end of schedule() less the time of probe and recorder inside it."),
    column("update_start_ns", pa.int64(), "ns", "Monotonic time at which update_from_output() began.", nullable=True),
    column("update_end_ns", pa.int64(), "ns", "Monotonic time at which update_from_output() ended.", nullable=True),
    column("probe_ns", pa.int64(), "ns", "Time of the probe; part of no other duration.", nullable=True),
    column("recorder_ns", pa.int64(), "ns", "Time of the recorder in and right after schedule(), without the probe."),
]

ROUNDS = table(
    "rounds",
    "One round: a schedule() call with scheduled work (worker round).",
    [column("round", pa.int64(), "", "Number of the round in this run, from 1."), *_clocks[:2], *_ledger, *_tokens, *_scan, *_clocks[2:]],
    sorted_by=("round",),
)
