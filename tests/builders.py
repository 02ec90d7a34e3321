"""Tiny recordings by hand, written by the real writer, with numbers that can be checked on paper.

Round n begins at 1000 + 100 (n - 1) ns and takes: schedule() 10 ns, the worker from 20 to 80 ns, the update from 80 to
90 ns; a probe adds 5 ns of its own, which is part of no duration. Requests are sent at 900 ns, registered at 950 ns,
and completed for the client 100 ns after the start of their last round.
"""

import json
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from radixflow.collector.instrumentation.row_making.slot_ledger import TOKEN_REASONS
from radixflow.schema.run_files.manifest import MANIFEST_NAME, Manifest, utc_now, write_manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing.segment_writer import SegmentWriter

FIRST_ROUND_NS = 1000
ROUND_NS = 100
SENT_NS = 900
REGISTERED_NS = 950
PROBE_NS = 5
_CLASS_OF_OUTCOME = {"ready": "rows_avoidable", "blocked": "rows_dependency_wait", "held": "rows_held"}


@dataclass
class Visit:
    """A waiting request that was looked at and not selected; make one with the functions below."""

    request_id: str
    outcome: str
    witness: str
    columns: dict[str, Any] = field(default_factory=dict)
    at: int | None = None

    @property
    def slot_class(self) -> str:
        if self.outcome == "other":
            return "rows_token_limited" if self.columns["reason"] in TOKEN_REASONS else "rows_other"
        return _CLASS_OF_OUTCOME[self.outcome]


def blocked(request_id, producer, matched=32, ready=0, published_round=None, witness="native", at=None) -> Visit:
    """A visit that ended BLOCKED; with ``published_round`` the state was only marked again."""
    cause = "being_written" if published_round is None else "marked_again"
    columns = {"cause": cause, "producer": producer, "matched_tokens": matched, "ready_tokens": ready}
    columns |= {"published_round": published_round, "awaited_hash": hash_of(cause[0] + producer)}
    return Visit(request_id, "blocked", witness, columns, at)


def hash_of(producer) -> int:  # above 2**63
    return 2**63 + int.from_bytes(producer.encode()[:7], "little")


def ready(request_id, num_tokens, at=None) -> Visit:
    """A request that the probe found READY behind the stop."""
    columns = {"num_tokens": num_tokens, "matched_tokens": 0, "ready_tokens": 0}
    return Visit(request_id, "ready", "probe", columns, at)


def held(request_id, at=None) -> Visit:
    """A request that admission held."""
    return Visit(request_id, "held", "native", at=at)


def other(request_id, reason, at=None) -> Visit:
    """A native refusal for another reason than the recurrent state."""
    return Visit(request_id, "other", "native", {"reason": reason}, at)


class RunBuilder:
    """Builds one run in memory and writes it as a run directory.

    Requests and rounds are added in order; everything that follows from them is computed: slots, kinds, both ledgers,
    the totals of each request, events, spans, the counts in the manifest. ``rows_of`` holds the rows of each table as
    dicts once :meth:`finish` ran, for a test that wants to plant a fault in them before :meth:`write`.
    """

    def __init__(
        self, path: Path, policy: str = "radix", row_capacity: int = 2, token_budget: int = 128, client: bool = True,
        **manifest_facts: Any,
    ) -> None:  # fmt: skip
        self.path = Path(path)
        self.row_capacity = row_capacity
        self.token_budget = token_budget
        self.client = client
        self.manifest = Manifest(**(_manifest_facts(policy, row_capacity, token_budget) | manifest_facts))
        self.rows_of: dict[str, list[dict[str, Any]]] = {table: [] for table in ALL_TABLES}
        self.numbers: dict[str, int] = {}
        self._requests: dict[str, dict[str, Any]] = {}
        self._offers: dict[str, dict[str, Any]] = {}
        self._next_start_ns = FIRST_ROUND_NS
        self._is_finished = False

    def request(self, request_id: str, group: int = 0, branch: int = 0, prompt: int = 48, **changes: Any) -> int:
        """Add a request; ``changes`` replace columns of its offer or of its row in requests. Returns its number."""
        number = self.numbers[request_id] = len(self.numbers)
        self._offers[request_id] = {
            "request_id": request_id, "request_group": group, "branch": branch, "dataset": "made", "regime": "mixed",
            "input_order": "given", "num_prompt_tokens": prompt, "max_output_tokens": 1, "offered_ns": SENT_NS,
            "sent_ns": SENT_NS, "outcome": "unfinished", "first_token_id": 7,
        }  # fmt: skip
        self._requests[request_id] = {
            "request": number, "request_id": request_id, "num_prompt_tokens": prompt, "registered_ns": REGISTERED_NS,
            "released_ns": REGISTERED_NS, "num_scheduled_tokens": 0, "num_scheduled_prompt_tokens": 0,
            "num_repeated_tokens": 0, "num_output_tokens": 0, "num_preemptions": 0, "num_blocked_visits": 0,
            "num_rows": 0, "outcome": "unfinished",
        }  # fmt: skip
        for name, value in changes.items():
            targets = [row for row, table in self._rows_of_request(request_id) if name in ALL_TABLES[table].names]
            assert targets, f"no column {name}"
            for row in targets:
                row[name] = value
        return number

    def rejected(self, request_id: str, group: int = 0, branch: int = 0, prompt: int = 9999) -> None:
        """Add a branch that the client never sent."""
        self._offers[request_id] = {
            "request_id": request_id, "request_group": group, "branch": branch, "dataset": "made", "regime": "mixed",
            "input_order": "given", "num_prompt_tokens": prompt, "max_output_tokens": 1, "offered_ns": SENT_NS,
            "outcome": "rejected", "outcome_reason": "The prompt is longer than the model allows.",
        }  # fmt: skip

    def round(
        self, *rows: tuple[Any, ...], visits: tuple[Visit, ...] = (), stop: str = "end_of_queue",
        stop_request: str | None = None, finishes: bool = True, duration_ns: int = ROUND_NS, **changes: Any,
    ) -> None:  # fmt: skip
        """Add a round.

        Args:
            rows: ``(request_id, num_tokens)`` or ``(request_id, num_tokens, num_reused_tokens)`` in order of selection.
            visits: Requests looked at and not selected; they come after the selected ones unless they say ``at``.
            stop: What ended the scan.
            stop_request: Request at which it stopped.
            finishes: Whether requests whose prompt is done end here, with one output token.
            duration_ns: Time until the next round starts.
            changes: Replace columns of the row in rounds.
        """
        number, start_ns = len(self.rows_of["rounds"]) + 1, self._next_start_ns
        self._next_start_ns += duration_ns
        waiting = self._num_waiting(start_ns)
        kinds = [self._add_row(number, start_ns, slot, *row) for slot, row in enumerate(rows)]
        self._place_rows(number, {visit.at for visit in visits})
        self._add_visits(number, start_ns, sum(kind != "running" for kind in kinds), visits)
        if finishes:
            for request_id, *_ in rows:
                self._finish_if_done(request_id, start_ns)
        probed = [visit for visit in visits if visit.witness == "probe"]
        record = {
            "round": number, "schedule_start_ns": start_ns, "schedule_end_ns": start_ns + 10,
            **self._ledger(len(rows), visits), "token_budget": self.token_budget,
            "tokens_scheduled": sum(row[1] for row in rows),
            "tokens_avoidable": sum(visit.columns["num_tokens"] for visit in visits if visit.outcome == "ready"),
            "num_rows_new": kinds.count("new"), "num_rows_resumed": kinds.count("resumed"),
            "num_rows_running": kinds.count("running"), "num_running_before": kinds.count("running"),
            "num_waiting_before": waiting, "num_waiting_after": waiting - len(kinds) + kinds.count("running"),
            "num_held": sum(visit.outcome == "held" for visit in visits),
            "num_visits": len(kinds) - kinds.count("running") + len(visits) - len(probed),
            "num_blocked_visits": sum(v.outcome == "blocked" and v.witness == "native" for v in visits),
            "num_probed": len(probed), "num_preempted": 0, "stop_reason": stop,
            "stop_request": None if stop_request is None else self.numbers[stop_request],
            "stop_cause": _stop_cause(stop, stop_request, visits),
            "probe_end_reason": "row_capacity" if probed else None, "num_free_blocks": 100 - number,
            "num_empty_steps": 0, "update_start_ns": start_ns + 80, "update_end_ns": start_ns + 90,
            "probe_ns": PROBE_NS if probed else None, "recorder_ns": 0,
        }  # fmt: skip
        self.rows_of["rounds"].append(record | changes)
        self.rows_of["spans"].append({
            "round": number, "component": "execute", "process_rank": 0, "clock": "host",
            "start_ns": start_ns + 20, "end_ns": start_ns + 80,
        })  # fmt: skip

    def finish(self) -> "RunBuilder":
        """Put requests and offers into ``rows_of``; after this, only the rows themselves can be changed."""
        if not self._is_finished:
            self._is_finished = True
            self.rows_of["requests"] = list(self._requests.values())
            self.rows_of["offers"] = list(self._offers.values()) if self.client else []
            self.rows_of["events"].sort(key=lambda event: event["time_ns"])
        return self

    def write(self, state: str = "complete") -> Path:
        """Write the run directory and return its path."""
        self.finish()
        create_run(self.path, self.manifest)
        writers = {"engine": [table for table in ALL_TABLES if table != "offers"]}
        if self.client:
            writers["client"] = ["offers"]
        for name, tables in writers.items():
            writer = SegmentWriter(self.path, name, flush_seconds=60, durable=False)
            writer.describe(policy_effective=self.manifest.policy, block_size=16, records_stalls=True)
            for table in tables:
                rows = [tuple(row.get(column) for column in ALL_TABLES[table].names) for row in self.rows_of[table]]
                writer.append(table, rows)
            assert writer.close(timeout=120) and not writer.faults, writer.faults
            self.manifest.tables |= writer.rows_written
        self.manifest.state = state
        self.manifest.finished_utc = utc_now() if state == "complete" else None
        write_manifest(self.path, self.manifest)
        return self.path

    def _rows_of_request(self, request_id: str) -> list[tuple[dict[str, Any], str]]:
        return [(self._offers[request_id], "offers"), (self._requests[request_id], "requests")]

    def _num_waiting(self, start_ns: int) -> int:
        requests = self._requests.values()
        return sum(each["registered_ns"] <= start_ns and "first_selected_ns" not in each for each in requests)

    def _add_row(self, number: int, start_ns: int, slot: int, request_id: str, tokens: int, reused: int = 0) -> str:
        life = self._requests[request_id]
        kind = "running" if "first_selected_ns" in life else "new"
        computed = life.get("num_reused_tokens", 0) + life["num_scheduled_tokens"]
        if kind == "new":
            life |= {"first_selected_ns": start_ns, "first_selected_round": number, "num_reused_tokens": reused}
            self._event(start_ns, request_id, "selected", round=number)
            if life["num_blocked_visits"]:
                self._event(start_ns, request_id, "recovered", round=number, num_rounds=life["num_blocked_visits"])
        prompt_left = life["num_prompt_tokens"] - life["num_reused_tokens"] - life["num_scheduled_prompt_tokens"]
        life["num_scheduled_tokens"] += tokens
        life["num_scheduled_prompt_tokens"] += max(0, min(tokens, prompt_left))
        life["num_rows"] += 1
        self.rows_of["rows"].append({
            "round": number, "slot": slot, "request": life["request"], "kind": kind, "first_token": computed + reused,
            "num_tokens": tokens, "num_reused_tokens": reused,
        })  # fmt: skip
        return kind

    def _place_rows(self, number: int, taken: set[int | None]) -> None:
        """Give the rows selected from the waiting queue their places in the scan, around the visits that say ``at``."""
        free = (place for place in range(1_000) if place not in taken)
        for row in self.rows_of["rows"]:
            if row["round"] == number and row["kind"] != "running":
                row["visit"] = next(free)

    def _add_visits(self, number: int, start_ns: int, num_selected: int, visits: tuple[Visit, ...]) -> None:
        awaited: dict[int, dict[str, Any]] = {}
        for position, visit in enumerate(visits):
            columns = dict(visit.columns)
            if visit.outcome == "blocked":
                producer = self.numbers[columns.pop("producer")]
                state = {
                    "round": number, "awaited_hash": columns["awaited_hash"], "cause": columns["cause"],
                    "producer": producer, "published_round": columns.pop("published_round"), "num_visits": 0,
                    "num_probe_visits": 0,
                }  # fmt: skip
                state = awaited.setdefault(columns["awaited_hash"], state)
                state["num_visits" if visit.witness == "native" else "num_probe_visits"] += 1
            if visit.outcome == "blocked" and visit.witness == "native":
                self._requests[visit.request_id]["num_blocked_visits"] += 1
                self._event(start_ns, visit.request_id, "blocked", round=number, detail=columns["cause"])
            at = num_selected + position if visit.at is None else visit.at
            named = {"round": number, "last_round": number, "visit": at, "request": self.numbers[visit.request_id]}
            self.rows_of["visits"].append({**named, "witness": visit.witness, "outcome": visit.outcome, **columns})
        self.rows_of["awaited_states"] += awaited.values()

    def _finish_if_done(self, request_id: str, start_ns: int) -> None:
        life, offer = self._requests[request_id], self._offers[request_id]
        if life["num_reused_tokens"] + life["num_scheduled_tokens"] < life["num_prompt_tokens"]:
            return
        life |= {"finished_ns": start_ns + 90, "num_output_tokens": 1, "outcome": "finished"}
        done = {"first_output_ns": start_ns + 100, "completed_ns": start_ns + 100, "num_output_tokens": 1}
        offer |= done | {"outcome": "completed"}
        self._event(start_ns + 90, request_id, "finished")

    def _event(self, time_ns: int, request_id: str, event: str, **more: Any) -> None:
        named = {"time_ns": time_ns, "request": self.numbers[request_id], "event": event}
        self.rows_of["events"].append(named | more)

    def _ledger(self, num_used: int, visits: tuple[Visit, ...]) -> dict[str, int]:
        """Fill the slot ledger as the recorder does: classes in their order, at most as many rows as are left."""
        left, counts = self.row_capacity - num_used, Counter(visit.slot_class for visit in visits)
        ledger = {"row_capacity": self.row_capacity, "rows_used": num_used}
        for name in ("rows_avoidable", "rows_dependency_wait", "rows_held", "rows_token_limited", "rows_other"):
            ledger[name] = min(left, counts[name])
            left -= ledger[name]
        return ledger | {"rows_no_work": left}


def _stop_cause(stop: str, stop_request: str | None, visits: tuple[Visit, ...]) -> str | None:
    causes = [visit.columns.get("cause") for visit in visits if visit.request_id == stop_request]
    return causes[0] if stop == "blocked" and causes else None


def _manifest_facts(policy: str, row_capacity: int, token_budget: int) -> dict[str, Any]:
    arguments = {"max_num_seqs": row_capacity, "max_num_batched_tokens": token_budget, "max_model_len": 4096}
    return {
        "experiment": "tiny", "stream": "figure-2", "policy": policy, "policy_effective": policy,
        "engine_kind": "simulated", "created_utc": "2026-01-01T00:00:00.000Z", "run_id": f"{policy:0<32}"[:32],
        "command": ["radixflow-collect", "--model", "tiny-hybrid", "--policy", policy],
        "model": {"name": "tiny-hybrid", "architecture": "Qwen3Next", "is_hybrid": True, "block_size": 16},
        "engine_arguments": arguments, "versions": {"radixflow": "0.1.0", "vllm": "0.32.0"},
        "workload": {"name": "figure-2", "digest": "f2" * 32, "seed": 1, "num_requests": 8, "num_groups": 4},
        "hardware": {"cpu": "paper", "num_cores": 2, "memory_bytes": 4 * 2**30, "device": "cpu"}, "probe": "blocked",
    }  # fmt: skip


def _figure_2(path: Path, policy: str) -> RunBuilder:
    """Eight requests: three share document a, three share document b (32 tokens each), c0 and d0 stand alone."""
    run = RunBuilder(path, policy)
    names = ("a0", "a1", "a2", "b0", "b1", "b2", "c0", "d0")
    for number, name in enumerate(names):
        run.request(name, group="abcd".index(name[0]), branch=int(name[1]), first_token_id=40 + number)
    return run


def prefix_stop_run(path: Path, change: Any = lambda run: run) -> Path:
    """The stream under prefix-stop: 6 rounds, 3 of them with one avoidable row; changed before it is written."""
    run = _figure_2(path, "radix")
    a1, a2 = blocked("a1", "a0"), blocked("a2", "a0", witness="probe")
    run.round(("a0", 48), visits=(a1, a2, ready("b0", 48)), stop="blocked", stop_request="a1")
    a2 = blocked("a2", "a1", published_round=1)
    run.round(("a1", 16, 32), visits=(a2, ready("b0", 48)), stop="blocked", stop_request="a2")
    run.round(("a2", 16, 32), ("b0", 48), stop="row_capacity")
    b2 = blocked("b2", "b1", published_round=3)
    run.round(("b1", 16, 32), visits=(b2, ready("c0", 48)), stop="blocked", stop_request="b2")
    run.round(("b2", 16, 32), ("c0", 48), stop="row_capacity")
    run.round(("d0", 48))
    return change(run).write()


def state_ready_run(path: Path) -> Path:
    """The same stream under state-ready traversal: the same tokens in 4 full rounds."""
    run = _figure_2(path, "radixflow-immediate")
    skipped = (blocked("a1", "a0", at=1), blocked("a2", "a0", at=2))
    run.round(("a0", 48), ("b0", 48), visits=skipped, stop="row_capacity")
    skipped = (blocked("a2", "a1", published_round=1, at=1),)
    run.round(("a1", 16, 32), ("b1", 16, 32), visits=skipped, stop="row_capacity")
    run.round(("a2", 16, 32), ("b2", 16, 32), stop="row_capacity")
    run.round(("c0", 48), ("d0", 48))
    return run.write()


def tiny_pair(root: Path) -> tuple[Path, Path]:
    """Write both arms of one stream under ``root``; the same 256 tokens in 6 rounds and in 4."""
    stream = root / "tiny" / "figure-2"
    return prefix_stop_run(stream / "radix"), state_ready_run(stream / "radixflow-immediate")


def empty_run(root: Path) -> Path:
    """Write a run in which nothing was offered and nothing happened: a manifest and no segment."""
    return RunBuilder(root / "tiny" / "figure-2" / "empty", "empty").write()


def one_round_run(root: Path) -> Path:
    """Write a run of one request in one round."""
    run = RunBuilder(root / "tiny" / "figure-2" / "one-round", "one-round")
    run.request("a0")
    run.round(("a0", 48))
    return run.write()


def incomplete_run(root: Path) -> Path:
    """Write a run that was killed after its third round: no end in the manifest, writers not closed, a part of a file.

    Requests that had not ended are in no segment.
    """
    run = _figure_2(root / "tiny" / "figure-2" / "incomplete", "incomplete")
    run.round(("a0", 48), visits=(blocked("a1", "a0"), ready("b0", 48)), stop="blocked", stop_request="a1")
    run.round(("a1", 16, 32), ("b0", 48), stop="row_capacity")
    run.round(("a2", 16, 32), stop="paused", finishes=False)
    run.finish()
    run.rows_of["requests"] = [row for row in run.rows_of["requests"] if row["outcome"] == "finished"]
    run.rows_of["offers"] = [row for row in run.rows_of["offers"] if row["outcome"] == "completed"]
    path = run.write(state="incomplete")
    for writer in (path / "writers").glob("*.json"):
        writer.write_text(json.dumps(json.loads(writer.read_text()) | {"closed": False}))
    manifest = json.loads((path / MANIFEST_NAME).read_text()) | {"tables": {}}
    (path / MANIFEST_NAME).write_text(json.dumps(manifest))
    (path / "rounds" / ".tmp-engine-000001.parquet").write_bytes(b"PAR1 and no more")
    return path


def broken_run(root: Path, fault: str = "truncated") -> Path:
    """Write the prefix-stop arm with one fault in its files.

    Args:
        root: Where to write it.
        fault: ``truncated`` (the visits segment is cut in half), ``foreign`` (a segment of another tool lies in
            ``rows``), ``not_parquet`` (a text lies there), ``missing`` (the rows segment is gone), ``future_version``.
    """
    path = prefix_stop_run(root / "tiny" / "figure-2" / fault)
    (visits,), (rows,) = (path / "visits").glob("*.parquet"), (path / "rows").glob("*.parquet")
    if fault == "truncated":
        content = visits.read_bytes()
        visits.write_bytes(content[: len(content) // 2])
    elif fault == "foreign":
        shutil.copy(visits, path / "rows" / "engine-000001.parquet")
    elif fault == "not_parquet":
        (path / "rows" / "engine-000001.parquet").write_text("not a segment")
    elif fault == "missing":
        rows.unlink()
    elif fault == "future_version":
        manifest = json.loads((path / MANIFEST_NAME).read_text()) | {"format_version": 99}
        (path / MANIFEST_NAME).write_text(json.dumps(manifest))
    else:
        raise ValueError(fault)
    return path
