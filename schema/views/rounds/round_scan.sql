-- One round under the lens: who ran on, whom the scan took or refused in the order of its looks, and whom it would have
-- taken behind its stop.
-- depends on: request_rows, request_visits

CREATE VIEW round_scan AS
WITH looks AS NOT MATERIALIZED (
    SELECT
        run, round, visit, slot, request_id, request_group, 'native' AS witness, 'selected' AS outcome,
        'used' AS slot_class, kind, num_tokens, num_reused_tokens, NULL AS reason, NULL AS cause,
        NULL AS producer_request_id, NULL::BIGINT AS published_round, NULL::INTEGER AS matched_tokens,
        NULL::INTEGER AS ready_tokens, request
    FROM request_rows
    UNION ALL
    SELECT
        run, round, visit, NULL, request_id, request_group, witness, outcome, slot_class, NULL, num_tokens, NULL,
        reason, cause, producer_request_id, published_round, matched_tokens, ready_tokens, request
    FROM request_visits
)
SELECT
    run,
    round,
    row_number() OVER looking - 1 AS step,
    CASE WHEN looks.visit IS NOT NULL
        THEN row_number() OVER (PARTITION BY run, round, looks.visit IS NULL ORDER BY looks.visit) - 1
    END AS visit,
    witness,
    outcome,
    slot_class,
    request_id,
    request_group,
    kind,
    num_tokens,
    num_reused_tokens,
    coalesce(sum(num_tokens) OVER (looking ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::BIGINT AS tokens_before,
    reason,
    cause,
    producer_request_id,
    published_round,
    matched_tokens,
    ready_tokens,
    matched_tokens - ready_tokens AS num_tokens_lost,
    request
FROM looks
WINDOW looking AS (PARTITION BY run, round ORDER BY looks.visit NULLS FIRST, slot);

COMMENT ON VIEW round_scan IS 'One row a request that a round considered: running requests first, then the scan of the waiting queue in its order, selected or refused, then what the probe found behind its stop.';
COMMENT ON COLUMN round_scan.run IS '[-] Run.';
COMMENT ON COLUMN round_scan.round IS '[-] Round; filter on run and round to read only that part of the files.';
COMMENT ON COLUMN round_scan.step IS '[-] Order in which the round came to the request, from 0.';
COMMENT ON COLUMN round_scan.visit IS '[-] Position in the scan of the waiting queue, from 0; NULL for a running request.';
COMMENT ON COLUMN round_scan.witness IS '[-] native (what the round did) or probe (what it would have found behind its stop).';
COMMENT ON COLUMN round_scan.outcome IS '[-] selected, ready (probe only), blocked, held or other.';
COMMENT ON COLUMN round_scan.slot_class IS '[-] Class of the slot ledger: used, avoidable, dependency_wait, held, token_limited or other.';
COMMENT ON COLUMN round_scan.request_id IS '[-] Name of the branch; NULL if the recording ended before the request did.';
COMMENT ON COLUMN round_scan.request_group IS '[-] Its request group.';
COMMENT ON COLUMN round_scan.kind IS '[-] new, running or resumed, if it was selected.';
COMMENT ON COLUMN round_scan.num_tokens IS '[tokens] Tokens scheduled, or that a ready request would have taken; NULL if it was refused.';
COMMENT ON COLUMN round_scan.num_reused_tokens IS '[tokens] Tokens taken from the prefix cache in the round; they cost no budget.';
COMMENT ON COLUMN round_scan.tokens_before IS '[tokens] Tokens of the budget that requests before it took, or would have taken.';
COMMENT ON COLUMN round_scan.reason IS '[-] Reason of an other outcome.';
COMMENT ON COLUMN round_scan.cause IS '[-] Cause of a blocked outcome: being_written or marked_again; never merged.';
COMMENT ON COLUMN round_scan.producer_request_id IS '[-] Request that marked the awaited state in this round.';
COMMENT ON COLUMN round_scan.published_round IS '[-] Round in which a state that is marked again was really published; NULL while it is being written.';
COMMENT ON COLUMN round_scan.matched_tokens IS '[tokens] Longest token match of the prompt; NULL if not looked up.';
COMMENT ON COLUMN round_scan.ready_tokens IS '[tokens] Longest match whose every state component is published.';
COMMENT ON COLUMN round_scan.num_tokens_lost IS '[tokens] Cached tokens that could not be used for want of a ready state. Formula: matched_tokens - ready_tokens.';
COMMENT ON COLUMN round_scan.request IS '[-] Number of the request in the run.';
