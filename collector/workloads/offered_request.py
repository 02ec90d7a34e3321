"""One branch as a client offers it, and a stream of them with its digest."""

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OfferedRequest:
    """One branch of a stream, equal in every arm."""

    request_id: str
    """Name of the branch, unique in its stream."""
    request_group: int
    """Number of the request group (question) that the branch belongs to."""
    branch: int
    """Number of the branch in its group, from 0."""
    dataset: str
    """Dataset or generator that the branch comes from."""
    regime: str
    """Reuse regime of the stream: cold, mixed or reuse."""
    input_order: str
    """Input order of the stream."""
    prompt_token_ids: tuple[int, ...] = field(repr=False)
    """Token ids of the prompt."""
    max_output_tokens: int
    """Output tokens asked for."""
    offset_ns: int
    """Time after the start of the stream at which the branch is due to be sent, in ns."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One ordered sequence of offered requests; the arms of one stream are paired by its digest."""

    workload: str
    """Name of the workload that made the stream."""
    requests: tuple[OfferedRequest, ...]
    """The branches in the order in which they are sent."""
    parameters: dict[str, object]
    """What the workload was asked for, as the manifest shows it (JSON values)."""

    @property
    def num_groups(self) -> int:
        """Number of request groups."""
        return len({request.request_group for request in self.requests})

    def digest(self) -> str:
        """SHA-256 (hex) over ids, prompt tokens, offsets and output lengths, in order of sending."""
        return stream_digest(self.requests)


def stream_digest(requests: Iterable[OfferedRequest]) -> str:
    """SHA-256 (hex) of a sequence of requests. Every field has a fixed length or its length before it."""
    digest = hashlib.sha256(b"radixflow-stream-1")
    for request in requests:
        name = request.request_id.encode()
        prompt = request.prompt_token_ids
        digest.update(struct.pack("<I", len(name)) + name)
        digest.update(struct.pack("<qiqqq", request.request_group, request.branch, request.offset_ns,
                                  request.max_output_tokens, len(prompt)))  # fmt: skip
        digest.update(struct.pack(f"<{len(prompt)}q", *prompt))
    return digest.hexdigest()
