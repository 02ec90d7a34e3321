-- The visits of each round, one by one: the stored runs of repeated visits spread over their rounds.
-- depends on: visits
--
-- Ask for few rounds by the variables first_round and last_round (schema/reading/windows.py): a filter on round cannot reach the
-- Parquet scan through the spreading. A run spans at most 64 rounds; one that says more (check names it) is cut there.

CREATE VIEW spread_visits AS
SELECT
    run,
    unnest(range(
        greatest(round, coalesce(getvariable('first_round'), 0)),
        least(last_round, round + 63, coalesce(getvariable('last_round'), 4611686018427387904)) + 1
    )) AS round,
    visit,
    request,
    witness,
    outcome,
    reason,
    cause,
    CASE
        WHEN outcome = 'ready' THEN 'avoidable'
        WHEN outcome = 'blocked' THEN 'dependency_wait'
        WHEN outcome = 'held' THEN 'held'
        WHEN reason IN ('token_budget', 'aligned_split_zero', 'no_chunked_prefill', 'spec_padding') THEN 'token_limited'
        ELSE 'other'
    END AS slot_class,
    matched_tokens,
    ready_tokens,
    awaited_hash,
    num_tokens
FROM visits
WHERE round <= coalesce(getvariable('last_round'), 4611686018427387904)
    AND last_round >= coalesce(getvariable('first_round'), 0);

COMMENT ON VIEW spread_visits IS 'One row a waiting request that a round looked at and did not select, without who marked the state that it waits for (round_visits has that).';
COMMENT ON COLUMN spread_visits.run IS '[-] Run.';
COMMENT ON COLUMN spread_visits.round IS '[-] Round of the visit.';
COMMENT ON COLUMN spread_visits.visit IS '[-] Place in the order of the scan, comparable within the round; not consecutive.';
COMMENT ON COLUMN spread_visits.request IS '[-] Number of the request in the run.';
COMMENT ON COLUMN spread_visits.witness IS '[-] native (the scan itself) or probe (the counterfactual behind its stop).';
COMMENT ON COLUMN spread_visits.outcome IS '[-] ready (probe only), blocked, held or other.';
COMMENT ON COLUMN spread_visits.reason IS '[-] Reason of an other outcome.';
COMMENT ON COLUMN spread_visits.cause IS '[-] Cause of a blocked outcome: being_written or marked_again.';
COMMENT ON COLUMN spread_visits.slot_class IS '[-] Class of the slot ledger that the visit may explain: avoidable, dependency_wait, held, token_limited or other.';
COMMENT ON COLUMN spread_visits.matched_tokens IS '[tokens] Longest token match of the prompt; NULL if not looked up.';
COMMENT ON COLUMN spread_visits.ready_tokens IS '[tokens] Longest match whose every state component is published.';
COMMENT ON COLUMN spread_visits.awaited_hash IS '[-] Hash of the state that a blocked request waits for.';
COMMENT ON COLUMN spread_visits.num_tokens IS '[tokens] Tokens that a ready request would have taken.';
