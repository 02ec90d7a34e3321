"""One row a waiting request that a round looked at and did not take."""

import pyarrow as pa

from radixflow.schema.columns import NAME, column, table

VISITS = table(
    "visits",
    "One waiting request that was looked at in a round and not selected. Selected ones are in rows.",
    [
        column("round", pa.int64(), "", "Round.", joins="rounds.round"),
        column("visit", pa.int32(), "", "Position in the scan from 0; selected requests count, the probe goes on counting."),
        column("request", pa.int32(), "", "Request.", joins="requests.request"),
        column("witness", NAME, "", "native (the scan itself) or probe (the counterfactual behind its stop)."),
        column("outcome", NAME, "", "ready (probe only), blocked, held or other."),
        column("reason", NAME, "", "Reason of an other outcome, such as kv_blocks or aligned_split_zero.", nullable=True),
        column("cause", NAME, "", "Cause of a blocked outcome: being_written or marked_again.", nullable=True),
        column("matched_tokens", pa.int32(), "tokens", "Longest token match of the prompt; NULL if not looked up.", nullable=True),
        column("ready_tokens", pa.int32(), "tokens", "Longest match whose every state component is published.", nullable=True),
        column("awaited_hash", pa.uint64(), "", "Hash of the state that a blocked request waits for.", nullable=True),
        column("producer", pa.int32(), "", "Request that marked the awaited state in this round.", joins="requests.request", nullable=True),
        column("published_round", pa.int64(), "", "Round in which a state that is marked again was really published.", joins="rounds.round", nullable=True),
        column("num_tokens", pa.int32(), "tokens", "Tokens that a ready request would have taken.", nullable=True),
    ],
)
