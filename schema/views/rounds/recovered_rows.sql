-- The rows in which recovered requests were first selected.
-- depends on: rows, blocked_requests, round_ends

CREATE VIEW recovered_rows AS
SELECT
    rows.run,
    rows.round,
    round_ends.start_ms,
    rows.slot,
    blocked_requests.request_id,
    blocked_requests.request_group,
    rows.num_tokens,
    rows.num_reused_tokens,
    blocked_requests.num_blocked_visits,
    blocked_requests.num_rounds_blocked,
    blocked_requests.blocked_ms
FROM blocked_requests
JOIN rows ON rows.run = blocked_requests.run AND rows.request = blocked_requests.request
    AND rows.round = blocked_requests.selected_round
LEFT JOIN round_ends ON round_ends.run = rows.run AND round_ends.round = rows.round;

COMMENT ON VIEW recovered_rows IS 'One row a recovered request: the row of the round that first selected it.';
COMMENT ON COLUMN recovered_rows.run IS '[-] Run.';
COMMENT ON COLUMN recovered_rows.round IS '[-] Round.';
COMMENT ON COLUMN recovered_rows.start_ms IS '[ms] Start of the round after the start of the first round.';
COMMENT ON COLUMN recovered_rows.slot IS '[-] Position in the round.';
COMMENT ON COLUMN recovered_rows.request_id IS '[-] Name of the branch.';
COMMENT ON COLUMN recovered_rows.request_group IS '[-] Its request group.';
COMMENT ON COLUMN recovered_rows.num_tokens IS '[tokens] Tokens scheduled in the row.';
COMMENT ON COLUMN recovered_rows.num_reused_tokens IS '[tokens] Tokens taken from the prefix cache.';
COMMENT ON COLUMN recovered_rows.num_blocked_visits IS '[visits] BLOCKED visits before.';
COMMENT ON COLUMN recovered_rows.num_rounds_blocked IS '[rounds] Rounds from the first refusal to this one.';
COMMENT ON COLUMN recovered_rows.blocked_ms IS '[ms] From the start of the first round that refused it to the start of this one.';
