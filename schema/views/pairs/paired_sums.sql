-- Means over what two arms of one stream share: requests that both served, and groups that completed in both.
-- depends on: paired_requests, paired_groups
-- cached by: run_a, run_b

CREATE VIEW paired_sums AS
WITH of_pairs AS (
    SELECT
        run_a,
        run_b,
        count(*) AS num_shared_requests,
        count(latency_difference_ms) AS num_pairs,
        avg(latency_ms_a) FILTER (latency_difference_ms IS NOT NULL) AS mean_latency_ms_a,
        avg(latency_ms_b) FILTER (latency_difference_ms IS NOT NULL) AS mean_latency_ms_b,
        avg(latency_difference_ms) AS mean_latency_difference_ms,
        avg(waiting_difference_ms) AS mean_waiting_difference_ms
    FROM paired_requests
    GROUP BY run_a, run_b
),
of_groups AS (
    SELECT run_a, run_b, count(latency_difference_ms) AS num_group_pairs,
        avg(latency_difference_ms) AS mean_group_latency_difference_ms
    FROM paired_groups
    GROUP BY run_a, run_b
)
SELECT of_pairs.*, num_group_pairs, mean_group_latency_difference_ms
FROM of_pairs
LEFT JOIN of_groups USING (run_a, run_b);

COMMENT ON VIEW paired_sums IS 'One row an ordered pair of pairable runs that share a request. Every difference is b minus a.';
COMMENT ON COLUMN paired_sums.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN paired_sums.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN paired_sums.num_shared_requests IS '[requests] Branches recorded in both runs.';
COMMENT ON COLUMN paired_sums.num_pairs IS '[requests] Branches that completed in both runs: what the latencies here are computed over.';
COMMENT ON COLUMN paired_sums.mean_latency_ms_a IS '[ms] Mean latency of the pairs in run a.';
COMMENT ON COLUMN paired_sums.mean_latency_ms_b IS '[ms] Mean latency of the pairs in run b.';
COMMENT ON COLUMN paired_sums.mean_latency_difference_ms IS '[ms] Mean over the pairs of latency_ms_b - latency_ms_a; negative when run b was faster.';
COMMENT ON COLUMN paired_sums.mean_waiting_difference_ms IS '[ms] Mean over the pairs of the time from registration to first selection in run b minus that in run a.';
COMMENT ON COLUMN paired_sums.num_group_pairs IS '[groups] Request groups that completed in both runs.';
COMMENT ON COLUMN paired_sums.mean_group_latency_difference_ms IS '[ms] Mean over those groups of their latency in run b minus that in run a.';
