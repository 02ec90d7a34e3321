"""vLLM's KV cache manager, telling a scan of its lookups and allocations and taking over what a rule has looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vllm.v1.core.kv_cache_manager import KVCacheManager

from radixflow.collector.vllm_adapters.visit_lookup import FOR_CONNECTOR, LOCAL

if TYPE_CHECKING:
    from radixflow.collector.vllm_adapters.scan_hooks import ScanHooks


class HookedKVCacheManager(KVCacheManager):
    """vLLM's own manager; lookups and allocations are told to the scan. ``scan`` is None in a shadow."""

    scan: ScanHooks | None = None
    _is_inside = False

    def get_computed_blocks(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return self._looked_up(LOCAL, super().get_computed_blocks, request, *args, **kwargs)

    def get_computed_blocks_for_connector(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        native = super().get_computed_blocks_for_connector  # it may ask for the plain lookup, too
        return self._looked_up(FOR_CONNECTOR, native, request, *args, **kwargs)

    def _looked_up(self, method: str, native: Callable[..., Any], request: Any, *args: Any, **kwargs: Any) -> Any:
        scan = self.scan
        if scan is None or self._is_inside:
            return native(request, *args, **kwargs)
        is_limited = any(limit is not None for limit in (*args, *kwargs.values()))  # 0.33 may cap the length of a hit
        hit = None if is_limited or scan.lookups.is_asking else scan.lookups.take(method, request)
        if hit is None:
            hit = self._natively(scan, native, request, *args, **kwargs)
        if scan.lookups.is_asking:
            scan.lookups.keep(method, hit)
        else:
            scan.native_lookup(request, hit)
        return hit

    def _natively(self, scan: ScanHooks, native: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._is_inside = True
        try:
            return scan.timed("lookup", native, *args, **kwargs)
        finally:
            self._is_inside = False

    def allocate_slots(self, request: Any, num_new_tokens: int, *args: Any, **kwargs: Any) -> Any:
        blocks = super().allocate_slots(request, num_new_tokens, *args, **kwargs)
        if self.scan is not None:
            self.scan.after_allocation(request, num_new_tokens, blocks is not None, kwargs)
        return blocks
