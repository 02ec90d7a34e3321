"""One row an interval of whole blocks that was computed before."""

import pyarrow as pa

from radixflow.schema.tables.columns import column, table

REPEATED_BLOCKS = table(
    "repeated_blocks",
    "An interval of whole prompt or output blocks that a row computed although a row of another request had computed the same content before. What a request computes again after its own preemption shows in rows.",
    [
        column("round", pa.int64(), "", "Round that computed it again.", joins="rounds.round"),
        column("request", pa.int32(), "", "Request that computed it again.", joins="requests.request"),
        column("begin_token", pa.int32(), "tokens", "First position of the interval."),
        column("end_token", pa.int32(), "tokens", "Position after its last token."),
        column("first_round", pa.int64(), "", "Round that computed it first.", joins="rounds.round"),
        column("first_request", pa.int32(), "", "Request that computed it first.", joins="requests.request"),
    ],
    sorted_by=("round", "request"),
)
