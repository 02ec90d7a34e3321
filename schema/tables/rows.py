"""One row a request in a round."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

ROWS = table(
    "rows",
    "One request scheduled in one round.",
    [
        column("round", pa.int64(), "", "Round.", joins="rounds.round"),
        column("slot", pa.int16(), "", "Position in the round, in the order of selection from 0."),
        column("request", pa.int32(), "", "Request.", joins="requests.request"),
        column("kind", NAME, "", "new, running or resumed."),
        column("visit", pa.int32(), "", "Place in the order of the scan, comparable with visits.visit of the same round; NULL for a running request.", nullable=True),
        column("first_token", pa.int32(), "tokens", "Position of the first scheduled token; the tokens before it are computed."),
        column("num_tokens", pa.int32(), "tokens", "Tokens scheduled in this round."),
        column("num_reused_tokens", pa.int32(), "tokens", "Tokens taken from the prefix cache in this round."),
        column("restored_hash", pa.uint64(), "", "Hash of the recurrent state restored from the cache.", nullable=True),
        column("published_hash", pa.uint64(), "", "Hash of the deepest recurrent state that this row writes and publishes.", nullable=True),
    ],
    sorted_by=("round", "slot"),
)
