-- Fairness: how long each request waited, how often it was put off, how many later arrivals came first.
-- depends on: requests, rounds, visits, runs

CREATE VIEW request_waits AS
WITH lined_up AS (
    SELECT
        run,
        request,
        request_id,
        registered_ns,
        first_selected_ns,
        first_selected_round,
        num_blocked_visits,
        coalesce(first_selected_round, 4611686018427387904) AS turn,
        ceil(log2(max(request) OVER (PARTITION BY run) + 2))::BIGINT AS num_bits
    FROM requests
    WHERE first_selected_ns IS NULL OR first_selected_round IS NOT NULL  -- else it was selected before the recording
),
involved AS (  -- overtaken, or overtaking: most requests of most runs are neither
    SELECT * FROM lined_up
    QUALIFY min(turn) OVER (
            PARTITION BY run ORDER BY request ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) < turn
        OR max(turn) OVER (
            PARTITION BY run ORDER BY request ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) > turn
),
bits AS (
    SELECT run, request, turn, unnest(range(num_bits)) AS bit
    FROM involved
),
-- A later number shares the upper bits of an earlier one up to a bit that it has and the earlier one has not: of those
-- pairs, bit by bit, the ones whose later number was selected in an earlier round are counted by a running sum.
counted AS (
    SELECT
        run,
        request,
        (request >> bit) & 1 AS has_bit,
        sum((request >> bit) & 1) OVER (
            PARTITION BY run, bit, request >> (bit + 1) ORDER BY turn RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS num_before
    FROM bits
),
overtakes AS (
    SELECT run, request, coalesce(sum(num_before) FILTER (has_bit = 0), 0)::BIGINT AS num_overtakes
    FROM counted
    GROUP BY run, request
),
put_off AS (
    SELECT
        run,
        request,
        sum(last_round - round + 1)::BIGINT AS num_deferrals,
        sum(last_round - round + 1) FILTER (outcome = 'blocked')::BIGINT AS num_blocked_visits,
        sum(last_round - round + 1) FILTER (outcome = 'held')::BIGINT AS num_held_visits,
        sum(last_round - round + 1) FILTER (outcome = 'other')::BIGINT AS num_other_visits
    FROM visits
    WHERE witness = 'native'
    GROUP BY run, request
),
ends AS (
    SELECT run, max(round) AS last_round, max(schedule_start_ns) AS last_start_ns
    FROM rounds
    GROUP BY run
)
SELECT
    lined_up.run,
    lined_up.request_id,
    (lined_up.registered_ns - runs.origin_ns) / 1e6 AS registered_ms,
    lined_up.first_selected_round IS NOT NULL AS is_selected,
    (
        coalesce(lined_up.first_selected_ns, CASE WHEN runs.sampled_fraction IS NULL THEN ends.last_start_ns END)
        - lined_up.registered_ns
    ) / 1e6 AS waited_ms,
    -- of a sample, the rounds and visits that are not kept cannot be counted
    CASE
        WHEN runs.sampled_fraction IS NULL
            THEN coalesce(lined_up.first_selected_round, ends.last_round + 1) - first_chance.round
    END AS num_rounds_waited,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(put_off.num_deferrals, 0) END AS num_deferrals,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(put_off.num_blocked_visits, 0)
        ELSE lined_up.num_blocked_visits END AS num_blocked_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(put_off.num_held_visits, 0) END AS num_held_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(put_off.num_other_visits, 0) END AS num_other_visits,
    coalesce(overtakes.num_overtakes, 0) AS num_overtakes,
    lined_up.request
FROM lined_up
JOIN runs USING (run)
LEFT JOIN overtakes ON overtakes.run = lined_up.run AND overtakes.request = lined_up.request
LEFT JOIN put_off ON put_off.run = lined_up.run AND put_off.request = lined_up.request
LEFT JOIN ends ON ends.run = lined_up.run
ASOF LEFT JOIN rounds AS first_chance
    ON first_chance.run = lined_up.run AND lined_up.registered_ns <= first_chance.schedule_start_ns;

COMMENT ON VIEW request_waits IS 'One row a request that the engine saw end. A request that was never selected is counted to the last round; one that was selected before the recording began is left out. Where a sample of the rounds is kept, counts of rounds and visits are NULL, but that of BLOCKED visits is exact.';
COMMENT ON COLUMN request_waits.run IS '[-] Run.';
COMMENT ON COLUMN request_waits.request_id IS '[-] Name of the branch.';
COMMENT ON COLUMN request_waits.registered_ms IS '[ms] When the scheduler received it, after the start of the first round.';
COMMENT ON COLUMN request_waits.is_selected IS '[-] Whether any round selected it.';
COMMENT ON COLUMN request_waits.waited_ms IS '[ms] From registration to the start of the round that first selected it, else to the start of the last round.';
COMMENT ON COLUMN request_waits.num_rounds_waited IS '[rounds] Rounds that began while it waited and did not select it.';
COMMENT ON COLUMN request_waits.num_deferrals IS '[visits] Visits of the scan that did not take it. Formula: num_blocked_visits + num_held_visits + num_other_visits.';
COMMENT ON COLUMN request_waits.num_blocked_visits IS '[visits] Of those, refused for its recurrent state.';
COMMENT ON COLUMN request_waits.num_held_visits IS '[visits] Of those, held by admission.';
COMMENT ON COLUMN request_waits.num_other_visits IS '[visits] Of those, refused for another reason.';
COMMENT ON COLUMN request_waits.num_overtakes IS '[requests] Requests that were registered later and first selected in an earlier round.';
COMMENT ON COLUMN request_waits.request IS '[-] Number of the request in the run, in the order of registration.';
