-- How often and for how long each refused request was blocked.
-- depends on: runs, visits, requests, round_ends

CREATE VIEW refused_requests AS
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
)
SELECT
    refusals.run,
    refusals.request,
    -- of a sample, the first and the last refusal, and most between, may not be kept; the count of all is
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.num_blocked_visits ELSE requests.num_blocked_visits END
        AS num_blocked_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.num_being_written_visits END AS num_being_written_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.num_marked_again_visits END AS num_marked_again_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.first_blocked_round END AS first_blocked_round,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.last_blocked_round END AS last_blocked_round,
    requests.first_selected_round AS selected_round,
    CASE WHEN runs.sampled_fraction IS NULL THEN requests.first_selected_round - refusals.first_blocked_round END
        AS num_rounds_blocked,
    CASE WHEN runs.sampled_fraction IS NULL THEN (requests.first_selected_ns - round_ends.start_ns) / 1e6 END
        AS blocked_ms,
    requests.first_selected_round IS NOT NULL AS is_recovered
FROM refusals
JOIN runs ON runs.run = refusals.run
LEFT JOIN requests ON requests.run = refusals.run AND requests.request = refusals.request
LEFT JOIN round_ends ON round_ends.run = refusals.run AND round_ends.round = refusals.first_blocked_round;

COMMENT ON VIEW refused_requests IS 'One row a request with a BLOCKED visit of the scan: the part of blocked_requests that asks for no producer and no name.';
COMMENT ON COLUMN refused_requests.run IS '[-] Run.';
COMMENT ON COLUMN refused_requests.request IS '[-] Number of the request in the run.';
COMMENT ON COLUMN refused_requests.num_blocked_visits IS '[visits] BLOCKED visits of the scan.';
COMMENT ON COLUMN refused_requests.num_being_written_visits IS '[visits] Of those, for a state being written.';
COMMENT ON COLUMN refused_requests.num_marked_again_visits IS '[visits] Of those, for a published state that was marked again.';
COMMENT ON COLUMN refused_requests.first_blocked_round IS '[-] Round of the first refusal.';
COMMENT ON COLUMN refused_requests.last_blocked_round IS '[-] Round of the last refusal.';
COMMENT ON COLUMN refused_requests.selected_round IS '[-] Round that first selected it; NULL if none did.';
COMMENT ON COLUMN refused_requests.num_rounds_blocked IS '[rounds] Formula: selected_round - first_blocked_round.';
COMMENT ON COLUMN refused_requests.blocked_ms IS '[ms] From the start of the first round that refused it to the start of the one that selected it.';
COMMENT ON COLUMN refused_requests.is_recovered IS '[-] Whether it was selected after all.';
