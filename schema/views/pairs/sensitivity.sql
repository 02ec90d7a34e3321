-- What each pair of arms gains on each stream, beside what the stream is.
-- depends on: runs, paired_summary

CREATE VIEW sensitivity AS
SELECT
    paired_summary.run_a,
    paired_summary.run_b,
    a.policy AS policy_a,
    b.policy AS policy_b,
    a.model_name,
    a.experiment,
    a.stream,
    a.regime,
    a.input_order,
    a.repeat,
    a.arrival_rate,
    -rounds_difference AS num_rounds_saved,
    -rounds_difference_fraction AS rounds_saved_fraction,
    -mean_latency_difference_ms AS mean_latency_saved_ms,
    -mean_latency_difference_fraction AS latency_saved_fraction
FROM paired_summary
JOIN runs AS a ON a.run = paired_summary.run_a
JOIN runs AS b ON b.run = paired_summary.run_b;

COMMENT ON VIEW sensitivity IS 'One row an ordered pair of pairable runs: the reduction that run b brings.';
COMMENT ON COLUMN sensitivity.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN sensitivity.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN sensitivity.policy_a IS '[-] Policy of the baseline.';
COMMENT ON COLUMN sensitivity.policy_b IS '[-] Policy that is compared with it.';
COMMENT ON COLUMN sensitivity.model_name IS '[-] Model.';
COMMENT ON COLUMN sensitivity.experiment IS '[-] Experiment.';
COMMENT ON COLUMN sensitivity.stream IS '[-] Stream that both were offered.';
COMMENT ON COLUMN sensitivity.regime IS '[-] Its reuse regime.';
COMMENT ON COLUMN sensitivity.input_order IS '[-] Its order.';
COMMENT ON COLUMN sensitivity.repeat IS '[-] Number of its repeat.';
COMMENT ON COLUMN sensitivity.arrival_rate IS '[groups/s] Its mean rate.';
COMMENT ON COLUMN sensitivity.num_rounds_saved IS '[rounds] Positive when run b has fewer. Formula: num_rounds_a - num_rounds_b.';
COMMENT ON COLUMN sensitivity.rounds_saved_fraction IS '[fraction] Formula: num_rounds_saved / num_rounds_a.';
COMMENT ON COLUMN sensitivity.mean_latency_saved_ms IS '[ms] Positive when run b is faster, mean over the pairs.';
COMMENT ON COLUMN sensitivity.latency_saved_fraction IS '[fraction] Formula: mean_latency_saved_ms / mean_latency_ms_a.';
