-- The same branch in two arms of one stream.
-- depends on: run_pairs, request_lives

CREATE VIEW paired_requests AS
SELECT
    run_pairs.run_a,
    run_pairs.run_b,
    a.request_id,
    a.request_group,
    a.dataset,
    a.latency_ms AS latency_ms_a,
    b.latency_ms AS latency_ms_b,
    b.latency_ms - a.latency_ms AS latency_difference_ms,
    a.waiting_ms AS waiting_ms_a,
    b.waiting_ms AS waiting_ms_b,
    b.waiting_ms - a.waiting_ms AS waiting_difference_ms,
    a.first_token_id AS first_token_id_a,
    b.first_token_id AS first_token_id_b,
    a.first_token_id = b.first_token_id AS first_token_agrees,
    a.num_prompt_tokens,
    a.num_reused_tokens AS num_reused_tokens_a,
    b.num_reused_tokens AS num_reused_tokens_b,
    b.num_reused_tokens - a.num_reused_tokens AS reused_tokens_difference,
    a.num_scheduled_tokens AS num_scheduled_tokens_a,
    b.num_scheduled_tokens AS num_scheduled_tokens_b,
    b.num_scheduled_tokens - a.num_scheduled_tokens AS scheduled_tokens_difference
FROM run_pairs
JOIN request_lives AS a ON a.run = run_pairs.run_a
JOIN request_lives AS b ON b.run = run_pairs.run_b AND b.request_id = a.request_id
WHERE run_pairs.is_pairable;

COMMENT ON VIEW paired_requests IS 'One row a branch and ordered pair of pairable runs (run_pairs); differences are b minus a.';
COMMENT ON COLUMN paired_requests.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN paired_requests.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN paired_requests.request_id IS '[-] Name of the branch in both runs.';
COMMENT ON COLUMN paired_requests.request_group IS '[-] Request group of the branch.';
COMMENT ON COLUMN paired_requests.dataset IS '[-] Dataset or generator of the branch.';
COMMENT ON COLUMN paired_requests.latency_ms_a IS '[ms] Latency in run a, sent to completed; NULL if it did not complete.';
COMMENT ON COLUMN paired_requests.latency_ms_b IS '[ms] Latency in run b; NULL if it did not complete.';
COMMENT ON COLUMN paired_requests.latency_difference_ms IS '[ms] Negative when run b was faster. Formula: latency_ms_b - latency_ms_a.';
COMMENT ON COLUMN paired_requests.waiting_ms_a IS '[ms] Registration to first selection in run a.';
COMMENT ON COLUMN paired_requests.waiting_ms_b IS '[ms] Registration to first selection in run b.';
COMMENT ON COLUMN paired_requests.waiting_difference_ms IS '[ms] Negative when it waited less in run b. Formula: waiting_ms_b - waiting_ms_a.';
COMMENT ON COLUMN paired_requests.first_token_id_a IS '[-] First output token in run a.';
COMMENT ON COLUMN paired_requests.first_token_id_b IS '[-] First output token in run b.';
COMMENT ON COLUMN paired_requests.first_token_agrees IS '[-] Whether both runs returned the same first token; NULL if either is unknown.';
COMMENT ON COLUMN paired_requests.num_prompt_tokens IS '[tokens] Length of the prompt.';
COMMENT ON COLUMN paired_requests.num_reused_tokens_a IS '[tokens] Prompt tokens reused in run a.';
COMMENT ON COLUMN paired_requests.num_reused_tokens_b IS '[tokens] Prompt tokens reused in run b.';
COMMENT ON COLUMN paired_requests.reused_tokens_difference IS '[tokens] Formula: num_reused_tokens_b - num_reused_tokens_a.';
COMMENT ON COLUMN paired_requests.num_scheduled_tokens_a IS '[tokens] Tokens scheduled in run a.';
COMMENT ON COLUMN paired_requests.num_scheduled_tokens_b IS '[tokens] Tokens scheduled in run b.';
COMMENT ON COLUMN paired_requests.scheduled_tokens_difference IS '[tokens] Formula: num_scheduled_tokens_b - num_scheduled_tokens_a.';
