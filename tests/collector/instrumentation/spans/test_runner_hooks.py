"""Where the components of a model runner are timed: both generations, and what the installed vLLM has of them.

The first generation runs in tests/collector/engines, the second one on CUDA only (tests/gpu).
"""

import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

pytest.importorskip("vllm")

from vllm.v1.worker import gpu_model_runner, mamba_utils

from radixflow.collector.instrumentation.spans.component_times import WorkerComponents
from radixflow.collector.instrumentation.spans.runner_hooks import RunnerHooks
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.writing.segment_writer import SegmentWriter


def source_of(module: str) -> str:
    """Text of a module that may not be importable here: the second generation needs Triton."""
    found = importlib.util.find_spec(module)
    assert found is not None and found.origin is not None
    return Path(found.origin).read_text(encoding="utf-8")


def positions(text: str, calls: list[str]) -> list[int]:
    return [text.index(call) for call in calls]


def test_the_first_generation_has_what_is_hooked() -> None:
    calls = inspect.getsource(gpu_model_runner.GPUModelRunner.execute_model)
    assert "mamba_utils.preprocess_mamba(" in calls and "self._model_forward(" in calls
    assert callable(mamba_utils.preprocess_mamba) and callable(gpu_model_runner.copy_kv_cache_blocks_inplace)
    assert "postprocess_mamba_align_gpu" in vars(mamba_utils)


def test_the_second_generation_calls_what_is_hooked_in_this_order() -> None:
    text = source_of("vllm.v1.worker.gpu.model_runner")
    body = text[text.index("    def execute_model(") : text.index("    def sample_tokens(")]
    order = ["self.model_state.preprocess_state(", "self.kv_connector.pre_forward(", "run_fullgraph(", "self.model(**"]
    order.append("self.kv_connector.finish_forward()")
    assert positions(body, order) == sorted(positions(body, order))
    assert "copy_kv_cache_blocks_inplace(" in text and "self.model_state.postprocess_state(" in text
    assert not re.search(r"def _model_forward\b", text), "it would be taken for the first generation"


class Steps(WorkerComponents):
    """Keeps the order of what begins and ends as well."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: list[str] = []

    def begin(self, component: str) -> None:
        self.seen.append(f"+{component}")
        super().begin(component)

    def end(self) -> None:
        self.seen.append("-")
        super().end()


class SecondGeneration:
    """The calls of a runner of the second generation, in its order; ``ends_forward`` as in releases from 0.31 on."""

    def __init__(self, seen: list[str], ends_forward: bool = True) -> None:
        class State:
            def preprocess_state(self) -> None:
                seen.append("copy")

        class Connector:
            def pre_forward(self, output: Any) -> None:
                seen.append("load")

            if ends_forward:

                def finish_forward(self) -> None:
                    seen.append("save")

        self.model_state, self.kv_connector, self.seen = State(), Connector(), seen

    def execute_model(self) -> None:
        self.model_state.preprocess_state()
        self.kv_connector.pre_forward(None)
        self.seen.append("model")
        if hasattr(self.kv_connector, "finish_forward"):
            self.kv_connector.finish_forward()


@pytest.fixture
def components(tmp_path: Path) -> Steps:
    create_run(tmp_path / "run", Manifest("e", "s", "radix", state="complete"))
    return Steps(SegmentWriter(tmp_path / "run", "worker0"), 0)


def run_round(runner: SecondGeneration, hooks: RunnerHooks, components: Steps, number: int) -> list[str]:
    components.start_round(number)
    components.seen = runner.seen
    runner.seen.clear()
    runner.execute_model()
    hooks.end_forward()
    return list(runner.seen)


@pytest.mark.parametrize("ends_forward", [True, False], ids=["from 0.31 on", "before 0.31"])
def test_the_forward_pass_of_the_second_generation_is_what_lies_between(components: Steps, ends_forward: bool) -> None:
    runner = SecondGeneration([], ends_forward)
    hooks = RunnerHooks(runner, components)
    saved = ["save"] if ends_forward else []
    expected = ["+restore", "copy", "-", "load", "+forward", "model", "-", *saved]
    assert run_round(runner, hooks, components, 5) == expected
    assert run_round(runner, hooks, components, 0) == ["copy", "load", "model", *saved], "a warm-up is no round"
    components.start_round(6)
    hooks.remove()
    assert run_round(runner, hooks, components, 6) == ["copy", "load", "model", *saved]
    components.close()


def test_a_model_that_raises_leaves_nothing_open(components: Steps, tmp_path: Path) -> None:
    def fails() -> None:
        raise RuntimeError("planted")

    runner = SecondGeneration([])
    runner.model_state.preprocess_state = fails  # type: ignore[method-assign]
    hooks = RunnerHooks(runner, components)
    components.start_round(1)
    with pytest.raises(RuntimeError, match="planted"):
        runner.execute_model()
    hooks.end_forward()
    runner.model_state.preprocess_state = lambda: None  # type: ignore[method-assign]
    assert run_round(runner, hooks, components, 2)[-3:] == ["model", "-", "save"]
    components.close()
    rows = pq.read_table(tmp_path / "run" / "spans").to_pylist()
    assert [(row["round"], row["component"]) for row in rows] == [(1, "restore"), (2, "forward")]
