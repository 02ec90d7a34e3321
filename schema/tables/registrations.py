"""One row a request when the scheduler received it: what is known of a request whose end nobody recorded."""

import pyarrow as pa

from radixflow.schema.tables.columns import column, table

REGISTRATIONS = table(
    "registrations",
    "One vLLM request when the scheduler received it, written at once. Its row in requests is written when it ends; where the process was killed before, radixflow-collect repair makes that row from this one and from rows, events and visits.",
    [
        column("request", pa.int32(), "", "Number of the request in this run, in order of registration from 0."),
        column("request_id", pa.string(), "", "Name of the branch, as in offers.", joins="offers.request_id"),
        column("num_prompt_tokens", pa.int32(), "tokens", "Length of the prompt."),
        column("registered_ns", pa.int64(), "ns", "Monotonic time at which the scheduler received the request."),
        column("last_block_hash", pa.uint64(), "", "Hash of the last whole block of the prompt; NULL without one, without prefix caching, or where the request was there before the recording began.", nullable=True),
    ],
    sorted_by=("request",),
)
