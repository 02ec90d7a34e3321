"""One row an interval of one component."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

SPANS = table(
    "spans",
    "One interval of a component on one clock. Intervals may overlap and are never added up across clocks.",
    [
        column("round", pa.int64(), "", "Round.", joins="rounds.round"),
        column("component", NAME, "", "Of the engine process: lookup, publish, dispatch. Of a worker: execute, restore, forward, sample, publish. Selection and update are columns of rounds."),
        column("process_rank", pa.int16(), "", "Rank of the worker process; -1 for the engine process."),
        column("clock", NAME, "", "host (monotonic) or device (CUDA events, mapped to the host clock)."),
        column("start_ns", pa.int64(), "ns", "Start."),
        column("end_ns", pa.int64(), "ns", "End."),
    ],
    sorted_by=("round", "start_ns"),
)
