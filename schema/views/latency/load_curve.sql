-- Latency and fullness against load: one point a run.
-- depends on: runs, run_summary, group_lives, request_lives
-- cached by: run

CREATE VIEW load_curve AS
WITH offered AS (
    SELECT
        run,
        count(*) AS num_offered,
        (count(*) - 1) / nullif((max(offered_ms) - min(offered_ms)) / 1e3, 0) AS offered_per_second,
        count(latency_ms) / nullif((max(completed_ms) - min(offered_ms)) / 1e3, 0) AS completed_per_second,
        avg(sent_ms - offered_ms) AS mean_lateness_ms,
        max(sent_ms - offered_ms) AS most_lateness_ms
    FROM request_lives
    WHERE offered_ms IS NOT NULL
    GROUP BY run
),
groups AS (
    SELECT run, quantile_cont(offered_latency_ms, 0.95) AS p95_group_latency_ms
    FROM group_lives
    GROUP BY run
)
SELECT
    runs.run,
    runs.label,
    runs.policy,
    runs.model_name,
    runs.experiment,
    runs.stream,
    runs.regime,
    runs.input_order,
    runs.repeat,
    runs.arrival_rate,
    num_offered,
    offered_per_second,
    completed_per_second,
    run_summary.mean_latency_ms,
    run_summary.p95_latency_ms,
    run_summary.mean_group_latency_ms,
    p95_group_latency_ms,
    mean_lateness_ms,
    most_lateness_ms,
    run_summary.num_rounds,
    run_summary.rows_per_round,
    run_summary.row_fullness_fraction
FROM runs
JOIN run_summary USING (run)
JOIN offered USING (run)
LEFT JOIN groups USING (run);

COMMENT ON VIEW load_curve IS 'One row a run with our client, to be drawn by policy over the offered load.';
COMMENT ON COLUMN load_curve.run IS '[-] Run.';
COMMENT ON COLUMN load_curve.label IS '[-] Name of the run.';
COMMENT ON COLUMN load_curve.policy IS '[-] Policy asked for.';
COMMENT ON COLUMN load_curve.model_name IS '[-] Model.';
COMMENT ON COLUMN load_curve.experiment IS '[-] Experiment.';
COMMENT ON COLUMN load_curve.stream IS '[-] Stream.';
COMMENT ON COLUMN load_curve.regime IS '[-] Reuse regime of the stream.';
COMMENT ON COLUMN load_curve.input_order IS '[-] Order of the stream.';
COMMENT ON COLUMN load_curve.repeat IS '[-] Number of its repeat.';
COMMENT ON COLUMN load_curve.arrival_rate IS '[groups/s] Mean rate that was asked for.';
COMMENT ON COLUMN load_curve.num_offered IS '[requests] Branches offered.';
COMMENT ON COLUMN load_curve.offered_per_second IS '[requests/s] Rate at which branches were due. Formula: (num_offered - 1) / (last due time - first).';
COMMENT ON COLUMN load_curve.completed_per_second IS '[requests/s] Branches completed from the first due time to the last completion.';
COMMENT ON COLUMN load_curve.mean_latency_ms IS '[ms] Mean latency of completed branches, sent to completed.';
COMMENT ON COLUMN load_curve.p95_latency_ms IS '[ms] 95th percentile of the same.';
COMMENT ON COLUMN load_curve.mean_group_latency_ms IS '[ms] Mean latency of request groups, first branch sent to last completed.';
COMMENT ON COLUMN load_curve.p95_group_latency_ms IS '[ms] 95th percentile of group latency, first due time to last completed.';
COMMENT ON COLUMN load_curve.mean_lateness_ms IS '[ms] Mean lateness of the sender: due to sent.';
COMMENT ON COLUMN load_curve.most_lateness_ms IS '[ms] Greatest lateness of the sender; large under overload.';
COMMENT ON COLUMN load_curve.num_rounds IS '[rounds] Rounds.';
COMMENT ON COLUMN load_curve.rows_per_round IS '[rows] Mean rows in use a round.';
COMMENT ON COLUMN load_curve.row_fullness_fraction IS '[fraction] Share of all row slots in use.';
