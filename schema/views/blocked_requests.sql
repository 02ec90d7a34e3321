-- How long each refused request was blocked, and whether it recovered.
-- depends on: runs, visits, producer_waits, requests, offers, round_ends

CREATE VIEW blocked_requests AS
WITH refusals AS (
    SELECT
        run,
        request,
        sum(last_round - round + 1)::BIGINT AS num_blocked_visits,
        coalesce(sum(last_round - round + 1) FILTER (cause = 'being_written'), 0)::BIGINT AS num_being_written_visits,
        coalesce(sum(last_round - round + 1) FILTER (cause = 'marked_again'), 0)::BIGINT AS num_marked_again_visits,
        min(round) AS first_blocked_round,
        max(last_round) AS last_blocked_round
    FROM visits
    WHERE outcome = 'blocked' AND witness = 'native'
    GROUP BY run, request
),
producers AS (
    SELECT run, request, count(DISTINCT producer) AS num_producers
    FROM producer_waits
    WHERE num_visits > 0
    GROUP BY run, request
)
SELECT
    refusals.run,
    requests.request_id,
    offers.request_group,
    -- of a sample, the first and the last refusal, and most between, may not be kept; the count of all is
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.num_blocked_visits ELSE requests.num_blocked_visits END
        AS num_blocked_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.num_being_written_visits END AS num_being_written_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.num_marked_again_visits END AS num_marked_again_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(producers.num_producers, 0) END AS num_producers,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.first_blocked_round END AS first_blocked_round,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.last_blocked_round END AS last_blocked_round,
    requests.first_selected_round AS selected_round,
    CASE WHEN runs.sampled_fraction IS NULL THEN requests.first_selected_round - refusals.first_blocked_round END
        AS num_rounds_blocked,
    CASE WHEN runs.sampled_fraction IS NULL THEN (requests.first_selected_ns - round_ends.start_ns) / 1e6 END
        AS blocked_ms,
    requests.first_selected_round IS NOT NULL AS is_recovered,
    requests.num_reused_tokens,
    refusals.request
FROM refusals
JOIN runs ON runs.run = refusals.run
LEFT JOIN producers ON producers.run = refusals.run AND producers.request = refusals.request
LEFT JOIN requests ON requests.run = refusals.run AND requests.request = refusals.request
LEFT JOIN offers ON offers.run = refusals.run AND offers.request_id = requests.request_id
LEFT JOIN round_ends ON round_ends.run = refusals.run AND round_ends.round = refusals.first_blocked_round;

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
