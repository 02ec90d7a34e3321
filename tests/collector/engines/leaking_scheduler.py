"""A scheduler whose pool has lost nearly all its blocks, as after a leak: a server that stands still on purpose."""

from typing import Any

from radixflow.collector.instrumentation import RecordedScheduler

BLOCKS_LEFT = 6


class LeakingScheduler(RecordedScheduler):
    """Recorded like any other; blocks that nobody frees are taken from its pool when it is made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pool = self.kv_cache_manager.block_pool
        pool.get_new_blocks(pool.get_num_free_blocks() - BLOCKS_LEFT)
