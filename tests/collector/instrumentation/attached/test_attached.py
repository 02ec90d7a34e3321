"""A recorded server without a model: runs come and go while the real scheduler goes on, and nothing is lost between."""

import gc
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.instrumentation.attached import keeper, listener, runs
from radixflow.collector.instrumentation.attached.control import RECORD, STOP, write_word
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from radixflow.collector.vllm_adapters.scan import ScanListener
from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory
from tests.collector.instrumentation.recorder.test_recorder_failures import NUM_ROUNDS, decisions
from tests.scheduler_harness import SchedulerWorld, WorldShape, output_digest

CLASSES: list[type[Scheduler]] = [RecordedScheduler, RecordedAsyncScheduler]


def settings_for(folder: Path, **changes: Any) -> AttachSettings:
    return AttachSettings(**{
        "folder": str(folder / "server"), "stream": "served", "policy": "radix", "model": "made", "server": "one",
        "command": ("radixflow-collect", "attach"), **changes,
    })  # fmt: skip


class Server:
    """A scheduler under random traffic, recorded run by run."""

    def __init__(self, settings: AttachSettings, scheduler_cls: type[Scheduler] = RecordedScheduler, seed: int = 3):
        shape = WorldShape(
            block_size=16, hash_block_size=None, num_blocks=80, max_num_seqs=8, max_num_batched_tokens=64,
            max_prompt_tokens=96, arrival_rate=4.0, async_scheduling=scheduler_cls is RecordedAsyncScheduler,
        )  # fmt: skip
        self.settings = settings
        self.world = SchedulerWorld(shape, random.Random(seed), scheduler_cls, settings.additional_config())
        self.said: list[dict[str, Any]] = []

    def serve(self, after_each: Callable[[int], None] = lambda step: None) -> list[Path]:
        """Serve, shut down, and return the runs."""
        for step, _ in enumerate(self.world.states(NUM_ROUNDS)):
            self.world.advance()
            self.said.append(output_digest(self.world.last_output) if self.world.last_output is not None else {})
            after_each(step)
        self.world.answer_all()
        self.world.scheduler.shutdown()
        gc.collect()
        return runs.runs_of_server(self.settings)

    def wish(self, word: str, then: Callable[[], bool]) -> None:
        """Write a word into the control file and wait until it has been heard."""
        write_word(self.settings.control_file, word)
        wait_for(then)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def query(paths: list[Path], sql: str) -> list[tuple[Any, ...]]:
    connection = open_runs(paths)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "POLL_SECONDS", 0.02)


def scheduled(said: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Rows and tokens of each round, as schedule() said them."""
    rounds = [each["num_scheduled_tokens"] for each in said if each.get("num_scheduled_tokens")]
    return [(len(tokens), sum(tokens.values())) for tokens in rounds]


@pytest.mark.parametrize("scheduler_cls", CLASSES)
def test_runs_that_follow_each_other_hold_every_round_and_every_end_once(
    tmp_path: Path, scheduler_cls: type[Scheduler]
) -> None:
    server = Server(settings_for(tmp_path, max_duration_s=0.15, rotate=1000), scheduler_cls)
    paths = server.serve(lambda _: time.sleep(0.01))
    assert len(paths) >= 4
    for path in paths:
        assert (RunDirectory(path).state, check_run(path)) == ("complete", [])
    assert query(paths, "SELECT rows_used, tokens_scheduled FROM rounds ORDER BY run, round") == scheduled(server.said)
    ends = "SELECT request_id FROM requests WHERE outcome IN ('finished', 'continued', 'aborted')"
    ended = [name for (name,) in query(paths, ends)]
    assert len(ended) == len(set(ended)) > 20
    assert query(paths, "SELECT count(*) FROM requests WHERE outcome = 'continued'")[0][0] > 0
    reasons = [RunDirectory(path).manifest.attached["end_reason"] for path in paths]
    assert reasons == ["max_duration"] * (len(paths) - 1) + ["server_closed"]


def test_a_recorder_that_knows_nothing_of_present_requests_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault that the test above guards against."""
    monkeypatch.setattr(RoundRecorder, "adopt", lambda *_: None)
    server = Server(settings_for(tmp_path, max_duration_s=0.15, rotate=1000))
    paths = server.serve(lambda _: time.sleep(0.01))
    assert any(check_run(path) for path in paths)
    assert server.said == decisions(RecordedScheduler, "radix", 3)  # and scheduling goes on as if nobody had listened


@pytest.mark.parametrize("scheduler_cls", CLASSES)
def test_recording_stops_and_starts_by_a_word_and_changes_no_decision(
    tmp_path: Path, scheduler_cls: type[Scheduler]
) -> None:
    settings = settings_for(tmp_path)
    server = Server(settings, scheduler_cls)

    def state_of(number: int) -> str | None:
        path = tmp_path / "server" / f"served-{number:04d}" / "radix"
        return RunDirectory(path).state if (path / "manifest.json").exists() else None

    def steer(step: int) -> None:
        if step == 15:
            write_word(settings.control_file, STOP)
            time.sleep(0.2)  # to be heard; the last round is answered by one of the next steps
        elif step == 35:
            wait_for(lambda: state_of(1) == "complete")
            server.wish(RECORD, lambda: state_of(2) == "recording")
        elif step == 40:
            write_word(settings.control_file, "pause")  # no such word
            time.sleep(0.1)
            write_word(settings.control_file, RECORD)  # is what it does already

    first, second = server.serve(steer)
    assert server.said == decisions(scheduler_cls, "radix", 3)
    assert (check_run(first), check_run(second)) == ([], [])
    assert 10 <= query([first], "SELECT count(*) FROM rounds")[0][0] < 35
    rounds = query([second], "SELECT rows_used, tokens_scheduled FROM rounds ORDER BY round")
    assert rounds == scheduled(server.said)[-len(rounds) :]
    assert query([second], "SELECT count(*) FROM requests WHERE outcome = 'continued'")[0][0] > 0
    assert settings.control_file.read_text() == STOP + "\n"


def test_an_idle_server_stops_recording_too(tmp_path: Path) -> None:
    server = Server(settings_for(tmp_path))
    path = tmp_path / "server" / "served-0001" / "radix"
    server.wish(STOP, lambda: RunDirectory(path).state == "complete")
    assert check_run(path) == []
    server.world.scheduler.shutdown()


def test_a_sample_keeps_whole_rounds_and_the_whole_lives_of_requests(tmp_path: Path) -> None:
    whole = Server(settings_for(tmp_path / "whole")).serve()
    sampled = Server(settings_for(tmp_path / "sampled", sample_rounds=0.3))
    paths = sampled.serve()
    assert sampled.said == decisions(RecordedScheduler, "radix", 3)
    assert (check_run(whole[0]), check_run(paths[0])) == ([], [])
    lives = """SELECT request_id, num_prompt_tokens, first_selected_round, num_reused_tokens, num_scheduled_tokens,
        num_repeated_tokens, num_output_tokens, num_preemptions, num_blocked_visits, num_rows, outcome FROM requests"""
    assert sorted(query(paths, lives), key=str) == sorted(query(whole, lives), key=str)
    happened = "SELECT request, event, round, other_request, detail, num_rounds FROM events"
    assert sorted(query(paths, happened), key=str) == sorted(query(whole, happened), key=str)
    kept = {number for (number,) in query(paths, "SELECT round FROM rounds")}
    assert 0 < len(kept) < 60
    for table, columns in (("rows", "request, slot, num_tokens"), ("visits", "request, outcome, cause, num_tokens")):
        name = "round_visits" if table == "visits" else table
        held = query(paths, f"SELECT round, {columns} FROM {name}")
        everything = query(whole, f"SELECT round, {columns} FROM {name}")
        assert sorted(held, key=str) == sorted((row for row in everything if row[0] in kept), key=str)
    counted = "num_rounds, num_empty_steps, rows_per_round, num_scheduled_tokens, num_blocked_visits"
    assert query(paths, f"SELECT {counted} FROM run_summary") == query(whole, f"SELECT {counted} FROM run_summary")
    assert RunDirectory(paths[0]).manifest.sampling["rounds_fraction"] == 0.3


def test_a_run_that_reaches_its_size_ends_and_the_server_goes_on(tmp_path: Path) -> None:
    server = Server(settings_for(tmp_path, max_size_bytes=1))
    (path,) = server.serve(lambda _: time.sleep(0.02))
    assert RunDirectory(path).manifest.attached["end_reason"] == "max_size"
    assert check_run(path) == []
    assert 0 < query([path], "SELECT count(*) FROM rounds")[0][0] < len(scheduled(server.said))
    assert server.said == decisions(RecordedScheduler, "radix", 3)


def test_a_ring_keeps_the_latest_runs_and_touches_no_others(tmp_path: Path) -> None:
    before = Server(settings_for(tmp_path, server="before")).serve()  # recorded without a ring: not of it
    old = Server(settings_for(tmp_path, server="old", rotate=2)).serve()
    server = Server(settings_for(tmp_path, max_duration_s=0.1, rotate=2))
    server.serve(lambda _: time.sleep(0.01))
    streams = sorted(path.name for path in (tmp_path / "server").iterdir() if path.is_dir())
    assert streams[0] == before[0].parent.name == "served-0001"
    assert old[0].parent.name == "served-0002"
    assert len(streams) == 3
    assert "served-0002" not in streams
    kept = runs.runs_of_server(server.settings)
    assert [RunDirectory(path).state for path in kept] == ["complete"] * 2


def test_a_folder_that_cannot_be_written_leaves_a_server_that_serves(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "server").write_text("in the way")
    server = Server(settings_for(tmp_path))
    assert server.serve() == []
    assert server.said == decisions(RecordedScheduler, "radix", 3)
    assert "radixflow: not recording: " in capfd.readouterr().err


def test_every_hook_of_the_scan_is_handed_on() -> None:
    """A hook that is new must not be lost between the scheduler and the recorder."""
    hooks = {name for name in vars(ScanListener) if not name.startswith("_")}
    handed_on = {name for name in vars(listener.AttachedListener) if not name.startswith("_")}
    assert hooks - handed_on == set(listener.WITHIN_A_STEP)


def test_settings_that_are_not_understood_are_refused_before_the_server_starts(tmp_path: Path) -> None:
    for change in ({"sample_rounds": 0}, {"sample_rounds": "1%"}, {"nonsense": 1}, {"probe": "some"}):
        config = settings_for(tmp_path).additional_config()
        config["radixflow"]["attach"] |= change
        with pytest.raises(ValueError, match="attach"):
            AttachSettings.from_config(type("Config", (), {"additional_config": json.loads(json.dumps(config))}))
