"""Repeated visits are stored once, and spread over their rounds again they are exactly what was seen."""

import random
from pathlib import Path
from typing import Any

import pytest

from radixflow.collector.instrumentation.row_making import visit_runs
from radixflow.collector.instrumentation.row_making.visit_runs import VisitRuns
from radixflow.schema.tables.visits import MAXIMUM_VISIT_ROUNDS

pytest.importorskip("vllm")

from radixflow.collector.instrumentation.notes.step_notes import FinishedStep
from radixflow.collector.instrumentation.row_making.row_maker import RowMaker
from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from tests.scheduler_harness import SchedulerWorld, WorldShape, build_scheduler, drain, make_request

BLOCKED, HELD = ("native", "blocked"), ("native", "held")
Seen = list[tuple[int, int, Any]]


def test_what_repeats_is_one_row_and_what_changes_starts_another() -> None:
    runs = VisitRuns()
    assert runs.add_round(1, [(7, BLOCKED), (8, BLOCKED), (9, None)]) == ([0, 1000, 2000], [])
    assert runs.add_round(2, [(7, BLOCKED), (8, HELD)]) == ([0, 1000], [(1, 1, 1000, 8, *BLOCKED)])
    assert runs.add_round(3, [(7, None), (8, HELD)]) == ([0, 1000], [(1, 2, 0, 7, *BLOCKED)])
    assert runs.add_round(5, [(8, HELD)]) == ([1000], [(2, 3, 1000, 8, *HELD)]), "round 4 did not look at it"
    assert runs.take() == [(5, 5, 1000, 8, *HELD)]
    assert runs.take() == []


def test_a_run_spans_a_bounded_number_of_rounds() -> None:
    runs = VisitRuns()
    ended = [row for number in range(1, 200) for row in runs.add_round(number, [(7, BLOCKED)])[1]]
    assert [row[:2] for row in ended] == [(1, 64), (65, 128), (129, 192)]
    assert MAXIMUM_VISIT_ROUNDS == 64


def test_requests_that_are_not_visited_any_more_do_not_pile_up() -> None:
    runs = VisitRuns()
    for number in range(1, 5_000):
        runs.add_round(number, [(number, BLOCKED)])
    assert len(runs._open) <= visit_runs._STALE_ALLOWED + 2


def random_rounds(rng: random.Random, num_rounds: int) -> list[list[tuple[int, Any]]]:
    """A queue that requests join at the end, leave anywhere, and come back to at the front."""
    queue, rounds, num_requests = list(range(6)), [], 6
    for _ in range(num_rounds):
        if rng.random() < 0.2:
            queue.append(num_requests)
            num_requests += 1
        if queue and rng.random() < 0.1:
            queue.insert(0, queue.pop(rng.randrange(len(queue))))
        visits: list[tuple[int, Any]] = [(request, rng.choices([BLOCKED, HELD], [9, 1])[0]) for request in queue]
        if queue and rng.random() < 0.3:
            place = rng.randrange(len(queue))
            visits[place] = (queue.pop(place), None)
        rounds.append(visits[: rng.choice([len(visits), len(visits), 3])])
    return rounds


def stored(rounds: list[list[tuple[int, Any]]], rng: random.Random) -> dict[int, Seen]:
    """What the stored rows say of each round, in the order of their places; rows are taken at random moments."""
    runs, said = VisitRuns(), dict[int, Seen]()
    for number, visits in enumerate(rounds, start=1):
        places, rows = runs.add_round(number, visits)
        assert places == sorted(set(places))
        selected = [(place, request, None) for place, (request, facts) in zip(places, visits, strict=True) if not facts]
        said.setdefault(number, []).extend(selected)
        for first, last, place, request, *facts in rows + (runs.take() if rng.random() < 0.05 else []):
            for spread in range(first, last + 1):
                said[spread].append((place, request, tuple(facts)))
    for first, last, place, request, *facts in runs.take():
        for spread in range(first, last + 1):
            said[spread].append((place, request, tuple(facts)))
    return {number: sorted(seen) for number, seen in said.items()}


def agrees(seed: int) -> bool:
    rng = random.Random(seed)
    rounds = random_rounds(rng, 150)
    said = stored(rounds, rng)
    return all(
        [(request, facts) for _, request, facts in said[number]] == visits
        for number, visits in enumerate(rounds, start=1)
    )


def test_spread_over_their_rounds_runs_are_what_was_seen_in_its_order() -> None:
    assert all(agrees(seed) for seed in range(50))


@pytest.mark.parametrize("forgotten", ["last_round", "place", "facts"])
def test_a_run_that_overlooks_a_change_is_caught(forgotten: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: runs are joined although that changed."""

    def careless(run: Any, round_number: int, place: int, facts: Any) -> bool:
        return facts is not None and (
            (run.last_round == round_number - 1 or forgotten == "last_round")
            and (run.place == place or forgotten == "place")
            and (run.facts == facts or forgotten == "facts")
        )

    monkeypatch.setattr(visit_runs, "_goes_on", careless)
    assert not all(agrees(seed) for seed in range(50))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Every visit that a recorder writes, as the scan or the probe had it."""
    visits: list[tuple[Any, ...]] = []
    make = RowMaker._make_visits

    def make_and_keep(self: RowMaker, step: FinishedStep) -> Any:
        for visit in step.notes.all_visits():
            if visit.outcome != "selected":
                mark = visit.state.mark if visit.state is not None else None
                producer = self.lives.get(mark.request_id) if mark is not None else None
                number = self.lives[visit.request.request_id].number
                said = (visit.witness, visit.outcome, visit.reason, visit.cause, producer and producer.number)
                visits.append((step.round_number, number, *said))
        return make(self, step)

    monkeypatch.setattr(RowMaker, "_make_visits", make_and_keep)
    return visits


@pytest.mark.parametrize("policy", ["radix", "radixflow-immediate", "radixflow+frag", "radix+precise"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_run_gives_back_every_visit_with_its_producer(
    policy: str, is_async: bool, seen: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    """Also that a state has one mark a round: awaited_states holds one producer and cause for all who wait for it."""
    create_run(tmp_path / "run", Manifest("e", "s", policy, state="complete"))
    shape = WorldShape(
        block_size=16, hash_block_size=None, num_blocks=250, max_num_seqs=16, max_num_batched_tokens=128,
        max_prompt_tokens=96, arrival_rate=8.0, async_scheduling=is_async,
    )  # fmt: skip
    settings = {"policy": policy, "run_directory": str(tmp_path / "run"), "probe": "full"}
    scheduler_cls = RecordedAsyncScheduler if is_async else RecordedScheduler
    world = SchedulerWorld(shape, random.Random(5), scheduler_cls, {"radixflow": settings})
    for _ in world.states(200):
        world.advance()
    world.answer_all()
    world.scheduler.shutdown()
    assert [fault for fault in check_run(tmp_path / "run") if fault.where != "manifest.json"] == []
    with open_runs([tmp_path / "run"]) as connection:
        asked = (
            "SELECT round, request, witness, outcome, reason, cause, producer FROM round_visits ORDER BY round, visit"
        )
        found = connection.execute(asked).fetchall()
        ((num_stored, num_visits),) = connection.execute(
            "SELECT (SELECT count(*) FROM visits), (SELECT count(*) FROM round_visits)"
        ).fetchall()
    assert found == seen
    assert sum(visit[3] == "blocked" for visit in seen) > 10
    assert num_stored < num_visits


def test_many_consumers_of_one_document_do_not_swamp_a_run(tmp_path: Path) -> None:
    """Natively 0.32 refuses every consumer but one in every round, and each round another one marks the state."""
    create_run(tmp_path / "run", Manifest("e", "s", "radixflow-immediate", state="complete"))
    settings = {"policy": "radixflow-immediate", "run_directory": str(tmp_path / "run"), "probe": "full"}
    scheduler = build_scheduler(
        RecordedScheduler, block_size=16, max_num_seqs=16, max_num_batched_tokens=512, num_blocks=2000,
        additional_config={"radixflow": settings},
    )  # fmt: skip
    rng = random.Random(0)
    document = [rng.randrange(5, 500) for _ in range(160)]
    for number in range(200):
        scheduler.add_request(
            make_request(scheduler, str(number), document + [rng.randrange(5, 500) for _ in range(8)])
        )
    drain(scheduler)
    scheduler.shutdown()
    with open_runs([tmp_path / "run"]) as connection:
        ((num_stored, num_visits, num_counted),) = connection.execute(
            "SELECT (SELECT count(*) FROM visits), (SELECT count(*) FROM round_visits WHERE witness = 'native'), "
            "(SELECT sum(num_visits - num_rows_new) FROM rounds)"
        ).fetchall()
    assert num_visits == num_counted
    assert num_visits > 1_000
    assert num_stored < num_visits / 10
