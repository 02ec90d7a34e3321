-- The stalls of each run in numbers, and why a number is missing.
-- depends on: runs, opened_runs, stall_times, stall_reasons, bubble_totals

CREATE VIEW stall_summary AS
WITH of_stalls AS (
    SELECT
        run,
        sum(num_stalls)::BIGINT AS num_stalls,
        sum(num_steps)::BIGINT AS num_stalled_steps,
        sum(stalled_ms) AS stalled_ms,
        max(longest_ms) AS longest_stall_ms
    FROM stall_reasons
    WHERE kind = 'stalled'
    GROUP BY run
),
of_times AS (
    SELECT
        run,
        sum(num_steps) FILTER (kind = 'awaits_output')::BIGINT AS num_steps_awaiting_output,
        sum(num_steps) FILTER (kind = 'held')::BIGINT AS num_steps_held,
        min(start_ms) FILTER (kind = 'stalled') AS first_ms,
        max(end_ms) FILTER (kind = 'stalled') AS last_ms
    FROM stall_times
    GROUP BY run
)
SELECT
    runs.run,
    runs.label,
    CASE WHEN records_stalls THEN coalesce(num_stalls, 0) END AS num_stalls,
    CASE WHEN records_stalls THEN coalesce(num_stalled_steps, 0) END AS num_stalled_steps,
    CASE WHEN records_stalls THEN coalesce(stalled_ms, 0.0) END AS stalled_ms,
    CASE WHEN records_stalls THEN longest_stall_ms END AS longest_stall_ms,
    CASE WHEN records_stalls THEN coalesce(num_steps_held, 0) END AS num_steps_held,
    CASE WHEN records_stalls AND runs.sampled_fraction IS NULL THEN coalesce(
        stalled_ms / nullif(greatest(coalesce(duration_ms, 0), coalesce(last_ms, 0)) - least(0, coalesce(first_ms, 0)), 0),
        0.0
    ) END AS stalled_fraction,
    CASE WHEN records_stalls AND runs.sampled_fraction IS NULL
        THEN coalesce(num_steps_awaiting_output, 0) END AS num_steps_awaiting_output,
    CASE
        WHEN NOT runs.is_observed THEN 'its engine was not observed'
        WHEN NOT records_stalls THEN 'it was recorded without stalls'
    END AS why_not_measured,
    CASE
        WHEN NOT runs.is_observed THEN 'its engine was not observed'
        WHEN NOT records_stalls THEN 'it was recorded without stalls'
        WHEN runs.sampled_fraction IS NOT NULL THEN 'it keeps a sample of its rounds'
    END AS why_no_share
FROM runs
JOIN (SELECT run, records_stalls AND is_observed AS records_stalls FROM opened_runs) AS said USING (run)
LEFT JOIN of_stalls USING (run)
LEFT JOIN of_times USING (run)
LEFT JOIN (SELECT run, duration_ms FROM bubble_totals) AS totals USING (run)
ORDER BY runs.run;

COMMENT ON VIEW stall_summary IS 'One row a run: how often and how long its steps scheduled nothing while work waited, no output was on its way and no rule held it. A step without work belongs to no round, so a sample of the rounds has all stalls.';
COMMENT ON COLUMN stall_summary.run IS '[-] Run.';
COMMENT ON COLUMN stall_summary.label IS '[-] Name of the run.';
COMMENT ON COLUMN stall_summary.num_stalls IS '[stalls] Stretches of equal steps that scheduled nothing while work waited; NULL for the reason in why_not_measured.';
COMMENT ON COLUMN stall_summary.num_stalled_steps IS '[steps] schedule() calls in them.';
COMMENT ON COLUMN stall_summary.stalled_ms IS '[ms] Time in them.';
COMMENT ON COLUMN stall_summary.longest_stall_ms IS '[ms] The longest of them; NULL without any.';
COMMENT ON COLUMN stall_summary.num_steps_held IS '[steps] Further steps that scheduled nothing because an admission rule held every waiting request.';
COMMENT ON COLUMN stall_summary.stalled_fraction IS '[fraction] Share of the time from the first round, or a stall before it, to the last, or a stall behind it. Formula: stalled_ms / that time; NULL for the reason in why_no_share.';
COMMENT ON COLUMN stall_summary.num_steps_awaiting_output IS '[steps] Further steps that scheduled nothing while the output of a round was on its way; NULL for the reason in why_no_share.';
COMMENT ON COLUMN stall_summary.why_not_measured IS '[-] Why the numbers of stalls are NULL, to follow the name of the run in a sentence; NULL where they are known.';
COMMENT ON COLUMN stall_summary.why_no_share IS '[-] Why stalled_fraction and num_steps_awaiting_output are NULL, in the same way.';
