"""What the client offered and saw: one row a branch, written by the process that sends the requests."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

OFFERS = table(
    "offers",
    "One branch as the client offered it. Absent in runs of a server that somebody else loads.",
    [
        column("request_id", pa.string(), "", "Name of the branch, equal in every arm of a stream."),
        column("request_group", pa.int32(), "", "Number of the request group (question) that the branch belongs to."),
        column("branch", pa.int16(), "", "Number of the branch in its group, from 0."),
        column("dataset", NAME, "", "Dataset or generator that the branch comes from."),
        column("regime", NAME, "", "Reuse regime of the stream: cold, mixed or reuse."),
        column("input_order", NAME, "", "Input order of the stream."),
        column("num_prompt_tokens", pa.int32(), "tokens", "Length of the prompt."),
        column("max_output_tokens", pa.int32(), "tokens", "Most output tokens asked for."),
        column("offered_ns", pa.int64(), "ns", "Monotonic time at which the branch was due to be sent."),
        column("sent_ns", pa.int64(), "ns", "Monotonic time at which it was sent; NULL if it never was.", nullable=True),
        column("first_output_ns", pa.int64(), "ns", "Monotonic time of the first output token.", nullable=True),
        column("completed_ns", pa.int64(), "ns", "Monotonic time at which the last output arrived.", nullable=True),
        column("num_output_tokens", pa.int32(), "tokens", "Output tokens received.", nullable=True),
        column("first_token_id", pa.int32(), "", "Id of the first output token.", nullable=True),
        column("outcome", NAME, "", "completed, rejected (never sent), aborted, failed or unfinished."),
        column("outcome_reason", pa.string(), "", "Why a branch was rejected or failed.", nullable=True),
    ],
    sorted_by=("offered_ns",),
)
