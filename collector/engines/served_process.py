"""Runs ``vllm serve`` as a child process: passes signals on, starts and stops recording, and reports how it ended."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

from radixflow.collector.instrumentation.attached import control
from radixflow.collector.instrumentation.attached.runs import mark_incomplete, runs_of_server
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.run_directory import RunDirectory

CLOSING_SECONDS = 5.0
"""Seconds that a server is given to close its run before a signal that ends it is passed on."""
END_SECONDS = 15.0
"""Seconds that other processes of the server are given to end after the server itself has ended."""
POLL_SECONDS = 0.2
START_SIGNAL, STOP_SIGNAL = signal.SIGUSR1, signal.SIGUSR2
_END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def require_free_port(host: str | None, port: int) -> None:
    """Make sure that a server can listen, before it spends a minute on its start.

    Raises:
        RadixflowError: Another process listens there, or the address is not one of this machine (ENVIRONMENT).
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        sentence = f"vllm serve cannot listen on {host or '*'} port {port}: {reason} (--port chooses another one)."
        raise RadixflowError(sentence, ExitCode.ENVIRONMENT) from error


class ServedProcess:
    """Runs a server to its end.

    SIGUSR1 and SIGUSR2 start and stop the recording through the control file: a signal of that kind would end vLLM's
    own processes. SIGINT, SIGTERM and SIGHUP end the server, once its run is closed: by its own default
    (``--shutdown-timeout 0``) vLLM kills its engine process without leaving it a moment. A second one of them is handed
    on at once. The server has a session of its own, so that Ctrl-C reaches it through here.

    Args:
        settings: What is recorded.
        say: Tells the person something.
    """

    def __init__(self, settings: AttachSettings, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self._ends: list[int] = []

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Run the server and return the exit code of our command: 0 after SIGTERM, 130 after Ctrl-C.

        Raises:
            RadixflowError: The server failed (ENGINE); what was recorded is kept.
        """
        before = {number: signal.signal(number, self._steer) for number in (START_SIGNAL, STOP_SIGNAL)}
        before |= {number: signal.signal(number, self._end) for number in _END_SIGNALS if not _is_ignored(number)}
        try:
            self._process = subprocess.Popen(command, env=dict(environment), start_new_session=True)
            code = self._wait(self._process)
            is_closed = self._settle_runs()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if self._ends:
            return int(ExitCode.INTERRUPTED if self._ends[0] == signal.SIGINT else ExitCode.OK)
        if code or not is_closed:  # vLLM ends with 0 when its engine process was killed
            how = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
            how = how if code else "ended without its engine, which had not closed its run"
            raise RadixflowError(f"vllm serve {how}; what was recorded is kept.", ExitCode.ENGINE)
        return int(ExitCode.OK)

    def _wait(self, process: "subprocess.Popen[bytes]") -> int:
        while not self._ends:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(POLL_SECONDS)
        self._write_word(control.STOP)
        deadline = time.monotonic() + CLOSING_SECONDS
        while process.poll() is None and self._is_recording() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        process.send_signal(signal.SIGTERM)
        return process.wait()

    def _settle_runs(self) -> bool:
        """Once the server has gone: wait for an engine that is still closing its run, and tell what there is.

        Returns:
            Whether the engine closed every run.
        """
        is_closed = True
        deadline = time.monotonic() + END_SECONDS
        while self._is_recording(by_living_engine=True) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        for path in runs_of_server(self._settings):
            with suppress(RadixflowError):
                if RunDirectory(path).manifest.state == "recording":
                    is_closed = False
                    mark_incomplete(path, "The server ended without closing the run.")
                self._say(f"{path} is {RunDirectory(path).state}.")
        return is_closed

    def _is_recording(self, by_living_engine: bool = False) -> bool:
        for path in runs_of_server(self._settings):
            run = RunDirectory(path)
            with suppress(RadixflowError):
                engine = run.writers().get("engine", {})
                if run.state == "recording" and not (by_living_engine and not _is_alive(engine.get("pid"))):
                    return True
        return False

    def _steer(self, number: int, frame: FrameType | None) -> None:
        self._write_word(control.RECORD if number == START_SIGNAL else control.STOP)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ends.append(number)
        if len(self._ends) > 1 and self._process is not None:
            self._process.send_signal(signal.SIGTERM)

    def _write_word(self, word: str) -> None:
        try:
            control.write_word(self._settings.control_file, word)
        except OSError as error:
            self._say(f"Cannot write {self._settings.control_file}: {error.strerror or error}.")


def _is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) == signal.SIG_IGN  # as nohup sets it


def _is_alive(pid: Any) -> bool:
    try:
        os.kill(int(pid), 0)
    except (OSError, TypeError, ValueError):
        return False
    return True
