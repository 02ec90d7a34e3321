-- The row slots that wait on a producer, one by one, each with what the awaited state was doing.
-- depends on: rounds, spread_visits
--
-- Of the BLOCKED requests of a round as many find a place as its ledger counts, in the order of the queue; a slot beyond
-- them has lost its witness. Ask for few rounds by the variables first_round and last_round, as of spread_visits.

CREATE VIEW slot_waits AS
WITH waiting AS NOT MATERIALIZED (
    SELECT run, round, list(cause ORDER BY visit) AS causes
    FROM spread_visits
    WHERE slot_class = 'dependency_wait'
    GROUP BY run, round
)
SELECT
    rounds.run,
    rounds.round,
    unnest(list_resize(coalesce(waiting.causes, []), rounds.rows_dependency_wait)) AS cause
FROM rounds
LEFT JOIN waiting ON waiting.run = rounds.run AND waiting.round = rounds.round
WHERE rounds.rows_dependency_wait > 0;

COMMENT ON VIEW slot_waits IS 'One row a row slot of a round that its ledger counts as dependency_wait.';
COMMENT ON COLUMN slot_waits.run IS '[-] Run.';
COMMENT ON COLUMN slot_waits.round IS '[-] Round.';
COMMENT ON COLUMN slot_waits.cause IS '[-] being_written or marked_again; NULL where the BLOCKED request of the slot is not recorded, or its cause is not known.';
