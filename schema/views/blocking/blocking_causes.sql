-- What refusals for a recurrent state cost, states marked again apart from states being written.
-- depends on: runs, blocking_witnesses, round_ends
-- cached by: run

CREATE VIEW blocking_causes AS
WITH witnesses AS MATERIALIZED (
    SELECT * FROM blocking_witnesses
),
refusals AS (
    SELECT * FROM witnesses WHERE witness = 'native'
),
probed AS (
    SELECT * FROM witnesses WHERE witness = 'probe'
),
causes AS (
    SELECT DISTINCT run, cause FROM witnesses
),
stops AS (  -- the refusal at which the scan stopped
    SELECT
        run,
        stop_cause AS cause,
        count(*) AS num_rounds_stopped,
        count(*) FILTER (rows_avoidable > 0) AS num_bubble_rounds,
        sum(rows_avoidable)::BIGINT AS rows_avoidable,
        sum(tokens_avoidable)::BIGINT AS tokens_avoidable,
        sum(end_ns - start_ns) / 1e6 AS stopped_ms
    FROM round_ends
    WHERE stop_reason = 'blocked'
    GROUP BY run, stop_cause
)
SELECT
    runs.run,
    runs.label,
    causes.cause,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(refusals.num_visits, 0) END AS num_visits,
    CASE WHEN runs.probe <> 'off' AND runs.sampled_fraction IS NULL THEN coalesce(probed.num_visits, 0) END
        AS num_probe_visits,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(refusals.num_requests, 0) END AS num_requests,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(refusals.num_rounds, 0) END AS num_rounds,
    CASE WHEN runs.sampled_fraction IS NULL THEN refusals.num_tokens_lost END AS num_tokens_lost,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(stops.num_rounds_stopped, 0) END AS num_rounds_stopped,
    CASE WHEN runs.sampled_fraction IS NULL THEN coalesce(stops.stopped_ms, 0) END AS stopped_ms,
    CASE WHEN runs.probe <> 'off' AND runs.sampled_fraction IS NULL THEN coalesce(stops.num_bubble_rounds, 0) END
        AS num_bubble_rounds,
    CASE WHEN runs.probe <> 'off' AND runs.sampled_fraction IS NULL THEN coalesce(stops.rows_avoidable, 0) END
        AS rows_avoidable,
    CASE WHEN runs.probe <> 'off' AND runs.sampled_fraction IS NULL THEN coalesce(stops.tokens_avoidable, 0) END
        AS tokens_avoidable,
    coalesce(stops.num_rounds_stopped, 0) / nullif(kept.num_rounds, 0) AS stopped_rounds_fraction
FROM causes
JOIN runs USING (run)
LEFT JOIN (SELECT run, count(*) AS num_rounds FROM round_ends GROUP BY run) AS kept ON kept.run = causes.run
LEFT JOIN refusals ON refusals.run = causes.run AND refusals.cause = causes.cause
LEFT JOIN probed ON probed.run = causes.run AND probed.cause = causes.cause
LEFT JOIN stops ON stops.run = causes.run AND stops.cause = causes.cause;

COMMENT ON VIEW blocking_causes IS 'One row a run and cause. Rows and rounds are lost to the cause of the refusal at which the scan stopped. Where a sample of the rounds is kept, totals are NULL and the share remains.';
COMMENT ON COLUMN blocking_causes.run IS '[-] Run.';
COMMENT ON COLUMN blocking_causes.label IS '[-] Name of the run.';
COMMENT ON COLUMN blocking_causes.cause IS '[-] being_written or marked_again.';
COMMENT ON COLUMN blocking_causes.num_visits IS '[visits] BLOCKED visits of the scan.';
COMMENT ON COLUMN blocking_causes.num_probe_visits IS '[visits] BLOCKED visits of the probe; NULL when it was off.';
COMMENT ON COLUMN blocking_causes.num_requests IS '[requests] Requests that the scan refused so at least once.';
COMMENT ON COLUMN blocking_causes.num_rounds IS '[rounds] Rounds with such a refusal by the scan.';
COMMENT ON COLUMN blocking_causes.num_tokens_lost IS '[tokens] Matched tokens that were not ready, over the visits of the scan; a request counts at every visit.';
COMMENT ON COLUMN blocking_causes.num_rounds_stopped IS '[rounds] Rounds whose scan ended at such a refusal.';
COMMENT ON COLUMN blocking_causes.stopped_ms IS '[ms] Duration of those rounds together.';
COMMENT ON COLUMN blocking_causes.num_bubble_rounds IS '[rounds] Of those rounds, the ones with an avoidable row; NULL when the probe was off.';
COMMENT ON COLUMN blocking_causes.rows_avoidable IS '[rows] Avoidable rows behind such a stop; NULL when the probe was off.';
COMMENT ON COLUMN blocking_causes.tokens_avoidable IS '[tokens] Tokens that would have filled them; NULL when the probe was off.';
COMMENT ON COLUMN blocking_causes.stopped_rounds_fraction IS '[fraction] Share of the rounds whose scan stopped for the cause; of the kept ones where the run keeps a sample. Formula: num_rounds_stopped / rounds.';
