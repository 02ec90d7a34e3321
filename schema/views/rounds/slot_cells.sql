-- The raster of the execution-bubble timeline: every row slot of every round, with what filled it or why it is empty.
-- depends on: rows, round_visits, round_ends, request_names
--
-- Windows and joins are by (run, round), so that a filter on run and round reaches the Parquet scans.

CREATE VIEW slot_cells AS
WITH places AS NOT MATERIALIZED (  -- the slot ledger of each round spelled out, one place a row slot
    SELECT
        run,
        round,
        start_ms,
        end_ms,
        unnest(range(row_capacity)) AS place,
        rows_used AS before_avoidable,
        before_avoidable + rows_avoidable AS before_dependency_wait,
        before_dependency_wait + rows_dependency_wait AS before_held,
        before_held + rows_held AS before_token_limited,
        before_token_limited + rows_token_limited AS before_other,
        before_other + rows_other AS before_no_work,
        CASE
            WHEN place < before_avoidable THEN 'used'
            WHEN place < before_dependency_wait THEN 'avoidable'
            WHEN place < before_held THEN 'dependency_wait'
            WHEN place < before_token_limited THEN 'held'
            WHEN place < before_other THEN 'token_limited'
            WHEN place < before_no_work THEN 'other'
            ELSE 'no_work'
        END AS slot_class,
        place - CASE slot_class
            WHEN 'used' THEN 0
            WHEN 'avoidable' THEN before_avoidable
            WHEN 'dependency_wait' THEN before_dependency_wait
            WHEN 'held' THEN before_held
            WHEN 'token_limited' THEN before_token_limited
            WHEN 'other' THEN before_other
            ELSE before_no_work
        END AS class_place
    FROM round_ends
),
witnesses AS NOT MATERIALIZED (  -- of each class as many find a place as the ledger counts, in the order of the queue
    SELECT
        run, round, 'used' AS slot_class, slot::BIGINT AS class_place, NULL::INTEGER AS visit, request, num_tokens,
        num_reused_tokens, kind, NULL::INTEGER AS producer, NULL::VARCHAR AS cause, NULL::VARCHAR AS reason,
        NULL::BIGINT AS published_round
    FROM rows
    UNION ALL
    SELECT
        run, round, slot_class,
        row_number() OVER (PARTITION BY run, round, slot_class ORDER BY visit) - 1 AS class_place,
        visit, request, num_tokens, NULL, NULL, producer, cause, reason, published_round
    FROM round_visits
),
cells AS NOT MATERIALIZED (  -- used slots are anonymous only where the segment of their rows is lost
    SELECT
        places.run,
        places.round,
        row_number() OVER (
            PARTITION BY places.run, places.round
            ORDER BY places.slot_class <> 'used', witnesses.visit NULLS LAST, places.place
        ) - 1 AS slot,
        places.slot_class,
        places.start_ms,
        places.end_ms,
        witnesses.* EXCLUDE (run, round, slot_class, class_place, visit)
    FROM places
    LEFT JOIN witnesses
        ON witnesses.run = places.run AND witnesses.round = places.round
        AND witnesses.slot_class = places.slot_class AND witnesses.class_place = places.class_place
),
names AS MATERIALIZED (  -- looked up once, for both parties
    SELECT * FROM request_names
)
SELECT
    cells.run,
    cells.round,
    cells.slot::INTEGER AS slot,
    cells.slot_class,
    cells.start_ms,
    cells.end_ms,
    cells.request,
    consumer.request_id,
    consumer.request_group,
    cells.num_tokens,
    cells.num_reused_tokens,
    cells.kind,
    producer.request_id AS producer_request_id,
    cells.cause,
    cells.reason,
    cells.published_round
FROM cells
LEFT JOIN names AS consumer ON consumer.run = cells.run AND consumer.request = cells.request
LEFT JOIN names AS producer ON producer.run = cells.run AND producer.request = cells.producer;

COMMENT ON VIEW slot_cells IS 'One row a row slot of a round, exactly row_capacity a round: used rows in the order of selection, then the waiting requests that explain empty rows in the order of the queue, then empty rows without a witness.';
COMMENT ON COLUMN slot_cells.run IS '[-] Run.';
COMMENT ON COLUMN slot_cells.round IS '[-] Round; filter on run and round to read only that part of the files.';
COMMENT ON COLUMN slot_cells.slot IS '[-] Position in the round from 0.';
COMMENT ON COLUMN slot_cells.slot_class IS '[-] used, avoidable, dependency_wait, held, token_limited, other or no_work, as in the slot ledger.';
COMMENT ON COLUMN slot_cells.start_ms IS '[ms] Start of the round after the start of the first round.';
COMMENT ON COLUMN slot_cells.end_ms IS '[ms] End of the round after the start of the first round.';
COMMENT ON COLUMN slot_cells.request IS '[-] Request in the slot, or the waiting one that explains it; NULL without a witness.';
COMMENT ON COLUMN slot_cells.request_id IS '[-] Name of that request; NULL if the recording ended before the request did.';
COMMENT ON COLUMN slot_cells.request_group IS '[-] Request group of that request.';
COMMENT ON COLUMN slot_cells.num_tokens IS '[tokens] Tokens scheduled in a used slot; tokens that a READY request would have taken in an avoidable one.';
COMMENT ON COLUMN slot_cells.num_reused_tokens IS '[tokens] Tokens taken from the prefix cache in a used slot.';
COMMENT ON COLUMN slot_cells.kind IS '[-] new, running or resumed, for a used slot.';
COMMENT ON COLUMN slot_cells.producer_request_id IS '[-] Request whose state a BLOCKED request waits for.';
COMMENT ON COLUMN slot_cells.cause IS '[-] Cause of a BLOCKED visit: being_written or marked_again.';
COMMENT ON COLUMN slot_cells.reason IS '[-] Reason of an OTHER outcome.';
COMMENT ON COLUMN slot_cells.published_round IS '[-] Round in which a state that is marked again was really published.';
