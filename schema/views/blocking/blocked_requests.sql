-- How long each refused request was blocked, behind how many producers, and whether it recovered.
-- depends on: refused_requests, producer_waits, requests, offers, runs

CREATE VIEW blocked_requests AS
WITH producers AS (
    SELECT run, request, count(DISTINCT producer) AS num_producers
    FROM producer_waits
    WHERE num_visits > 0
    GROUP BY run, request
)
SELECT
    refused.run,
    requests.request_id,
    offers.request_group,
    refused.num_blocked_visits,
    refused.num_being_written_visits,
    refused.num_marked_again_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(producers.num_producers, 0) END AS num_producers,
    refused.first_blocked_round,
    refused.last_blocked_round,
    refused.selected_round,
    refused.num_rounds_blocked,
    refused.blocked_ms,
    refused.is_recovered,
    requests.num_reused_tokens,
    refused.request
FROM refused_requests AS refused
JOIN runs ON runs.run = refused.run
LEFT JOIN producers ON producers.run = refused.run AND producers.request = refused.request
LEFT JOIN requests ON requests.run = refused.run AND requests.request = refused.request
LEFT JOIN offers ON offers.run = refused.run AND offers.request_id = requests.request_id;

COMMENT ON VIEW blocked_requests IS 'One row a request with a BLOCKED visit of the scan; a recovered one was selected after it. Where a sample of the rounds is kept, only requests with such a visit in a kept round are there, and what needs all of their visits is NULL.';
COMMENT ON COLUMN blocked_requests.run IS '[-] Run.';
COMMENT ON COLUMN blocked_requests.request_id IS '[-] Name of the branch; NULL if the recording ended before it did.';
COMMENT ON COLUMN blocked_requests.request_group IS '[-] Its request group.';
COMMENT ON COLUMN blocked_requests.num_blocked_visits IS '[visits] BLOCKED visits of the scan.';
COMMENT ON COLUMN blocked_requests.num_being_written_visits IS '[visits] Of those, for a state being written.';
COMMENT ON COLUMN blocked_requests.num_marked_again_visits IS '[visits] Of those, for a published state that was marked again.';
COMMENT ON COLUMN blocked_requests.num_producers IS '[requests] Different requests that it waited for.';
COMMENT ON COLUMN blocked_requests.first_blocked_round IS '[-] Round of the first refusal.';
COMMENT ON COLUMN blocked_requests.last_blocked_round IS '[-] Round of the last refusal.';
COMMENT ON COLUMN blocked_requests.selected_round IS '[-] Round that first selected it; NULL if none did.';
COMMENT ON COLUMN blocked_requests.num_rounds_blocked IS '[rounds] Formula: selected_round - first_blocked_round.';
COMMENT ON COLUMN blocked_requests.blocked_ms IS '[ms] From the start of the first round that refused it to the start of the one that selected it.';
COMMENT ON COLUMN blocked_requests.is_recovered IS '[-] Whether it was selected after all.';
COMMENT ON COLUMN blocked_requests.num_reused_tokens IS '[tokens] Prompt tokens that it reused then.';
COMMENT ON COLUMN blocked_requests.request IS '[-] Number of the request in the run.';
