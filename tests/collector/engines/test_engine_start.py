"""An interruption of the start gets through code that swallows KeyboardInterrupt, as vLLM's does."""

import os
import signal
from contextlib import suppress

import pytest

from radixflow.collector.cli.interruption import Interruption
from radixflow.collector.engines.engine_start import interruptible_start


def swallow() -> None:
    with suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_vllm_swallows_a_keyboard_interrupt_while_it_waits_for_its_engine() -> None:
    """Should this fail one day, the module is not needed any more."""
    network_utils = pytest.importorskip("vllm.utils.network_utils")
    import zmq

    with network_utils.zmq_socket_ctx("inproc://nowhere", zmq.ROUTER, bind=True):
        raise KeyboardInterrupt


def test_without_it_an_interruption_is_lost() -> None:
    with Interruption():
        swallow()


def test_an_interruption_gets_through() -> None:
    with pytest.raises(KeyboardInterrupt), Interruption(), interruptible_start():
        swallow()
        pytest.fail("the interruption was lost")


def test_an_interruption_whose_exception_is_lost_counts_in_the_end() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), Interruption(), interruptible_start():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except BaseException:
            reached.append("lost")
    assert reached == ["lost"]


def test_handlers_are_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        with interruptible_start():
            pass
        assert signal.getsignal(signal.SIGINT) == interruption._handle
    assert signal.getsignal(signal.SIGINT) == before


def test_the_clean_up_is_left_alone_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    with Interruption() as interruption:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            interruption.require_none()
        monkeypatch.setattr("radixflow.collector.cli.interruption.CLEAN_UP_SECONDS", 0.0)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGHUP)
