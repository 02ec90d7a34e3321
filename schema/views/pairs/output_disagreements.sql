-- The branches whose first token differs between two arms.
-- depends on: paired_requests

CREATE VIEW output_disagreements AS
SELECT
    run_a,
    run_b,
    request_id,
    request_group,
    dataset,
    first_token_id_a,
    first_token_id_b,
    latency_ms_a,
    latency_ms_b,
    num_reused_tokens_a,
    num_reused_tokens_b
FROM paired_requests
WHERE NOT first_token_agrees;

COMMENT ON VIEW output_disagreements IS 'One row a branch of an ordered pair of pairable runs with different first output tokens.';
COMMENT ON COLUMN output_disagreements.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN output_disagreements.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN output_disagreements.request_id IS '[-] Name of the branch.';
COMMENT ON COLUMN output_disagreements.request_group IS '[-] Request group of the branch.';
COMMENT ON COLUMN output_disagreements.dataset IS '[-] Dataset or generator of the branch.';
COMMENT ON COLUMN output_disagreements.first_token_id_a IS '[-] First output token in run a.';
COMMENT ON COLUMN output_disagreements.first_token_id_b IS '[-] First output token in run b.';
COMMENT ON COLUMN output_disagreements.latency_ms_a IS '[ms] Latency in run a, sent to completed; NULL if it did not complete.';
COMMENT ON COLUMN output_disagreements.latency_ms_b IS '[ms] Latency in run b; NULL if it did not complete.';
COMMENT ON COLUMN output_disagreements.num_reused_tokens_a IS '[tokens] Prompt tokens reused in run a.';
COMMENT ON COLUMN output_disagreements.num_reused_tokens_b IS '[tokens] Prompt tokens reused in run b.';
