"""Runs console queries in a separate process, which can be killed whatever a query makes DuckDB do.

DuckDB's own limits come first (``console.py``): they end most questions in good order. Some functions look neither at
the clock nor at the memory limit while they work; those end with their process.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.ipc

from radixflow.app.queries.console import MAX_SECONDS, Answer, answer, open_console
from radixflow.schema.errors import RadixflowError

MAX_ADDRESS_SPACE = 4 * 2**30
"""Most bytes of address space that the process may use; its libraries take about a third of it."""
GRACE_SECONDS = 15.0
"""Time for starting and opening the runs, beyond the time of the question."""


def ask_apart(paths: Sequence[str], sql: str, max_seconds: float = MAX_SECONDS) -> Answer:
    """Answer one question about runs in a process of its own.

    Args:
        paths: Run directories.
        sql: The question.
        max_seconds: When it is stopped; ``GRACE_SECONDS`` later its process is ended.
    """
    asked = json.dumps({"paths": list(paths), "sql": sql, "max_seconds": max_seconds}).encode()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", __name__]
    try:
        done = subprocess.run(
            command, input=asked, capture_output=True, env=environment, timeout=max_seconds + GRACE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Answer(None, error=f"Stopped after {max_seconds + GRACE_SECONDS:g} s; the question would not end.")
    if done.returncode != 0:
        return Answer(None, error="The question ended its process, most likely for want of memory. Ask for less.")
    said, _, content = done.stdout.partition(b"\n")
    about = json.loads(said)
    table = pa.ipc.open_stream(content).read_all() if content else None
    return Answer(table, about["is_cut"], about["error"])


def main() -> int:
    """Read a question from stdin and write its answer to stdout: a line of JSON, then the table as an Arrow stream."""
    asked = json.load(sys.stdin)
    _cap_memory()
    try:
        with open_console(asked["paths"]) as connection:
            found = answer(connection, asked["sql"], asked["max_seconds"])
    except RadixflowError as error:
        found = Answer(None, error=str(error))
    sys.stdout.write(json.dumps({"is_cut": found.is_cut, "error": found.error}) + "\n")
    sys.stdout.flush()
    if found.table is not None:
        with pa.ipc.new_stream(sys.stdout.buffer, found.table.schema) as stream:
            stream.write_table(found.table)
        sys.stdout.buffer.flush()
    return 0


def _cap_memory() -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))


if __name__ == "__main__":
    sys.exit(main())
