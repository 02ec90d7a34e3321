-- The shape of the batch of each round: what its cost depends on.
-- depends on: rounds, rows

CREATE VIEW round_shapes AS
WITH batches AS (
    SELECT
        run,
        round,
        sum(num_reused_tokens)::BIGINT AS num_reused_tokens,
        sum(num_tokens::DOUBLE * first_token + num_tokens::DOUBLE * (num_tokens + 1) / 2) AS attention_work
    FROM rows
    GROUP BY run, round
)
SELECT
    rounds.run,
    rounds.round,
    rounds.rows_used,
    rounds.tokens_scheduled,
    batches.num_reused_tokens,
    batches.attention_work
FROM rounds
JOIN batches USING (run, round);

COMMENT ON VIEW round_shapes IS 'One row a round whose rows are recorded.';
COMMENT ON COLUMN round_shapes.run IS '[-] Run.';
COMMENT ON COLUMN round_shapes.round IS '[-] Round.';
COMMENT ON COLUMN round_shapes.rows_used IS '[rows] Requests in the batch.';
COMMENT ON COLUMN round_shapes.tokens_scheduled IS '[tokens] New tokens in the batch.';
COMMENT ON COLUMN round_shapes.num_reused_tokens IS '[tokens] Tokens that its requests took from the prefix cache in this round.';
COMMENT ON COLUMN round_shapes.attention_work IS '[token pairs] Pairs of a new token and a token that it attends to. Formula: sum(num_tokens * first_token + num_tokens * (num_tokens + 1) / 2).';
