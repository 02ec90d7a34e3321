-- How full each round was, and why it was not fuller: the slot ledger beside the scan.
-- depends on: round_ends, request_names

CREATE VIEW round_occupancy AS
SELECT
    rounds.run,
    rounds.round,
    rounds.start_ms,
    rounds.end_ms,
    rounds.duration_ms,
    rounds.row_capacity,
    rounds.rows_used,
    rounds.rows_avoidable,
    rounds.rows_dependency_wait,
    rounds.rows_held,
    rounds.rows_token_limited,
    rounds.rows_other,
    rounds.rows_no_work,
    rounds.rows_used / nullif(rounds.row_capacity, 0) AS row_fullness_fraction,
    rounds.token_budget,
    rounds.tokens_scheduled,
    rounds.tokens_avoidable,
    rounds.tokens_scheduled / nullif(rounds.token_budget, 0) AS token_fullness_fraction,
    rounds.num_visits,
    rounds.num_blocked_visits,
    rounds.num_probed,
    rounds.stop_reason,
    request_names.request_id AS stop_request_id,
    rounds.num_waiting_before,
    rounds.num_waiting_after,
    rounds.num_held,
    rounds.num_free_blocks,
    rounds.num_empty_steps
FROM round_ends AS rounds
LEFT JOIN request_names ON request_names.run = rounds.run AND request_names.request = rounds.stop_request;

COMMENT ON VIEW round_occupancy IS 'One row a round: rows and tokens used, unused rows by cause (slot ledger), what ended the scan, queue lengths.';
COMMENT ON COLUMN round_occupancy.run IS '[-] Run.';
COMMENT ON COLUMN round_occupancy.round IS '[-] Round.';
COMMENT ON COLUMN round_occupancy.start_ms IS '[ms] Start after the start of the first round.';
COMMENT ON COLUMN round_occupancy.end_ms IS '[ms] End after the start of the first round, without probe and recorder.';
COMMENT ON COLUMN round_occupancy.duration_ms IS '[ms] How long the round lasted. Formula: end_ms - start_ms.';
COMMENT ON COLUMN round_occupancy.row_capacity IS '[rows] Rows that the round may hold. Formula: sum of the seven rows_* columns.';
COMMENT ON COLUMN round_occupancy.rows_used IS '[rows] Rows with a scheduled request.';
COMMENT ON COLUMN round_occupancy.rows_avoidable IS '[rows] Unused rows for which a READY request waited behind the stop of the scan: the execution bubble.';
COMMENT ON COLUMN round_occupancy.rows_dependency_wait IS '[rows] Unused rows explained by a BLOCKED request.';
COMMENT ON COLUMN round_occupancy.rows_held IS '[rows] Unused rows explained by a request that admission holds.';
COMMENT ON COLUMN round_occupancy.rows_token_limited IS '[rows] Unused rows explained by the token budget or an aligned split of 0.';
COMMENT ON COLUMN round_occupancy.rows_other IS '[rows] Unused rows explained by any other refusal.';
COMMENT ON COLUMN round_occupancy.rows_no_work IS '[rows] Unused rows for which no arrived request was left.';
COMMENT ON COLUMN round_occupancy.row_fullness_fraction IS '[fraction] Share of the rows in use. Formula: rows_used / row_capacity.';
COMMENT ON COLUMN round_occupancy.token_budget IS '[tokens] Tokens that the round may hold.';
COMMENT ON COLUMN round_occupancy.tokens_scheduled IS '[tokens] Tokens scheduled.';
COMMENT ON COLUMN round_occupancy.tokens_avoidable IS '[tokens] Tokens that the READY requests behind the stop would have taken.';
COMMENT ON COLUMN round_occupancy.token_fullness_fraction IS '[fraction] Share of the token budget in use. Formula: tokens_scheduled / token_budget.';
COMMENT ON COLUMN round_occupancy.num_visits IS '[visits] Waiting requests that the scan looked at.';
COMMENT ON COLUMN round_occupancy.num_blocked_visits IS '[visits] Visits of the scan that ended BLOCKED.';
COMMENT ON COLUMN round_occupancy.num_probed IS '[visits] Requests behind the stop that the counterfactual probe looked at.';
COMMENT ON COLUMN round_occupancy.stop_reason IS '[-] What ended the scan: end_of_queue, blocked, or a reason of an OTHER outcome.';
COMMENT ON COLUMN round_occupancy.stop_request_id IS '[-] Request at which the scan stopped; NULL if at none, or if the recording ended before the request did.';
COMMENT ON COLUMN round_occupancy.num_waiting_before IS '[requests] Waiting requests when schedule() began.';
COMMENT ON COLUMN round_occupancy.num_waiting_after IS '[requests] Waiting requests when schedule() ended.';
COMMENT ON COLUMN round_occupancy.num_held IS '[requests] Waiting requests that admission held back in the round.';
COMMENT ON COLUMN round_occupancy.num_free_blocks IS '[blocks] Free KV cache blocks when schedule() ended.';
COMMENT ON COLUMN round_occupancy.num_empty_steps IS '[steps] schedule() calls without work since the round before.';
