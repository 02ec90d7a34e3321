-- The raster of the execution-bubble timeline: every row slot of every round, with what filled it or why it is empty.
-- depends on: rounds, rows, visits, round_clock, requests, offers
--
-- Windows and groups are by (run, round), so that a filter on run and round reaches the Parquet scans.

CREATE VIEW slot_cells AS
WITH classified AS NOT MATERIALIZED (
    SELECT
        run, round, visit, request, num_tokens, producer, cause, reason, published_round,
        CASE
            WHEN outcome = 'ready' THEN 'avoidable'
            WHEN outcome = 'blocked' THEN 'dependency_wait'
            WHEN outcome = 'held' THEN 'held'
            WHEN reason IN ('token_budget', 'aligned_split_zero', 'no_chunked_prefill', 'spec_padding') THEN 'token_limited'
            ELSE 'other'
        END AS slot_class
    FROM visits
),
ranked AS NOT MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY run, round, slot_class ORDER BY visit) AS class_rank
    FROM classified
),
witnesses AS NOT MATERIALIZED (  -- of each class as many as the ledger counts, the first ones in the order of the queue
    SELECT
        ranked.*,
        rounds.rows_used - 1 + row_number() OVER (PARTITION BY ranked.run, ranked.round ORDER BY ranked.visit) AS slot
    FROM ranked
    JOIN rounds USING (run, round)
    WHERE ranked.class_rank <= CASE ranked.slot_class
        WHEN 'avoidable' THEN rounds.rows_avoidable
        WHEN 'dependency_wait' THEN rounds.rows_dependency_wait
        WHEN 'held' THEN rounds.rows_held
        WHEN 'token_limited' THEN rounds.rows_token_limited
        ELSE rounds.rows_other
    END
),
unexplained AS NOT MATERIALIZED (  -- the ledger of each round less what rows and witnesses account for
    SELECT
        run,
        round,
        max(row_capacity) AS row_capacity,
        sum(used) AS used,
        sum(avoidable) AS avoidable,
        sum(dependency_wait) AS dependency_wait,
        sum(held) AS held,
        sum(token_limited) AS token_limited,
        sum(other) AS other,
        max(rows_used) AS rows_used,
        sum(is_witness) AS num_witnesses
    FROM (
        SELECT
            run, round, row_capacity, rows_used, rows_used AS used, rows_avoidable AS avoidable,
            rows_dependency_wait AS dependency_wait, rows_held AS held, rows_token_limited AS token_limited,
            rows_other AS other, 0 AS is_witness
        FROM rounds
        UNION ALL
        SELECT run, round, 0, 0, -1, 0, 0, 0, 0, 0, 0
        FROM rows
        UNION ALL
        SELECT
            run, round, 0, 0, 0,
            -(slot_class = 'avoidable')::INTEGER, -(slot_class = 'dependency_wait')::INTEGER,
            -(slot_class = 'held')::INTEGER, -(slot_class = 'token_limited')::INTEGER,
            -(slot_class = 'other')::INTEGER, 1
        FROM witnesses
    )
    GROUP BY run, round
),
anonymous AS NOT MATERIALIZED (  -- used slots are anonymous only where the segment of their rows is lost
    SELECT
        run,
        round,
        slot,
        CASE
            WHEN slot < rows_used THEN 'used'
            WHEN empty_slot < avoidable THEN 'avoidable'
            WHEN empty_slot < avoidable + dependency_wait THEN 'dependency_wait'
            WHEN empty_slot < avoidable + dependency_wait + held THEN 'held'
            WHEN empty_slot < avoidable + dependency_wait + held + token_limited THEN 'token_limited'
            WHEN empty_slot < avoidable + dependency_wait + held + token_limited + other THEN 'other'
            ELSE 'no_work'
        END AS slot_class
    FROM (
        SELECT
            *,
            unnest(range(rows_used - used::BIGINT, rows_used) || range(rows_used + num_witnesses::BIGINT, row_capacity))
                AS slot,
            slot - rows_used - num_witnesses AS empty_slot
        FROM unexplained
    )
),
cells AS NOT MATERIALIZED (
    SELECT
        run, round, slot::BIGINT AS slot, 'used' AS slot_class, request, num_tokens, num_reused_tokens, kind,
        NULL::INTEGER AS producer, NULL::VARCHAR AS cause, NULL::VARCHAR AS reason, NULL::BIGINT AS published_round
    FROM rows
    UNION ALL
    SELECT
        run, round, slot, slot_class, request, num_tokens, NULL, NULL, producer, cause, reason, published_round
    FROM witnesses
    UNION ALL
    SELECT run, round, slot, slot_class, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM anonymous
)
SELECT
    cells.run,
    cells.round,
    cells.slot::INTEGER AS slot,
    cells.slot_class,
    (round_clock.start_ns - round_clock.origin_ns) / 1e6 AS start_ms,
    (round_clock.end_ns - round_clock.origin_ns) / 1e6 AS end_ms,
    cells.request,
    consumer.request_id,
    offers.request_group,
    cells.num_tokens,
    cells.num_reused_tokens,
    cells.kind,
    producer.request_id AS producer_request_id,
    cells.cause,
    cells.reason,
    cells.published_round
FROM cells
JOIN round_clock USING (run, round)
LEFT JOIN requests AS consumer ON consumer.run = cells.run AND consumer.request = cells.request
LEFT JOIN offers ON offers.run = cells.run AND offers.request_id = consumer.request_id
LEFT JOIN requests AS producer ON producer.run = cells.run AND producer.request = cells.producer;

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
