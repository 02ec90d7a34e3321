-- Mean and percentiles of every latency, whole run and by dataset.
-- depends on: latencies, runs
-- cached by: run

CREATE VIEW latency_summary AS
WITH sums AS (
    SELECT
        run,
        subject,
        interval,
        dataset,
        count(value_ms) AS num_values,
        count(*) - count(value_ms) AS num_missing,
        avg(value_ms) AS mean_ms,
        quantile_cont(value_ms, [0.50, 0.90, 0.95, 0.99]) AS percentiles_ms,
        min(value_ms) AS shortest_ms,
        max(value_ms) AS longest_ms
    FROM latencies
    GROUP BY GROUPING SETS ((run, subject, interval), (run, subject, interval, dataset))
    -- the set over everything alone has no dataset; a group of branches without one would be told twice
    HAVING grouping(dataset) = 1 OR dataset IS NOT NULL
)
SELECT
    runs.run,
    runs.label,
    sums.subject,
    sums.interval,
    sums.dataset,
    runs.regime,
    runs.input_order,
    runs.repeat,
    sums.num_values,
    sums.num_missing,
    sums.mean_ms,
    percentiles_ms[1] AS p50_ms,
    percentiles_ms[2] AS p90_ms,
    percentiles_ms[3] AS p95_ms,
    percentiles_ms[4] AS p99_ms,
    sums.shortest_ms,
    sums.longest_ms
FROM sums
JOIN runs USING (run);

COMMENT ON VIEW latency_summary IS 'One row a run, subject and interval, and one more a dataset. Percentiles are continuous quantiles over the values that are there; missing ones are counted, never filled in.';
COMMENT ON COLUMN latency_summary.run IS '[-] Run.';
COMMENT ON COLUMN latency_summary.label IS '[-] Name of the run.';
COMMENT ON COLUMN latency_summary.subject IS '[-] branch or group.';
COMMENT ON COLUMN latency_summary.interval IS '[-] From what to what, as in latencies.';
COMMENT ON COLUMN latency_summary.dataset IS '[-] Dataset that the row is restricted to; NULL for all of them.';
COMMENT ON COLUMN latency_summary.regime IS '[-] Reuse regime of the stream.';
COMMENT ON COLUMN latency_summary.input_order IS '[-] Input order of the stream.';
COMMENT ON COLUMN latency_summary.repeat IS '[-] Number of the repeat of the stream.';
COMMENT ON COLUMN latency_summary.num_values IS '[requests] Branches or groups with a value.';
COMMENT ON COLUMN latency_summary.num_missing IS '[requests] Branches or groups without one.';
COMMENT ON COLUMN latency_summary.mean_ms IS '[ms] Mean.';
COMMENT ON COLUMN latency_summary.p50_ms IS '[ms] Median.';
COMMENT ON COLUMN latency_summary.p90_ms IS '[ms] 90th percentile.';
COMMENT ON COLUMN latency_summary.p95_ms IS '[ms] 95th percentile.';
COMMENT ON COLUMN latency_summary.p99_ms IS '[ms] 99th percentile.';
COMMENT ON COLUMN latency_summary.shortest_ms IS '[ms] Least value.';
COMMENT ON COLUMN latency_summary.longest_ms IS '[ms] Greatest value.';
