-- How long before a row restored a state its producer had published it, and whether that output was there by then.
-- depends on: runs, restored_states
-- cached by: run

CREATE VIEW restored_summary AS
SELECT
    runs.run,
    runs.label,
    runs.is_async,
    CASE WHEN runs.sampled_fraction IS NULL THEN count(restored.round) END AS num_restored_states,
    CASE WHEN runs.sampled_fraction IS NULL THEN count(*) FILTER (restored.is_in_flight) END AS num_in_flight,
    CASE WHEN runs.sampled_fraction IS NULL THEN avg(restored.is_in_flight::INTEGER) END AS in_flight_fraction,
    CASE WHEN runs.sampled_fraction IS NULL THEN min(restored.num_rounds_between) END AS least_rounds_between,
    CASE WHEN runs.sampled_fraction IS NULL THEN quantile_cont(restored.num_rounds_between, 0.5) END
        AS p50_rounds_between,
    CASE WHEN runs.sampled_fraction IS NULL THEN max(restored.num_rounds_between) END AS most_rounds_between
FROM runs
LEFT JOIN restored_states AS restored ON restored.run = runs.run
WHERE runs.is_observed
GROUP BY runs.run, runs.label, runs.is_async, runs.sampled_fraction;

COMMENT ON VIEW restored_summary IS 'One row an observed run, over the states that a row restored and a row of the recording had published. Where a sample of the rounds is kept, the row that published a state may not be, and every number is NULL.';
COMMENT ON COLUMN restored_summary.run IS '[-] Run.';
COMMENT ON COLUMN restored_summary.label IS '[-] Name of the run.';
COMMENT ON COLUMN restored_summary.is_async IS '[-] Whether the engine schedules a round before the one before it has ended.';
COMMENT ON COLUMN restored_summary.num_restored_states IS '[states] States restored whose publisher is recorded.';
COMMENT ON COLUMN restored_summary.num_in_flight IS '[states] Of those, the ones whose output was still on its way when the restoring round was scheduled: the device orders them, the host has not seen them end.';
COMMENT ON COLUMN restored_summary.in_flight_fraction IS '[fraction] Share of those. Formula: num_in_flight / num_restored_states.';
COMMENT ON COLUMN restored_summary.least_rounds_between IS '[rounds] Least number of rounds from publishing to restoring.';
COMMENT ON COLUMN restored_summary.p50_rounds_between IS '[rounds] Median number of them.';
COMMENT ON COLUMN restored_summary.most_rounds_between IS '[rounds] Greatest number of them.';
