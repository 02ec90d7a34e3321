-- The slot ledger of a whole run in rows, the waits on a producer told apart by what the state was doing.
-- depends on: slot_totals, slot_waits
-- cached by: run

CREATE VIEW slot_causes AS
WITH parts AS (
    SELECT run, slot_class, NULL AS cause, num_slots FROM slot_totals WHERE slot_class <> 'dependency_wait'
    UNION ALL
    SELECT run, 'dependency_wait' AS slot_class, cause, count(*) AS num_slots FROM slot_waits GROUP BY run, cause
)
SELECT
    run,
    slot_class,
    cause,
    num_slots,
    num_slots / sum(num_slots) OVER (PARTITION BY run) AS slot_fraction
FROM parts
WHERE num_slots > 0;

COMMENT ON VIEW slot_causes IS 'One row a run, class of the slot ledger and, for dependency_wait, cause of the BLOCKED request in the slot; as many slots as slot_cells has. Without a probe, rows behind a stop are in the classes after avoidable (slot_ledger leaves those out). Of a run that keeps a sample of its rounds (runs.sampled_fraction), counts are those of the kept ones.';
COMMENT ON COLUMN slot_causes.run IS '[-] Run.';
COMMENT ON COLUMN slot_causes.slot_class IS '[-] used, avoidable, dependency_wait, held, token_limited, other or no_work.';
COMMENT ON COLUMN slot_causes.cause IS '[-] being_written or marked_again, for dependency_wait; NULL if nobody is known to have waited there.';
COMMENT ON COLUMN slot_causes.num_slots IS '[rows] Row slots over all rounds.';
COMMENT ON COLUMN slot_causes.slot_fraction IS '[fraction] Share of all row slots of the run. Formula: num_slots / sum(num_slots).';
