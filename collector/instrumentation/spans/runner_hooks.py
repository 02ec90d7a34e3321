"""Times what vLLM's model runners do, by wrapping their methods, whose names differ by generation of the runner.

Both generations copy recurrent state before the forward pass (*restore*) and, where speculation needs it, after it
(*publish*). The first one has a method for the forward pass; the second one calls its KV connector right before it and,
from 0.31 on, right after it, be the pass eager, compiled or a replayed CUDA graph.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from radixflow.collector.instrumentation.spans.component_times import WorkerComponents

_COPY = "copy_kv_cache_blocks_inplace"
"""vLLM's function that copies a partly filled block before its new owner writes to it. Runners import it by name."""


class RunnerHooks:
    """Times the components of one model runner for as long as it is hooked.

    Args:
        runner: A model runner of vLLM, ready to run.
        components: Is told when which component worked.
    """

    def __init__(self, runner: Any, components: WorkerComponents) -> None:
        self._components = components
        self._undo: list[tuple[Any, str, Any]] = []
        self._forward_is_open = False
        for module in _modules_of(runner):
            self._time(module, _COPY, "restore")
        if hasattr(runner, "_model_forward"):
            self._hook_first_generation(runner)
        else:
            self._hook_second_generation(runner)

    def _hook_first_generation(self, runner: Any) -> None:
        mamba_utils = sys.modules.get("vllm.v1.worker.mamba_utils")
        self._time(mamba_utils, "preprocess_mamba", "restore")
        self._time(mamba_utils, "postprocess_mamba_align_gpu", "publish")
        self._time(runner, "_model_forward", "forward")

    def _hook_second_generation(self, runner: Any) -> None:
        state = getattr(runner, "model_state", None)
        self._time(state, "preprocess_state", "restore")
        self._time(state, "postprocess_state", "publish")
        connector = getattr(runner, "kv_connector", None)
        self._replace(connector, "pre_forward", lambda native: self._after(native, self._begin_forward))
        self._replace(connector, "finish_forward", lambda native: self._before(native, self.end_forward))

    def _begin_forward(self) -> None:
        if self._components.is_in_round and not self._forward_is_open:
            self._forward_is_open = True
            self._components.begin("forward")

    def end_forward(self) -> None:
        """The forward pass has ended; to be called after each round as well, since older releases do not say it."""
        if self._forward_is_open:
            self._forward_is_open = False
            self._components.end()

    def remove(self) -> None:
        """Restore every method and function that was wrapped."""
        for owner, name, native in reversed(self._undo):
            if native is None:
                vars(owner).pop(name, None)
            else:
                setattr(owner, name, native)
        self._undo.clear()

    def _time(self, owner: Any, name: str, component: str) -> None:
        self._replace(owner, name, lambda native: self._timed(native, component))

    def _timed(self, native: Callable[..., Any], component: str) -> Callable[..., Any]:
        components = self._components

        @functools.wraps(native)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if not components.is_in_round:
                return native(*args, **kwargs)
            components.begin(component)
            try:
                return native(*args, **kwargs)
            finally:
                components.end()

        return timed

    @staticmethod
    def _after(native: Callable[..., Any], action: Callable[[], None]) -> Callable[..., Any]:
        @functools.wraps(native)
        def called(*args: Any, **kwargs: Any) -> Any:
            result = native(*args, **kwargs)
            action()
            return result

        return called

    @staticmethod
    def _before(native: Callable[..., Any], action: Callable[[], None]) -> Callable[..., Any]:
        @functools.wraps(native)
        def called(*args: Any, **kwargs: Any) -> Any:
            action()
            return native(*args, **kwargs)

        return called

    def _replace(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Put our function in front of an attribute; a release that lacks it is a release without that component."""
        native = getattr(owner, name, None)
        if callable(native):
            self._undo.append((owner, name, vars(owner).get(name)))
            setattr(owner, name, make(native))


def _modules_of(runner: Any) -> Iterator[Any]:
    """The modules in which the classes of a runner are written."""
    for name in dict.fromkeys(cls.__module__ for cls in type(runner).__mro__):
        module = sys.modules.get(name)
        if hasattr(module, _COPY):
            yield module
