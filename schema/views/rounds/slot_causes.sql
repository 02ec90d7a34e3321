-- The slot ledger of a whole run in rows, the waits on a producer told apart by what the state was doing.
-- depends on: rounds, spread_visits
-- cached by: run

CREATE VIEW slot_causes AS
WITH ledger AS (
    SELECT
        run,
        unnest(['used', 'avoidable', 'dependency_wait', 'held', 'token_limited', 'other', 'no_work']) AS slot_class,
        unnest([sum(rows_used), sum(rows_avoidable), sum(rows_dependency_wait), sum(rows_held),
                sum(rows_token_limited), sum(rows_other), sum(rows_no_work)])::BIGINT AS num_slots
    FROM rounds
    GROUP BY run
),
placed AS (  -- of the BLOCKED requests as many find a place as the ledger counts, in the order of the queue
    SELECT
        waiting.run,
        waiting.cause,
        rounds.rows_dependency_wait,
        row_number() OVER (PARTITION BY waiting.run, waiting.round ORDER BY waiting.visit) AS place
    FROM spread_visits AS waiting
    JOIN rounds ON rounds.run = waiting.run AND rounds.round = waiting.round
    WHERE waiting.outcome = 'blocked' AND rounds.rows_dependency_wait > 0
),
caused AS (
    SELECT run, cause, count(*) AS num_slots
    FROM placed
    WHERE place <= rows_dependency_wait
    GROUP BY run, cause
),
parts AS (
    SELECT run, slot_class, NULL AS cause, num_slots FROM ledger WHERE slot_class <> 'dependency_wait'
    UNION ALL
    SELECT run, 'dependency_wait' AS slot_class, cause, num_slots FROM caused WHERE cause IS NOT NULL
    UNION ALL  -- slots whose witness is lost, or has no known cause
    SELECT run, slot_class, NULL AS cause, ledger.num_slots - coalesce(known.num_slots, 0) AS num_slots
    FROM ledger
    LEFT JOIN (
        SELECT run, sum(num_slots)::BIGINT AS num_slots FROM caused WHERE cause IS NOT NULL GROUP BY run
    ) AS known USING (run)
    WHERE slot_class = 'dependency_wait'
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
