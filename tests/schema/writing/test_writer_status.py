"""What a writer says of itself: the facts that it was given, then its own counts, in a file that is always whole."""

import json
import os
import threading

import pytest

from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.writing.writer_status import WriterStatus

COUNTS = {"rows_written": {"spans": 3}, "closed": False}


@pytest.fixture
def run(tmp_path):
    return create_run(tmp_path / "run", Manifest(experiment="try", stream="mixed", policy="radix"))


def test_it_is_written_as_it_is_read(run):
    status = WriterStatus(run.path, "engine", lambda: dict(COUNTS))
    status.describe(num_blocks=64)
    status.describe_by(lambda: {"num_rounds": 7})
    status.write()
    expected = {"writer": "engine", "pid": os.getpid(), "num_blocks": 64, "num_rounds": 7, **COUNTS}
    assert status.as_dict() == expected == run.writers()["engine"]
    text = (run.path / "writers" / "engine.json").read_text()
    assert list(json.loads(text)) == list(expected), "and in this order"


def test_nobody_can_claim_what_the_writer_counts(run):
    status = WriterStatus(run.path, "engine", lambda: dict(COUNTS))
    status.describe(closed=True)
    status.describe_by(lambda: {"closed": True})
    assert status.as_dict()["closed"] is False


def test_facts_that_change_are_asked_for_each_time(run):
    status, rounds = WriterStatus(run.path, "engine", dict), iter(range(2))
    status.describe_by(lambda: {"num_rounds": next(rounds)})
    assert [status.as_dict()["num_rounds"] for _ in range(2)] == [0, 1]


def test_what_cannot_be_written_leaves_the_file_before_it(run):
    status = WriterStatus(run.path, "engine", dict)
    status.write()
    before = run.writers()
    status.describe(impossible=object())
    with pytest.raises(TypeError):
        status.write()
    assert run.writers() == before and run.unfinished_files() == []


def test_a_run_that_is_gone_is_not_made_again(tmp_path):
    with pytest.raises(FileNotFoundError):
        WriterStatus(tmp_path / "nowhere", "engine", dict).write()
    assert not (tmp_path / "nowhere").exists()


def described_by_threads(status):
    """Many threads add facts of their own; returns how many there are."""

    def describe(thread):
        for number in range(300):
            status.describe(**{f"fact_{thread}_{number}": number})

    threads = [threading.Thread(target=describe, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        status.as_dict()  # a dictionary that changes while it is gone through would raise
    return sum(name.startswith("fact_") for name in status.as_dict())


def test_facts_of_several_threads_are_all_kept(run):
    assert described_by_threads(WriterStatus(run.path, "engine", dict)) == 1_200


def test_a_lock_that_is_held_for_ever_does_not_hold_up_a_forked_child(run):
    status = WriterStatus(run.path, "engine", dict)
    status._lock.acquire()
    status.renew_lock()
    status.describe(num_blocks=64)
    assert status.as_dict()["num_blocks"] == 64
