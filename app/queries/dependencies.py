"""Who waited for whom around one round or one request, with the places of both in the raster; and requests by name."""

from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read
from radixflow.app.queries.windowed import Window, read_named

MAX_ARROWS = 200


class Selected(NamedTuple):
    """What a person has selected on the timeline.

    Attributes:
        run: Index of the run in which ``round`` counts; None for every run.
        round: A round, or None.
        request: Name of a request, or None.
    """

    run: int | None = None
    round: int | None = None
    request: str | None = None


NOTHING = Selected()


def find_requests(connection: duckdb.DuckDBPyConnection, text: str, limit: int = 12) -> pa.Table:
    """Find requests whose name holds a text, the best match first, with the part of the time axis that each fills."""
    sql = """SELECT request_id, min(registered_ms) AS start_ms, max(coalesce(finished_ms, first_selected_ms)) AS end_ms,
                    min(first_selected_round) AS first_round, max(first_selected_round) AS last_round
             FROM request_lives WHERE contains(lower(request_id), lower($text)) GROUP BY request_id
             ORDER BY request_id <> $text, NOT starts_with(request_id, $text), length(request_id), request_id
             LIMIT $limit"""
    return read(connection, sql, text=text, limit=limit)


def arrows(connection: duckdb.DuckDBPyConnection, selected: Selected) -> pa.Table:
    """Read one row a producer and consumer: from the producer's cell in the round of the wait to where it ended.

    Columns: ``run``, ``producer``, ``consumer``, ``cause``, ``num_visits``, ``first_round``, ``last_round`` of the
    wait, and ``from_*`` and ``to_*`` with ``round``, ``slot``, ``start_ms`` and ``end_ms`` of the two cells. A consumer
    that was never selected has no row.
    """
    if selected == NOTHING:
        return pa.Table.from_pylist([], schema=_SCHEMA)
    waits = _waits(connection, selected).to_pylist()
    ends = _first_selected(connection, waits)
    for wait in waits:
        wait["to_round"] = ends.get((wait["run"], wait["consumer"]))
    waits = [wait for wait in waits if wait["to_round"] is not None]
    cells = _cells(connection, waits)
    rows = [
        wait
        | {f"from_{name}": value for name, value in cells[wait["run"], wait["last_round"], wait["producer"]].items()}
        | {f"to_{name}": value for name, value in cells[wait["run"], wait["to_round"], wait["consumer"]].items()}
        for wait in waits
        if (wait["run"], wait["last_round"], wait["producer"]) in cells
        and (wait["run"], wait["to_round"], wait["consumer"]) in cells
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


_PLACE = [("round", pa.int64()), ("slot", pa.int64()), ("start_ms", pa.float64()), ("end_ms", pa.float64())]
_SCHEMA = pa.schema(
    [("run", pa.int64()), ("producer", pa.string()), ("consumer", pa.string()), ("cause", pa.string())]
    + [(name, pa.int64()) for name in ("num_visits", "first_round", "last_round")]
    + [(f"{end}_{name}", kind) for end in ("from", "to") for name, kind in _PLACE]
)


def _waits(connection: duckdb.DuckDBPyConnection, selected: Selected) -> pa.Table:
    """Read the waits of a round, or those in which a request waited or was waited for."""
    sql = """SELECT run, producer_request_id AS producer, request_id AS consumer, cause, count(*) AS num_visits,
                    min(round) AS first_round, max(round) AS last_round
             FROM blocked_visits
             WHERE producer_request_id IS NOT NULL AND request_id IS NOT NULL AND {inside} AND {chosen}
             GROUP BY run, producer_request_id, request_id, cause ORDER BY run, first_round, consumer, producer
             LIMIT $limit"""
    if selected.round is not None:
        window, chosen = Window("round", selected.round, selected.round), "$run IN (-1, run)"
        wanted: dict[str, Any] = {"run": -1 if selected.run is None else selected.run}
    elif selected.request:
        window = _life(connection, selected.request)
        chosen, wanted = "$request IN (request_id, producer_request_id)", {"request": selected.request}
    else:
        return pa.table({"run": pa.array([], pa.int64())})
    return read_named(connection, window, sql.replace("{chosen}", chosen), limit=MAX_ARROWS, **wanted)


def _life(connection: duckdb.DuckDBPyConnection, request: str) -> Window:
    sql = """SELECT min(registered_ms) AS low, max(coalesce(finished_ms, 1e300)) AS high FROM request_lives
             WHERE request_id = $request"""
    (life,) = read(connection, sql, request=request).to_pylist()
    return Window("time", 1.0 if life["low"] is None else life["low"], 0.0 if life["high"] is None else life["high"])


def _first_selected(connection: duckdb.DuckDBPyConnection, waits: list[dict[str, Any]]) -> dict[tuple[int, str], int]:
    sql = """SELECT run, request_id, first_selected_round FROM request_lives
             WHERE request_id IN (SELECT unnest($names)) AND first_selected_round IS NOT NULL"""
    found = read(connection, sql, names=sorted({wait["consumer"] for wait in waits}) or [""]).to_pylist()
    return {(row["run"], row["request_id"]): row["first_selected_round"] for row in found}


def _cells(connection: duckdb.DuckDBPyConnection, waits: list[dict[str, Any]]) -> dict[tuple[int, int, str], Any]:
    """Read the used cells in which arrows begin and end."""
    places = {(wait["run"], wait[end]) for wait in waits for end in ("last_round", "to_round")}
    if not places:
        return {}
    rounds = [number for _, number in places]
    chosen = " OR ".join(
        f"(run = {run} AND round IN ({', '.join(str(number) for of, number in sorted(places) if of == run)}))"
        for run in sorted({run for run, _ in places})
    )
    sql = """SELECT run, round, slot, start_ms, end_ms, request_id FROM slot_cells
             WHERE slot_class = 'used' AND {inside} AND ({chosen})""".replace("{chosen}", chosen)
    found = read_named(connection, Window("round", min(rounds), max(rounds)), sql).to_pylist()
    return {(row["run"], row["round"], row.pop("request_id")): row for row in found}
