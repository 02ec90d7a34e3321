-- The visits of each round beside the producer of the state that each waited for.
-- depends on: spread_visits, awaited_states
--
-- Ask for few rounds by the variables first_round and last_round (schema/reading/windows.py), as of spread_visits.

CREATE VIEW round_visits AS
WITH awaited AS NOT MATERIALIZED (
    SELECT * FROM awaited_states
    WHERE round <= coalesce(getvariable('last_round'), 4611686018427387904)
        AND round >= coalesce(getvariable('first_round'), 0)
)
SELECT
    spread.run,
    spread.round,
    spread.visit,
    spread.request,
    spread.witness,
    spread.outcome,
    spread.reason,
    spread.cause,
    spread.slot_class,
    spread.matched_tokens,
    spread.ready_tokens,
    spread.awaited_hash,
    awaited.producer,
    awaited.published_round,
    spread.num_tokens
FROM spread_visits AS spread
LEFT JOIN awaited
    ON awaited.run = spread.run AND awaited.round = spread.round AND awaited.awaited_hash = spread.awaited_hash;

COMMENT ON VIEW round_visits IS 'One row a waiting request that a round looked at and did not select.';
COMMENT ON COLUMN round_visits.run IS '[-] Run.';
COMMENT ON COLUMN round_visits.round IS '[-] Round of the visit.';
COMMENT ON COLUMN round_visits.visit IS '[-] Place in the order of the scan, comparable within the round; not consecutive.';
COMMENT ON COLUMN round_visits.request IS '[-] Number of the request in the run.';
COMMENT ON COLUMN round_visits.witness IS '[-] native (the scan itself) or probe (the counterfactual behind its stop).';
COMMENT ON COLUMN round_visits.outcome IS '[-] ready (probe only), blocked, held or other.';
COMMENT ON COLUMN round_visits.reason IS '[-] Reason of an other outcome.';
COMMENT ON COLUMN round_visits.cause IS '[-] Cause of a blocked outcome: being_written or marked_again.';
COMMENT ON COLUMN round_visits.slot_class IS '[-] Class of the slot ledger that the visit may explain: avoidable, dependency_wait, held, token_limited or other.';
COMMENT ON COLUMN round_visits.matched_tokens IS '[tokens] Longest token match of the prompt; NULL if not looked up.';
COMMENT ON COLUMN round_visits.ready_tokens IS '[tokens] Longest match whose every state component is published.';
COMMENT ON COLUMN round_visits.awaited_hash IS '[-] Hash of the state that a blocked request waits for.';
COMMENT ON COLUMN round_visits.producer IS '[-] Request that marked the awaited state in this round.';
COMMENT ON COLUMN round_visits.published_round IS '[-] Round in which a state that is marked again was really published.';
COMMENT ON COLUMN round_visits.num_tokens IS '[tokens] Tokens that a ready request would have taken.';
