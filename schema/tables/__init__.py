"""Every table of a run, each declared once."""

import pyarrow as pa

from radixflow.schema.tables.awaited_states import AWAITED_STATES
from radixflow.schema.tables.block_hashes import BLOCK_HASHES
from radixflow.schema.tables.events import EVENTS
from radixflow.schema.tables.offers import OFFERS
from radixflow.schema.tables.registrations import REGISTRATIONS
from radixflow.schema.tables.repeated_blocks import REPEATED_BLOCKS
from radixflow.schema.tables.requests import REQUESTS
from radixflow.schema.tables.rounds import ROUNDS
from radixflow.schema.tables.rows import ROWS
from radixflow.schema.tables.spans import SPANS
from radixflow.schema.tables.stalls import STALLS
from radixflow.schema.tables.visits import VISITS

ALL_TABLES: dict[str, pa.Schema] = {
    "offers": OFFERS,
    "registrations": REGISTRATIONS,
    "requests": REQUESTS,
    "rounds": ROUNDS,
    "rows": ROWS,
    "visits": VISITS,
    "awaited_states": AWAITED_STATES,
    "block_hashes": BLOCK_HASHES,
    "repeated_blocks": REPEATED_BLOCKS,
    "events": EVENTS,
    "stalls": STALLS,
    "spans": SPANS,
}
"""Table name to its schema; the name is also the folder of its Parquet segments."""
