-- What a round costs the host, part by part, and how long the engine had no round between two of them.
-- depends on: round_times, bubble_totals, runs
-- cached by: run

CREATE VIEW host_times AS
WITH sums AS (
    SELECT
        run,
        count(*) AS num_rounds_kept,
        avg(schedule_ms) AS mean_schedule_ms,
        avg(execute_ms) AS mean_execute_ms,
        avg(observer_ms) AS mean_observer_ms,
        count(gap_before_ms) AS num_gaps,
        sum(gap_before_ms) AS gaps_ms,
        avg(gap_before_ms) AS mean_gap_ms,
        quantile_cont(gap_before_ms, 0.5) AS p50_gap_ms,
        max(gap_before_ms) AS longest_gap_ms
    FROM round_times
    GROUP BY run
)
SELECT
    runs.run,
    runs.label,
    sums.num_rounds_kept,
    sums.mean_schedule_ms,
    sums.mean_execute_ms,
    sums.mean_observer_ms,
    sums.num_gaps,
    sums.mean_gap_ms,
    sums.p50_gap_ms,
    sums.longest_gap_ms,
    CASE WHEN runs.sampled_fraction IS NULL THEN sums.gaps_ms END AS gaps_ms,
    CASE WHEN runs.sampled_fraction IS NULL THEN sums.gaps_ms / nullif(bubbles.duration_ms, 0) END AS gap_fraction
FROM sums
JOIN runs ON runs.run = sums.run
JOIN bubble_totals AS bubbles ON bubbles.run = sums.run;

COMMENT ON VIEW host_times IS 'One row a run with rounds, on the host clock. The parts are no partition of a round: execution overlaps with what the engine process does meanwhile. Where no work had arrived, the wait for it is time between rounds.';
COMMENT ON COLUMN host_times.run IS '[-] Run.';
COMMENT ON COLUMN host_times.label IS '[-] Name of the run.';
COMMENT ON COLUMN host_times.num_rounds_kept IS '[rounds] Rounds that the run keeps; means are theirs.';
COMMENT ON COLUMN host_times.mean_schedule_ms IS '[ms] Mean time of native scheduling, before the probe.';
COMMENT ON COLUMN host_times.mean_execute_ms IS '[ms] Mean time from the first start to the last end of execute_model over the workers; NULL without worker spans.';
COMMENT ON COLUMN host_times.mean_observer_ms IS '[ms] Mean time of probe and recorder; part of no duration.';
COMMENT ON COLUMN host_times.num_gaps IS '[rounds] Rounds of which the round before is there, too.';
COMMENT ON COLUMN host_times.mean_gap_ms IS '[ms] Mean host time between the end of the round before and the start of a round; 0 where rounds overlap.';
COMMENT ON COLUMN host_times.p50_gap_ms IS '[ms] Median of the same.';
COMMENT ON COLUMN host_times.longest_gap_ms IS '[ms] Greatest of the same.';
COMMENT ON COLUMN host_times.gaps_ms IS '[ms] Sum of the same; NULL where the run keeps a sample of its rounds.';
COMMENT ON COLUMN host_times.gap_fraction IS '[fraction] Share of the time from the first round to the last that lay between rounds. Formula: gaps_ms / duration_ms.';
