"""What the engine did with each request: one row a branch, written by the engine process when the branch ends."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

REQUESTS = table(
    "requests",
    "One vLLM request (branch) as the engine process saw it, written when it ends or when the recording ends.",
    [
        column("request", pa.int32(), "", "Number of the request in this run, in order of registration from 0."),
        column("request_id", pa.string(), "", "Name of the branch, as in offers.", joins="offers.request_id"),
        column("num_prompt_tokens", pa.int32(), "tokens", "Length of the prompt."),
        column("registered_ns", pa.int64(), "ns", "Monotonic time at which the scheduler received the request."),
        column("released_ns", pa.int64(), "ns", "Monotonic time at which admission let it through; NULL while held.", nullable=True),
        column("first_selected_ns", pa.int64(), "ns", "Start of the schedule() call that first selected it.", nullable=True),
        column("first_selected_round", pa.int64(), "", "Round that first selected it.", joins="rounds.round", nullable=True),
        column("finished_ns", pa.int64(), "ns", "Monotonic time at which the scheduler ended it.", nullable=True),
        column("num_reused_tokens", pa.int32(), "tokens", "Prompt tokens taken from the prefix cache at the first selection.", nullable=True),
        column("num_scheduled_tokens", pa.int64(), "tokens", "Tokens scheduled for it in all rounds, prompt and output."),
        column("num_scheduled_prompt_tokens", pa.int64(), "tokens", "Prompt tokens scheduled for it in all rounds."),
        column("num_repeated_tokens", pa.int64(), "tokens", "Prompt tokens scheduled again after a preemption of this request."),
        column("num_output_tokens", pa.int32(), "tokens", "Output tokens produced."),
        column("num_preemptions", pa.int32(), "", "How often the request was preempted."),
        column("num_blocked_visits", pa.int32(), "visits", "Visits that ended BLOCKED."),
        column("num_rows", pa.int32(), "rows", "Rounds in which it was scheduled."),
        column("outcome", NAME, "", "finished, aborted, unfinished (the recording ended first) or continued (finished, but selected before the recording began: the counts are those of this recording alone)."),
    ],
    sorted_by=("request",),
)
