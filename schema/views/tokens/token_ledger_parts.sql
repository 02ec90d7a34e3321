-- The token ledger of a whole run part by part: what its finished requests took from the cache, computed, computed again.
-- depends on: token_ledger
-- cached by: run

CREATE VIEW token_ledger_parts AS
WITH parts AS (
    SELECT
        run,
        label,
        unnest(['reused', 'computed', 'unexplained', 'repeated', 'output']) AS part,
        unnest([num_reused_tokens, num_scheduled_prompt_tokens - num_repeated_tokens, num_unexplained_tokens,
                num_repeated_tokens, num_output_tokens_scheduled]) AS num_tokens,
        num_prompt_tokens,
        unnest(range(5)) AS position
    FROM token_ledger
)
SELECT
    run,
    label,
    part,
    num_tokens,
    num_tokens / nullif(num_prompt_tokens, 0) AS prompt_fraction,
    position
FROM parts;

COMMENT ON VIEW token_ledger_parts IS 'One row a run and part of its token ledger. reused + computed + unexplained = prompt tokens; computed + repeated + output = scheduled tokens.';
COMMENT ON COLUMN token_ledger_parts.run IS '[-] Run.';
COMMENT ON COLUMN token_ledger_parts.label IS '[-] Name of the run.';
COMMENT ON COLUMN token_ledger_parts.part IS '[-] reused (prompt tokens from the prefix cache), computed (prompt tokens scheduled, each once), unexplained (0 when the ledger closes), repeated (prompt tokens scheduled again after a preemption), output (output tokens scheduled).';
COMMENT ON COLUMN token_ledger_parts.num_tokens IS '[tokens] Tokens of the part, over the finished requests.';
COMMENT ON COLUMN token_ledger_parts.prompt_fraction IS '[fraction] As a share of the prompt tokens. Formula: num_tokens / num_prompt_tokens.';
COMMENT ON COLUMN token_ledger_parts.position IS '[-] Order of the parts in the ledger, from 0.';
