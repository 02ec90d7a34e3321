-- When each round started and ended on the host, without our own cost; what every other view of time is built on.
-- depends on: rounds, spans, opened_runs

CREATE VIEW round_ends AS
WITH unfinished AS (
    SELECT run, round FROM rounds WHERE update_end_ns IS NULL
),
executed AS (  -- workers matter only to rounds whose update was never seen, so this reads nothing of most runs
    SELECT spans.run, spans.round, max(spans.end_ns) AS execute_end_ns
    FROM spans
    JOIN unfinished USING (run, round)
    WHERE spans.component = 'execute' AND spans.clock = 'host'
    GROUP BY spans.run, spans.round
),
ended AS (
    SELECT
        rounds.*,
        -- greatest() passes over NULL: a round that never came to its update ends with what is known
        greatest(rounds.schedule_end_ns, rounds.update_end_ns, executed.execute_end_ns) AS host_end_ns,
        coalesce(rounds.probe_ns, 0) + rounds.recorder_ns AS observer_ns
    FROM rounds
    LEFT JOIN executed USING (run, round)
)
SELECT
    ended.run,
    ended.round,
    ended.schedule_start_ns AS start_ns,
    greatest(ended.schedule_end_ns, ended.host_end_ns - ended.observer_ns) AS end_ns,
    (start_ns - opened_runs.origin_ns) / 1e6 AS start_ms,
    (end_ns - opened_runs.origin_ns) / 1e6 AS end_ms,
    (end_ns - start_ns) / 1e6 AS duration_ms,
    ended.host_end_ns,
    ended.schedule_end_ns - ended.schedule_start_ns AS schedule_ns,
    ended.observer_ns,
    opened_runs.origin_ns,
    ended.row_capacity,
    ended.rows_used,
    ended.rows_avoidable,
    ended.rows_dependency_wait,
    ended.rows_held,
    ended.rows_token_limited,
    ended.rows_other,
    ended.rows_no_work,
    ended.token_budget,
    ended.tokens_scheduled,
    ended.tokens_avoidable,
    ended.num_visits,
    ended.num_blocked_visits,
    ended.num_probed,
    ended.stop_reason,
    ended.stop_request,
    ended.stop_cause,
    ended.num_waiting_before,
    ended.num_waiting_after,
    ended.num_held,
    ended.num_free_blocks,
    ended.num_empty_steps
FROM ended
JOIN opened_runs USING (run);

COMMENT ON VIEW round_ends IS 'Start and end of each round on the host clock, in nanoseconds; with the counts of the round beside them: the building block of every view of rounds, which so reads a round once.';
COMMENT ON COLUMN round_ends.run IS '[-] Run.';
COMMENT ON COLUMN round_ends.round IS '[-] Round.';
COMMENT ON COLUMN round_ends.start_ns IS '[ns] Monotonic time at which schedule() began.';
COMMENT ON COLUMN round_ends.end_ns IS '[ns] End without our own cost. Formula: greatest(schedule_end_ns, host_end_ns - observer_ns).';
COMMENT ON COLUMN round_ends.start_ms IS '[ms] Start after the start of the first round. Formula: (start_ns - origin_ns) / 1e6.';
COMMENT ON COLUMN round_ends.end_ms IS '[ms] End after the start of the first round. Formula: (end_ns - origin_ns) / 1e6.';
COMMENT ON COLUMN round_ends.duration_ms IS '[ms] How long the round lasted. Formula: end_ms - start_ms.';
COMMENT ON COLUMN round_ends.host_end_ns IS '[ns] End of update_from_output(); of a round without one, the last end of execute_model on any worker, else the end of schedule().';
COMMENT ON COLUMN round_ends.schedule_ns IS '[ns] Time of native scheduling, before the probe.';
COMMENT ON COLUMN round_ends.observer_ns IS '[ns] Time of probe and recorder in the round; part of no duration. Formula: probe_ns + recorder_ns.';
COMMENT ON COLUMN round_ends.origin_ns IS '[ns] Start of the first round of the run.';
COMMENT ON COLUMN round_ends.row_capacity IS '[rows] Rows that a round may hold (max_num_seqs).';
COMMENT ON COLUMN round_ends.rows_used IS '[rows] Rows with a scheduled request.';
COMMENT ON COLUMN round_ends.rows_avoidable IS '[rows] Unused rows for which a READY request waited behind the stop of the scan.';
COMMENT ON COLUMN round_ends.rows_dependency_wait IS '[rows] Unused rows explained by a BLOCKED request.';
COMMENT ON COLUMN round_ends.rows_held IS '[rows] Unused rows explained by a request that admission holds.';
COMMENT ON COLUMN round_ends.rows_token_limited IS '[rows] Unused rows for want of tokens: budget used up, aligned split of 0, no chunked prefill, padded speculation.';
COMMENT ON COLUMN round_ends.rows_other IS '[rows] Unused rows explained by any other refusal.';
COMMENT ON COLUMN round_ends.rows_no_work IS '[rows] Unused rows for which no arrived request was left.';
COMMENT ON COLUMN round_ends.token_budget IS '[tokens] Tokens that a round may hold (max_num_batched_tokens).';
COMMENT ON COLUMN round_ends.tokens_scheduled IS '[tokens] Tokens scheduled.';
COMMENT ON COLUMN round_ends.tokens_avoidable IS '[tokens] Tokens that the READY requests behind the stop would have taken.';
COMMENT ON COLUMN round_ends.num_visits IS '[visits] Waiting requests that the scan looked at.';
COMMENT ON COLUMN round_ends.num_blocked_visits IS '[visits] Visits of the scan that ended BLOCKED.';
COMMENT ON COLUMN round_ends.num_probed IS '[visits] Requests behind the stop that the counterfactual probe looked at.';
COMMENT ON COLUMN round_ends.stop_reason IS '[-] What ended the scan: end_of_queue, blocked, or a reason of an OTHER outcome.';
COMMENT ON COLUMN round_ends.stop_request IS '[-] Request at which the scan stopped.';
COMMENT ON COLUMN round_ends.stop_cause IS '[-] Cause of a BLOCKED stop: being_written or marked_again.';
COMMENT ON COLUMN round_ends.num_waiting_before IS '[requests] Waiting requests when schedule() began.';
COMMENT ON COLUMN round_ends.num_waiting_after IS '[requests] Waiting requests when schedule() ended.';
COMMENT ON COLUMN round_ends.num_held IS '[requests] Waiting requests that admission held back in this round.';
COMMENT ON COLUMN round_ends.num_free_blocks IS '[blocks] Free KV cache blocks when schedule() ended.';
COMMENT ON COLUMN round_ends.num_empty_steps IS '[steps] schedule() calls without work since the round before.';
