"""Random worlds off the plain path: speculation, adapters, encoder inputs, sessions, throttled steps and the like.

A feature comes from a generator of its own, so that the walks of `worlds.py` stay as they are, and from the engine's
own arguments wherever there is one. The model of the harness has no encoder and may not switch chunked prefill off;
there the scheduler gets the limits that vLLM would have given it.
"""

import dataclasses
import random
from collections.abc import Mapping
from typing import Any

from vllm.config import SchedulerConfig
from vllm.engine.arg_utils import EngineArgs
from vllm.lora.request import LoRARequest
from vllm.multimodal.inputs import MultiModalFeatureSpec, PlaceholderRange
from vllm.pooling_params import PoolingParams
from vllm.v1.core.encoder_cache_manager import EncoderCacheManager
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.outputs import DraftTokenIds
from vllm.v1.request import RequestStatus

from radixflow.collector.vllm_adapters.budget import VERSION
from tests.scheduler_harness.connectors import CONNECTORS, PREFILLED_ELSEWHERE
from tests.scheduler_harness.construction import make_request
from tests.scheduler_harness.driving import Round, schedule_round, update_round
from tests.scheduler_harness.worlds import SchedulerWorld, WorldShape

HAS_RETENTION = "prefix_cache_retention_interval" in {field.name for field in dataclasses.fields(EngineArgs)}
"""Whether this release keeps, by default, only the states at the end of a prompt."""
COUNTS_ALL_ADAPTERS = VERSION >= (0, 33)
"""Before 0.33 vLLM forgets the adapter of a running request without a row, admits another, and later fails for it."""
HAS_CONNECTORS = hasattr(Scheduler, "_get_local_prefix_cache_hit")
"""Whether rules support a KV connector in this release."""
IN_RANDOM_WORLDS = ("offloading", "multi", "mooncake")
NUM_ADAPTERS = 4
SPECULATION: dict[str, dict[str, Any]] = {
    "ngram": {"method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_max": 3},
    "mtp": {"method": "mtp", "num_speculative_tokens": 1},
    "mtp-3": {"method": "mtp", "num_speculative_tokens": 3},
}


@dataclasses.dataclass(frozen=True)
class Features:
    """What a world has beyond `WorldShape`. Shares are probabilities a request (or a step, for `throttled_share`)."""

    speculation: str | None = None
    max_loras: int = 0
    encoder_budget: int = 0  # embeddings a step; the cache holds twice as many
    throttled_share: float = 0.0
    chunked_prefill: bool = True
    is_pooling: bool = False
    session_share: float = 0.0
    salt_share: float = 0.0
    prompt_logprobs_share: float = 0.0
    long_prefill_token_threshold: int = 0
    max_num_active_seqs: int | None = None
    keeps_all_states: bool = False  # else only those at the end of a prompt, as by default
    connector: str | None = None  # a name of CONNECTORS
    prefilled_elsewhere_share: float = 0.0

    @classmethod
    def draw(cls, rng: random.Random, block_size: int, max_num_seqs: int, **fixed: Any) -> "Features":
        """Returns random features: each is there in about a third of the worlds, so that they also meet."""

        def maybe(value: Any, otherwise: Any) -> Any:
            return value if rng.random() < 0.35 else otherwise

        is_pooling = maybe(maybe(True, False), False)
        connector = maybe(rng.choice(IN_RANDOM_WORLDS), None) if HAS_CONNECTORS and not is_pooling else None
        has_active_limit = "max_num_active_seqs" in {field.name for field in dataclasses.fields(SchedulerConfig)}
        drawn = {
            "speculation": None if is_pooling else maybe(rng.choice(sorted(SPECULATION)), None),
            "max_loras": maybe(rng.choice([1, 2]), 0),
            "encoder_budget": maybe(block_size * rng.choice([1, 2, 4]), 0),
            "throttled_share": maybe(rng.choice([0.3, 0.7]), 0.0),
            "chunked_prefill": maybe(False, True),
            "is_pooling": is_pooling,
            "session_share": 0.0 if is_pooling else maybe(0.2, 0.0),
            "salt_share": maybe(0.3, 0.0),
            "prompt_logprobs_share": 0.0 if is_pooling else maybe(0.2, 0.0),
            "long_prefill_token_threshold": maybe(block_size * rng.choice([1, 2]) + rng.choice([0, 1]), 0),
            "max_num_active_seqs": maybe(max(1, max_num_seqs // 2), None) if has_active_limit else None,
            "keeps_all_states": maybe(True, False),
            "connector": connector,
        }
        chosen = cls(**(drawn | fixed))
        if chosen.max_loras and not COUNTS_ALL_ADAPTERS:
            chosen = dataclasses.replace(chosen, encoder_budget=0, throttled_share=0.0)
        return chosen

    def engine_arguments(self) -> dict[str, Any]:
        """The part that vLLM's own arguments can say."""
        arguments: dict[str, Any] = {}
        if self.speculation:
            arguments["speculative_config"] = SPECULATION[self.speculation]
        if self.max_loras:
            arguments |= {"enable_lora": True, "max_loras": self.max_loras}
        if self.is_pooling:
            arguments["runner"] = "pooling"
        if self.long_prefill_token_threshold:
            arguments["long_prefill_token_threshold"] = self.long_prefill_token_threshold
        if self.max_num_active_seqs:
            arguments["max_num_active_seqs"] = self.max_num_active_seqs
        if self.keeps_all_states and HAS_RETENTION:
            arguments["prefix_cache_retention_interval"] = None
        if self.connector:
            arguments["kv_transfer_config"] = CONNECTORS[self.connector]
        return arguments


class Clock:
    """Monotonic nanoseconds of a world, which rules that hold requests go by."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


class FeatureWorld(SchedulerWorld):
    """A world whose requests and steps use features; everything else walks as in `SchedulerWorld`."""

    def __init__(
        self,
        shape: WorldShape,
        features: Features,
        rng: random.Random,
        scheduler_cls: type[Scheduler] = Scheduler,
        additional_config: Mapping[str, Any] | None = None,
    ) -> None:
        self.features = features
        self._extra = random.Random(rng.random())
        self._family: tuple[list[int], dict[str, Any]] | None = None
        arguments = tuple((dict(shape.engine_arguments) | features.engine_arguments()).items())
        super().__init__(dataclasses.replace(shape, engine_arguments=arguments), rng, scheduler_cls, additional_config)
        scheduler = self.scheduler
        if not features.chunked_prefill:
            scheduler.scheduler_config.enable_chunked_prefill = False
        if features.encoder_budget:
            scheduler.max_num_encoder_input_tokens = features.encoder_budget
            scheduler.encoder_cache_manager = EncoderCacheManager(cache_size=2 * features.encoder_budget)
        scheduler.clock = self.clock = Clock()
        self.throttles_next = False
        """Whether the next step is one that data-parallel balancing throttles."""

    def disturb(self) -> None:
        """Sessions go on or end, too, and the next step may be throttled."""
        super().disturb()
        self.throttles_next = self._extra.random() < self.features.throttled_share
        for request in self._requests():
            if request.resumable and request.status == RequestStatus.WAITING_FOR_STREAMING_REQ:
                self._go_on(request.request_id, ends=self._extra.random() < 0.4)

    def reset_cache(self, reset_running_requests: bool) -> None:
        """As in any world, but vLLM cannot take blocks from a session that waits for input, nor from a transfer."""
        has_idle_sessions = any(r.status == RequestStatus.WAITING_FOR_STREAMING_REQ for r in self._requests())
        has_fixed_blocks = has_idle_sessions or self.scheduler.connector is not None
        super().reset_cache(reset_running_requests and not has_fixed_blocks)

    def add_request(self) -> None:
        """Adds one random request, most often a sibling of the last one: those wait for each other's states."""
        self._num_requests += 1
        rng, features = self._extra, self.features
        if not self._family or rng.random() < 0.3:
            stem = self._prompt()
            self._family = stem, self._shared_arguments(len(stem))
        stem, shared = self._family
        own = self._tokens(rng.choice([1, 2, self.shape.block_size // 2 + 1]))
        prompt = (stem + own)[: self.shape.max_prompt_tokens]
        arguments = dict(shared)
        if features.is_pooling:
            arguments["pooling_params"] = PoolingParams(task="embed", skip_reading_prefix_cache=rng.random() < 0.1)
        if rng.random() < features.session_share:
            arguments["resumable"] = True
        if rng.random() < features.prompt_logprobs_share:
            arguments["sampling"] = {"prompt_logprobs": 1}
        if rng.random() < features.prefilled_elsewhere_share and "resumable" not in arguments:
            arguments["sampling"] = {"extra_args": {"kv_transfer_params": self._prefilled_elsewhere(len(prompt))}}
        request = make_request(
            self.scheduler,
            f"request-{self._num_requests}",
            prompt,
            max_tokens=rng.choice([1, 1, 2, 5, 40]),
            priority=rng.randrange(3) if self.shape.policy == "priority" else 0,
            arrival_time=float(self._num_requests),
            **arguments,
        )
        self.scheduler.add_request(request)

    def _shared_arguments(self, num_tokens: int) -> dict[str, Any]:
        """What siblings have in common beside their tokens, or they would not share a prefix."""
        rng, features, arguments = self._extra, self.features, {}
        if features.max_loras and rng.random() < 0.6:
            number = rng.randrange(1, NUM_ADAPTERS + 1)
            arguments["lora_request"] = LoRARequest(f"adapter-{number}", number, "/nowhere")
        if rng.random() < features.salt_share:
            arguments["cache_salt"] = rng.choice(["one", "two"])
        if features.encoder_budget and rng.random() < 0.7:
            arguments["mm_features"] = self._images(num_tokens)
        return arguments

    def _prefilled_elsewhere(self, num_tokens: int) -> dict[str, Any]:
        num_blocks = -(-num_tokens // self.shape.block_size)
        groups = len(self.scheduler.kv_cache_config.kv_cache_groups)
        return PREFILLED_ELSEWHERE | {"remote_block_ids": [list(range(num_blocks))] * groups}

    def _requests(self) -> list[Any]:
        return list(self.scheduler.requests.values())

    def advance(self) -> None:
        """Takes one round of a millisecond, throttled or not; requests get draft tokens for the next one."""
        self.clock.now_ns += 1_000_000
        self.in_flight.append(schedule_round(self.scheduler, self.throttles_next))
        self.last_output = self.in_flight[-1][0]
        if len(self.in_flight) > self.shape.async_scheduling:
            self._answer(self.in_flight.popleft())

    def answer_all(self) -> None:
        """Hands in the answers that are still on their way."""
        while self.in_flight:
            self._answer(self.in_flight.popleft())

    def finish(self, max_rounds: int = 20_000) -> None:
        """Ends the sessions as well."""
        self.throttles_next = False
        for _ in range(max_rounds):
            if not self.scheduler.requests:
                break
            for request in self._requests():
                if request.status == RequestStatus.WAITING_FOR_STREAMING_REQ:
                    self._go_on(request.request_id, ends=True)
            self.scheduler.set_pause_state(type(self.scheduler.pause_state).UNPAUSED)
            self.advance()
        super().finish(1)

    def _answer(self, taken: Round) -> None:
        update_round(self.scheduler, taken)
        if not self.features.speculation or self.shape.async_scheduling:
            return
        running = [r for r in self.scheduler.running if not r.is_prefill_chunk and self._extra.random() < 0.7]
        drafts = [[7] * self._extra.randrange(self.scheduler.num_spec_tokens + 1) for _ in running]
        self.scheduler.update_draft_token_ids(DraftTokenIds([r.request_id for r in running], drafts))

    def _go_on(self, name: str, ends: bool) -> None:
        tokens = self._tokens(self._extra.choice([1, 5, self.shape.block_size]))
        request = self.scheduler.requests[name]
        ends = ends or request.num_tokens + len(tokens) + 2 > self.shape.max_prompt_tokens
        self.scheduler.add_request(make_request(self.scheduler, name, tokens, max_tokens=1, resumable=not ends))

    def _images(self, num_tokens: int) -> list[MultiModalFeatureSpec]:
        """One or two images at random places; few identifiers, so that some are cached."""
        images, start = [], self._extra.randrange(max(1, num_tokens // 2))
        for _ in range(self._extra.randrange(1, 3)):
            length = min(self._extra.randrange(1, self.features.encoder_budget + 1), num_tokens - start)
            if length < 1:
                break
            name = f"image-{length}-{self._extra.randrange(3)}"
            images.append(MultiModalFeatureSpec(None, "image", name, PlaceholderRange(offset=start, length=length)))
            start += length + self._extra.randrange(4)
        return images
