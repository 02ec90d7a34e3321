"""Chooses the adapter for the installed vLLM by the hooks that it has, and refuses a version that was not tested."""

from __future__ import annotations

import inspect
import os

import vllm
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.core.single_type_kv_cache_manager import MambaManager

from radixflow.collector.vllm_adapters.gate_scan import GateScan
from radixflow.collector.vllm_adapters.promote_scan import PromoteScan
from radixflow.collector.vllm_adapters.scan_hooks import ScanHooks
from radixflow.collector.vllm_adapters.versions import ALLOW_UNTESTED, TESTED, is_tested
from radixflow.schema.errors import ExitCode, RadixflowError

HOOKS: dict[type, dict[str, tuple[str, ...]]] = {
    Scheduler: {
        "schedule": (),
        "_mamba_block_aligned_split": ("request", "num_new_tokens"),
        "_preempt_request": ("request",),
        "_free_request": ("request",),
        "update_from_output": ("scheduler_output",),
    },
    KVCacheManager: {
        "get_computed_blocks": ("request",),
        "allocate_slots": ("request", "num_new_tokens", "num_new_computed_tokens", "new_computed_blocks"),
    },
    MambaManager: {
        "cache_blocks": ("request", "num_tokens"),
        "new_step_starts": (),
        "_cache_partial_tail_block": ("request", "num_tokens"),
    },
}
"""Methods that every adapter overrides, with the parameters that it passes on by name or position."""


def scan_class() -> type[ScanHooks]:
    """The mixin for the installed vLLM.

    Raises:
        RadixflowError: If a hook is missing, or the version is untested and not allowed.
    """
    missing = missing_hooks()
    if missing:
        raise RadixflowError(
            f"vLLM {vllm.__version__} lacks {', '.join(missing)}, which scheduling policies hook; tested are {TESTED}",
            ExitCode.ENVIRONMENT,
        )
    if not is_tested(vllm.__version__) and not os.environ.get(ALLOW_UNTESTED):
        raise RadixflowError(
            f"vLLM {vllm.__version__} was not tested with these scheduling policies (tested: {TESTED}); "
            f"set {ALLOW_UNTESTED}=1 or use --allow-untested-vllm to go on",
            ExitCode.ENVIRONMENT,
        )
    return next(variant for variant in (GateScan, PromoteScan) if _has(Scheduler, variant.NEEDED_METHODS))


def missing_hooks() -> list[str]:
    """Hooks that the installed vLLM does not have, as Class.method or Class.method(parameter)."""
    missing = [fault for owner, methods in HOOKS.items() for fault in _faults(owner, methods)]
    if not any(_has(Scheduler, variant.NEEDED_METHODS) for variant in (GateScan, PromoteScan)):
        missing.append("Scheduler._handle_blocked_waiting_request and Scheduler._try_promote_blocked_waiting_request")
    return missing


def _has(owner: type, methods: tuple[str, ...]) -> bool:
    return all(callable(getattr(owner, method, None)) for method in methods)


def _faults(owner: type, methods: dict[str, tuple[str, ...]]) -> list[str]:
    faults = []
    for method, parameters in methods.items():
        function = getattr(owner, method, None)
        known = inspect.signature(function).parameters if callable(function) else {}
        if not callable(function):
            faults.append(f"{owner.__name__}.{method}")
        faults += [f"{owner.__name__}.{method}({name})" for name in parameters if known and name not in known]
    return faults
