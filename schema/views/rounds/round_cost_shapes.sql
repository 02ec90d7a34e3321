-- What each round cost beside the shape of its batch: dearer rounds and fuller rounds in one picture.
-- depends on: round_costs, round_shapes

CREATE VIEW round_cost_shapes AS
SELECT
    round_costs.run,
    round_costs.round,
    round_costs.clock,
    round_costs.cost_ns / 1e6 AS cost_ms,
    round_shapes.rows_used,
    round_shapes.tokens_scheduled,
    round_shapes.num_reused_tokens,
    round_shapes.attention_work
FROM round_costs
JOIN round_shapes ON round_shapes.run = round_costs.run AND round_shapes.round = round_costs.round;

COMMENT ON VIEW round_cost_shapes IS 'One row a round and clock that measured it, if the rows of the round are recorded.';
COMMENT ON COLUMN round_cost_shapes.run IS '[-] Run.';
COMMENT ON COLUMN round_cost_shapes.round IS '[-] Round.';
COMMENT ON COLUMN round_cost_shapes.clock IS '[-] host_round, host_execute or device, as in round_costs.';
COMMENT ON COLUMN round_cost_shapes.cost_ms IS '[ms] Cost of the round on that clock.';
COMMENT ON COLUMN round_cost_shapes.rows_used IS '[rows] Requests in the batch.';
COMMENT ON COLUMN round_cost_shapes.tokens_scheduled IS '[tokens] New tokens in the batch.';
COMMENT ON COLUMN round_cost_shapes.num_reused_tokens IS '[tokens] Tokens that its requests took from the prefix cache in this round.';
COMMENT ON COLUMN round_cost_shapes.attention_work IS '[token pairs] Pairs of a new token and a token that it attends to.';
