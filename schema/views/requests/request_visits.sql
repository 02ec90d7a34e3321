-- Every look at a waiting request that did not take it, with names and times, whatever the outcome.
-- depends on: round_visits, request_names, round_ends

CREATE VIEW request_visits AS
SELECT
    visits.run,
    visits.round,
    round_ends.start_ms,
    round_ends.end_ms,
    visits.visit,
    visited.request_id,
    visited.request_group,
    visits.witness,
    visits.outcome,
    visits.reason,
    visits.cause,
    visits.slot_class,
    producer.request_id AS producer_request_id,
    visits.published_round,
    visits.matched_tokens,
    visits.ready_tokens,
    visits.num_tokens,
    visits.request,
    visits.producer
FROM round_visits AS visits
LEFT JOIN round_ends ON round_ends.run = visits.run AND round_ends.round = visits.round
LEFT JOIN request_names AS visited ON visited.run = visits.run AND visited.request = visits.request
LEFT JOIN request_names AS producer ON producer.run = visits.run AND producer.request = visits.producer;

COMMENT ON VIEW request_visits IS 'One row a visit that did not select, by the scan itself (native) or by the probe behind its stop.';
COMMENT ON COLUMN request_visits.run IS '[-] Run.';
COMMENT ON COLUMN request_visits.round IS '[-] Round of the visit; filter on run and round to read only that part of the files.';
COMMENT ON COLUMN request_visits.start_ms IS '[ms] Start of that round after the start of the first round.';
COMMENT ON COLUMN request_visits.end_ms IS '[ms] End of that round after the start of the first round.';
COMMENT ON COLUMN request_visits.visit IS '[-] Place in the order of the scan, comparable within the round; not consecutive.';
COMMENT ON COLUMN request_visits.request_id IS '[-] Name of the branch; NULL if the recording ended before the request did.';
COMMENT ON COLUMN request_visits.request_group IS '[-] Its request group.';
COMMENT ON COLUMN request_visits.witness IS '[-] native or probe.';
COMMENT ON COLUMN request_visits.outcome IS '[-] ready (probe only), blocked, held or other.';
COMMENT ON COLUMN request_visits.reason IS '[-] Reason of an other outcome.';
COMMENT ON COLUMN request_visits.cause IS '[-] Cause of a blocked outcome: being_written or marked_again.';
COMMENT ON COLUMN request_visits.slot_class IS '[-] Class of the slot ledger that the visit may explain: avoidable, dependency_wait, held, token_limited or other.';
COMMENT ON COLUMN request_visits.producer_request_id IS '[-] Request that marked the awaited state in this round.';
COMMENT ON COLUMN request_visits.published_round IS '[-] Round in which a state that is marked again was really published; NULL while it is being written.';
COMMENT ON COLUMN request_visits.matched_tokens IS '[tokens] Longest token match of the prompt; NULL if not looked up.';
COMMENT ON COLUMN request_visits.ready_tokens IS '[tokens] Longest match whose every state component is published.';
COMMENT ON COLUMN request_visits.num_tokens IS '[tokens] Tokens that a ready request would have taken.';
COMMENT ON COLUMN request_visits.request IS '[-] Number of the request in the run.';
COMMENT ON COLUMN request_visits.producer IS '[-] Number of the producer in the run.';
