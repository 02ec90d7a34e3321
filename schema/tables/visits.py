"""One row for the visits in which consecutive rounds looked at a waiting request and found the same."""

import pyarrow as pa

from radixflow.schema.tables.columns import NAME, column, table

MAXIMUM_VISIT_ROUNDS = 64
"""Most rounds that one row may cover, so that a window reads few rows from before it; round_visits relies on it."""

VISITS = table(
    "visits",
    "A run of visits: in each of some consecutive rounds one waiting request was looked at, with the same outcome, and not selected. Selected ones are in rows. The view round_visits has one row a visit.",
    [
        column("round", pa.int64(), "", "First round of the run.", joins="rounds.round"),
        column("last_round", pa.int64(), "", "Last round of the run: one visit in each round from the first to this, at most 64.", joins="rounds.round"),
        column("visit", pa.int32(), "", "Place in the order of the scan, comparable with the other visits and the rows of the same round; not consecutive. The probe goes on behind the scan."),
        column("request", pa.int32(), "", "Request.", joins="requests.request"),
        column("witness", NAME, "", "native (the scan itself) or probe (the counterfactual behind its stop)."),
        column("outcome", NAME, "", "ready (probe only), blocked, held or other."),
        column("reason", NAME, "", "Reason of an other outcome, such as kv_blocks or aligned_split_zero.", nullable=True),
        column("cause", NAME, "", "Cause of a blocked outcome: being_written or marked_again.", nullable=True),
        column("matched_tokens", pa.int32(), "tokens", "Longest token match of the prompt; NULL if not looked up.", nullable=True),
        column("ready_tokens", pa.int32(), "tokens", "Longest match whose every state component is published.", nullable=True),
        column("awaited_hash", pa.uint64(), "", "Hash of the state that a blocked request waits for; awaited_states says by round who marked it.", nullable=True),
        column("num_tokens", pa.int32(), "tokens", "Tokens that a ready request would have taken.", nullable=True),
    ],
    sorted_by=("round", "visit"),
)
