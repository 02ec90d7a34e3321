-- What ended the scans of a run, and what that cost.
-- depends on: rounds, runs
-- cached by: run

CREATE VIEW stop_reasons AS
SELECT
    runs.run,
    runs.label,
    rounds.stop_reason,
    count(*) AS num_rounds,
    CASE WHEN runs.probe <> 'off' THEN sum(rounds.rows_avoidable)::BIGINT END AS rows_avoidable,
    CASE WHEN runs.probe <> 'off' THEN sum(rounds.tokens_avoidable)::BIGINT END AS tokens_avoidable
FROM rounds
JOIN runs USING (run)
GROUP BY runs.run, runs.label, runs.probe, rounds.stop_reason;

COMMENT ON VIEW stop_reasons IS 'Rounds of each run by what ended their scan.';
COMMENT ON COLUMN stop_reasons.run IS '[-] Run.';
COMMENT ON COLUMN stop_reasons.label IS '[-] Name of the run.';
COMMENT ON COLUMN stop_reasons.stop_reason IS '[-] end_of_queue, blocked, or a reason of an OTHER outcome.';
COMMENT ON COLUMN stop_reasons.num_rounds IS '[rounds] Rounds whose scan ended so.';
COMMENT ON COLUMN stop_reasons.rows_avoidable IS '[rows] Avoidable rows in those rounds; NULL when the probe was off.';
COMMENT ON COLUMN stop_reasons.tokens_avoidable IS '[tokens] Tokens that would have filled them; NULL when the probe was off.';
