-- Whether two arms answer alike, branch by branch.
-- depends on: paired_requests, runs
-- cached by: run_a, run_b

CREATE VIEW output_audit AS
SELECT
    run_a,
    run_b,
    any_value(a.label) AS label_a,
    any_value(b.label) AS label_b,
    paired_requests.dataset,
    count(*) AS num_shared_requests,
    count(first_token_agrees) AS num_compared,
    count(*) FILTER (first_token_agrees) AS num_agreeing,
    count(*) FILTER (NOT first_token_agrees) AS num_disagreeing,
    avg(first_token_agrees::INTEGER) AS agreement_fraction
FROM paired_requests
JOIN runs AS a ON a.run = run_a
JOIN runs AS b ON b.run = run_b
GROUP BY GROUPING SETS ((run_a, run_b), (run_a, run_b, paired_requests.dataset))
HAVING grouping(paired_requests.dataset) = 1 OR paired_requests.dataset IS NOT NULL;

COMMENT ON VIEW output_audit IS 'One row an ordered pair of pairable runs, and one more a dataset: agreement of the first output tokens.';
COMMENT ON COLUMN output_audit.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN output_audit.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN output_audit.label_a IS '[-] Name of run a.';
COMMENT ON COLUMN output_audit.label_b IS '[-] Name of run b.';
COMMENT ON COLUMN output_audit.dataset IS '[-] Dataset that the row is restricted to; NULL for all of them.';
COMMENT ON COLUMN output_audit.num_shared_requests IS '[requests] Branches recorded in both runs.';
COMMENT ON COLUMN output_audit.num_compared IS '[requests] Branches whose first token is known in both.';
COMMENT ON COLUMN output_audit.num_agreeing IS '[requests] Branches with the same first token.';
COMMENT ON COLUMN output_audit.num_disagreeing IS '[requests] Branches with different ones; listed in output_disagreements.';
COMMENT ON COLUMN output_audit.agreement_fraction IS '[fraction] NULL when none can be compared. Formula: num_agreeing / num_compared.';
