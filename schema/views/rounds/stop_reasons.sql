-- What ended the scans of a run, and what that cost.
-- depends on: rounds, runs
-- cached by: run

CREATE VIEW stop_reasons AS
SELECT
    runs.run,
    runs.label,
    rounds.stop_reason,
    CASE WHEN runs.sampled_fraction IS NULL THEN count(*) END AS num_rounds,
    CASE WHEN runs.probe <> 'off' AND runs.sampled_fraction IS NULL THEN sum(rounds.rows_avoidable)::BIGINT END AS rows_avoidable,
    CASE WHEN runs.probe <> 'off' AND runs.sampled_fraction IS NULL THEN sum(rounds.tokens_avoidable)::BIGINT END
        AS tokens_avoidable,
    count(*) AS num_rounds_kept,
    count(*) / sum(count(*)) OVER (PARTITION BY runs.run) AS rounds_fraction
FROM rounds
JOIN runs USING (run)
GROUP BY runs.run, runs.label, runs.probe, runs.sampled_fraction, rounds.stop_reason;

COMMENT ON VIEW stop_reasons IS 'Rounds of each run by what ended their scan.';
COMMENT ON COLUMN stop_reasons.run IS '[-] Run.';
COMMENT ON COLUMN stop_reasons.label IS '[-] Name of the run.';
COMMENT ON COLUMN stop_reasons.stop_reason IS '[-] end_of_queue, blocked, or a reason of an OTHER outcome.';
COMMENT ON COLUMN stop_reasons.num_rounds IS '[rounds] Rounds whose scan ended so.';
COMMENT ON COLUMN stop_reasons.rows_avoidable IS '[rows] Avoidable rows in those rounds; NULL when the probe was off.';
COMMENT ON COLUMN stop_reasons.tokens_avoidable IS '[tokens] Tokens that would have filled them; NULL when the probe was off.';
COMMENT ON COLUMN stop_reasons.num_rounds_kept IS '[rounds] Rounds that ended so and are in the run: all of them unless it keeps a sample.';
COMMENT ON COLUMN stop_reasons.rounds_fraction IS '[fraction] Share of the rounds that ended so; of the kept ones where the run keeps a sample.';
