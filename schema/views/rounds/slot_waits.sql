-- The row slots that wait on a producer, one by one, each with what the awaited state was doing.
-- depends on: rounds, spread_visits
--
-- Of the BLOCKED requests of a round as many find a place as its ledger counts, in the order of the queue; a slot beyond
-- them has lost its witness. Ask for few rounds by the variables first_round and last_round, as of spread_visits.

CREATE VIEW slot_waits AS
WITH slots AS NOT MATERIALIZED (
    SELECT run, round, unnest(range(1, rows_dependency_wait + 1)) AS place
    FROM rounds
    WHERE rows_dependency_wait > 0
),
waiting AS NOT MATERIALIZED (
    SELECT run, round, cause, row_number() OVER (PARTITION BY run, round ORDER BY visit) AS place
    FROM spread_visits
    WHERE outcome = 'blocked'  -- their class is dependency_wait; of the outcome the files have statistics
)
SELECT
    slots.run,
    slots.round,
    waiting.cause
FROM slots
LEFT JOIN waiting ON waiting.run = slots.run AND waiting.round = slots.round AND waiting.place = slots.place;

COMMENT ON VIEW slot_waits IS 'One row a row slot of a round that its ledger counts as dependency_wait.';
COMMENT ON COLUMN slot_waits.run IS '[-] Run.';
COMMENT ON COLUMN slot_waits.round IS '[-] Round.';
COMMENT ON COLUMN slot_waits.cause IS '[-] being_written or marked_again; NULL where the BLOCKED request of the slot is not recorded, or its cause is not known.';
