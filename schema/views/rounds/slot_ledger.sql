-- The slot ledger of a whole run, in rows and in time.
-- depends on: round_ends, runs
-- cached by: run

CREATE VIEW slot_ledger AS
WITH timed AS (
    SELECT *, end_ns - start_ns AS duration_ns
    FROM round_ends
),
sums AS (
    SELECT
        run,
        sum(row_capacity)::BIGINT AS num_slots_of_all,
        sum(row_capacity * duration_ns) / 1e6 AS slot_ms_of_all,
        [sum(rows_used), sum(rows_avoidable), sum(rows_dependency_wait), sum(rows_held), sum(rows_token_limited),
         sum(rows_other), sum(rows_no_work)]::BIGINT[] AS slots,
        [sum(rows_used * duration_ns), sum(rows_avoidable * duration_ns), sum(rows_dependency_wait * duration_ns),
         sum(rows_held * duration_ns), sum(rows_token_limited * duration_ns), sum(rows_other * duration_ns),
         sum(rows_no_work * duration_ns)]::DOUBLE[] AS slot_times_ns
    FROM timed
    GROUP BY run
),
classes AS (
    SELECT
        sums.run,
        unnest(['used', 'avoidable', 'dependency_wait', 'held', 'token_limited', 'other', 'no_work']) AS slot_class,
        unnest(slots) AS num_slots,
        unnest(slot_times_ns) / 1e6 AS slot_ms,
        num_slots_of_all,
        slot_ms_of_all,
        unnest(range(7)) AS position
    FROM sums
)
SELECT
    runs.run,
    runs.label,
    slot_class,
    -- rows behind a stop that no probe looked at are in the classes after avoidable: unknown, not 0
    CASE WHEN (probe <> 'off' OR position = 0) AND sampled_fraction IS NULL THEN num_slots END AS num_slots,
    CASE WHEN probe <> 'off' OR position = 0 THEN num_slots / nullif(num_slots_of_all, 0) END AS slot_fraction,
    CASE WHEN (probe <> 'off' OR position = 0) AND sampled_fraction IS NULL THEN slot_ms END AS slot_ms,
    CASE WHEN probe <> 'off' OR position = 0 THEN slot_ms / nullif(slot_ms_of_all, 0) END AS slot_time_fraction,
    position
FROM classes
JOIN runs USING (run);

COMMENT ON VIEW slot_ledger IS 'One row a run and class of the slot ledger. Over the classes slot_fraction and slot_time_fraction add up to 1. Without a probe only the used class is known.';
COMMENT ON COLUMN slot_ledger.run IS '[-] Run.';
COMMENT ON COLUMN slot_ledger.label IS '[-] Name of the run.';
COMMENT ON COLUMN slot_ledger.slot_class IS '[-] used, avoidable, dependency_wait, held, token_limited, other or no_work.';
COMMENT ON COLUMN slot_ledger.num_slots IS '[rows] Row slots of the class over all rounds. Formula: sum(rows_<class>).';
COMMENT ON COLUMN slot_ledger.slot_fraction IS '[fraction] Share of all row slots. Formula: num_slots / sum(row_capacity).';
COMMENT ON COLUMN slot_ledger.slot_ms IS '[ms] Time of those slots. Formula: sum(rows_<class> * duration of the round).';
COMMENT ON COLUMN slot_ledger.slot_time_fraction IS '[fraction] Share of the time of all row slots. Formula: slot_ms / sum(row_capacity * duration of the round).';
COMMENT ON COLUMN slot_ledger.position IS '[-] Order of the classes in the ledger, from 0.';
