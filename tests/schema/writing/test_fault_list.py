"""What goes wrong is kept in sentences and said on stderr: each once, and also where nobody listens."""

import sys

import pyarrow as pa
import pytest

from radixflow.schema.writing.fault_list import FaultList, reason_of


def test_a_sentence_is_kept_and_said(capfd):
    faults = FaultList()
    faults.say("the disk is full")
    faults.say("the disk is full")
    assert faults.sentences == ["the disk is full"] * 2
    assert capfd.readouterr().err == "radixflow: the disk is full\n" * 2


def test_a_topic_is_said_once_whatever_the_words(capfd):
    faults = FaultList()
    for number in range(3):
        faults.say_once(("misfit", "spans"), f"row {number} does not fit")
    faults.say_once(("misfit", "events"), "an event does not fit")
    assert faults.sentences == ["row 0 does not fit", "an event does not fit"]
    assert capfd.readouterr().err.count("radixflow:") == 2


@pytest.mark.parametrize("error", [OSError(9, "Bad file descriptor"), ValueError("I/O operation on closed file")])
def test_a_stderr_that_is_closed_is_no_fault(monkeypatch, error):
    class Closed:
        def write(self, text):
            raise error

    monkeypatch.setattr(sys, "stderr", Closed())
    faults = FaultList()
    faults.say("the disk is full")
    assert faults.sentences == ["the disk is full"]


def test_a_stderr_that_fails_otherwise_would_be_heard(monkeypatch):
    """The control arm: the sentence is really printed."""

    class Broken:
        def write(self, text):
            raise RuntimeError("broken")

    monkeypatch.setattr(sys, "stderr", Broken())
    with pytest.raises(RuntimeError):
        FaultList().say("the disk is full")


@pytest.mark.parametrize(
    "error, reason",
    [
        (OSError(28, "No space left on device", "/somewhere"), "No space left on device"),
        (OSError("another process writes as engine"), "another process writes as engine"),
        (MemoryError(), "MemoryError"),
        (pa.ArrowInvalid("Cannot do it"), "Cannot do it"),
        (pa.ArrowIOError("Failed to open 'a'. Detail: [errno 28] No space left"), "No space left"),
    ],
)
def test_a_reason_is_what_went_wrong_and_no_more(error, reason):
    assert reason_of(error) == reason
