-- The raster of the execution-bubble timeline: every row slot of every round, with what filled it or why it is empty.
-- depends on: rounds, rows, visits, round_clock, request_names
--
-- Windows and groups are by (run, round), so that a filter on run and round reaches the Parquet scans.

CREATE VIEW slot_cells AS
WITH classified AS (
    SELECT
        visits.*,
        CASE
            WHEN outcome = 'ready' THEN 'avoidable'
            WHEN outcome = 'blocked' THEN 'dependency_wait'
            WHEN outcome = 'held' THEN 'held'
            WHEN reason IN ('token_budget', 'aligned_split_zero') THEN 'token_limited'
            ELSE 'other'
        END AS slot_class
    FROM visits
),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run, round, slot_class ORDER BY visit) AS class_rank
    FROM classified
),
witnesses AS (  -- of each class as many as the ledger counts, the first ones in the order of the queue
    SELECT
        ranked.*,
        row_number() OVER (PARTITION BY ranked.run, ranked.round ORDER BY ranked.visit) AS position
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
counted AS (
    SELECT
        run,
        round,
        count(*) FILTER (slot_class = 'used') AS num_used,
        count(*) FILTER (slot_class <> 'used') AS num_witnesses,
        count(*) FILTER (slot_class = 'avoidable') AS num_avoidable,
        count(*) FILTER (slot_class = 'dependency_wait') AS num_dependency_wait,
        count(*) FILTER (slot_class = 'held') AS num_held,
        count(*) FILTER (slot_class = 'token_limited') AS num_token_limited,
        count(*) FILTER (slot_class = 'other') AS num_other
    FROM (
        SELECT run, round, 'used' AS slot_class FROM rows
        UNION ALL
        SELECT run, round, slot_class FROM witnesses
        UNION ALL
        SELECT run, round, NULL AS slot_class FROM rounds
    )
    GROUP BY run, round
),
filled AS (  -- how far each class reaches: used rows whose segment is lost first, then slots without a witness
    SELECT
        rounds.run,
        rounds.round,
        rounds.row_capacity,
        num_used,
        greatest(rounds.rows_used, num_used) AS after_used,
        after_used + num_witnesses AS after_witnesses,
        after_witnesses + rounds.rows_avoidable - counted.num_avoidable AS after_avoidable,
        after_avoidable + rounds.rows_dependency_wait - counted.num_dependency_wait AS after_dependency_wait,
        after_dependency_wait + rounds.rows_held - counted.num_held AS after_held,
        after_held + rounds.rows_token_limited - counted.num_token_limited AS after_token_limited,
        after_token_limited + rounds.rows_other - counted.num_other AS after_other
    FROM rounds
    JOIN counted USING (run, round)
),
anonymous AS (
    SELECT
        run,
        round,
        slot,
        CASE
            WHEN slot < after_used THEN 'used'
            WHEN slot < after_avoidable THEN 'avoidable'
            WHEN slot < after_dependency_wait THEN 'dependency_wait'
            WHEN slot < after_held THEN 'held'
            WHEN slot < after_token_limited THEN 'token_limited'
            WHEN slot < after_other THEN 'other'
            ELSE 'no_work'
        END AS slot_class
    FROM (
        SELECT *, unnest(range(num_used, after_used) || range(after_witnesses, row_capacity)) AS slot
        FROM filled
    )
),
cells AS (
    SELECT
        run, round, slot::BIGINT AS slot, 'used' AS slot_class, request, num_tokens, num_reused_tokens, kind,
        NULL::INTEGER AS producer, NULL::VARCHAR AS cause, NULL::VARCHAR AS reason, NULL::BIGINT AS published_round
    FROM rows
    UNION ALL
    SELECT
        witnesses.run, witnesses.round, filled.after_used + witnesses.position - 1, witnesses.slot_class,
        witnesses.request, witnesses.num_tokens, NULL, NULL,
        witnesses.producer, witnesses.cause, witnesses.reason, witnesses.published_round
    FROM witnesses
    JOIN filled USING (run, round)
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
    consumer.request_group,
    cells.num_tokens,
    cells.num_reused_tokens,
    cells.kind,
    producer.request_id AS producer_request_id,
    cells.cause,
    cells.reason,
    cells.published_round
FROM cells
JOIN round_clock USING (run, round)
LEFT JOIN request_names AS consumer ON consumer.run = cells.run AND consumer.request = cells.request
LEFT JOIN request_names AS producer ON producer.run = cells.run AND producer.request = cells.producer;

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
