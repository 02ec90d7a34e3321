-- The slot ledgers of the rounds of a run added up, in rows and in time.
-- depends on: round_ends
-- cached by: run
--
-- A class of the ledger is a column rows_<class> of the round, so that no list of classes can fall behind.

CREATE VIEW slot_totals AS
WITH sums AS (
    SELECT
        run,
        sum(row_capacity)::BIGINT AS num_slots_of_all,
        sum(COLUMNS('^rows_(.*)$'))::BIGINT AS '\1'
    FROM round_ends
    GROUP BY run
),
times AS (
    SELECT
        run,
        sum(row_capacity * (end_ns - start_ns))::DOUBLE / 1e6 AS slot_ms_of_all,
        sum(COLUMNS('^rows_(.*)$') * (end_ns - start_ns))::DOUBLE / 1e6 AS '\1'
    FROM round_ends
    GROUP BY run
)
SELECT
    slots.run,
    slots.slot_class,
    slots.num_slots,
    slot_times.slot_ms,
    slots.num_slots_of_all,
    slot_times.slot_ms_of_all
FROM (UNPIVOT sums ON COLUMNS(* EXCLUDE (run, num_slots_of_all)) INTO NAME slot_class VALUE num_slots) AS slots
JOIN (UNPIVOT times ON COLUMNS(* EXCLUDE (run, slot_ms_of_all)) INTO NAME slot_class VALUE slot_ms) AS slot_times
    USING (run, slot_class);

COMMENT ON VIEW slot_totals IS 'One row a run and class of the slot ledger, whatever the probe was: without one, rows behind a stop are in the classes after avoidable. Of a run that keeps a sample of its rounds, sums are those of the kept ones.';
COMMENT ON COLUMN slot_totals.run IS '[-] Run.';
COMMENT ON COLUMN slot_totals.slot_class IS '[-] used, avoidable, dependency_wait, held, token_limited, other or no_work.';
COMMENT ON COLUMN slot_totals.num_slots IS '[rows] Row slots of the class over all rounds. Formula: sum(rows_<class>).';
COMMENT ON COLUMN slot_totals.slot_ms IS '[ms] Time of those slots. Formula: sum(rows_<class> * duration of the round).';
COMMENT ON COLUMN slot_totals.num_slots_of_all IS '[rows] Row slots of all classes. Formula: sum(row_capacity).';
COMMENT ON COLUMN slot_totals.slot_ms_of_all IS '[ms] Time of all row slots. Formula: sum(row_capacity * duration of the round).';
