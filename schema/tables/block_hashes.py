"""One row a distinct block of prompt content."""

import pyarrow as pa

from radixflow.schema.tables.columns import column, table

BLOCK_HASHES = table(
    "block_hashes",
    "One distinct whole block of prompt content. Blocks form a tree: a request's prompt is the way from its last_block_hash in registrations up to the block without a parent.",
    [
        column("block_hash", pa.uint64(), "", "First 64 bits of the hash of all tokens up to the end of the block."),
        column("parent_hash", pa.uint64(), "", "Hash of the block before it; NULL for the first block of a prompt.", nullable=True),
        column("block", pa.int32(), "", "Position in the prompt, in blocks of hash_block_size tokens from 0."),
        column("request", pa.int32(), "", "Request that first brought it.", joins="requests.request"),
    ],
    sorted_by=("request", "block"),
)
