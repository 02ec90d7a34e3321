-- Stalls by what held them up: reason, cause and the request at the head of the queue.
-- depends on: stall_times

CREATE VIEW stall_reasons AS
SELECT
    run,
    kind,
    stop_reason,
    stop_cause,
    head_request_id,
    count(*) AS num_stalls,
    sum(num_steps)::BIGINT AS num_steps,
    sum(duration_ms) AS stalled_ms,
    max(duration_ms) AS longest_ms,
    min(start_ms) AS first_start_ms,
    arg_min(round_before, start_ms) AS first_round_before,
    max(num_waiting) AS most_waiting,
    max(num_running) AS most_running
FROM stall_times
WHERE kind <> 'awaits_output'
GROUP BY ALL;

COMMENT ON VIEW stall_reasons IS 'One row a reason, cause and head request of the stalls of a run in which no output was on its way.';
COMMENT ON COLUMN stall_reasons.run IS '[-] Run.';
COMMENT ON COLUMN stall_reasons.kind IS '[-] stalled, or held by an admission rule.';
COMMENT ON COLUMN stall_reasons.stop_reason IS '[-] What ended the scan of each step, as in rounds.';
COMMENT ON COLUMN stall_reasons.stop_cause IS '[-] More about the stop, as in the table stalls.';
COMMENT ON COLUMN stall_reasons.head_request_id IS '[-] First request of the waiting queue; NULL when only running requests were there.';
COMMENT ON COLUMN stall_reasons.num_stalls IS '[stalls] Stalls of this kind.';
COMMENT ON COLUMN stall_reasons.num_steps IS '[steps] schedule() calls in them.';
COMMENT ON COLUMN stall_reasons.stalled_ms IS '[ms] Time in them, from the begin of the first step of each to the end of its last.';
COMMENT ON COLUMN stall_reasons.longest_ms IS '[ms] The longest of them.';
COMMENT ON COLUMN stall_reasons.first_start_ms IS '[ms] When the first of them began, after the start of the first round.';
COMMENT ON COLUMN stall_reasons.first_round_before IS '[-] Round before the first of them; NULL before the first round.';
COMMENT ON COLUMN stall_reasons.most_waiting IS '[requests] Most requests that waited in one of them.';
COMMENT ON COLUMN stall_reasons.most_running IS '[requests] Most requests that ran in one of them and got no token.';
