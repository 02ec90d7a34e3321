-- The slot ledger of a whole run, in rows and in time.
-- depends on: slot_totals, runs
-- cached by: run

CREATE VIEW slot_ledger AS
WITH classes AS (
    SELECT
        run,
        slot_class,
        num_slots,
        slot_ms,
        num_slots_of_all,
        slot_ms_of_all,
        list_position(['used', 'avoidable', 'dependency_wait', 'held', 'token_limited', 'other', 'no_work'], slot_class)
            - 1 AS position
    FROM slot_totals
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
