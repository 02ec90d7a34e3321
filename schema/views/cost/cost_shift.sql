-- Where the saving of fewer rounds went: credit of the eliminated rounds against the higher cost of those that remain.
-- depends on: run_pairs, cost_summary

CREATE VIEW cost_shift AS
WITH costs AS MATERIALIZED (
    SELECT * FROM cost_summary
),
shifts AS (
    SELECT
        run_pairs.run_a,
        run_pairs.run_b,
        a.label AS label_a,
        b.label AS label_b,
        a.clock,
        a.num_rounds AS num_rounds_a,
        b.num_rounds AS num_rounds_b,
        a.num_rounds_unmeasured AS num_rounds_unmeasured_a,
        b.num_rounds_unmeasured AS num_rounds_unmeasured_b,
        a.mean_ms AS mean_ms_a,
        b.mean_ms AS mean_ms_b,
        a.total_ms AS total_ms_a,
        b.total_ms AS total_ms_b
    FROM run_pairs
    JOIN costs AS a ON a.run = run_pairs.run_a
    JOIN costs AS b ON b.run = run_pairs.run_b AND b.clock = a.clock
    WHERE run_pairs.is_pairable
)
SELECT
    *,
    num_rounds_a - num_rounds_b AS num_rounds_eliminated,
    (num_rounds_a - num_rounds_b) * mean_ms_a AS gross_credit_ms,
    num_rounds_b * (mean_ms_b - mean_ms_a) AS retained_cost_ms,
    total_ms_a - total_ms_b AS net_saving_ms,
    CASE WHEN num_rounds_a > num_rounds_b
        THEN num_rounds_b * (mean_ms_b - mean_ms_a) / ((num_rounds_a - num_rounds_b) * mean_ms_a)
    END AS absorbed_fraction
FROM shifts;

COMMENT ON VIEW cost_shift IS 'One row an ordered pair of pairable runs and clock. gross_credit_ms - retained_cost_ms = net_saving_ms, an identity: N_a m_a - N_b m_b = (N_a - N_b) m_a - N_b (m_b - m_a).';
COMMENT ON COLUMN cost_shift.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN cost_shift.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN cost_shift.label_a IS '[-] Name of run a.';
COMMENT ON COLUMN cost_shift.label_b IS '[-] Name of run b.';
COMMENT ON COLUMN cost_shift.clock IS '[-] host_round, host_execute or device; both runs measured by the same one.';
COMMENT ON COLUMN cost_shift.num_rounds_a IS '[rounds] Measured rounds of run a.';
COMMENT ON COLUMN cost_shift.num_rounds_b IS '[rounds] Measured rounds of run b.';
COMMENT ON COLUMN cost_shift.num_rounds_unmeasured_a IS '[rounds] Rounds of run a that the clock missed; they are in no sum.';
COMMENT ON COLUMN cost_shift.num_rounds_unmeasured_b IS '[rounds] The same of run b.';
COMMENT ON COLUMN cost_shift.mean_ms_a IS '[ms] Mean cost of a round in run a.';
COMMENT ON COLUMN cost_shift.mean_ms_b IS '[ms] Mean cost of a round in run b.';
COMMENT ON COLUMN cost_shift.total_ms_a IS '[ms] Total cost of run a.';
COMMENT ON COLUMN cost_shift.total_ms_b IS '[ms] Total cost of run b.';
COMMENT ON COLUMN cost_shift.num_rounds_eliminated IS '[rounds] Negative when run b has more. Formula: num_rounds_a - num_rounds_b.';
COMMENT ON COLUMN cost_shift.gross_credit_ms IS '[ms] What the eliminated rounds would have cost. Formula: num_rounds_eliminated * mean_ms_a.';
COMMENT ON COLUMN cost_shift.retained_cost_ms IS '[ms] What the remaining rounds cost more than the baseline''s. Formula: num_rounds_b * (mean_ms_b - mean_ms_a).';
COMMENT ON COLUMN cost_shift.net_saving_ms IS '[ms] Positive when run b cost less in all. Formula: total_ms_a - total_ms_b.';
COMMENT ON COLUMN cost_shift.absorbed_fraction IS '[fraction] Share of the credit that dearer rounds took back; NULL when no round was eliminated. Formula: retained_cost_ms / gross_credit_ms.';
