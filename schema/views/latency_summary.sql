-- Mean and percentiles of every latency, whole run and by dataset.
-- depends on: latencies, runs
-- cached by: run

CREATE VIEW latency_summary AS
SELECT
    runs.run,
    any_value(runs.label) AS label,
    latencies.subject,
    latencies.interval,
    latencies.dataset,
    any_value(runs.regime) AS regime,
    any_value(runs.input_order) AS input_order,
    any_value(runs.repeat) AS repeat,
    count(value_ms) AS num_values,
    count(*) - count(value_ms) AS num_missing,
    avg(value_ms) AS mean_ms,
    quantile_cont(value_ms, 0.50) AS p50_ms,
    quantile_cont(value_ms, 0.90) AS p90_ms,
    quantile_cont(value_ms, 0.95) AS p95_ms,
    quantile_cont(value_ms, 0.99) AS p99_ms,
    min(value_ms) AS shortest_ms,
    max(value_ms) AS longest_ms
FROM latencies
JOIN runs USING (run)
GROUP BY GROUPING SETS (
    (runs.run, latencies.subject, latencies.interval),
    (runs.run, latencies.subject, latencies.interval, latencies.dataset)
)
-- the set over everything alone has no dataset; a group of branches without one would be told twice
HAVING grouping(latencies.dataset) = 1 OR latencies.dataset IS NOT NULL;

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
