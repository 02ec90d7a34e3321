-- Refusals for a recurrent state by cause, and by who saw them: the scan itself or the probe behind its stop.
-- depends on: visits, awaited_states
-- cached by: run

CREATE VIEW blocking_witnesses AS
WITH refusals_of_requests AS (  -- and then summed: far quicker than to count different requests in one go
    SELECT
        run,
        cause,
        witness,
        request,
        sum(last_round - round + 1) AS num_visits,
        sum((last_round - round + 1) * (matched_tokens - ready_tokens)) AS num_tokens_lost
    FROM visits
    WHERE outcome = 'blocked'
    GROUP BY run, cause, witness, request
),
refusals AS (
    SELECT
        run,
        cause,
        witness,
        sum(num_visits)::BIGINT AS num_visits,
        count(*) AS num_requests,
        sum(num_tokens_lost)::BIGINT AS num_tokens_lost
    FROM refusals_of_requests
    GROUP BY run, cause, witness
),
refusing_rounds AS (
    SELECT run, cause, round, max(num_visits) > 0 AS by_scan, max(num_probe_visits) > 0 AS by_probe
    FROM awaited_states
    GROUP BY run, cause, round
),
awaited AS (
    SELECT
        run,
        cause,
        count(*) FILTER (by_scan) AS num_native_rounds,
        count(*) FILTER (by_probe) AS num_probe_rounds
    FROM refusing_rounds
    GROUP BY run, cause
)
SELECT
    refusals.run,
    refusals.cause,
    refusals.witness,
    refusals.num_visits,
    refusals.num_requests,
    coalesce(CASE WHEN witness = 'probe' THEN num_probe_rounds ELSE num_native_rounds END, 0) AS num_rounds,
    refusals.num_tokens_lost
FROM refusals
LEFT JOIN awaited ON awaited.run = refusals.run AND awaited.cause IS NOT DISTINCT FROM refusals.cause;

COMMENT ON VIEW blocking_witnesses IS 'One row a run, cause and witness of BLOCKED visits. Scan and probe are never added up. Of a run that keeps a sample of its rounds (runs.sampled_fraction), counts are those of the kept ones.';
COMMENT ON COLUMN blocking_witnesses.run IS '[-] Run.';
COMMENT ON COLUMN blocking_witnesses.cause IS '[-] being_written or marked_again.';
COMMENT ON COLUMN blocking_witnesses.witness IS '[-] native or probe.';
COMMENT ON COLUMN blocking_witnesses.num_visits IS '[visits] BLOCKED visits.';
COMMENT ON COLUMN blocking_witnesses.num_requests IS '[requests] Requests refused so at least once.';
COMMENT ON COLUMN blocking_witnesses.num_rounds IS '[rounds] Rounds with such a refusal.';
COMMENT ON COLUMN blocking_witnesses.num_tokens_lost IS '[tokens] Matched tokens that were not ready; a request counts at every visit.';
