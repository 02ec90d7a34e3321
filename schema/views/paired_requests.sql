-- The same branch in two arms of one stream.
-- depends on: runs, request_lives

CREATE VIEW paired_requests AS
SELECT
    run_a.run AS run_a,
    run_b.run AS run_b,
    a.request_id,
    a.request_group,
    a.dataset,
    a.latency_ms AS latency_ms_a,
    b.latency_ms AS latency_ms_b,
    b.latency_ms - a.latency_ms AS latency_difference_ms,
    a.first_token_id AS first_token_id_a,
    b.first_token_id AS first_token_id_b,
    a.first_token_id = b.first_token_id AS first_token_agrees,
    a.num_reused_tokens AS num_reused_tokens_a,
    b.num_reused_tokens AS num_reused_tokens_b
FROM runs AS run_a
JOIN runs AS run_b ON run_a.workload_digest = run_b.workload_digest AND run_a.run <> run_b.run
JOIN request_lives AS a ON a.run = run_a.run
JOIN request_lives AS b ON b.run = run_b.run AND b.request_id = a.request_id;

COMMENT ON VIEW paired_requests IS 'One row a branch and ordered pair of runs with the same workload digest; differences are b minus a.';
COMMENT ON COLUMN paired_requests.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN paired_requests.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN paired_requests.request_id IS '[-] Name of the branch in both runs.';
COMMENT ON COLUMN paired_requests.request_group IS '[-] Request group of the branch.';
COMMENT ON COLUMN paired_requests.dataset IS '[-] Dataset or generator of the branch.';
COMMENT ON COLUMN paired_requests.latency_ms_a IS '[ms] Latency in run a, sent to completed; NULL if it did not complete.';
COMMENT ON COLUMN paired_requests.latency_ms_b IS '[ms] Latency in run b; NULL if it did not complete.';
COMMENT ON COLUMN paired_requests.latency_difference_ms IS '[ms] Negative when run b was faster. Formula: latency_ms_b - latency_ms_a.';
COMMENT ON COLUMN paired_requests.first_token_id_a IS '[-] First output token in run a.';
COMMENT ON COLUMN paired_requests.first_token_id_b IS '[-] First output token in run b.';
COMMENT ON COLUMN paired_requests.first_token_agrees IS '[-] Whether both runs returned the same first token; NULL if either is unknown.';
COMMENT ON COLUMN paired_requests.num_reused_tokens_a IS '[tokens] Prompt tokens reused in run a.';
COMMENT ON COLUMN paired_requests.num_reused_tokens_b IS '[tokens] Prompt tokens reused in run b.';
