-- The token ledger of a whole run: where every prompt token came from.
-- depends on: runs, requests, repeated_intervals
-- cached by: run

CREATE VIEW token_ledger AS
WITH repeated AS (
    SELECT
        run,
        sum(num_prompt_tokens) FILTER (cause = 'preemption')::BIGINT AS num_preempted_tokens,
        sum(num_tokens) FILTER (cause <> 'preemption')::BIGINT AS num_overlap_tokens
    FROM repeated_intervals
    SEMI JOIN (SELECT run, request_id FROM requests WHERE outcome = 'finished') AS finished USING (run, request_id)
    GROUP BY run
),
sums AS (
    SELECT
        run,
        count(*) AS num_requests,
        sum(num_prompt_tokens)::BIGINT AS num_prompt_tokens,
        sum(num_reused_tokens)::BIGINT AS num_reused_tokens,
        sum(num_scheduled_prompt_tokens)::BIGINT AS num_scheduled_prompt_tokens,
        sum(num_repeated_tokens)::BIGINT AS num_repeated_tokens,
        sum(num_scheduled_tokens)::BIGINT AS num_scheduled_tokens,
        sum(num_preemptions)::BIGINT AS num_preemptions
    FROM requests
    WHERE outcome = 'finished'
    GROUP BY run
)
SELECT
    runs.run,
    runs.label,
    sums.num_requests,
    num_prompt_tokens,
    num_reused_tokens,
    num_scheduled_prompt_tokens,
    num_repeated_tokens,
    num_prompt_tokens - num_reused_tokens - num_scheduled_prompt_tokens + num_repeated_tokens AS num_unexplained_tokens,
    num_scheduled_tokens,
    num_scheduled_tokens - num_scheduled_prompt_tokens AS num_output_tokens_scheduled,
    num_preemptions,
    CASE WHEN sampled_fraction IS NULL THEN coalesce(num_preempted_tokens, 0) END AS num_tokens_repeated_after_preemption,
    coalesce(num_overlap_tokens, 0) AS num_overlap_tokens,
    (num_repeated_tokens + coalesce(num_overlap_tokens, 0)) / nullif(num_scheduled_tokens, 0) AS overlap_fraction
FROM sums
JOIN runs USING (run)
LEFT JOIN repeated USING (run);

COMMENT ON VIEW token_ledger IS 'One row a run, over its finished requests. num_prompt_tokens = num_reused_tokens + num_scheduled_prompt_tokens - num_repeated_tokens.';
COMMENT ON COLUMN token_ledger.run IS '[-] Run.';
COMMENT ON COLUMN token_ledger.label IS '[-] Name of the run.';
COMMENT ON COLUMN token_ledger.num_requests IS '[requests] Finished requests.';
COMMENT ON COLUMN token_ledger.num_prompt_tokens IS '[tokens] Their prompt tokens.';
COMMENT ON COLUMN token_ledger.num_reused_tokens IS '[tokens] Taken from the prefix cache at the first selection.';
COMMENT ON COLUMN token_ledger.num_scheduled_prompt_tokens IS '[tokens] Prompt tokens scheduled in all rounds.';
COMMENT ON COLUMN token_ledger.num_repeated_tokens IS '[tokens] Prompt tokens scheduled again after a preemption.';
COMMENT ON COLUMN token_ledger.num_unexplained_tokens IS '[tokens] 0 when the ledger closes. Formula: num_prompt_tokens - num_reused_tokens - num_scheduled_prompt_tokens + num_repeated_tokens.';
COMMENT ON COLUMN token_ledger.num_scheduled_tokens IS '[tokens] Tokens scheduled in all rounds, prompt and output.';
COMMENT ON COLUMN token_ledger.num_output_tokens_scheduled IS '[tokens] Formula: num_scheduled_tokens - num_scheduled_prompt_tokens.';
COMMENT ON COLUMN token_ledger.num_preemptions IS '[preemptions] Preemptions of these requests.';
COMMENT ON COLUMN token_ledger.num_tokens_repeated_after_preemption IS '[tokens] The same as num_repeated_tokens, found again in the intervals of the rows of these requests.';
COMMENT ON COLUMN token_ledger.num_overlap_tokens IS '[tokens] Their tokens that another request had computed before (repeated_intervals without preemption), in whole blocks.';
COMMENT ON COLUMN token_ledger.overlap_fraction IS '[fraction] Share of the scheduled tokens that repeat known work. Formula: (num_repeated_tokens + num_overlap_tokens) / num_scheduled_tokens.';
