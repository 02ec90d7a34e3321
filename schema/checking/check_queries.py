"""The rules that the tables of a run must keep, alone and together, as queries that return the rows that break one."""

from radixflow.schema.tables.visits import MAXIMUM_VISIT_ROUNDS

ORDERED_TIMES = (
    ("rounds", "round", ("schedule_start_ns", "schedule_end_ns", "update_start_ns", "update_end_ns")),
    ("requests", "request_id", ("registered_ns", "first_selected_ns", "finished_ns")),
    ("requests", "request_id", ("registered_ns", "released_ns")),
    ("offers", "request_id", ("sent_ns", "first_output_ns", "completed_ns")),
    ("spans", "round", ("start_ns", "end_ns")),
    ("stalls", "start_ns", ("start_ns", "end_ns")),
)
"""Table, the column that names a row in messages, and time columns whose values must not decrease from left to right.

Times that are NULL are passed over.
"""

# Of a run that keeps a sample of its rounds, requests count what the other tables do not hold; never less.
_TOTALS = """requests:
    SELECT requests.*, counted.* EXCLUDE (request), coalesce(blocked.num_blocked, 0) AS num_blocked,
        sampled_fraction IS NOT NULL AS is_sampled
    FROM requests
    JOIN opened_runs USING (run)
    LEFT JOIN (
        SELECT request, count(*) AS counted_rows, sum(num_tokens) AS counted_tokens FROM rows GROUP BY request
    ) AS counted ON counted.request = requests.request
    LEFT JOIN (
        SELECT request, sum(last_round - round + 1) AS num_blocked FROM visits
        WHERE outcome = 'blocked' AND witness = 'native' GROUP BY request
    ) AS blocked ON blocked.request = requests.request"""

_ROUNDS = """rounds:
    SELECT rounds.*, coalesce(num_rows, 0) AS num_rows, num_slots, last_slot, coalesce(num_tokens, 0) AS num_tokens
    FROM rounds
    LEFT JOIN (
        SELECT
            round, count(*) AS num_rows, count(DISTINCT slot) AS num_slots, max(slot) AS last_slot,
            sum(num_tokens) AS num_tokens
        FROM rows GROUP BY round
    ) AS counted USING (round)"""

_SEQUENCE = """rounds:
    SELECT round, schedule_start_ns, lag(round, 1, 0) OVER (ORDER BY round) AS before,
        lag(schedule_start_ns) OVER (ORDER BY round) AS start_before,
        sampled_fraction IS NOT NULL AS is_sampled, exact_num_rounds
    FROM rounds
    JOIN opened_runs USING (run)"""

_STALLS = """stalls:
    SELECT stalls.*, lag(end_ns) OVER (ORDER BY start_ns) AS end_before FROM stalls"""

# Idle steps are counted in rounds as well, so stalls have at most as many.
_STALLED_STEPS = """stalls:
    SELECT rounds.round, rounds.num_empty_steps, sum(stalls.num_steps) AS num_stalled_steps
    FROM stalls
    JOIN rounds ON rounds.round = coalesce(stalls.round_before, 0) + 1
    GROUP BY ALL"""


def _repeated(table: str, columns: str) -> str:
    return f"{table}: SELECT {columns}, count(*) AS times FROM {table} GROUP BY {columns}"


def _differs(said: str, counted: str) -> str:
    return f"CASE WHEN is_sampled THEN {said} < {counted} ELSE {said} <> {counted} END"


CROSS_CHECKS = (
    (
        _SEQUENCE,
        "round <> before + 1 AND round <> before AND NOT is_sampled",
        "format('Round {} follows round {}.', round, before)",
    ),
    (
        _SEQUENCE,
        "round > exact_num_rounds",
        "format('Round {} is there, but only {} rounds are counted.', round, exact_num_rounds)",
    ),
    (_repeated("rounds", "round"), "times > 1", "format('Round {} is there {} times.', round, times)"),
    (_SEQUENCE, "schedule_start_ns < start_before", "format('Round {} starts before the round before it.', round)"),
    (_ROUNDS, "num_slots <> num_rows", "format('Two rows of round {} have the same slot.', round)"),
    (
        _ROUNDS,
        "num_slots = num_rows AND last_slot <> num_rows - 1",
        "format('The slots of round {} are not 0 to {}.', round, num_rows - 1)",
    ),
    (
        _ROUNDS,
        "rows_used <> num_rows",
        "format('Round {} says {} rows in use, rows has {}.', round, rows_used, num_rows)",
    ),
    (
        _ROUNDS,
        "tokens_scheduled <> num_tokens",
        "format('Round {} says {} tokens, rows has {}.', round, tokens_scheduled, num_tokens)",
    ),
    (
        "visits",
        f"last_round < round OR last_round >= round + {MAXIMUM_VISIT_ROUNDS}",
        "format('A run of visits of request {} goes from round {} to {}.', request, round, last_round)",
    ),
    (
        _repeated("round_visits", "round, visit"),
        "times > 1",
        "format('Position {} of the scan of round {} is there {} times.', visit, round, times)",
    ),
    (_repeated("requests", "request"), "times > 1", "format('Number {} is there {} times.', request, times)"),
    (_repeated("requests", "request_id"), "times > 1", "format('{} is there {} times.', request_id, times)"),
    (_repeated("offers", "request_id"), "times > 1", "format('{} is there {} times.', request_id, times)"),
    (
        _TOTALS,
        _differs("num_rows", "coalesce(counted_rows, 0)"),
        "format('{} says {} rows, rows has {}.', request_id, num_rows, coalesce(counted_rows, 0))",
    ),
    (
        _TOTALS,
        _differs("num_scheduled_tokens", "coalesce(counted_tokens, 0)"),
        "format('{} says {} scheduled tokens, rows has {}.', "
        "request_id, num_scheduled_tokens, coalesce(counted_tokens, 0))",
    ),
    (
        _TOTALS,
        _differs("num_blocked_visits", "num_blocked"),
        "format('{} says {} BLOCKED visits, visits has {}.', request_id, num_blocked_visits, num_blocked)",
    ),
    ("stalls", "num_steps < 1", "format('The stall from {} ns on has {} steps.', start_ns, num_steps)"),
    (
        "stalls",
        "num_waiting = 0 AND num_running = 0",
        "format('In the stall from {} ns on nothing waits and nothing runs.', start_ns)",
    ),
    (
        _STALLS,
        "start_ns < end_before",
        "format('The stall from {} ns on begins before the one before it has ended.', start_ns)",
    ),
    (
        _STALLED_STEPS,
        "num_stalled_steps > num_empty_steps",
        "format('Before round {} stalls have {} steps, but it says {} steps without work.', "
        "round, num_stalled_steps, num_empty_steps)",
    ),
)
"""One rule each: the rows to look at (a table, or ``name: query``), the SQL condition that a faulty row meets, and an
SQL expression that makes the sentence about it.
"""
