-- The whole distribution of every latency.
-- depends on: latencies

CREATE VIEW latency_ecdf AS
SELECT
    run,
    subject,
    interval,
    value_ms,
    count(*) AS num_values,
    sum(count(*)) OVER (PARTITION BY run, subject, interval ORDER BY value_ms)
        / sum(count(*)) OVER (PARTITION BY run, subject, interval) AS within_fraction
FROM latencies
WHERE value_ms IS NOT NULL
GROUP BY run, subject, interval, value_ms;

COMMENT ON VIEW latency_ecdf IS 'Empirical cumulative distribution: one row a different value of a run, subject and interval.';
COMMENT ON COLUMN latency_ecdf.run IS '[-] Run.';
COMMENT ON COLUMN latency_ecdf.subject IS '[-] branch or group.';
COMMENT ON COLUMN latency_ecdf.interval IS '[-] From what to what, as in latencies.';
COMMENT ON COLUMN latency_ecdf.value_ms IS '[ms] A value that occurs.';
COMMENT ON COLUMN latency_ecdf.num_values IS '[requests] Branches or groups with exactly this value.';
COMMENT ON COLUMN latency_ecdf.within_fraction IS '[fraction] Share of the values that are at most this one. Formula: number of values <= value_ms / number of values.';
