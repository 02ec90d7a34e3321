-- Whether what a pair of arms gains holds over orders, regimes and repeats.
-- depends on: sensitivity

CREATE VIEW sensitivity_summary AS
WITH scopes AS (
    SELECT
        sensitivity.*,
        unnest(['over_everything', 'over_orders', 'over_repeats']) AS scope,
        unnest([NULL, regime, concat_ws(' / ', regime, input_order)]) AS scope_value
    FROM sensitivity
)
SELECT
    policy_a,
    policy_b,
    model_name,
    experiment,
    scope,
    scope_value,
    count(*) AS num_streams,
    count(DISTINCT input_order) AS num_orders,
    count(DISTINCT repeat) AS num_repeats,
    avg(rounds_saved_fraction) AS mean_rounds_saved_fraction,
    min(rounds_saved_fraction) AS least_rounds_saved_fraction,
    max(rounds_saved_fraction) AS most_rounds_saved_fraction,
    stddev_samp(rounds_saved_fraction) AS spread_rounds_saved_fraction,
    min(rounds_saved_fraction) < 0 AND max(rounds_saved_fraction) > 0 AS is_rounds_sign_changed,
    avg(latency_saved_fraction) AS mean_latency_saved_fraction,
    min(latency_saved_fraction) AS least_latency_saved_fraction,
    max(latency_saved_fraction) AS most_latency_saved_fraction,
    stddev_samp(latency_saved_fraction) AS spread_latency_saved_fraction,
    min(latency_saved_fraction) < 0 AND max(latency_saved_fraction) > 0 AS is_latency_sign_changed
FROM scopes
WHERE scope = 'over_everything' OR regime IS NOT NULL
GROUP BY policy_a, policy_b, model_name, experiment, scope, scope_value;

COMMENT ON VIEW sensitivity_summary IS 'One row a pair of policies and scope: over all streams of an experiment; over the orders of one regime; over the repeats of one regime and order. Spread is the sample standard deviation over streams, NULL for a single one. Orders are different inputs, not repeats.';
COMMENT ON COLUMN sensitivity_summary.policy_a IS '[-] Policy of the baseline.';
COMMENT ON COLUMN sensitivity_summary.policy_b IS '[-] Policy that is compared with it.';
COMMENT ON COLUMN sensitivity_summary.model_name IS '[-] Model.';
COMMENT ON COLUMN sensitivity_summary.experiment IS '[-] Experiment.';
COMMENT ON COLUMN sensitivity_summary.scope IS '[-] over_everything, over_orders or over_repeats.';
COMMENT ON COLUMN sensitivity_summary.scope_value IS '[-] The regime, or regime and order, that is kept fixed.';
COMMENT ON COLUMN sensitivity_summary.num_streams IS '[streams] Streams in the row.';
COMMENT ON COLUMN sensitivity_summary.num_orders IS '[orders] Different orders among them.';
COMMENT ON COLUMN sensitivity_summary.num_repeats IS '[repeats] Different repeats among them.';
COMMENT ON COLUMN sensitivity_summary.mean_rounds_saved_fraction IS '[fraction] Mean share of rounds saved.';
COMMENT ON COLUMN sensitivity_summary.least_rounds_saved_fraction IS '[fraction] Least of them.';
COMMENT ON COLUMN sensitivity_summary.most_rounds_saved_fraction IS '[fraction] Greatest of them.';
COMMENT ON COLUMN sensitivity_summary.spread_rounds_saved_fraction IS '[fraction] Sample standard deviation.';
COMMENT ON COLUMN sensitivity_summary.is_rounds_sign_changed IS '[-] Whether some stream has fewer rounds and another one more.';
COMMENT ON COLUMN sensitivity_summary.mean_latency_saved_fraction IS '[fraction] Mean share of mean latency saved.';
COMMENT ON COLUMN sensitivity_summary.least_latency_saved_fraction IS '[fraction] Least of them.';
COMMENT ON COLUMN sensitivity_summary.most_latency_saved_fraction IS '[fraction] Greatest of them.';
COMMENT ON COLUMN sensitivity_summary.spread_latency_saved_fraction IS '[fraction] Sample standard deviation.';
COMMENT ON COLUMN sensitivity_summary.is_latency_sign_changed IS '[-] Whether some stream got faster and another one slower.';
