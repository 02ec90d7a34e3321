-- How sure the paired differences are: bootstrap over request groups, seeded, the same draws for every pair.
-- depends on: paired_requests, paired_groups
-- cached by: run_a, run_b

CREATE VIEW paired_intervals AS
WITH of_groups AS (
    SELECT
        run_a, run_b, request_group, dataset,
        sum(latency_difference_ms) AS latency, count(latency_difference_ms) AS num_latencies,
        sum(waiting_difference_ms) AS waiting, count(waiting_difference_ms) AS num_waits,
        sum(reused_tokens_difference)::DOUBLE AS reused,
        sum(num_prompt_tokens) FILTER (reused_tokens_difference IS NOT NULL)::DOUBLE AS prompt,
        sum(scheduled_tokens_difference)::DOUBLE AS scheduled,
        NULL::DOUBLE AS group_latency
    FROM paired_requests
    WHERE run_a < run_b
    GROUP BY run_a, run_b, request_group, dataset
    UNION ALL
    SELECT run_a, run_b, request_group, dataset, NULL, 0, NULL, 0, NULL, NULL, NULL, latency_difference_ms
    FROM paired_groups
    WHERE run_a < run_b
),
scoped AS (  -- everything, and each dataset where there are several
    SELECT *, NULL AS scope FROM of_groups
    UNION ALL
    SELECT *, dataset AS scope
    FROM of_groups
    WHERE dataset IS NOT NULL
    QUALIFY max(dataset) OVER (PARTITION BY run_a, run_b) <> min(dataset) OVER (PARTITION BY run_a, run_b)
),
numbered AS (
    SELECT *, dense_rank() OVER (PARTITION BY run_a, run_b, scope ORDER BY request_group NULLS FIRST) - 1 AS number
    FROM scoped
),
bins AS (  -- of many groups, random bins of groups are drawn: as valid for means, and bounded in cost
    SELECT
        run_a, run_b, scope,
        CASE WHEN number_of_last < 500 THEN number ELSE hash(number) % 500 END AS bin,
        sum(latency) AS latency, sum(num_latencies) AS num_latencies, sum(waiting) AS waiting,
        sum(num_waits) AS num_waits, sum(reused) AS reused, sum(prompt) AS prompt, sum(scheduled) AS scheduled,
        sum(group_latency) AS group_latency, count(group_latency) AS num_group_latencies,
        count(DISTINCT number) AS num_groups
    FROM (SELECT *, max(number) OVER (PARTITION BY run_a, run_b, scope) AS number_of_last FROM numbered)
    GROUP BY run_a, run_b, scope, bin
),
placed AS (
    SELECT *, row_number() OVER (PARTITION BY run_a, run_b, scope ORDER BY bin) - 1 AS place
    FROM bins
),
sizes AS (
    SELECT run_a, run_b, scope, count(*) AS num_bins, sum(num_groups) AS num_groups,
        row_number() OVER (ORDER BY run_a, run_b, scope) AS member
    FROM placed
    GROUP BY run_a, run_b, scope
),
members AS (
    SELECT placed.*, sizes.member
    FROM placed
    JOIN sizes ON sizes.run_a = placed.run_a AND sizes.run_b = placed.run_b
        AND sizes.scope IS NOT DISTINCT FROM placed.scope
),
drawn AS (  -- the numbers of replicate and draw are all the randomness there is
    SELECT member, num_bins, replicate, (hash(replicate * 1000 + draw) % num_bins)::BIGINT AS place
    FROM (SELECT member, num_bins, unnest(range(num_bins)) AS draw FROM sizes WHERE num_bins > 1)
    CROSS JOIN (SELECT unnest(range(1000)) AS replicate)
),
replicates AS (
    SELECT
        member,
        replicate,
        sum(latency) / nullif(sum(num_latencies), 0) AS latency,
        sum(waiting) / nullif(sum(num_waits), 0) AS waiting,
        sum(group_latency) / nullif(sum(num_group_latencies), 0) AS group_latency,
        sum(reused) AS reused,
        sum(reused) / nullif(sum(prompt), 0) AS reused_share,
        sum(scheduled) AS scheduled
    FROM drawn
    JOIN members USING (member, place)
    GROUP BY member, replicate
),
ends AS (
    SELECT
        member,
        count(*) AS num_replicates,
        quantile_cont(latency, [0.025, 0.975]) AS latency,
        quantile_cont(waiting, [0.025, 0.975]) AS waiting,
        quantile_cont(group_latency, [0.025, 0.975]) AS group_latency,
        quantile_cont(reused, [0.025, 0.975]) AS reused,
        quantile_cont(reused_share, [0.025, 0.975]) AS reused_share,
        quantile_cont(scheduled, [0.025, 0.975]) AS scheduled
    FROM replicates
    GROUP BY member
),
one_way AS (
    SELECT
        run_a, run_b, scope, num_groups::BIGINT AS num_groups, num_replicates,
        latency[1] AS latency_low, latency[2] AS latency_high,
        waiting[1] AS waiting_low, waiting[2] AS waiting_high,
        group_latency[1] AS group_latency_low, group_latency[2] AS group_latency_high,
        reused[1] AS reused_low, reused[2] AS reused_high,
        reused_share[1] AS reused_share_low, reused_share[2] AS reused_share_high,
        scheduled[1] AS scheduled_low, scheduled[2] AS scheduled_high
    FROM sizes
    LEFT JOIN ends USING (member)
),
both_ways AS (
    SELECT * FROM one_way
    UNION ALL
    SELECT
        run_b, run_a, scope, num_groups, num_replicates, 0 - latency_high, 0 - latency_low, 0 - waiting_high,
        0 - waiting_low,
        0 - group_latency_high, 0 - group_latency_low, 0 - reused_high, 0 - reused_low,
        0 - reused_share_high, 0 - reused_share_low,
        0 - scheduled_high, 0 - scheduled_low
    FROM one_way
)
SELECT
    run_a,
    run_b,
    scope AS dataset,
    num_groups,
    num_replicates,
    latency_low AS mean_latency_difference_low_ms,
    latency_high AS mean_latency_difference_high_ms,
    waiting_low AS mean_waiting_difference_low_ms,
    waiting_high AS mean_waiting_difference_high_ms,
    group_latency_low AS mean_group_latency_difference_low_ms,
    group_latency_high AS mean_group_latency_difference_high_ms,
    reused_low AS reused_tokens_difference_low,
    reused_high AS reused_tokens_difference_high,
    reused_share_low AS reused_difference_low_fraction,
    reused_share_high AS reused_difference_high_fraction,
    scheduled_low AS scheduled_tokens_difference_low,
    scheduled_high AS scheduled_tokens_difference_high
FROM both_ways;

COMMENT ON VIEW paired_intervals IS 'One row an ordered pair of runs, and one more a dataset where there are several: 95 % percentile intervals of a bootstrap that draws request groups with replacement, 1,000 times (beyond 500 groups: random bins of groups). They say how much the requests vary, not how much repeats do. NULL with a single group.';
COMMENT ON COLUMN paired_intervals.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN paired_intervals.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN paired_intervals.dataset IS '[-] Dataset that the row is restricted to; NULL for all of them.';
COMMENT ON COLUMN paired_intervals.num_groups IS '[groups] Request groups that are drawn from.';
COMMENT ON COLUMN paired_intervals.num_replicates IS '[replicates] Bootstrap samples; NULL with a single group.';
COMMENT ON COLUMN paired_intervals.mean_latency_difference_low_ms IS '[ms] Lower end for the mean over the branches of latency_ms_b - latency_ms_a.';
COMMENT ON COLUMN paired_intervals.mean_latency_difference_high_ms IS '[ms] Upper end of the same.';
COMMENT ON COLUMN paired_intervals.mean_waiting_difference_low_ms IS '[ms] Lower end for the mean difference from registration to first selection.';
COMMENT ON COLUMN paired_intervals.mean_waiting_difference_high_ms IS '[ms] Upper end of the same.';
COMMENT ON COLUMN paired_intervals.mean_group_latency_difference_low_ms IS '[ms] Lower end for the mean over the groups of the difference of their latencies.';
COMMENT ON COLUMN paired_intervals.mean_group_latency_difference_high_ms IS '[ms] Upper end of the same.';
COMMENT ON COLUMN paired_intervals.reused_tokens_difference_low IS '[tokens] Lower end for the difference of reused prompt tokens.';
COMMENT ON COLUMN paired_intervals.reused_tokens_difference_high IS '[tokens] Upper end of the same.';
COMMENT ON COLUMN paired_intervals.reused_difference_low_fraction IS '[fraction] Lower end for the difference of the shares of the input that were reused.';
COMMENT ON COLUMN paired_intervals.reused_difference_high_fraction IS '[fraction] Upper end of the same.';
COMMENT ON COLUMN paired_intervals.scheduled_tokens_difference_low IS '[tokens] Lower end for the difference of scheduled tokens.';
COMMENT ON COLUMN paired_intervals.scheduled_tokens_difference_high IS '[tokens] Upper end of the same.';
