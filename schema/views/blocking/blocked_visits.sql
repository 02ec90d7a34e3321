-- Every refusal for a recurrent state: who waited, for whom, and what the wait cost in cached tokens.
-- depends on: round_visits, request_names, round_ends

CREATE VIEW blocked_visits AS
WITH names AS MATERIALIZED (  -- looked up once, for both parties
    SELECT * FROM request_names
)
SELECT
    visits.run,
    visits.round,
    round_ends.start_ms,
    visits.visit,
    consumer.request_id,
    consumer.request_group,
    visits.witness,
    visits.cause,
    producer.request_id AS producer_request_id,
    visits.published_round,
    visits.matched_tokens,
    visits.ready_tokens,
    visits.matched_tokens - visits.ready_tokens AS num_tokens_lost,
    visits.request
FROM round_visits AS visits
LEFT JOIN round_ends USING (run, round)
LEFT JOIN names AS consumer ON consumer.run = visits.run AND consumer.request = visits.request
LEFT JOIN names AS producer ON producer.run = visits.run AND producer.request = visits.producer
WHERE visits.outcome = 'blocked';

COMMENT ON VIEW blocked_visits IS 'One row a visit that ended BLOCKED, by the scan itself (native) or by the probe behind its stop.';
COMMENT ON COLUMN blocked_visits.run IS '[-] Run.';
COMMENT ON COLUMN blocked_visits.round IS '[-] Round of the visit.';
COMMENT ON COLUMN blocked_visits.start_ms IS '[ms] Start of that round after the start of the first round.';
COMMENT ON COLUMN blocked_visits.visit IS '[-] Place in the order of the scan, comparable within the round; not consecutive.';
COMMENT ON COLUMN blocked_visits.request_id IS '[-] The consumer; NULL if the recording ended before the request did.';
COMMENT ON COLUMN blocked_visits.request_group IS '[-] Request group of the consumer.';
COMMENT ON COLUMN blocked_visits.witness IS '[-] native or probe.';
COMMENT ON COLUMN blocked_visits.cause IS '[-] being_written or marked_again; never merged.';
COMMENT ON COLUMN blocked_visits.producer_request_id IS '[-] Request that marked the awaited state in this round.';
COMMENT ON COLUMN blocked_visits.published_round IS '[-] Round in which a state that is marked again was really published; NULL while it is being written.';
COMMENT ON COLUMN blocked_visits.matched_tokens IS '[tokens] Longest token match of the prompt.';
COMMENT ON COLUMN blocked_visits.ready_tokens IS '[tokens] Longest match whose every state component is published.';
COMMENT ON COLUMN blocked_visits.num_tokens_lost IS '[tokens] Cached tokens that could not be used for want of a ready state. Formula: matched_tokens - ready_tokens.';
COMMENT ON COLUMN blocked_visits.request IS '[-] Number of the consumer in the run.';
